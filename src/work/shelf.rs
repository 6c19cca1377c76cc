//! Other people's uncommitted work that git holds and the working tree does not: staged content that
//! the file has left behind, stashes, and what was hidden from git's status under a session's eyes. A
//! command of the session can make each of them unreachable, and a `gc` in it can take the bytes.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::{Deserialize, Serialize};

use super::{
    Content, Error,
    begin::head_file,
    content::LARGEST,
    look::{Look, Looker, Sight, staged},
    rules::{Lost, Now, taken},
    session::Session,
    state::{Call, HeadFile, Held, Phase, Snapshot, State, Whose},
};
use crate::{
    git::{Entry, ObjectKind, Repo, Trees},
    model::{Digest, Oid, RepoPath},
};

/// How many stashes are followed, the newest first.
const STASHES: usize = 64;
/// How many hidden paths are followed.
const HIDDEN: usize = 1_000;

/// What is followed from one call to the next.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(crate) struct Shelf {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    staged: BTreeMap<RepoPath, Staged>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stashes: Vec<Stash>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    hidden: BTreeMap<RepoPath, Hidden>,
    /// Tells whether a branch or HEAD has moved.
    #[serde(skip_serializing_if = "String::is_empty")]
    tips: String,
}

/// Staged content that is not what lies in the working tree.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
struct Staged {
    mode: u32,
    #[serde(with = "super::state::hex_id")]
    id: Oid,
    whose: Whose,
}

#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
struct Stash {
    #[serde(with = "super::state::hex_id")]
    id: Oid,
    /// Nothing of a stash that a call made: what it took from others is followed by itself.
    files: Vec<Stashed>,
}

#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
struct Stashed {
    path: RepoPath,
    mode: u32,
    #[serde(with = "super::state::hex_id")]
    id: Oid,
}

/// Somebody else's content that still lies at its path, though git's status does not say so any more.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
struct Hidden {
    held: Held,
    /// The commit of the session that holds it; none where it is ignored now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
}

/// When the shelf is looked at: what is new on it since is theirs, or the call's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    Before,
    After,
}

impl Shelf {
    /// Returns the blobs that a rescue may need.
    pub(crate) fn needed(&self) -> impl Iterator<Item = Oid> {
        let staged = self.staged.values().map(|staged| staged.id);
        let files = self.stashes.iter().flat_map(|stash| &stash.files);
        let hidden = self.hidden.values();
        staged
            .chain(files.map(|file| file.id))
            .chain(hidden.filter_map(|hidden| hidden.held.content.blob()))
    }
}

impl State {
    /// Returns what has left the shelf of a session that says nothing any more, as git stored it;
    /// nothing is written.
    pub(super) fn left_behind(&self, repo: &Repo) -> Result<Vec<Lost>, Error> {
        let shelf = &self.shelf;
        let is_pending =
            |call: &Call| matches!(call.phase, Phase::Open { .. } | Phase::Dropped { .. });
        if !self.calls.iter().any(is_pending) || shelf.needed().next().is_none() {
            return Ok(Vec::new());
        }
        let stashes: HashSet<Oid> = repo.stashes()?.into_iter().collect();
        let status = repo.status()?;
        let staged: BTreeMap<RepoPath, Entry> = status
            .into_iter()
            .filter_map(|entry| Some((entry.path, staged(&entry.change)?)))
            .collect();
        let files = shelf.stashes.iter();
        let files = files.filter(|stash| !stashes.contains(&stash.id));
        let files = files.flat_map(|stash| &stash.files);
        let files = files.map(|file| (&file.path, file.entry()));
        let unstaged = shelf.staged.iter();
        let unstaged = unstaged.filter(|(path, one)| {
            one.whose == Whose::Foreign && staged.get(*path).is_none_or(|entry| entry.id != one.id)
        });
        let unstaged = unstaged.map(|(path, one)| (path, one.entry()));
        let lost = files.chain(unstaged).map(|(path, entry)| Lost {
            path: path.clone(),
            content: entry.content(entry.id),
            mode: None,
        });
        Ok(lost.collect())
    }
}

