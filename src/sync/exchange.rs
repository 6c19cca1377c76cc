use std::{
    hash::{BuildHasher as _, Hasher as _, RandomState},
    thread,
    time::{Duration, Instant},
};

use super::{Error, remote, tracking};
use crate::{
    git::{Ancestry, Clock, Finished, Repo},
    model::Oid,
    store::{Adopted, Limits, Store, Wait},
};

const BUDGET: Duration = Duration::from_secs(20);
const LEDGER: &str = "ledger";
const EVIDENCE: &str = "evidence";

/// What a sync is asked for.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    pub remote: Option<&'a str>,
    /// Whether long evidence is exchanged too.
    pub evidence: bool,
    pub limits: Limits,
    /// Whether somebody at a terminal can be asked for a password.
    pub prompts: bool,
}

/// What a sync did.
#[derive(Clone, Debug)]
pub struct Report {
    pub remote: String,
    /// How many records came.
    pub received: u64,
    pub pushed: Pushed,
    /// What the remote had before and has no more.
    pub lost: Vec<Lost>,
    /// What of the remote's ledger was not taken, and why.
    pub refused: Vec<String>,
}

/// Whether the remote has everything now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// It was told of new records.
    New,
    /// It had them all.
    Nothing,
}

/// A ref of the remote that went back or away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    pub name: String,
    pub before: Oid,
    pub now: Option<Oid>,
}

/// Fetches the remote's ledger, unites both, and pushes the union, until that is done or 20 s have
/// passed.
pub fn sync(store: &Store, clock: &Clock, request: &Request<'_>) -> Result<Report, Error> {
    let repo = store.repo();
    let remote = remote::choose(repo, request.remote)?;
    let mut report = Report {
        remote: remote.clone(),
        received: 0,
        pushed: Pushed::Nothing,
        lost: Vec::new(),
        refused: Vec::new(),
    };
    let began = Instant::now();
    loop {
        let before = tips(repo, &remote, request)?;
        fetch(repo, &remote, request)?;
        let now = tips(repo, &remote, request)?;
        note_lost(repo, &before, &now, &mut report)?;
        for adopted in unite(store, clock, &now, request.limits)? {
            report.received += adopted.records;
            report.refused.extend(adopted.refused);
        }
        if !report.refused.is_empty() {
            // What was not united cannot be pushed over: that would take force.
            return Ok(report);
        }
        match push(store, &remote, &now, request)? {
            Round::Done(pushed) => {
                report.pushed = pushed;
                return Ok(report);
            }
            Round::Rejected(reason) if began.elapsed() >= BUDGET => {
                return Err(Error::Push { remote, reason });
            }
            Round::Rejected(_) => thread::sleep(jitter()),
        }
    }
}

struct Tip {
    name: &'static str,
    id: Option<Oid>,
}

fn names(request: &Request<'_>) -> &'static [&'static str] {
    if request.evidence {
        &[LEDGER, EVIDENCE]
    } else {
        &[LEDGER]
    }
}

fn tips(repo: &Repo, remote: &str, request: &Request<'_>) -> Result<Vec<Tip>, Error> {
    let read = |name: &&'static str| {
        Ok(Tip {
            name,
            id: repo.read_ref(&tracking(remote, name))?,
        })
    };
    names(request).iter().map(read).collect()
}

/// Waits up to a second, a random while, so that clones that met once do not meet again.
fn jitter() -> Duration {
    Duration::from_millis(RandomState::new().build_hasher().finish() % 1000)
}

/// Fetches into the tracking refs only. What the remote has no more is pruned there, and there only.
fn fetch(repo: &Repo, remote: &str, request: &Request<'_>) -> Result<(), Error> {
    let refspec = format!("+refs/operator/*:{}", tracking(remote, "*"));
    let mut args = vec![
        "-c",
        "fetch.unpackLimit=1",
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "gc.auto=0",
        "-c",
        "maintenance.auto=false",
        "fetch",
        "--quiet",
        "--prune",
        "--no-tags",
        "--no-write-fetch-head",
        "--no-recurse-submodules",
        "--no-auto-maintenance",
        "--no-filter",
        remote,
        &refspec,
    ];
    if !request.evidence {
        args.push("^refs/operator/evidence");
    }
    let done = transport(repo, &args, request)?;
    if done.code == 0 {
        return Ok(());
    }
    Err(Error::Fetch {
        remote: remote.to_owned(),
        reason: reason(&done),
    })
}

