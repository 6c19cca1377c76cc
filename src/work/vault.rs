//! Bytes kept for a session: packs that no gc takes, named by one ref.

use std::{collections::HashSet, time::Duration};

use serde::{Deserialize, Serialize};

use super::Error;
use crate::{
    git::{Expected, Mark, ObjectKind, Repo, Swap, TreeEntry, tree_bytes},
    model::Oid,
};

/// How many packs are made before they become one.
const PACKS: usize = 20;
/// How many bytes one pack is made of.
const PACK: u64 = 64 << 20;
/// How many bytes a vault keeps.
pub(crate) const ROOM: u64 = 256 << 20;
/// A pack of ours that no state names is a dead process's after this long.
const ORPHANED: Duration = Duration::from_secs(3_600);

/// Which ref and whose packs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// What calls may need to be undone.
    Work,
    /// Other people's uncommitted work that vanished.
    Rescue,
}

/// The packs of one session in one space.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(crate) struct Vault {
    packs: Vec<Pack>,
    /// Counts packs ever made; each holds its number, so no two are the same.
    made: u64,
    /// Packs that are no longer needed once the state that says so is written.
    stale: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
struct Pack {
    name: String,
    bytes: u64,
    #[serde(with = "hex_list")]
    blobs: Vec<Oid>,
    /// Lists the blobs and, as `before`, the tree of the pack before.
    #[serde(with = "super::state::hex_id")]
    tree: Oid,
}

/// A vault with where it is.
pub(crate) struct Open<'a> {
    pub(crate) repo: &'a Repo,
    pub(crate) space: Space,
    pub(crate) key: &'a str,
    pub(crate) vault: &'a mut Vault,
}

impl Space {
    fn word(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Rescue => "rescue",
        }
    }
}

impl Vault {
    pub(crate) fn kept(&self) -> HashSet<Oid> {
        self.packs
            .iter()
            .flat_map(|pack| pack.blobs.iter().copied())
            .collect()
    }

    pub(crate) fn room(&self) -> u64 {
        let used: u64 = self.packs.iter().map(|pack| pack.bytes).sum();
        ROOM.saturating_sub(used)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.packs.iter().map(|pack| pack.bytes).sum()
    }
}

