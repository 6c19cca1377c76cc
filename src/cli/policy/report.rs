//! Results of tests, in the forms people and programs read.

use serde_json::json;

use super::test::Format;
use crate::{
    policy::testing::{TestResult, Tested},
    ui::{Context, Failure, one_line, printable},
};

/// Prints the results.
pub(super) fn print(format: Format, results: &[Tested], context: &Context) -> Result<(), Failure> {
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
