use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::{Value, json};

use super::{at, files, json, text};

/// Older clients drop every hook of a plugin that names an event they do not know.
const EVENTS: [&str; 10] = [
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionDenied",
    "Stop",
    "SubagentStop",
    "PreCompact",
];

fn is_executable(path: &str) -> bool {
    let metadata = fs::symlink_metadata(at(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    metadata.is_file() && metadata.permissions().mode() & 0o111 == 0o111
}

#[test]
fn hooks_name_the_long_known_events_only() {
    let hooks = json("plugin/hooks/hooks.json");
    let found: Vec<&str> = hooks["hooks"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(found, EVENTS);
}

#[test]
fn every_hook_is_the_launcher_in_exec_form() {
    let hooks = json("plugin/hooks/hooks.json");
    for (event, groups) in hooks["hooks"].as_object().unwrap() {
        let tool = event.contains("Tool") || event == "PermissionDenied";
        let mut group = json!({"hooks": [{
            "type": "command",
            "command": "${CLAUDE_PLUGIN_ROOT}/bin/git-operator",
            "args": ["hook"],
            "timeout": if event == "SessionEnd" { 2 } else { 10 },
        }]});
        if tool {
            group["matcher"] = json!("*");
        }
        assert_eq!(groups, &json!([group]), "{event}");
    }
    assert!(is_executable("plugin/bin/git-operator"));
}

#[test]
fn every_file_in_bin_is_an_executable_posix_script() {
    for path in files("plugin/bin", "") {
        assert!(is_executable(&path), "{path}");
        assert!(text(&path).starts_with("#!/bin/sh\n"), "{path}");
    }
}

#[test]
fn the_status_line_manifest_names_a_script_that_exists() {
    let manifest = json("plugin/.claude-plugin/statusline.json");
    assert_eq!(
        manifest,
        json!({"name": "cc-operator", "render": "bin/cc-operator-statusline", "order": 30})
    );
    assert!(is_executable("plugin/bin/cc-operator-statusline"));
}

#[test]
fn the_marketplace_offers_the_plugin_in_its_folder() {
    let market = json(".claude-plugin/marketplace.json");
    let plugin = json("plugin/.claude-plugin/plugin.json");
    let entry = &market["plugins"][0];
    assert_eq!(entry["source"], "./plugin");
    for key in ["name", "version", "description", "license"] {
        assert_eq!(entry[key], plugin[key], "{key}");
        assert_ne!(plugin[key], Value::Null, "{key}");
    }
    assert_eq!(plugin["name"], "cc-operator");
}

/// The front matter of a markdown file as pairs, and the body after it.
pub(super) fn front_matter(path: &str) -> (Vec<(String, String)>, String) {
    let all = text(path);
    let (head, body) = all
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .unwrap_or_else(|| panic!("{path}: no front matter"));
    let pairs = head
        .lines()
        .map(|line| {
            let (key, value) = line
                .split_once(": ")
                .unwrap_or_else(|| panic!("{path}: '{line}' is not a key and a value"));
            assert!(!value.trim().is_empty(), "{path}: {key} is empty");
            (key.to_owned(), value.to_owned())
        })
        .collect();
    (pairs, body.to_owned())
}

#[test]
fn every_command_has_a_description_and_may_run_its_own_lines() {
    for path in files("plugin/commands", ".md") {
        let (pairs, body) = front_matter(&path);
        let value = |key: &str| {
            pairs
                .iter()
                .find(|(k, _)| k == key)
                .map(|(_, v)| v.as_str())
        };
        assert!(value("description").is_some(), "{path}");
        for (key, _) in &pairs {
            assert!(
                ["description", "argument-hint", "allowed-tools"].contains(&key.as_str()),
                "{path}: {key}"
            );
        }
        let lines: Vec<&str> = body.lines().filter(|line| line.starts_with("!`")).collect();
        if !lines.is_empty() {
            let tools = value("allowed-tools").unwrap_or_default();
            assert!(tools.contains("Bash(git operator *)"), "{path}: {tools}");
        }
        for line in lines {
            assert!(line.starts_with("!`git operator "), "{path}: {line}");
            let shell = line.replace("$ARGUMENTS", "");
            assert!(
                !shell.contains(['$', ';', '|', '&', '>', '<']),
                "{path}: manual mode refuses {line}"
            );
        }
    }
}

#[test]
fn no_file_of_the_plugin_holds_a_raw_control_byte() {
    fn walk(dir: &std::path::Path) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path);
            } else if path.extension().is_none_or(|ext| ext != "png") {
                let bytes = fs::read(&path).unwrap();
                let found = bytes.iter().position(|b| *b < 0x20 && *b != b'\n');
                assert_eq!(found, None, "{}", path.display());
            }
        }
    }
    walk(&at("plugin"));
    walk(&at("templates"));
}

#[test]
fn every_agent_is_named_as_its_file_and_pins_no_model() {
    for path in files("plugin/agents", ".md") {
        let (pairs, body) = front_matter(&path);
        let keys: Vec<&str> = pairs.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["name", "description", "tools", "model"], "{path}");
        assert_eq!(path, format!("plugin/agents/{}.md", pairs[0].1));
        assert!(
            ["opus", "sonnet", "haiku"].contains(&pairs[3].1.as_str()),
            "{path}"
        );
        assert!(
            body.contains("instructions"),
            "{path}: what it reads gives no orders"
        );
    }
    assert_eq!(files("plugin/agents", ".md").len(), 7);
}

#[test]
fn only_the_seats_that_build_may_write() {
    for path in files("plugin/agents", ".md") {
        let tools = &front_matter(&path).0[2].1;
        let builds = path.ends_with("author.md") || path.ends_with("mechanic.md");
        assert_eq!(
            tools.contains("Write") || tools.contains("Edit"),
            builds,
            "{path}"
        );
    }
}

#[test]
fn the_skill_points_at_commands_and_workflows_that_exist() {
    let path = "plugin/skills/chief-operator/SKILL.md";
    let (pairs, body) = front_matter(path);
    assert_eq!(pairs[0], ("name".to_owned(), "chief-operator".to_owned()));
    for rest in body.split("`/cc-operator:").skip(1) {
        let name: String = rest
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        assert!(
            at(&format!("plugin/commands/{name}.md")).is_file(),
            "{name}"
        );
    }
    for rest in body.split("`cc-operator:").skip(1) {
        let name: String = rest
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        assert!(
            at(&format!("plugin/workflows/{name}.js")).is_file(),
            "{name}"
        );
    }
}

/// The client (2.1.332) expands `/cc-operator:review` to the workflow and never to a command file.
#[test]
fn no_command_stands_in_the_shadow_of_a_workflow() {
    for path in files("plugin/workflows", ".js") {
        let command = path.replace("workflows", "commands").replace(".js", ".md");
        assert!(!at(&command).exists(), "{command}");
    }
}
