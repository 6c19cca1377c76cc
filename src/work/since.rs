//! What happened while a call ran that its snapshot alone does not show: paths that became dirty
//! without a change, and paths that were written and committed.

use std::{
    collections::{BTreeSet, HashSet},
    path::Path,
    time::UNIX_EPOCH,
};

use super::{
    Content, Error,
    begin::head_file,
    beside::Beside,
    look::{Look, Looker, Sight, top},
    rules::{Birth, Now},
    session::Session,
    state::{Call, HeadFile, Held, LINK, Reach, Snapshot},
};
use crate::{
    git::{ObjectKind, Stat, Trees, files::Tree},
    model::{Oid, RepoPath},
};

const EXECUTABLE: u32 = 0o100_755;
/// File systems that keep whole seconds only are behind by up to two.
const COARSE: u64 = 2_000;
/// How far behind the clock the others may be, in ms.
const SLACK: u64 = 50;

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
        let tree = Tree::open(top(self.repo)?)?;
        let mut past = Past {
            session: self,
            call,
            snapshot,
            look,
            head,
            trees: Trees::new(self.repo),
            tree,
            rules: None,
            left: None,
        };
        for path in now
            .made
            .iter()
            .filter(|path| !now.dirty.contains_key(*path) && !snapshot.contains_key(*path))
        {
            if past.was_not_covered(path) && past.is_old(path)? {
                continue;
            }
            let before = past.head(path)?;
            let after = head_file(head, path, (self.repo, &mut past.trees))?;
            if before != after && !looker.is_own_view(path) {
                now.committed.insert(path.clone(), looker.at(path)?);
            }
        }
        let mut held = Beside::new(snapshot);
        for (path, content) in &look.dirty {
            if held.get(path).is_some() {
                continue;
            }
            if past.is_same(path, content)? {
                now.same.insert(path.clone());
            } else if let Some(birth) = past.unseen(path, content)? {
                now.unseen.insert(path.clone(), birth);
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
    look: &'a Look,
    /// HEAD's commit now.
    head: Option<Oid>,
    trees: Trees<'a>,
    tree: Tree,
    /// Whether any rules of what is ignored may have changed; looked up once.
    rules: Option<bool>,
    /// What the call took from paths of the tree; looked up once.
    left: Option<HashSet<Content>>,
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
                && (self.was_not_covered(path) || self.ignored_other_paths(path)?)),
            HeadFile::Unread => Ok(false),
        }
    }

    /// Says when what was changed at a path was made that nobody looked at before; `None` where
    /// nothing was.
    fn unseen(&mut self, path: &RepoPath, content: &Content) -> Result<Option<Birth>, Error> {
        let was_not_covered = self.was_not_covered(path);
        let may_be = content.holds_bytes() && (was_not_covered || self.has_new_rules());
        if !may_be || self.head(path)? != HeadFile::Absent {
            return Ok(None);
        }
        let whole = top(self.session.repo)?.join::<&std::ffi::OsStr>(path.as_ref());
        let birth = match is_born_before(&whole, self.call.time) {
            Some(true) => Birth::Before,
            None if was_not_covered => Birth::Before,
            Some(false) if was_not_covered => Birth::During,
            Some(false) | None => return Ok(None),
        };
        let is_unseen = was_not_covered || self.ignored_other_paths(path)?;
        Ok((is_unseen && !self.was_elsewhere(content)?).then_some(birth))
    }

    /// Says whether a content lay at another path of the tree when the call began, and does no more.
    fn was_elsewhere(&mut self, content: &Content) -> Result<bool, Error> {
        if self.left.is_none() {
            let look = self.look;
            let is_gone = |(path, held): &(&RepoPath, &Held)| {
                look.dirty.get(*path).and_then(Content::bytes) != held.content.bytes()
            };
            let gone = self.snapshot.iter().filter(is_gone);
            let mut left: HashSet<Content> =
                gone.filter_map(|(_, held)| held.content.bytes()).collect();
            for (path, now) in &look.dirty {
                if !self.snapshot.contains_key(path)
                    && let HeadFile::Entry { id, mode } = self.head(path)?
                {
                    let then = HeadFile::content(id, mode);
                    left.extend(Some(then).filter(|then| now.bytes().as_ref() != Some(then)));
                }
            }
            self.left = Some(left);
        }
        let bytes = content.bytes();
        let left = self.left.as_ref();
        Ok(left.is_some_and(|left| bytes.is_some_and(|bytes| left.contains(&bytes))))
    }

    /// Says whether a path lay in a repository of its own when the call began.
    fn was_not_covered(&self, path: &RepoPath) -> bool {
        self.call.not_covered.iter().any(|repository| {
            let repository = repository.as_bytes();
            let repository = repository.strip_suffix(b"/").unwrap_or(repository);
            let rest = path.as_bytes().strip_prefix(repository);
            rest.is_some_and(|rest| rest.starts_with(b"/"))
        })
    }

    /// Says whether any rules of what is ignored may have changed since the call began.
    fn has_new_rules(&mut self) -> bool {
        if let Some(known) = self.rules {
            return known;
        }
        let is_rules = |path: &RepoPath| path.as_bytes().ends_with(b".gitignore");
        let is_new = |(path, content): (&RepoPath, &Content)| {
            let held = self.snapshot.get(path).map(|held| &held.content);
            is_rules(path) && held != Some(content)
        };
        let is_gone = |path: &RepoPath| is_rules(path) && !self.look.dirty.contains_key(path);
        let has_new = self.head != self.call.head
            || self.look.dirty.iter().any(is_new)
            || self.snapshot.keys().any(is_gone)
            || self.has_new_excludes();
        *self.rules.insert(has_new)
    }

    fn has_new_excludes(&self) -> bool {
        let info = self.session.repo.common_dir().join("info");
        Tree::open(&info).is_ok_and(|tree| self.is_new(tree.stat("exclude").ok().flatten()))
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
        if self.has_new_excludes() {
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

/// Says whether what lies at a path was made before `time`, in ms; `None` where the file system does
/// not know.
pub(super) fn is_born_before(path: &Path, time: u64) -> Option<bool> {
    let born = path.symlink_metadata().ok()?.created().ok()?;
    let since = born.duration_since(UNIX_EPOCH).ok()?;
    let behind = match since.subsec_nanos() {
        0 => COARSE,
        _ => SLACK,
    };
    Some(u64::try_from(since.as_millis()).ok()? + behind < time)
}
