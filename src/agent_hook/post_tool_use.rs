use serde_json::json;

use super::{
    Event,
    policy::{self, Seen},
    reply::Reply,
    tool_use::ToolUse,
};
use crate::{
    model::RepoPath,
    payload::Value,
    ui::{Failure, printable},
    work::{self, Finished, Outcome, Report, Scope},
};

/// How many paths a message names.
const NAMED: usize = 10;

/// PostToolUse: what the tool changed is the session's.
pub(super) fn answer(event: &Event) -> Result<Reply, Failure> {
    ended(event, Outcome::Success)
}

/// Ends a tool use, which did what it was asked or failed.
pub(super) fn ended(event: &Event, outcome: Outcome) -> Result<Reply, Failure> {
    let rules = event.rules()?;
    let Some(used) = ToolUse::of(event)? else {
        return policy::plain(event, Reply::Nothing);
    };
    let response = event.payload.get("tool_response");
    let background = response
        .and_then(|response| response.get("backgroundTaskId"))
        .and_then(Value::text);
    let scope = rules.map_or(Scope::Target, |rules| rules.scope(event));
    let report = work::finish(
        &used.repo,
        &Finished {
            call: used.call(scope),
            outcome,
            background: background.as_deref().filter(|id| !id.is_empty()),
        },
    )?;
    let told = reply(event, &report);
    match rules {
        Some(rules) => judged(event, rules, (&used, &report), told),
        None => Ok(told),
    }
}

/// Judges what a tool did, and puts back what policies want put back.
fn judged(
    event: &Event,
    rules: &policy::Rules,
    (used, report): (&ToolUse, &Report),
    told: Reply,
) -> Result<Reply, Failure> {
    let wrote = match report.changes.is_empty() {
        true => policy::Wrote::Nothing,
        false => policy::Wrote::Files,
    };
    rules.note_end(event, wrote)?;
    let seen = Seen {
        work: report.work.clone(),
        changes: policy::changes(&used.repo, &report.changes),
        blocks: 0,
    };
    let Some(mut ruling) = rules.judge(event, seen)? else {
        return Ok(told);
    };
    rules.restore(&mut ruling, &used.repo, (&used.session, &used.id));
    rules.record(event, &ruling);
    let name = event.payload.event().unwrap_or_default();
    Ok(policy::answer(&name, rules, &ruling, told))
}

/// Tells the model and the user whose work the tool touched.
fn reply(event: &Event, report: &Report) -> Reply {
    let mut lines = Vec::new();
    if !report.vanished.is_empty() {
        let names = names(&report.vanished);
        lines.push(format!(
            "Uncommitted work that is not this session's is gone since this call: {names}"
        ));
    }
    if !report.mixed.is_empty() {
        let names = names(&report.mixed);
        lines.push(format!(
            "This call changed uncommitted work that is not this session's: {names}"
        ));
    }
    if !report.not_kept.is_empty() {
        let names = names(&report.not_kept);
        lines.push(format!("Too large to keep as it was before: {names}"));
    }
    if report.vanished.len() + report.mixed.len() > report.not_kept.len() {
        lines.push("What was there before is kept: git operator recover --list".to_owned());
    }
    if !report.not_covered.is_empty() {
        lines.push(format!(
            "These are repositories of their own, and changes in them are not covered by the work \
             ledger: {}",
            names(&report.not_covered)
        ));
    }
    if lines.is_empty() {
        return Reply::Nothing;
    }
    let text = lines.join("\n");
    let name = event.payload.event().unwrap_or_default();
    Reply::Json(json!({
        "systemMessage": text,
        "hookSpecificOutput": {"hookEventName": name, "additionalContext": text},
    }))
}

fn names(paths: &[RepoPath]) -> String {
    let quoted: Vec<String> = paths
        .iter()
        .take(NAMED)
        .map(|path| printable(&path.quoted()).into_owned())
        .collect();
    let more = paths.len().saturating_sub(NAMED);
    match more {
        0 => quoted.join(", "),
        more => format!("{} and {more} more", quoted.join(", ")),
    }
}
