use std::{ffi::OsString, path::PathBuf};

use super::restore::named;
use crate::{
    model::time::format_time,
    ui::{Context, Exit, Failure, printable},
    work::{self, Found, Given, Recover},
};

/// Give back uncommitted work that vanished during a session
///
/// Lists what other people's uncommitted files held before a tool use of a session changed or removed
/// them, newest first, or writes the newest content of each PATH back, byte for byte; with --call the
/// one that vanished during that call. Nothing that lies at its place is replaced; --to writes it
/// elsewhere. What was rescued is kept for 14 days.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// List what can be had, of the PATHs if there are any
    #[arg(long)]
    list: bool,
    /// Write below DIR instead of into the working tree
    #[arg(long, value_name = "DIR", conflicts_with = "list")]
    to: Option<PathBuf>,
    /// What vanished during the call ID, as the list names it
    #[arg(long, value_name = "ID")]
    call: Option<String>,
    /// What to give back
    #[arg(value_name = "PATH")]
    paths: Vec<OsString>,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let repo = context.repo()?;
    let time = context.clock()?.wall_ms();
    let paths = named(&args.paths, context)?;
    if args.list || paths.is_empty() {
        for found in work::recoverable(repo, time)? {
            let of_call = args.call.as_ref().is_none_or(|call| *call == found.call);
            if of_call && (paths.is_empty() || paths.contains(&found.path)) {
                context.ui.line(listed(&found))?;
            }
        }
        return Ok(Exit::Done);
    }
    let to = match &args.to {
        Some(dir) => Some(context.cwd()?.join(dir)),
        None => None,
    };
    let request = Recover {
        paths: &paths,
        call: args.call.as_deref(),
        to: to.as_deref(),
        time,
    };
    let mut exit = Exit::Done;
    for (path, given) in work::recover(repo, &request)? {
        let path = path.quoted();
        let path = printable(&path);
        match given {
            Given::To(to) => {
                let to = to.to_string_lossy();
                context
                    .ui
                    .line(format!("recovered {path} to {}", printable(&to)))?;
            }
            Given::Skipped(reason) => {
                exit = Exit::No;
                context
                    .ui
                    .line(format!("skipped {path}: {}", printable(&reason)))?;
            }
        }
    }
    Ok(exit)
}

fn listed(found: &Found) -> String {
    let path = found.path.quoted();
    let lost = if found.kept { "" } else { ", content not kept" };
    format!(
        "{} {} ({} call {} of session {}{lost})",
        format_time(found.time),
        printable(&path),
        found.why.as_str(),
        printable(&found.call),
        printable(&found.session),
    )
}
