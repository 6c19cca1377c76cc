//! Puts paths back as they were when a call began.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Content, Error,
    look::{Look, Looker, Sight, top},
    rescue::Why,
    rules::Lost,
    session::{HOOK, Session},
    state::{Before, Change, Claim, HeadFile, Phase, State, Verdict, Whose},
};
use crate::{
    git::{Lay, Repo, files::Tree},
    model::{Oid, RepoPath},
};

/// What is to be put back.
#[derive(Clone, Debug)]
pub struct RestoreRequest<'a> {
    pub session: &'a str,
    /// The call to undo; `None` undoes, for each path, the newest call that left it as it is.
    pub call: Option<&'a str>,
    /// The paths; all that the call changed when there are none.
    pub paths: &'a [RepoPath],
    /// The wall time in ms.
    pub time: u64,
}

/// What became of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreLine {
    pub path: RepoPath,
    pub done: Done,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// Its content of before lies there again.
    Restored,
    /// There was nothing before, and is nothing now.
    Removed,
    /// It lies in a repository inside this one; that is not looked into.
    NotCovered,
    /// It was left as it is.
    Skipped(String),
}

impl Done {
    /// Says whether the path is as it was.
    pub fn is_done(&self) -> bool {
        match self {
            Self::Restored | Self::Removed => true,
            Self::NotCovered | Self::Skipped(_) => false,
        }
    }
}

/// A change to undo, of a call.
struct Step {
    call: String,
    begun: u64,
    change: Change,
}

/// What is to lie at a path.
enum Want {
    Nothing,
    Kept(Content, Option<u32>),
    Head { id: Oid, mode: u32 },
}

/// How many paths are read before they are written.
const GROUP: usize = 100;
const LINK: u32 = 0o120_000;
const EXECUTABLE: u32 = 0o100_755;

/// Puts paths back. Every object is checked before the first path is touched, every path again right
/// before it is replaced.
pub fn restore(repo: &Repo, request: &RestoreRequest<'_>) -> Result<Vec<RestoreLine>, Error> {
    let mut session = Session::open(repo, request.session, HOOK)?;
    let steps = session.state.steps(request)?;
    let look = session.look(request.time)?;
    let mut lines: Vec<RestoreLine> = look
        .not_covered
        .iter()
        .map(|path| line(path, Done::NotCovered))
        .collect();
    let mut ready = Vec::new();
    for step in steps {
        match session.check(&step, &look) {
            Ok(want) => ready.push((step, want)),
            Err(reason) => lines.push(line(&step.change.path, Done::Skipped(reason))),
        }
    }
    session.keep_replaced(&ready, request.time)?;
    // What is to go goes first, the deepest first: it may stand in the way of what is to come.
    ready.reverse();
    let (go, mut come): (Vec<_>, Vec<_>) = ready
        .into_iter()
        .partition(|(_, want)| matches!(want, Want::Nothing));
    come.reverse();
    let mut removed = BTreeSet::new();
    for group in go.chunks(GROUP).chain(come.chunks(GROUP)) {
        let bytes = session.bytes_of(group);
        for ((step, want), bytes) in group.iter().zip(bytes) {
            let put = bytes.and_then(|bytes| session.put(step, want, (&bytes, request.time)));
            let done = put.unwrap_or_else(|error| Done::Skipped(error.to_string()));
            if done.is_done() {
                session.state.undone(step);
            }
            if done == Done::Removed {
                removed.insert((step.change.path.clone(), step.begun));
            }
            lines.push(line(&step.change.path, done));
        }
    }
    session.prune_directories(&removed)?;
    lines.sort_by(|one, other| one.path.cmp(&other.path));
    session.save(request.time)?;
    Ok(lines)
}

fn line(path: &RepoPath, done: Done) -> RestoreLine {
    RestoreLine {
        path: path.clone(),
        done,
    }
}

