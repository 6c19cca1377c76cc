use super::Identity;
use crate::model::Oid;

/// A commit to be made: who, when and why; its tree and parents come last.
#[derive(Clone, Debug)]
pub struct NewCommit<'a> {
    pub author: &'a Identity,
    pub committer: &'a Identity,
    /// Seconds since 1970, written as UTC.
    pub time: u64,
    pub message: &'a [u8],
}

impl NewCommit<'_> {
    /// Returns the commit's raw bytes; they depend on nothing but what is given, and are never signed.
    pub fn bytes(&self, tree: Oid, parents: &[Oid]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(256 + self.message.len());
        let mut line = |line: String| {
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
        };
        line(format!("tree {tree}"));
        for parent in parents {
            line(format!("parent {parent}"));
        }
        line(format!("author {} {} +0000", self.author, self.time));
        line(format!("committer {} {} +0000", self.committer, self.time));
        line(String::new());
        bytes.extend_from_slice(self.message);
        bytes
    }
}
