//! How a record is tied to a commit, computed anew each time.

use std::collections::HashMap;

use super::{
    Grade,
    source::{Seen, Source, Trees},
};
use crate::{
    git::{Ancestry, Error, change_digest, change_paths},
    model::{
        Change, Delta, DeltaEntry, Digest, Oid, RepoPath, Stamp, TreeState, Verdict, json::Value,
    },
    policy::Globs,
};

/// How far back along first parents a change is looked for.
const BASES: usize = 20;

/// How a record stands to the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    Bound(Grade),
    /// The target's history holds the commit it was made at, and the source differs.
    Stale(Vec<RepoPath>),
    /// It was made on a changed tree that is not the target's.
    DirtyUnmatched(Vec<RepoPath>),
    /// The commit it was made at is there, and not in the target's history.
    Unreachable(Vec<RepoPath>),
    UnknownCommit,
    /// It names no source.
    Unbound,
    /// The source changed while the command ran.
    Mutated,
    /// This clone lacks what would tell.
    Undecidable,
}

impl Binding {
    /// Returns the word of reports; whether a grade is fresh or weak is the criterion's say.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Bound(_) => "fresh",
            Self::Stale(_) => "stale",
            Self::DirtyUnmatched(_) => "dirty-unmatched",
            Self::Unreachable(_) => "unreachable",
            Self::UnknownCommit => "unknown-commit",
            Self::Unbound => "unbound",
            Self::Mutated => "mutated",
            Self::Undecidable => "undecidable",
        }
    }

    /// Returns the grade of one that is bound.
    pub fn grade(&self) -> Option<Grade> {
        match self {
            Self::Bound(grade) => Some(*grade),
            _ => None,
        }
    }

    /// Returns the paths that differ.
    pub fn paths(&self) -> &[RepoPath] {
        match self {
            Self::Stale(paths) | Self::DirtyUnmatched(paths) | Self::Unreachable(paths) => paths,
            Self::Bound(_)
            | Self::UnknownCommit
            | Self::Unbound
            | Self::Mutated
            | Self::Undecidable => &[],
        }
    }
}

/// What a verdict says of its source, the seed's stamp alone included.
#[derive(Clone, Debug)]
pub(super) struct Claim<'a> {
    pub(super) head: Option<Oid>,
    pub(super) subject: Option<Oid>,
    pub(super) clean: bool,
    stamp: &'a Stamp,
    change: Option<&'a Change>,
}

impl<'a> Claim<'a> {
    pub(super) fn of(verdict: &'a Verdict, source: &Source<'_>) -> Self {
        let named = (verdict.head, verdict.subject);
        let claim = Self::new(&verdict.stamp, named, source);
        Self {
            change: verdict.change.as_ref(),
            ..claim
        }
    }

    pub(super) fn new(
        stamp: &'a Stamp,
        (head, subject): (Option<Oid>, Option<Oid>),
        source: &Source<'_>,
    ) -> Self {
        let clean = matches!(
            stamp,
            Stamp::Commit {
                tree: TreeState::Clean,
                ..
            }
        );
        let head = head.or_else(|| {
            let id = stamp.commit()?;
            source.repo.find_commit(id)
        });
        let subject = subject.or_else(|| {
            // A clean stamp says that the subject was its commit's.
            let head = head.filter(|_| clean)?;
            match source.trees(head) {
                Seen::There(trees) => Some(trees.subject),
                Seen::Gone | Seen::Hidden => None,
            }
        });
        Self {
            head,
            subject,
            clean,
            stamp,
            change: None,
        }
    }

    fn names_commit(&self) -> bool {
        self.head.is_some() || self.stamp.commit().is_some()
    }
}

