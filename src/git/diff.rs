use std::collections::BTreeMap;

use super::{Error, ObjectKind, Repo, TreeEntry, tree::tree_bytes};
use crate::model::{DeltaEntry, Oid, RepoPath};

const OWN: &[u8] = b".operator";
const TREE: u32 = 0o40000;

/// What stands at a name of a tree: mode and id.
type Side = Option<(u32, Oid)>;
type Entries = BTreeMap<Vec<u8>, (u32, Oid)>;

impl Repo {
    /// Returns the paths whose mode or content differs between two root trees, sorted, without what
    /// lies in `.operator` at the top; `None` is a root that does not exist. Only trees that differ are
    /// read, and no blob.
    pub fn diff_subjects(
        &self,
        old: Option<Oid>,
        new: Option<Oid>,
    ) -> Result<Vec<DeltaEntry>, Error> {
        self.diff_roots((old, new), |name| name != OWN)
    }

    /// The same with what lies in `.operator`.
    pub(super) fn diff_trees(
        &self,
        old: Option<Oid>,
        new: Option<Oid>,
    ) -> Result<Vec<DeltaEntry>, Error> {
        self.diff_roots((old, new), |_| true)
    }

    fn diff_roots(
        &self,
        (old, new): (Option<Oid>, Option<Oid>),
        wanted: impl Fn(&[u8]) -> bool,
    ) -> Result<Vec<DeltaEntry>, Error> {
        let mut found = Vec::new();
        if old != new {
            let old = self.named(old)?;
            let new = self.named(new)?;
            for name in merged_names(&old, &new).filter(|name| wanted(name)) {
                let sides = (side(&old, name), side(&new, name));
                self.diff_at(name.to_owned(), sides, &mut found)?;
            }
        }
        found.sort();
        Ok(found)
    }

    fn diff_at(
        &self,
        path: Vec<u8>,
        (old, new): (Side, Side),
        found: &mut Vec<DeltaEntry>,
    ) -> Result<(), Error> {
        if old == new {
            return Ok(());
        }
        let (old_tree, old_leaf) = split(old);
        let (new_tree, new_leaf) = split(new);
        if old_leaf != new_leaf {
            found.push(DeltaEntry {
                path: RepoPath::new(path.clone()),
                old: old_leaf,
                new: new_leaf,
            });
        }
        if old_tree != new_tree {
            let old = self.named(old_tree)?;
            let new = self.named(new_tree)?;
            for name in merged_names(&old, &new) {
                let below = [path.as_slice(), b"/", name].concat();
                self.diff_at(below, (side(&old, name), side(&new, name)), found)?;
            }
        }
        Ok(())
    }

    fn named(&self, tree: Option<Oid>) -> Result<Entries, Error> {
        let entries = tree.map_or_else(|| Ok(Vec::new()), |tree| self.tree(tree))?;
        Ok(entries
            .into_iter()
            .map(|entry| (entry.name, (entry.mode, entry.id)))
            .collect())
    }

    /// Returns the id of the subject that `delta` makes of the subject of `root`; nothing is written
    /// and no blob is read. `None` when the delta does not start from that subject, or makes no tree.
    pub fn apply_delta(
        &self,
        root: Option<Oid>,
        delta: &[DeltaEntry],
    ) -> Result<Option<Oid>, Error> {
        let mut entries = self.named(root)?;
        entries.remove(OWN);
        let paths: Option<Vec<_>> = delta.iter().map(Patch::of).collect();
        let Some(paths) = paths.filter(|_| delta.iter().all(|entry| entry.old != entry.new)) else {
            return Ok(None);
        };
        if paths.iter().any(|patch| patch.parts[0] == OWN) {
            return Ok(None);
        }
        let patches: Vec<&Patch<'_>> = paths.iter().collect();
        match self.patched(entries, &patches, 0)? {
            Some(entries) => Ok(Some(self.hash(ObjectKind::Tree, &bytes_of(entries)))),
            None => Ok(None),
        }
    }

    /// Applies what lies below one tree; `None` when a patch does not fit.
    fn patched(
        &self,
        mut entries: Entries,
        patches: &[&Patch<'_>],
        depth: usize,
    ) -> Result<Option<Entries>, Error> {
        let (leaves, below) = sorted(patches, depth);
        for (name, entry) in &leaves {
            let (_, leaf) = split(side(&entries, name));
            if leaf != entry.old {
                return Ok(None);
            }
            if leaf.is_some() {
                entries.remove(*name);
            }
        }
        for (name, patches) in below {
            let (tree, None) = split(side(&entries, name)) else {
                return Ok(None);
            };
            let Some(inside) = self.patched(self.named(tree)?, &patches, depth + 1)? else {
                return Ok(None);
            };
            if inside.is_empty() {
                entries.remove(name);
            } else {
                let id = self.hash(ObjectKind::Tree, &bytes_of(inside));
                entries.insert(name.to_owned(), (TREE, id));
            }
        }
        for (name, entry) in leaves {
            if let Some(new) = entry.new
                && entries.insert(name.to_owned(), new).is_some()
            {
                return Ok(None);
            }
        }
        Ok(Some(entries))
    }
}

type Sorted<'p, 'a> = (
    Vec<(&'a [u8], &'a DeltaEntry)>,
    BTreeMap<&'a [u8], Vec<&'p Patch<'a>>>,
);

/// Tells what lies at one tree from what lies deeper.
fn sorted<'p, 'a>(patches: &[&'p Patch<'a>], depth: usize) -> Sorted<'p, 'a> {
    let mut below: BTreeMap<&[u8], Vec<&Patch<'_>>> = BTreeMap::new();
    let mut leaves = Vec::new();
    for patch in patches {
        let name = patch.parts[depth];
        match patch.parts.len() - depth {
            1 => leaves.push((name, patch.entry)),
            _ => below.entry(name).or_default().push(patch),
        }
    }
    (leaves, below)
}

struct Patch<'a> {
    parts: Vec<&'a [u8]>,
    entry: &'a DeltaEntry,
}

impl<'a> Patch<'a> {
    /// `None` for a path that can stand in no tree, or a side that is no leaf.
    fn of(entry: &'a DeltaEntry) -> Option<Self> {
        let parts: Vec<&[u8]> = entry.path.as_bytes().split(|c| *c == b'/').collect();
        let named = parts
            .iter()
            .all(|part| !part.is_empty() && *part != b"." && *part != b"..");
        let leaf = |side: Side| {
            side.is_none_or(|(mode, _)| {
                matches!(mode, 0o100_644 | 0o100_755 | 0o120_000 | 0o160_000)
            })
        };
        (named && leaf(entry.new)).then_some(Self { parts, entry })
    }
}

fn bytes_of(entries: Entries) -> Vec<u8> {
    let entries: Vec<TreeEntry> = entries
        .into_iter()
        .map(|(name, (mode, id))| TreeEntry { mode, name, id })
        .collect();
    tree_bytes(&entries)
}

fn side(entries: &Entries, name: &[u8]) -> Side {
    entries.get(name).copied()
}

/// Tells a tree from what a tree's line otherwise is.
fn split(side: Side) -> (Option<Oid>, Side) {
    match side {
        Some((TREE, id)) => (Some(id), None),
        leaf => (None, leaf),
    }
}

fn merged_names<'a>(old: &'a Entries, new: &'a Entries) -> impl Iterator<Item = &'a [u8]> {
    let only_new = new.keys().filter(|name| !old.contains_key(*name));
    old.keys().chain(only_new).map(Vec::as_slice)
}
