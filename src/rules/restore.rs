//! Files put back for the sake of a policy.

use std::collections::BTreeSet;

use crate::{
    git::{Clock, Repo},
    model::RepoPath,
    policy::Ruling,
    work::{self, Done, RestoreRequest},
};

/// Puts back what a ruling asks for, of a session's call, and tells the ruling what came of it. Returns
/// what is as it was.
pub fn restore(
    ruling: &mut Ruling,
    repo: &Repo,
    (session, call): (&str, &str),
) -> BTreeSet<RepoPath> {
    let (mut done, mut failed) = (Vec::new(), Vec::new());
    let mut restored = BTreeSet::new();
    let mut paths = Vec::new();
    for wanted in ruling.restores() {
        match RepoPath::from_quoted(&wanted) {
            Some(path) => paths.push(path),
            None => failed.push((wanted, "it is no path".to_owned())),
        }
    }
    // No path at all means all of the call.
    if paths.is_empty() {
        ruling.record_restore(done, failed);
        return restored;
    }
    let request = RestoreRequest {
        session,
        call: Some(call),
        paths: &paths,
        time: Clock::default().wall_ms(),
    };
    match work::restore(repo, &request) {
        Ok(lines) => {
            for line in lines {
                let path = line.path.quoted();
                match line.done {
                    Done::Restored | Done::Removed => {
                        done.push(path);
                        restored.insert(line.path);
                    }
                    Done::NotCovered if paths.iter().any(|wanted| holds(&line.path, wanted)) => {
                        failed.push((path, "it is in a repository of its own".to_owned()));
                    }
                    Done::NotCovered => {}
                    Done::Skipped(reason) => failed.push((path, reason)),
                }
            }
        }
        Err(error) => {
            let all = paths.iter().map(|path| (path.quoted(), error.to_string()));
            failed.extend(all);
        }
    }
    ruling.record_restore(done, failed);
    restored
}

/// Says whether a path lies in a directory, or is it.
fn holds(directory: &RepoPath, path: &RepoPath) -> bool {
    let directory = directory.as_bytes();
    let directory = directory.strip_suffix(b"/").unwrap_or(directory);
    let rest = path.as_bytes().strip_prefix(directory);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}
