//! Test cases read from YAML.

use serde_json::{Map, Value};

use super::decode::{Decoder, get};
use crate::policy::{
    case::{self, Case, Expect, Given},
    diagnostic::Code,
    event::{EventName, Level},
    near::suggestion,
    yaml::{Node, Yaml},
};

const KEYS: [&str; 7] = ["name", "event", "expect", "work", "gate", "repo", "steps"];
/// Fields of `event` that stand beside the others in a case.
const EVENT_FIELDS: [&str; 13] = [
    "data",
    "tool",
    "input",
    "id",
    "session",
    "prompt_id",
    "agent",
    "root",
    "cwd",
    "branch",
    "head",
    "mode",
    "turn",
];
const EXPECT: [&str; 6] = [
    "decision", "policies", "restore", "message", "error", "file",
];

impl Decoder<'_> {
    pub(super) fn case(&mut self, node: &Node) -> Option<Case> {
        let Yaml::Map(entries) = &node.value else {
            let message = format!("a test is a map, not {}", node.value.kind());
            self.fault(Code::E02, node.at, message);
            return None;
        };
        let before = self.faults.len();
        let known: Vec<&str> = KEYS.iter().chain(&EVENT_FIELDS).copied().collect();
        self.known_keys(entries, &known, "a test");
        let name = self.text(entries, "name").unwrap_or_default();
        let at = entries.first().map_or(node.at, |(key, _)| key.at);
        if name.is_empty() {
            self.fault(Code::E02, at, "a test needs a 'name'");
        }
        let given = if get(entries, "repo").is_some() || get(entries, "steps").is_some() {
            Given::Scenario(self.scenario(entries, at))
        } else {
            self.event_given(entries, at)?
        };
        let expect = match get(entries, "expect") {
            Some(node) => self.expect(node)?,
            None if matches!(given, Given::Scenario(_)) => Expect::default(),
            None => {
                self.fault(Code::E02, at, format!("the test '{name}' lacks 'expect'"));
                return None;
            }
        };
        (self.faults.len() == before).then(|| Case {
            name,
            place: self.place(at),
            given,
            expect,
        })
    }

    fn event_given(&mut self, entries: &[(Node, Node)], at: usize) -> Option<Given> {
        let word = self.text(entries, "event");
        let Some(word) = word else {
            self.fault(Code::E02, at, "a test needs an 'event'");
            return None;
        };
        let Some(name) = EventName::parse(&word) else {
            let hint = suggestion(&word, EventName::ALL.iter().map(|event| event.as_str()));
            self.fault(Code::E03, at, format!("unknown event '{word}'{hint}"));
            return None;
        };
        let mut event = Map::new();
        for field in EVENT_FIELDS {
            if let Some(node) = get(entries, field) {
                event.insert(field.to_owned(), node.json());
            }
        }
        let json = |key| get(entries, key).map_or(Value::Null, Node::json);
        let given = Given::Event {
            name,
            event: case::expanded(name, Value::Object(event)),
            work: json("work"),
            gate: json("gate"),
        };
        if let Err(error) = given.facts() {
            self.fault(Code::E02, at, error);
            return None;
        }
        Some(given)
    }

    pub(super) fn expect(&mut self, node: &Node) -> Option<Expect> {
        let entries = match &node.value {
            Yaml::Text(word) => {
                return Some(Expect {
                    decision: Some(self.level(node, word)?),
                    decision_at: Some((node.at, node.end)),
                    ..Expect::default()
                });
            }
            Yaml::Map(entries) => entries,
            other => {
                let message = format!("'expect' is {}, not a word or a map", other.kind());
                self.fault(Code::E02, node.at, message);
                return None;
            }
        };
        self.known_keys(entries, &EXPECT, "'expect'");
        let decision = match get(entries, "decision") {
            Some(node) => Some(self.level(node, node.text().unwrap_or_default())?),
            None => None,
        };
        let decision_at = get(entries, "decision").map(|node| (node.at, node.end));
        let texts = |key| {
            get(entries, key).map(|node| match &node.value {
                Yaml::List(items) => items.iter().map(Node::key).collect(),
                _ => vec![node.key()],
            })
        };
        Some(Expect {
            decision,
            decision_at,
            policies: texts("policies"),
            restore: texts("restore"),
            error: get(entries, "error").map(Node::key),
            message: get(entries, "message").map_or_else(Vec::new, contained),
            file: get(entries, "file").map_or(Value::Null, Node::json),
        })
    }

    fn level(&mut self, node: &Node, word: &str) -> Option<Level> {
        let level = Level::parse(word);
        if level.is_none() {
            let hint = suggestion(word, Level::ALL.iter().map(|level| level.as_str()));
            let message = format!("unknown decision '{word}'{hint}");
            self.fault(Code::E03, node.at, message);
        }
        level
    }
}

/// Returns the texts that a message must hold: `message: text` or `message: { contains: … }`.
fn contained(node: &Node) -> Vec<String> {
    let node = match &node.value {
        Yaml::Map(entries) => get(entries, "contains").unwrap_or(node),
        _ => node,
    };
    match &node.value {
        Yaml::List(items) => items.iter().map(Node::key).collect(),
        _ => vec![node.key()],
    }
}
