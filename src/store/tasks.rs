//! The open tasks: one file each, written only by commands of this clone.
//!
//! Listing them needs no repository and no ledger, only the directory; the Stop hook, the status line
//! and `status` all read them here.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    ffi::OsStr,
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use nix::{
    fcntl::{OFlag, openat},
    sys::stat::Mode,
};
use serde::{Deserialize, Serialize};

use super::{Error, files};
use crate::model::{Body, Class, Digest, Outcome, Owner, ParseIdError, Record, RecordId, TaskId};

const VERSION: u32 = 1;
const DIR: &str = "tasks";
/// How much of a file is read at once; nearly all are shorter.
const PIECE: usize = 2_048;

/// A task that waits for its verdict in this clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenTask {
    pub task: TaskId,
    /// `None` is nobody: it blocks everybody.
    pub owner: Option<Owner>,
    /// The worktree it was opened in, by the name records use.
    pub worktree: String,
    /// The record that opened it.
    pub opened: RecordId,
    /// When, in ms since 1970.
    pub time: u64,
    pub heads: Heads,
}

/// The newest records on a task: those that no other names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heads {
    /// Openings, adoptions and deferrals.
    pub task: Vec<RecordId>,
    /// Verdicts, by criterion.
    pub criteria: BTreeMap<String, Vec<RecordId>>,
}

/// A file in the directory of open tasks that says nothing we understand. It blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    pub path: PathBuf,
    pub reason: String,
}

/// All open tasks of a clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tasks {
    /// Oldest first.
    pub open: Vec<OpenTask>,
    pub unreadable: Vec<Unreadable>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct RawTask<'a> {
    v: u32,
    #[serde(borrow)]
    task: RawText<'a>,
    #[serde(borrow)]
    owner: Option<RawText<'a>>,
    #[serde(borrow)]
    worktree: RawText<'a>,
    #[serde(borrow)]
    opened: RawText<'a>,
    time: u64,
    #[serde(borrow)]
    heads: RawHeads<'a>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct RawHeads<'a> {
    #[serde(borrow)]
    task: Vec<RawText<'a>>,
    #[serde(borrow)]
    criteria: BTreeMap<String, Vec<RawText<'a>>>,
}

/// A string, as it stands in the file unless it holds an escape.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct RawText<'a>(#[serde(borrow)] Cow<'a, str>);

/// Lists the open tasks of the clone whose directory is `operator`: one pass over one directory, and
/// three calls of the system for each task.
pub fn list(operator: &Path) -> Result<Tasks, Error> {
    let path = operator.join(DIR);
    let entries = match fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Tasks::default()),
        Err(error) => return Err(Error::read(path)(error)),
    };
    let dir = File::open(&path).map_err(Error::read(&path))?;
    let mut tasks = Tasks::default();
    let mut bytes = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Error::read(&path))?;
        match read_entry(&dir, &entry, &mut bytes) {
            Ok(Some(open)) => tasks.open.push(open),
            Ok(None) => {}
            Err(reason) => tasks.unreadable.push(Unreadable {
                path: entry.path(),
                reason,
            }),
        }
    }
    tasks
        .open
        .sort_by_cached_key(|open| (open.time, open.opened));
    tasks
        .unreadable
        .sort_by(|one, other| one.path.cmp(&other.path));
    Ok(tasks)
}

/// Reads the task of one entry of `dir`, by way of `bytes`; `None` where it was closed since the look.
fn read_entry(
    dir: &File,
    entry: &fs::DirEntry,
    bytes: &mut Vec<u8>,
) -> Result<Option<OpenTask>, String> {
    match entry.file_type() {
        Ok(kind) if kind.is_file() => {}
        Ok(_) => return Err("it is no file".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    }
    let name = entry.file_name();
    match read_at(dir, &name, bytes) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    }
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    understand(text, &name).map(Some)
}

