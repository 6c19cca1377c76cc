use std::ffi::OsString;

use super::work::session;
use crate::{
    git::Repo,
    model::RepoPath,
    ui::{Context, Exit, Failure, printable},
    work::{self, Done, RestoreLine, RestoreRequest},
};

/// Put paths back as they were before a tool use
///
/// With --call, all that the call changed, or the PATHs of it. Without, each PATH as it was before
/// the newest call that left it as it is now; again goes one call further back.
///
/// A path that was changed since is left alone, and so is one that was committed. HEAD, the index, the
/// stash and the branches stay as they are. What is replaced can be had back with `git operator
/// recover`. Prints one line for each path; exits 1 when one was left alone.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true).multiple(true).args(["call", "paths"])))]
pub struct Args {
    /// The id of the tool use
    #[arg(long, value_name = "ID")]
    call: Option<String>,
    /// The session
    #[arg(long, value_name = "SESSION")]
    owner: Option<String>,
    /// What to put back
    #[arg(value_name = "PATH")]
    paths: Vec<OsString>,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let repo = context.repo()?;
    let session = session(args.owner.as_deref(), context)
        .or_else(|| work::last_session(repo))
        .ok_or(work::Error::NoSession)?;
    let paths = named(&args.paths, context)?;
    let lines = work::restore(
        repo,
        &RestoreRequest {
            session: &session,
            call: args.call.as_deref(),
            paths: &paths,
            time: context.clock()?.wall_ms(),
        },
    )?;
    for line in &lines {
        context.ui.line(shown(line))?;
    }
    let left = |line: &RestoreLine| matches!(line.done, Done::Skipped(_));
    if !lines.iter().any(|line| line.done.is_done() || left(line)) {
        context.ui.note("nothing to restore");
    }
    Ok(match lines.iter().any(left) {
        true => Exit::No,
        false => Exit::Done,
    })
}

/// Returns the paths of the working tree that a command line names.
pub(super) fn named(names: &[OsString], context: &Context) -> Result<Vec<RepoPath>, Failure> {
    let repo: &Repo = context.repo()?;
    let cwd = context.cwd()?;
    let one = |name: &OsString| {
        work::named(repo, cwd, name)?.ok_or_else(|| {
            let shown = name.to_string_lossy();
            Failure::usage(format!(
                "cannot use path '{shown}': it is not in this working tree"
            ))
        })
    };
    names.iter().map(one).collect()
}

fn shown(line: &RestoreLine) -> String {
    let path = line.path.quoted();
    let path = printable(&path);
    match &line.done {
        Done::Restored => format!("restored {path}"),
        Done::Removed => format!("removed {path}"),
        Done::NotCovered => format!("not covered {path}"),
        Done::Skipped(reason) => format!("skipped {path}: {}", printable(reason)),
    }
}
