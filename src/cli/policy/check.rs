use std::path::PathBuf;

use serde_json::json;

use super::chosen;
use crate::{
    model::RepoPath,
    rules,
    ui::{Context, Exit, Failure, printable, worded},
};

/// Read the policies and report what is wrong with them
///
/// Each fault has a line, a caret and the nearest name there is. Exits 1 when there is an error; warnings
/// (W01 to W07) count with `--strict`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Files to read instead of those of the project
    #[arg(value_name = "FILE")]
    paths: Vec<PathBuf>,
    /// Let warnings fail, too
    #[arg(long)]
    strict: bool,
    /// Print one JSON object for each fault
    #[arg(long)]
    json: bool,
}

/// Returns the files git tracks, as far as it says.
fn tracked(context: &Context) -> Vec<String> {
    let Ok(repo) = context.repo() else {
        return Vec::new();
    };
    let listed = repo.git(["ls-files", "-z", "--full-name", ":/"]).output();
    let listed = listed.unwrap_or_default();
    listed
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(|path| RepoPath::new(path).quoted())
        .collect()
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let found = chosen(&args.paths, context)?;
    let mut faults = found.policies.faults().to_vec();
    let files = tracked(context);
    if !files.is_empty() {
        faults.extend(found.policies.idle_paths(&files));
    }
    // Where there is no repository, no ledger could run.
    if let Ok(repo) = context.repo()
        && !rules::tracks(repo, Some(&found.policies))?
    {
        faults.extend(found.policies.blind());
    }
    for fault in &faults {
        if args.json {
            context.ui.json(
                "fault",
                json!({
                    "code": fault.code.to_string(),
                    "warning": fault.code.is_warning(),
                    "file": fault.place.source.path,
                    "line": fault.place.line(),
                    "column": fault.place.column(),
                    "message": fault.message,
                }),
            )?;
        } else {
            context.ui.line(printable(&worded(&fault.render())))?;
        }
    }
    let errors = faults
        .iter()
        .filter(|fault| !fault.code.is_warning())
        .count();
    if !args.json {
        let stale = found
            .policies
            .list()
            .iter()
            .filter(|policy| policy.is_stale);
        for policy in stale {
            let place = &policy.place.source.path;
            context.ui.line(printable(&format!(
                "{place}: the version at HEAD is used meanwhile ({})",
                policy.id
            )))?;
        }
        context.ui.line(format!(
            "{} policies in {} files: {errors} errors, {} warnings",
            found.policies.list().len(),
            found.files,
            faults.len() - errors,
        ))?;
    }
    let fails = errors > 0 || (args.strict && !faults.is_empty());
    Ok(if fails { Exit::No } else { Exit::Done })
}