/// Reads the file `name` of `dir` into `bytes`.
fn read_at(dir: &File, name: &OsStr, bytes: &mut Vec<u8>) -> io::Result<()> {
    let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let mut file = File::from(openat(dir, name, flags, Mode::empty())?);
    bytes.clear();
    loop {
        let length = bytes.len();
        bytes.resize(length + PIECE, 0);
        let read = file.read(&mut bytes[length..]);
        bytes.truncate(length + read.as_ref().unwrap_or(&0));
        match read {
            // What ends like a file of ours is whole, and needs no second look for its end.
            Ok(count) if count < PIECE && (count == 0 || bytes.ends_with(b"}\n")) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns the open task of this name; a file that is there and cannot be read is an error.
pub fn find(operator: &Path, task: &TaskId) -> Result<Option<OpenTask>, Error> {
    let path = operator.join(name(task.as_str()));
    read_file(&path).map_err(|reason| Error::TaskFile { path, reason })
}

/// Returns the path of a task's file below `operator/`.
fn name(task: &str) -> String {
    format!("{DIR}/{}", file_name(task))
}

fn file_name(task: &str) -> String {
    let mut name = Digest::of(task.as_bytes()).to_hex();
    name.truncate(32);
    name
}

/// Removes the file of a task.
pub(super) fn remove(operator: &Path, task: &TaskId) -> Result<(), Error> {
    files::remove(operator, &name(task.as_str()))
}

fn read_file(path: &Path) -> Result<Option<OpenTask>, String> {
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if !meta.is_file() {
        return Err("it is no file".to_owned());
    }
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        // Closed between the look and the read.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    understand(&text, path.file_name().unwrap_or_default()).map(Some)
}

/// Returns the task that the file of this name says.
fn understand(text: &str, name: &OsStr) -> Result<OpenTask, String> {
    let raw = match as_written(text) {
        Some(raw) => raw,
        None => serde_json::from_str(text).map_err(|error| error.to_string())?,
    };
    let open = parse(raw)?;
    match OsStr::new(&file_name(open.task.as_str())) == name {
        true => Ok(open),
        false => Err(format!("it is not the file of task '{}'", open.task)),
    }
}

/// Reads what `to_text` writes of a task without verdicts whose strings need no escape, which are
/// nearly all; `None` is no error, but another form.
fn as_written(text: &str) -> Option<RawTask<'_>> {
    let mut text = Rest(text);
    text.skip("{\"v\":1,\"task\":")?;
    let task = text.string()?;
    text.skip(",\"owner\":")?;
    let owner = match text.skip("null") {
        Some(()) => None,
        None => Some(text.string()?),
    };
    text.skip(",\"worktree\":")?;
    let worktree = text.string()?;
    text.skip(",\"opened\":")?;
    let opened = text.string()?;
    text.skip(",\"time\":")?;
    let time = text.number()?;
    text.skip(",\"heads\":{\"task\":[")?;
    let mut heads = Vec::new();
    if text.skip("]").is_none() {
        heads.push(text.string()?);
        while text.skip(",").is_some() {
            heads.push(text.string()?);
        }
        text.skip("]")?;
    }
    text.skip(",\"criteria\":{}}}\n")?;
    text.0.is_empty().then_some(RawTask {
        v: VERSION,
        task,
        owner,
        worktree,
        opened,
        time,
        heads: RawHeads {
            task: heads,
            criteria: BTreeMap::new(),
        },
    })
}

/// What is left of a text.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn skip(&mut self, word: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(word)?;
        Some(())
    }

    fn string(&mut self) -> Option<RawText<'a>> {
        let (text, rest) = self.0.strip_prefix('"')?.split_once('"')?;
        let is_plain = text.bytes().all(|byte| byte >= b' ' && byte != b'\\');
        self.0 = rest;
        is_plain.then_some(RawText(Cow::Borrowed(text)))
    }

    /// Returns a number as JSON writes it: no zero before another digit.
    fn number(&mut self) -> Option<u64> {
        let end = self.0.find(|c: char| !c.is_ascii_digit())?;
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        let is_plain = digits == "0" || !digits.starts_with('0');
        digits.parse().ok().filter(|_| is_plain)
    }
}

fn parse(raw: RawTask<'_>) -> Result<OpenTask, String> {
    if raw.v != VERSION {
        return Err(format!("its version {} is unknown", raw.v));
    }
    let id = |text: &RawText<'_>| {
        let id: Result<RecordId, _> = text.0.parse();
        id.map_err(|error: ParseIdError| error.to_string())
    };
    let ids = |texts: Vec<RawText<'_>>| texts.iter().map(id).collect::<Result<Vec<_>, _>>();
    let criteria = raw.heads.criteria.into_iter();
    let criteria: Result<_, String> = criteria
        .map(|(criterion, texts)| Ok((criterion, ids(texts)?)))
        .collect();
    let owner = raw.owner.map(|owner| Owner::new(&owner.0)).transpose();
    Ok(OpenTask {
        task: TaskId::new(&raw.task.0).map_err(|error| error.to_string())?,
        owner: owner.map_err(|error| error.to_string())?,
        worktree: raw.worktree.0.into_owned(),
        opened: id(&raw.opened)?,
        time: raw.time,
        heads: Heads {
            task: ids(raw.heads.task)?,
            criteria: criteria?,
        },
    })
}

