//! The decisions of this clone that nobody has presented yet: one file each, written only by commands
//! of this clone. A Stop asks for them.

use std::{fs, io, path::Path};

use serde::{Deserialize, Serialize};

use super::{Error, files};
use crate::model::{Body, Decision, DecisionKind, Record, RecordId};

const DIR: &str = "decisions";

/// A decision that waits to be presented to the people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpresented {
    pub id: RecordId,
    /// Orders them as they were recorded.
    pub seq: u64,
    /// `None` is nobody's: it asks everybody.
    pub owner: Option<String>,
    pub kind: DecisionKind,
    pub scope: String,
    pub what: String,
}

#[derive(Serialize, Deserialize)]
struct Raw {
    id: String,
    seq: u64,
    owner: Option<String>,
    kind: String,
    scope: String,
    what: String,
}

/// Lists the unpresented decisions of the clone whose directory is `operator`, oldest first. A file
/// that cannot be read stands for a decision of nobody.
pub fn unpresented(operator: &Path) -> Result<Vec<Unpresented>, Error> {
    let dir = operator.join(DIR);
    let entries = match fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::read(dir)(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(Error::read(&dir))?.path();
        let named = path
            .file_name()
            .and_then(|name| name.to_str()?.parse().ok());
        if let Some(id) = named {
            found.push(
                read(&path)
                    .filter(|decision| decision.id == id)
                    .unwrap_or_else(|| unreadable(id)),
            );
        }
    }
    found.sort_by_key(|decision| (decision.seq, decision.id));
    Ok(found)
}

fn read(path: &Path) -> Option<Unpresented> {
    let raw: Raw = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
    Some(Unpresented {
        id: raw.id.parse().ok()?,
        seq: raw.seq,
        owner: raw.owner,
        kind: DecisionKind::parse(&raw.kind)?,
        scope: raw.scope,
        what: raw.what,
    })
}

fn unreadable(id: RecordId) -> Unpresented {
    let what = "its local file cannot be read".to_owned();
    Unpresented {
        id,
        seq: 0,
        owner: None,
        kind: DecisionKind::Deviation,
        scope: String::new(),
        what,
    }
}

/// Does what a decision of this clone does to the list. Doing it again changes nothing.
pub(super) fn apply(operator: &Path, record: &Record) -> Result<(), Error> {
    let Body::Decision(decision) = &record.body else {
        return Ok(());
    };
    if decision.decision.wants_presenting() {
        put(operator, record, decision)?;
    }
    decision
        .covers
        .iter()
        .try_for_each(|id| remove(operator, id))
}

/// Takes a decision off the list.
pub fn remove(operator: &Path, id: &RecordId) -> Result<(), Error> {
    files::remove(operator, &format!("{DIR}/{id}"))
}

fn put(operator: &Path, record: &Record, decision: &Decision) -> Result<(), Error> {
    let raw = Raw {
        id: record.id.to_string(),
        seq: record.seq,
        owner: record.owner.clone(),
        kind: decision.decision.as_str().to_owned(),
        scope: decision.scope.clone(),
        what: decision.what.clone(),
    };
    let text = serde_json::to_string(&raw).expect("strings always serialize");
    files::replace(operator, &format!("{DIR}/{}", record.id), text.as_bytes())
}