/// Binds a verdict by what the ids alone say: exact, tree, or how it fails to.
pub(super) fn bind(claim: &Claim<'_>, source: &Source<'_>) -> Result<Binding, Error> {
    let Some(target) = &source.target else {
        return Ok(Binding::Unbound);
    };
    if claim.subject == Some(target.trees.subject) {
        let exact = claim.clean && claim.head == Some(target.commit);
        return Ok(Binding::Bound(match exact {
            true => Grade::Exact,
            false => Grade::Tree,
        }));
    }
    if !claim.names_commit() || is_unknown(claim) {
        return Ok(Binding::Unbound);
    }
    let Some(head) = claim.head else {
        return Ok(lost(source));
    };
    match (source.trees(head), source.reach(head)?) {
        (Seen::Hidden, _) | (Seen::There(_), Ancestry::Undecidable) => Ok(Binding::Undecidable),
        (Seen::Gone, _) => Ok(Binding::UnknownCommit),
        (Seen::There(_), Ancestry::No) => Ok(Binding::Unreachable(Vec::new())),
        (Seen::There(_), Ancestry::Yes) if claim.clean => Ok(Binding::Stale(Vec::new())),
        (Seen::There(_), Ancestry::Yes) => Ok(Binding::DirtyUnmatched(Vec::new())),
    }
}

/// git could not say what the tree was, and nothing else does.
fn is_unknown(claim: &Claim<'_>) -> bool {
    let unknown = matches!(
        claim.stamp,
        Stamp::Commit {
            tree: TreeState::Unknown,
            ..
        }
    );
    unknown && claim.subject.is_none()
}

fn lost(source: &Source<'_>) -> Binding {
    match source.incomplete {
        true => Binding::Undecidable,
        false => Binding::UnknownCommit,
    }
}

/// What a delta of a record says, as far as it can be read.
pub(super) fn entries(
    verdict: &Verdict,
    stored: &dyn Fn(&Digest) -> Option<Vec<u8>>,
) -> Option<Vec<DeltaEntry>> {
    match &verdict.delta {
        None => Some(Vec::new()),
        Some(Delta::Inline(entries)) => Some(entries.clone()),
        Some(Delta::Stored { digest, .. }) => {
            let text = String::from_utf8(stored(digest)?).ok()?;
            let list = Value::parse(&text).ok()?;
            list.as_list()?.iter().map(DeltaEntry::from_value).collect()
        }
        Some(Delta::Omitted { .. }) => None,
    }
}

/// A record that is looked at more closely.
pub(super) struct Near<'a> {
    pub(super) claim: Claim<'a>,
    pub(super) entries: Option<Vec<DeltaEntry>>,
    pub(super) inputs: Option<&'a Globs>,
    /// The criterion takes the same change by its text; else nobody asks for that.
    pub(super) by_text: bool,
    pub(super) binding: Binding,
}

