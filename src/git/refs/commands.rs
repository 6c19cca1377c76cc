//! Refs through git's own commands, for repositories whose refs are not plain files.

use std::time::{Duration, Instant};

use super::{Expected, Repo, Swap, Swapped, oid_of};
use crate::{
    git::{Error, Finished, Role},
    model::Oid,
};

pub(super) fn read(repo: &Repo, name: &str) -> Result<Option<Oid>, Error> {
    let finished = repo
        .git(["rev-parse", "-q", "--verify", name])
        .read_only()
        .run()?;
    match finished.code {
        0 => oid_of(name, &finished.stdout).map(Some),
        1 => Ok(None),
        _ => Err(finished.error()),
    }
}

pub(super) fn list(repo: &Repo, prefix: &str) -> Result<Vec<(String, Oid)>, Error> {
    // A pattern of git's matches whole components, a prefix need not end at one.
    let dir = prefix.rfind('/').map_or("refs", |slash| &prefix[..slash]);
    let format = "--format=%(objectname) %(refname)";
    let output = repo
        .git(["for-each-ref", format, dir])
        .read_only()
        .output()?;
    let text = String::from_utf8_lossy(&output);
    let mut found = Vec::new();
    for (id, name) in text.lines().filter_map(|line| line.split_once(' ')) {
        if name.starts_with(prefix) {
            found.push((name.to_owned(), oid_of(name, id.as_bytes())?));
        }
    }
    Ok(found)
}

pub(super) fn swap(repo: &Repo, swap: Swap<'_>) -> Result<Swapped, Error> {
    let Swap { name, old, new, .. } = swap;
    let line = match old {
        Expected::Absent => format!("create {name} {new}\n"),
        Expected::Is(old) => format!("update {name} {new} {old}\n"),
    };
    update(repo, swap, &line)
}

pub(super) fn delete(repo: &Repo, name: &str, old: Oid) -> Result<Swapped, Error> {
    let swap = Swap {
        name,
        old: Expected::Is(old),
        new: old,
        own: &[],
        wait: Duration::from_secs(1),
    };
    update(repo, swap, &format!("delete {name} {old}\n"))
}

fn update(repo: &Repo, swap: Swap<'_>, line: &str) -> Result<Swapped, Error> {
    let started = Instant::now();
    loop {
        let finished = run(repo, swap.wait, line)?;
        if finished.code == 0 {
            return Ok(Swapped::Done);
        }
        let found = read(repo, swap.name)?;
        if !swap.old.holds(found) {
            return Ok(Swapped::Mismatch { found });
        }
        if started.elapsed() >= swap.wait {
            return Err(Error::UpdateRef {
                name: swap.name.to_owned(),
                reason: match finished.error() {
                    Error::Git { reason, .. } => reason,
                    other => other.to_string(),
                },
            });
        }
    }
}

fn run(repo: &Repo, wait: Duration, line: &str) -> Result<Finished, Error> {
    let identity = repo.identity(Role::Committer)?;
    let wait = wait.as_millis();
    repo.git([
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.logAllRefUpdates=false",
        "-c",
        &format!("core.filesRefLockTimeout={wait}"),
        "-c",
        &format!("reftable.lockTimeout={wait}"),
        "update-ref",
        "--stdin",
    ])
    .env("GIT_COMMITTER_NAME", identity.name)
    .env("GIT_COMMITTER_EMAIL", identity.email)
    .stdin(format!("option no-deref\n{line}"))
    .run()
}
