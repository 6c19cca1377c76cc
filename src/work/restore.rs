//! Puts paths back as they were when a call began.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    os::unix::fs::MetadataExt as _,
};

use super::{
    Content, Error,
    look::{Keeper, Look, Looker, Sight, top},
    plan::{Plan, Want},
    rescue::Why,
    rules::Lost,
    session::{HOOK, Session},
    since::is_born_before,
    state::{Before, Change, Claim, HeadFile, LINK, Modes, Phase, State, Verdict, Whose},
    steps::Step,
};
use crate::{
    git::{Lay, Repo, Stat, files::Tree},
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

const EXECUTABLE: u32 = 0o100_755;

/// Puts paths back. Every object is checked before the first path is touched, every path again right
/// before it is replaced.
pub fn restore(repo: &Repo, request: &RestoreRequest<'_>) -> Result<Vec<RestoreLine>, Error> {
    let mut session = Session::open(repo, request.session, HOOK)?;
    let steps = session.steps(request)?;
    let look = session.look(request.time)?;
    let mut lines: Vec<RestoreLine> = look
        .not_covered
        .iter()
        .map(|path| line(path, Done::NotCovered))
        .collect();
    let checked = steps.into_iter().map(|step| {
        let want = session.check(&step, &look);
        (step, want)
    });
    let mut plan = Plan::new(checked.collect());
    session.keep_replaced(&mut plan, request.time)?;
    let directories = session.moved_directories(&plan.ready)?;
    let mut removed = BTreeSet::new();
    while let Some(group) = plan.next_group() {
        let bytes = session.bytes_of(&group);
        for ((step, want), bytes) in group.iter().zip(bytes) {
            let put = bytes.and_then(|bytes| session.put(step, want, (&bytes, request.time)));
            match put.unwrap_or_else(|error| Done::Skipped(error.to_string())) {
                Done::Skipped(reason) => plan.leave(&step.change.path, reason),
                done => {
                    session.state.undone(step);
                    if done == Done::Removed {
                        removed.insert((step.change.path.clone(), step.begun));
                    }
                    lines.push(line(&step.change.path, done));
                }
            }
        }
    }
    session.prune_directories(&removed, &directories)?;
    let left = plan.left.into_iter();
    lines.extend(left.map(|(path, reason)| line(&path, Done::Skipped(reason))));
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
        if change.stashed && step.sources.is_empty() && !self.is_stashed(change)? {
            return Err("it is somebody else's work, and has left the stash".to_owned());
        }
        let want = match &change.before {
            Before::Unseen => return Err("what was there before is not known".to_owned()),
            Before::Clean(HeadFile::Absent) if self.is_from_elsewhere(step)? => {
                return Err("it is older than the call, and was nowhere looked at".to_owned());
            }
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
        let id = match &want {
            Want::Nothing => None,
            Want::Head { id, .. } => Some(*id),
            Want::Kept(content, _) => content.blob(),
        };
        let Some(id) = id else {
            return Ok(want);
        };
        let is_kept = || matches!(want, Want::Head { .. }) || self.state.vault.kept().contains(&id);
        match self.repo.read_verified(id) {
            Ok(_) => Ok(want),
            Err(error) if error.is_absence() && !is_kept() => {
                Err("content not kept: there was no room".to_owned())
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// Says whether a call that found nothing at a path moved there what no path it changed had held.
    fn is_from_elsewhere(&self, step: &Step) -> Result<bool, String> {
        let top = top(self.repo).map_err(|error| error.to_string())?;
        let path = top.join::<&std::ffi::OsStr>(step.change.path.as_ref());
        let is_only = path.symlink_metadata().is_ok_and(|meta| meta.nlink() == 1);
        Ok(step.sources.is_empty() && is_only && is_born_before(&path, step.begun) == Some(true))
    }

    /// Says whether a stash still holds what a change left.
    fn is_stashed(&self, change: &Change) -> Result<bool, String> {
        let lost = Lost {
            path: change.path.clone(),
            content: change.after.clone(),
            mode: None,
        };
        let parted = self.not_stashed(vec![lost]);
        let (gone, _) = parted.map_err(|error| error.to_string())?;
        Ok(gone.is_empty())
    }

    /// Keeps what is about to be replaced: a restore can be taken back, too. What cannot be kept is
    /// left as it is.
    fn keep_replaced(&mut self, plan: &mut Plan, time: u64) -> Result<(), Error> {
        let keeper = Keeper {
            kept: self.rescued.vault.kept(),
            fresh: Vec::new(),
            room: self.rescued.vault.room(),
        };
        let mut seen = Sight::default();
        let mut looker = Looker::new(self.repo, &mut seen, time)?.keeping(keeper);
        let mut modes = Modes::new();
        for (step, _) in &plan.ready {
            let path = &step.change.path;
            looker.at(path)?;
            modes.extend(looker.mode(path).map(|mode| (path.clone(), mode)));
        }
        let Keeper { kept, fresh, .. } = looker.kept();
        self.rescue_vault().add(fresh)?;
        plan.leave_all(|step| unkept(&step.change.after, &kept));
        let mut lost: BTreeMap<&str, Vec<Lost>> = BTreeMap::new();
        for (step, _) in &plan.ready {
            let Change { path, after, .. } = &step.change;
            if after.holds_bytes() {
                lost.entry(&step.call).or_default().push(Lost {
                    path: path.clone(),
                    content: after.clone(),
                    mode: modes.get(path).copied(),
                });
            }
        }
        for (call, lost) in lost {
            self.rescue(&lost, call, (time, Why::Restore))?;
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

    /// Returns the directories that the call moved whole: where they were, none is now, and nothing was
    /// put into them since.
    fn moved_directories(&self, ready: &[(Step, Want)]) -> Result<BTreeSet<RepoPath>, Error> {
        let tree = Tree::open(top(self.repo)?)?;
        let mut moved = BTreeSet::new();
        for (step, want) in ready {
            if !matches!(want, Want::Nothing) {
                continue;
            }
            for source in &step.sources {
                let above = parents(&step.change.path).zip(parents(source));
                for (dir, was) in above {
                    let is_old = |stat: Stat| ms(stat.modified_ns) < step.begun;
                    if tree.stat(&was)?.is_some() || !tree.stat(&dir)?.is_some_and(is_old) {
                        break;
                    }
                    let is_same = name(&dir) == name(&was);
                    moved.insert(dir);
                    if !is_same {
                        break;
                    }
                }
            }
        }
        Ok(moved)
    }

    /// Removes directories that the call made or moved and that hold nothing any more.
    fn prune_directories(
        &self,
        removed: &BTreeSet<(RepoPath, u64)>,
        moved: &BTreeSet<RepoPath>,
    ) -> Result<(), Error> {
        let top = top(self.repo)?;
        let tree = Tree::open(top)?;
        for (path, begun) in removed {
            for dir in parents(path) {
                let whole = top.join::<&std::ffi::OsStr>(dir.as_ref());
                let is_new = is_born_before(&whole, *begun) != Some(true);
                let is_its = is_new || moved.contains(&dir);
                if !is_its || !tree.remove_directory(&dir).unwrap_or(false) {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Returns why a content must not be removed or replaced; `None` where its bytes are kept.
fn unkept(content: &Content, kept: &HashSet<Oid>) -> Option<String> {
    let is_kept = content.blob().is_some_and(|id| kept.contains(&id));
    let reason = match content {
        Content::Absent | Content::Special => return None,
        Content::File(_) | Content::Executable(_) | Content::Link(_) if is_kept => return None,
        Content::Large { .. } => "it is too large to keep, and would be gone",
        Content::File(_) | Content::Executable(_) | Content::Link(_) => {
            "there is no room to keep it, and it would be gone"
        }
    };
    Some(reason.to_owned())
}

/// Returns the directories above a path, the nearest first.
fn parents(path: &RepoPath) -> impl Iterator<Item = RepoPath> {
    let bytes = path.as_bytes();
    let slashes = bytes.iter().enumerate().rev();
    let slashes = slashes.filter(|(_, byte)| **byte == b'/');
    slashes.map(|(at, _)| RepoPath::new(&bytes[..at]))
}

fn ms(ns: i64) -> u64 {
    u64::try_from(ns / 1_000_000).unwrap_or(0)
}

fn name(path: &RepoPath) -> &[u8] {
    path.as_bytes()
        .rsplit(|byte| *byte == b'/')
        .next()
        .unwrap_or_default()
}
