//! The members of a payload that policies may see, as JSON.

use serde_json::Value;

use crate::{agent_hook::Event, payload};

const MEMBERS: [&str; 17] = [
    "tool_name",
    "tool_input",
    "tool_response",
    "tool_use_id",
    "session_id",
    "prompt_id",
    "agent_id",
    "permission_mode",
    "error",
    "is_interrupt",
    "duration_ms",
    "stop_hook_active",
    "last_assistant_message",
    "background_tasks",
    "prompt",
    "reason",
    "source",
];
const DEPTH_LIMIT: usize = 24;
/// Returns them; what is not JSON, or nested too deep, is null.
pub(in crate::agent_hook) fn payload_json(event: &Event) -> Value {
    MEMBERS
        .iter()
        .filter_map(|name| {
            let value = event.payload.get(name)?;
            Some(((*name).to_owned(), to_json(value, 0)))
        })
        .collect()
}

fn to_json(value: payload::Value<'_>, depth: usize) -> Value {
    if depth > DEPTH_LIMIT {
        return Value::Null;
    }
    match value.raw().first() {
        Some(b'{') => value
            .members()
            .filter_map(|(key, value)| Some((key.text()?.into_owned(), to_json(value, depth + 1))))
            .collect(),
        Some(b'[') => value.items().map(|item| to_json(item, depth + 1)).collect(),
        Some(b'"') => value
            .text()
            .map_or(Value::Null, |text| text.into_owned().into()),
        _ => serde_json::from_slice(value.raw()).unwrap_or(Value::Null),
    }
}
