//! What lies at the dirty paths, hashed once and again only when lstat says that it changed.

use std::{
    collections::{BTreeMap, HashSet},
    time::Duration,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::value::RawValue;

use super::{
    Content, Error,
    beside::Beside,
    content::LARGEST,
    rows::{self, Fields, Reader, Writer},
    state::{Dirty, Modes},
};
use crate::{
    git::{
        Change, Entry, Near, ObjectKind, Repo, Stat, StatusEntry,
        files::{FileError, Lies, Tree},
    },
    model::{Oid, RepoPath},
    view::{self, View},
};

/// A file that changed this recently may change again without its times showing it.
const RACY: Duration = Duration::from_secs(2);

/// A content with the lstat that goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen(u64, i64, i64, u64, u32, pub(crate) Content);

/// What was seen at the dirty paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sight {
    map: BTreeMap<RepoPath, Seen>,
    /// The map as it was read, until it changes.
    text: Option<Box<RawValue>>,
}

/// The dirty paths of a working tree.
#[derive(Debug, Default)]
pub(crate) struct Look {
    pub(crate) dirty: Dirty,
    pub(crate) modes: Modes,
    /// What the index holds, where it is not HEAD's.
    pub(crate) staged: BTreeMap<RepoPath, Entry>,
    /// Repositories inside this one, whose files are not looked at.
    pub(crate) not_covered: Vec<RepoPath>,
    /// Linked worktrees inside this one, which git names and nobody asks for.
    pub(crate) worktrees: Vec<RepoPath>,
}

impl Look {
    /// Returns all that has files inside the tree which are not looked at.
    pub(crate) fn inside(&self) -> Vec<RepoPath> {
        self.not_covered
            .iter()
            .chain(&self.worktrees)
            .cloned()
            .collect()
    }
}

/// Looks at paths, remembering what it has seen.
pub(crate) struct Looker<'a> {
    repo: &'a Repo,
    tree: Tree,
    seen: &'a mut Sight,
    /// The wall time in ms.
    now: u64,
    keeper: Option<Keeper>,
    modes: Modes,
    near: Near,
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

/// What lies at a path, and what of it needs not be read again.
struct Looked {
    content: Content,
    seen: Option<Seen>,
    /// The permissions of a file.
    mode: Option<u32>,
}

impl Looked {
    fn unseen(content: Content) -> Self {
        Self {
            content,
            seen: None,
            mode: None,
        }
    }
}

impl<'a> Looker<'a> {
    pub(crate) fn new(repo: &'a Repo, seen: &'a mut Sight, now: u64) -> Result<Self, Error> {
        Ok(Self {
            repo,
            tree: Tree::open(top(repo)?)?,
            seen,
            now,
            keeper: None,
            modes: Modes::new(),
            near: Near::default(),
        })
    }

    /// Also collects the bytes of what is looked at.
    pub(crate) fn keeping(mut self, keeper: Keeper) -> Self {
        self.keeper = Some(keeper);
        self
    }

    /// Returns the permissions of a file that was looked at.
    pub(crate) fn mode(&self, path: &RepoPath) -> Option<u32> {
        self.modes.get(path).copied()
    }

    /// Returns what was collected.
    pub(crate) fn kept(self) -> Keeper {
        self.keeper.unwrap_or_default()
    }

