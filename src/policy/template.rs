//! Messages with `{{ CEL }}` in them.

use cel::{Context, Value};

use super::{
    cel::{Checks, Expression, Fault, Patterns, shown},
    diagnostic::Code,
};

/// The most items of a list that a message names.
const ITEMS_SHOWN: usize = 20;

/// A message whose expressions are filled in.
#[derive(Clone, Debug, Default)]
pub(super) struct Template(Vec<Piece>);

#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Value(Box<Expression>),
}

impl Template {
    /// Accepts a message; a fault's place is the byte in it.
    pub(super) fn new(
        text: &str,
        checks: Checks<'_>,
        patterns: &mut Patterns,
    ) -> (Self, Vec<Fault>) {
        let mut pieces = Vec::new();
        let mut faults = Vec::new();
        let mut at = 0;
        while let Some(open) = text[at..].find("{{") {
            pieces.push(Piece::Text(text[at..at + open].to_owned()));
            let start = at + open + 2;
            let Some(len) = closing(&text[start..]) else {
                faults.push(Fault::new(
                    Code::E04,
                    at + open,
                    "'{{' is not closed by '}}'",
                ));
                return (Self(pieces), faults);
            };
            let inner = &text[start..start + len];
            let indent = inner.len() - inner.trim_start().len();
            let (expression, found) = Expression::new(inner.trim(), checks, patterns);
            faults.extend(found.into_iter().map(|fault| Fault {
                at: start + indent + fault.at,
                ..fault
            }));
            pieces.extend(expression.map(|expression| Piece::Value(Box::new(expression))));
            at = start + len + 2;
        }
        pieces.push(Piece::Text(text[at..].to_owned()));
        (Self(pieces), faults)
    }

    /// Returns the message; an expression that fails says so in its place.
    pub(super) fn render(&self, context: &Context<'_, '_>) -> String {
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Value(expression) => match expression.evaluate(context) {
                    Ok(value) => out.push_str(&filled(&value)),
                    Err(error) => {
                        out.push_str(&format!("<{}: {error}>", expression.source));
                    }
                },
            }
        }
        out
    }

    /// Returns the fields that its expressions read.
    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        let expressions = self.0.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Value(expression) => Some(expression),
        });
        expressions
            .flat_map(|expression| expression.fields())
            .map(String::as_str)
    }
}

/// Returns where the `}}` stands that closes an expression, quotes left aside.
fn closing(text: &str) -> Option<usize> {
    let mut quote: Option<char> = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(open) if c == open => quote = None,
            None if c == '\'' || c == '"' => quote = Some(c),
            None if text[at..].starts_with("}}") && !text[at..].starts_with("}}}") => {
                return Some(at);
            }
            _ => {}
        }
    }
    None
}

/// Returns a value as it stands in a message: a list as lines.
pub(super) fn filled(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        Value::List(items) => bullets(items.iter().map(filled_item), items.len()),
        other => shown(other),
    }
}

fn filled_item(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        other => shown(other),
    }
}

/// Returns items as lines of a list, a long one cut.
pub(super) fn bullets(items: impl Iterator<Item = String>, len: usize) -> String {
    if len == 0 {
        return "none".to_owned();
    }
    let mut out: String = items
        .take(ITEMS_SHOWN)
        .map(|item| format!("\n- {item}"))
        .collect();
    if len > ITEMS_SHOWN {
        out.push_str(&format!("\n- and {} more", len - ITEMS_SHOWN));
    }
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::Template;
    use crate::policy::{
        cel::{Checks, Patterns, Purpose, context, json_value},
        event::EventName,
    };

    fn render(text: &str) -> String {
        let mut patterns = Patterns::default();
        let checks = Checks {
            events: &[EventName::FileWrite],
            purpose: Purpose::Text,
        };
        let (template, faults) = Template::new(text, checks, &mut patterns);
        if let Some(fault) = faults.first() {
            return format!("{} {}: {}", fault.code, fault.at, fault.message);
        }
        let event = json!({"data": {"path": "a.rs", "lines": 3}, "input": {}});
        let work =
            json!({"foreign": (0..22).map(|n| format!("f{n}")).collect::<Vec<_>>(), "mine": []});
        let roots = [
            ("event", json_value(&event)),
            ("work", json_value(&work)),
            ("gate", json_value(&json!({}))),
        ];
        template.render(&context(&Arc::new(patterns), roots))
    }

    #[test]
    fn expressions_are_filled_in() {
        for (text, expected) in [
            ("plain", "plain"),
            (
                "{{ event.data.path }} has {{plural(event.data.lines, 'line')}}",
                "a.rs has 3 lines",
            ),
            ("{{ '}}' + \"{{\" }}!", "}}{{!"),
            ("mine: {{ work.mine }}", "mine: none"),
            ("{{ {'a': 1}['a'] }}", "1"),
            (
                "{{ event.input.x }}",
                "<event.input.x: there is no field 'x'>",
            ),
            ("x {{ event", "E04 2: '{{' is not closed by '}}'"),
            (
                "é {{ work.foregin }}",
                "E06 11: unknown field 'work.foregin', did you mean 'foreign'?",
            ),
        ] {
            assert_eq!(render(text), expected, "{text}");
        }
        let listed = render("{{ work.foreign }}");
        assert!(listed.starts_with("\n- f0\n- f1\n"), "{listed}");
        assert!(listed.ends_with("\n- f19\n- and 2 more"), "{listed}");
    }
}
