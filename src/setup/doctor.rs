//! `doctor`: is the set-up whole? Each fault is named with what mends it; nothing it mends destroys
//! anything.

use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

use super::{Error, Mode, clients, plan::Plan, probe, refspecs, registered, settings, start};
use crate::{
    gate::{self, Life, Place, Who},
    git::{Clock, Repo},
    model::{Owner, shell_quoted},
    store::{Backlog, Store, Wait, tasks},
    sync, work,
};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Something does not work or may lose records.
    Fault,
}

/// Something `doctor` found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub weight: Weight,
    /// What is wrong, one line.
    pub what: String,
    /// A command that mends it; never one that destroys anything.
    pub fix: Option<String>,
    /// `doctor --fix` did that.
    pub fixed: bool,
}

impl Finding {
    pub(super) fn fault(what: impl Into<String>) -> Self {
        Self {
            weight: Weight::Fault,
            what: what.into(),
            fix: None,
            fixed: false,
        }
    }

    pub(super) fn note(what: impl Into<String>) -> Self {
        Self {
            weight: Weight::Note,
            ..Self::fault(what)
        }
    }

    pub(super) fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }
}

/// Whether what may be mended is mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    Look,
    Fix,
}

const STALE_LOCK: Duration = Duration::from_secs(600);
const STALE_SESSION: Duration = Duration::from_secs(14 * 86_400);
pub(super) const START: &str = "git operator start";
const REOPEN: &str = "git operator doctor --fix";

/// Looks the set-up over, at `now` (ms of wall clock), and returns what it found.
pub fn doctor(
    store: &Store,
    place: &Place,
    (repair, now): (Repair, u64),
) -> Result<Vec<Finding>, Error> {
    let mut found = Vec::new();
    let repo = store.repo();
    if let Some(top) = place.top.as_deref().filter(|_| !repo.is_store()) {
        registered::check(repo, &mut found)?;
        if place.is_started() {
            registered::check_tracked(top, repo, &mut found)?;
        }
        probe::check(top, repo, &mut found)?;
        views(top, repo, &mut found)?;
        planted(repo, &mut found)?;
        clients::check(top, repo.env().home(), &mut found);
        if repair == Repair::Fix && place.is_started() {
            mend(top, repo, &mut found)?;
        }
    }
    if !repo.is_store() {
        settings::check(repo, &mut found)?;
        refspecs::check(repo, &mut found)?;
        if repo.is_bare() {
            registered::check_bare(repo, &mut found)?;
        }
        writable(repo, &mut found);
        locks(repo, &mut found);
        work_sessions(repo, now, &mut found);
    }
    let mut of_ledger = Vec::new();
    ledger(store, &mut of_ledger);
    if repair == Repair::Fix {
        reopen(store, &mut of_ledger)?;
    }
    found.append(&mut of_ledger);
    if let Some(reason) = sync::last_failure(store) {
        let what = format!("the last sync beside a push failed: {reason}");
        found.push(Finding::note(what).fix("git operator sync"));
    }
    tasks_and_sessions(place, now, &mut found)?;
    found.sort_by_key(|finding| std::cmp::Reverse(finding.weight));
    Ok(found)
}

/// What a new session is told about the set-up: what a look at settings and hooks tells, none of which
/// is run.
pub fn drift(repo: &Repo) -> Result<Vec<Finding>, Error> {
    let mut found = Vec::new();
    registered::read(repo, &mut found)?;
    if let Some(top) = repo.top() {
        probe::read(top, repo, &mut found)?;
    }
    Ok(found)
}

/// Does what `start` would do for the driver, the attributes, the allow-list and the hooks.
fn mend(top: &Path, repo: &Repo, found: &mut [Finding]) -> Result<(), Error> {
    if !found
        .iter()
        .any(|finding| finding.fix.as_deref() == Some(START))
    {
        return Ok(());
    }
    let mut plan = Plan::new(top, Some(repo), Mode::Apply)?;
    start::mend(&mut plan, repo)?;
    for finding in found
        .iter_mut()
        .filter(|finding| finding.fix.as_deref() == Some(START))
    {
        finding.fixed = true;
    }
    Ok(())
}

fn views(top: &Path, repo: &Repo, found: &mut Vec<Finding>) -> Result<(), Error> {
    let mut plan = Plan::new(top, Some(repo), Mode::DryRun)?;
    super::ignore::warn_outside_rule(&mut plan, repo)?;
    start::nested(&mut plan)?;
    for step in plan.steps {
        let note = step
            .note
            .map(|note| format!(": {note}"))
            .unwrap_or_default();
        found.push(Finding::fault(format!("{}{note}", step.what)));
    }
    if !top.join(".operator").is_dir() {
        found.push(Finding::note("this project was never started").fix(START));
    }
    Ok(())
}

/// A store that came with a checkout would bring its own configuration.
fn planted(repo: &Repo, found: &mut Vec<Finding>) -> Result<(), Error> {
    let tracked = repo
        .git(["ls-files", "-z", "--", ".operator/store.git"])
        .read_only()
        .output()?;
    if !tracked.is_empty() {
        found.push(
            Finding::fault("'.operator/store.git' is tracked; it is never opened")
                .fix("git rm -r --cached .operator/store.git"),
        );
    }
    Ok(())
}

