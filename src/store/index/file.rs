//! The bytes of the index: a header, the checksums of the blocks, the blocks.
//!
//! The blocks hold the ids of commits, then one sorted table after the other; an entry of a table is
//! eight bytes of number and four of a commit's place, all big-endian.

use std::{cell::RefCell, collections::HashMap, fs, os::unix::fs::FileExt, path::Path, rc::Rc};

use super::{
    Append,
    key::{self, Key, Table},
};
use crate::{git::HashKind, model::Oid};

const MAGIC: &[u8; 24] = b"git-operator index 1\n\0\0\0";
const BLOCK: usize = 4096;
const SUM: usize = 8;
const ENTRY: usize = 12;
const DIGEST: usize = 32;
/// Magic, tip, digest of the checksums, the number of commits and of each table's entries.
const HEADER: usize = MAGIC.len() + 32 + DIGEST + 8 + Table::ALL.len() * 8;

/// What an index holds, in memory.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) tip: Option<Oid>,
    commits: Vec<Oid>,
    tables: [Vec<(u64, u32)>; Table::ALL.len()],
}

impl Contents {
    pub(super) fn add(&mut self, append: &Append) {
        if append.entries.is_empty() {
            return;
        }
        let Ok(place) = u32::try_from(self.commits.len()) else {
            return;
        };
        self.commits.push(append.commit);
        for key in append.entries.iter().flat_map(key::keys) {
            self.tables[key.table as usize].push((key.from, place));
        }
    }

    pub(super) fn into_bytes(mut self, hash: HashKind) -> Vec<u8> {
        let entries: usize = self.tables.iter().map(Vec::len).sum();
        let mut data = Vec::with_capacity(self.commits.len() * 32 + entries * ENTRY);
        for commit in &self.commits {
            data.extend_from_slice(commit.as_bytes());
        }
        let mut counts = vec![self.commits.len() as u64];
        for entries in &mut self.tables {
            // What was read is in order but for what came since, which a stable sort makes use of.
            entries.sort();
            entries.dedup();
            counts.push(entries.len() as u64);
            for (number, place) in entries {
                let mut entry = [0; ENTRY];
                entry[..8].copy_from_slice(&number.to_be_bytes());
                entry[8..].copy_from_slice(&place.to_be_bytes());
                data.extend_from_slice(&entry);
            }
        }
        let sums: Vec<u8> = data.chunks(BLOCK).flat_map(sum).collect();
        let mut header = MAGIC.to_vec();
        let tip = self.tip.map(|tip| tip.as_bytes().to_vec());
        let mut tip = tip.unwrap_or_else(|| vec![0; hash.hex_len() / 2]);
        tip.resize(32, 0);
        header.extend_from_slice(&tip);
        header.extend_from_slice(blake3::hash(&sums).as_bytes());
        for count in counts {
            header.extend_from_slice(&count.to_be_bytes());
        }
        let digest = *blake3::hash(&header).as_bytes();
        [header, digest.to_vec(), sums, data].concat()
    }
}

fn sum(block: &[u8]) -> [u8; SUM] {
    let mut sum = [0; SUM];
    sum.copy_from_slice(&blake3::hash(block).as_bytes()[..SUM]);
    sum
}

/// An index on the disk, read block by block as far as a question needs it.
pub(super) struct File {
    file: fs::File,
    width: usize,
    tip: Oid,
    commits: u64,
    tables: [u64; Table::ALL.len()],
    sums: Vec<u8>,
    blocks: RefCell<HashMap<usize, Rc<Vec<u8>>>>,
}

impl File {
    /// Opens an index; `None` when there is none, or none of ours that is whole.
    pub(super) fn open(path: &Path, hash: HashKind) -> Option<Self> {
        let file = fs::File::open(path).ok()?;
        let mut header = [0; HEADER + DIGEST];
        file.read_exact_at(&mut header, 0).ok()?;
        let (header, digest) = header.split_at(HEADER);
        if !header.starts_with(MAGIC) || blake3::hash(header).as_bytes() != digest {
            return None;
        }
        let width = hash.hex_len() / 2;
        let (tip, rest) = header[MAGIC.len()..].split_at(32);
        let (digest, rest) = rest.split_at(DIGEST);
        let mut counts = rest.chunks_exact(8).map(number);
        let commits = counts.next()?;
        let mut tables = [0; Table::ALL.len()];
        for table in &mut tables {
            *table = counts.next()?;
        }
        let len = size(commits, width)?.checked_add(size(tables.iter().sum(), ENTRY)?)?;
        let mut sums = vec![0; len.div_ceil(BLOCK) * SUM];
        let whole = (HEADER + DIGEST + sums.len() + len) as u64;
        if file.metadata().ok()?.len() != whole {
            return None;
        }
        file.read_exact_at(&mut sums, (HEADER + DIGEST) as u64)
            .ok()?;
        if blake3::hash(&sums).as_bytes() != digest {
            return None;
        }
        Some(Self {
            file,
            width,
            tip: Oid::from_bytes(&tip[..width])?,
            commits,
            tables,
            sums,
            blocks: RefCell::default(),
        })
    }

