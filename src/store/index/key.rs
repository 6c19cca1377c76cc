use crate::{
    ledger::Entry,
    model::{Body, Oid, Record, RecordId, Stamp},
};

/// The tables of the file, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum Table {
    Id,
    Task,
    Criterion,
    Commit,
    Subject,
    Kind,
    /// Records by a record they speak of.
    Of,
}

impl Table {
    pub(super) const ALL: [Self; 7] = [
        Self::Id,
        Self::Task,
        Self::Criterion,
        Self::Commit,
        Self::Subject,
        Self::Kind,
        Self::Of,
    ];
}

/// What is looked for: a table and the range of its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct Key {
    pub(super) table: Table,
    pub(super) from: u64,
    pub(super) to: u64,
}

/// The kind under which records of a later version and lines set aside are found: no kind has a space.
const NEWER: &str = "a newer version";
const SET_ASIDE: &str = "set aside";

impl Key {
    fn of(table: Table, parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(part);
            hasher.update(b"\0");
        }
        let mut number = [0; 8];
        number.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        let number = u64::from_be_bytes(number);
        Self {
            table,
            from: number,
            to: number,
        }
    }

    pub(in crate::store) fn id(id: &RecordId) -> Self {
        Self::hash_start(id.hash())
    }

    /// Returns the key of every id whose hash part begins with `start`: its first twelve characters
    /// are a number that sorts as they do.
    pub(in crate::store) fn hash_start(start: &str) -> Self {
        let number = |fill: u64| {
            let digits = start.bytes().map(|c| u64::from(digit(c)));
            let digits = digits.chain(std::iter::repeat(fill)).take(12);
            digits.fold(0, |number, digit| number << 5 | digit)
        };
        Self {
            table: Table::Id,
            from: number(0),
            to: number(31),
        }
    }

    pub(in crate::store) fn task(task: &str) -> Self {
        Self::of(Table::Task, &[task.as_bytes()])
    }

    pub(in crate::store) fn criterion(task: &str, criterion: &str) -> Self {
        Self::of(Table::Criterion, &[task.as_bytes(), criterion.as_bytes()])
    }

    pub(in crate::store) fn commit(commit: &Oid) -> Self {
        Self::of(Table::Commit, &[commit.as_bytes()])
    }

    pub(in crate::store) fn subject(tree: &Oid) -> Self {
        Self::of(Table::Subject, &[tree.as_bytes()])
    }

    pub(in crate::store) fn kind(kind: &str) -> Self {
        Self::of(Table::Kind, &[kind.as_bytes()])
    }

    pub(in crate::store) fn newer() -> Self {
        Self::kind(NEWER)
    }

    pub(in crate::store) fn set_aside() -> Self {
        Self::kind(SET_ASIDE)
    }

    pub(in crate::store) fn about(id: &RecordId) -> Self {
        Self::of(Table::Of, &[id.as_str().as_bytes()])
    }
}

fn digit(c: u8) -> u8 {
    const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let place = ALPHABET.iter().position(|known| *known == c);
    place.unwrap_or(0) as u8
}

/// Returns the keys under which an entry is found.
pub(super) fn keys(entry: &Entry) -> Vec<Key> {
    match entry {
        Entry::Record(record) => keys_of(record),
        Entry::Newer(newer) => {
            let mut keys = vec![Key::newer(), Key::id(&newer.id)];
            keys.extend(newer.task.as_deref().map(Key::task));
            keys
        }
        Entry::Quarantined(_) => vec![Key::set_aside()],
    }
}

fn keys_of(record: &Record) -> Vec<Key> {
    let mut keys = vec![Key::id(&record.id), Key::kind(record.body.kind())];
    if let Some(task) = &record.task {
        keys.push(Key::task(task));
        keys.extend(
            record
                .criterion
                .as_ref()
                .map(|criterion| Key::criterion(task, criterion)),
        );
    }
    keys.extend(commits(record).iter().map(Key::commit));
    keys.extend(subject(record).as_ref().map(Key::subject));
    keys.extend(about(record).iter().map(Key::about));
    keys
}

/// Returns the commits of the project that a record speaks of.
pub(in crate::store) fn commits(record: &Record) -> Vec<Oid> {
    let stamped = |stamp: &Stamp| stamp.commit().and_then(|id| id.parse().ok());
    let mut commits: Vec<Oid> = match &record.body {
        Body::Verdict(verdict) => verdict
            .head
            .into_iter()
            .chain(stamped(&verdict.stamp))
            .collect(),
        Body::Attempt(attempt) => attempt
            .head
            .into_iter()
            .chain(attempt.stamp.as_ref().and_then(stamped))
            .collect(),
        Body::Work(work) => vec![work.commit],
        Body::Rewrite(rewrite) => {
            let pairs = rewrite.pairs.iter();
            pairs.flat_map(|pair| [pair.old, pair.new]).collect()
        }
        Body::Task(_)
        | Body::Adopt(_)
        | Body::Defer(_)
        | Body::Decision(_)
        | Body::Bar(_)
        | Body::Layout(_)
        | Body::Signature(_)
        | Body::Session(_)
        | Body::Retract(_)
        | Body::Redact(_)
        | Body::Other(_) => Vec::new(),
    };
    commits.sort_unstable();
    commits.dedup();
    commits
}

/// Returns the tree a record judges.
pub(in crate::store) fn subject(record: &Record) -> Option<Oid> {
    match &record.body {
        Body::Verdict(verdict) => verdict.subject,
        Body::Attempt(attempt) => attempt.subject,
        Body::Task(_)
        | Body::Adopt(_)
        | Body::Defer(_)
        | Body::Decision(_)
        | Body::Bar(_)
        | Body::Layout(_)
        | Body::Signature(_)
        | Body::Rewrite(_)
        | Body::Work(_)
        | Body::Session(_)
        | Body::Retract(_)
        | Body::Redact(_)
        | Body::Other(_) => None,
    }
}

/// Returns the records that a record speaks of.
pub(in crate::store) fn about(record: &Record) -> Vec<RecordId> {
    match &record.body {
        Body::Verdict(verdict) => verdict.of.into_iter().collect(),
        Body::Attempt(attempt) => attempt.of.into_iter().collect(),
        Body::Decision(decision) => decision.covers.clone(),
        Body::Signature(signature) => vec![signature.of],
        Body::Retract(retract) => vec![retract.of],
        Body::Task(_)
        | Body::Adopt(_)
        | Body::Defer(_)
        | Body::Bar(_)
        | Body::Layout(_)
        | Body::Rewrite(_)
        | Body::Work(_)
        | Body::Session(_)
        | Body::Redact(_)
        | Body::Other(_) => Vec::new(),
    }
}
