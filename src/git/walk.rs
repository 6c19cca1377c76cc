use std::{
    collections::{BinaryHeap, HashMap, HashSet, VecDeque},
    fs,
};

use super::{
    Commit, Error, Repo,
    graph::{History, Node},
};
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

impl Repo {
    /// Walks all that `tips` reach, newest first and one commit at a time.
    pub fn walk(&self, tips: &[Oid]) -> Result<Walk<'_>, Error> {
        let mut walk = Walk {
            repo: self,
            cut: self.cut_off()?,
            seen: HashSet::new(),
            queue: BinaryHeap::new(),
        };
        for tip in tips {
            walk.add(*tip)?;
        }
        Ok(walk)
    }

    /// Walks all that `tip` reaches, in no order but near commits first, reading no more of a commit than
    /// its parents.
    pub fn reached(&self, tip: Oid) -> Result<Reached<'_>, Error> {
        Ok(Reached {
            history: History::new(self),
            cut: self.cut_off()?,
            seen: HashSet::from([tip]),
            queue: VecDeque::from([tip]),
            at_cut: false,
        })
    }

    /// Returns the commits without parents that HEAD and the branches reach.
    pub fn roots_reached(&self) -> Result<Vec<Oid>, Error> {
        let branches = self.list_refs("refs/heads/")?;
        let mut queue: Vec<Oid> = branches.into_iter().map(|(_, tip)| tip).collect();
        queue.extend(self.head()?.commit());
        let history = History::new(self);
        let mut seen: HashSet<Oid> = queue.iter().copied().collect();
        let mut roots = Vec::new();
        while let Some(id) = queue.pop() {
            let parents = history.node(id)?.parents;
            if parents.is_empty() {
                roots.push(id);
            }
            queue.extend(parents.into_iter().filter(|parent| seen.insert(*parent)));
        }
        roots.sort_unstable();
        roots.dedup();
        Ok(roots)
    }

    /// Returns what `tips` reach and `hide` does not, newest first.
    pub fn ancestors(&self, tips: &[Oid], hide: &[Oid]) -> Result<Vec<Oid>, Error> {
        if hide.is_empty() {
            return self.walk(tips)?.map(|found| Ok(found?.0)).collect();
        }
        Ok(self.paint(tips, hide)?.left)
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
        let history = History::new(self);
        // An ancestor that is not here is reached, if at all, only beyond where history ends.
        let floor = match self.has(ancestor) {
            true => history.node(ancestor)?.generation,
            false => None,
        };
        let mut seen: HashSet<Oid> = HashSet::from([descendant]);
        let mut queue = vec![descendant];
        let mut at_cut = false;
        while let Some(id) = queue.pop() {
            if id == ancestor {
                return Ok(Ancestry::Yes);
            }
            if cut.contains(&id) {
                at_cut = true;
                continue;
            }
            let node = history.node(id)?;
            if let (Some(floor), Some(generation)) = (floor, node.generation)
                && generation <= floor
            {
                continue;
            }
            // The first parent last, so that it is looked at first.
            let parents = node.parents.into_iter().rev();
            queue.extend(parents.filter(|parent| seen.insert(*parent)));
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
        let mut painter = Painter {
            history: History::new(self),
            cut: self.cut_off()?,
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

/// What one commit reaches, found as far as it is asked for.
pub struct Reached<'repo> {
    history: History<'repo>,
    cut: HashSet<Oid>,
    seen: HashSet<Oid>,
    queue: VecDeque<Oid>,
    at_cut: bool,
}

impl Reached<'_> {
    /// Says whether a commit is reached.
    pub fn holds(&mut self, id: Oid) -> Result<Ancestry, Error> {
        while !self.seen.contains(&id) {
            let Some(next) = self.queue.pop_front() else {
                return Ok(match self.at_cut {
                    true => Ancestry::Undecidable,
                    false => Ancestry::No,
                });
            };
            if self.cut.contains(&next) {
                self.at_cut = true;
                continue;
            }
            for parent in self.history.node(next)?.parents {
                if self.seen.insert(parent) {
                    self.queue.push_back(parent);
                }
            }
        }
        Ok(Ancestry::Yes)
    }
}

/// A walk over history, newest first where clocks agree.
pub struct Walk<'repo> {
    repo: &'repo Repo,
    cut: HashSet<Oid>,
    seen: HashSet<Oid>,
    queue: BinaryHeap<Queued>,
}

struct Queued {
    time: i64,
    id: Oid,
    commit: Commit,
}

impl Ord for Queued {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.time, self.id).cmp(&(other.time, other.id))
    }
}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Queued {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Queued {}

impl Walk<'_> {
    fn add(&mut self, id: Oid) -> Result<(), Error> {
        if self.seen.insert(id) {
            let commit = self.repo.commit(id)?;
            self.queue.push(Queued {
                time: commit.committer_time,
                id,
                commit,
            });
        }
        Ok(())
    }
}

impl Iterator for Walk<'_> {
    type Item = Result<(Oid, Commit), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let Queued { id, commit, .. } = self.queue.pop()?;
        if !self.cut.contains(&id) {
            for parent in &commit.parents {
                if let Err(error) = self.add(*parent) {
                    self.queue.clear();
                    return Some(Err(error));
                }
            }
        }
        Some(Ok((id, commit)))
    }
}

struct Painter<'repo> {
    history: History<'repo>,
    cut: HashSet<Oid>,
    nodes: HashMap<Oid, (u8, Node)>,
    queue: BinaryHeap<(i64, Oid)>,
    /// What is queued and not yet below a common ancestor.
    live: HashSet<Oid>,
}

impl Painter<'_> {
    fn mark(&mut self, id: Oid, flags: u8) -> Result<(), Error> {
        if !self.nodes.contains_key(&id) {
            let mut node = self.history.node(id)?;
            if self.cut.contains(&id) {
                node.parents.clear();
            }
            self.nodes.insert(id, (0, node));
        }
        let (known, node) = self.nodes.get_mut(&id).expect("inserted above");
        if *known & flags == flags {
            return Ok(());
        }
        *known |= flags;
        match *known & STALE {
            0 => self.live.insert(id),
            _ => self.live.remove(&id),
        };
        self.queue.push((node.time, id));
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
            let (mut flags, ref node) = self.nodes[&id];
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
            .map(|(id, (flags, node))| (node.time, *id, *flags))
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
