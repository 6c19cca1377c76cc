//! The outputs of tools: which text in them is shown, and the same shape with another text.

use std::{borrow::Cow, cell::Cell, fmt};

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

/// The names of the members that hold what a tool printed.
const TEXTS: [&str; 2] = ["content", "result"];
const STREAMS: [&str; 2] = ["stdout", "stderr"];
/// How much of a command names a call.
const NAMED: usize = 80;

/// Returns the output to show instead, as JSON of the same shape; `None` where it stays as it is.
///
/// Whatever cannot be read stays as it is.
pub fn reply(call: &Call, settings: &Settings, place: &Place) -> Option<String> {
    let subject = subject(call.input);
    let treatment = treatment(call.tool, &subject);
    if !settings.on {
        return None;
    }
    let job = Job {
        call,
        settings,
        place,
        treatment,
        subject,
        noted: Cell::new(false),
    };
    let reply = match treatment {
        Treatment::None => None,
        Treatment::Lossless | Treatment::Full => job.reply(),
    };
    if !job.noted.get() {
        forget(call.tool, call.agent, settings, place);
    }
    reply
}

/// Forgets the last output of a tool: another came since that nobody compares with.
pub fn forget(tool: &str, agent: Option<&str>, settings: &Settings, place: &Place) {
    if settings.on && settings.dedup && !place.session.is_empty() {
        spill::forget(place, &kind(tool, agent));
    }
}

/// What tells the outputs of a tool from others. A subagent does not see what the session saw, so each
/// has its own last output.
fn kind(tool: &str, agent: Option<&str>) -> String {
    format!("{tool}\n{}", agent.unwrap_or_default())
}

/// What the input asks for: its command, pattern, paths; nothing where it says none.
fn subject(input: &str) -> String {
    let input = match serde_json::from_str(input) {
        Ok(Value::Object(input)) => input,
        Ok(Value::String(text)) => return text,
        Ok(_) | Err(_) => return String::new(),
    };
    let asked = ["command", "pattern", "path", "glob", "url", "query"];
    let words: Vec<&str> = asked
        .iter()
        .filter_map(|key| input.get(*key)?.as_str())
        .collect();
    words.join(" ")
}

struct Job<'a> {
    call: &'a Call<'a>,
    settings: &'a Settings,
    place: &'a Place,
    treatment: Treatment,
    subject: String,
    /// Whether this output was kept as the last of its kind.
    noted: Cell<bool>,
}

