//! What became of commits that records are stamped with.

use std::collections::BTreeSet;

use super::Error;
use crate::{
    git::{Clock, Repo},
    model::{Body, Draft, Oid, Owner, Record, Rewrite, RewritePair},
    store::{Store, Wait},
};

/// What fits a record's line with room to spare, also with SHA-256 ids.
const PAIRS: usize = 300;
/// How many of the newest commits of the ledger may already tell of the same rewrite.
const RECENT: usize = 64;

/// Records which commits were rewritten into which: `cause` is `amend`, `rebase` or `relink`. Pairs
/// that are known already are not recorded again; without a ledger there is nothing to tell.
pub fn rewritten(
    store: &Store,
    clock: &Clock,
    (cause, pairs): (&str, &[(Oid, Oid)]),
    session: Option<Owner>,
) -> Result<Vec<Record>, Error> {
    if pairs.is_empty() || store.tip()?.is_none() {
        return Ok(Vec::new());
    }
    let mut tx = store.begin(Wait::Command, *clock)?;
    let known = known(store)?;
    let mut seen = BTreeSet::new();
    let mut told = Vec::new();
    for pair in pairs {
        if cause != "amend" || !is_rebasing(store.repo()) || is_spoken_of(store, pair.0)? {
            told.push(pair);
        }
    }
    let fresh: Vec<RewritePair> = told
        .into_iter()
        .filter(|pair| pair.0 != pair.1 && !known.contains(*pair) && seen.insert(**pair))
        .map(|(old, new)| RewritePair {
            old: *old,
            new: *new,
            same: is_same(store.repo(), *old, *new),
        })
        .collect();
    if fresh.is_empty() {
        return Ok(Vec::new());
    }
    let drafts: Vec<Draft> = fresh
        .chunks(PAIRS)
        .map(|pairs| {
            let mut draft = Draft::new(Body::Rewrite(Rewrite {
                cause: cause.to_owned(),
                pairs: pairs.to_vec(),
            }));
            draft.owner.clone_from(&session);
            draft.session.clone_from(&session);
            draft
        })
        .collect();
    Ok(tx.commit(&drafts, Vec::new())?.records)
}

/// Says whether a rebase is under way. It tells of every commit when it ends; the amends on its way, of
/// fixups for one, are steps of it.
fn is_rebasing(repo: &Repo) -> bool {
    let dirs = ["rebase-merge", "rebase-apply"];
    dirs.iter().any(|dir| repo.git_dir().join(dir).is_dir())
}

/// Says whether a record was made on a commit.
fn is_spoken_of(store: &Store, commit: Oid) -> Result<bool, Error> {
    let ledger = store.of_commit(&commit)?;
    Ok(ledger
        .iter()
        .any(|record| !matches!(record.body, Body::Rewrite(_))))
}

/// Returns the pairs that the newest records tell of: a hook that is installed twice runs twice.
fn known(store: &Store) -> Result<BTreeSet<(Oid, Oid)>, Error> {
    let mut known = BTreeSet::new();
    for append in store.newest()?.take(RECENT) {
        for record in append?.records() {
            if let Body::Rewrite(rewrite) = &record.body {
                known.extend(rewrite.pairs.iter().map(|pair| (pair.old, pair.new)));
            }
        }
    }
    Ok(known)
}

/// Says whether two commits have the same subject; what cannot be read is not the same.
fn is_same(repo: &Repo, old: Oid, new: Oid) -> bool {
    let subject = |commit| repo.subject_tree(repo.commit(commit)?.tree);
    match (subject(old), subject(new)) {
        (Ok(old), Ok(new)) => old == new,
        (Err(_), _) | (_, Err(_)) => false,
    }
}
