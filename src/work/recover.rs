//! Gives back other people's uncommitted work that vanished during a session.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{
    Content, Error, Why,
    look::{Looker, Sight, top},
    rescue::{Rescue, Rescued},
    rules::{Lost, taken},
    session,
    state::{Call, Phase, State},
};
use crate::{
    git::{Lay, Repo, files::Tree},
    model::RepoPath,
};

/// A content that can be given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub path: RepoPath,
    pub content: Content,
    /// The permissions of the file, where they are known.
    pub mode: Option<u32>,
    /// When it was last known to lie there, in ms.
    pub time: u64,
    pub session: String,
    pub call: String,
    pub why: Why,
    /// Its bytes are kept.
    pub kept: bool,
}

/// What is to be given back.
#[derive(Clone, Debug)]
pub struct Recover<'a> {
    pub paths: &'a [RepoPath],
    /// The call that ran when the content vanished; the newest of any when `None`.
    pub call: Option<&'a str>,
    /// Where to; the working tree when `None`.
    pub to: Option<&'a Path>,
    /// The wall time in ms.
    pub time: u64,
}

/// What became of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// It was written there.
    To(PathBuf),
    Skipped(String),
}

/// Returns what can be given back and does not lie at its path now, newest first.
pub fn recoverable(repo: &Repo, time: u64) -> Result<Vec<Found>, Error> {
    let mut found: BTreeMap<(RepoPath, Content), Found> = BTreeMap::new();
    for (dir, state) in session::read_all(repo) {
        if state.worktree != repo.worktree_name() && worktree_exists(repo, &state.worktree) {
            continue;
        }
        let rescued = Rescued::read(&dir.join("rescue")).unwrap_or_default();
        let left = state.left_behind(repo)?;
        for (rescue, session) in held(&state, rescued, left) {
            let key = (rescue.path.clone(), rescue.content.clone());
            let newer = found.get(&key).is_none_or(|known| known.time < rescue.time);
            if newer {
                let kept = rescue.content.blob().is_some_and(|id| repo.has(id));
                found.insert(key, Found::new(rescue, session, kept));
            }
        }
    }
    let mut seen = Sight::default();
    let mut looker = Looker::new(repo, &mut seen, time)?;
    let mut gone = Vec::new();
    for ((path, content), one) in found {
        if looker.at(&path)? != content {
            gone.push(one);
        }
    }
    gone.sort_by(|one, other| (other.time, &one.path).cmp(&(one.time, &other.path)));
    Ok(gone)
}

/// What was rescued, and the snapshots of calls that never ended.
fn held(state: &State, rescued: Rescued, left: Vec<Lost>) -> Vec<(Rescue, &str)> {
    let mut held: Vec<(Rescue, &str)> = rescued
        .found
        .into_iter()
        .map(|rescue| (rescue, state.session.as_str()))
        .collect();
    let pending = state
        .calls
        .iter()
        .rev()
        .find(|call| state.pending(&call.id).is_some());
    for (lost, call) in left.into_iter().zip(pending.into_iter().cycle()) {
        held.push((Rescue::unfinished(lost, call), &state.session));
    }
    for call in &state.calls {
        let (Phase::Open { snapshot } | Phase::Dropped { snapshot }) = &call.phase else {
            continue;
        };
        for lost in snapshot.iter().filter_map(|(path, held)| taken(path, held)) {
            held.push((Rescue::unfinished(lost, call), &state.session));
        }
    }
    held
}

fn worktree_exists(repo: &Repo, name: &str) -> bool {
    name == "." || repo.common_dir().join("worktrees").join(name).is_dir()
}

impl Rescue {
    fn unfinished(lost: Lost, call: &Call) -> Self {
        Self {
            path: lost.path,
            content: lost.content,
            mode: lost.mode,
            time: call.time,
            call: call.id.clone(),
            why: Why::Dropped,
        }
    }
}

impl Found {
    fn new(rescue: Rescue, session: &str, kept: bool) -> Self {
        Self {
            path: rescue.path,
            content: rescue.content,
            mode: rescue.mode,
            time: rescue.time,
            session: session.to_owned(),
            call: rescue.call,
            why: rescue.why,
            kept,
        }
    }
}

/// Gives back the newest content of each path; nothing that lies at its place is replaced.
pub fn recover(repo: &Repo, request: &Recover<'_>) -> Result<Vec<(RepoPath, Given)>, Error> {
    let found = recoverable(repo, request.time)?;
    let to = match request.to {
        Some(dir) => {
            std::fs::create_dir_all(dir).map_err(Error::write(dir))?;
            dir
        }
        None => top(repo)?,
    };
    let tree = Tree::open(to)?;
    let mut given = Vec::new();
    for path in request.paths {
        let of_call = |one: &&Found| request.call.is_none_or(|call| call == one.call);
        let newest = found.iter().filter(of_call).find(|one| one.path == *path);
        let done = match newest {
            None => Given::Skipped("nothing of it vanished during a session".to_owned()),
            Some(one) if !one.kept => Given::Skipped("content not kept".to_owned()),
            Some(_) if tree.stat(path)?.is_some() => {
                Given::Skipped("something lies there: name another directory with --to".to_owned())
            }
            Some(one) => give(repo, &tree, one)?,
        };
        given.push((path.clone(), done.at(to, path)));
    }
    Ok(given)
}

fn give(repo: &Repo, tree: &Tree, one: &Found) -> Result<Given, Error> {
    let Some(id) = one.content.blob() else {
        return Ok(Given::Skipped("content not kept".to_owned()));
    };
    let object = match repo.read_verified(id) {
        Ok(object) => object,
        Err(error) => return Ok(Given::Skipped(error.to_string())),
    };
    let bytes = object.bytes.as_slice();
    let lay = match (&one.content, one.mode) {
        (Content::Link(_), _) => Lay::Link(bytes),
        (_, Some(mode)) => Lay::Exact { bytes, mode },
        (_, None) => Lay::File {
            bytes,
            executable: matches!(one.content, Content::Executable(_)),
        },
    };
    tree.lay(&one.path, lay)?;
    Ok(Given::To(PathBuf::new()))
}

impl Given {
    fn at(self, dir: &Path, path: &RepoPath) -> Self {
        match self {
            Self::To(_) => Self::To(dir.join::<&std::ffi::OsStr>(path.as_ref())),
            skipped @ Self::Skipped(_) => skipped,
        }
    }
}
