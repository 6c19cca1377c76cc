//! What lies at the dirty paths, hashed once and again only when lstat says that it changed.

use std::{
    collections::{BTreeMap, HashSet},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::{Content, Error, content::LARGEST, state::Dirty};
use crate::{
    git::{
        Change, ObjectKind, Repo, Stat,
        files::{FileError, Lies, Tree},
    },
    model::{Oid, RepoPath},
    view::{self, View},
};

/// A file that changed this recently may change again without its times showing it.
const RACY: Duration = Duration::from_secs(2);

/// A content with the lstat that goes with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen(u64, i64, i64, u64, u32, pub(crate) Content);

/// The dirty paths of a working tree.
#[derive(Debug, Default)]
pub(crate) struct Look {
    pub(crate) dirty: Dirty,
    /// Repositories inside this one, whose files are not looked at.
    pub(crate) not_covered: Vec<RepoPath>,
}

/// Looks at paths, remembering what it has seen.
pub(crate) struct Looker<'a> {
    repo: &'a Repo,
    tree: Tree,
    seen: &'a mut BTreeMap<RepoPath, Seen>,
    /// The wall time in ms.
    now: u64,
    keeper: Option<Keeper>,
}

/// Collects the bytes that are not kept yet.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    /// Blobs that are kept.
    pub(crate) kept: HashSet<Oid>,
    pub(crate) fresh: Vec<(Oid, Vec<u8>)>,
    /// How many more bytes may be kept.
    pub(crate) room: u64,
}

impl Keeper {
    fn wants(&self, content: &Content) -> bool {
        content.blob().is_some_and(|id| !self.kept.contains(&id))
    }

    fn take(&mut self, id: Oid, bytes: Vec<u8>) {
        let size = bytes.len() as u64;
        if size <= self.room && self.kept.insert(id) {
            self.room -= size;
            self.fresh.push((id, bytes));
        }
    }
}

impl<'a> Looker<'a> {
    pub(crate) fn new(
        repo: &'a Repo,
        seen: &'a mut BTreeMap<RepoPath, Seen>,
        now: u64,
    ) -> Result<Self, Error> {
        Ok(Self {
            repo,
            tree: Tree::open(top(repo)?)?,
            seen,
            now,
            keeper: None,
        })
    }

    /// Also collects the bytes of what is looked at.
    pub(crate) fn keeping(mut self, keeper: Keeper) -> Self {
        self.keeper = Some(keeper);
        self
    }

    /// Returns what was collected.
    pub(crate) fn kept(self) -> Keeper {
        self.keeper.unwrap_or_default()
    }

    /// Looks at the whole working tree; `last` says which paths' bytes are the least worth keeping.
    pub(crate) fn all(&mut self, last: impl Fn(&RepoPath) -> bool) -> Result<Look, Error> {
        let mut look = Look::default();
        let mut paths = Vec::new();
        for entry in self.repo.status()? {
            if self.is_own_view(&entry.path) {
                continue;
            }
            match is_covered(&entry.path, &entry.change) {
                true => paths.push(entry.path),
                false => look.not_covered.push(entry.path),
            }
        }
        paths.sort();
        paths.dedup();
        self.seen
            .retain(|path, _| paths.binary_search(path).is_ok());
        let (late, early): (Vec<_>, Vec<_>) = paths.into_iter().partition(last);
        for path in early.into_iter().chain(late) {
            let content = self.at(&path)?;
            look.dirty.insert(path, content);
        }
        look.not_covered.sort();
        look.not_covered.dedup();
        Ok(look)
    }

    /// A view as we wrote it is nobody's work.
    fn is_own_view(&self, path: &RepoPath) -> bool {
        let view = View::ALL
            .into_iter()
            .find(|view| path.as_bytes() == format!(".operator/{}", view.file_name()).as_bytes());
        let (Some(view), Some(top)) = (view, self.repo.top()) else {
            return false;
        };
        view::is_own(&self.repo.operator_dir(), self.repo.git_dir(), (top, view))
    }

