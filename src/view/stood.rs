//! Hand-written text that somebody took out of a view by hand: it stays out. Where the file is gone,
//! cut short or of another branch, its text comes back.

use std::{
    collections::{BTreeSet, HashSet},
    fs, io,
};

use serde::{Deserialize, Serialize};

use super::{
    Document, Error, Items, View, What,
    blocks::{Block, blocks, heading, present},
    files,
    refresh::{save, state_path},
};
use crate::{
    git::{Ancestry, Repo},
    model::{Oid, RecordId, RepoPath},
    store::Store,
};

/// More blocks than this are not kept in mind, and come back.
const LIMIT: usize = 1_000;

/// The blocks of a view when we wrote it last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Stood {
    head: Option<String>,
    /// The newest row.
    seq: u64,
    blocks: BTreeSet<String>,
}

/// Keeps in mind which blocks stand in the view.
pub(super) fn remember(store: &Store, view: View, items: &Items) -> Result<(), Error> {
    let path = state_path(store, view).with_extension("blocks");
    let live = items.blocks().map(|(id, _)| id.to_string());
    let stood = Stood {
        head: store.repo().head()?.commit().map(|head| head.to_hex()),
        seq: items.items.iter().map(|item| item.seq).max().unwrap_or(0),
        blocks: live.take(LIMIT).collect(),
    };
    if stood.blocks.is_empty() && !path.exists() {
        return Ok(());
    }
    save(&path, &stood).map_err(Error::State)
}

/// Returns the blocks that stood in the view and that somebody took out of it.
///
/// They stood there when we wrote it last, or stand in the version of HEAD. What was written at a
/// commit that HEAD does not contain says nothing of this branch; nor does a file that lacks rows, too.
pub(super) fn removed(
    store: &Store,
    view: View,
    items: &Items,
    file: Option<&Document>,
) -> Result<HashSet<RecordId>, Error> {
    let Some(document) = file else {
        return Ok(HashSet::new());
    };
    if items.blocks().next().is_none() {
        return Ok(HashSet::new());
    }
    let here = present(view, items, document);
    let missing: HashSet<RecordId> = items
        .blocks()
        .map(|(id, _)| id)
        .filter(|id| !here.contains(id))
        .collect();
    if missing.is_empty() {
        return Ok(missing);
    }
    let rows = rows(view, document);
    let mut gone = HashSet::new();
    let head = store.repo().head()?.commit();
    if let Some(stood) = read(store, view).map_err(Error::State)?
        && is_of(store.repo(), &stood, head)?
        && lacks_none(items, &rows, stood.seq)
    {
        let stood_here = |id: &&RecordId| stood.blocks.contains(id.as_str());
        gone.extend(missing.iter().filter(stood_here));
    }
    if let Some(bytes) = version(store.repo(), view, head)? {
        let before = Document::parse(&bytes);
        if self::rows(view, &before).is_subset(&rows) {
            let there = blocks(view, items, &before).into_iter();
            let there = there.filter_map(|block| block.known);
            gone.extend(there.filter(|id| missing.contains(id)));
        }
    }
    Ok(gone)
}

/// Forgets that a record holds a block when it was taken out and somebody typed it again. One that
/// HEAD has is not new: there the file does not know yet that it was taken out.
pub(super) fn typed_again(
    store: &Store,
    view: View,
    items: &Items,
    found: &mut [Block],
) -> Result<(), Error> {
    let live: HashSet<RecordId> = items.blocks().map(|(id, _)| id).collect();
    let headings: HashSet<&str> = items
        .blocks()
        .filter_map(|(_, text)| heading(text))
        .collect();
    let is_out = |block: &Block| {
        let known = block.known.is_some_and(|id| !live.contains(&id));
        known && heading(&block.text).is_some_and(|line| !headings.contains(line))
    };
    if !found.iter().any(is_out) {
        return Ok(());
    }
    let head = store.repo().head()?.commit();
    let bytes = version(store.repo(), view, head)?.unwrap_or_default();
    let before = blocks(view, items, &Document::parse(&bytes));
    for block in found.iter_mut().filter(|block| is_out(block)) {
        if !before.iter().any(|old| old.text == block.text) {
            block.known = None;
        }
    }
    Ok(())
}

fn read(store: &Store, view: View) -> io::Result<Option<Stood>> {
    let path = state_path(store, view).with_extension("blocks");
    match fs::read(path) {
        // What we cannot read says nothing.
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Says whether the view was written at HEAD or at a commit it contains.
fn is_of(repo: &Repo, stood: &Stood, head: Option<Oid>) -> Result<bool, Error> {
    let then: Option<Oid> = stood.head.as_deref().and_then(|text| text.parse().ok());
    Ok(match (then, head) {
        (None, _) => stood.head.is_none(),
        (Some(then), Some(head)) => repo.is_ancestor(then, head)? == Ancestry::Yes,
        (Some(_), None) => false,
    })
}

/// Says whether the file shows every row up to `seq`.
fn lacks_none(items: &Items, rows: &HashSet<String>, seq: u64) -> bool {
    items.items.iter().all(|item| match &item.what {
        What::Row { key, .. } => item.seq > seq || rows.contains(key),
        What::Block(_) => true,
    })
}

fn rows(view: View, document: &Document) -> HashSet<String> {
    let rows = document.lines.iter().filter_map(|line| line.row());
    rows.filter(|row| row.view == view)
        .map(|row| row.key.clone())
        .collect()
}

/// Returns the view as HEAD has it.
fn version(repo: &Repo, view: View, head: Option<Oid>) -> Result<Option<Vec<u8>>, Error> {
    let Some(head) = head else {
        return Ok(None);
    };
    let path = RepoPath::new(files::path(view).into_bytes());
    let place = repo.place(repo.commit(head)?.tree, &path)?;
    Ok(match place {
        Some((mode, blob)) if mode & 0o170_000 == 0o100_000 => Some(repo.blob(blob)?),
        Some(_) | None => None,
    })
}
