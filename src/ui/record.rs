//! What people are shown of a record, the same wherever it is shown.

use super::{Color, one_line};
use crate::model::{Body, Decision, Outcome, Record, Verdict, Work, time};

/// Returns the word that says what a record is: an outcome, a kind of decision, a verb.
pub fn word(record: &Record) -> &str {
    match &record.body {
        Body::Task(_) => "open",
        Body::Verdict(verdict) => verdict.outcome.as_str(),
        Body::Attempt(attempt) => attempt.result.map_or("RUN", |result| result.as_str()),
        Body::Decision(decision) => decision.decision.as_str(),
        body => body.kind(),
    }
}

/// Returns the colour of the word.
pub fn color(record: &Record) -> Color {
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
pub fn subject(record: &Record) -> String {
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
        Body::Bar(bar) => {
            let text = bar.text.lines().find(|line| !line.trim().is_empty());
            text.unwrap_or_default().to_owned()
        }
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
pub fn when(record: &Record) -> String {
    match record.time {
        0 => "-".to_owned(),
        time => time::format_time(time)[..16].replace('T', " "),
    }
}