impl OpenTask {
    /// Returns the task that `record` opened, if it is an opening we can hold open.
    pub(super) fn of(record: &Record) -> Option<Self> {
        let Body::Task(task) = &record.body else {
            return None;
        };
        Some(Self {
            task: TaskId::new(record.task.as_deref()?).ok()?,
            owner: record
                .owner
                .as_deref()
                .and_then(|name| Owner::new(name).ok()),
            worktree: task.worktree.clone(),
            opened: record.id,
            time: record.time,
            heads: Heads::default(),
        })
    }

    /// Takes in an adoption that answers this opening.
    pub(super) fn follow(&mut self, record: &Record) {
        if let (Body::Adopt(_), Some(opened)) = (&record.body, record.opened.id())
            && opened == self.opened
        {
            let owner = record.owner.as_deref();
            self.owner = owner.and_then(|name| Owner::new(name).ok());
        }
    }

    fn to_text(&self) -> String {
        let text = |id: &RecordId| RawText(id.to_string().into());
        let ids = |ids: &[RecordId]| ids.iter().map(text).collect();
        let raw = RawTask {
            v: VERSION,
            task: RawText(self.task.as_str().into()),
            owner: self
                .owner
                .as_ref()
                .map(|owner| RawText(owner.as_str().into())),
            worktree: RawText(self.worktree.as_str().into()),
            opened: text(&self.opened),
            time: self.time,
            heads: RawHeads {
                task: ids(&self.heads.task),
                criteria: self
                    .heads
                    .criteria
                    .iter()
                    .map(|(criterion, heads)| (criterion.clone(), ids(heads)))
                    .collect(),
            },
        };
        serde_json::to_string(&raw).expect("strings and numbers always serialise") + "\n"
    }

    /// Says whether `record` closes this opening: a deferral, somebody's explicit verdict, or a
    /// captured one that passed.
    pub fn is_closed_by(&self, record: &Record) -> bool {
        if record.opened.id() != Some(self.opened) {
            return false;
        }
        match &record.body {
            Body::Defer(_) => true,
            Body::Verdict(verdict) => match verdict.class {
                Class::Imported => false,
                Class::Asserted => true,
                Class::Captured | Class::Isolated | Class::Controlled => {
                    verdict.outcome == Outcome::Pass
                }
            },
            Body::Task(_)
            | Body::Adopt(_)
            | Body::Attempt(_)
            | Body::Decision(_)
            | Body::Bar(_)
            | Body::Layout(_)
            | Body::Signature(_)
            | Body::Rewrite(_)
            | Body::Work(_)
            | Body::Session(_)
            | Body::Retract(_)
            | Body::Redact(_)
            | Body::Other(_) => false,
        }
    }
}

impl Heads {
    /// Returns the ids that a new record of this kind on `criterion` comes after.
    pub(super) fn of(&self, body: &Body, criterion: Option<&str>) -> Vec<RecordId> {
        match Slot::of(body) {
            Some(Slot::Task) => self.task.clone(),
            Some(Slot::Criterion | Slot::Witness) => criterion
                .and_then(|criterion| self.criteria.get(criterion))
                .cloned()
                .unwrap_or_default(),
            None => Vec::new(),
        }
    }

    /// Takes in a record; those that come later in the history must be taken in later.
    pub(super) fn add(&mut self, record: &Record) {
        let heads = match (Slot::of(&record.body), &record.criterion) {
            (Some(Slot::Task), _) => &mut self.task,
            (Some(Slot::Criterion), Some(criterion)) => {
                self.criteria.entry(criterion.clone()).or_default()
            }
            (Some(Slot::Criterion | Slot::Witness) | None, _) => return,
        };
        heads.retain(|id| *id != record.id && !record.after.contains(id));
        heads.push(record.id);
        heads.sort_unstable();
    }
}

/// Where a record stands among those on its task.
enum Slot {
    /// Orders openings, adoptions and deferrals.
    Task,
    /// Orders verdicts on one criterion.
    Criterion,
    /// Names the newest verdicts and is none.
    Witness,
}

