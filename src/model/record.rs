use std::fmt;

use super::{Body, Criterion, Oid, Owner, RecordId, Stamp, TaskId};

/// A clone's own random name: 16 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplicaId([u8; 8]);

impl ReplicaId {
    /// Returns the name these random bytes make.
    pub fn new(bytes: [u8; 8]) -> Self {
        Self(bytes)
    }
}

impl std::str::FromStr for ReplicaId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        super::oid::unhex(text)
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or(())
    }
}

impl fmt::Display for ReplicaId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&super::oid::hex(&self.0))
    }
}

impl fmt::Debug for ReplicaId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReplicaId({self})")
    }
}

/// The opening of a task that a record answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// The kind of the record answers none.
    NotAsked,
    /// The task was never opened.
    Never,
    /// The record that opened it.
    By(RecordId),
}

impl Opened {
    /// Returns the opening record.
    pub fn id(self) -> Option<RecordId> {
        match self {
            Self::By(id) => Some(id),
            Self::NotAsked | Self::Never => None,
        }
    }
}

/// What somebody wants recorded; the ledger adds id, time, order and replica when it takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    pub owner: Option<Owner>,
    /// The session whose command wrote it.
    pub session: Option<Owner>,
    pub task: Option<TaskId>,
    pub criterion: Option<Criterion>,
    pub opened: Opened,
    /// The newest records on the same task and criterion that the writer had.
    pub after: Vec<RecordId>,
    pub body: Body,
}

impl Draft {
    /// Returns a draft with nothing but its body.
    pub fn new(body: Body) -> Self {
        Self {
            owner: None,
            session: None,
            task: None,
            criterion: None,
            opened: Opened::NotAsked,
            after: Vec::new(),
            body,
        }
    }
}

/// One immutable entry of the ledger: its line as it lies, and what the line says.
///
/// Texts are as the writer gave them; another clone's may hold anything, so what shows them escapes
/// them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub id: RecordId,
    /// ms since 1970, following GIT_COMMITTER_DATE; 0 for imported rows.
    pub time: u64,
    /// Orders display; 0 for imported rows.
    pub seq: u64,
    pub replica: Option<ReplicaId>,
    pub owner: Option<String>,
    pub session: Option<String>,
    pub task: Option<String>,
    pub criterion: Option<String>,
    pub opened: Opened,
    pub after: Vec<RecordId>,
    pub body: Body,
    pub(super) line: Box<str>,
}

impl Record {
    /// Returns the bytes of the line, without its LF.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// Returns what orders records for display.
    pub fn order(&self) -> (u64, RecordId) {
        (self.seq, self.id)
    }

    /// Returns the commits the record was made on, in hex; imported rows carry abbreviations.
    pub fn commits(&self) -> Vec<String> {
        let stamped = |head: Option<Oid>, stamp: Option<&Stamp>| {
            let stamp = stamp.and_then(Stamp::commit).map(str::to_owned);
            let commit = head.map(|head| head.to_string()).or(stamp);
            commit.into_iter().collect()
        };
        match &self.body {
            Body::Verdict(verdict) => stamped(verdict.head, Some(&verdict.stamp)),
            Body::Attempt(attempt) => stamped(attempt.head, attempt.stamp.as_ref()),
            Body::Work(work) => vec![work.commit.to_string()],
            Body::Rewrite(rewrite) => {
                let pairs = rewrite.pairs.iter();
                pairs
                    .flat_map(|pair| [pair.old, pair.new])
                    .map(|id| id.to_string())
                    .collect()
            }
            _ => Vec::new(),
        }
    }
}
