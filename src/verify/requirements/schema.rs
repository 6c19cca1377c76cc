use super::{PATH, Rank, VERSION};
use crate::{model::Class, verify::Grade};

/// Returns the JSON Schema of the file, as docs/requirements.schema.json publishes it.
pub fn schema() -> serde_json::Value {
    use serde_json::json;
    let texts = json!({"type": "array", "items": {"type": "string", "minLength": 1}});
    let words = json!({"type": "array", "items": {"type": "string"}});
    let filled =
        json!({"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}});
    let span = json!({"type": "string", "pattern": "^([0-9]+|([0-9]+[smhdw])+)$"});
    let stored = Class::ALL[1..].iter().map(|class| Rank::Of(*class));
    let ranks = stored.chain([Rank::Reproduced]);
    let classes: Vec<&str> = ranks.map(Rank::as_str).collect();
    let grades: Vec<&str> = Grade::ALL.iter().map(|grade| grade.as_str()).collect();
    let map = |properties: serde_json::Value, required: &[&str]| {
        json!({
            "type": "object",
            "additionalProperties": false,
            "properties": properties,
            "required": required,
        })
    };
    let criterion = map(
        json!({
            "arg": words,
            "junit": {"type": "string", "minLength": 1},
            "timeout": span,
            "accept": {"type": "array", "items": {"enum": grades}},
            "min-class": {"enum": classes},
            "max-age": span,
            "min-tests": {"type": "integer", "minimum": 0},
            "ratchet": {"type": "boolean"},
            "flaky": {"enum": ["deny", "allow"]},
            "input": texts,
            "tests": texts,
            "deny-taint": texts,
            "ok-exit": {"type": "array", "items": {"type": "integer"}},
            "implies": texts,
            "signer": texts,
        }),
        &[],
    );
    let require = map(
        json!({"ref": filled, "criterion": filled}),
        &["ref", "criterion"],
    );
    let guard = map(
        json!({"path": filled, "criterion": {"type": "string"}}),
        &["path"],
    );
    let sign = map(
        json!({"required": {"type": "boolean"}, "revoked": texts}),
        &[],
    );
    let exempt = map(
        json!({
            "criterion": {"type": "string"},
            "task": {"type": "string"},
            "reason": {"type": "string", "minLength": 1},
            "until": {"type": "string", "format": "date"},
        }),
        &["criterion", "reason", "until"],
    );
    let named = |inner: serde_json::Value| json!({"type": "object", "minProperties": 1, "additionalProperties": inner});
    let mut file = map(
        json!({
            "version": {"const": VERSION},
            "require": named(require),
            "criterion": named(criterion),
            "guard": {"type": "array", "items": guard},
            "sign": sign,
            "exempt": {"type": "array", "items": exempt},
        }),
        &["version", "require", "criterion"],
    );
    file["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    file["title"] = PATH.into();
    file
}
