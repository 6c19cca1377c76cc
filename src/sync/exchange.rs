use std::{
    hash::{BuildHasher as _, Hasher as _, RandomState},
    thread,
    time::{Duration, Instant},
};

use super::{
    Error,
    refusal::{self, Refusal},
    remote, tracking,
};
use crate::{
    git::{self, Ancestry, Clock, Finished, Git, ObjectKind, Repo},
    model::Oid,
    store::{Adopted, Limits, Store, Wait},
};

const BUDGET: Duration = Duration::from_secs(20);
/// Where everything is slow, 20 s are too few tries to get a turn among many.
const TRIES: usize = 20;
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
    /// How long one fetch or push may take.
    pub patience: Duration,
}

impl Request<'_> {
    /// How long a transfer may take when nobody says otherwise.
    pub const PATIENCE: Duration = Duration::from_secs(600);
}

/// What a sync did.
#[derive(Clone, Debug)]
pub struct Report {
    pub remote: String,
    /// How many records came.
    pub received: u64,
    pub pushed: Pushed,
    /// Whether the remote had no ledger before.
    pub first: bool,
    /// What the remote had before and has no more.
    pub lost: Vec<Lost>,
    /// What of the remote's ledger was not taken, and why.
    pub refused: Vec<String>,
}

/// What the remote was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// These refs moved there.
    New(Vec<String>),
    /// Nothing: it has all that can be pushed.
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
/// passed and it was tried 20 times.
pub fn sync(store: &Store, clock: &Clock, request: &Request<'_>) -> Result<Report, Error> {
    let repo = store.repo();
    let remote = remote::choose(repo, request.remote)?;
    let mut report = Report {
        remote: remote.clone(),
        received: 0,
        pushed: Pushed::Nothing,
        first: false,
        lost: Vec::new(),
        refused: Vec::new(),
    };
    let began = Instant::now();
    // A fetch that broke off leaves what it had got; git keeps that for weeks.
    // What cannot be removed is in nobody's way.
    let _ = repo.remove_leftovers(clock.wall_ms());
    let mut tries = 0;
    loop {
        tries += 1;
        let before = tips(repo, &remote, request)?;
        fetch(repo, &remote, request)?;
        let now = tips(repo, &remote, request)?;
        note_lost(repo, &before, &now, &mut report)?;
        report.refused.clear();
        let mut united = Vec::new();
        for (tip, adopted) in now.iter().zip(unite(store, clock, &now, request.limits)?) {
            report.received += adopted.records;
            // What was not united cannot be pushed over: that would take force.
            if adopted.refused.is_empty() {
                united.push(*tip);
            }
            report.refused.extend(adopted.refused);
        }
        match push(store, &remote, &united, request)? {
            Round::Done(pushed) => {
                report.first = now.iter().any(|tip| tip.name == LEDGER && tip.id.is_none());
                report.pushed = pushed;
                return Ok(report);
            }
            Round::Rejected(reason) if tries >= TRIES && began.elapsed() >= BUDGET => {
                return Err(Error::Push { remote, reason });
            }
            Round::Rejected(_) => thread::sleep(jitter()),
        }
    }
}

#[derive(Clone, Copy)]
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
        "--",
        remote,
        &refspec,
    ];
    if !request.evidence {
        args.push("^refs/operator/evidence");
    }
    // A branch whose commit is gone is no reason to keep records apart (git(1), GIT_REF_PARANOIA).
    let git = transport(repo, &args, request)?.env("GIT_REF_PARANOIA", "0");
    let reason = match git.run() {
        Ok(done) if done.code == 0 => return Ok(()),
        Ok(done) => reason(&done),
        Err(error) => no_answer(error.into(), request)?,
    };
    Err(Error::Fetch {
        remote: remote.to_owned(),
        reason,
    })
}

/// Returns why a transfer came to nothing whose time is up.
fn no_answer(error: Error, request: &Request<'_>) -> Result<String, Error> {
    match error {
        Error::Git(git::Error::Deadline { .. }) => {
            Ok(format!("it was not done within {:?}", request.patience))
        }
        other => Err(other),
    }
}

