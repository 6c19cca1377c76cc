use crate::{
    gate::Place,
    setup::{self, Finding, Repair, Weight},
    ui::{Context, Exit, Failure, one_line},
};

/// Check that the set-up is whole
///
/// Names each fault with the command that mends it. `--fix` registers again what `start` registers; it
/// removes nothing and changes no setting of yours.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Mend what can be mended without asking
    #[arg(long)]
    fix: bool,
    /// Print one JSON object for each finding
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let store = context.store()?;
    let place = Place::of_project(context.project()?);
    let repair = if args.fix { Repair::Fix } else { Repair::Look };
    let findings = setup::doctor(store, &place, (repair, context.clock()?.wall_ms()))?;
    for finding in &findings {
        print(args, context, finding)?;
    }
    let faults = findings
        .iter()
        .filter(|finding| finding.weight == Weight::Fault && !finding.fixed)
        .count();
    if findings.is_empty() && !args.json {
        context.ui.line("all is well")?;
    }
    Ok(if faults == 0 { Exit::Done } else { Exit::No })
}

fn print(args: &Args, context: &Context, finding: &Finding) -> Result<(), Failure> {
    let weight = match finding.weight {
        Weight::Fault => "fault",
        Weight::Note => "note",
    };
    if args.json {
        return context.ui.json(
            "finding",
            serde_json::json!({
                "weight": weight, "what": finding.what, "fix": finding.fix, "fixed": finding.fixed,
            }),
        );
    }
    let what = one_line(&finding.what);
    if finding.fixed {
        return context.ui.line(format!("fixed: {what}"));
    }
    context.ui.line(format!("{weight}: {what}"))?;
    match &finding.fix {
        Some(fix) => context.ui.line(format!("  fix: {}", one_line(fix))),
        None => Ok(()),
    }
}
