//! The projection of verdicts onto commits, for `git log --notes=operator`. Never a source.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::{
    git::{self, Clock, NewCommit, Notes, Repo, Role, Swapped},
    ledger::Ledger,
    model::{Body, Oid, Record, RecordId, Stamp, TreeState, Verdict},
    store::{self, Store},
};

/// The ref of the projection.
pub const NOTES: &str = "refs/notes/operator";

/// From so many commits or verdicts on, reading all of a kind once is cheaper than asking for each.
const MANY: usize = 16;
/// How often a writer that was overtaken starts over.
const ROUNDS: u32 = 5;

/// Which commits get their notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Projection<'a> {
    /// These.
    Of(&'a [Oid]),
    /// Every commit that a verdict is stamped with, and HEAD.
    Whole,
}

/// How a verdict is tied to a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Binding {
    /// It is stamped with the commit, and the subject is the commit's.
    Exact,
    /// Another stamp, the same subject.
    Tree,
    /// It is stamped with the commit, and the working tree was another.
    Dirty,
}

impl Binding {
    fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Tree => "tree",
            Self::Dirty => "dirty",
        }
    }
}

/// Writes the notes of `projection` and returns how many commits got other ones. Notes of others stay;
/// a verdict that was taken back loses its line, and so does one that says nothing of the commit, as
/// where `notes.rewriteRef` had git copy it.
pub fn project(
    store: &Store,
    clock: &Clock,
    projection: Projection<'_>,
) -> Result<usize, store::Error> {
    let repo = store.repo();
    let noted = match repo.notes(NOTES) {
        Err(git::Error::MissingObject { .. }) => return mend(store, clock),
        read => read?,
    };
    let (ledger, named) = match projection {
        Projection::Of(named) => (of_commits(store, named)?, named.to_vec()),
        Projection::Whole => {
            let head = repo.head()?.commit();
            (
                store.of_kinds(&["verdict", "retract"])?,
                head.into_iter().chain(noted.objects()).collect(),
            )
        }
    };
    let read = Read::of(&ledger);
    if read.verdicts.is_empty() {
        return Ok(0);
    }
    let mut lines = lines(repo, &read, &named)?;
    if let Projection::Of(named) = projection {
        lines.retain(|commit, _| named.contains(commit));
    }
    match write((repo, clock), || repo.notes(NOTES), (&lines, &read)) {
        Err(git::Error::MissingObject { .. }) => mend(store, clock),
        wrote => Ok(wrote?),
    }
}

/// Makes the projection anew on what can be read of a ref whose objects are gone, and returns how many
/// commits got other notes.
pub fn mend(store: &Store, clock: &Clock) -> Result<usize, store::Error> {
    let repo = store.repo();
    let ledger = store.of_kinds(&["verdict", "retract"])?;
    let read = Read::of(&ledger);
    let head = repo.head()?.commit();
    let left = repo.notes_left(NOTES)?;
    let named: Vec<Oid> = head.into_iter().chain(left.objects()).collect();
    let lines = lines(repo, &read, &named)?;
    Ok(write(
        (repo, clock),
        || repo.notes_left(NOTES),
        (&lines, &read),
    )?)
}

/// Returns the verdicts that may bind to one of `commits`, and what takes them back.
fn of_commits(store: &Store, commits: &[Oid]) -> Result<Ledger, store::Error> {
    if commits.len() >= MANY {
        return store.of_kinds(&["verdict", "retract"]);
    }
    let repo = store.repo();
    let mut ledger = Ledger::default();
    for commit in commits {
        ledger.union(store.of_commit(commit)?);
        if let Ok(found) = repo.commit(*commit)
            && let Ok(subject) = repo.subject_tree(found.tree)
        {
            ledger.union(store.of_subject(&subject)?);
        }
    }
    let ids: Vec<RecordId> = ledger.iter().map(|record| record.id).collect();
    if ids.len() >= MANY {
        ledger.union(store.of_kinds(&["retract"])?);
        return Ok(ledger);
    }
    for id in ids {
        ledger.union(store.about(&id)?);
    }
    Ok(ledger)
}

/// What the ledger says of verdicts.
struct Read<'a> {
    verdicts: Vec<&'a Record>,
    known: BTreeSet<RecordId>,
    retracted: BTreeSet<RecordId>,
}

impl<'a> Read<'a> {
    fn of(ledger: &'a Ledger) -> Self {
        let verdicts: Vec<&Record> = ledger
            .iter()
            .filter(|record| verdict(record).is_some_and(|verdict| verdict.import.is_none()))
            .collect();
        let retracted = verdicts
            .iter()
            .filter(|record| ledger.retracted_by(record).is_some())
            .map(|record| record.id)
            .collect();
        Self {
            known: verdicts.iter().map(|record| record.id).collect(),
            verdicts,
            retracted,
        }
    }
}

