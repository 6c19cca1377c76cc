use std::{collections::HashMap, sync::Arc};

use cel::{
    Value,
    objects::{Key, Map},
};

/// Returns a JSON value as expressions see it: whole numbers are `int`, never `uint`.
pub(in crate::policy) fn json_value(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(*value),
        serde_json::Value::Number(number) => number.as_i64().map_or_else(
            || Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            Value::Int,
        ),
        serde_json::Value::String(text) => Value::String(Arc::new(text.clone())),
        serde_json::Value::Array(items) => {
            Value::List(Arc::new(items.iter().map(json_value).collect()))
        }
        serde_json::Value::Object(entries) => {
            let map: HashMap<Key, Value> = entries
                .iter()
                .map(|(key, value)| (Key::from(key.as_str()), json_value(value)))
                .collect();
            Value::Map(Map { map: Arc::new(map) })
        }
    }
}

/// Returns a value as JSON; what JSON has no form for becomes its text.
pub(in crate::policy) fn to_json(value: &Value) -> serde_json::Value {
    value
        .json()
        .unwrap_or_else(|_| serde_json::Value::String(super::shown(value)))
}