    /// Looks at one path.
    pub(crate) fn at(&mut self, path: &RepoPath) -> Result<Content, Error> {
        let Some(stat) = self.tree.stat(path)? else {
            self.seen.remove(path);
            return Ok(Content::Absent);
        };
        if let Some(content) = unread(&stat) {
            return Ok(content);
        }
        let known = self.seen.get(path).filter(|seen| seen.fits(&stat));
        if let Some(Seen(.., content)) = known
            && !self
                .keeper
                .as_ref()
                .is_some_and(|keeper| keeper.wants(content))
        {
            return Ok(content.clone());
        }
        self.read(path, &stat)
    }

    fn read(&mut self, path: &RepoPath, stat: &Stat) -> Result<Content, Error> {
        let bytes = match stat.lies {
            Lies::Link => self.tree.target(path).map(Some),
            _ => self.tree.read(path, LARGEST),
        };
        let bytes = match bytes {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(Content::Absent),
            // It grew meanwhile, or may not be read: it is known by what lstat says.
            Err(FileError::TooLarge(..) | FileError::Io { .. }) => return Ok(large(stat)),
            // It became something else meanwhile.
            Err(FileError::Link(_) | FileError::NotADirectory(_) | FileError::NotAFile(_)) => {
                return Ok(Content::Special);
            }
        };
        let id = self.repo.hash(ObjectKind::Blob, &bytes);
        // Bytes made to collide have no id that can be trusted.
        let content = match stat.lies {
            _ if id.is_null() => return Ok(large(stat)),
            Lies::Link => Content::Link(id),
            _ if stat.executable() => Content::Executable(id),
            _ => Content::File(id),
        };
        let settled = self.tree.stat(path)?.is_some_and(|after| after == *stat);
        if settled && self.is_old(stat) {
            self.seen
                .insert(path.clone(), Seen::new(stat, content.clone()));
        } else {
            self.seen.remove(path);
        }
        if let Some(keeper) = &mut self.keeper {
            keeper.take(id, bytes);
        }
        Ok(content)
    }

    fn is_old(&self, stat: &Stat) -> bool {
        let limit = self.now.saturating_sub(RACY.as_millis() as u64);
        let limit = i64::try_from(limit)
            .unwrap_or(i64::MAX)
            .saturating_mul(1_000_000);
        stat.modified_ns < limit && stat.changed_ns < limit
    }
}

impl Seen {
    fn new(stat: &Stat, content: Content) -> Self {
        Self(
            stat.size,
            stat.modified_ns,
            stat.changed_ns,
            stat.inode,
            stat.mode,
            content,
        )
    }

    fn fits(&self, stat: &Stat) -> bool {
        (self.0, self.1, self.2, self.3, self.4)
            == (
                stat.size,
                stat.modified_ns,
                stat.changed_ns,
                stat.inode,
                stat.mode,
            )
    }
}

pub(crate) fn top(repo: &Repo) -> Result<&std::path::Path, Error> {
    repo.top().ok_or_else(|| Error::NoWorkTree {
        path: repo.git_dir().to_owned(),
    })
}

/// What lstat alone tells.
fn unread(stat: &Stat) -> Option<Content> {
    match stat.lies {
        Lies::Nothing | Lies::Directory => Some(Content::Absent),
        Lies::Other => Some(Content::Special),
        Lies::File if stat.size > LARGEST => Some(large(stat)),
        Lies::File | Lies::Link => None,
    }
}

fn large(stat: &Stat) -> Content {
    Content::Large {
        size: stat.size,
        modified_ns: stat.modified_ns,
        executable: stat.executable(),
    }
}

/// Repositories inside this one are not covered: their files are theirs.
fn is_covered(path: &RepoPath, change: &Change) -> bool {
    const GITLINK: u32 = 0o160_000;
    match change {
        Change::Tracked {
            submodule, modes, ..
        } => submodule.is_none() && !modes.contains(&GITLINK),
        Change::Unmerged {
            submodule, modes, ..
        } => submodule.is_none() && !modes.contains(&GITLINK),
        Change::Untracked => !path.as_bytes().ends_with(b"/"),
    }
}