/// Looks for what still ties records to the target that ids alone do not: paths, scope, and the same
/// change elsewhere. All of them share at most one merge, one diff and one patch-id child.
pub(super) fn deepen(records: &mut [Near<'_>], source: &Source<'_>) -> Result<(), Error> {
    let Some(target) = &source.target else {
        return Ok(());
    };
    for near in records.iter_mut() {
        let paths = paths(near, source, target.trees)?;
        let scoped = paths.as_ref().is_some_and(|paths| {
            !paths.is_empty() && near.inputs.is_some_and(|inputs| outside(inputs, paths))
        });
        near.binding = match (&near.binding, paths) {
            (Binding::Bound(_), _) | (_, None) => continue,
            (_, Some(_)) if scoped => Binding::Bound(Grade::Scope),
            (Binding::Stale(_), Some(paths)) => Binding::Stale(paths),
            (Binding::DirtyUnmatched(_), Some(paths)) => Binding::DirtyUnmatched(paths),
            (Binding::Unreachable(_), Some(paths)) => Binding::Unreachable(paths),
            _ => continue,
        };
    }
    merges(records, source)?;
    changes(records, source)?;
    patches(records, source)
}

fn outside(inputs: &Globs, paths: &[RepoPath]) -> bool {
    paths
        .iter()
        .all(|path| !inputs.matches(&String::from_utf8_lossy(path.as_bytes())))
}

/// Returns the paths that differ between a record's subject and the target's; `None` where that
/// cannot be said.
fn paths(
    near: &Near<'_>,
    source: &Source<'_>,
    target: Trees,
) -> Result<Option<Vec<RepoPath>>, Error> {
    let (Some(head), Some(entries)) = (near.claim.head, &near.entries) else {
        return Ok(None);
    };
    let Seen::There(trees) = source.trees(head) else {
        return Ok(None);
    };
    let known = near.claim.clean || near.claim.subject.is_some();
    match source
        .repo
        .diff_subjects(Some(trees.root), Some(target.root))
    {
        Ok(since) if known => Ok(Some(change_paths(entries, &since))),
        Ok(since) => Ok(Some(since.into_iter().map(|entry| entry.path).collect())),
        Err(error) if error.is_absence() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Grade merge: the target's one parent and the record's commit make the target's tree.
fn merges(records: &mut [Near<'_>], source: &Source<'_>) -> Result<(), Error> {
    let Some(target) = &source.target else {
        return Ok(());
    };
    let [parent] = target.parents.as_slice() else {
        return Ok(());
    };
    let mut asked = Vec::new();
    for (at, near) in records.iter().enumerate() {
        let clean = near.entries.as_ref().is_some_and(Vec::is_empty);
        if let (Binding::Unreachable(_), Some(head), true) = (&near.binding, near.claim.head, clean)
        {
            asked.push((at, head));
        }
    }
    if asked.is_empty() || !source.repo.has(*parent) {
        return Ok(());
    }
    let heads: Vec<Oid> = asked.iter().map(|(_, head)| *head).collect();
    let merged = source.repo.merged_subjects(*parent, &heads)?;
    for ((at, _), subject) in asked.into_iter().zip(merged) {
        if subject == Some(target.trees.subject) {
            records[at].binding = Binding::Bound(Grade::Merge);
        }
    }
    Ok(())
}

/// Grade delta: the target makes the very change the record was made on.
fn changes(records: &mut [Near<'_>], source: &Source<'_>) -> Result<(), Error> {
    let Some(target) = &source.target else {
        return Ok(());
    };
    let mut made: Option<Vec<Digest>> = None;
    for near in records
        .iter_mut()
        .filter(|near| near.binding.grade().is_none())
    {
        let Some(wanted) = change_of(near, source, target.commit)? else {
            continue;
        };
        let made = match &made {
            Some(made) => made,
            None => made.insert(target_changes(source, target.trees.root)?),
        };
        if made.contains(&wanted) {
            near.binding = Binding::Bound(Grade::Delta);
        }
    }
    Ok(())
}

fn target_changes(source: &Source<'_>, root: Oid) -> Result<Vec<Digest>, Error> {
    let mut made = Vec::new();
    for (_, base) in source.bases(BASES) {
        let entries = match source.repo.diff_subjects(Some(base), Some(root)) {
            Ok(entries) => entries,
            Err(error) if error.is_absence() => break,
            Err(error) => return Err(error),
        };
        if !entries.is_empty() {
            made.push(change_digest(&entries));
        }
    }
    Ok(made)
}

/// Returns the digest of the change a record was made on: computed where its commits are there, else
/// as the record has it.
fn change_of(near: &Near<'_>, source: &Source<'_>, target: Oid) -> Result<Option<Digest>, Error> {
    let recorded = near.claim.change.map(|change| change.digest);
    let (Some(head), Some(delta)) = (near.claim.head, &near.entries) else {
        return Ok(recorded);
    };
    if !matches!(source.trees(head), Seen::There(_)) {
        return Ok(recorded);
    }
    let base = match near.claim.change {
        Some(change) => Some(change.base),
        None => base_of(source, head, target)?,
    };
    let (Some(base), Seen::There(head)) = (base, source.trees(head)) else {
        return Ok(recorded);
    };
    let Seen::There(base) = source.trees(base) else {
        return Ok(recorded);
    };
    let made = source
        .repo
        .diff_subjects(Some(base.root), Some(head.root))?;
    let whole = chained(&made, delta);
    Ok((!whole.is_empty()).then(|| change_digest(&whole)))
}

/// Where the record's history and the target's first parents met.
fn base_of(source: &Source<'_>, head: Oid, target: Oid) -> Result<Option<Oid>, Error> {
    let parents = match &source.target {
        Some(target) => target.parents.as_slice(),
        None => &[],
    };
    let other = parents.first().copied().unwrap_or(target);
    match source.repo.merge_base(head, other) {
        Err(error) if error.is_absence() => Ok(None),
        base => base,
    }
}

/// Returns one change followed by another as one change.
fn chained(first: &[DeltaEntry], then: &[DeltaEntry]) -> Vec<DeltaEntry> {
    let mut all: std::collections::BTreeMap<RepoPath, DeltaEntry> = first
        .iter()
        .map(|entry| (entry.path.clone(), entry.clone()))
        .collect();
    for entry in then {
        all.entry(entry.path.clone())
            .and_modify(|known| known.new = entry.new)
            .or_insert_with(|| entry.clone());
    }
    all.into_values()
        .filter(|entry| entry.old != entry.new)
        .collect()
}

/// Grade patch: the same change by its text.
fn patches(records: &mut [Near<'_>], source: &Source<'_>) -> Result<(), Error> {
    let Some(target) = &source.target else {
        return Ok(());
    };
    let mut pairs: Vec<(Oid, Oid)> = Vec::new();
    let mut wanted: HashMap<usize, Wanted> = HashMap::new();
    for (at, near) in records.iter().enumerate() {
        let settled = near.binding.grade().is_some() || near.binding == Binding::Undecidable;
        if settled || !near.by_text {
            continue;
        }
        if let Some(patch) = near.claim.change.and_then(|change| change.patch) {
            wanted.insert(at, Wanted::Id(patch));
        } else if let Some(pair) = pair_of(near, source, target.commit)? {
            wanted.insert(at, Wanted::Of(pair));
            pairs.push(pair);
        }
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let own: Vec<(Oid, Oid)> = source
        .bases(BASES)
        .into_iter()
        .map(|(_, base)| (base, target.trees.root))
        .collect();
    pairs.extend(&own);
    let ids = patch_ids(source, &pairs)?;
    let made: Vec<Oid> = own
        .iter()
        .filter_map(|pair| ids.get(pair).copied())
        .collect();
    for (at, wanted) in wanted {
        let id = match wanted {
            Wanted::Id(id) => Some(id),
            Wanted::Of(pair) => ids.get(&pair).copied(),
        };
        if id.is_some_and(|id| made.contains(&id)) {
            records[at].binding = Binding::Bound(Grade::Patch);
        }
    }
    Ok(())
}

enum Wanted {
    Id(Oid),
    Of((Oid, Oid)),
}

fn pair_of(near: &Near<'_>, source: &Source<'_>, target: Oid) -> Result<Option<(Oid, Oid)>, Error> {
    let clean = near.entries.as_ref().is_some_and(Vec::is_empty);
    let (Some(head), true) = (near.claim.head, clean) else {
        return Ok(None);
    };
    let Seen::There(tree) = source.trees(head) else {
        return Ok(None);
    };
    let Some(base) = base_of(source, head, target)? else {
        return Ok(None);
    };
    Ok(match source.trees(base) {
        Seen::There(base) if base.subject != tree.subject => Some((base.root, tree.root)),
        _ => None,
    })
}

fn patch_ids(source: &Source<'_>, pairs: &[(Oid, Oid)]) -> Result<HashMap<(Oid, Oid), Oid>, Error> {
    let mut unique = pairs.to_vec();
    unique.sort_unstable();
    unique.dedup();
    source.repo.patch_ids_of(&unique)
}