impl Open<'_> {
    /// Returns the name of the ref.
    pub(crate) fn refname(&self) -> String {
        format!("refs/operator-local/{}/{}", self.space.word(), self.key)
    }

    fn mark(&self) -> Mark {
        Mark::new(&format!("{}/{}", self.space.word(), self.key))
    }

    /// Keeps blobs that are not kept yet.
    pub(crate) fn add(&mut self, fresh: Vec<(Oid, Vec<u8>)>) -> Result<(), Error> {
        if fresh.is_empty() {
            return Ok(());
        }
        let mut group: Vec<(Oid, Vec<u8>)> = Vec::new();
        let mut size = 0;
        for (id, bytes) in fresh {
            if size > 0 && size + bytes.len() as u64 > PACK {
                self.pack(std::mem::take(&mut group))?;
                size = 0;
            }
            size += bytes.len() as u64;
            group.push((id, bytes));
        }
        self.pack(group)?;
        self.point();
        Ok(())
    }

    fn pack(&mut self, blobs: Vec<(Oid, Vec<u8>)>) -> Result<(), Error> {
        self.vault.made += 1;
        let number = self.vault.made;
        let note = format!("git-operator {} {} {number}\n", self.space.word(), self.key);
        let note_id = self.repo.hash(ObjectKind::Blob, note.as_bytes());
        let mut entries = vec![file("note", note_id)];
        entries.extend(blobs.iter().map(|(id, _)| file(&id.to_hex(), *id)));
        entries.extend(self.vault.packs.last().map(|pack| TreeEntry {
            mode: 0o40_000,
            name: b"before".to_vec(),
            id: pack.tree,
        }));
        let listing = tree_bytes(&entries);
        let mut objects: Vec<(ObjectKind, &[u8])> = vec![
            (ObjectKind::Blob, note.as_bytes()),
            (ObjectKind::Tree, &listing),
        ];
        objects.extend(
            blobs
                .iter()
                .map(|(_, bytes)| (ObjectKind::Blob, bytes.as_slice())),
        );
        self.vault.packs.push(Pack {
            name: self.repo.keep_pack(&objects, &self.mark())?,
            bytes: blobs.iter().map(|(_, bytes)| bytes.len() as u64).sum(),
            blobs: blobs.iter().map(|(id, _)| *id).collect(),
            tree: self.repo.hash(ObjectKind::Tree, &listing),
        });
        Ok(())
    }

    /// Lets the ref name all packs. The packs stay without it, so its being held by somebody else is
    /// no reason to lose the call: the next one moves it.
    fn point(&self) {
        let name = self.refname();
        let Some(newest) = self.vault.packs.last() else {
            return;
        };
        let Ok(old) = self.repo.read_ref(&name) else {
            return;
        };
        let swap = Swap {
            name: &name,
            old: Expected::from_read(old),
            new: newest.tree,
            own: &[newest.tree],
            wait: Duration::from_millis(200),
        };
        // Not even a failure to write it is one of the call.
        let _ = self.repo.swap_ref(swap);
    }

    /// Says whether there are so many packs that [`Self::merge`] is due.
    pub(crate) fn is_full(&self) -> bool {
        self.vault.packs.len() >= PACKS || self.vault.room() < ROOM / 4
    }

    /// Replaces the packs by ones of what is needed only.
    pub(crate) fn merge(&mut self, needed: &HashSet<Oid>) -> Result<(), Error> {
        let old = std::mem::take(&mut self.vault.packs);
        let mut seen = HashSet::new();
        let all = old.iter().flat_map(|pack| &pack.blobs);
        let wanted = all.filter(|id| needed.contains(id) && seen.insert(**id));
        let mut group = Vec::new();
        let mut size = 0;
        for id in wanted {
            // One that is gone cannot be kept; whoever wants it back is told.
            let Ok(bytes) = self.repo.blob(*id) else {
                continue;
            };
            if size > 0 && size + bytes.len() as u64 > PACK {
                self.pack(std::mem::take(&mut group))?;
                size = 0;
            }
            size += bytes.len() as u64;
            group.push((*id, bytes));
        }
        if !group.is_empty() {
            self.pack(group)?;
        }
        match self.vault.packs.is_empty() {
            true => self.forget_ref()?,
            false => self.point(),
        }
        let stale = old.into_iter().map(|pack| pack.name);
        self.vault.stale.extend(stale);
        Ok(())
    }

    /// Keeps nothing any more.
    pub(crate) fn clear(&mut self) -> Result<(), Error> {
        self.forget_ref()?;
        let packs = std::mem::take(&mut self.vault.packs);
        self.vault
            .stale
            .extend(packs.into_iter().map(|pack| pack.name));
        Ok(())
    }

    fn forget_ref(&self) -> Result<(), Error> {
        let name = self.refname();
        if let Some(old) = self.repo.read_ref(&name)? {
            self.repo.delete_ref(&name, old)?;
        }
        Ok(())
    }

    /// Removes what is no longer needed; the state that says so must be on disk. Says whether there was
    /// anything.
    pub(crate) fn sweep(&mut self) -> Result<bool, Error> {
        if self.vault.stale.is_empty() {
            return Ok(false);
        }
        let kept = self.vault.kept();
        self.repo
            .drop_packs(&self.vault.stale, &self.mark(), &kept)?;
        self.vault.stale.clear();
        Ok(true)
    }

    /// Marks as stale the packs that a process left which died before its state was written.
    pub(crate) fn find_orphans(&mut self) -> Result<(), Error> {
        for name in self.repo.marked_packs(&self.mark(), ORPHANED)? {
            let known = self.vault.packs.iter().any(|pack| pack.name == name);
            if !known && !self.vault.stale.contains(&name) {
                self.vault.stale.push(name);
            }
        }
        Ok(())
    }
}

fn file(name: &str, id: Oid) -> TreeEntry {
    TreeEntry {
        mode: 0o100_644,
        name: name.as_bytes().to_vec(),
        id,
    }
}

mod hex_list {
    use std::fmt;

    use serde::{
        Deserializer, Serializer,
        de::{Error, SeqAccess, Visitor},
    };

    use crate::model::Oid;

    /// One text for all: a pack may hold thousands.
    pub(super) fn serialize<S: Serializer>(ids: &[Oid], serializer: S) -> Result<S::Ok, S::Error> {
        let texts: Vec<String> = ids.iter().map(Oid::to_hex).collect();
        serializer.serialize_str(&texts.join(" "))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Oid>, D::Error> {
        deserializer.deserialize_any(Form)
    }

    struct Form;

    impl<'de> Visitor<'de> for Form {
        type Value = Vec<Oid>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("object ids")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Vec<Oid>, E> {
            let ids = text.split_ascii_whitespace();
            ids.map(|id| id.parse().map_err(E::custom)).collect()
        }

        /// The form of before.
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<Oid>, A::Error> {
            let mut ids = Vec::new();
            while let Some(text) = seq.next_element::<String>()? {
                ids.push(text.parse().map_err(A::Error::custom)?);
            }
            Ok(ids)
        }
    }
}
