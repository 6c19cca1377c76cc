//! Actions read from YAML.

use super::decode::{Decoder, Entries, get};
use crate::policy::{
    cel::Purpose,
    diagnostic::Code,
    event::Action,
    near::suggestion,
    policy::Step,
    yaml::{Node, Yaml},
};

impl Decoder<'_> {
    pub(super) fn steps(&mut self, entries: &Entries, at: usize) -> Vec<Step> {
        let Some(node) = get(entries, "then") else {
            let step = Step {
                action: Action::Block,
                message: None,
                paths: None,
            };
            self.legal(&step, at, "a policy without 'then' blocks: ");
            return vec![step];
        };
        let mut steps: Vec<Step> = Vec::new();
        for item in self.list("then", node) {
            let Some(step) = self.step(item) else {
                continue;
            };
            if steps.iter().any(|other| other.action == step.action) {
                let message = format!("'{}' stands twice in 'then'", step.action);
                self.fault(Code::E02, item.at, message);
                continue;
            }
            self.legal(&step, item.at, "");
            steps.push(step);
        }
        steps
    }

    fn legal(&mut self, step: &Step, at: usize, lead: &str) {
        for event in self.on.clone() {
            if let Some(reason) = event.refuses(step.action) {
                let message = format!(
                    "{lead}'{}' is not possible at {event}: {reason}",
                    step.action
                );
                self.fault(Code::E07, at, message);
            }
        }
    }

    fn step(&mut self, node: &Node) -> Option<Step> {
        let (name, body) = match &node.value {
            Yaml::Text(word) => (node, (word, None)),
            Yaml::Map(entries) if entries.len() == 1 => {
                let (key, value) = &entries[0];
                match &key.value {
                    Yaml::Text(word) => (key, (word, Some(value))),
                    _ => return self.no_step(node),
                }
            }
            _ => return self.no_step(node),
        };
        let (word, body) = body;
        let Some(action) = Action::parse(word) else {
            let hint = suggestion(word, Action::ALL.iter().map(|action| action.as_str()));
            let hint = if word == "allow" {
                ": a policy never widens permissions".to_owned()
            } else {
                hint
            };
            self.fault(Code::E03, name.at, format!("unknown action '{word}'{hint}"));
            return None;
        };
        let mut step = Step {
            action,
            message: None,
            paths: None,
        };
        match body.map(|body| (body, &body.value)) {
            None | Some((_, Yaml::Null)) => {}
            Some((_, Yaml::Map(entries))) => {
                let known: &[&str] = if action == Action::Restore {
                    &["paths"]
                } else {
                    &["message"]
                };
                self.known_keys(entries, known, "an action");
                step.message = self.template(entries, "message");
                if let Some(paths) = get(entries, "paths").filter(|_| action == Action::Restore) {
                    step.paths = self.expression("paths", paths, Purpose::Paths);
                }
            }
            Some((body, _)) => self.wrong_type(word, body, "a map"),
        }
        Some(step)
    }

    fn no_step(&mut self, node: &Node) -> Option<Step> {
        let message = "an action is a word, or a map with one word as its key";
        self.fault(Code::E02, node.at, message);
        None
    }
}
