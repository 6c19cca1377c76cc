//! Scenarios read from YAML: a repository, and what is done in it step by step.

use serde_json::{Value, json};

use super::decode::{Decoder, Entries, get};
use crate::policy::{
    case::{CallStep, Deed, Scenario, Step},
    diagnostic::Code,
    yaml::{Node, Yaml},
};

const STEPS: [&str; 5] = ["user", "call", "stop", "prompt", "expect"];
const CALL: [&str; 6] = ["tool", "command", "input", "session", "does", "fails"];
const DEEDS: [&str; 5] = ["write", "delete", "commit", "stash", "checkout"];

impl Decoder<'_> {
    pub(super) fn scenario(&mut self, entries: &Entries, at: usize) -> Scenario {
        let files = match get(entries, "repo") {
            Some(node) => self.files(node),
            None => Vec::new(),
        };
        let Some(node) = get(entries, "steps") else {
            self.fault(Code::E02, at, "a test with 'repo' needs 'steps'");
            return Scenario::default();
        };
        let nodes = self.list("steps", node);
        let steps: Vec<Step> = nodes.iter().filter_map(|node| self.scene(node)).collect();
        let expects = |step: &Step| matches!(step, Step::Expect(_));
        if !steps.iter().any(expects) && get(entries, "expect").is_none() {
            self.fault(Code::E02, node.at, "a scenario expects nothing");
        }
        Scenario { files, steps }
    }

    /// Reads a map of paths and texts.
    fn files(&mut self, node: &Node) -> Vec<(String, String)> {
        let entries = self.map(node, "files are a map of paths and texts");
        let mut files = Vec::new();
        for (key, value) in entries {
            let path = self.path(key);
            match (path, value.text()) {
                (Some(path), Some(text)) => files.push((path, text.to_owned())),
                (_, None) => self.fault(Code::E02, value.at, "a file holds a text"),
                (None, _) => {}
            }
        }
        files
    }

    fn path(&mut self, node: &Node) -> Option<String> {
        let path = node.key();
        let inside = path
            .split('/')
            .all(|part| !matches!(part, "" | "." | ".." | ".git"));
        if !inside {
            let message = format!("'{path}' is no path below the top of a repository");
            self.fault(Code::E02, node.at, message);
        }
        inside.then_some(path)
    }

    fn map<'n>(&mut self, node: &'n Node, what: &str) -> &'n Entries {
        match &node.value {
            Yaml::Map(entries) => entries,
            _ => {
                self.fault(Code::E02, node.at, what);
                &[]
            }
        }
    }

    fn scene(&mut self, node: &Node) -> Option<Step> {
        let entries = self.map(
            node,
            "a step is a map with one of user, call, stop, prompt, expect",
        );
        self.known_keys(entries, &STEPS, "a step");
        let [(key, value)] = entries else {
            let message = "a step is one of user, call, stop, prompt, expect";
            self.fault(Code::E02, node.at, message);
            return None;
        };
        Some(match key.text()? {
            "user" => Step::User(self.deeds(value)),
            "call" => Step::Call(self.call(value)),
            "stop" => Step::Stop,
            "prompt" => Step::Prompt(value.key()),
            "expect" => Step::Expect(self.expect(value)?),
            _ => return None,
        })
    }

    fn deeds(&mut self, node: &Node) -> Vec<Deed> {
        let entries = self.map(
            node,
            "what is done is a map of write, delete, commit, stash, checkout",
        );
        self.known_keys(entries, &DEEDS, "what is done");
        let mut deeds = Vec::new();
        for (key, value) in entries {
            match key.text().unwrap_or_default() {
                "write" => {
                    let files = self.files(value).into_iter();
                    deeds.extend(files.map(|(path, text)| Deed::Write(path, text)));
                }
                "delete" => deeds.extend(self.paths_of(value).into_iter().map(Deed::Delete)),
                "checkout" => deeds.push(Deed::Checkout(self.paths_of(value))),
                "commit" => deeds.push(Deed::Commit(value.key())),
                "stash" => deeds.push(Deed::Stash),
                _ => {}
            }
        }
        deeds
    }

    fn paths_of(&mut self, node: &Node) -> Vec<String> {
        match &node.value {
            Yaml::List(items) => items.iter().filter_map(|item| self.path(item)).collect(),
            _ => self.path(node).into_iter().collect(),
        }
    }

    fn call(&mut self, node: &Node) -> CallStep {
        let entries = self.map(node, "a call is a map with 'tool', 'does' and others");
        self.known_keys(entries, &CALL, "a call");
        let text = |key: &str| get(entries, key).map(Node::key);
        let mut input = get(entries, "input").map_or(Value::Null, Node::json);
        if !input.is_object() {
            input = json!({});
        }
        if let Some(command) = text("command") {
            input["command"] = command.into();
        }
        let fails = get(entries, "fails").is_some_and(|node| node.json() == json!(true));
        let does = match get(entries, "does") {
            Some(node) => self.deeds(node),
            None => Vec::new(),
        };
        CallStep {
            tool: text("tool").unwrap_or_else(|| "Bash".to_owned()),
            session: text("session").unwrap_or_else(|| "S1".to_owned()),
            input,
            does,
            fails,
        }
    }
}