impl Slot {
    fn of(body: &Body) -> Option<Self> {
        match body {
            Body::Task(_) | Body::Adopt(_) | Body::Defer(_) => Some(Self::Task),
            Body::Verdict(_) => Some(Self::Criterion),
            Body::Attempt(_) => Some(Self::Witness),
            Body::Decision(_)
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
}

/// What records of this clone do to the task files, worked out before any file is touched: replaying
/// an opening and its verdict never shows the task open in between.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// By task; `None` is closed.
    changed: BTreeMap<String, Option<OpenTask>>,
}

impl Effects {
    /// Takes in the next record of this clone.
    pub(super) fn add(&mut self, operator: &Path, record: &Record) -> Result<(), Error> {
        let Some(task) = record
            .task
            .as_deref()
            .and_then(|task| TaskId::new(task).ok())
        else {
            return Ok(());
        };
        let mut open = match self.changed.get(task.as_str()) {
            Some(changed) => changed.clone(),
            // A file that cannot be read stays and blocks until `doctor` makes it anew.
            None => match find(operator, &task) {
                Ok(open) => open,
                Err(Error::TaskFile { .. }) => return Ok(()),
                Err(error) => return Err(error),
            },
        };
        match (&record.body, &mut open) {
            (Body::Task(_), Some(open)) if open.opened == record.id => {}
            (Body::Task(_), slot) => *slot = OpenTask::of(record),
            (_, Some(known)) if known.is_closed_by(record) => open = None,
            (_, Some(known)) => known.follow(record),
            (_, None) => {}
        }
        self.changed.insert(task.to_string(), open);
        Ok(())
    }

    /// Returns the tasks that were not open and now are.
    pub(super) fn opened(&self) -> Vec<TaskId> {
        let open = self.changed.values().flatten();
        open.map(|open| open.task.clone()).collect()
    }

    /// Says whether the file of this task changes.
    pub(super) fn concern(&self, task: &TaskId) -> bool {
        self.changed.contains_key(task.as_str())
    }

    /// Takes in an open task whose heads changed.
    pub(super) fn refresh(&mut self, open: OpenTask) {
        self.changed.insert(open.task.to_string(), Some(open));
    }

    /// Writes and removes the files; open tasks take their heads from `heads`, by task.
    pub(super) fn apply(
        self,
        operator: &Path,
        heads: &HashMap<String, Heads>,
    ) -> Result<(), Error> {
        for (task, open) in self.changed {
            let Some(mut open) = open else {
                files::remove(operator, &name(&task))?;
                continue;
            };
            if let Some(heads) = heads.get(&task) {
                open.heads = heads.clone();
            }
            files::replace(operator, &name(&task), open.to_text().as_bytes())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Heads, OpenTask, RawTask, as_written};
    use crate::model::{Owner, RecordId, TaskId};

    fn open(task: &str, owner: Option<&str>, worktree: &str, time: u64) -> OpenTask {
        let opened: RecordId = "01M8RM1Q5DGDB8R0T73GWC6MGJWGC7YV35S3PB472B"
            .parse()
            .unwrap();
        OpenTask {
            task: TaskId::new(task).unwrap(),
            owner: owner.map(|owner| Owner::new(owner).unwrap()),
            worktree: worktree.to_owned(),
            opened,
            time,
            heads: Heads {
                task: vec![opened],
                ..Heads::default()
            },
        }
    }

    fn both(text: &str) -> (Option<RawTask<'_>>, Option<RawTask<'_>>) {
        (as_written(text), serde_json::from_str(text).ok())
    }

    #[test]
    fn what_is_written_is_read_without_the_general_reader() {
        for open in [
            open("t", Some("S1"), ".", 0),
            open("käse", None, "w \u{e9}", u64::MAX),
        ] {
            let text = open.to_text();
            let (quick, general) = both(&text);
            assert!(quick.is_some(), "{text}");
            assert_eq!(quick, general);
        }
    }

    #[test]
    fn another_form_is_left_to_the_general_reader() {
        let text = open("t", Some("S1"), "a", 7).to_text();
        for (from, to) in [
            ("\"a\"", r#""a\n""#),
            ("\"a\"", "\"a\u{1}\""),
            ("\"v\":1", "\"v\":2"),
            (":7,", ":07,"),
            (":7,", ":18446744073709551616,"),
            (":7,", ": 7,"),
            ("{}}}\n", "{}}}\n\n"),
            ("{}}}\n", "{}}"),
            ("\"S1\"", "nul"),
        ] {
            let other = text.replace(from, to);
            assert_ne!(other, text, "{from}");
            assert_eq!(as_written(&other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn both_readers_agree(at in 0usize..200, byte in any::<u8>(), cut in any::<bool>()) {
            let mut bytes = open("t", Some("S1"), "a", 1_796_122_664_109).to_text().into_bytes();
            let at = at % bytes.len();
            if cut {
                bytes.remove(at);
            } else {
                bytes[at] = byte;
            }
            if let Ok(text) = std::str::from_utf8(&bytes)
                && let (Some(quick), general) = both(text)
            {
                prop_assert_eq!(Some(quick), general);
            }
        }
    }
}