/// Returns the lines of each commit that can be read and is stamped or named, also where there are none.
fn lines(
    repo: &Repo,
    read: &Read<'_>,
    named: &[Oid],
) -> Result<BTreeMap<Oid, BTreeSet<String>>, git::Error> {
    let own = read.verdicts.iter().filter_map(|record| stamped(record));
    let mut commits: BTreeSet<Oid> = own.collect();
    commits.extend(named);
    let mut subjects: HashMap<Oid, Oid> = HashMap::new();
    for commit in commits {
        // A stamp may name a commit that was never fetched, or is gone.
        if let Ok(found) = repo.commit(commit)
            && let Ok(subject) = repo.subject_tree(found.tree)
        {
            subjects.insert(commit, subject);
        }
    }
    let mut by_subject: HashMap<Oid, Vec<Oid>> = HashMap::new();
    for (commit, subject) in &subjects {
        by_subject.entry(*subject).or_default().push(*commit);
    }
    let mut lines: BTreeMap<Oid, BTreeSet<String>> = BTreeMap::new();
    lines.extend(subjects.keys().map(|commit| (*commit, BTreeSet::new())));
    let mut add = |commit: Oid, record: &Record, binding| {
        if let Some(line) = line(record, binding) {
            lines.entry(commit).or_default().insert(line);
        }
    };
    for &record in &read.verdicts {
        let own = stamped(record).filter(|commit| subjects.contains_key(commit));
        if read.retracted.contains(&record.id) {
            continue;
        }
        if let Some(commit) = own {
            add(commit, record, of_stamp(record, subjects[&commit]));
        }
        let equal = subject(record).and_then(|subject| by_subject.get(&subject));
        for commit in equal.into_iter().flatten() {
            let wanted = named.contains(commit) && Some(*commit) != own;
            if wanted {
                add(*commit, record, Binding::Tree);
            }
        }
    }
    Ok(lines)
}

fn verdict(record: &Record) -> Option<&Verdict> {
    match &record.body {
        Body::Verdict(verdict) => Some(verdict),
        _ => None,
    }
}

fn subject(record: &Record) -> Option<Oid> {
    verdict(record)?.subject
}

/// Returns the commit a verdict is stamped with.
fn stamped(record: &Record) -> Option<Oid> {
    let verdict = verdict(record)?;
    let named = || verdict.stamp.commit()?.parse().ok();
    verdict.head.or_else(named)
}

fn of_stamp(record: &Record, subject_of_commit: Oid) -> Binding {
    let clean = match subject(record) {
        Some(subject) => subject == subject_of_commit,
        None => verdict(record).is_some_and(|verdict| {
            matches!(
                verdict.stamp,
                Stamp::Commit {
                    tree: TreeState::Clean,
                    ..
                }
            )
        }),
    };
    if clean {
        Binding::Exact
    } else {
        Binding::Dirty
    }
}

fn line(record: &Record, binding: Binding) -> Option<String> {
    let outcome = verdict(record)?.outcome.as_str();
    let task: String = record
        .task
        .as_deref()?
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    Some(format!(
        "{} {outcome} {} {task}",
        record.id,
        binding.as_str()
    ))
}

/// Unites the lines with what the ref holds; starts over when somebody else moved it.
fn write(
    (repo, clock): (&Repo, &Clock),
    notes: impl Fn() -> Result<Notes, git::Error>,
    (lines, read): (&BTreeMap<Oid, BTreeSet<String>>, &Read<'_>),
) -> Result<usize, git::Error> {
    let (author, committer) = (
        repo.identity(Role::Author)?,
        repo.identity(Role::Committer)?,
    );
    let commit = NewCommit {
        author: &author,
        committer: &committer,
        time: clock.now_ms() / 1_000,
        message: b"notes of verdicts\n",
    };
    for _ in 0..ROUNDS {
        let notes = notes()?;
        let mut edits = BTreeMap::new();
        let mut commits: BTreeSet<Oid> = lines.keys().copied().collect();
        if !read.retracted.is_empty() {
            commits.extend(notes.objects());
        }
        for object in commits {
            let before = repo.note(&notes, object)?;
            let new = lines.get(&object);
            // What is said of a commit that was looked at is known; of another only what is taken back.
            let gone = match new {
                Some(_) => &read.known,
                None => &read.retracted,
            };
            let after = united(before.as_deref(), new, gone);
            if before.as_deref().unwrap_or_default() != after {
                edits.insert(object, (!after.is_empty()).then_some(after));
            }
        }
        if edits.is_empty() && notes.is_whole() {
            return Ok(0);
        }
        if repo.write_notes(&notes, &edits, &commit)? == Swapped::Done {
            return Ok(edits.len());
        }
    }
    Ok(0)
}

/// Returns the old lines without those of `gone`, and the new ones, sorted, each once.
fn united(
    before: Option<&[u8]>,
    new: Option<&BTreeSet<String>>,
    gone: &BTreeSet<RecordId>,
) -> Vec<u8> {
    let mut lines: BTreeSet<&[u8]> = BTreeSet::new();
    let old = before.unwrap_or_default().split(|byte| *byte == b'\n');
    lines.extend(old.filter(|line| !line.is_empty() && !is_of(line, gone)));
    lines.extend(new.into_iter().flatten().map(|line| line.as_bytes()));
    let mut text = Vec::new();
    for line in lines {
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    text
}

fn is_of(line: &[u8], gone: &BTreeSet<RecordId>) -> bool {
    let id = line.split(|byte| *byte == b' ').next().unwrap_or_default();
    std::str::from_utf8(id)
        .ok()
        .and_then(|id| id.parse().ok())
        .is_some_and(|id: RecordId| gone.contains(&id))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::united;

    #[test]
    fn lines_of_others_stay_and_ours_are_sorted_and_unique() {
        let new = BTreeSet::from(["b".to_owned(), "c".to_owned()]);
        let both = united(Some(b"c\na note of mine"), Some(&new), &BTreeSet::new());
        assert_eq!(both, b"a note of mine\nb\nc\n");
        assert_eq!(united(Some(&both), Some(&new), &BTreeSet::new()), both);
        assert_eq!(united(None, None, &BTreeSet::new()), b"");
    }
}