impl State {
    /// Returns what is to be undone, sorted by path.
    fn steps(&self, request: &RestoreRequest<'_>) -> Result<Vec<Step>, Error> {
        let mut steps: BTreeMap<RepoPath, Step> = BTreeMap::new();
        let mut found = false;
        for call in self.calls.iter().rev() {
            let Phase::Finished {
                changes, restored, ..
            } = &call.phase
            else {
                continue;
            };
            if request.call.is_some_and(|id| id != call.id) {
                continue;
            }
            found = true;
            for change in changes {
                let wanted = request.paths.is_empty() || request.paths.contains(&change.path);
                let undone = restored.contains(&change.path);
                // Nothing was left of it that could be undone.
                let is_settled = request.paths.is_empty()
                    && change.verdict == Verdict::Committed
                    && matches!(change.before, Before::Clean(_));
                if !wanted || undone || is_settled {
                    continue;
                }
                steps.entry(change.path.clone()).or_insert_with(|| Step {
                    call: call.id.clone(),
                    begun: call.time,
                    change: change.clone(),
                });
            }
        }
        match (request.call, found) {
            (Some(id), false) => Err(Error::UnknownCall(id.to_owned())),
            _ => match request.paths.iter().find(|path| !steps.contains_key(path)) {
                Some(path) if request.call.is_none() => Err(Error::UnknownPath(path.quoted())),
                _ => Ok(steps.into_values().collect()),
            },
        }
    }

    /// Takes a change that was undone back out of the state.
    fn undone(&mut self, step: &Step) {
        let change = &step.change;
        self.step += 1;
        let at = self.step;
        let trail = self.trail(&change.path);
        trail.park();
        trail.mixed = None;
        if let Before::Dirty(held) = &change.before {
            match held.whose {
                Whose::Mine | Whose::Carried => {
                    trail.carried = (held.whose == Whose::Carried).then(|| held.content.clone());
                    trail.claim = Some(Claim {
                        content: held.content.clone(),
                        call: step.call.clone(),
                        agent: None,
                        step: at,
                    });
                }
                Whose::Foreign => trail.saw_foreign(&held.content),
                Whose::Unattributed => trail.unattributed = Some(held.content.clone()),
                Whose::Clean => {}
            }
        }
        if let Some(call) = self.call_mut(&step.call)
            && let Phase::Finished { restored, .. } = &mut call.phase
        {
            restored.push(change.path.clone());
        }
    }
}

