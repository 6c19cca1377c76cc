//! What happened while a call ran that its snapshot alone does not show: paths that became dirty
//! without a change, and paths that were written and committed.

use std::collections::BTreeSet;

use super::{
    Content, Error,
    begin::head_file,
    beside::Beside,
    look::{Look, Looker, Sight},
    rules::Now,
    session::Session,
    state::{Call, HeadFile, Reach, Snapshot},
};
use crate::{
    git::{ObjectKind, Stat, Trees, files::Tree},
    model::{Oid, RepoPath},
};

const LINK: u32 = 0o120_000;
const EXECUTABLE: u32 = 0o100_755;
/// File systems that keep whole seconds only are behind by up to two.
const COARSE: u64 = 2_000;

impl Session<'_> {
    /// Adds to `now` what happened while the call ran.
    pub(super) fn since(&self, id: &str, look: &Look, now: &mut Now) -> Result<(), Error> {
        let Some((call, snapshot)) = self.state.pending(id) else {
            return Ok(());
        };
        if !matches!(call.reach, Reach::Tree | Reach::Background(_)) {
            return Ok(());
        }
        let head = self.repo.head()?.commit();
        now.made = self.made(call, head)?;
        let mut seen = Sight::default();
        let mut looker = Looker::new(self.repo, &mut seen, call.time)?;
        let mut trees = Trees::new(self.repo);
        for path in now
            .made
            .iter()
            .filter(|path| !now.dirty.contains_key(*path) && !snapshot.contains_key(*path))
        {
            let before = head_file(call.head, path, (self.repo, &mut trees))?;
            let after = head_file(head, path, (self.repo, &mut trees))?;
            if before != after && !looker.is_own_view(path) {
                now.committed.insert(path.clone(), looker.at(path)?);
            }
        }
        let mut past = Past {
            session: self,
            call,
            snapshot,
            trees,
            tree: Tree::open(super::look::top(self.repo)?)?,
        };
        let mut held = Beside::new(snapshot);
        for (path, content) in &look.dirty {
            if held.get(path).is_none() && past.is_same(path, content)? {
                now.same.insert(path.clone());
            }
        }
        Ok(())
    }

    /// Returns the paths of commits made while the call ran.
    fn made(&self, call: &Call, head: Option<Oid>) -> Result<BTreeSet<RepoPath>, Error> {
        match head.filter(|head| Some(*head) != call.head) {
            Some(head) => {
                let commits = self.repo.made_since((call.head, head), call.time)?;
                Ok(self.repo.changed_by(&commits)?)
            }
            None => Ok(BTreeSet::new()),
        }
    }
}

/// The working tree when a call began, as far as it can be told now.
struct Past<'a> {
    session: &'a Session<'a>,
    call: &'a Call,
    snapshot: &'a Snapshot,
    trees: Trees<'a>,
    tree: Tree,
}

impl Past<'_> {
    /// Says whether a path that was not dirty held what it holds now: only HEAD, the index or what is
    /// ignored has changed.
    fn is_same(&mut self, path: &RepoPath, content: &Content) -> Result<bool, Error> {
        match self.head(path)? {
            HeadFile::Entry { id, mode } => match content.blob() {
                Some(blob) if blob == id => Ok(is_of(content, mode)),
                Some(blob) if mode != LINK && is_of(content, mode) && self.is_old(path)? => {
                    let bytes = self.session.repo.smudged(&[(id, path.clone())])?;
                    let hash = |bytes: &Vec<u8>| self.session.repo.hash(ObjectKind::Blob, bytes);
                    Ok(bytes.first().map(hash) == Some(blob))
                }
                Some(_) => Ok(false),
                None => Ok(content.holds_bytes() && self.is_old(path)?),
            },
            HeadFile::Absent => Ok(content.holds_bytes()
                && self.is_old(path)?
                && self.ignored_other_paths(path)?),
            HeadFile::Unread => Ok(false),
        }
    }

    fn head(&mut self, path: &RepoPath) -> Result<HeadFile, Error> {
        head_file(self.call.head, path, (self.session.repo, &mut self.trees))
    }

    /// Says whether what lies at a path has not been touched since the call began.
    fn is_old(&self, path: &RepoPath) -> Result<bool, Error> {
        let stat = self.tree.stat(path)?;
        Ok(stat.is_some_and(|stat| changed_ms(&stat) < self.call.time))
    }

    /// Says whether the rules of what is ignored have changed for a path since the call began.
    fn ignored_other_paths(&mut self, path: &RepoPath) -> Result<bool, Error> {
        let info = self.session.repo.common_dir().join("info");
        if Tree::open(&info).is_ok_and(|tree| self.is_new(tree.stat("exclude").ok().flatten())) {
            return Ok(true);
        }
        let bytes = path.as_bytes();
        let slashes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let dirs = std::iter::once(0).chain(slashes.map(|(at, _)| at + 1));
        for end in dirs {
            let rules = RepoPath::new([&bytes[..end], b".gitignore"].concat());
            let stat = self.tree.stat(&rules)?;
            let was_there = match self.snapshot.get(&rules) {
                Some(held) => held.content.holds_bytes(),
                None => self.head(&rules)? != HeadFile::Absent,
            };
            if self.is_new(stat) || (stat.is_none() && was_there) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_new(&self, stat: Option<Stat>) -> bool {
        stat.is_some_and(|stat| changed_ms(&stat) >= self.call.time)
    }
}

fn is_of(content: &Content, mode: u32) -> bool {
    match content {
        Content::Link(_) => mode == LINK,
        Content::Executable(_) => mode == EXECUTABLE,
        Content::File(_) => mode != LINK && mode != EXECUTABLE,
        Content::Absent | Content::Large { .. } | Content::Special => false,
    }
}

/// When a file's content, mode or name last changed, in ms; no user sets this back.
fn changed_ms(stat: &Stat) -> u64 {
    let whole = stat.changed_ns % 1_000_000_000 == 0;
    let ms = u64::try_from(stat.changed_ns / 1_000_000).unwrap_or(0);
    ms + if whole { COARSE } else { 0 }
}
