//! Long evidence: blobs under their digests in the tree of the evidence ref.

use super::{
    Error, Store,
    object::{Object, Signed},
};
use crate::{
    git::{ObjectKind, TreeEntry},
    model::{Digest, Oid},
};

/// The longest evidence that is kept whole.
pub(super) const MAX_EVIDENCE: usize = 16 * 1024 * 1024;
const TREE: u32 = 0o40000;
const BLOB: u32 = 0o100_644;

/// What the evidence ref holds under a digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    Bytes(Vec<u8>),
    /// Bytes that have another digest: somebody put them there.
    Others,
    Nothing,
}

impl Store {
    /// Returns the bytes that the evidence ref holds under this digest; `None` when it holds none,
    /// or others.
    pub fn evidence(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        Ok(match self.held(digest)? {
            Held::Bytes(bytes) => Some(bytes),
            Held::Others | Held::Nothing => None,
        })
    }

    /// Returns what the evidence ref holds under this digest.
    pub fn held(&self, digest: &Digest) -> Result<Held, Error> {
        let Some(tip) = self.evidence_tip()? else {
            return Ok(Held::Nothing);
        };
        let root = self.overlaid(|| Ok(self.repo().commit(tip)?))?.tree;
        let (dir, name) = place(digest);
        let Some(dir) = named(&self.entries(root)?, &dir, TREE) else {
            return Ok(Held::Nothing);
        };
        let Some(blob) = named(&self.entries(dir)?, &name, BLOB) else {
            return Ok(Held::Nothing);
        };
        let bytes = self.overlaid(|| Ok(self.repo().blob(blob)?))?;
        Ok(match Digest::of(&bytes) == *digest {
            true => Held::Bytes(bytes),
            false => Held::Others,
        })
    }

    /// Returns what a commit that adds `pieces` to the evidence ref needs, the commit last; nothing
    /// when all of them are there.
    pub(super) fn add_evidence(
        &self,
        tip: Option<Oid>,
        pieces: Vec<Vec<u8>>,
        signed: &Signed,
    ) -> Result<Vec<Object>, Error> {
        let hash = self.repo().hash_kind();
        let mut objects = Vec::new();
        let old = match tip {
            Some(tip) => self.overlaid(|| Ok(self.repo().commit(tip)?))?.tree,
            None => self.repo().empty_tree(),
        };
        let mut root = self.entries(old)?;
        for bytes in pieces {
            if bytes.len() > MAX_EVIDENCE {
                return Err(Error::LongEvidence(bytes.len()));
            }
            let (dir, name) = place(&Digest::of(&bytes));
            let known = named(&root, &dir, TREE);
            let mut entries = match known {
                Some(id) => match objects.iter().find(|object: &&Object| object.id == id) {
                    Some(made) => self.parse_tree(&made.bytes)?,
                    None => self.entries(id)?,
                },
                None => Vec::new(),
            };
            let blob = Object::new(hash, ObjectKind::Blob, bytes);
            if named(&entries, &name, BLOB) == Some(blob.id) {
                continue;
            }
            put(&mut entries, &name, (BLOB, blob.id));
            let tree = Object::tree(hash, &entries);
            put(&mut root, &dir, (TREE, tree.id));
            objects.extend([blob, tree]);
        }
        if objects.is_empty() {
            return Ok(objects);
        }
        let tree = Object::tree(hash, &root);
        let parents: Vec<Oid> = tip.into_iter().collect();
        let commit = Object::commit(hash, (tree.id, &parents), signed, b"evidence\n");
        objects.extend([tree, commit]);
        Ok(objects)
    }

    pub(super) fn parse_tree(&self, bytes: &[u8]) -> Result<Vec<TreeEntry>, Error> {
        self.repo().lay_over([(ObjectKind::Tree, bytes.to_vec())]);
        let id = self.repo().hash(ObjectKind::Tree, bytes);
        Ok(self.repo().tree(id)?)
    }
}

/// `ab/<64 hex digits>`
pub(super) fn place(digest: &Digest) -> (String, String) {
    let name = digest.to_hex();
    (name[..2].to_owned(), name)
}

pub(super) fn named(entries: &[TreeEntry], name: &str, mode: u32) -> Option<Oid> {
    entries
        .iter()
        .find(|entry| entry.name == name.as_bytes() && entry.mode == mode)
        .map(|entry| entry.id)
}

fn put(entries: &mut Vec<TreeEntry>, name: &str, (mode, id): (u32, Oid)) {
    entries.retain(|entry| entry.name != name.as_bytes());
    entries.push(TreeEntry {
        mode,
        name: name.as_bytes().to_vec(),
        id,
    });
}
