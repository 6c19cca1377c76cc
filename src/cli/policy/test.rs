use std::{fs, path::PathBuf, sync::Arc};

use super::{chosen, replay, report};
use crate::{
    policy::{
        Case, Policies,
        testing::{self, TestResult, Tested},
    },
    rules,
    ui::{Context, Exit, Failure, printable, worded},
};

/// Put policies to their tests
///
/// Tests stand beside a policy under `tests:`, or in a file of their own that begins with `policy: ID`
/// or `policies: all`. Scenarios are played in temporary repositories. Exits 1 when one fails, 5 when
/// there is none.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Files to read instead of those of the project
    #[arg(value_name = "FILE")]
    paths: Vec<PathBuf>,
    /// Only tests whose policy or name holds this text
    #[arg(short = 'k', value_name = "TEXT")]
    keyword: Option<String>,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Report what no test shows, and fail when there is such a thing
    #[arg(long)]
    coverage: bool,
    /// Change each operator and literal in turn, and fail when no test notices one
    #[arg(long)]
    mutate: bool,
    /// Judge the recorded events of a session again (`last`: the newest) and print what changes
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["keyword", "coverage", "mutate", "update"])]
    replay: Option<String>,
    /// Write what was decided into the tests that expected another decision
    #[arg(long)]
    update: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(super) enum Format {
    Text,
    Json,
    Tap,
    Junit,
    Github,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let found = chosen(&args.paths, context)?;
    let errors: Vec<String> = found
        .policies
        .faults()
        .iter()
        .filter(|fault| !fault.code.is_warning())
        .map(|fault| worded(&fault.render()).into_owned())
        .collect();
    if !errors.is_empty() {
        // Programs that read the other formats get nothing that is not in them.
        if matches!(args.format, Format::Text) {
            for error in errors {
                context.ui.line(printable(&error))?;
            }
        }
        let message = "cannot test the policies: some cannot be read";
        return Err(Failure::new(Exit::No, message).hint("git operator policy check"));
    }
    let wanted = |policy: &str, name: &str| {
        let keyword = args.keyword.as_deref().unwrap_or_default();
        policy.contains(keyword) || name.contains(keyword)
    };
    if let Some(session) = &args.replay {
        return replay::run(found.policies, session, context);
    }
    let path = context.env().var("PATH");
    let play = |policies: &Arc<Policies>, case: &Case| rules::play(policies, case, path);
    let results = testing::run(&found.policies, &wanted, Some(&play));
    report::print(args.format, &results, context)?;
    if args.update {
        update(&results, context)?;
    }
    let failed = results
        .iter()
        .any(|tested| matches!(tested.result, TestResult::Failed(_)));
    let mut exit = match (results.is_empty(), failed) {
        (true, _) => Exit::Unchecked,
        (false, true) => Exit::No,
        (false, false) => Exit::Done,
    };
    if args.coverage && !coverage(&found.policies, context)? {
        exit = Exit::No;
    }
    if args.mutate && !mutation(&found.policies, context)? {
        exit = Exit::No;
    }
    Ok(exit)
}

/// Prints what no test shows; says whether there is nothing.
fn coverage(policies: &Policies, context: &Context) -> Result<bool, Failure> {
    let coverage = testing::coverage(policies);
    for gap in &coverage.gaps {
        let text = format!("uncovered  {}: {}", gap.policy, gap.missing);
        context.ui.line(printable(&text))?;
    }
    let shown = coverage.total.saturating_sub(coverage.gaps.len());
    let score = (shown * 100).checked_div(coverage.total).unwrap_or(100);
    let total = coverage.total;
    let line = format!("coverage: {shown} of {total} shown ({score} %)");
    context.ui.line(line)?;
    Ok(coverage.gaps.is_empty())
}

/// Prints the changes that no test notices; says whether there is none.
fn mutation(policies: &Policies, context: &Context) -> Result<bool, Failure> {
    let mut tried = 0;
    let mut survived = 0;
    for mutation in testing::mutation(policies) {
        tried += mutation.tried;
        survived += mutation.survivors.len();
        for survivor in mutation.survivors {
            let text = format!("unnoticed  {}: {survivor}", mutation.policy);
            context.ui.line(printable(&text))?;
        }
    }
    let noticed = tried - survived;
    let score = (noticed * 100).checked_div(tried).unwrap_or(100);
    context.ui.line(format!(
        "mutation: {noticed} of {tried} noticed ({score} %)"
    ))?;
    Ok(survived == 0)
}

/// Writes the decisions that came in place of those that were expected; whatever else a test expects is
/// for a person to change.
fn update(results: &[Tested], context: &Context) -> Result<(), Failure> {
    let mut edits: Vec<(PathBuf, usize, usize, String)> = Vec::new();
    for tested in results {
        let TestResult::Failed(_) = tested.result else {
            continue;
        };
        let (case, expect) = (&tested.case, &tested.case.expect);
        let changed = (expect.decision, tested.got, expect.decision_at);
        let name = format!("{} {}: {}", case.place, tested.policy, case.name);
        match changed {
            (Some(wanted), Some(got), Some((from, to))) if wanted != got => {
                let path = file(&case.place.source.path, context)?;
                edits.push((path, from, to, got.to_string()));
                let line = format!("updated {name}: {wanted} is {got} now");
                context.ui.line(printable(&line))?;
            }
            _ => context.ui.line(printable(&format!("left    {name}")))?,
        }
    }
    // From the end, so that the places before stay where they are.
    edits.sort_by(|one, other| (&other.0, other.1).cmp(&(&one.0, one.1)));
    edits.dedup();
    for (path, from, to, word) in edits {
        let text = fs::read_to_string(&path);
        let written = text.and_then(|mut text| {
            if text.get(from..to).is_some() {
                text.replace_range(from..to, &word);
            }
            fs::write(&path, text)
        });
        let what = format!("cannot write '{}'", path.display());
        written.map_err(|error| Failure::io(what, &error))?;
    }
    Ok(())
}

/// Returns where a file lies that is known by a path relative to the top, or to where we are.
fn file(known: &str, context: &Context) -> Result<PathBuf, Failure> {
    let top = match context.location()? {
        Some(location) => location.top.clone(),
        None => None,
    };
    let here = context.cwd()?.join(known);
    Ok(
        match top.map(|top| top.join(known)).filter(|path| path.is_file()) {
            Some(path) if !here.is_file() => path,
            _ => here,
        },
    )
}
