//! What Claude Code's own settings say of our hooks.

use std::{fs, path::Path};

use serde_json::Value;

use super::doctor::Finding;

const LIMIT: u64 = 4 << 20;
/// Events that report the same call in two ways: who hears of one must hear of the other.
const PAIRS: [(&str, &str); 1] = [("PostToolUse", "PostToolUseFailure")];

/// Names settings that send us the result of a tool and not its failure: what a failing command wrote
/// would look like somebody else's.
pub(super) fn check(top: &Path, home: Option<&Path>, found: &mut Vec<Finding>) {
    let files = [
        Some(top.join(".claude/settings.json")),
        Some(top.join(".claude/settings.local.json")),
        home.map(|home| home.join(".claude/settings.json")),
    ];
    for path in files.into_iter().flatten() {
        let is_small = fs::metadata(&path).is_ok_and(|meta| meta.len() <= LIMIT);
        let text = fs::read(&path).ok().filter(|_| is_small);
        let settings = text.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
        let Some(settings) = settings else { continue };
        for (result, failure) in PAIRS {
            if calls_us(&settings, result) && !calls_us(&settings, failure) {
                found.push(Finding::fault(format!(
                    "'{}' sends {result} to git-operator and not {failure}: what a failing command \
                     changed goes unseen",
                    path.display()
                )));
            }
        }
    }
}

/// Says whether a hook of `event` is one of ours.
fn calls_us(settings: &Value, event: &str) -> bool {
    let groups = settings.pointer(&format!("/hooks/{event}"));
    let groups = groups.and_then(Value::as_array).into_iter().flatten();
    let hooks = groups.filter_map(|group| group.get("hooks")?.as_array());
    let mut commands = hooks
        .flatten()
        .filter_map(|hook| hook.get("command")?.as_str());
    commands.any(|command| {
        command.contains("git-operator hook") || command.contains("git operator hook")
    })
}
