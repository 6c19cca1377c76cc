//! A ruling in the words of the client, per event.

use serde_json::{Value, json};

use super::Rules;
use crate::{
    agent_hook::reply::Reply,
    policy::{Level, Ruling},
    ui::printable,
};

/// Returns the ruling as the client is told at `name`, beside what is told anyhow.
pub(in crate::agent_hook) fn answer(
    name: &str,
    rules: &Rules,
    ruling: &Ruling,
    beside: Reply,
) -> Reply {
    let mut answer = match beside {
        Reply::Nothing => json!({}),
        Reply::Json(answer) => answer,
        reply @ (Reply::Talk(_) | Reply::Block(_)) => return reply,
    };
    let reason = printable(&ruling.reason()).into_owned();
    let context = printable(&ruling.context()).into_owned();
    let whole = [reason.as_str(), context.as_str()]
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join("\n");
    match (ruling.level(), name) {
        (Level::Nothing | Level::Log, _) => {}
        (Level::Block | Level::Ask, "PreToolUse") => {
            let word = if ruling.level() == Level::Block {
                "deny"
            } else {
                "ask"
            };
            let own = &mut answer["hookSpecificOutput"];
            own["hookEventName"] = name.into();
            own["permissionDecision"] = word.into();
            own["permissionDecisionReason"] = whole.into();
        }
        (Level::Block, _) => {
            answer["decision"] = "block".into();
            answer["reason"] = whole.into();
        }
        (Level::Ask | Level::Warn | Level::Context, "PermissionDenied") => {}
        (Level::Ask | Level::Warn | Level::Context, _) => add_context(&mut answer, name, &whole),
    }
    let mut lines = rules.warnings.clone();
    lines.push(ruling.user_line());
    for line in lines.iter().filter(|line| !line.is_empty()) {
        add_line(&mut answer, "systemMessage", &printable(line));
    }
    if answer.as_object().is_some_and(serde_json::Map::is_empty) {
        return Reply::Nothing;
    }
    Reply::Json(answer)
}

fn add_context(answer: &mut Value, name: &str, text: &str) {
    answer["hookSpecificOutput"]["hookEventName"] = name.into();
    add_line(&mut answer["hookSpecificOutput"], "additionalContext", text);
}

fn add_line(answer: &mut Value, key: &str, text: &str) {
    let joined = match answer[key].as_str() {
        Some(before) => format!("{before}\n{text}"),
        None => text.to_owned(),
    };
    answer[key] = joined.into();
}
