//! The union of two ledgers: the same commit wherever the same two tips meet.

use std::collections::HashSet;

use super::{
    Error, Store, message,
    object::{Object, Signed},
};
use crate::{
    git::{ObjectKind, TreeEntry},
    model::{Digest, Oid},
};

/// What unites two tips.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Union {
    /// This one, which contains the other.
    One(Oid),
    /// A new commit with both for parents, and what it needs.
    Merge(Object, Vec<Object>),
}

impl Store {
    /// Returns the union of two tips of the ledger; nothing is written.
    pub(super) fn union_of(&self, one: Oid, other: Oid) -> Result<Union, Error> {
        if let Some(tip) = self.containing(one, other)? {
            return Ok(Union::One(tip));
        }
        let seq = self.seq_at(one)?.max(self.seq_at(other)?);
        let tree = self.empty_tree();
        let commit = self.merge_commit((one, other), tree.id, &message::union(seq))?;
        Ok(Union::Merge(commit, vec![tree]))
    }

    /// Returns the union of two tips of the evidence ref: the entries of both but those that are to
    /// go. A union that drops one has no parents, or they would keep it.
    pub(super) fn union_of_evidence(
        &self,
        one: Oid,
        other: Oid,
        gone: &HashSet<Digest>,
    ) -> Result<Union, Error> {
        let containing = self.containing(one, other)?;
        let mut objects = Vec::new();
        let trees = (self.tree_at(one)?, self.tree_at(other)?);
        let merged = match containing {
            Some(tip) => self.tree_at(tip)?,
            None => self.merge_trees(trees.0, trees.1, &mut objects)?,
        };
        self.lay_over_these(&objects);
        let mut kept = Vec::new();
        let root = self.without(merged, gone, &mut kept)?;
        if root != merged {
            objects.extend(kept);
            let commit = self.parentless((one, other), root)?;
            return Ok(Union::Merge(commit, objects));
        }
        match containing {
            Some(tip) => Ok(Union::One(tip)),
            None => {
                let commit = self.merge_commit((one, other), root, b"union of evidence\n")?;
                Ok(Union::Merge(commit, objects))
            }
        }
    }

    /// Says whether `tip` holds all the evidence of `live` but what records of `ledger` say is to go.
    pub(super) fn is_without_redacted(
        &self,
        tip: Oid,
        live: Oid,
        ledger: Option<Oid>,
    ) -> Result<bool, Error> {
        let gone = self.redacted(ledger)?;
        let mut objects = Vec::new();
        let wanted = self.tree_at(tip)?;
        let merged = self.merge_trees(self.tree_at(live)?, wanted, &mut objects)?;
        self.lay_over_these(&objects);
        Ok(!gone.is_empty() && self.without(merged, &gone, &mut Vec::new())? == wanted)
    }

    /// Returns the commit that holds what is left when evidence went.
    pub(super) fn parentless(&self, of: (Oid, Oid), root: Oid) -> Result<Object, Error> {
        let time = self.time_at(of.0)?.max(self.time_at(of.1)?);
        let signed = Signed::own(time);
        let hash = self.repo().hash_kind();
        let message = b"evidence, less what was redacted\n";
        Ok(Object::commit(hash, (root, &[]), &signed, message))
    }

    pub(super) fn lay_over_these(&self, objects: &[Object]) {
        let objects = objects.iter();
        self.repo()
            .lay_over(objects.map(|object| (object.kind, object.bytes.clone())));
    }

    /// Returns the one of two tips that contains the other.
    fn containing(&self, one: Oid, other: Oid) -> Result<Option<Oid>, Error> {
        if one == other {
            return Ok(Some(one));
        }
        let differ = self.overlaid(|| Ok(self.repo().difference(one, other)?))?;
        Ok(match (differ.left.is_empty(), differ.right.is_empty()) {
            (_, true) => Some(one),
            (true, false) => Some(other),
            (false, false) => None,
        })
    }

    pub(super) fn empty_tree(&self) -> Object {
        Object::new(self.repo().hash_kind(), ObjectKind::Tree, Vec::new())
    }

    pub(super) fn time_at(&self, commit: Oid) -> Result<i64, Error> {
        let read = self.overlaid(|| Ok(self.repo().commit(commit)?))?;
        Ok(read.committer_time)
    }

    pub(super) fn tree_at(&self, commit: Oid) -> Result<Oid, Error> {
        let read = self.overlaid(|| Ok(self.repo().commit(commit)?))?;
        Ok(read.tree)
    }

    fn merge_commit(
        &self,
        (one, other): (Oid, Oid),
        tree: Oid,
        message: &[u8],
    ) -> Result<Object, Error> {
        let time = self.time_at(one)?.max(self.time_at(other)?);
        let signed = Signed::own(time);
        let parents = [one.min(other), one.max(other)];
        let hash = self.repo().hash_kind();
        Ok(Object::commit(hash, (tree, &parents), &signed, message))
    }

    pub(super) fn entries(&self, tree: Oid) -> Result<Vec<TreeEntry>, Error> {
        self.overlaid(|| Ok(self.repo().tree(tree)?))
    }

    /// Returns the tree that holds the entries of both, and adds the trees it needs to `objects`.
    fn merge_trees(&self, one: Oid, other: Oid, objects: &mut Vec<Object>) -> Result<Oid, Error> {
        if one == other {
            return Ok(one);
        }
        let mut merged = self.entries(one)?;
        for entry in self.entries(other)? {
            match merged.iter_mut().find(|known| known.name == entry.name) {
                None => merged.push(entry),
                Some(known) if known.is_tree() && entry.is_tree() => {
                    known.id = self.merge_trees(known.id, entry.id, objects)?;
                }
                Some(known) => known.id = self.better(known, entry.id),
            }
        }
        let tree = Object::tree(self.repo().hash_kind(), &merged);
        let id = tree.id;
        objects.push(tree);
        Ok(id)
    }

    /// Returns which of two blobs under one digest is what it says, so that nobody's bytes hide it.
    fn better(&self, known: &TreeEntry, other: Oid) -> Oid {
        let digest: Option<Digest> = std::str::from_utf8(&known.name)
            .ok()
            .and_then(|name| name.parse().ok());
        let fits = |blob: Oid| {
            self.overlaid(|| Ok(self.repo().blob(blob)?))
                .is_ok_and(|bytes| Some(Digest::of(&bytes)) == digest)
        };
        match (known.id == other, fits(known.id), fits(other)) {
            (true, _, _) | (false, true, _) => known.id,
            (false, false, true) => other,
            (false, false, false) => known.id.min(other),
        }
    }
}
