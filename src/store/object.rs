use crate::{
    git::{self, HashKind, Identity, ObjectKind, TreeEntry},
    model::Oid,
};

/// An object that is about to be written, or was promised to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) id: Oid,
    pub(super) kind: ObjectKind,
    pub(super) bytes: Vec<u8>,
}

/// Who stands behind a commit, and when: seconds since 1970, always written as UTC.
#[derive(Clone, Debug)]
pub(super) struct Signed {
    pub(super) author: Identity,
    pub(super) committer: Identity,
    pub(super) author_time: i64,
    pub(super) committer_time: i64,
}

impl Signed {
    /// Returns the signature of a commit that no person stands behind.
    pub(super) fn own(time: i64) -> Self {
        Self {
            author: Identity::own(),
            committer: Identity::own(),
            author_time: time,
            committer_time: time,
        }
    }
}

impl Object {
    pub(super) fn new(hash: HashKind, kind: ObjectKind, bytes: Vec<u8>) -> Self {
        Self {
            id: hash.hash(kind, &bytes),
            kind,
            bytes,
        }
    }

    /// Returns the tree of these entries.
    pub(super) fn tree(hash: HashKind, entries: &[TreeEntry]) -> Self {
        Self::new(hash, ObjectKind::Tree, git::tree_bytes(entries))
    }

    /// Returns the commit of `tree` with these parents.
    pub(super) fn commit(
        hash: HashKind,
        (tree, parents): (Oid, &[Oid]),
        signed: &Signed,
        message: &[u8],
    ) -> Self {
        let mut text = format!("tree {tree}\n");
        for parent in parents {
            text.push_str(&format!("parent {parent}\n"));
        }
        let Signed {
            author,
            committer,
            author_time,
            committer_time,
        } = signed;
        text.push_str(&format!(
            "author {author} {author_time} +0000\ncommitter {committer} {committer_time} +0000\n\n"
        ));
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(message);
        Self::new(hash, ObjectKind::Commit, bytes)
    }
}