fn transport(repo: &Repo, args: &[&str], request: &Request<'_>) -> Result<Finished, Error> {
    let mut git = repo.git(args).deadline(Duration::from_secs(600));
    if !request.prompts {
        git = git
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GCM_INTERACTIVE", "never")
            .env("GIT_ASKPASS", "true");
        let ssh = repo.config()?.text("core.sshCommand");
        if ssh.is_none()
            && repo.env().var("GIT_SSH_COMMAND").is_none()
            && repo.env().var("GIT_SSH").is_none()
        {
            git = git.env("GIT_SSH_COMMAND", "ssh -oBatchMode=yes");
        }
    }
    Ok(git.run()?)
}

fn reason(done: &Finished) -> String {
    let text = String::from_utf8_lossy(&done.stderr);
    let telling = text
        .lines()
        .find(|line| line.starts_with("fatal:") || line.starts_with("error:"));
    let line = telling
        .or_else(|| text.lines().next())
        .unwrap_or("git said nothing");
    line.trim_start_matches("fatal: ")
        .trim_start_matches("error: ")
        .to_owned()
}

fn note_lost(repo: &Repo, before: &[Tip], now: &[Tip], report: &mut Report) -> Result<(), Error> {
    for (old, new) in before.iter().zip(now) {
        let Some(before) = old.id else { continue };
        let kept = match new.id {
            None => false,
            Some(now) => repo.is_ancestor(before, now)? != Ancestry::No,
        };
        // A redaction makes the evidence ref anew; it loses what it names and nothing else.
        if !kept && old.name == LEDGER {
            report.lost.push(Lost {
                name: format!("refs/operator/{}", old.name),
                before,
                now: new.id,
            });
        }
    }
    Ok(())
}

fn unite(
    store: &Store,
    clock: &Clock,
    tips: &[Tip],
    limits: Limits,
) -> Result<Vec<Adopted>, Error> {
    let mut tx = store.begin(Wait::Command, *clock)?;
    let mut taken = Vec::new();
    for tip in tips {
        let Some(id) = tip.id else { continue };
        taken.push(match tip.name {
            LEDGER => tx.adopt_ledger(id, limits)?,
            _ => tx.adopt_evidence(id)?,
        });
    }
    Ok(taken)
}

/// Notes what the remote has now, so that the next sync sees if it went back.
fn remember(repo: &Repo, remote: &str, pushed: &[(&str, Oid)]) -> Result<(), Error> {
    for (name, id) in pushed {
        repo.git(["update-ref", &tracking(remote, name), &id.to_hex()])
            .output()?;
    }
    Ok(())
}

enum Round {
    Done(Pushed),
    /// Somebody else was faster, or the remote said no.
    Rejected(String),
}

fn push(
    store: &Store,
    remote: &str,
    theirs: &[Tip],
    request: &Request<'_>,
) -> Result<Round, Error> {
    let repo = store.repo();
    let mut pushed = Vec::new();
    let mut lease = None;
    for tip in theirs {
        let ours = if tip.name == LEDGER {
            store.tip()?
        } else {
            store.evidence_tip()?
        };
        let Some(ours) = ours.filter(|ours| Some(*ours) != tip.id) else {
            continue;
        };
        if let (EVIDENCE, Some(id)) = (tip.name, tip.id)
            && repo.is_ancestor(id, ours)? == Ancestry::No
        {
            lease = Some(format!("--force-with-lease=refs/operator/evidence:{id}"));
        }
        pushed.push((tip.name, ours));
    }
    if pushed.is_empty() {
        return Ok(Round::Done(Pushed::Nothing));
    }
    let refspecs: Vec<String> = pushed
        .iter()
        .map(|(name, ours)| format!("{ours}:refs/operator/{name}"))
        .collect();
    let mut args = vec![
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "push.followTags=false",
        "-c",
        "push.recurseSubmodules=no",
        "push",
        "--quiet",
        "--no-verify",
        "--no-signed",
        "--atomic",
    ];
    args.extend(lease.as_deref());
    args.push(remote);
    args.extend(refspecs.iter().map(String::as_str));
    let done = transport(repo, &args, request)?;
    if done.code == 0 {
        remember(repo, remote, &pushed)?;
        return Ok(Round::Done(Pushed::New));
    }
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let raced = [
        "rejected",
        "cannot lock ref",
        "failed to update ref",
        "incorrect old value",
        "stale info",
    ];
    if raced.iter().any(|word| said.contains(word)) {
        return Ok(Round::Rejected(reason(&done)));
    }
    Err(Error::Push {
        remote: remote.to_owned(),
        reason: reason(&done),
    })
}