impl Job<'_> {
    fn reply(&self) -> Option<String> {
        match self.call.response.trim_start().as_bytes().first()? {
            b'"' => {
                let text: String = serde_json::from_str(self.call.response).ok()?;
                serde_json::to_string(&self.shorter(&text)?).ok()
            }
            b'[' => self.blocks(self.call.response),
            _ => {
                let mut members: Members = serde_json::from_str(self.call.response).ok()?;
                self.replace(&mut members)?;
                members.write()
            }
        }
    }

    fn replace(&self, members: &mut Members) -> Option<()> {
        if members.get("isImage") == Some("true") {
            return None;
        }
        // The client keeps the whole of an output over its own limit, and shows a preview.
        let kept = members
            .get("persistedOutputPath")
            .is_some_and(|path| path != "null");
        let told = match kept {
            true => mask_streams(members),
            false => self
                .replace_streams(members)
                .or_else(|| self.replace_text(members)),
        };
        mask_rest(members).or(told)
    }

    /// What a command printed, on its two streams.
    fn replace_streams(&self, members: &mut Members) -> Option<()> {
        let [stdout, stderr] = STREAMS.map(|name| members.string(name).unwrap_or_default());
        if stderr.is_empty() {
            return members.set("stdout", &self.shorter(&stdout)?);
        }
        if stdout.is_empty() {
            return members.set("stderr", &self.shorter(&stderr)?);
        }
        if pieces::is_json(&stdout) {
            let shown = [self.filtered(&stdout), self.filtered(&stderr)];
            return set_each(members, shown);
        }
        let whole = format!("{stdout}\n{stderr}");
        let short = self.shorter(&whole)?;
        if short == secret::mask(&whole) {
            return mask_streams(members);
        }
        members.set("stdout", &short)?;
        members.set("stderr", "")
    }

    /// A text, blocks of text, or what a search found.
    fn replace_text(&self, members: &mut Members) -> Option<()> {
        for key in TEXTS {
            if let Some(text) = members.string(key) {
                return members.set(key, &self.shorter(&text)?);
            }
        }
        for key in ["content", "results"] {
            if let Some(blocks) = members.get(key).and_then(|blocks| self.blocks(blocks)) {
                return members.set_raw(key, blocks);
            }
        }
        None
    }

    /// `[{"type": "text", "text": …}, "text", …]`
    fn blocks(&self, blocks: &str) -> Option<String> {
        let mut blocks: Vec<Value> = serde_json::from_str(blocks).ok()?;
        let mut changed = false;
        for block in &mut blocks {
            let text = match block {
                Value::String(_) if self.call.tool == "WebSearch" => Some(&mut *block),
                _ => block.get_mut("text"),
            };
            if let Some(text) = text
                && let Some(shorter) = text.as_str().and_then(|text| self.filtered(text))
            {
                *text = Value::String(shorter);
                changed = true;
            }
            changed |= mask_value(block);
        }
        changed.then(|| serde_json::to_string(&blocks).ok())?
    }

    fn shorter(&self, text: &str) -> Option<String> {
        self.repetition(text).or_else(|| self.filtered(text))
    }

    fn filtered(&self, text: &str) -> Option<String> {
        let short = filter(text, self.treatment, self.settings, self.place);
        matches!(short, Cow::Owned(_)).then(|| short.into_owned())
    }

    /// The line for an output that is the same as the one before.
    fn repetition(&self, text: &str) -> Option<String> {
        if !self.settings.dedup || self.place.session.is_empty() || text.len() < DEDUP_MIN {
            return None;
        }
        if pieces::is_json(text) {
            return None;
        }
        self.noted.set(true);
        let kind = kind(self.call.tool, self.call.agent);
        let before = match spill::repeated(self.place, &kind, text, &self.name())? {
            name if name.is_empty() => format!("the last {} call", self.call.tool),
            name => format!("`{name}`"),
        };
        let spill = Spill::of(self.place, text);
        let path = spill.path()?;
        let line = format!(
            "[git-operator: the same {} bytes as the output of {before} before; whole output: {path}]",
            text.len(),
        );
        (line.len() < text.len() && spill.write()).then_some(line)
    }

    /// What the call asked for, in one line.
    fn name(&self) -> String {
        let masked = secret::mask(&self.subject);
        let plain = masked.replace('`', "");
        let words: Vec<&str> = plain
            .split(|c: char| c.is_whitespace() || c.is_control())
            .filter(|word| !word.is_empty())
            .collect();
        let name = words.join(" ");
        match name.char_indices().nth(NAMED) {
            Some((end, _)) => format!("{}…", &name[..end]),
            None => name,
        }
    }
}

/// Masks the secrets of an output whose streams are otherwise left as they are.
fn mask_streams(members: &mut Members) -> Option<()> {
    let shown = STREAMS.map(|key| match secret::mask(&members.string(key)?) {
        Cow::Owned(shown) => Some(shown),
        Cow::Borrowed(_) => None,
    });
    set_each(members, shown)
}

fn set_each(members: &mut Members, shown: [Option<String>; 2]) -> Option<()> {
    let mut changed = None;
    for (key, text) in STREAMS.into_iter().zip(shown) {
        if let Some(text) = text {
            members.set(key, &text)?;
            changed = Some(());
        }
    }
    changed
}

/// Masks the secrets of the members that nobody shortens.
fn mask_rest(members: &mut Members) -> Option<()> {
    let mut masked = None;
    for (name, value) in &mut members.0 {
        let json = value.get();
        let shown = STREAMS.iter().chain(&TEXTS).any(|known| known == name);
        if shown && json.starts_with('"') || !json.contains('"') {
            continue;
        }
        let Ok(mut read) = serde_json::from_str::<Value>(value.get()) else {
            continue;
        };
        if mask_value(&mut read)
            && let Ok(shown) = serde_json::value::to_raw_value(&read)
        {
            *value = shown;
            masked = Some(());
        }
    }
    masked
}

/// Masks the secrets of every text in `value`; says whether there was one.
fn mask_value(value: &mut Value) -> bool {
    match value {
        Value::String(text) => match secret::mask(text) {
            Cow::Owned(shown) => {
                *text = shown;
                true
            }
            Cow::Borrowed(_) => false,
        },
        Value::Array(items) => mask_values(items.iter_mut()),
        Value::Object(members) => mask_values(members.values_mut()),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn mask_values<'a>(values: impl Iterator<Item = &'a mut Value>) -> bool {
    let mut masked = false;
    for value in values {
        masked |= mask_value(value);
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
                let mut members: Vec<(String, Box<RawValue>)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    // Of two with one name the client takes the last.
                    match members.iter_mut().find(|(known, _)| *known == name) {
                        Some((_, known)) => *known = value,
                        None => members.push((name, value)),
                    }
                }
                Ok(Members(members))
            }
        }
        source.deserialize_map(Object)
    }
}