fn transport<'a>(repo: &'a Repo, args: &[&str], request: &Request<'_>) -> Result<Git<'a>, Error> {
    let patience = patience(repo)?;
    let args = patience.iter().chain(args);
    // What git says decides whether a push is tried again, so it says it in one language.
    let mut git = repo.git(args).env("LC_ALL", "C").deadline(request.patience);
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
    Ok(git)
}

/// Has git give up on an HTTP server that says nothing for a minute, where nobody said how long.
fn patience(repo: &Repo) -> Result<&'static [&'static str], Error> {
    let config = repo.config()?;
    let names = ["http.lowSpeedLimit", "http.lowSpeedTime"];
    let is_set = names.iter().any(|name| config.text(name).is_some());
    Ok(if is_set {
        &[]
    } else {
        &["-c", "http.lowSpeedLimit=1", "-c", "http.lowSpeedTime=60"]
    })
}

fn reason(done: &Finished) -> String {
    let text = String::from_utf8_lossy(&done.stderr);
    // What git says of a broken branch that it passes over.
    let mut lines = text
        .lines()
        .filter(|line| !line.ends_with("does not point to a valid object!"));
    let telling = lines
        .clone()
        .find(|line| line.starts_with("fatal:") || line.starts_with("error:"));
    let line = telling
        .or_else(|| lines.next())
        .unwrap_or("git said nothing");
    line.trim_start_matches("fatal: ")
        .trim_start_matches("error: ")
        .to_owned()
}

fn note_lost(repo: &Repo, before: &[Tip], now: &[Tip], report: &mut Report) -> Result<(), Error> {
    for (old, new) in before.iter().zip(now) {
        let Some(before) = old.id else { continue };
        // What is no commit holds no record that could be lost, and is before nothing.
        let is_commit = |id: Oid| {
            repo.header(id)
                .is_ok_and(|(kind, _)| kind == ObjectKind::Commit)
        };
        if !is_commit(before) {
            continue;
        }
        let kept = match new.id.filter(|now| is_commit(*now)) {
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
    let mut tx = store.begin_apart(Wait::Command, *clock)?;
    let mut taken = Vec::new();
    for tip in tips {
        taken.push(match (tip.name, tip.id) {
            (_, None) => Adopted::default(),
            (LEDGER, Some(id)) => tx.adopt_ledger(id, limits)?,
            (_, Some(id)) => tx.adopt_evidence(id)?,
        });
    }
    Ok(taken)
}

/// Notes what the remote has now, so that the next sync sees if it went back. What is fetched from
/// another place than it is pushed to may have it later.
fn remember(repo: &Repo, remote: &str, pushed: &[(&str, Oid)]) -> Result<(), Error> {
    let elsewhere = format!("remote.{remote}.pushurl");
    if !repo.config()?.strings(&elsewhere).is_empty() {
        return Ok(());
    }
    for (name, id) in pushed {
        let name = tracking(remote, name);
        let args = ["-c", "core.hooksPath=/dev/null", "update-ref", &name];
        repo.git(args).args([id.to_hex()]).output()?;
    }
    Ok(())
}

enum Round {
    Done(Pushed),
    /// Somebody else was faster.
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
    ];
    // Not every server can, and one ref needs it not.
    args.extend((pushed.len() > 1).then_some("--atomic"));
    args.extend(lease.as_deref());
    args.extend(["--", remote]);
    args.extend(refspecs.iter().map(String::as_str));
    let reason = match transport(repo, &args, request)?.run() {
        Ok(done) if done.code == 0 => {
            remember(repo, remote, &pushed)?;
            let names = pushed
                .iter()
                .map(|(name, _)| format!("refs/operator/{name}"));
            return Ok(Round::Done(Pushed::New(names.collect())));
        }
        Ok(done) => match refusal::of(&String::from_utf8_lossy(&done.stderr)) {
            Some(Refusal {
                raced: true,
                reason,
            }) => return Ok(Round::Rejected(reason)),
            Some(refusal) => refusal.reason,
            None => reason(&done),
        },
        Err(error) => no_answer(error.into(), request)?,
    };
    Err(Error::Push {
        remote: remote.to_owned(),
        reason,
    })
}
