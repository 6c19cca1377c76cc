//! The events that a hook's payload makes.

use serde_json::{Value, json};

use super::{Bytes, Change, Error, Spot};
use crate::policy::{
    EventName, Facts, Shared,
    derive::{self, Content, Via, Written},
    shell::Shell,
};

/// A hook call with what is known around it.
#[derive(Debug)]
pub struct Hook<'a> {
    /// The client's name of the event.
    pub name: &'a str,
    pub payload: &'a Value,
    /// Fields of `event` that the payload does not tell: root, cwd, branch, head, turn.
    pub around: Value,
    pub shared: Shared,
    /// What the call changed, where it has run.
    pub changes: Vec<Change>,
    /// How often this Stop was refused in a row.
    pub blocks: u64,
}

/// Returns the kinds of event that a hook can make.
pub fn kinds(hook: &str) -> &'static [EventName] {
    match hook {
        "SessionStart" => &[EventName::SessionStart],
        "UserPromptSubmit" => &[EventName::PromptSubmit],
        "PreToolUse" => &[EventName::ToolCall, EventName::FileWrite],
        "PostToolUse" => &[
            EventName::ToolResult,
            EventName::FileWrite,
            EventName::FileDelete,
        ],
        "PostToolUseFailure" => &[
            EventName::ToolError,
            EventName::FileWrite,
            EventName::FileDelete,
        ],
        "PermissionDenied" => &[EventName::ToolDenied],
        "Stop" => &[EventName::TurnEnd],
        "SessionEnd" => &[EventName::SessionEnd],
        _ => &[],
    }
}

/// Returns why some of the events of a hook call cannot be made, and which those are; `names` says
/// whether the tool's input has a text of that name.
pub fn lost(
    hook: &str,
    tool: Option<&str>,
    names: impl Fn(&str) -> bool,
) -> Option<(String, &'static [EventName])> {
    let is_tool = hook.contains("ToolUse") || hook == "PermissionDenied";
    let Some(tool) = tool.filter(|_| is_tool) else {
        return is_tool.then(|| ("the payload names no tool".to_owned(), kinds(hook)));
    };
    let is_write = hook == "PreToolUse" && derive::is_file_tool(tool);
    (is_write && !derive::PATH_FIELDS.into_iter().any(names)).then(|| {
        let reason = format!("{tool} names no file that it is to change");
        (reason, &[EventName::FileWrite][..])
    })
}

/// Returns the events of a hook call, the tool's own first, then those of its files by path.
///
/// `place` gives a path that a tool names as it lies below the top (else as it is), `read` its bytes.
pub fn events(
    hook: &Hook<'_>,
    place: &dyn Fn(&str) -> Spot,
    read: &dyn Fn(&str) -> Bytes,
) -> Result<Vec<Facts>, Error> {
    let maker = Maker { hook, place, read };
    maker.events()
}

struct Maker<'a> {
    hook: &'a Hook<'a>,
    place: &'a dyn Fn(&str) -> Spot,
    read: &'a dyn Fn(&str) -> Bytes,
}

