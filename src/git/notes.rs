use std::collections::BTreeMap;

use super::{Error, Expected, NewCommit, ObjectKind, Repo, Swap, Swapped, TreeEntry, Verify};
use crate::model::Oid;

/// The notes of one ref as they were read: which blobs are noted on which object.
#[derive(Clone, Debug)]
pub struct Notes {
    name: String,
    tip: Option<Oid>,
    blobs: BTreeMap<Oid, Vec<Oid>>,
    /// What else lies in the tree; kept as it is.
    others: Vec<(Vec<u8>, TreeEntry)>,
    /// What the next commit of them stands on.
    parent: Option<Oid>,
}

/// What a tree that is gone means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lost {
    /// An error.
    Told,
    /// Its notes are left out.
    Left,
}

impl Notes {
    fn new(name: &str, tip: Option<Oid>) -> Self {
        Self {
            name: name.to_owned(),
            tip,
            blobs: BTreeMap::new(),
            others: Vec::new(),
            parent: None,
        }
    }

    /// Returns the objects that have a note, sorted by id.
    pub fn objects(&self) -> impl Iterator<Item = Oid> + '_ {
        self.blobs.keys().copied()
    }

    /// Says whether they are all that the ref holds, and not what is left of it.
    pub fn is_whole(&self) -> bool {
        self.parent == self.tip
    }

    /// Returns the commit the notes were read from.
    pub fn tip(&self) -> Option<Oid> {
        self.tip
    }
}

impl Repo {
    /// Reads which objects have notes under the ref `name`, in any fan-out, also a mixed one.
    pub fn notes(&self, name: &str) -> Result<Notes, Error> {
        let mut notes = Notes::new(name, self.read_ref(name)?);
        notes.parent = notes.tip;
        if let Some(tip) = notes.tip {
            let tree = self.commit(tip)?.tree;
            self.collect_notes((tree, Vec::new()), &mut notes, Lost::Told)?;
        }
        Ok(notes)
    }

    /// Reads the notes under the ref `name` that are left where objects of it are gone, as after a
    /// `git gc --prune=now` beside a writer (git-gc(1)). The next commit of them stands on nothing, for
    /// what it would stand on may be gone too.
    pub fn notes_left(&self, name: &str) -> Result<Notes, Error> {
        let mut notes = Notes::new(name, self.read_ref(name)?);
        let Some(tip) = notes.tip else {
            return Ok(notes);
        };
        match self.commit(tip) {
            Ok(commit) => self.collect_notes((commit.tree, Vec::new()), &mut notes, Lost::Left)?,
            Err(Error::MissingObject { .. }) => {}
            Err(error) => return Err(error),
        }
        for blobs in notes.blobs.values_mut() {
            blobs.retain(|blob| self.has(*blob));
        }
        notes.blobs.retain(|_, blobs| !blobs.is_empty());
        notes.others.retain(|(_, entry)| self.has(entry.id));
        Ok(notes)
    }

    /// Returns the note on an object; several, which a merge of fan-outs can leave, one after another.
    pub fn note(&self, notes: &Notes, object: Oid) -> Result<Option<Vec<u8>>, Error> {
        let Some(blobs) = notes.blobs.get(&object) else {
            return Ok(None);
        };
        let mut text = Vec::new();
        for id in blobs {
            text.extend(self.blob(*id)?);
        }
        Ok(Some(text))
    }

    /// Sets (or, with `None`, removes) many notes by one commit, in git's own fan-out, if the ref is
    /// still what `notes` was read from. What changes nothing makes no commit, unless they are what was
    /// left of a ref.
    pub fn write_notes(
        &self,
        notes: &Notes,
        edits: &BTreeMap<Oid, Option<Vec<u8>>>,
        commit: &NewCommit<'_>,
    ) -> Result<Swapped, Error> {
        let mut blobs = notes.blobs.clone();
        for (object, text) in edits {
            match text {
                None => drop(blobs.remove(object)),
                Some(text) => {
                    let blob = self.write_object(ObjectKind::Blob, text, Verify::No)?;
                    blobs.insert(*object, vec![blob]);
                }
            }
        }
        if blobs == notes.blobs && notes.is_whole() {
            return Ok(Swapped::Done);
        }
        let tree = self.write_notes_tree(blobs, &notes.others)?;
        let parents: Vec<Oid> = notes.parent.into_iter().collect();
        let bytes = commit.bytes(tree, &parents);
        let new = self.write_object(ObjectKind::Commit, &bytes, Verify::No)?;
        self.swap_ref(Swap {
            name: &notes.name,
            old: Expected::from_read(notes.tip),
            new,
            own: &[],
            wait: std::time::Duration::from_secs(1),
        })
    }

