//! The record line: sealed once by its writer, checked byte for byte by every reader.

use thiserror::Error;

use super::{
    Body, Draft, Opened, Record, RecordId, ReplicaId,
    json::{Members, Value, write_members},
};

/// The longest line, in bytes without its LF.
pub const MAX_LINE: usize = 64 * 1024;
const DOMAIN: &[u8] = b"git-operator/record/v1\0";
const ID_START: &str = "{\"id\":\"";
const ID_END: &str = "\",";
const ID_LEN: usize = 42;
const VERSION: u64 = 1;
const MAX_SEQ: u64 = 1 << 52;

/// Why a line is set aside. It travels on; it means nothing.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Quarantine {
    #[error("the line is {0} bytes long, more than {MAX_LINE}")]
    TooLong(usize),
    #[error("the line is not UTF-8")]
    NotUtf8,
    #[error("the line is not one JSON object: {0}")]
    NotJson(String),
    #[error("the line does not begin with a record id")]
    NoId,
    #[error("the id does not match the line's bytes")]
    WrongId,
    #[error("the id's time is not the record's")]
    WrongTime,
    #[error("the field '{0}' is missing or of the wrong type")]
    Field(&'static str),
}

/// What a reader makes of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded {
    Record(Box<Record>),
    /// A later version of the format: valid cargo that this program cannot read.
    Newer {
        id: RecordId,
        version: u64,
        task: Option<String>,
    },
}

/// What the ledger adds to a draft under its lock.
#[derive(Clone, Copy, Debug)]
pub struct Seal {
    /// ms since 1970.
    pub time: u64,
    pub seq: u64,
    pub replica: ReplicaId,
}

impl Draft {
    /// Returns the record: its line, and the id over the line's bytes. Imported rows carry no time,
    /// order or replica, so that two clones that import one row make one record.
    pub fn seal(&self, seal: Seal) -> Result<Record, Quarantine> {
        let imported = self.body.is_imported();
        let time = if imported { 0 } else { seal.time };
        let mut rest = String::new();
        write_members(&self.members(time, imported, seal), &mut rest);
        rest.push('}');
        let id = hash_id(time, &rest);
        let line = format!("{ID_START}{id}{ID_END}{rest}");
        match decode(line.as_bytes())? {
            Decoded::Record(record) => Ok(*record),
            Decoded::Newer { .. } => Err(Quarantine::Field("v")),
        }
    }

    fn members(&self, time: u64, imported: bool, seal: Seal) -> Members<'_> {
        let mut members = Members::with_capacity(24);
        let mut put = |key: &'static str, value| members.push((key.into(), value));
        put("v", VERSION.into());
        put("kind", self.body.kind().into());
        put("time", time.into());
        put("seq", if imported { 0 } else { seal.seq }.into());
        if !imported {
            put("replica", seal.replica.to_string().into());
            let texts = [
                ("owner", self.owner.as_ref().map(|owner| owner.as_str())),
                (
                    "session",
                    self.session.as_ref().map(|session| session.as_str()),
                ),
                ("task", self.task.as_ref().map(|task| task.as_str())),
                (
                    "criterion",
                    self.criterion.as_ref().map(|criterion| criterion.as_str()),
                ),
            ];
            for (key, text) in texts {
                if let Some(text) = text {
                    put(key, text.into());
                }
            }
            match self.opened {
                Opened::NotAsked => {}
                Opened::Never => put("opened", Value::Null),
                Opened::By(id) => put("opened", id.to_string().into()),
            }
            if !self.after.is_empty() {
                put(
                    "after",
                    self.after
                        .iter()
                        .map(RecordId::to_string)
                        .collect::<Vec<_>>()
                        .into(),
                );
            }
        }
        members.extend(self.body.members());
        members
    }
}

/// Returns the id of the line whose bytes behind the id's member are `rest`.
fn hash_id(time: u64, rest: &str) -> RecordId {
    let mut hasher = blake3::Hasher::new();
    for part in [DOMAIN, b"{", rest.as_bytes()] {
        hasher.update(part);
    }
    RecordId::new(time, &hasher.finalize())
}