    /// Looks at what git says of the whole working tree; `last` says which paths' bytes are the least
    /// worth keeping.
    pub(crate) fn all(
        &mut self,
        status: Vec<StatusEntry>,
        last: impl Fn(&RepoPath) -> bool,
    ) -> Result<Look, Error> {
        let mut look = Look::default();
        let mut paths = Vec::with_capacity(status.len());
        for entry in status {
            if self.is_own_view(&entry.path) {
                continue;
            }
            match is_covered(&entry.path, &entry.change) {
                true => {
                    if let Some(staged) = staged(&entry.change) {
                        look.staged.insert(entry.path.clone(), staged);
                    }
                    paths.push(entry.path);
                }
                false => look.not_covered.push(entry.path),
            }
        }
        paths.sort();
        paths.dedup();
        let (late, early): (Vec<_>, Vec<_>) = paths.into_iter().partition(last);
        let old = std::mem::take(self.seen);
        let mut known = Beside::new(&old.map);
        let (mut dirty, mut seen, mut modes) = (Vec::new(), Vec::new(), Vec::new());
        for path in early.into_iter().chain(late) {
            let looked = self.look_at(&path, known.get(&path))?;
            seen.extend(looked.seen.map(|seen| (path.clone(), seen)));
            modes.extend(looked.mode.map(|mode| (path.clone(), mode)));
            dirty.push((path, looked.content));
        }
        *self.seen = old.or_new(seen);
        look.dirty = dirty.into_iter().collect();
        look.modes = modes.into_iter().collect();
        look.not_covered.sort();
        look.not_covered.dedup();
        Ok(look)
    }

    /// A view as we wrote it is nobody's work.
    pub(crate) fn is_own_view(&self, path: &RepoPath) -> bool {
        let Some(name) = path.as_bytes().strip_prefix(b".operator/") else {
            return false;
        };
        let view = View::ALL
            .into_iter()
            .find(|view| name == view.file_name().as_bytes());
        let (Some(view), Some(top)) = (view, self.repo.top()) else {
            return false;
        };
        view::is_own(&self.repo.operator_dir(), self.repo.git_dir(), (top, view))
    }

    /// Looks at one path.
    pub(crate) fn at(&mut self, path: &RepoPath) -> Result<Content, Error> {
        let known = self.seen.map.remove(path);
        let looked = self.look_at(path, known.as_ref())?;
        if looked.seen != known {
            self.seen.text = None;
        }
        if let Some(seen) = looked.seen {
            self.seen.map.insert(path.clone(), seen);
        }
        if let Some(mode) = looked.mode {
            self.modes.insert(path.clone(), mode);
        }
        Ok(looked.content)
    }

    fn look_at(&mut self, path: &RepoPath, known: Option<&Seen>) -> Result<Looked, Error> {
        let Some(stat) = self.tree.stat_near(path, &mut self.near)? else {
            return Ok(Looked::unseen(Content::Absent));
        };
        if let Some(content) = unread(&stat) {
            return Ok(Looked::unseen(content));
        }
        let mode = (stat.lies == Lies::File).then_some(stat.mode);
        if let Some(seen) = known.filter(|seen| seen.fits(&stat))
            && !self
                .keeper
                .as_ref()
                .is_some_and(|keeper| keeper.wants(&seen.5))
        {
            return Ok(Looked {
                content: seen.5.clone(),
                seen: Some(seen.clone()),
                mode,
            });
        }
        let looked = self.read(path, &stat)?;
        Ok(Looked { mode, ..looked })
    }

