//! Conditions, expressions and messages read from YAML.

use super::decode::{Decoder, Entries, get};
use crate::policy::{
    builtin::{self, Builtin, Reader},
    cel::{Checks, Expression, Fault, Purpose},
    diagnostic::Code,
    effort,
    near::suggestion,
    policy::Condition,
    template::Template,
    yaml::{Node, Yaml},
};

const CONDITIONS: [&str; 6] = ["cel", "builtin", "with", "all", "any", "not"];
/// How deep `all`, `any` and `not` may nest.
const CONDITION_DEPTH: usize = 8;
/// How many bytes before a fault are gone through in one step to tell its place.
const PLACE_BYTES: usize = 16;

impl Decoder<'_> {
    pub(super) fn when(&mut self, entries: &Entries) -> Condition {
        match get(entries, "when") {
            None => Condition::Always,
            Some(node) => self.condition(node, 0).unwrap_or(Condition::Always),
        }
    }

    fn condition(&mut self, node: &Node, depth: usize) -> Option<Condition> {
        let entries = match &node.value {
            Yaml::Map(entries) if !entries.is_empty() => entries,
            Yaml::Null | Yaml::Map(_) => {
                let message =
                    "'when' has no condition; leave it out for a policy that always applies";
                self.fault(Code::E11, node.at, message);
                return None;
            }
            other => {
                let message = format!(
                    "a condition is a map with one of cel, builtin, all, any, not; this is {}",
                    other.kind()
                );
                self.fault(Code::E02, node.at, message);
                return None;
            }
        };
        if depth > CONDITION_DEPTH {
            let message = format!("conditions nest deeper than {CONDITION_DEPTH} levels");
            self.fault(Code::E09, node.at, message);
            return None;
        }
        if let Some(module) = get(entries, "module") {
            let message = "a condition cannot be a module: policies are data, not code; \
                use cel or builtin";
            self.fault(Code::E02, module.at, message);
            return None;
        }
        self.known_keys(entries, &CONDITIONS, "a condition");
        let mut kinds = entries.iter().filter(|(key, _)| key.text() != Some("with"));
        let (Some((key, value)), second) = (kinds.next(), kinds.next()) else {
            self.fault(Code::E11, node.at, "'with' stands without 'builtin'");
            return None;
        };
        if let Some((second, _)) = second {
            let message = format!(
                "a condition has one of cel, builtin, all, any, not; put '{}' and '{}' under 'all'",
                key.key(),
                second.key()
            );
            self.fault(Code::E02, second.at, message);
            return None;
        }
        let with = get(entries, "with");
        if let Some(with) = with.filter(|_| key.text() != Some("builtin")) {
            self.fault(Code::E02, with.at, "'with' stands only beside 'builtin'");
        }
        match key.text()? {
            "cel" => self
                .expression("cel", value, Purpose::Condition)
                .map(Condition::Cel),
            "builtin" => self.builtin(value, with).map(Condition::Builtin),
            "not" => {
                let inner = self.condition(value, depth + 1)?;
                Some(Condition::Not(Box::new(inner)))
            }
            word => {
                let parts: Vec<_> = self
                    .list(word, value)
                    .iter()
                    .filter_map(|part| self.condition(part, depth + 1))
                    .collect();
                Some(match word {
                    "all" => Condition::All(parts),
                    _ => Condition::Any(parts),
                })
            }
        }
    }

    pub(super) fn expression(
        &mut self,
        key: &str,
        node: &Node,
        purpose: Purpose,
    ) -> Option<Expression> {
        let Some(source) = node.text() else {
            if matches!(node.value, Yaml::Null) {
                let message = format!(
                    "'{key}' is empty; an expression that begins with '!' or '#' must be quoted"
                );
                self.fault(Code::E11, node.at, message);
            } else {
                self.wrong_type(key, node, "an expression in quotes");
            }
            return None;
        };
        let checks = Checks {
            events: &self.on,
            purpose,
        };
        let (expression, faults) = Expression::new(source, checks, self.patterns);
        self.expression_faults(node, faults);
        expression
    }

    fn expression_faults(&mut self, node: &Node, faults: Vec<Fault>) {
        for fault in faults {
            let has_room = effort::spend(1 + fault.at / PLACE_BYTES).is_ok();
            let at = match has_room {
                true => inside(&self.source.text, node, fault.at),
                false => node.at,
            };
            self.fault(fault.code, at, fault.message);
        }
    }

    fn builtin(&mut self, node: &Node, with: Option<&Node>) -> Option<Builtin> {
        let Some(name) = node.text() else {
            self.wrong_type("builtin", node, "a text");
            return None;
        };
        let Some(spec) = builtin::spec(name) else {
            let hint = suggestion(name, builtin::NAMES.iter().map(|spec| spec.name));
            self.fault(
                Code::E03,
                node.at,
                format!("unknown builtin '{name}'{hint}"),
            );
            return None;
        };
        let wrong = self
            .on
            .iter()
            .copied()
            .find(|event| !spec.events.contains(event));
        if let Some(event) = wrong {
            let events: Vec<&str> = spec.events.iter().map(|event| event.as_str()).collect();
            let message = format!(
                "'{name}' has nothing to look at at {event}; it stands on {}",
                events.join(", ")
            );
            self.fault(Code::E03, node.at, message);
        }
        let mut reader = Reader { faults: Vec::new() };
        let params = reader.read(spec, node.at, with);
        for fault in reader.faults {
            self.fault(fault.code, fault.at, fault.message);
        }
        Some(Builtin { spec, params })
    }

    pub(super) fn template(&mut self, entries: &Entries, key: &str) -> Option<Template> {
        let node = get(entries, key)?;
        let text = self.text(entries, key)?;
        let checks = Checks {
            events: &self.on,
            purpose: Purpose::Text,
        };
        let (template, faults) = Template::new(&text, checks, self.patterns);
        self.expression_faults(node, faults);
        Some(template)
    }
}

/// Returns the byte of the file at which byte `at` of a scalar's value was written.
fn inside(text: &str, node: &Node, at: usize) -> usize {
    let Some(value) = node.text() else {
        return node.at;
    };
    let raw = text.get(node.at..node.end.min(text.len())).unwrap_or("");
    let quote = raw.chars().next().filter(|c| matches!(c, '"' | '\''));
    let mut raw_chars = raw
        .char_indices()
        .skip(usize::from(quote.is_some()))
        .peekable();
    for (offset, c) in value.char_indices() {
        // A folded line break, or the indentation of a block.
        while let Some((_, other)) = raw_chars.peek() {
            if *other == c || !other.is_whitespace() {
                break;
            }
            raw_chars.next();
        }
        let here = raw_chars.peek().map_or(raw.len(), |(at, _)| *at);
        if offset >= at {
            return node.at + here;
        }
        match raw_chars.next() {
            Some((_, '\\')) if quote == Some('"') => drop(raw_chars.next()),
            Some((_, '\'')) if quote == Some('\'') => drop(raw_chars.next()),
            _ => {}
        }
    }
    node.at + raw.len().saturating_sub(usize::from(quote.is_some()))
}
