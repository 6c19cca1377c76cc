//! The JSON Schema of policy files.

use serde_json::{Map, Value, json};

use crate::policy::{
    builtin::{self, Kind, Spec},
    cel::LENGTH_LIMIT,
    event::{Action, EventName},
};

/// Returns the JSON Schema (draft 2020-12) of a policy file.
pub fn json_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "git-operator policy",
        "oneOf": [
            { "$ref": "#/$defs/policy" },
            {
                "type": "object",
                "properties": { "policies": { "type": "array", "items": { "$ref": "#/$defs/policy" } } },
                "required": ["policies"],
                "additionalProperties": false
            },
            suite(),
        ],
        "$defs": {
            "policy": policy(),
            "condition": condition(),
            "step": step(),
            "test": test(),
            "cel": { "type": "string", "minLength": 1, "maxLength": LENGTH_LIMIT },
            "glob": { "type": "string", "minLength": 1, "maxLength": 512 },
        }
    })
}

fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Value {
    words.into_iter().map(str::to_owned).collect()
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items, "minItems": 1 })
}

fn policy() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,63}$" },
            "description": { "type": "string" },
            "on": list(json!({ "enum": words(EventName::ALL.iter().map(|event| event.as_str())) })),
            "tools": list(json!({ "type": "string", "minLength": 1 })),
            "paths": list(json!({ "$ref": "#/$defs/glob" })),
            "when": { "$ref": "#/$defs/condition" },
            "then": list(json!({ "$ref": "#/$defs/step" })),
            "message": { "type": "string" },
            "hint": { "type": "string" },
            "mode": { "enum": ["enforce", "warn", "audit"] },
            "on_error": { "enum": ["block", "warn"] },
            "enabled": { "type": "boolean" },
            "overridable": { "type": "boolean" },
            "tests": list(json!({ "$ref": "#/$defs/test" })),
        },
        "anyOf": [
            { "required": ["on"] },
            { "required": ["id", "enabled"], "properties": { "enabled": { "const": false } } },
        ],
        "additionalProperties": false
    })
}

fn condition() -> Value {
    let nested = json!({ "$ref": "#/$defs/condition" });
    let one = |key: &str, value: Value| {
        json!({
            "type": "object",
            "properties": { key: value },
            "required": [key],
            "additionalProperties": false
        })
    };
    let mut kinds = vec![
        one("cel", json!({ "$ref": "#/$defs/cel" })),
        one("all", list(nested.clone())),
        one("any", list(nested.clone())),
        one("not", nested),
    ];
    kinds.extend(builtin::NAMES.iter().map(builtin_condition));
    json!({ "oneOf": kinds })
}

fn builtin_condition(spec: &Spec) -> Value {
    let params: Map<String, Value> = spec
        .params()
        .map(|param| {
            let mut schema = kind(param.kind);
            schema["description"] = param.doc.into();
            (param.name.to_owned(), schema)
        })
        .collect();
    let required: Vec<&str> = spec
        .params()
        .filter(|param| param.required)
        .map(|param| param.name)
        .collect();
    let mut needed = vec!["builtin"];
    if !required.is_empty() {
        needed.push("with");
    }
    json!({
        "type": "object",
        "description": format!("matches when {}", spec.doc),
        "properties": {
            "builtin": { "const": spec.name },
            "with": {
                "type": "object",
                "properties": params,
                "required": required,
                "additionalProperties": false
            }
        },
        "required": needed,
        "additionalProperties": false
    })
}

fn kind(kind: Kind) -> Value {
    match kind {
        Kind::Int => json!({ "type": "integer", "minimum": 0 }),
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Word(known) => json!({ "enum": words(known.iter().copied()) }),
        Kind::Globs => list(json!({ "$ref": "#/$defs/glob" })),
        Kind::Texts | Kind::Regexes | Kind::Commands => {
            list(json!({ "type": "string", "minLength": 1 }))
        }
    }
}

fn step() -> Value {
    let mut forms =
        vec![json!({ "enum": words(Action::ALL.iter().map(|action| action.as_str())) })];
    for action in Action::ALL {
        let (key, value) = if *action == Action::Restore {
            ("paths", json!({ "$ref": "#/$defs/cel" }))
        } else {
            ("message", json!({ "type": "string" }))
        };
        let body = json!({
            "type": "object",
            "properties": { key: value },
            "additionalProperties": false
        });
        forms.push(json!({
            "type": "object",
            "properties": { action.as_str(): body },
            "required": [action.as_str()],
            "additionalProperties": false
        }));
    }
    json!({ "anyOf": forms })
}

fn test() -> Value {
    json!({
        "type": "object",
        "properties": { "name": { "type": "string", "minLength": 1 } },
        "required": ["name"]
    })
}

fn suite() -> Value {
    json!({
        "type": "object",
        "properties": {
            "policy": { "type": "string" },
            "policies": { "const": "all" },
            "tests": list(json!({ "$ref": "#/$defs/test" }))
        },
        "required": ["tests"],
        "oneOf": [{ "required": ["policy"] }, { "required": ["policies"] }],
        "additionalProperties": false
    })
}