/// Reads a line without its LF. The id is checked against the bytes as they lie; nothing is
/// serialised again.
pub fn decode(line: &[u8]) -> Result<Decoded, Quarantine> {
    if line.len() > MAX_LINE {
        return Err(Quarantine::TooLong(line.len()));
    }
    let text = std::str::from_utf8(line).map_err(|_| Quarantine::NotUtf8)?;
    let after_start = text.strip_prefix(ID_START).ok_or(Quarantine::NoId)?;
    let (id, rest) = after_start
        .split_at_checked(ID_LEN)
        .and_then(|(id, rest)| Some((id.parse::<RecordId>().ok()?, rest.strip_prefix(ID_END)?)))
        .ok_or(Quarantine::NoId)?;
    if hash_id(id.time(), rest) != id {
        return Err(Quarantine::WrongId);
    }
    let value = Value::parse(text).map_err(|error| Quarantine::NotJson(error.to_string()))?;
    let version = value
        .get("v")
        .and_then(Value::as_u64)
        .ok_or(Quarantine::Field("v"))?;
    if version != VERSION {
        let task = value.get("task").and_then(Value::as_str).map(str::to_owned);
        return Ok(Decoded::Newer { id, version, task });
    }
    read(id, &value, text).map(|record| Decoded::Record(Box::new(record)))
}

fn read(id: RecordId, value: &Value<'_>, line: &str) -> Result<Record, Quarantine> {
    let number = |key: &'static str| {
        value
            .get(key)
            .and_then(Value::as_u64)
            .ok_or(Quarantine::Field(key))
    };
    let kind = value
        .get("kind")
        .and_then(Value::as_str)
        .ok_or(Quarantine::Field("kind"))?;
    let time = number("time")?;
    if time != id.time() {
        return Err(Quarantine::WrongTime);
    }
    let seq = number("seq")?;
    if seq > MAX_SEQ {
        return Err(Quarantine::Field("seq"));
    }
    let body = Body::read(kind, value).ok_or(Quarantine::Field("kind"))?;
    let mut record = Record {
        id,
        time,
        seq,
        replica: optional(value, "replica", |text| text.parse().ok())?,
        owner: optional(value, "owner", |text| Some(text.to_owned()))?,
        session: optional(value, "session", |text| Some(text.to_owned()))?,
        task: optional(value, "task", |text| Some(text.to_owned()))?,
        criterion: optional(value, "criterion", |text| Some(text.to_owned()))?,
        opened: opened(value)?,
        after: after(value)?,
        body,
        line: line.into(),
    };
    name_import(&mut record);
    Ok(record)
}

fn optional<T>(
    value: &Value<'_>,
    key: &'static str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, Quarantine> {
    match value.get(key) {
        None => Ok(None),
        Some(text) => text
            .as_str()
            .and_then(parse)
            .map(Some)
            .ok_or(Quarantine::Field(key)),
    }
}

fn opened(value: &Value<'_>) -> Result<Opened, Quarantine> {
    let Value::Map(members) = value else {
        return Err(Quarantine::Field("opened"));
    };
    match members.iter().find(|(key, _)| key == "opened") {
        None => Ok(Opened::NotAsked),
        Some((_, Value::Null)) => Ok(Opened::Never),
        Some((_, Value::Str(id))) => id
            .parse()
            .map(Opened::By)
            .map_err(|_| Quarantine::Field("opened")),
        Some(_) => Err(Quarantine::Field("opened")),
    }
}

fn after(value: &Value<'_>) -> Result<Vec<RecordId>, Quarantine> {
    let Some(list) = value.get("after") else {
        return Ok(Vec::new());
    };
    let ids = list
        .as_list()
        .and_then(|ids| ids.iter().map(|id| id.as_str()?.parse().ok()).collect());
    ids.ok_or(Quarantine::Field("after"))
}

/// An imported row names its task and criterion in the row only.
fn name_import(record: &mut Record) {
    let (task, criterion) = match &record.body {
        Body::Verdict(verdict) => {
            let Some(row) = verdict
                .import
                .as_ref()
                .and_then(|i| super::row::VerdictRow::parse(&i.row))
            else {
                return;
            };
            (Some(row.task), Some(row.criterion))
        }
        Body::Decision(decision) => {
            let Some(row) = decision
                .import
                .as_ref()
                .and_then(|i| super::row::DecisionRow::parse(&i.row))
            else {
                return;
            };
            record.owner = row.owner;
            return;
        }
        _ => return,
    };
    record.task = task;
    record.criterion = criterion;
}

#[cfg(test)]
#[path = "codec_tests.rs"]
mod tests;
