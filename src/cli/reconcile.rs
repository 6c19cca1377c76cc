use serde_json::json;

use super::render::top;
use crate::{
    ui::{Context, Exit, Failure, one_line},
    view::{self, History, Reconciled},
};

/// Bring the views and the ledger together
///
/// Rows no record backs become records of class imported, hand-written text is captured, records the
/// files lack are added, and conflict markers go. Rows are also taken from the predecessor's
/// `verdicts.d/`. Malformed rows are named by line, neither imported nor removed.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Take rows from every version of the views in the history of HEAD, too
    #[arg(long)]
    from_history: bool,

    /// Print JSON, one object for each view
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let history = if args.from_history {
        History::Search
    } else {
        History::Leave
    };
    let top = top(context.project()?)?;
    let (store, clock) = (context.store()?, context.clock()?);
    if history == History::Search && store.repo().is_shallow() {
        context.ui.warn(
            "this clone is shallow: rows of versions that it lacks are not taken; git fetch --unshallow brings them",
        );
    }
    let done = context
        .ui
        .busy("importing", || view::reconcile(store, clock, top, history))?;
    for reconciled in &done {
        if args.json {
            context.ui.json("reconciled", object(reconciled))?;
        } else {
            print(reconciled, context)?;
        }
    }
    let refused = done.iter().any(|reconciled| !reconciled.refused.is_empty());
    Ok(if refused { Exit::No } else { Exit::Done })
}

fn object(done: &Reconciled) -> serde_json::Value {
    json!({
        "path": format!(".operator/{}", done.view.file_name()),
        "imported": done.imported,
        "captured": done.captured,
        "taken_out": done.taken_out,
        "added": done.added,
        "markers": done.markers,
        "refused": done.refused,
        "written": done.written,
    })
}

/// Tells what was done with one view.
pub(super) fn print(done: &Reconciled, context: &Context) -> Result<(), Failure> {
    let path = format!(".operator/{}", done.view.file_name());
    for line in &done.markers {
        context
            .ui
            .note(format_args!("{path}:{line}: conflict marker removed"));
    }
    for refused in &done.refused {
        context.ui.warn(one_line(refused));
    }
    let counts = [
        (done.imported, "imported"),
        (done.captured, "blocks captured"),
        (done.taken_out, "blocks taken out"),
        (done.added, "added"),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    match (counts.is_empty(), done.written) {
        (true, false) => Ok(()),
        (true, true) => context.ui.line(format_args!("wrote {path}")),
        (false, _) => context
            .ui
            .line(format_args!("{path}: {}", counts.join(", "))),
    }
}
