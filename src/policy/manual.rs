//! The language described from the same lists that check it: `policy schema`, `policy explain`, and
//! the JSON Schema for editors.

mod json;

use std::fmt::Write;

pub use json::json_schema;

use super::{
    builtin::{self, Spec},
    cel::OURS,
    event::{Action, EventName},
    near::suggestion,
    policy::{Condition, Mode, OnError, Policy},
    schema::{self, Field, Shape},
};

/// Returns the names that `describe` knows, in groups.
pub fn items() -> Vec<(&'static str, Vec<String>)> {
    let names = |prefix: &str, names: Vec<&str>| {
        names
            .into_iter()
            .map(|name| format!("{prefix}{name}"))
            .collect()
    };
    let events = EventName::ALL.iter().map(|event| event.as_str()).collect();
    let actions = Action::ALL.iter().map(|action| action.as_str()).collect();
    let builtins = builtin::NAMES.iter().map(|spec| spec.name).collect();
    vec![
        ("variables", names("", vec!["event", "work", "gate"])),
        ("events", names("", events)),
        ("actions", names("action/", actions)),
        ("functions", vec!["functions".to_owned()]),
        ("built-ins", names("builtin/", builtins)),
    ]
}

/// Returns the description of an item; the error names the nearest one there is.
pub fn describe(item: &str) -> Result<String, String> {
    if let Some(name) = item.strip_prefix("builtin/")
        && let Some(spec) = builtin::spec(name)
    {
        return Ok(builtin_text(spec));
    }
    if let Some(event) = EventName::parse(item) {
        return Ok(event_text(event));
    }
    let action = item.strip_prefix("action/").and_then(Action::parse);
    if let Some(action) = action {
        return Ok(action_text(action));
    }
    if item == "functions" {
        let lines: Vec<String> = OURS.iter().map(|(_, doc)| format!("{doc}\n")).collect();
        return Ok(lines.concat());
    }
    if let Some(root) = schema::ROOTS.iter().find(|root| root.name == item) {
        let mut out = format!("{}: {}\n", root.name, root.doc);
        fields(root.name, root.shape, &mut out);
        return Ok(out);
    }
    let known: Vec<String> = items().into_iter().flat_map(|(_, names)| names).collect();
    let hint = suggestion(item, known.iter().map(String::as_str));
    Err(format!("there is no '{item}'{hint}"))
}

fn fields(prefix: &str, shape: Shape, out: &mut String) {
    let fields: &[Field] = match shape {
        Shape::Record(fields) => fields,
        Shape::List(Shape::Record(inner)) => {
            return fields_of(&format!("{prefix}[]"), inner, out);
        }
        _ => return,
    };
    fields_of(prefix, fields, out);
}

fn fields_of(prefix: &str, fields_: &[Field], out: &mut String) {
    for field in fields_ {
        let name = format!("{prefix}.{}", field.name);
        let _ = writeln!(out, "  {name:28} {:14} {}", type_name(field), field.doc);
        fields(&name, field.shape, out);
    }
}

fn type_name(field: &Field) -> String {
    let name = match field.shape {
        Shape::Bool => "bool",
        Shape::Int => "int",
        Shape::Text => "string",
        Shape::Open => "any",
        Shape::List(Shape::Text) => "list(string)",
        Shape::List(_) => "list",
        Shape::Record(_) | Shape::Data | Shape::Map => "map",
    };
    if field.nullable {
        format!("{name}?")
    } else {
        name.to_owned()
    }
}

fn event_text(event: EventName) -> String {
    let actions: Vec<&str> = Action::ALL
        .iter()
        .filter(|action| event.refuses(**action).is_none())
        .map(|action| action.as_str())
        .collect();
    let mut out = format!(
        "{event}\nactions: {}\nfields of event.data:\n",
        actions.join(", ")
    );
    fields_of("event.data", schema::data(event), &mut out);
    out
}

fn action_text(action: Action) -> String {
    let what = match action {
        Action::Restore => {
            "puts files back as they were before the call; `restore: { paths: CEL }` chooses them"
        }
        Action::Block => {
            "refuses what is about to happen; what has happened is reported to the agent"
        }
        Action::Ask => "asks the user; a write that has happened is blocked instead",
        Action::Warn => "tells the user and the agent",
        Action::Context => "tells the agent",
        Action::Log => "keeps a record",
    };
    let events: Vec<&str> = EventName::ALL
        .iter()
        .filter(|event| event.refuses(action).is_none())
        .map(|event| event.as_str())
        .collect();
    format!("{action}: {what}\nevents: {}\n", events.join(", "))
}

fn builtin_text(spec: &Spec) -> String {
    let events: Vec<&str> = if spec.events.len() == EventName::ALL.len() {
        vec!["any"]
    } else {
        spec.events.iter().map(|event| event.as_str()).collect()
    };
    let mut out = format!(
        "builtin/{}: matches when {}\nevents: {}\nwith:\n",
        spec.name,
        spec.doc,
        events.join(", ")
    );
    for param in spec.params() {
        let needed = if param.required { ", required" } else { "" };
        let _ = writeln!(
            out,
            "  {:14} {}{needed}: {}",
            param.name,
            param.kind.describe(),
            param.doc
        );
    }
    out
}

