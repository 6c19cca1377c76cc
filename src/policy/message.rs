//! What a policy says when it matches.

use serde_json::Value;

use super::{
    cel::{json_value, shown},
    judge::Judge,
    policy::{Condition, Policy, Step},
};

/// The most fields that a message of ours names.
const FIELDS_SHOWN: usize = 8;
/// Fields that are too long, or say what is known anyhow.
const NOT_SHOWN: [&str; 5] = [
    "event.data.content",
    "event.data.before",
    "event.name",
    "event.input",
    "event.data.response",
];

/// Returns the text of an action: its own message, the policy's, or what can be said without one.
pub(super) fn reason(judge: &Judge<'_>, policy: &Policy, step: &Step, why: Option<&str>) -> String {
    let given = step.message.as_ref().or(policy.message.as_ref());
    let mut text = match given {
        Some(template) => template.render(judge.context()),
        None => default(judge, policy, why),
    };
    if let Some(hint) = &policy.hint {
        text.push('\n');
        text.push_str(&hint.render(judge.context()));
    }
    text.trim_end().to_owned()
}

fn default(judge: &Judge<'_>, policy: &Policy, why: Option<&str>) -> String {
    let mut parts: Vec<String> = policy.description.iter().cloned().collect();
    match why {
        Some(why) => parts.push(why.to_owned()),
        None if policy.description.is_none() => parts.extend(condition(&policy.when)),
        None => {}
    }
    if parts.is_empty() {
        parts.push(format!("the policy at {} applies", policy.place));
    }
    let mut text = parts.join(": ");
    if why.is_none() {
        text.push_str(&fields(judge, policy));
    }
    text
}

fn condition(condition: &Condition) -> Option<String> {
    match condition {
        Condition::Cel(expression) => Some(format!("this holds: {}", expression.source)),
        _ => None,
    }
}

/// Returns the values that the condition looked at.
fn fields(judge: &Judge<'_>, policy: &Policy) -> String {
    let mut names: Vec<String> = Vec::new();
    for expression in policy.expressions() {
        for name in expression.fields() {
            if !NOT_SHOWN.contains(&name.as_str()) && !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    let mut text = String::new();
    for name in names.iter().take(FIELDS_SHOWN) {
        match field(judge, name) {
            Value::Object(_) => {}
            Value::Array(items) if items.is_empty() => {}
            Value::Array(items) if items.iter().all(Value::is_string) => {
                let items: Vec<String> = items
                    .iter()
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect();
                let len = items.len();
                let list = super::template::bullets(items.into_iter(), len);
                text.push_str(&format!("\n{name}:{list}"));
            }
            value => text.push_str(&format!("\n{name}: {}", shown(&json_value(&value)))),
        }
    }
    text
}

fn field(judge: &Judge<'_>, name: &str) -> Value {
    let facts = judge.facts;
    let mut names = name.split('.');
    let mut value = match names.next() {
        Some("event") => &facts.event,
        Some("work") => &facts.work,
        _ => &facts.gate,
    };
    for name in names {
        value = &value[name];
    }
    value.clone()
}
