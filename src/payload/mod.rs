//! What the Claude Code client sends on stdin: a payload, who and which project it is about.
//!
//! One tolerant reader for hooks and status line. It takes only the fields that are asked for, so that
//! bytes in fields of no interest lose nothing; what cannot be read is an answer, never a failure.

mod place;
mod scan;
mod stdin;

pub use place::Place;
pub use scan::Value;
pub use stdin::drain;

use std::{ffi::OsString, os::unix::ffi::OsStringExt, path::PathBuf};

use crate::model::Owner;
use stdin::Arrived;

/// What the client says about one event.
#[derive(Debug)]
pub struct Payload {
    bytes: Vec<u8>,
    /// The members, so that the bytes are gone through once however many of them are asked for.
    members: Vec<scan::Member>,
    trouble: Option<&'static str>,
}

/// Who a payload is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Session {
    Known(Owner),
    /// Why nobody can say.
    Unknown(String),
}

/// Work of a session that goes on while its turn ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Background {
    pub id: String,
    pub kind: String,
}

impl Payload {
    /// Reads a payload from stdin.
    pub fn read() -> Self {
        Self::new(stdin::read())
    }

    fn new(arrived: Arrived) -> Self {
        let (bytes, trouble) = match arrived {
            Arrived::Whole(bytes) => (bytes, None),
            Arrived::Part(bytes, why) => (bytes, Some(why)),
        };
        let members = scan::index(&bytes);
        let trouble = trouble.or(members.is_none().then_some("it is no JSON object"));
        Self {
            members: members.unwrap_or_default(),
            bytes,
            trouble,
        }
    }

    /// Returns why it cannot be read, or not as a whole.
    pub fn trouble(&self) -> Option<&'static str> {
        self.trouble
    }

    /// Returns a member of the payload.
    pub fn get(&self, name: &str) -> Option<Value<'_>> {
        let mut last = self.members.iter().rev();
        let (_, range) = last.find(|(known, _)| known == name)?;
        scan::at(&self.bytes, range.clone())
    }

    /// Returns a member that is a text with something in it.
    pub fn text(&self, name: &str) -> Option<String> {
        let text = self.get(name)?.text()?.into_owned();
        Some(text).filter(|text| !text.is_empty())
    }

    /// Returns the name of the event.
    pub fn event(&self) -> Option<String> {
        self.text("hook_event_name")
    }

    /// Returns the session; a payload that is not whole says nothing of who it is about.
    pub fn session(&self) -> Session {
        if let Some(trouble) = self.trouble {
            return Session::Unknown(trouble.to_owned());
        }
        let Some(id) = self.get("session_id").and_then(Value::text) else {
            return Session::Unknown("it has no session_id".to_owned());
        };
        match Owner::new(&id) {
            Ok(owner) => Session::Known(owner),
            Err(error) => Session::Unknown(format!("its session_id is none: {error}")),
        }
    }

    /// Returns the directory the session is in, as the client wrote it; that of the workspace, which a
    /// status line is told of, where it wrote none.
    pub fn cwd(&self) -> Option<PathBuf> {
        let workspace = || path_of(self.get("workspace")?.get("current_dir")?);
        self.path("cwd").or_else(workspace)
    }

    /// Returns a member that is an absolute path.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        path_of(self.get(name)?)
    }

    /// Returns the work that goes on in the background.
    pub fn background(&self) -> Vec<Background> {
        let text = |value: Value<'_>, name| {
            let text = value.get(name).and_then(Value::text);
            text.map(|text| text.into_owned()).unwrap_or_default()
        };
        let tasks = self.get("background_tasks");
        tasks
            .into_iter()
            .flat_map(Value::items)
            .filter(|task| {
                let status = text(*task, "status");
                status.is_empty() || status == "running"
            })
            .map(|task| Background {
                id: text(task, "id"),
                kind: text(task, "type"),
            })
            .collect()
    }
}

/// Returns a string's absolute path.
pub fn path_of(value: Value<'_>) -> Option<PathBuf> {
    let bytes = value.bytes()?.into_owned();
    let path = PathBuf::from(OsString::from_vec(bytes));
    // A NUL cannot be in a path; to the system it would end there.
    let whole = !path.as_os_str().as_encoded_bytes().contains(&0);
    (path.is_absolute() && whole).then_some(path)
}

/// Reads bytes as a payload, every field that any event asks for; for fuzzing.
pub fn fuzz(bytes: &[u8]) {
    let arrived = match scan::End::default().find(bytes) {
        Some(end) => Arrived::Whole(bytes[..end].to_vec()),
        None => Arrived::Part(bytes.to_vec(), "it is cut off"),
    };
    let payload = Payload::new(arrived);
    let _ = (
        payload.session(),
        payload.cwd(),
        payload.event(),
        payload.background(),
    );
    for name in ["tool_input", "tool_response"] {
        for (key, value) in payload.get(name).into_iter().flat_map(Value::members) {
            let _ = (key.text(), value.bytes(), value.truth());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Arrived, Payload, Session};

    fn payload(json: &str) -> Payload {
        Payload::new(Arrived::Whole(json.as_bytes().to_vec()))
    }

    #[test]
    fn without_a_usable_id_the_session_is_unknown() {
        for json in [
            "[]",
            "{}",
            "{\"session_id\":5}",
            "{\"session_id\":\"\"}",
            "{\"session_id\":\"a b\"}",
            "{\"session_id\":\"S1\\r\"}",
        ] {
            assert!(
                matches!(payload(json).session(), Session::Unknown(_)),
                "{json}"
            );
        }
        let part = Payload::new(Arrived::Part(b"{\"session_id\":\"S1\"".to_vec(), "cut"));
        assert_eq!(part.session(), Session::Unknown("cut".to_owned()));
    }

    #[test]
    fn a_path_is_absolute_or_none() {
        let found = payload("{\"cwd\":\"/a/b\"}").cwd().unwrap();
        assert_eq!(found, std::path::Path::new("/a/b"));
        for cwd in ["", "\"cwd\":null,", "\"cwd\":\"a\","] {
            let json = format!("{{{cwd}\"workspace\":{{\"current_dir\":\"/a/b\"}}}}");
            let found = payload(&json).cwd().unwrap();
            assert_eq!(found, std::path::Path::new("/a/b"));
        }
        for json in [
            "{\"workspace\":{\"current_dir\":\"a\"}}",
            "{\"cwd\":\"a\"}",
            "{\"cwd\":\"\"}",
            "{\"cwd\":\"/a\\u0000b\"}",
            "{\"cwd\":7}",
        ] {
            assert_eq!(payload(json).cwd(), None, "{json}");
        }
    }

    #[test]
    fn background_work_that_ended_is_left_out() {
        let tasks = "[{\"id\":\"b1\",\"type\":\"shell\",\"status\":\"running\"},\
            {\"id\":\"b2\",\"type\":\"subagent\",\"status\":\"completed\"},7,{\"id\":\"b3\"}]";
        let found = payload(&format!("{{\"background_tasks\":{tasks}}}")).background();
        let ids: Vec<&str> = found.iter().map(|task| task.id.as_str()).collect();
        assert_eq!(ids, ["b1", "", "b3"]);
    }
}
