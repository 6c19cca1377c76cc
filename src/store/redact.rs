//! Taking evidence out again: what a `redact` record names leaves the evidence ref, its history and the
//! journal of this clone, and every clone that learns of the record.

use std::collections::HashSet;

use super::{
    Committed, Error, REMOTES, Store, Transaction,
    evidence::{named, place},
    journal::Line,
    object::Object,
};
use crate::{
    git::{ObjectKind, TreeEntry},
    model::{Body, Digest, Draft, Oid, RecordId},
};

const TREE: u32 = 0o40000;
const BLOB: u32 = 0o100_644;

impl Store {
    /// Returns the record by which the evidence of this digest was taken away.
    pub fn redaction(&self, digest: &Digest) -> Result<Option<RecordId>, Error> {
        let ledger = self.of_kinds_at(self.tip()?, &["redact"])?;
        Ok(ledger
            .iter()
            .find(|record| matches!(&record.body, Body::Redact(redact) if redact.digest == *digest))
            .map(|record| record.id))
    }

    /// Returns the digests that records of `tip` say are to go.
    pub(super) fn redacted(&self, tip: Option<Oid>) -> Result<HashSet<Digest>, Error> {
        let ledger = self.of_kinds_at(tip, &["redact"])?;
        Ok(ledger
            .iter()
            .filter_map(|record| match &record.body {
                Body::Redact(redact) => Some(redact.digest),
                _ => None,
            })
            .collect())
    }

    /// Returns the tree without the evidence that is to go, and adds the trees it needs to `objects`.
    pub(super) fn without(
        &self,
        root: Oid,
        gone: &HashSet<Digest>,
        objects: &mut Vec<Object>,
    ) -> Result<Oid, Error> {
        let mut entries = self.entries(root)?;
        let mut changed = false;
        for digest in gone {
            let (dir, name) = place(digest);
            let Some(tree) = named(&entries, &dir, TREE) else {
                continue;
            };
            let mut below = match objects.iter().find(|object| object.id == tree) {
                Some(made) => self.parse_tree(&made.bytes)?,
                None => self.entries(tree)?,
            };
            if named(&below, &name, BLOB).is_none() {
                continue;
            }
            changed = true;
            below.retain(|entry| entry.name != name.as_bytes());
            entries.retain(|entry| entry.name != dir.as_bytes());
            if !below.is_empty() {
                let made = Object::tree(self.repo().hash_kind(), &below);
                entries.push(TreeEntry {
                    mode: TREE,
                    name: dir.into_bytes(),
                    id: made.id,
                });
                objects.push(made);
            }
        }
        if !changed {
            return Ok(root);
        }
        let made = Object::tree(self.repo().hash_kind(), &entries);
        let id = made.id;
        objects.push(made);
        Ok(id)
    }

    /// Deletes the tracking copies of evidence, which hold what is to go; the next sync fetches them.
    fn forget_fetched_evidence(&self) -> Result<(), Error> {
        for (name, tip) in self.repo().list_refs(REMOTES)? {
            if name.ends_with("/evidence") {
                self.repo().delete_ref(&name, tip)?;
            }
        }
        Ok(())
    }

    /// Returns everything the evidence tip needs but its history.
    fn needs(&self, tip: Option<Oid>) -> Result<HashSet<Oid>, Error> {
        let Some(tip) = tip else {
            return Ok(HashSet::new());
        };
        let root = self.tree_at(tip)?;
        let mut needs = HashSet::from([tip, root]);
        for dir in self.entries(root)? {
            needs.insert(dir.id);
            needs.extend(self.entries(dir.id)?.iter().map(|blob| blob.id));
        }
        Ok(needs)
    }
}

impl Transaction<'_> {
    /// Says whether a record says that this evidence is to go.
    pub fn is_redacted(&self, digest: &Digest) -> Result<bool, Error> {
        Ok(self.store.redacted(self.tips.ledger)?.contains(digest))
    }

    /// Leaves out what was redacted before: it would be taken out again.
    pub(super) fn kept(&self, evidence: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Error> {
        if evidence.is_empty() {
            return Ok(evidence);
        }
        let gone = self.store.redacted(self.tips.ledger)?;
        let (gone, kept): (Vec<_>, Vec<_>) = evidence
            .into_iter()
            .partition(|bytes| gone.contains(&Digest::of(bytes)));
        for bytes in gone {
            let digest = Digest::of(&bytes);
            self.store.left_out.borrow_mut().push(digest);
        }
        Ok(kept)
    }

    /// Records that evidence is to go, and takes it out of the evidence ref and the journals here. The
    /// excerpt in the record, what others fetched and old packs until a gc still hold it.
    pub fn redact(&mut self, draft: &Draft) -> Result<Committed, Error> {
        let mut committed = self.commit(std::slice::from_ref(draft), Vec::new())?;
        if let Err(error) = self.drop_redacted() {
            committed.unfinished = Some(error.to_string());
        }
        Ok(committed)
    }

    /// Takes out of the evidence ref and the journals what records say is to go.
    pub(super) fn drop_redacted(&mut self) -> Result<(), Error> {
        let gone = self.store.redacted(self.tips.ledger)?;
        let Some(tip) = self.tips.evidence.filter(|_| !gone.is_empty()) else {
            return Ok(());
        };
        let mut objects = Vec::new();
        let old = self.store.tree_at(tip)?;
        let root = self.store.without(old, &gone, &mut objects)?;
        if root == old {
            return Ok(());
        }
        objects.push(self.store.parentless((tip, tip), root)?);
        self.store.forget_fetched_evidence()?;
        let mut new = self.tips;
        new.evidence = objects.last().map(|commit| commit.id);
        self.land_tips(&objects, new)?;
        self.purge()
    }

    /// Begins the journals anew without the evidence nobody needs any more, and without its history.
    fn purge(&self) -> Result<(), Error> {
        let store = self.store;
        let Some(ledger) = self.tips.ledger else {
            return Ok(());
        };
        let needs = store.needs(self.tips.evidence)?;
        let empty = store.empty_tree().id;
        let of_ledger = |object: &Object| {
            object.id == empty
                || object.kind == ObjectKind::Commit
                    && object
                        .bytes
                        .starts_with(format!("tree {empty}\n").as_bytes())
        };
        let mut seen = HashSet::new();
        let lines = store.journal.read()?;
        let kept: Vec<&Object> = lines
            .iter()
            .flat_map(|line| &line.objects)
            .filter(|object| seen.insert(object.id))
            .filter(|object| of_ledger(object) || needs.contains(&object.id))
            .collect();
        let parts: Vec<(ObjectKind, &[u8])> = kept
            .iter()
            .map(|object| (object.kind, object.bytes.as_slice()))
            .collect();
        let pack = store.repo().write_pack(&parts)?;
        let line = Line::bare(ledger, self.tips.evidence, self.state.replica);
        // Twice: the generation before holds it too.
        store.journal.cut(&line)?;
        store.journal.cut(&line)?;
        store.repo().release_keep(pack)?;
        // What is not in the pack stays: whether a ref of the user's names it, git's own prune knows.
        let ids: Vec<Oid> = kept.iter().map(|object| object.id).collect();
        store.repo().remove_loose_copies(&ids)?;
        Ok(())
    }
}
