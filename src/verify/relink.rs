//! What became of the commits that stamps name and nothing reaches any more.

use std::collections::{BTreeSet, HashMap};

use super::Error;
use crate::{
    gate::Gate,
    git::{Range, Repo},
    model::{Body, Draft, Oid, Record, Rewrite, RewritePair, Verdict},
    store::{Store, Wait},
};

/// How many pairs one record names.
const PAIRS: usize = 400;

/// A commit of the range that is what a stamped one was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub old: Oid,
    pub new: Oid,
    /// Their subjects are equal; else their patches are.
    pub same: bool,
}

/// Finds, for each stamped commit that the end of the range does not reach, the commit of the range
/// with its subject, or else with its patch; pairs that are recorded are left out.
pub fn links(store: &Store, repo: &Repo, spec: &str) -> Result<Vec<Link>, Error> {
    let (from, to) = match repo.rev_range(spec)? {
        Range::Between { from, to } => (from, to),
        Range::Symmetric { left, right } => (left, right),
        Range::One(_) => return Err(Error::Relink(spec.to_owned())),
    };
    let range = repo.ancestors(&[to], &[from])?;
    let ledger = store.load()?;
    let known: BTreeSet<(Oid, Oid)> = ledger.iter().flat_map(pairs_of).collect();
    let mut links = find(repo, &range, &stamped(repo, &ledger, to)?)?;
    links.retain(|link| !known.contains(&(link.old, link.new)));
    Ok(links)
}

/// Records the pairs that [`links`] finds.
pub fn relink(
    gate: &Gate<'_>,
    repo: &Repo,
    spec: &str,
) -> Result<(Vec<Link>, Option<Record>), Error> {
    let links = links(gate.store, repo, spec)?;
    if links.is_empty() {
        return Ok((links, None));
    }
    let pairs = links.iter().take(PAIRS).map(|link| RewritePair {
        old: link.old,
        new: link.new,
        same: link.same,
    });
    let mut draft = Draft::new(Body::Rewrite(Rewrite {
        cause: "relink".to_owned(),
        pairs: pairs.collect(),
    }));
    draft.session = gate.session.cloned();
    let mut tx = gate.store.begin(Wait::Command, *gate.clock)?;
    let mut committed = tx.commit(&[draft], Vec::new())?;
    Ok((links, committed.records.pop()))
}

fn pairs_of(record: &Record) -> Vec<(Oid, Oid)> {
    match &record.body {
        Body::Rewrite(rewrite) => rewrite
            .pairs
            .iter()
            .map(|pair| (pair.old, pair.new))
            .collect(),
        _ => Vec::new(),
    }
}

/// A commit that a verdict was made at, and what the verdict says of its source.
struct Stamped {
    head: Oid,
    subject: Option<Oid>,
    patch: Option<Oid>,
}

/// Returns what stamps say of commits that `to` does not reach, each commit once.
fn stamped(repo: &Repo, ledger: &crate::ledger::Ledger, to: Oid) -> Result<Vec<Stamped>, Error> {
    let reached: BTreeSet<Oid> = repo.ancestors(&[to], &[])?.into_iter().collect();
    let mut found: HashMap<Oid, Stamped> = HashMap::new();
    for record in ledger.iter() {
        let Body::Verdict(verdict) = &record.body else {
            continue;
        };
        if let Some(head) = verdict.head.filter(|head| !reached.contains(head)) {
            found.insert(head, of_verdict(repo, head, verdict));
        }
    }
    let mut found: Vec<Stamped> = found.into_values().collect();
    found.sort_by_key(|one| one.head);
    Ok(found)
}

fn of_verdict(repo: &Repo, head: Oid, verdict: &Verdict) -> Stamped {
    let tree = repo.commit(head).ok().map(|commit| commit.tree);
    let subject = tree.and_then(|tree| repo.subject_tree(tree).ok());
    let clean = verdict.delta.is_none();
    Stamped {
        head,
        subject: subject.or(verdict.subject.filter(|_| clean)),
        patch: verdict
            .change
            .as_ref()
            .filter(|_| clean)
            .and_then(|change| change.patch),
    }
}

fn find(repo: &Repo, range: &[Oid], stamped: &[Stamped]) -> Result<Vec<Link>, Error> {
    let mut subjects: HashMap<Oid, Oid> = HashMap::new();
    let mut pairs = Vec::new();
    for commit in range {
        let read = repo.commit(*commit)?;
        // The oldest commit of a subject is the one that made it.
        subjects.insert(repo.subject_tree(read.tree)?, *commit);
        if let [parent] = read.parents.as_slice() {
            pairs.push((*commit, (repo.commit(*parent)?.tree, read.tree)));
        }
    }
    let mut links = Vec::new();
    let mut patches = Vec::new();
    for one in stamped {
        match one.subject.and_then(|subject| subjects.get(&subject)) {
            Some(new) => links.push(Link {
                old: one.head,
                new: *new,
                same: true,
            }),
            None => patches.push((one.head, own_patch(repo, one)?)),
        }
    }
    links.extend(by_patch(repo, &pairs, &patches)?);
    Ok(links)
}

enum Patch {
    Id(Oid),
    Of((Oid, Oid)),
    Unknown,
}

/// Where a record keeps no patch id, that of its commit stands for it.
fn own_patch(repo: &Repo, one: &Stamped) -> Result<Patch, Error> {
    if let Some(patch) = one.patch {
        return Ok(Patch::Id(patch));
    }
    let Ok(commit) = repo.commit(one.head) else {
        return Ok(Patch::Unknown);
    };
    Ok(match commit.parents.as_slice() {
        [parent] => match repo.commit(*parent) {
            Ok(parent) => Patch::Of((parent.tree, commit.tree)),
            Err(_) => Patch::Unknown,
        },
        _ => Patch::Unknown,
    })
}

fn by_patch(
    repo: &Repo,
    range: &[(Oid, (Oid, Oid))],
    wanted: &[(Oid, Patch)],
) -> Result<Vec<Link>, Error> {
    let asked: Vec<(Oid, Oid)> = wanted
        .iter()
        .filter_map(|(_, patch)| match patch {
            Patch::Of(pair) => Some(*pair),
            Patch::Id(_) | Patch::Unknown => None,
        })
        .collect();
    if wanted
        .iter()
        .all(|(_, patch)| matches!(patch, Patch::Unknown))
    {
        return Ok(Vec::new());
    }
    let all: Vec<(Oid, Oid)> = range.iter().map(|(_, pair)| *pair).chain(asked).collect();
    let ids = repo.patch_ids_of(&all)?;
    let made: HashMap<Oid, Oid> = range
        .iter()
        .filter_map(|(commit, pair)| Some((*ids.get(pair)?, *commit)))
        .collect();
    let link = |(old, patch): &(Oid, Patch)| {
        let id = match patch {
            Patch::Id(id) => *id,
            Patch::Of(pair) => *ids.get(pair)?,
            Patch::Unknown => return None,
        };
        let new = *made.get(&id)?;
        Some(Link {
            old: *old,
            new,
            same: false,
        })
    };
    Ok(wanted.iter().filter_map(link).collect())
}