    pub(super) fn tip(&self) -> Oid {
        self.tip
    }

    fn len(&self) -> usize {
        let entries: u64 = self.tables.iter().sum();
        self.commits as usize * self.width + entries as usize * ENTRY
    }

    /// Returns the commits that hold what `key` names; `None` when a block is damaged.
    pub(super) fn find(&self, key: &Key) -> Option<Vec<Oid>> {
        let count = self.tables[key.table as usize] as usize;
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low.midpoint(high);
            match self.entry(key.table, middle)?.0 < key.from {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let mut found = Vec::new();
        for at in low..count {
            let (number, place) = self.entry(key.table, at)?;
            if number > key.to {
                break;
            }
            found.push(self.commit(place as usize)?);
        }
        Some(found)
    }

    /// Returns how many commits it names.
    pub(super) fn count(&self) -> usize {
        self.commits as usize
    }

    /// Returns the commits; `None` when a block is damaged.
    pub(super) fn commits(&self) -> Option<Vec<Oid>> {
        let mut ids = vec![0; self.count() * self.width];
        self.bytes(0, &mut ids)?;
        ids.chunks_exact(self.width).map(Oid::from_bytes).collect()
    }

    /// Returns all of it; `None` when a block is damaged.
    pub(super) fn read(&self) -> Option<Contents> {
        let mut data = vec![0; self.len()];
        self.bytes(0, &mut data)?;
        let (ids, mut entries) = data.split_at(self.count() * self.width);
        let mut contents = Contents {
            commits: ids
                .chunks_exact(self.width)
                .map(Oid::from_bytes)
                .collect::<Option<_>>()?,
            ..Contents::default()
        };
        for (table, count) in contents.tables.iter_mut().zip(self.tables) {
            let (own, rest) = entries.split_at_checked(size(count, ENTRY)?)?;
            table.extend(own.chunks_exact(ENTRY).map(entry));
            entries = rest;
        }
        Some(contents)
    }

    fn commit(&self, place: usize) -> Option<Oid> {
        if place as u64 >= self.commits {
            return None;
        }
        let mut bytes = [0; 32];
        self.bytes(place * self.width, &mut bytes[..self.width])?;
        Oid::from_bytes(&bytes[..self.width])
    }

    fn entry(&self, table: Table, at: usize) -> Option<(u64, u32)> {
        let before: u64 = self.tables[..table as usize].iter().sum();
        let start = self.commits as usize * self.width + (before as usize + at) * ENTRY;
        let mut bytes = [0; ENTRY];
        self.bytes(start, &mut bytes)?;
        Some(entry(&bytes))
    }

    fn bytes(&self, mut start: usize, mut into: &mut [u8]) -> Option<()> {
        while !into.is_empty() {
            let block = self.block(start / BLOCK)?;
            let part = block.get(start % BLOCK..)?;
            let len = part.len().min(into.len());
            if len == 0 {
                return None;
            }
            into[..len].copy_from_slice(&part[..len]);
            into = &mut into[len..];
            start += len;
        }
        Some(())
    }

    fn block(&self, at: usize) -> Option<Rc<Vec<u8>>> {
        if let Some(known) = self.blocks.borrow().get(&at) {
            return Some(Rc::clone(known));
        }
        let start = at.checked_mul(BLOCK)?;
        let len = self.len().checked_sub(start)?.min(BLOCK);
        let mut bytes = vec![0; len];
        let offset = (HEADER + DIGEST + self.sums.len() + start) as u64;
        self.file.read_exact_at(&mut bytes, offset).ok()?;
        if self.sums.get(at * SUM..(at + 1) * SUM)? != sum(&bytes) {
            return None;
        }
        let block = Rc::new(bytes);
        self.blocks.borrow_mut().insert(at, Rc::clone(&block));
        Some(block)
    }
}

fn size(count: u64, width: usize) -> Option<usize> {
    usize::try_from(count).ok()?.checked_mul(width)
}

/// Returns the number and the commit's place that the bytes of an entry are.
fn entry(bytes: &[u8]) -> (u64, u32) {
    let mut place = [0; 4];
    place.copy_from_slice(&bytes[8..]);
    (number(&bytes[..8]), u32::from_be_bytes(place))
}

fn number(bytes: &[u8]) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(bytes);
    u64::from_be_bytes(number)
}
