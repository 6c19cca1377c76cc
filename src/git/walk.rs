use std::{
    collections::{BinaryHeap, HashMap, HashSet},
    fs,
};

use super::{Commit, Error, Repo};
use crate::model::Oid;

/// Whether one commit is reached from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ancestry {
    Yes,
    No,
    /// It was not found, but history is cut off on the way.
    Undecidable,
}

/// How two histories differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Commits that only the first reaches, newest first.
    pub left: Vec<Oid>,
    /// Commits that only the second reaches, newest first.
    pub right: Vec<Oid>,
    /// The best common ancestors: none of them is an ancestor of another.
    pub bases: Vec<Oid>,
}

const LEFT: u8 = 1;
const RIGHT: u8 = 2;
const BOTH: u8 = LEFT | RIGHT;
/// Below a common ancestor.
const STALE: u8 = 4;

/// How many commits older than all of interest are looked at: clocks were not always right.
const SLOP: usize = 16;

struct Node {
    flags: u8,
    time: i64,
    parents: Vec<Oid>,
}

impl Repo {
    /// Returns what `tips` reach and `hide` does not, newest first, children before parents where
    /// clocks agree.
    pub fn ancestors(&self, tips: &[Oid], hide: &[Oid]) -> Result<Vec<Oid>, Error> {
        if hide.is_empty() {
            return Ok(self.commits(tips)?.into_iter().map(|(id, _)| id).collect());
        }
        Ok(self.paint(tips, hide)?.left)
    }

    /// Returns all that `tips` reach with the commits read, newest first.
    pub fn commits(&self, tips: &[Oid]) -> Result<Vec<(Oid, Commit)>, Error> {
        let cut = self.cut_off()?;
        let mut seen: HashSet<Oid> = HashSet::new();
        let mut queue = BinaryHeap::new();
        let mut commits: HashMap<Oid, Commit> = HashMap::new();
        let mut add =
            |id: Oid, queue: &mut BinaryHeap<(i64, Oid)>, commits: &mut HashMap<Oid, Commit>| {
                if seen.insert(id) {
                    let commit = self.commit(id)?;
                    queue.push((commit.committer_time, id));
                    commits.insert(id, commit);
                }
                Ok::<(), Error>(())
            };
        for tip in tips {
            add(*tip, &mut queue, &mut commits)?;
        }
        let mut found = Vec::new();
        while let Some((_, id)) = queue.pop() {
            let Some(commit) = commits.remove(&id) else {
                continue;
            };
            if !cut.contains(&id) {
                for parent in &commit.parents {
                    add(*parent, &mut queue, &mut commits)?;
                }
            }
            found.push((id, commit));
        }
        Ok(found)
    }

    /// Returns how the histories of two commits differ, and where they met.
    pub fn difference(&self, left: Oid, right: Oid) -> Result<Difference, Error> {
        self.paint(&[left], &[right])
    }

    /// Returns a best common ancestor; `None` when the histories do not meet.
    pub fn merge_base(&self, left: Oid, right: Oid) -> Result<Option<Oid>, Error> {
        Ok(self.difference(left, right)?.bases.first().copied())
    }

    /// Says whether `ancestor` is `descendant` or reached from it.
    pub fn is_ancestor(&self, ancestor: Oid, descendant: Oid) -> Result<Ancestry, Error> {
        let cut = self.cut_off()?;
        let mut seen: HashSet<Oid> = HashSet::from([descendant]);
        let mut queue = BinaryHeap::from([(i64::MAX, descendant)]);
        let mut at_cut = false;
        while let Some((_, id)) = queue.pop() {
            if id == ancestor {
                return Ok(Ancestry::Yes);
            }
            if cut.contains(&id) {
                at_cut = true;
                continue;
            }
            for parent in self.commit(id)?.parents {
                if parent == ancestor {
                    return Ok(Ancestry::Yes);
                }
                if seen.insert(parent) {
                    queue.push((self.commit(parent)?.committer_time, parent));
                }
            }
        }
        Ok(match at_cut {
            true => Ancestry::Undecidable,
            false => Ancestry::No,
        })
    }

    /// Returns the commits whose parents a shallow clone does not have.
    pub fn cut_off(&self) -> Result<HashSet<Oid>, Error> {
        let path = self.common_dir().join("shallow");
        match fs::read_to_string(&path) {
            Ok(text) => Ok(text.lines().filter_map(|line| line.parse().ok()).collect()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(HashSet::new()),
            Err(error) => Err(Error::read(path)(error)),
        }
    }

    /// Colors commits by which side reaches them, newest first, until nothing new can come.
    fn paint(&self, left: &[Oid], right: &[Oid]) -> Result<Difference, Error> {
        let cut = self.cut_off()?;
        let mut painter = Painter {
            repo: self,
            cut,
            nodes: HashMap::new(),
            queue: BinaryHeap::new(),
            live: HashSet::new(),
        };
        for (ids, flags) in [(left, LEFT), (right, RIGHT)] {
            for id in ids {
                painter.mark(*id, flags)?;
            }
        }
        painter.run()?;
        Ok(painter.result())
    }
}

struct Painter<'repo> {
    repo: &'repo Repo,
    cut: HashSet<Oid>,
    nodes: HashMap<Oid, Node>,
    queue: BinaryHeap<(i64, Oid)>,
    /// What is queued and not yet below a common ancestor.
    live: HashSet<Oid>,
}

impl Painter<'_> {
    fn mark(&mut self, id: Oid, flags: u8) -> Result<(), Error> {
        if !self.nodes.contains_key(&id) {
            let commit = self.repo.commit(id)?;
            let parents = match self.cut.contains(&id) {
                true => Vec::new(),
                false => commit.parents,
            };
            let node = Node {
                flags: 0,
                time: commit.committer_time,
                parents,
            };
            self.nodes.insert(id, node);
        }
        let node = self.nodes.get_mut(&id).expect("inserted above");
        if node.flags & flags == flags {
            return Ok(());
        }
        node.flags |= flags;
        let live = node.flags & STALE == 0;
        let time = node.time;
        if live {
            self.live.insert(id);
        } else {
            self.live.remove(&id);
        }
        self.queue.push((time, id));
        Ok(())
    }

    fn run(&mut self) -> Result<(), Error> {
        let mut slop = SLOP;
        // The oldest commit that one side only reaches: a stale one that is newer may still reach it.
        let mut oldest = i64::MAX;
        while let Some((time, id)) = self.queue.pop() {
            if self.live.is_empty() {
                slop = match time >= oldest {
                    true => SLOP,
                    false => slop - 1,
                };
                if slop == 0 {
                    break;
                }
            }
            self.live.remove(&id);
            let node = &self.nodes[&id];
            let mut flags = node.flags;
            if flags & BOTH == BOTH {
                flags |= STALE;
            } else {
                oldest = oldest.min(time);
            }
            for parent in node.parents.clone() {
                self.mark(parent, flags)?;
            }
        }
        Ok(())
    }

    fn result(self) -> Difference {
        let mut sorted: Vec<(i64, Oid, u8)> = self
            .nodes
            .iter()
            .map(|(id, node)| (node.time, *id, node.flags))
            .collect();
        sorted.sort_unstable_by(|one, other| other.cmp(one));
        let with = |wanted: u8| {
            sorted
                .iter()
                .filter(|(_, _, flags)| *flags == wanted)
                .map(|(_, id, _)| *id)
                .collect()
        };
        Difference {
            left: with(LEFT),
            right: with(RIGHT),
            bases: with(BOTH),
        }
    }
}