/// Returns a policy in words: where it stands, when it applies, what it does.
pub fn explain(policy: &Policy) -> String {
    let mut out = format!(
        "{} ({}, {})\n",
        policy.id,
        policy.place,
        policy.scope.as_str()
    );
    if let Some(description) = &policy.description {
        let _ = writeln!(out, "{description}");
    }
    let events: Vec<&str> = policy.on.iter().map(|event| event.as_str()).collect();
    let _ = writeln!(out, "on       {}", events.join(", "));
    if !policy.tools.is_empty() {
        let _ = writeln!(out, "tools    {}", policy.tools.join(", "));
    }
    let _ = writeln!(out, "when");
    condition(&policy.when, 1, &mut out);
    let actions: Vec<&str> = policy
        .then
        .iter()
        .map(|step| step.action.as_str())
        .collect();
    let _ = writeln!(out, "then     {}", actions.join(", "));
    for step in &policy.then {
        if let Some(paths) = &step.paths {
            let _ = writeln!(out, "         restore the paths of {}", paths.source);
        }
    }
    let mode = match policy.mode {
        Mode::Enforce => "enforce",
        Mode::Warn => "warn: block and ask become warn, nothing is put back",
        Mode::Audit => "audit: it is recorded only",
    };
    let on_error = match policy.on_error {
        OnError::Block => "block",
        OnError::Warn => "warn",
    };
    let _ = writeln!(out, "mode     {mode}\non_error {on_error}");
    if !policy.enabled {
        let _ = writeln!(out, "switched off");
    }
    if policy.is_stale {
        let _ = writeln!(out, "its file is broken: this is the version at HEAD");
    }
    let reads = policy.fields();
    if !reads.is_empty() {
        let mut reads = reads;
        reads.sort();
        reads.dedup();
        let _ = writeln!(out, "reads    {}", reads.join(", "));
    }
    let _ = writeln!(out, "tests    {}", policy.cases.len());
    out
}

fn condition(when: &Condition, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    match when {
        Condition::Always => {
            let _ = writeln!(out, "{indent}always");
        }
        Condition::Cel(expression) => {
            let _ = writeln!(out, "{indent}{}", expression.source.trim());
        }
        Condition::Builtin(builtin) => {
            let _ = writeln!(out, "{indent}{}: {}", builtin.spec.name, builtin.spec.doc);
        }
        Condition::All(parts) => group("all of", parts, depth, out),
        Condition::Any(parts) => group("any of", parts, depth, out),
        Condition::Not(part) => {
            let _ = writeln!(out, "{indent}not");
            condition(part, depth + 1, out);
        }
    }
}

fn group(name: &str, parts: &[Condition], depth: usize, out: &mut String) {
    let _ = writeln!(out, "{}{name}", "  ".repeat(depth));
    for part in parts {
        condition(part, depth + 1, out);
    }
}

/// Returns a policy to begin with, by a built-in or by a condition in CEL.
pub fn template(id: &str, builtin: Option<&str>) -> Result<String, String> {
    let Some(name) = builtin else {
        return Ok(format!(
            "# yaml-language-server: $schema=policy.schema.json\n\
             id: {id}\n\
             description: files of src stay below 64 KiB\n\
             on: [file.write]\n\
             paths: [\"src/**\"]\n\
             when: {{ cel: \"event.data.bytes != null && event.data.bytes > 65536\" }}\n\
             then: [restore, block]\n\
             mode: warn # change to enforce when it does what you want\n\
             tests:\n  \
             - name: a large file warns\n    \
             event: file.write\n    \
             data: {{ path: src/a.rs, via: tool, content: {{ bytes: 65537 }} }}\n    \
             expect: warn\n  \
             - name: a small one passes\n    \
             event: file.write\n    \
             data: {{ path: src/a.rs, via: tool, content: {{ bytes: 65536 }} }}\n    \
             expect: none\n  \
             - name: one whose size is not known passes\n    \
             event: file.write\n    \
             data: {{ path: src/a.rs, via: shell }}\n    \
             expect: none\n"
        ));
    };
    let Some(spec) = builtin::spec(name) else {
        let hint = suggestion(name, builtin::NAMES.iter().map(|spec| spec.name));
        return Err(format!("there is no builtin '{name}'{hint}"));
    };
    // Where a condition fits every event, the one before a call is the one where all actions do.
    let fits = |event: &&EventName| **event == EventName::ToolCall;
    let event = spec
        .events
        .iter()
        .find(fits)
        .or(spec.events.first())
        .map_or("tool.call", |event| event.as_str());
    let mut out = format!(
        "# yaml-language-server: $schema=policy.schema.json\n\
         # {name} matches when {}\n\
         id: {id}\non: [{event}]\nwhen:\n  builtin: {name}\n",
        spec.doc
    );
    let params: Vec<_> = spec.params().filter(|param| param.required).collect();
    if !params.is_empty() {
        out.push_str("  with:\n");
    }
    for param in params {
        let _ = writeln!(
            out,
            "    {}: {} # {}",
            param.name,
            param.kind.sample(),
            param.doc
        );
    }
    out.push_str("mode: warn # change to enforce when it does what you want\n");
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::{describe, items, template};
    use crate::policy::{Code, load::tests::load};

    #[test]
    fn a_policy_to_begin_with_is_whole() {
        let builtins = crate::policy::builtin::NAMES
            .iter()
            .map(|spec| Some(spec.name));
        for builtin in builtins.chain([None]) {
            let text = template("a", builtin).unwrap();
            let policies = load(&text);
            let codes: Vec<Code> = policies.faults().iter().map(|fault| fault.code).collect();
            let expected = if builtin.is_some() {
                vec![Code::W05]
            } else {
                vec![]
            };
            assert_eq!(codes, expected, "{text}");
        }
    }

    #[test]
    fn every_item_is_described() {
        for (_, names) in items() {
            for name in names {
                let text = describe(&name).unwrap();
                assert!(text.lines().count() >= 2, "{name}: {text}");
            }
        }
        assert_eq!(
            describe("builtin/max-line").unwrap_err(),
            "there is no 'builtin/max-line', did you mean 'builtin/max-lines'?"
        );
    }
}
