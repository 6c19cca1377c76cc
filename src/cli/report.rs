use std::{fs, path::PathBuf};

use crate::{
    gate::Place,
    report::{self, Ask},
    ui::{Context, Exit, Failure},
};

/// Show the ledger to people, as one HTML page
///
/// The page holds what was proved over time, tasks against criteria, what is stale, contested or flaky
/// and why, decisions nobody was shown, whose the work in each commit is, and what the gate cost. It
/// stands by itself: no script, no request. REV shows the records made on a commit that REV reaches,
/// A..B those made on a commit that B reaches and A does not.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write the page to FILE; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,

    /// A revision or a range, as git log takes it
    #[arg(value_name = "REV|RANGE")]
    range: Option<String>,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let ask = Ask {
        spec: args.range.clone(),
        now: context.clock()?.wall_ms(),
    };
    let place = Place::of_project(context.project()?);
    let store = context.store()?;
    let page = context
        .ui
        .busy("making the report", || report::page(store, &place, &ask))?;
    if args.output.as_os_str() == "-" {
        context.ui.print(page.html)?;
        return Ok(Exit::Done);
    }
    let path = context.cwd()?.join(&args.output);
    let shown = path.display();
    fs::write(&path, page.html)
        .map_err(|error| Failure::io(format!("cannot write '{shown}'"), &error))?;
    let count = page.records;
    let noun = if count == 1 { "record" } else { "records" };
    context.ui.note(format!("wrote {count} {noun} to {shown}"));
    Ok(Exit::Done)
}