    fn collect_notes(
        &self,
        (tree, path): (Oid, Vec<u8>),
        notes: &mut Notes,
        lost: Lost,
    ) -> Result<(), Error> {
        let entries = match self.tree(tree) {
            Err(Error::MissingObject { .. }) if lost == Lost::Left => return Ok(()),
            read => read?,
        };
        for entry in entries {
            let name = [path.as_slice(), &entry.name].concat();
            let hex: Vec<u8> = name.iter().copied().filter(|c| *c != b'/').collect();
            let object = std::str::from_utf8(&hex)
                .ok()
                .and_then(|hex| hex.parse().ok());
            let is_fan = entry.is_tree() && is_hex(&entry.name) && entry.name.len() == 2;
            match object {
                Some(object) if !entry.is_tree() && hex.len() == self.hash_kind().hex_len() => {
                    notes.blobs.entry(object).or_default().push(entry.id);
                }
                _ if is_fan && hex.len() < self.hash_kind().hex_len() => {
                    let path = [name.as_slice(), b"/"].concat();
                    self.collect_notes((entry.id, path), notes, lost)?;
                }
                _ => notes.others.push((name, entry)),
            }
        }
        Ok(())
    }

    fn write_notes_tree(
        &self,
        blobs: BTreeMap<Oid, Vec<Oid>>,
        others: &[(Vec<u8>, TreeEntry)],
    ) -> Result<Oid, Error> {
        let mut placed = Vec::with_capacity(blobs.len());
        let mut notes = Vec::with_capacity(blobs.len());
        for (object, ids) in blobs {
            let blob = match ids.as_slice() {
                [one] => *one,
                several => {
                    let texts = several.iter().map(|id| self.blob(*id));
                    let text = texts.collect::<Result<Vec<_>, _>>()?.concat();
                    self.write_object(ObjectKind::Blob, &text, Verify::No)?
                }
            };
            notes.push((object.to_hex(), blob));
        }
        fan_out(&notes, 0, 0, &mut placed);
        let mut entries: BTreeMap<Vec<u8>, (u32, Oid)> = placed
            .into_iter()
            .map(|(path, blob)| (path, (0o100644, blob)))
            .collect();
        for (path, entry) in others {
            entries.insert(path.clone(), (entry.mode, entry.id));
        }
        self.write_paths(&entries)
    }
}

fn is_hex(name: &[u8]) -> bool {
    name.iter()
        .all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(c))
}

/// Gives each note the path git gives it.
///
/// git holds notes in a tree of 16 ways. A level of two hex digits becomes a directory where each of
/// the 16 ways at its top leads to two notes or more.
fn fan_out(
    notes: &[(String, Oid)],
    digit: usize,
    mut levels: usize,
    placed: &mut Vec<(Vec<u8>, Oid)>,
) {
    let ways: Vec<&[(String, Oid)]> = notes
        .chunk_by(|(one, _), (other, _)| one.as_bytes()[digit] == other.as_bytes()[digit])
        .collect();
    let full = ways.len() == 16 && ways.iter().all(|way| way.len() >= 2);
    if digit.is_multiple_of(2) && digit <= 2 * levels && full {
        levels += 1;
    }
    for way in ways {
        match way {
            [(hex, blob)] => {
                let (dirs, name) = hex.split_at(2 * levels);
                let mut path = Vec::with_capacity(hex.len() + levels);
                for dir in dirs.as_bytes().chunks(2) {
                    path.extend_from_slice(dir);
                    path.push(b'/');
                }
                path.extend_from_slice(name.as_bytes());
                placed.push((path, *blob));
            }
            several => fan_out(several, digit + 1, levels, placed),
        }
    }
}
