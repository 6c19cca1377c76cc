use std::collections::{BTreeMap, HashMap, hash_map::Entry};

use super::{Error, ObjectKind, Repo, Verify};
use crate::model::{Oid, RepoPath};

/// One line of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// 0o40000 a tree, 0o100644 and 0o100755 files, 0o120000 a link, 0o160000 a submodule.
    pub mode: u32,
    pub name: Vec<u8>,
    pub id: Oid,
}

impl TreeEntry {
    pub fn is_tree(&self) -> bool {
        self.mode == 0o40000
    }

    /// git sorts a tree's name as if it ended in a slash.
    fn sort_key(&self) -> impl Iterator<Item = u8> {
        let slash = self.is_tree().then_some(b'/');
        self.name.iter().copied().chain(slash)
    }
}

impl Repo {
    /// Returns the id of the tree without entries, which git knows even where it is not stored.
    pub fn empty_tree(&self) -> Oid {
        self.hash(ObjectKind::Tree, b"")
    }

    /// Reads a tree's entries, in its order.
    pub fn tree(&self, id: Oid) -> Result<Vec<TreeEntry>, Error> {
        if id == self.empty_tree() {
            return Ok(Vec::new());
        }
        let bytes = self.read_kind(id, ObjectKind::Tree)?;
        let width = self.hash_kind().hex_len() / 2;
        parse(&bytes, width).ok_or_else(|| Error::Object {
            id,
            reason: "it is no tree".to_owned(),
        })
    }

    /// Writes the tree of these entries, in git's order; returns its id.
    pub fn write_tree(&self, entries: &[TreeEntry]) -> Result<Oid, Error> {
        self.write_object(ObjectKind::Tree, &tree_bytes(entries), Verify::No)
    }

    /// Returns the id of the tree without its entry named exactly `.operator`; nothing is written.
    pub fn subject_tree(&self, root: Oid) -> Result<Oid, Error> {
        let mut entries = self.tree(root)?;
        entries.retain(|entry| entry.name != b".operator");
        Ok(self.hash(ObjectKind::Tree, &tree_bytes(&entries)))
    }
}

/// Returns the raw bytes of the tree of these entries.
pub fn tree_bytes(entries: &[TreeEntry]) -> Vec<u8> {
    let mut sorted: Vec<&TreeEntry> = entries.iter().collect();
    sorted.sort_by(|one, other| one.sort_key().cmp(other.sort_key()));
    let mut bytes = Vec::new();
    for entry in sorted {
        bytes.extend_from_slice(format!("{:o} ", entry.mode).as_bytes());
        bytes.extend_from_slice(&entry.name);
        bytes.push(0);
        bytes.extend_from_slice(entry.id.as_bytes());
    }
    bytes
}

fn parse(mut bytes: &[u8], width: usize) -> Option<Vec<TreeEntry>> {
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let space = bytes.iter().position(|c| *c == b' ')?;
        let mode = std::str::from_utf8(&bytes[..space]).ok()?;
        let mode = u32::from_str_radix(mode, 8).ok()?;
        bytes = &bytes[space + 1..];
        let end = bytes.iter().position(|c| *c == 0)?;
        let name = bytes[..end].to_vec();
        let id = Oid::from_bytes(bytes.get(end + 1..end + 1 + width)?)?;
        bytes = &bytes[end + 1 + width..];
        entries.push(TreeEntry { mode, name, id });
    }
    Some(entries)
}

/// What a path is in a tree: its mode and its object.
pub type Place = (u32, Oid);

/// Trees of which each is read once, for looking up many paths.
pub struct Trees<'a> {
    repo: &'a Repo,
    read: HashMap<Oid, Vec<TreeEntry>>,
}

impl<'a> Trees<'a> {
    pub fn new(repo: &'a Repo) -> Self {
        Self {
            repo,
            read: HashMap::new(),
        }
    }

    /// Returns what lies at `path` in a tree; `None` when nothing does.
    pub fn place(&mut self, root: Oid, path: &RepoPath) -> Result<Option<Place>, Error> {
        let mut found = (0o40000, root);
        for name in path.as_bytes().split(|c| *c == b'/') {
            if found.0 != 0o40000 {
                return Ok(None);
            }
            let entries = match self.read.entry(found.1) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(self.repo.tree(found.1)?),
            };
            match entries.iter().find(|entry| entry.name == name) {
                Some(entry) => found = (entry.mode, entry.id),
                None => return Ok(None),
            }
        }
        Ok(Some(found))
    }
}

impl Repo {
    /// Returns what lies at `path` in a tree; `None` when nothing does.
    pub fn place(&self, root: Oid, path: &RepoPath) -> Result<Option<Place>, Error> {
        Trees::new(self).place(root, path)
    }

    /// Writes the trees that hold these objects at these paths; returns the root's id.
    pub fn write_paths(&self, places: &BTreeMap<Vec<u8>, Place>) -> Result<Oid, Error> {
        let mut entries = Vec::new();
        let mut dirs: BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, Place>> = BTreeMap::new();
        for (path, place) in places {
            match path.iter().position(|c| *c == b'/') {
                Some(slash) => {
                    let dir = dirs.entry(path[..slash].to_vec()).or_default();
                    dir.insert(path[slash + 1..].to_vec(), *place);
                }
                None => entries.push(TreeEntry {
                    mode: place.0,
                    name: path.clone(),
                    id: place.1,
                }),
            }
        }
        for (name, places) in dirs {
            let id = self.write_paths(&places)?;
            entries.push(TreeEntry {
                mode: 0o40000,
                name,
                id,
            });
        }
        self.write_tree(&entries)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{TreeEntry, parse, tree_bytes};
    use crate::model::Oid;

    proptest! {
        #[test]
        fn a_tree_of_any_bytes_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            for width in [20, 32] {
                let _ = parse(&bytes, width);
            }
        }

        #[test]
        fn what_is_written_reads_back(names in proptest::collection::btree_set("[a-z./]{1,6}", 0..9)) {
            let id = Oid::from_bytes(&[7; 20]).unwrap();
            let entries: Vec<TreeEntry> = names
                .iter()
                .map(|name| TreeEntry { mode: 0o100644, name: name.clone().into_bytes(), id })
                .collect();
            let read = parse(&tree_bytes(&entries), 20).unwrap();
            prop_assert_eq!(read, entries);
        }
    }

    #[test]
    fn a_truncated_tree_is_refused() {
        let id = Oid::from_bytes(&[7; 20]).unwrap();
        let entry = TreeEntry {
            mode: 0o40000,
            name: b"a".to_vec(),
            id,
        };
        let bytes = tree_bytes(&[entry]);
        for end in 1..bytes.len() {
            assert_eq!(parse(&bytes[..end], 20), None);
        }
    }
}