impl Session<'_> {
    /// Takes in what is on the shelf now, and keeps the bytes of what is others'.
    pub(super) fn shelve(&mut self, look: &Look, moment: Moment) -> Result<(), Error> {
        self.shelve_staged(look, moment);
        self.shelve_stashes(moment)?;
        let staged = self.state.shelf.staged.values();
        let staged = staged.filter(|staged| staged.whose == Whose::Foreign);
        let files = self
            .state
            .shelf
            .stashes
            .iter()
            .flat_map(|stash| &stash.files);
        let wanted: Vec<Oid> = staged
            .map(|staged| staged.id)
            .chain(files.map(|file| file.id))
            .collect();
        self.keep_blobs(&wanted)
    }

    fn shelve_staged(&mut self, look: &Look, moment: Moment) {
        let old = std::mem::take(&mut self.state.shelf.staged);
        for (path, entry) in &look.staged {
            // What lies in the working tree is kept as it is there.
            if look.dirty.get(path).and_then(Content::blob) == Some(entry.id) {
                continue;
            }
            let known = old.get(path).filter(|staged| staged.id == entry.id);
            let trail = self.state.paths.get(path);
            let own = trail.is_some_and(|trail| trail.left(&entry.content(entry.id)));
            let whose = match (known, moment) {
                (Some(known), _) => known.whose,
                (None, Moment::Before) if !own => Whose::Foreign,
                (None, Moment::Before | Moment::After) => Whose::Mine,
            };
            let staged = Staged {
                mode: entry.mode,
                id: entry.id,
                whose,
            };
            self.state.shelf.staged.insert(path.clone(), staged);
        }
    }

    fn shelve_stashes(&mut self, moment: Moment) -> Result<(), Error> {
        let ids = self.repo.stashes()?;
        let old = std::mem::take(&mut self.state.shelf.stashes);
        for id in ids.into_iter().take(STASHES) {
            let stash = match old.iter().find(|stash| stash.id == id) {
                Some(known) => known.clone(),
                None if moment == Moment::After => Stash {
                    id,
                    files: Vec::new(),
                },
                // One that is broken is broken for git, too.
                None => Stash {
                    id,
                    files: files_of(self.repo.stashed(id).unwrap_or_default()),
                },
            };
            self.state.shelf.stashes.push(stash);
        }
        Ok(())
    }

    fn keep_blobs(&mut self, wanted: &[Oid]) -> Result<(), Error> {
        if wanted.is_empty() {
            return Ok(());
        }
        let mut kept = self.state.vault.kept();
        let mut room = self.state.vault.room();
        let mut fresh = Vec::new();
        for id in wanted {
            if !kept.insert(*id) {
                continue;
            }
            if let Ok((ObjectKind::Blob, size)) = self.repo.header(*id)
                && size <= LARGEST.min(room)
                && let Ok(bytes) = self.repo.blob(*id)
            {
                room -= size;
                fresh.push((*id, bytes));
            }
        }
        self.vault().add(fresh)
    }

    /// Remembers as somebody else's what came out of their stash, and returns its paths.
    pub(super) fn know_stashed(&mut self, look: &Look) -> Result<BTreeSet<RepoPath>, Error> {
        let mut found: Vec<(RepoPath, Content)> = Vec::new();
        let mut unlike: Vec<(RepoPath, Content, Entry)> = Vec::new();
        for file in self
            .state
            .shelf
            .stashes
            .iter()
            .flat_map(|stash| &stash.files)
        {
            let Some(content) = look.dirty.get(&file.path) else {
                continue;
            };
            match content.blob() {
                Some(id) if id == file.id => found.push((file.path.clone(), content.clone())),
                Some(_) if !self.is_known(&file.path, content) => {
                    unlike.push((file.path.clone(), content.clone(), file.entry()));
                }
                Some(_) | None => {}
            }
        }
        // Filters and line ends may make another content of the same blob.
        for (path, content, entry) in unlike {
            if self.raw(&path, entry)?.is_some_and(|raw| raw.0 == content) {
                found.push((path, content));
            }
        }
        let mut paths = BTreeSet::new();
        for (path, content) in found {
            let trail = self.state.trail(&path);
            if !trail.left(&content) {
                trail.saw_foreign(&content);
                paths.insert(path);
            }
        }
        Ok(paths)
    }

    /// Says whether a content was there before.
    fn is_known(&self, path: &RepoPath, content: &Content) -> bool {
        let trail = self.state.paths.get(path);
        let seen = self.state.open().any(|(_, snapshot)| {
            snapshot
                .get(path)
                .is_some_and(|held| held.content == *content)
        });
        seen || trail.is_some_and(|trail| trail.left(content) || trail.foreign.contains(content))
    }

    /// Returns what has gone from the shelf for nowhere.
    pub(super) fn gone(&mut self, look: &Look, time: u64) -> Result<Vec<Lost>, Error> {
        let mut lost = self.unhidden(look, time)?;
        lost.extend(self.unshelved(look)?);
        Ok(lost)
    }

    fn unshelved(&mut self, look: &Look) -> Result<Vec<Lost>, Error> {
        let mut gone: Vec<(RepoPath, Entry)> = Vec::new();
        for (path, staged) in &self.state.shelf.staged {
            let is_there = look
                .staged
                .get(path)
                .is_some_and(|entry| entry.id == staged.id);
            if staged.whose == Whose::Foreign && !is_there {
                gone.push((path.clone(), staged.entry()));
            }
        }
        if !self.state.shelf.stashes.is_empty() {
            let ids: HashSet<Oid> = self.repo.stashes()?.into_iter().collect();
            for stash in &self.state.shelf.stashes {
                if !ids.contains(&stash.id) {
                    let files = stash.files.iter();
                    gone.extend(files.map(|file| (file.path.clone(), file.entry())));
                }
            }
        }
        let mut lost = Vec::new();
        let head = match gone.is_empty() {
            true => None,
            false => self.repo.head()?.commit(),
        };
        let mut trees = Trees::new(self.repo);
        for (path, entry) in gone {
            let committed = head_file(head, &path, (self.repo, &mut trees))?;
            let is_committed = matches!(committed, HeadFile::Entry { id, .. } if id == entry.id);
            if is_committed || lies(look, &entry.content(entry.id)) {
                continue;
            }
            let Some((content, bytes)) = self.raw(&path, entry)? else {
                continue;
            };
            let one = Lost {
                path,
                content,
                mode: None,
            };
            if !lies(look, &one.content) && !lost.contains(&one) {
                let fresh = one.content.blob().map(|id| (id, bytes));
                let kept = self.state.vault.kept();
                let fresh = fresh.filter(|(id, _)| !kept.contains(id));
                self.vault().add(fresh.into_iter().collect())?;
                lost.push(one);
            }
        }
        Ok(lost)
    }

    /// Returns what a checkout would write of a blob; `None` when it is gone.
    fn raw(&self, path: &RepoPath, entry: Entry) -> Result<Option<(Content, Vec<u8>)>, Error> {
        if !self.repo.has(entry.id) {
            return Ok(None);
        }
        let plain = || self.repo.blob(entry.id);
        let bytes = match entry.is_link() {
            true => plain()?,
            // A filter that fails must not cost the bytes.
            false => match self.repo.smudged(&[(entry.id, path.clone())]) {
                Ok(mut smudged) => smudged.pop().unwrap_or_default(),
                Err(_) => plain()?,
            },
        };
        let id = self.repo.hash(ObjectKind::Blob, &bytes);
        Ok(Some((entry.content(id), bytes)))
    }

    /// Follows what is others' and lies where it lay, but is not dirty any more.
    pub(super) fn hide(&mut self, snapshot: &Snapshot, now: &Now) -> Result<(), Error> {
        let head = self.repo.head()?.commit();
        let mut trees = Trees::new(self.repo);
        for (path, content) in &now.clean {
            let Some(held) = snapshot.get(path) else {
                continue;
            };
            let others = taken(path, held).is_some_and(|_| held.content == *content);
            if !others || self.state.shelf.hidden.len() >= HIDDEN {
                continue;
            }
            let commit = match head_file(head, path, (self.repo, &mut trees))? {
                HeadFile::Entry { .. } if now.made.contains(path) => head,
                HeadFile::Entry { id, .. } if content.blob() == Some(id) => head,
                HeadFile::Entry { .. } | HeadFile::Absent | HeadFile::Unread => None,
            };
            let hidden = Hidden {
                held: held.clone(),
                commit: commit.map(|id| id.to_hex()),
            };
            self.state.shelf.hidden.insert(path.clone(), hidden);
        }
        Ok(())
    }

    /// Returns what was hidden and is gone now.
    fn unhidden(&mut self, look: &Look, time: u64) -> Result<Vec<Lost>, Error> {
        let hidden = std::mem::take(&mut self.state.shelf.hidden);
        if hidden.is_empty() {
            return Ok(Vec::new());
        }
        let tips = self.tips()?;
        let moved = std::mem::replace(&mut self.state.shelf.tips, tips.clone()) != tips;
        let mut seen = Sight::default();
        let mut looker = Looker::new(self.repo, &mut seen, time)?;
        let mut lost = Vec::new();
        let mut still = BTreeMap::new();
        for (path, one) in hidden {
            let content = match look.dirty.get(&path) {
                Some(content) => content.clone(),
                None => looker.at(&path)?,
            };
            let is_there = content == one.held.content;
            if is_there && look.dirty.contains_key(&path) {
                // It shows again.
                continue;
            }
            let is_safe = is_there
                || match one.commit.as_deref().map(str::parse) {
                    Some(Ok(commit)) => !moved || self.repo.is_reached(commit)?,
                    Some(Err(_)) | None => false,
                };
            if is_safe {
                still.insert(path, one);
            } else if !lies(look, &one.held.content) {
                lost.extend(taken(&path, &one.held));
            }
        }
        self.state.shelf.hidden = still;
        Ok(lost)
    }

    /// Returns what changes when a branch or HEAD does.
    fn tips(&self) -> Result<String, Error> {
        let mut text = format!("{:?}\n", self.repo.head()?.commit());
        for (name, id) in self.repo.list_refs("refs/heads/")? {
            text.push_str(&format!("{id} {name}\n"));
        }
        Ok(Digest::of(text.as_bytes()).to_hex())
    }
}

/// Says whether a content lies at any dirty path.
fn lies(look: &Look, content: &Content) -> bool {
    look.dirty.values().any(|other| other == content)
}

fn files_of(files: Vec<(RepoPath, Entry)>) -> Vec<Stashed> {
    let file = |(path, entry): (RepoPath, Entry)| Stashed {
        path,
        mode: entry.mode,
        id: entry.id,
    };
    files.into_iter().map(file).collect()
}

impl Staged {
    fn entry(&self) -> Entry {
        Entry {
            mode: self.mode,
            id: self.id,
        }
    }
}

impl Stashed {
    fn entry(&self) -> Entry {
        Entry {
            mode: self.mode,
            id: self.id,
        }
    }
}

impl Entry {
    /// Returns the content of a file of this kind whose bytes are the blob `id`.
    fn content(&self, id: Oid) -> Content {
        match self {
            _ if self.is_link() => Content::Link(id),
            _ if self.is_executable() => Content::Executable(id),
            _ => Content::File(id),
        }
    }
}
