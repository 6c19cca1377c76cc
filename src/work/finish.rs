use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
};

use super::{
    Call, Content, Error, Scope, Work,
    begin::head_file,
    beside::Beside,
    look::{Look, Looker, Sight, top},
    rescue::Why,
    rules::{Lost, Now, Outcome},
    session::Session,
    shelf::Moment,
    state::{Before, HeadFile, Others, Phase, Reach, Verdict},
};
use crate::{
    git::{Repo, Trees, files::Tree},
    model::{Oid, RepoPath},
};

/// A tool use that has ended.
#[derive(Clone, Debug)]
pub struct Finished<'a> {
    pub call: Call<'a>,
    pub outcome: Outcome,
    /// The background task that goes on, when the call returned before its command did.
    pub background: Option<&'a str>,
}

/// What a tool use did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub known: Known,
    /// The session's work; `None` when nobody asked for it.
    pub work: Option<Work>,
    /// What the call changed, sorted by path.
    pub changes: Vec<FileChange>,
    /// Other people's uncommitted work that is gone from where it was; it can be recovered.
    pub vanished: Vec<RepoPath>,
    /// Other people's uncommitted work that the call changed; what was there can be recovered.
    pub mixed: Vec<RepoPath>,
    /// Those of the two whose bytes are not kept: too large, too many, or never seen.
    pub not_kept: Vec<RepoPath>,
    /// Repositories inside this one, which no report of the session has named before.
    pub not_covered: Vec<RepoPath>,
    /// Repositories inside this one, linked worktrees among them, that are none any more.
    pub dissolved: Vec<RepoPath>,
}

impl Report {
    /// Nothing is to be said of what lies where it lay before the call.
    pub fn put_back(&mut self, paths: &BTreeSet<RepoPath>) {
        for list in [&mut self.vanished, &mut self.mixed, &mut self.not_kept] {
            list.retain(|path| !paths.contains(path));
        }
    }
}

/// Whether a call's beginning was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Known {
    #[default]
    Yes,
    /// Its end was reported before: nothing changed.
    Again,
    /// It was never seen to begin here.
    No,
}

/// A path that a call changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    pub path: RepoPath,
    pub after: Content,
    /// It is still dirty.
    pub written: bool,
    before: Before,
}

impl FileChange {
    /// Returns the bytes before the call of each change, as a checkout writes them; `None` where there
    /// was no file, or its bytes are not kept. One child for all.
    pub fn bytes_before(repo: &Repo, changes: &[Self]) -> Result<Vec<Option<Vec<u8>>>, Error> {
        let heads: Vec<(Oid, RepoPath)> = changes
            .iter()
            .filter_map(|change| match &change.before {
                Before::Clean(HeadFile::Entry { id, .. }) if repo.has(*id) => {
                    Some((*id, change.path.clone()))
                }
                Before::Clean(_) | Before::Dirty(_) | Before::Unseen => None,
            })
            .collect();
        let smudged = repo.smudged(&heads)?;
        let mut smudged: BTreeMap<RepoPath, Vec<u8>> = heads
            .into_iter()
            .map(|(_, path)| path)
            .zip(smudged)
            .collect();
        changes
            .iter()
            .map(|change| match &change.before {
                Before::Dirty(held) => match held.content.blob() {
                    Some(id) if repo.has(id) => Ok(Some(repo.blob(id)?)),
                    Some(_) | None => Ok(None),
                },
                Before::Clean(_) => Ok(smudged.remove(&change.path)),
                Before::Unseen => Ok(None),
            })
            .collect()
    }

    /// Returns the bytes that lie there now; `None` when there is no regular file of at most `limit`
    /// bytes.
    pub fn bytes_after(&self, repo: &Repo, limit: u64) -> Result<Option<Vec<u8>>, Error> {
        let tree = Tree::open(top(repo)?)?;
        Ok(tree.read(&self.path, limit).unwrap_or(None))
    }
}

