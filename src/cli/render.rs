use serde_json::json;

use crate::{
    git::Project,
    ui::{Context, Exit, Failure},
    view::{self, View},
};

/// Write the views as the ledger has them
///
/// Writes VERDICTS.md and DECISIONS.md under `.operator/`. Hand-written text stays behind the row it
/// stands behind.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write nothing; exit 1 unless each row is backed, canonical and in order and all text is known
    #[arg(long)]
    check: bool,

    /// Fail also for rows of the ledger that the files do not show
    #[arg(long, requires = "check")]
    complete: bool,

    /// Print to stdout: `-o -` prints both views, nothing is written
    #[arg(short, long, value_name = "FILE", value_parser = ["-"], conflicts_with = "check")]
    output: Option<String>,

    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let store = context.store()?;
    let top = top(context.project()?)?;
    if args.check {
        return check(args, context);
    }
    if args.output.is_some() {
        for view in View::ALL {
            context.ui.bytes(&view::rendered(store, top, view)?)?;
        }
        return Ok(Exit::Done);
    }
    for view in view::rewrite(store, top)? {
        let path = format!(".operator/{}", view.file_name());
        if args.json {
            context.ui.json("rendered", json!({ "path": path }))?;
        } else {
            context.ui.line(format_args!("rendered {path}"))?;
        }
    }
    Ok(Exit::Done)
}

/// Returns the directory that holds `.operator/`.
pub(super) fn top(project: &Project) -> Result<&std::path::Path, Failure> {
    project.top.as_deref().ok_or_else(|| {
        let dir = project.location.git_dir.display();
        Failure::new(
            Exit::Fatal,
            format!("cannot write views in '{dir}': it is a bare repository and has no files"),
        )
    })
}

fn check(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let mut exit = Exit::Done;
    for (view, checked) in view::checked(context.store()?, top(context.project()?)?)? {
        let path = format!(".operator/{}", view.file_name());
        for finding in &checked.findings {
            exit = Exit::No;
            if args.json {
                let object = json!({ "path": path, "line": finding.line, "what": finding.what });
                context.ui.json("finding", object)?;
            } else if finding.line == 0 {
                context.ui.line(format_args!("{path}: {}", finding.what))?;
            } else {
                context
                    .ui
                    .line(format_args!("{path}:{}: {}", finding.line, finding.what))?;
            }
        }
        if args.complete && checked.missing > 0 {
            exit = Exit::No;
        }
        if args.json {
            context.ui.json(
                "checked",
                json!({ "path": path, "missing": checked.missing }),
            )?;
        } else if checked.missing > 0 {
            let rows = if checked.missing == 1 { "row" } else { "rows" };
            context.ui.line(format_args!(
                "{path}: {} {rows} of the ledger not shown",
                checked.missing
            ))?;
        }
    }
    Ok(exit)
}
