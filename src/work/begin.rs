use std::collections::BTreeSet;

use super::{
    Content, Error, Place, Work,
    look::{Keeper, Look, Looker},
    rescue::Why,
    rules::Begin,
    session::{self, HOOK, Session},
    shelf::Moment,
    state::{HeadFile, Held, Others, Reach, Snapshot, State, Whose},
};
use crate::{
    git::{Repo, Trees},
    model::{Oid, RepoPath},
};

/// A tool use that is about to begin, or has ended.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    pub session: &'a str,
    pub tool: &'a str,
    pub id: &'a str,
    /// The subagent that makes it.
    pub agent: Option<&'a str>,
    pub target: Target,
    pub scope: Scope,
    /// The wall time in ms.
    pub time: u64,
}

/// What a tool can change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Any path: a shell; or a file tool that names no path we know.
    Tree,
    File(Place),
}

/// How much of the working tree is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// What the target needs.
    Target,
    /// All of it, because somebody asks for the session's work.
    Tree,
}

/// Which tools are tracked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    Shell,
    File,
}

impl Tool {
    /// Returns what a tool is; `None` for one that is not tracked.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "Bash" | "PowerShell" => Some(Self::Shell),
            "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => Some(Self::File),
            _ => None,
        }
    }
}

/// What is known when a call begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Begun {
    /// The session's work; `None` when nobody asked for it.
    pub work: Option<Work>,
}

/// Records what lies in the working tree before a tool runs.
pub fn begin(repo: &Repo, call: &Call<'_>) -> Result<Begun, Error> {
    let mut session = call.open(repo)?;
    session.state.ended = None;
    let head = repo.head()?.commit();
    let reach = session.visible(call.reach(), head)?;
    let mut begin = call.begin(reach.clone(), head);
    let whole = reach == Reach::Tree || call.scope == Scope::Tree;
    let look = match whole {
        true => Some(session.look_keeping(call.time)?),
        false => None,
    };
    if let Some(look) = &look {
        // What somebody took out of the stash since is theirs to look after.
        let mut left = session.left_stash(look, call.time)?;
        let gone = session.gone(look, call.time)?;
        if session.state.open().next().is_some() {
            left.extend(gone);
        }
        session.rescue(&left, call.id, (call.time, Why::Dropped))?;
        session.shelve(look, Moment::Before)?;
    }
    let mut snapshot = match &look {
        Some(look) => {
            begin.not_covered = look.inside();
            session.state.observe(&look.dirty);
            session.state.snapshot(&look.dirty, &look.modes)
        }
        None => Snapshot::new(),
    };
    if let Reach::Path(path) = &reach
        && !snapshot.contains_key(path)
    {
        let held = match &look {
            Some(_) => Held {
                content: session.glance(path, call.time)?,
                whose: Whose::Clean,
                mode: None,
            },
            None => session.hold(path, begin.head, call.time)?,
        };
        snapshot.insert(path.clone(), held);
    }
    session.state.begin(begin, snapshot);
    let asked = look.filter(|_| call.scope == Scope::Tree);
    let work = asked.map(|look| session.work(&look, Some(call.id)));
    session.save(call.time)?;
    Ok(Begun { work })
}

impl Call<'_> {
    /// Opens the session's state; git looks at the working tree meanwhile where that will be asked for.
    pub(super) fn open<'a>(&self, repo: &'a Repo) -> Result<Session<'a>, Error> {
        match self.target == Target::Tree || self.scope == Scope::Tree {
            true => Session::open_looking(repo, self.session, HOOK),
            false => Session::open(repo, self.session, HOOK),
        }
    }

    pub(super) fn begin(&self, reach: Reach, head: Option<Oid>) -> Begin {
        Begin {
            id: self.id.to_owned(),
            tool: self.tool.to_owned(),
            agent: self.agent.map(str::to_owned),
            reach,
            time: self.time,
            head,
            not_covered: Vec::new(),
        }
    }

    pub(super) fn reach(&self) -> Reach {
        match &self.target {
            Target::Tree => Reach::Tree,
            Target::File(Place::Inside(path)) => Reach::Path(path.clone()),
            Target::File(Place::Nested(_) | Place::Outside) => Reach::Nothing,
        }
    }
}