/// Records what a tool changed, and whose the changes are.
pub fn finish(repo: &Repo, finished: &Finished<'_>) -> Result<Report, Error> {
    let call = &finished.call;
    let mut session = call.open(repo)?;
    let pending = session.state.pending(call.id);
    let reach = pending.map(|(call, _)| call.reach.clone());
    let known = match (&reach, session.state.call(call.id)) {
        (Some(_), _) => Known::Yes,
        (None, Some(_)) => Known::Again,
        (None, None) => Known::No,
    };
    let whole =
        call.scope == Scope::Tree || reach == Some(Reach::Tree) || finished.background.is_some();
    let look = match whole {
        true => Some(session.look(call.time)?),
        false => None,
    };
    let dissolved = match &look {
        Some(look) => session.dissolved(call.id, look)?,
        None => Vec::new(),
    };
    let lost = match reach {
        Some(Reach::Tree | Reach::Background(_)) => session.end_tree(call, look.as_ref())?,
        Some(Reach::Path(path)) => {
            let after = session.glance(&path, call.time)?;
            session.state.finish_path(call.id, &after, finished.outcome)
        }
        Some(Reach::Nothing) => {
            session.state.finish_nothing(call.id);
            Vec::new()
        }
        None => {
            session.unseen(finished)?;
            Vec::new()
        }
    };
    session.read_heads(call.id)?;
    let mut lost = lost;
    if let Some(look) = &look {
        lost.extend(session.gone(look, call.time)?);
        session.shelve(look, Moment::After)?;
    }
    let (mut lost, stashed) = session.not_stashed(lost)?;
    if let Some(look) = &look {
        lost.extend(session.left_stash(look, call.time)?);
    }
    session.rescue(&lost, call.id, (call.time, Why::Call))?;
    session.rescue(&stashed, call.id, (call.time, Why::Stashed))?;
    let mut report = session.report(finished, known, (look, &lost));
    report.dissolved = dissolved;
    session.save(call.time)?;
    Ok(report)
}