impl Maker<'_> {
    fn events(&self) -> Result<Vec<Facts>, Error> {
        let Some(first) = kinds(self.hook.name).first().copied() else {
            return Ok(Vec::new());
        };
        let mut facts = vec![self.fact(first, self.data(first), 0)?];
        let mut files = match self.hook.name {
            "PreToolUse" => self.proposed(),
            "PostToolUse" | "PostToolUseFailure" => self.changed(),
            _ => Vec::new(),
        };
        files.sort_by(|(_, one), (_, other)| one["path"].as_str().cmp(&other["path"].as_str()));
        for (number, (event, data)) in files.into_iter().enumerate() {
            facts.push(self.fact(event, data, number + 1)?);
        }
        Ok(facts)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.hook.payload[name].as_str()
    }

    fn tool(&self) -> &str {
        self.text("tool_name").unwrap_or_default()
    }

    fn fact(&self, name: EventName, data: Value, number: usize) -> Result<Facts, Error> {
        let id = self.text("tool_use_id").map(|id| match number {
            0 => id.to_owned(),
            number => format!("{id}#{number}"),
        });
        let input = &self.hook.payload["tool_input"];
        let mut event = json!({
            "id": id,
            "session": self.text("session_id"),
            "prompt_id": self.text("prompt_id"),
            "agent": self.text("agent_id"),
            "mode": self.text("permission_mode"),
            "tool": self.text("tool_name"),
            "input": if input.is_object() { input.clone() } else { json!({}) },
            "data": data,
        });
        for (key, value) in self.hook.around.as_object().into_iter().flatten() {
            event[key] = value.clone();
        }
        Ok(Facts::new(name, event, &self.hook.shared)?)
    }

    fn data(&self, event: EventName) -> Value {
        let payload = self.hook.payload;
        match event {
            EventName::SessionStart => {
                json!({ "source": self.text("source").unwrap_or("startup") })
            }
            EventName::SessionEnd => json!({ "reason": self.text("reason").unwrap_or("other") }),
            EventName::PromptSubmit => json!({ "prompt": self.text("prompt").unwrap_or_default() }),
            EventName::TurnEnd => json!({
                "active": payload["stop_hook_active"].as_bool().unwrap_or(false),
                "blocks": self.hook.blocks,
                "message": self.text("last_assistant_message"),
                "background": payload["background_tasks"].as_array().cloned().unwrap_or_default(),
            }),
            EventName::FileWrite | EventName::FileDelete => Value::Null,
            EventName::ToolCall
            | EventName::ToolResult
            | EventName::ToolError
            | EventName::ToolDenied => self.tool_data(event),
        }
    }

    fn tool_data(&self, event: EventName) -> Value {
        let payload = self.hook.payload;
        let input = &payload["tool_input"];
        let paths: Vec<String> = derive::named_paths(self.tool(), input)
            .into_iter()
            .flat_map(|named| (self.place)(named).names())
            .collect();
        let mut data = derive::call_data(self.tool(), input, &paths);
        let error = self.text("error").unwrap_or_default();
        let more = match event {
            EventName::ToolResult => json!({
                "response": derive::response(&payload["tool_response"]),
                "duration_ms": payload["duration_ms"].as_i64(),
            }),
            EventName::ToolError => json!({
                "error": error,
                "exit_code": derive::exit_code(error),
                "interrupted": payload["is_interrupt"].as_bool().unwrap_or(false),
                "duration_ms": payload["duration_ms"].as_i64(),
            }),
            EventName::ToolDenied => json!({
                "reason": self.text("reason"),
                "by": "auto",
            }),
            _ => json!({}),
        };
        for (key, value) in more.as_object().into_iter().flatten() {
            data[key] = value.clone();
        }
        data
    }

    /// Returns the writes that a call is about to make, as far as its input tells.
    fn proposed(&self) -> Vec<(EventName, Value)> {
        let input = &self.hook.payload["tool_input"];
        if let Some(named) = derive::written_path(self.tool(), input) {
            let spot = (self.place)(named);
            let before = (self.read)(&spot.path);
            let content = derive::proposed(self.tool(), input, before.content());
            let content = match &content {
                Some(text) => Content::Known(text.as_bytes()),
                None => Content::Unknown,
            };
            let written = Written {
                path: &spot.path,
                via: Via::Tool,
                content,
                before: before.content(),
            };
            return vec![self.write(spot.named.as_deref(), written)];
        }
        let Some((shell, line)) = Shell::of_tool(self.tool()).zip(input["command"].as_str()) else {
            return Vec::new();
        };
        let mut spots: Vec<Spot> = crate::policy::shell::writes(shell, line)
            .into_iter()
            .map(|target| (self.place)(&target.path))
            .collect();
        spots.sort();
        spots.dedup();
        let write = |spot: &Spot| {
            let written = Written {
                path: &spot.path,
                via: Via::Redirect,
                content: Content::Unknown,
                before: Content::Unknown,
            };
            self.write(spot.named.as_deref(), written)
        };
        spots.iter().map(write).collect()
    }

    fn write(&self, named: Option<&str>, written: Written<'_>) -> (EventName, Value) {
        let mut data = derive::write_data(written);
        data["named"] = named.into();
        (EventName::FileWrite, data)
    }

    /// Returns what a command did to files, or a file tool that could not be foreseen.
    fn changed(&self) -> Vec<(EventName, Value)> {
        let via = match Shell::of_tool(self.tool()) {
            Some(_) => Via::Shell,
            None => Via::Ran,
        };
        let fact = |change: &Change| {
            let before = change.before.content();
            if change.after == Bytes::Absent {
                let data = derive::delete_data(&change.path, before);
                return (EventName::FileDelete, data);
            }
            let written = Written {
                path: &change.path,
                via,
                content: change.after.content(),
                before,
            };
            self.write(None, written)
        };
        self.hook.changes.iter().map(fact).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Bytes, Change, Hook, Spot, events};
    use crate::policy::Shared;

    fn made(name: &str, payload: &Value, changes: Vec<Change>) -> Vec<Value> {
        let hook = Hook {
            name,
            payload,
            around: json!({"root": "/r", "cwd": "", "branch": "main"}),
            shared: Shared::none(),
            changes,
            blocks: 0,
        };
        let place = |path: &str| Spot {
            path: path.trim_start_matches("/r/").to_owned(),
            named: None,
        };
        let read = |path: &str| match path {
            "a" => Bytes::Known(b"one\n".to_vec()),
            _ => Bytes::Absent,
        };
        let facts = events(&hook, &place, &read).unwrap();
        facts
            .into_iter()
            .map(|facts| facts.event().clone())
            .collect()
    }

    #[test]
    fn a_file_tool_makes_a_call_and_a_write() {
        let payload = json!({"tool_name": "Edit", "tool_use_id": "u1", "session_id": "S",
            "tool_input": {"file_path": "/r/a", "old_string": "one", "new_string": "two"}});
        let made = made("PreToolUse", &payload, Vec::new());
        assert_eq!(made.len(), 2);
        assert_eq!(made[0]["name"], json!("tool.call"));
        assert_eq!(made[0]["data"]["paths"], json!(["a"]));
        assert_eq!(made[1]["id"], json!("u1#1"));
        assert_eq!(made[1]["data"]["content"], json!("two\n"));
        assert_eq!(made[1]["data"]["before"], json!("one\n"));
        assert_eq!(made[1]["data"]["applied"], json!(false));
        assert_eq!(made[1]["branch"], json!("main"));
    }

    #[test]
    fn a_shell_makes_a_write_for_each_target_it_names() {
        let payload = json!({"tool_name": "Bash", "tool_input": {"command": "x > b; y | tee a"}});
        let made = made("PreToolUse", &payload, Vec::new());
        let paths: Vec<&Value> = made[1..]
            .iter()
            .map(|event| &event["data"]["path"])
            .collect();
        assert_eq!(paths, [&json!("a"), &json!("b")]);
        assert_eq!(made[1]["data"]["known"], json!(false));
    }

    #[test]
    fn what_a_command_changed_makes_writes_and_deletions() {
        let payload = json!({"tool_name": "Bash", "tool_input": {"command": "x"},
            "error": "Exit code 3\nno"});
        let change = |path: &str, after: Option<&str>| Change {
            path: path.to_owned(),
            before: Bytes::Unknown,
            after: after.map_or(Bytes::Absent, |text| Bytes::Known(text.as_bytes().to_vec())),
        };
        let changes = vec![change("z", None), change("b", Some("x"))];
        let made = made("PostToolUseFailure", &payload, changes);
        assert_eq!(made[0]["data"]["exit_code"], json!(3));
        assert_eq!(made[1]["name"], json!("file.write"));
        assert_eq!(made[1]["data"]["path"], json!("b"));
        assert_eq!(made[2]["name"], json!("file.delete"));
    }

    #[test]
    fn an_unknown_hook_makes_nothing() {
        assert!(made("Whatever", &json!({}), Vec::new()).is_empty());
        assert_eq!(made("Stop", &json!([]), Vec::new()).len(), 1);
    }
}
