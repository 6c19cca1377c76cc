//! The outputs of tools: which text in them is shown, and the same shape with another text.

use std::{borrow::Cow, fmt};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Value, value::RawValue};

use super::{
    Settings, Treatment, filter, pieces,
    spill::{self, Place, Spill},
    treatment,
};
use crate::model::secret;

/// The size from which an output equal to the last one is replaced.
const DEDUP_MIN: usize = 1_024;

/// A finished call, as the PostToolUse hook is told of it.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// Its input, as JSON.
    pub input: &'a str,
    /// Its output, as JSON.
    pub response: &'a str,
    /// The subagent that called it.
    pub agent: Option<&'a str>,
}

/// Returns the output to show instead, as JSON of the same shape; `None` where it stays as it is.
///
/// Whatever cannot be read stays as it is.
pub fn reply(call: &Call, settings: &Settings, place: &Place) -> Option<String> {
    let treatment = treatment(call.tool, &subject(call.input)?);
    if !settings.on || treatment == Treatment::None {
        return None;
    }
    let job = Job {
        call,
        settings,
        place,
        treatment,
    };
    if call.response.trim_start().starts_with('"') {
        let text: String = serde_json::from_str(call.response).ok()?;
        return serde_json::to_string(&job.shorter(&text)?).ok();
    }
    let mut members: Members = serde_json::from_str(call.response).ok()?;
    job.replace(&mut members)?;
    members.write()
}

/// What the input asks for: its command, pattern, paths. `None` where the input is no object.
fn subject(input: &str) -> Option<String> {
    let input: Value = serde_json::from_str(input).ok()?;
    let input = input.as_object()?;
    let asked = ["command", "pattern", "path", "glob", "url", "query"];
    let words: Vec<&str> = asked
        .iter()
        .filter_map(|key| input.get(*key)?.as_str())
        .collect();
    Some(words.join(" "))
}

struct Job<'a> {
    call: &'a Call<'a>,
    settings: &'a Settings,
    place: &'a Place,
    treatment: Treatment,
}

impl Job<'_> {
    fn replace(&self, members: &mut Members) -> Option<()> {
        if members.get("isImage") == Some("true") {
            return None;
        }
        // The client keeps the whole of an output over its own limit, and shows a preview.
        if members
            .get("persistedOutputPath")
            .is_some_and(|path| path != "null")
        {
            return mask(members);
        }
        if let Some(stdout) = members.string("stdout") {
            let stderr = members.string("stderr").unwrap_or_default();
            if stderr.is_empty() {
                return members.set("stdout", &self.shorter(&stdout)?);
            }
            members.set("stdout", &self.shorter(&format!("{stdout}\n{stderr}"))?)?;
            return members.set("stderr", "");
        }
        for key in ["content", "result"] {
            if let Some(text) = members.string(key) {
                return members.set(key, &self.shorter(&text)?);
            }
        }
        self.replace_blocks(members)
    }

    /// `"content": [{"type": "text", "text": …}, …]`
    fn replace_blocks(&self, members: &mut Members) -> Option<()> {
        let mut blocks: Vec<Value> = serde_json::from_str(members.get("content")?).ok()?;
        let mut changed = false;
        for block in &mut blocks {
            let text = block.get("text").and_then(Value::as_str);
            if let Some(shorter) = text.and_then(|text| self.shorter(text)) {
                block["text"] = Value::String(shorter);
                changed = true;
            }
        }
        changed.then_some(())?;
        members.set_raw("content", serde_json::to_string(&blocks).ok()?)
    }

    fn shorter(&self, text: &str) -> Option<String> {
        if let Some(line) = self.repetition(text) {
            return Some(line);
        }
        let short = filter(text, self.treatment, self.settings, self.place);
        matches!(short, Cow::Owned(_)).then(|| short.into_owned())
    }

    /// The line for an output that is the same as the last one. A subagent does not see what the
    /// session saw, so each has its own last output.
    fn repetition(&self, text: &str) -> Option<String> {
        if !self.settings.dedup || self.place.session.is_empty() || text.len() < DEDUP_MIN {
            return None;
        }
        let kind = format!(
            "{}\n{}",
            self.call.tool,
            self.call.agent.unwrap_or_default()
        );
        if pieces::is_json(text) || !spill::is_repeated(self.place, &kind, text) {
            return None;
        }
        let spill = Spill::of(self.place, text);
        let path = spill.path()?;
        let line = format!(
            "[git-operator: the same {} bytes as the last long {} output; whole output: {path}]",
            text.len(),
            self.call.tool
        );
        (line.len() < text.len() && spill.write()).then_some(line)
    }
}

/// Masks the secrets of an output that is otherwise left as it is.
fn mask(members: &mut Members) -> Option<()> {
    let mut masked = None;
    for key in ["stdout", "stderr"] {
        let Some(text) = members.string(key) else {
            continue;
        };
        if let Cow::Owned(shown) = secret::mask(&text) {
            members.set(key, &shown)?;
            masked = Some(());
        }
    }
    masked
}

/// The members of an object in their order, each value as the bytes it came in.
struct Members(Vec<(String, Box<RawValue>)>);

impl Members {
    fn get(&self, key: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.get())
    }

    fn string(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?).ok()
    }

    fn set(&mut self, key: &str, text: &str) -> Option<()> {
        self.set_raw(key, serde_json::to_string(text).ok()?)
    }

    fn set_raw(&mut self, key: &str, json: String) -> Option<()> {
        let (_, value) = self.0.iter_mut().find(|(name, _)| name == key)?;
        *value = RawValue::from_string(json).ok()?;
        Some(())
    }

    fn write(&self) -> Option<String> {
        let mut json = String::from("{");
        for (at, (name, value)) in self.0.iter().enumerate() {
            if at > 0 {
                json.push(',');
            }
            json.push_str(&serde_json::to_string(name).ok()?);
            json.push(':');
            json.push_str(value.get());
        }
        json.push('}');
        Some(json)
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        source.deserialize_map(Object)
    }
}