impl Session<'_> {
    fn end_tree(&mut self, call: &Call<'_>, look: Option<&Look>) -> Result<Vec<Lost>, Error> {
        let Some(look) = look else {
            return Ok(Vec::new());
        };
        let mut now = self.now(call.id, look, call.time)?;
        now.stashed = self.know_stashed(look)?;
        if !now.clean.is_empty()
            && let Some((_, snapshot)) = self.state.pending(call.id)
        {
            let snapshot = snapshot.clone();
            self.hide(&snapshot, &now)?;
        }
        let others = match self.state.has_new_claims(call.id, &now) {
            true => self.state.others(self.repo),
            false => Others::new(),
        };
        Ok(self.state.finish_tree(call.id, &now, &others))
    }

    /// Completes a look with the paths of a call's snapshot that are clean now.
    pub(super) fn now(&mut self, id: &str, look: &Look, time: u64) -> Result<Now, Error> {
        let mut now = Now {
            dirty: look.dirty.clone(),
            ..Now::default()
        };
        let snapshot = self.state.pending(id).map(|(_, snapshot)| snapshot);
        let mut dirty = Beside::new(&look.dirty);
        let paths: Vec<RepoPath> = snapshot
            .into_iter()
            .flat_map(|snapshot| snapshot.keys())
            .filter(|path| dirty.get(path).is_none())
            .cloned()
            .collect();
        // What was seen of these is forgotten again: they are clean.
        let mut seen = Sight::default();
        let mut looker = Looker::new(self.repo, &mut seen, time)?;
        for path in paths {
            let content = looker.at(&path)?;
            now.clean.insert(path, content);
        }
        self.since(id, look, &mut now)?;
        Ok(now)
    }

    /// A file tool's path is its own even if nobody saw it begin.
    fn unseen(&mut self, finished: &Finished<'_>) -> Result<(), Error> {
        let call = &finished.call;
        if self.state.call(call.id).is_some() || finished.outcome == Outcome::Failure {
            return Ok(());
        }
        let head = self.repo.head()?.commit();
        let reach = self.visible(call.reach(), head)?;
        let Reach::Path(path) = &reach else {
            return Ok(());
        };
        let after = self.glance(path, call.time)?;
        self.state.claim_unseen(&call.begin(reach, head), &after);
        Ok(())
    }

    /// Looks up what HEAD had at the paths that were clean when the call began.
    fn read_heads(&mut self, id: &str) -> Result<(), Error> {
        let Some(call) = self.state.calls.iter_mut().find(|call| call.id == id) else {
            return Ok(());
        };
        let head = call.head;
        let mut trees = Trees::new(self.repo);
        if let Phase::Finished { changes, .. } = &mut call.phase {
            for change in changes {
                if change.before == Before::Clean(HeadFile::Unread) {
                    let file = head_file(head, &change.path, (self.repo, &mut trees))?;
                    change.before = Before::Clean(file);
                }
            }
        }
        Ok(())
    }

    /// Returns the paths of what was lost and could not be rescued.
    fn unkept(&self, lost: &[Lost]) -> Vec<RepoPath> {
        let kept = match lost.is_empty() {
            true => return Vec::new(),
            false => self.rescued.vault.kept(),
        };
        let is_kept = |lost: &Lost| lost.content.blob().is_some_and(|id| kept.contains(&id));
        let unkept = lost.iter().filter(|lost| !is_kept(lost));
        unkept.map(|lost| lost.path.clone()).collect()
    }

    /// Returns the repositories inside this one that a call found, and that are gone or none any more.
    fn dissolved(&mut self, id: &str, look: &Look) -> Result<Vec<RepoPath>, Error> {
        let Some((call, _)) = self.state.pending(id) else {
            return Ok(Vec::new());
        };
        let top = top(self.repo)?;
        let is_none = |path: &&RepoPath| {
            let git = top.join::<&OsStr>((*path).as_ref()).join(".git");
            !look.not_covered.contains(path) && git.symlink_metadata().is_err()
        };
        let gone = call.not_covered.iter().filter(is_none);
        let mut gone: Vec<RepoPath> = gone.cloned().collect();
        gone.sort();
        self.state.told.retain(|path| !gone.contains(path));
        Ok(gone)
    }

    fn report(
        &mut self,
        finished: &Finished<'_>,
        known: Known,
        (look, lost): (Option<Look>, &[Lost]),
    ) -> Report {
        let call = &finished.call;
        let mut report = Report {
            known,
            ..Report::default()
        };
        if known == Known::Yes
            && let Some(Phase::Finished { changes, .. }) =
                self.state.call(call.id).map(|call| &call.phase)
        {
            for change in changes {
                report.changes.push(FileChange {
                    path: change.path.clone(),
                    after: change.after.clone(),
                    written: change.is_written(),
                    before: change.before.clone(),
                });
                if change.verdict == Verdict::Mixed {
                    report.mixed.push(change.path.clone());
                    let unseen = (change.before == Before::Unseen).then(|| change.path.clone());
                    report.not_kept.extend(unseen);
                }
            }
        }
        report.not_kept.extend(self.unkept(lost));
        report.not_kept.sort();
        report.not_kept.dedup();
        let gone = lost.iter().map(|lost| lost.path.clone());
        report.vanished = gone.filter(|path| !report.mixed.contains(path)).collect();
        report.vanished.sort();
        report.vanished.dedup();
        if let Some(look) = look {
            self.state.observe(&look.dirty);
            if let Some(task) = finished.background {
                self.state.background(call.id, task, (&look, call.time));
            }
            let told = &mut self.state.told;
            for path in &look.not_covered {
                if !told.contains(path) {
                    told.push(path.clone());
                    report.not_covered.push(path.clone());
                }
            }
            let asked = call.scope == Scope::Tree;
            report.work = asked.then(|| self.work(&look, Some(call.id)));
        }
        report
    }
}