/// Names what may not be written though every record needs it.
fn writable(repo: &Repo, found: &mut Vec<Finding>) {
    use nix::unistd::{AccessFlags, access};
    let common = repo.common_dir();
    let operator = repo.operator_dir();
    let own = if operator.exists() {
        operator
    } else {
        common.to_owned()
    };
    for dir in [own, common.join("objects"), common.join("refs")] {
        if let Err(errno) = access(&dir, AccessFlags::W_OK | AccessFlags::X_OK) {
            let what = format!(
                "'{}' cannot be written, and nothing can be recorded: {}",
                dir.display(),
                errno.desc()
            );
            found.push(Finding::fault(what));
        }
    }
}

/// Names lock files that a killed git left behind.
fn locks(repo: &Repo, found: &mut Vec<Finding>) {
    for name in [
        "packed-refs.lock",
        "objects/info/commit-graph.lock",
        "objects/info/commit-graphs/commit-graph-chain.lock",
    ] {
        let path = repo.common_dir().join(name);
        let age = fs::metadata(&path)
            .and_then(|meta| meta.modified())
            .ok()
            .and_then(|at| SystemTime::elapsed(&at).ok());
        if age.is_some_and(|age| age > STALE_LOCK) {
            let what = format!(
                "'{}' was left behind by a git that died; git gc fails while it lies there",
                path.display()
            );
            found.push(Finding::fault(what));
        }
    }
}

/// Names sessions whose work ledger was never told that they ended: they still run, or were killed.
fn work_sessions(repo: &Repo, now: u64, found: &mut Vec<Finding>) {
    let asking = repo.env().text("CLAUDE_CODE_SESSION_ID");
    for session in work::sessions(repo) {
        if session.ended || Some(session.session.as_str()) == asking {
            continue;
        }
        let since = Duration::from_millis(now.saturating_sub(session.last));
        let note = Finding::note(format!(
            "session '{}' was last seen {} ago and has not ended: {} claimed paths, {} unfinished \
             calls, {} bytes kept for it",
            session.session,
            age(since),
            session.claims,
            session.open_calls,
            session.kept
        ));
        found.push(match since > STALE_SESSION {
            true => note.fix("git operator gc"),
            false => note,
        });
    }
}

fn age(since: Duration) -> String {
    let seconds = since.as_secs();
    let (count, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

fn ledger(store: &Store, found: &mut Vec<Finding>) {
    match store.load() {
        Err(error) => found.push(Finding::fault(error.to_string())),
        Ok(ledger) => {
            for line in ledger.quarantined() {
                found.push(Finding::fault(format!(
                    "a line of the ledger at {} is set aside: {}",
                    line.place, line.reason
                )));
            }
            for lost in store.lost_tasks(&ledger).unwrap_or_default() {
                let what = format!(
                    "task '{}' was opened here and its file is lost: nothing asks for its verdict",
                    lost.task
                );
                found.push(Finding::fault(what).fix(REOPEN));
            }
            let newer = ledger.newer().count();
            if newer > 0 {
                found.push(Finding::fault(format!(
                    "{newer} records are of a later version: upgrade git-operator"
                )));
            }
        }
    }
    for left in store.backlog().unwrap_or_default() {
        found.push(Finding::fault(left.to_string()).fix(REOPEN));
    }
    found.extend(
        store
            .take_warnings()
            .iter()
            .map(|warning| Finding::fault(warning.to_string())),
    );
}

/// Makes lost task files anew, and finishes what a writer left; what is not found again is fixed.
fn reopen(store: &Store, found: &mut Vec<Finding>) -> Result<(), Error> {
    let is_lost = |finding: &Finding| finding.fix.as_deref() == Some(REOPEN);
    if !found.iter().any(is_lost) {
        return Ok(());
    }
    let clock = Clock::new(store.repo().env())?;
    let mut tx = store.begin(Wait::Command, clock)?;
    tx.rebuild()?;
    if store.backlog()?.contains(&Backlog::Evidence) {
        tx.tidy()?;
    }
    drop(tx);
    // It met what was found already.
    store.take_warnings();
    let mut left = Vec::new();
    ledger(store, &mut left);
    for finding in found.iter_mut() {
        finding.fixed = !left.contains(finding);
    }
    left.retain(|left| found.iter().all(|finding| finding.what != left.what));
    found.append(&mut left);
    Ok(())
}

fn tasks_and_sessions(place: &Place, now: u64, found: &mut Vec<Finding>) -> Result<(), Error> {
    for unreadable in tasks::list(&place.operator)?.unreadable {
        found.push(Finding::fault(format!(
            "'{}' cannot be read: {}",
            unreadable.path.display(),
            unreadable.reason
        )));
    }
    let brief = gate::brief(place, &Who::Nobody, now)?;
    for other in brief.others {
        let owner = other.open.owner.as_ref().map_or("", Owner::as_str);
        let (Life::Ended | Life::Gone) = other.life else {
            continue;
        };
        let task = shell_quoted(&other.open.task);
        found.push(
            Finding::note(format!(
                "task '{}' belongs to session '{owner}', which is gone",
                other.open.task
            ))
            .fix(format!("git operator adopt --owner <session> {task}")),
        );
    }
    for session in place.sessions().all() {
        let since = Duration::from_millis(now.saturating_sub(session.seen));
        // A session that only commands named was never seen by a hook.
        let was_seen = session.seen > 0 && !session.session.is_empty();
        if since > STALE_SESSION && was_seen {
            let days = since.as_secs() / 86_400;
            found.push(Finding::note(format!(
                "session '{}' was last seen {days} days ago",
                session.session
            )));
        }
    }
    Ok(())
}
