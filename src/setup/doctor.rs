//! `doctor`: is the set-up whole? Each fault is named with what mends it; nothing it mends destroys
//! anything.

use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

use super::{
    Error, Mode, clients, hooks,
    plan::{Plan, local},
    start::{self, CONFIG, DRIVER_BLOCK, HIDE},
};
use crate::{
    gate::{self, Life, Place, Who},
    git::{Clock, Repo},
    model::Owner,
    store::{Store, Wait, tasks},
    sync,
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

    fn note(what: impl Into<String>) -> Self {
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
const START: &str = "git operator start";
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
        driver(repo, &mut found)?;
        hooks::check(top, repo, &mut found)?;
        views(top, repo, &mut found)?;
        planted(repo, &mut found)?;
        clients::check(top, repo.env().home(), &mut found);
        if repair == Repair::Fix && place.is_started() {
            mend(top, repo, &mut found)?;
        }
    }
    if !repo.is_store() {
        refspecs(repo, &mut found)?;
        locks(repo, &mut found);
    }
    ledger(store, &mut found);
    if repair == Repair::Fix {
        reopen(store, &mut found)?;
    }
    if let Some(reason) = sync::last_failure(store) {
        let what = format!("the last sync beside a push failed: {reason}");
        found.push(Finding::note(what).fix("git operator sync"));
    }
    tasks_and_sessions(place, now, &mut found)?;
    found.sort_by_key(|finding| std::cmp::Reverse(finding.weight));
    Ok(found)
}

/// What a new session is told about the set-up: the faults that one `start` mends, found by reading
/// two files.
pub fn drift(repo: &Repo) -> Result<Vec<Finding>, Error> {
    let mut found = Vec::new();
    driver(repo, &mut found)?;
    Ok(found)
}

fn driver(repo: &Repo, found: &mut Vec<Finding>) -> Result<(), Error> {
    let registered = repo.config()?.text(CONFIG[1].0).is_some();
    let common = Plan::new(repo.common_dir(), None, Mode::DryRun)?;
    let attributes = common.text("info/attributes")?.unwrap_or_default();
    if !registered || !attributes.contains(DRIVER_BLOCK) {
        found.push(
            Finding::fault("the merge driver of the views is not registered in this clone")
                .fix(START),
        );
    }
    if !local(repo, HIDE.0)?.iter().any(|value| value == HIDE.1) {
        found.push(
            Finding::fault(
                "refs/operator-local is not hidden from those who fetch from this clone",
            )
            .fix(START),
        );
    }
    Ok(())
}

/// Does what `start` would do for the driver, the attributes and the hooks.
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

/// Names configured refspecs that overwrite or prune live refs of ours.
fn refspecs(repo: &Repo, found: &mut Vec<Finding>) -> Result<(), Error> {
    let listed = repo
        .git([
            "config",
            "--null",
            "--get-regexp",
            r"^remote\..*\.(fetch|push|mirror)$",
        ])
        .read_only()
        .run()?;
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    for (key, value) in text
        .split_terminator('\0')
        .filter_map(|entry| entry.split_once('\n'))
    {
        let threat = match key.rsplit('.').next() {
            Some("fetch") => writes_ours(value),
            Some("push") => {
                value.starts_with('+')
                    && (value.contains("refs/operator") || value == "+refs/*:refs/*")
            }
            Some("mirror") => value == "true",
            _ => false,
        };
        if threat {
            found.push(
                Finding::fault(format!(
                    "{key} = {value} can overwrite or prune records of this clone"
                ))
                .fix(format!(
                    "git config --unset-all --fixed-value {key} {}",
                    gate::quoted(value)
                )),
            );
        }
    }
    Ok(())
}

/// Says whether a fetch refspec writes into our live refs.
fn writes_ours(refspec: &str) -> bool {
    let Some((_, target)) = refspec.trim_start_matches('+').split_once(':') else {
        return false;
    };
    let live = [
        "refs/operator/ledger",
        "refs/operator/evidence",
        "refs/notes/operator",
        "refs/operator-local/ledger",
    ];
    live.iter().any(|name| match target.split_once('*') {
        None => target == *name,
        Some((before, after)) => name.starts_with(before) && name.ends_with(after),
    })
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
    found.extend(
        store
            .take_warnings()
            .iter()
            .map(|warning| Finding::fault(warning.to_string())),
    );
}

/// Makes lost task files anew.
fn reopen(store: &Store, found: &mut [Finding]) -> Result<(), Error> {
    let is_lost = |finding: &&mut Finding| finding.fix.as_deref() == Some(REOPEN);
    if !found.iter_mut().any(|finding| is_lost(&finding)) {
        return Ok(());
    }
    let clock = Clock::new(store.repo().env())?;
    store.begin(Wait::Command, clock)?.rebuild()?;
    for finding in found.iter_mut().filter(is_lost) {
        finding.fixed = true;
    }
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
        let task = gate::quoted(&other.open.task);
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
