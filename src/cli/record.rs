//! What people and programs are shown of a record, the same in every command.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::Value;

use crate::{
    model::{Body, Decision, Evidence, Outcome, Record, Verdict, Work, time},
    store::Store,
    ui::{Color, Exit, Failure, one_line},
};

/// Returns the word that says what a record is: an outcome, a kind of decision, a verb.
pub(super) fn word(record: &Record) -> &str {
    match &record.body {
        Body::Task(_) => "open",
        Body::Verdict(verdict) => verdict.outcome.as_str(),
        Body::Attempt(attempt) => attempt.result.map_or("RUN", |result| result.as_str()),
        Body::Decision(decision) => decision.decision.as_str(),
        body => body.kind(),
    }
}

/// Returns the colour of the word.
pub(super) fn color(record: &Record) -> Color {
    match &record.body {
        Body::Verdict(verdict) => match verdict.outcome {
            Outcome::Pass => Color::Green,
            Outcome::Fail => Color::Red,
            Outcome::Moot => Color::Dim,
        },
        Body::Decision(decision) if decision.decision.wants_presenting() => Color::Yellow,
        Body::Defer(_) | Body::Session(_) | Body::Retract(_) | Body::Redact(_) => Color::Yellow,
        _ => Color::Cyan,
    }
}

/// Returns one line that says what a record records, without its id, time and word.
pub(super) fn subject(record: &Record) -> String {
    let task = record.task.as_deref().unwrap_or("-");
    let owner = record.owner.as_deref().unwrap_or("nobody");
    let text = match &record.body {
        Body::Task(_) => format!("{task} for {owner}"),
        Body::Adopt(adopt) => {
            let from = adopt.from.as_deref().unwrap_or("nobody");
            format!("{task} from {from} to {owner}")
        }
        Body::Verdict(verdict) => of_verdict(record, verdict),
        Body::Attempt(attempt) => {
            let criterion = record.criterion.as_deref().unwrap_or("-");
            let of = attempt.of.map(|id| format!(" (of {})", id.short()));
            format!("{task}: {criterion}{}", of.unwrap_or_default())
        }
        Body::Defer(defer) => format!("{task}: {}", defer.reason),
        Body::Decision(decision) => of_decision(decision),
        Body::Bar(bar) => bar.text.lines().next().unwrap_or_default().to_owned(),
        Body::Layout(layout) => format!("{} rows of {}", layout.order.len(), layout.view),
        Body::Signature(signature) => format!("{} of {}", signature.format, signature.of.short()),
        Body::Rewrite(rewrite) => format!("{} of {} commits", rewrite.cause, rewrite.pairs.len()),
        Body::Work(work) => of_work(work),
        Body::Session(note) => format!("{owner} {} with {} open", note.event, note.open.join(", ")),
        Body::Retract(retract) => format!("{}: {}", retract.of.short(), retract.why),
        Body::Redact(redact) => format!("{}: {}", redact.digest, redact.why),
        Body::Other(_) => format!("{task}: of a kind this program does not know"),
    };
    one_line(&text)
}

fn of_verdict(record: &Record, verdict: &Verdict) -> String {
    let task = record.task.as_deref().unwrap_or("-");
    let criterion = record.criterion.as_deref().unwrap_or("-");
    let stamp = verdict.stamp.short();
    format!("{task}: {criterion}: {} {stamp}", verdict.evidence.cell())
}

fn of_decision(decision: &Decision) -> String {
    let Decision {
        scope, what, why, ..
    } = decision;
    format!("{scope}: {what}: {why}")
}

fn of_work(work: &Work) -> String {
    let mine: usize = work.mine.iter().map(|(_, paths)| paths.len()).sum();
    let commit = work.commit.short();
    format!(
        "{mine} claimed and {} other paths in {commit}",
        work.other.len()
    )
}

/// Returns when a record was made, for people; imported rows do not say.
pub(super) fn when(record: &Record) -> String {
    match record.time {
        0 => "-".to_owned(),
        time => time::format_time(time)[..16].replace('T', " "),
    }
}

/// Returns the object `--json` shows for a record: its line with this output's `v` and `type` before
/// its members, and `more` behind them.
pub(super) fn json(record: &Record, more: &[(&str, Value)]) -> String {
    let id = format!("{{\"id\":\"{}\",\"v\":1,", record.id);
    let rest = record.line().strip_prefix(&id).unwrap_or(record.line());
    let rest = rest.strip_suffix('}').unwrap_or(rest);
    let mut json = format!(
        "{{\"v\":1,\"type\":\"record\",\"id\":\"{}\",{rest}",
        record.id
    );
    for (name, value) in more {
        json.push_str(&format!(",\"{name}\":{value}"));
    }
    json.push('}');
    json
}

/// Returns the evidence a record carries.
pub(super) fn evidence(record: &Record) -> Option<&Evidence> {
    match &record.body {
        Body::Verdict(verdict) => Some(&verdict.evidence),
        Body::Attempt(attempt) => attempt.evidence.as_ref(),
        _ => None,
    }
}

/// Returns all bytes of the evidence a record carries, wherever they lie.
pub(super) fn whole(store: &Store, record: &Record) -> Result<Option<Vec<u8>>, Failure> {
    let Some(evidence) = evidence(record) else {
        return Ok(None);
    };
    let Some(stored) = evidence.stored() else {
        return Ok(evidence.inline().map(<[u8]>::to_vec));
    };
    let found = store.evidence(&stored.digest)?;
    found.map(Some).ok_or_else(|| {
        let id = record.id.short();
        let message =
            format!("cannot show the evidence of '{id}': its bytes are not in this clone");
        Failure::new(Exit::No, message).hint("git operator sync --evidence")
    })
}

/// Returns bytes as `--json` shows them: text, or `{"b64":…}`.
pub(super) fn json_bytes(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => serde_json::json!({"b64": BASE64_STANDARD.encode(bytes)}),
    }
}