    fn read(&mut self, path: &RepoPath, stat: &Stat) -> Result<Looked, Error> {
        let bytes = match stat.lies {
            Lies::Link => self.tree.target(path).map(Some),
            _ => self.tree.read(path, LARGEST),
        };
        let bytes = match bytes {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(Looked::unseen(Content::Absent)),
            // It grew meanwhile, or may not be read: it is known by what lstat says.
            Err(FileError::TooLarge(..) | FileError::Io { .. }) => {
                return Ok(Looked::unseen(large(stat)));
            }
            // It became something else meanwhile.
            Err(FileError::Link(_) | FileError::NotADirectory(_) | FileError::NotAFile(_)) => {
                return Ok(Looked::unseen(Content::Special));
            }
        };
        let id = self.repo.hash(ObjectKind::Blob, &bytes);
        // Bytes made to collide have no id that can be trusted.
        let content = match stat.lies {
            _ if id.is_null() => return Ok(Looked::unseen(large(stat))),
            Lies::Link => Content::Link(id),
            _ if stat.executable() => Content::Executable(id),
            _ => Content::File(id),
        };
        let settled = self.tree.stat(path)?.is_some_and(|after| after == *stat);
        let seen = (settled && self.is_old(stat)).then(|| Seen::new(stat, content.clone()));
        if let Some(keeper) = &mut self.keeper {
            keeper.take(id, bytes);
        }
        Ok(Looked {
            content,
            seen,
            mode: None,
        })
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
    pub(crate) fn new(stat: &Stat, content: Content) -> Self {
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

impl Sight {
    #[cfg(test)]
    pub(crate) fn of(map: BTreeMap<RepoPath, Seen>) -> Self {
        Self { map, text: None }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.map.len()
    }

    /// Returns what was seen now; the old one where that is the same.
    fn or_new(self, mut seen: Vec<(RepoPath, Seen)>) -> Self {
        seen.sort_by(|(one, _), (other, _)| one.cmp(other));
        let new = seen.iter().map(|(path, seen)| (path, seen));
        match self.map.iter().eq(new) {
            true => self,
            false => Self {
                map: seen.into_iter().collect(),
                text: None,
            },
        }
    }
}

impl PartialEq for Sight {
    fn eq(&self, other: &Self) -> bool {
        self.map == other.map
    }
}

impl Eq for Sight {}

impl Serialize for Sight {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.text {
            Some(text) => text.serialize(serializer),
            None => rows::serialize(&self.map, serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Sight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        let map = rows::deserialize(&mut serde_json::Deserializer::from_str(text.get()));
        Ok(Self {
            map: map.map_err(D::Error::custom)?,
            text: Some(text),
        })
    }
}

impl Fields for Seen {
    fn write(&self, row: &mut Writer<'_>) {
        let Self(size, modified_ns, changed_ns, inode, mode, content) = self;
        row.push_number(*size);
        row.push_number(modified_ns.cast_unsigned());
        // The two are mostly one.
        row.push_number(changed_ns.wrapping_sub(*modified_ns).cast_unsigned());
        row.push_number(*inode);
        row.push_number((*mode).into());
        row.push_content(content);
    }

    fn read(fields: &mut Reader<'_>) -> Option<Self> {
        let size = fields.number()?;
        let modified_ns = fields.number()?.cast_signed();
        let changed_ns = modified_ns.wrapping_add(fields.number()?.cast_signed());
        let (inode, mode) = (fields.number()?, fields.number()?.try_into().ok()?);
        Some(Self(
            size,
            modified_ns,
            changed_ns,
            inode,
            mode,
            fields.content()?,
        ))
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

/// What the index holds of a path where that differs from HEAD's.
pub(super) fn staged(change: &Change) -> Option<Entry> {
    match change {
        Change::Tracked {
            staged, modes, ids, ..
        } if !matches!(staged, b'.' | b'D') => Entry::of((modes[1], ids[1])),
        Change::Tracked { .. } | Change::Unmerged { .. } | Change::Untracked => None,
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

#[cfg(test)]
mod tests {
    use super::{Content, Lies, RepoPath, Seen, Sight, Stat};

    fn seen(path: &str, size: u64) -> (RepoPath, Seen) {
        let stat = Stat {
            lies: Lies::File,
            size,
            modified_ns: 5,
            changed_ns: 4,
            inode: 3,
            mode: 0o644,
        };
        (path.into(), Seen::new(&stat, Content::Special))
    }

    fn text(sight: &Sight) -> String {
        serde_json::to_string(sight).unwrap()
    }

    #[test]
    fn what_has_changed_is_written_anew_and_the_rest_as_it_was_read() {
        let written = text(&Sight::of([seen("a", 1), seen("b", 2)].into()));
        let read = || serde_json::from_str::<Sight>(&written).unwrap();
        let same = read().or_new(vec![seen("b", 2), seen("a", 1)]);
        assert!(same.text.is_some());
        assert_eq!(text(&same), written);
        for (new, of) in [
            (vec![seen("a", 1)], vec![seen("a", 1)]),
            (
                vec![seen("b", 3), seen("a", 1)],
                vec![seen("a", 1), seen("b", 3)],
            ),
            (vec![], vec![]),
        ] {
            let changed = read().or_new(new);
            assert_eq!(text(&changed), text(&Sight::of(of.into_iter().collect())));
        }
    }
}
