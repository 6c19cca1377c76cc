//! A condition with the value of each of its parts, as lines.

use super::{
    builtin::Answer,
    cel::{Outcome, Traced, shown},
    judge::Judge,
    policy::Condition,
};

/// Where the text of a part begins, after its value.
const COLUMN: usize = 8;

/// Returns the parts of a condition with what each came to.
pub(super) fn condition(condition: &Condition, judge: &Judge<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    add(condition, judge, 0, &mut lines);
    lines
}

fn line(value: &str, depth: usize, text: &str) -> String {
    format!("{value:COLUMN$}{}{text}", "  ".repeat(depth))
}

fn add(condition: &Condition, judge: &Judge<'_>, depth: usize, lines: &mut Vec<String>) {
    match condition {
        Condition::Always => lines.push(line("true", depth, "no condition")),
        Condition::Cel(expression) => {
            part(&expression.trace(judge.context()), depth, lines);
        }
        Condition::Builtin(builtin) => {
            let (value, why) = match builtin.check(judge.facts) {
                Answer::Match(why) => ("true", why),
                Answer::NoMatch(why) => ("false", why),
                Answer::Unknown(why) => ("unknown", why),
            };
            let text = format!("builtin {}: {}", builtin.spec.name, why.replace('\n', " "));
            lines.push(line(value, depth, &text));
        }
        Condition::All(parts) => group("all", parts, judge, (depth, lines)),
        Condition::Any(parts) => group("any", parts, judge, (depth, lines)),
        Condition::Not(part) => {
            lines.push(line("", depth, "not"));
            add(part, judge, depth + 1, lines);
        }
    }
}

fn group(
    name: &str,
    parts: &[Condition],
    judge: &Judge<'_>,
    (depth, lines): (usize, &mut Vec<String>),
) {
    lines.push(line("", depth, name));
    for part in parts {
        add(part, judge, depth + 1, lines);
    }
}

fn part(traced: &Traced, depth: usize, lines: &mut Vec<String>) {
    let text = match &traced.outcome {
        Outcome::Value(cel::Value::Bool(value)) => line(&value.to_string(), depth, &traced.text),
        Outcome::Value(value) => line("", depth, &format!("{} = {}", traced.text, shown(value))),
        Outcome::Error(error) => line("error", depth, &format!("{}: {error}", traced.text)),
        Outcome::Unused => line("-", depth, &traced.text),
    };
    lines.push(text);
    for inner in &traced.parts {
        part(inner, depth + 1, lines);
    }
}
