use serde_json::json;

use super::{
    Event,
    policy::{self, Rules, Seen},
    reply::Reply,
    tool_use::{ToolUse, untracked},
};
use crate::{
    git::Repo,
    model::RepoPath,
    rules::{self, Change},
    ui::{Failure, printable},
    work::{self, FileChange, Finished, Outcome, Report, Scope, Tool},
};

/// How many paths a message names.
const NAMED: usize = 10;

/// PostToolUse: what the tool changed is the session's.
pub(super) fn answer(event: &Event) -> Reply {
    ended(event, Outcome::Success)
}

/// Ends a tool use, which did what it was asked or failed; policies judge what it did, and what they
/// want put back is put back.
pub(super) fn ended(event: &Event, outcome: Outcome) -> Reply {
    let policies = event.rules();
    let done = match finished(event, policies, outcome) {
        Ok(Some(done)) => done,
        Ok(None) => return policy::plain(event, Reply::Nothing),
        Err(failure) => return lost(event, policies, &failure),
    };
    let (used, mut report) = done;
    let Some(policies) = policies else {
        return reply(event, &report);
    };
    policies.note_end(event, &report.changes);
    let seen = Seen {
        work: report.work.take(),
        changes: changes(event, (policies, &used.repo), &report.changes),
        ..Seen::default()
    };
    let Some(mut ruling) = policies.judge(event, seen) else {
        return reply(event, &report);
    };
    let restored = rules::restore(&mut ruling, &used.repo, (&used.session, &used.id));
    report.put_back(&restored);
    policies.record(event, &ruling);
    policy::answer(&event.name, policies, &ruling, reply(event, &report))
}

/// Returns the changes that were not judged before the tool ran.
fn changes(
    event: &Event,
    (policies, repo): (&Rules, &Repo),
    changed: &[FileChange],
) -> Vec<Change> {
    match (is_shell(event), policies.reads_content(event)) {
        (true, _) => rules::changes(repo, changed),
        (false, true) => rules::unforeseen(repo, changed, &policy::payload_json(event)),
        (false, false) => Vec::new(),
    }
}

fn finished(
    event: &Event,
    rules: Option<&Rules>,
    outcome: Outcome,
) -> Result<Option<(ToolUse, Report)>, Failure> {
    let Some(used) = ToolUse::of(event)? else {
        return Ok(None);
    };
    let background = background(event);
    let scope = rules.map_or(Scope::Target, |rules| rules.scope(event));
    let report = work::finish(
        &used.repo,
        &Finished {
            call: used.call(scope),
            outcome,
            background: background.as_deref(),
        },
    )?;
    Ok(Some((used, report)))
}

/// Returns the background task that goes on, where a call returned before its command did.
pub(super) fn background(event: &Event) -> Option<String> {
    let response = event.payload.get("tool_response")?;
    let id = response.get("backgroundTaskId")?.text()?;
    (!id.is_empty()).then(|| id.into_owned())
}

/// Answers for a tool use of which it is not known what it changed.
fn lost(event: &Event, rules: Option<&Rules>, failure: &Failure) -> Reply {
    let told = untracked(failure);
    let Some(rules) = rules else { return told };
    let seen = Seen {
        work_lost: failure.message.clone(),
        changes_lost: failure.message.clone().filter(|_| is_shell(event)),
        ..Seen::default()
    };
    let Some(ruling) = rules.judge(event, seen) else {
        return told;
    };
    rules.record(event, &ruling);
    policy::answer(&event.name, rules, &ruling, told)
}

fn is_shell(event: &Event) -> bool {
    let tool = event.payload.text("tool_name").unwrap_or_default();
    Tool::of(&tool) == Some(Tool::Shell)
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
        lines.push(format!("Not kept as it was before: {names}"));
    }
    if report.vanished.len() + report.mixed.len() > report.not_kept.len() {
        lines.push("What was there before is kept: git operator recover --list".to_owned());
    }
    if !report.dissolved.is_empty() {
        lines.push(format!(
            "These were repositories or worktrees of their own, and are gone or none any more since \
             this call; what was uncommitted in them is not kept: {}",
            names(&report.dissolved)
        ));
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
    Reply::Json(json!({
        "systemMessage": text,
        "hookSpecificOutput": {"hookEventName": event.name, "additionalContext": text},
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