impl Session<'_> {
    /// Says what is to lie at the path, or why it is left alone.
    fn check(&self, step: &Step, look: &Look) -> Result<Want, String> {
        let change = &step.change;
        let was_left_dirty = change.verdict != Verdict::Clean;
        match look.dirty.get(&change.path) {
            None if was_left_dirty => {
                return Err("it is clean: committed or put back since".to_owned());
            }
            Some(now) if *now != change.after => {
                return Err("it was changed since the call".to_owned());
            }
            None | Some(_) => {}
        }
        let want = match &change.before {
            Before::Clean(HeadFile::Absent) => Want::Nothing,
            Before::Clean(HeadFile::Unread) => {
                return Err("what HEAD had is not known".to_owned());
            }
            Before::Clean(HeadFile::Entry { id, mode }) => Want::Head {
                id: *id,
                mode: *mode,
            },
            Before::Dirty(held) => match &held.content {
                Content::Absent => Want::Nothing,
                Content::Large { .. } => return Err("content not kept: over 16 MiB".to_owned()),
                Content::Special => return Err("it was no file".to_owned()),
                Content::File(_) | Content::Executable(_) | Content::Link(_) => {
                    Want::Kept(held.content.clone(), held.mode)
                }
            },
        };
        if change.verdict == Verdict::Mixed && matches!(change.after, Content::Large { .. }) {
            return Err("it holds another's work and is too large to keep".to_owned());
        }
        let id = match &want {
            Want::Nothing => None,
            Want::Head { id, .. } => Some(*id),
            Want::Kept(content, _) => content.blob(),
        };
        match id.map(|id| self.repo.read_verified(id)) {
            None | Some(Ok(_)) => Ok(want),
            Some(Err(error)) => Err(error.to_string()),
        }
    }

    /// Keeps what is about to be replaced: a restore can be taken back, too.
    fn keep_replaced(&mut self, ready: &[(Step, Want)], time: u64) -> Result<(), Error> {
        let keeper = self.keeper();
        let mut seen = Sight::default();
        let mut looker = Looker::new(self.repo, &mut seen, time)?.keeping(keeper);
        for (step, _) in ready {
            looker.at(&step.change.path)?;
        }
        let modes: Vec<Option<u32>> = ready
            .iter()
            .map(|(step, _)| looker.mode(&step.change.path))
            .collect();
        let fresh = looker.kept().fresh;
        self.vault().add(fresh)?;
        for ((step, _), mode) in ready.iter().zip(modes) {
            let lost = Lost {
                path: step.change.path.clone(),
                content: step.change.after.clone(),
                mode,
            };
            if lost.content.holds_bytes() {
                self.rescue(&[lost], &step.call, (time, Why::Restore))?;
            }
        }
        self.save_rescues()
    }

    /// Returns the bytes that are to lie at each path.
    fn bytes_of(&self, group: &[(Step, Want)]) -> Vec<Result<Vec<u8>, Error>> {
        let filtered = |want: &Want| match want {
            Want::Head { id, mode } if *mode != LINK => Some(*id),
            Want::Head { .. } | Want::Nothing | Want::Kept(..) => None,
        };
        let heads: Vec<(Oid, RepoPath)> = group
            .iter()
            .filter_map(|(step, want)| Some((filtered(want)?, step.change.path.clone())))
            .collect();
        // One child for all; where a filter fails, one for each, so that only its path is skipped.
        let mut together = self.repo.smudged(&heads).map(Vec::into_iter);
        let bytes = |(step, want): &(Step, Want)| match (want, filtered(want), &mut together) {
            (_, Some(_), Ok(smudged)) => Ok(smudged.next().unwrap_or_default()),
            (_, Some(id), Err(_)) => {
                let one = self.repo.smudged(&[(id, step.change.path.clone())])?;
                Ok(one.into_iter().next().unwrap_or_default())
            }
            (Want::Head { id, .. }, None, _) => Ok(self.repo.blob(*id)?),
            (Want::Kept(content, _), None, _) => match content.blob() {
                Some(id) => Ok(self.repo.blob(id)?),
                None => Ok(Vec::new()),
            },
            (Want::Nothing, None, _) => Ok(Vec::new()),
        };
        group.iter().map(bytes).collect()
    }

    fn put(
        &mut self,
        step: &Step,
        want: &Want,
        (bytes, time): (&[u8], u64),
    ) -> Result<Done, Error> {
        let path = &step.change.path;
        if self.glance(path, time)? != step.change.after {
            return Ok(Done::Skipped("it was changed just now".to_owned()));
        }
        let tree = Tree::open(top(self.repo)?)?;
        let file = |executable| Lay::File { bytes, executable };
        let lay = match want {
            Want::Nothing => {
                tree.unlay(path)?;
                return Ok(Done::Removed);
            }
            Want::Kept(Content::Link(_), _) => Lay::Link(bytes),
            Want::Kept(_, Some(mode)) => Lay::Exact { bytes, mode: *mode },
            Want::Kept(content, None) => file(matches!(content, Content::Executable(_))),
            Want::Head { mode, .. } if *mode == LINK => Lay::Link(bytes),
            Want::Head { mode, .. } => file(*mode == EXECUTABLE),
        };
        tree.lay(path, lay)?;
        Ok(Done::Restored)
    }

    /// Removes directories that the call made and that hold nothing any more.
    fn prune_directories(&self, removed: &BTreeSet<(RepoPath, u64)>) -> Result<(), Error> {
        let top = top(self.repo)?;
        let tree = Tree::open(top)?;
        for (path, begun) in removed {
            let mut at = path.as_bytes();
            while let Some(slash) = at.iter().rposition(|byte| *byte == b'/') {
                at = &at[..slash];
                let dir = RepoPath::new(at);
                let made = made_ms(&top.join::<&std::ffi::OsStr>(dir.as_ref()));
                let is_new = made.is_none_or(|made| made + SLACK >= *begun);
                if !is_new || !tree.remove_directory(&dir).unwrap_or(false) {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// How far behind the clock the file system's may be, in ms.
const SLACK: u64 = 50;

/// When a directory was made, where the file system knows.
fn made_ms(path: &std::path::Path) -> Option<u64> {
    let made = path.symlink_metadata().ok()?.created().ok()?;
    let since = made.duration_since(std::time::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}
