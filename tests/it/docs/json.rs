//! docs/json.md says what the commands print.

use std::{collections::BTreeSet, fs, path::Path};

use regex::Regex;
use serde_json::{Map, Value};

use crate::support::{Output, Repo};

/// Objects of one type that the page tells of.
struct Told {
    commands: String,
    kind: String,
    members: Vec<String>,
}

fn page() -> Vec<Told> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/json.md");
    let text = fs::read_to_string(path).unwrap();
    let mut told: Vec<Told> = Vec::new();
    let rows = text
        .lines()
        .skip_while(|line| !line.starts_with("|---"))
        .skip(1);
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let commands = match cells[0] {
            "" => told.last().unwrap().commands.clone(),
            named => named.to_owned(),
        };
        let members = cells[2].split(" (").next().unwrap().split(", ");
        told.push(Told {
            commands,
            kind: cells[1].trim_matches('`').to_owned(),
            members: members.map(str::to_owned).collect(),
        });
    }
    told
}

fn objects(text: &str) -> Vec<Map<String, Value>> {
    let lines = text.lines();
    lines
        .map(|line| match serde_json::from_str(line) {
            Ok(Value::Object(object)) => object,
            other => panic!("{line}: {other:?}"),
        })
        .collect()
}

/// Fails where an object of `command` is not what the page says; adds its row to `seen`.
#[track_caller]
fn compare(command: &str, text: &str, told: &[Told], seen: &mut BTreeSet<usize>) {
    for object in objects(text) {
        let mut keys = object.keys().map(String::as_str);
        assert_eq!(
            (keys.next(), keys.next()),
            (Some("v"), Some("type")),
            "{text}"
        );
        assert_eq!(object["v"], 1, "{text}");
        let kind = object["type"].as_str().unwrap();
        let row = told.iter().position(|one| {
            one.kind == kind
                && (one.commands.starts_with("any")
                    || one.commands.contains(&format!("`{command}")))
        });
        let row = row.unwrap_or_else(|| panic!("{command} prints a '{kind}': {text}"));
        seen.insert(row);
        if kind == "record" {
            assert_eq!(object["id"].as_str().unwrap().len(), 42, "{text}");
            continue;
        }
        let keys: BTreeSet<&str> = keys.collect();
        let members = told[row].members.iter().map(String::as_str).collect();
        assert_eq!(keys, members, "{command} {kind}");
    }
}

/// A project in which every command has something to say.
fn scene() -> Repo {
    let repo = Repo::new();
    repo.commit("a");
    let operator = |args: &[&str]| repo.operator(args).run();
    assert_eq!(operator(&["start"]).code, 0);
    let remote = repo.dir().join("remote.git");
    let remote = remote.to_str().unwrap();
    repo.git(["init", "-q", "--bare", remote]);
    repo.git(["remote", "add", "origin", remote]);
    repo.write(".operator/policies/no.yaml", NO);
    repo.write(".operator/policies/notes.txt", "x");
    repo.write(
        ".operator/policies/bad/bad.yaml",
        "id: bad\non: [no.such]\n",
    );
    repo.git(["add", "--all"]);
    repo.commit_staged("set up");
    repo
}

const NO: &str = "id: no\non: [tool.call]\nwhen: { builtin: command, with: { deny: [rm] } }\n\
    tests:\n  - { name: a, event: tool.call, data: { command: rm x }, expect: block }\n";

#[test]
fn every_object_has_the_members_that_the_page_names() {
    let repo = scene();
    let told = page();
    let mut seen = BTreeSet::new();
    let mut run = |command: &str, args: &[&str]| -> Output {
        let output = repo.operator(args).run();
        compare(command, &output.stdout, &told, &mut seen);
        if command == "run" || !output.stderr.is_empty() && !output.stderr.starts_with("hint:") {
            compare(command, &output.stderr, &told, &mut seen);
        }
        output
    };
    let owner = ["--owner", "S", "--json"];
    run("task", &[&["task", "T"], &owner[..]].concat());
    run(
        "run",
        &[&["run", "T", "c"], &owner[..], &["--", "true"]].concat(),
    );
    for task in ["U", "V", "W"] {
        run("task", &[&["task", task], &owner[..]].concat());
    }
    run(
        "verdict",
        &[&["verdict", "U", "d", "seen", "PASS"], &owner[..]].concat(),
    );
    run("defer", &[&["defer", "V", "later"], &owner[..]].concat());
    run("adopt", &["adopt", "W", "--owner", "R", "--json"]);
    run(
        "decide",
        &[&["decide", "DEVIATION", "w", "--why", "y"], &owner[..]].concat(),
    );
    run("bar", &["bar", "B", "--json"]);
    let event = r#"{"session_id":"S","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"1","tool_input":{"command":"rm x"}}"#;
    repo.operator(["hook"]).stdin(event).run();
    repo.commit("later");
    repo.git(["config", "--unset", "merge.git-operator.driver"]);
    run("status", &["status", "--owner", "S", "--json"]);
    run("log", &["log", "--json"]);
    run("log", &["log", "--json", "--bindings", "--evidence"]);
    run("log", &["log", "--json", "nowhere"]);
    run("show", &["show", "T", "--json"]);
    run("verify", &["verify", "--format", "json"]);
    run("work", &["work", "--json"]);
    run("sync", &["sync", "--json"]);
    run("gc", &["gc", "--json"]);
    repo.write(".operator/VERDICTS.md", "| a | b |\n");
    run("render --check", &["render", "--check", "--json"]);
    run("reconcile", &["reconcile", "--json"]);
    fs::remove_file(repo.path().join(".operator/VERDICTS.md")).unwrap();
    run("render", &["render", "--json"]);
    run("doctor", &["doctor", "--json"]);
    run("tiers", &["tiers", "--json"]);
    run("policy check", &["policy", "check", "--json"]);
    run("policy list", &["policy", "list", "--json"]);
    run(
        "policy trace",
        &["policy", "trace", "--command", "rm x", "--json"],
    );
    run("policy stats", &["policy", "stats", "--json"]);
    run("policy why", &["policy", "why", "--json"]);
    let broken = repo.operator(["policy", "test", "--format", "json"]).run();
    assert_eq!(
        (broken.stdout.as_str(), broken.code),
        ("", 1),
        "{}",
        broken.stderr
    );
    fs::remove_file(repo.path().join(".operator/policies/bad/bad.yaml")).unwrap();
    run("policy test", &["policy", "test", "--format", "json"]);
    let rare = ["unreadable", "contested", "newer", "set_aside", "warning"];
    for (at, one) in told.iter().enumerate() {
        let expected = !rare.contains(&one.kind.as_str());
        assert!(
            seen.contains(&at) || !expected,
            "{}: {} was not seen",
            one.commands,
            one.kind
        );
    }
}

#[test]
fn every_type_in_the_sources_is_on_the_page() {
    fn read(dir: &Path, text: &mut String) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read(&path, text);
            } else {
                text.push_str(&fs::read_to_string(path).unwrap());
            }
        }
    }
    let mut text = String::new();
    read(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli"),
        &mut text,
    );
    let printed = Regex::new(r#"ui\s*\.json\(\s*"(\w+)""#).unwrap();
    let kinds: BTreeSet<&str> = printed
        .captures_iter(&text)
        .map(|found| found.get(1).unwrap().as_str())
        .collect();
    assert!(kinds.len() > 15, "{kinds:?}");
    let told: BTreeSet<String> = page().into_iter().map(|one| one.kind).collect();
    for kind in kinds {
        assert!(told.contains(kind), "{kind} is not on docs/json.md");
    }
}
