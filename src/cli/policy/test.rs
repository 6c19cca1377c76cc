use std::path::PathBuf;

use serde_json::json;

use super::chosen;
use crate::{
    policy::{
        Policies,
        testing::{self, TestResult, Tested},
    },
    ui::{Context, Exit, Failure, one_line, printable},
};

/// Put policies to their tests
///
/// Tests stand beside a policy under `tests:`, or in a file of their own that begins with `policy: ID`
/// or `policies: all`. Exits 1 when one fails, 5 when there is none.
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
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
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
        .map(|fault| fault.render())
        .collect();
    if !errors.is_empty() {
        for error in errors {
            context.ui.line(printable(&error))?;
        }
        let message = "cannot test the policies: some cannot be read";
        return Err(Failure::new(Exit::No, message).hint("git operator policy check"));
    }
    let wanted = |policy: &str, name: &str| {
        let keyword = args.keyword.as_deref().unwrap_or_default();
        policy.contains(keyword) || name.contains(keyword)
    };
    let results = testing::run(&found.policies, &wanted, None);
    print(args.format, &results, context)?;
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
    let gaps = testing::coverage(policies);
    for gap in &gaps {
        let text = format!("uncovered  {}: {}", gap.policy, gap.missing);
        context.ui.line(printable(&text))?;
    }
    context.ui.line(format!("coverage: {} gaps", gaps.len()))?;
    Ok(gaps.is_empty())
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

fn print(format: Format, results: &[Tested], context: &Context) -> Result<(), Failure> {
    match format {
        Format::Text => text(results, context),
        Format::Json => json_lines(results, context),
        Format::Tap => tap(results, context),
        Format::Junit => junit(results, context),
        Format::Github => github(results, context),
    }
}

fn text(results: &[Tested], context: &Context) -> Result<(), Failure> {
    let mut failed = 0;
    let mut skipped = 0;
    for tested in results {
        match &tested.result {
            TestResult::Passed => {}
            TestResult::Skipped(_) => skipped += 1,
            TestResult::Failed(lines) => {
                failed += 1;
                let head = format!(
                    "FAIL {} {}: {}",
                    tested.case.place, tested.policy, tested.case.name
                );
                context.ui.line(printable(&head))?;
                for line in lines {
                    context.ui.line(printable(&format!("  {line}")))?;
                }
            }
        }
    }
    let passed = results.len() - failed - skipped;
    let more = if skipped > 0 {
        format!(", {skipped} skipped")
    } else {
        String::new()
    };
    context
        .ui
        .line(format!("{passed} passed, {failed} failed{more}"))
}

fn parts(tested: &Tested) -> (&'static str, String) {
    match &tested.result {
        TestResult::Passed => ("passed", String::new()),
        TestResult::Failed(lines) => ("failed", lines.join("\n")),
        TestResult::Skipped(reason) => ("skipped", reason.clone()),
    }
}

fn json_lines(results: &[Tested], context: &Context) -> Result<(), Failure> {
    for tested in results {
        let (result, text) = parts(tested);
        context.ui.json(
            "test",
            json!({
                "policy": tested.policy, "name": tested.case.name, "result": result, "text": text,
                "file": tested.case.place.source.path, "line": tested.case.place.line(),
                "micros": tested.micros,
            }),
        )?;
    }
    Ok(())
}

fn tap(results: &[Tested], context: &Context) -> Result<(), Failure> {
    context.ui.line(format!("1..{}", results.len()))?;
    for (number, tested) in results.iter().enumerate() {
        let (result, text) = parts(tested);
        let ok = if result == "failed" { "not ok" } else { "ok" };
        let skip = if result == "skipped" { " # SKIP" } else { "" };
        let name = format!("{}: {}", tested.policy, tested.case.name).replace('#', "\\#");
        let line = format!("{ok} {} - {}{skip}", number + 1, one_line(&name));
        context.ui.line(line)?;
        for line in text.lines() {
            context.ui.line(printable(&format!("# {line}")))?;
        }
    }
    Ok(())
}

fn junit(results: &[Tested], context: &Context) -> Result<(), Failure> {
    let count = |wanted: &str| {
        results
            .iter()
            .filter(|tested| parts(tested).0 == wanted)
            .count()
    };
    context
        .ui
        .line("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    context.ui.line(format!(
        "<testsuite name=\"policies\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">",
        results.len(),
        count("failed"),
        count("skipped")
    ))?;
    for tested in results {
        let (result, text) = parts(tested);
        let open = format!(
            "  <testcase classname=\"{}\" name=\"{}\" time=\"{:.6}\"",
            escaped(&tested.policy),
            escaped(&tested.case.name),
            tested.micros as f64 / 1e6
        );
        let text = escaped(&text);
        context.ui.line(match result {
            "failed" => format!("{open}><failure>{text}</failure></testcase>"),
            "skipped" => format!("{open}><skipped message=\"{text}\"/></testcase>"),
            _ => format!("{open}/>"),
        })?;
    }
    context.ui.line("</testsuite>")
}

fn escaped(text: &str) -> String {
    let text = printable(text);
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn github(results: &[Tested], context: &Context) -> Result<(), Failure> {
    for tested in results {
        let (result, text) = parts(tested);
        if result == "failed" {
            let message = format!("{}: {}\n{text}", tested.policy, tested.case.name);
            let message = printable(&message)
                .replace('%', "%25")
                .replace('\r', "%0D")
                .replace('\n', "%0A");
            let file = one_line(&tested.case.place.source.path).replace([',', ':'], "_");
            let line = tested.case.place.line();
            context
                .ui
                .line(format!("::error file={file},line={line}::{message}"))?;
        }
    }
    text(results, context)
}