impl Session<'_> {
    /// Looks at the whole working tree and keeps the bytes of what is dirty.
    pub(super) fn look_keeping(&mut self, now: u64) -> Result<Look, Error> {
        let keeper = self.keeper();
        let claimed: BTreeSet<RepoPath> =
            self.state.claims().map(|(path, _)| path.clone()).collect();
        let (entries, worktrees) = self.entries()?;
        let mut looker = Looker::new(self.repo, &mut self.state.seen, now)?.keeping(keeper);
        let mut look = looker.all(entries, |path| claimed.contains(path))?;
        look.worktrees = worktrees;
        let fresh = looker.kept().fresh;
        self.vault().add(fresh)?;
        Ok(look)
    }

    /// Looks at the whole working tree.
    pub(super) fn look(&mut self, now: u64) -> Result<Look, Error> {
        let (entries, worktrees) = self.entries()?;
        let mut looker = Looker::new(self.repo, &mut self.state.seen, now)?;
        let mut look = looker.all(entries, |_| false)?;
        look.worktrees = worktrees;
        Ok(look)
    }

    /// Looks at one path.
    pub(super) fn glance(&mut self, path: &RepoPath, now: u64) -> Result<Content, Error> {
        Looker::new(self.repo, &mut self.state.seen, now)?.at(path)
    }

    pub(super) fn keeper(&self) -> Keeper {
        Keeper {
            kept: self.state.vault.kept(),
            fresh: Vec::new(),
            room: self.state.vault.room(),
        }
    }

    /// Ignored files are invisible: a file tool whose path git ignores changes nothing here.
    pub(super) fn visible(&self, reach: Reach, head: Option<Oid>) -> Result<Reach, Error> {
        let Reach::Path(path) = &reach else {
            return Ok(reach);
        };
        let touched = self
            .state
            .paths
            .get(path)
            .is_some_and(|trail| trail.touched);
        let at_head = || head_file(head, path, (self.repo, &mut Trees::new(self.repo)));
        if touched || at_head()? != HeadFile::Absent {
            return Ok(reach);
        }
        Ok(match self.repo.ignored(std::slice::from_ref(path))?[..] {
            [true, ..] => Reach::Nothing,
            _ => reach,
        })
    }

    /// Looks at a file tool's own path, and keeps its bytes unless HEAD has them.
    fn hold(&mut self, path: &RepoPath, head: Option<Oid>, now: u64) -> Result<Held, Error> {
        let keeper = self.keeper();
        let mut looker = Looker::new(self.repo, &mut self.state.seen, now)?.keeping(keeper);
        let content = looker.at(path)?;
        let mode = looker.mode(path);
        let fresh = looker.kept().fresh;
        let trail = self.state.paths.get(path);
        let claimed = trail.is_some_and(|trail| trail.claims(&content));
        let whose = match !claimed && self.is_at_head(path, &content, head)? {
            true => Whose::Clean,
            false => self.state.whose(path, &content),
        };
        if whose == Whose::Foreign {
            self.state.trail(path).saw_foreign(&content);
        }
        if whose != Whose::Clean {
            self.vault().add(fresh)?;
        }
        Ok(Held {
            content,
            whose,
            mode,
        })
    }

    fn is_at_head(
        &self,
        path: &RepoPath,
        content: &Content,
        head: Option<Oid>,
    ) -> Result<bool, Error> {
        let file = head_file(head, path, (self.repo, &mut Trees::new(self.repo)))?;
        Ok(match (file, content) {
            (HeadFile::Absent, Content::Absent) => true,
            (HeadFile::Entry { id, .. }, content) => content.blob() == Some(id),
            (HeadFile::Absent | HeadFile::Unread, _) => false,
        })
    }

    /// Returns the session's work, with `call` as its tool use.
    pub(super) fn work(&self, look: &Look, call: Option<&str>) -> Work {
        let others = self.state.others_for(self.repo, look);
        let mut work = self.state.work(&look.dirty, &others);
        work.not_covered.clone_from(&look.not_covered);
        if let Some(call) = call.and_then(|id| self.state.call(id)) {
            work.call = Some(call.view());
        }
        work
    }
}

impl State {
    /// Reads what other sessions of the worktree left, if any dirty path may be theirs.
    pub(super) fn others_for(&self, repo: &Repo, look: &Look) -> Others {
        let foreign = |(path, content)| self.whose(path, content) == Whose::Foreign;
        match look.dirty.iter().any(foreign) {
            true => self.others(repo),
            false => Others::new(),
        }
    }

    /// Reads what other sessions of the worktree left.
    pub(super) fn others(&self, repo: &Repo) -> Others {
        let mut others = Others::new();
        for brief in session::read_others(repo, self) {
            for (path, content) in brief.claims() {
                others.entry(path).or_default().insert(content);
            }
        }
        others
    }
}

const TREE: u32 = 0o40_000;
const GITLINK: u32 = 0o160_000;

/// Returns what HEAD's commit has at a path.
pub(super) fn head_file(
    head: Option<Oid>,
    path: &RepoPath,
    (repo, trees): (&Repo, &mut Trees<'_>),
) -> Result<HeadFile, Error> {
    let Some(head) = head else {
        return Ok(HeadFile::Absent);
    };
    let found = repo
        .commit(head)
        .and_then(|commit| trees.place(commit.tree, path));
    let place = match found {
        Ok(place) => place,
        // A commit that nothing names any more goes with a `git gc` of the same call.
        Err(error) if error.is_absence() => return Ok(HeadFile::Unread),
        Err(error) => return Err(error.into()),
    };
    Ok(match place {
        // A directory lies there, or nothing.
        Some((TREE, _)) | None => HeadFile::Absent,
        Some((GITLINK, _)) => HeadFile::Unread,
        Some((mode, id)) => HeadFile::Entry { id, mode },
    })
}
