//! The message of a ledger commit: a line for people, a blank, one record a line.

use crate::model::{Body, Oid, Record};

const SUBJECT_LIMIT: usize = 100;

/// Returns the message that carries `records`.
pub(super) fn compose(records: &[Record]) -> Vec<u8> {
    let mut message = records.first().map_or_else(String::new, subject);
    if records.len() > 1 {
        message.push_str(&format!(" (and {} more)", records.len() - 1));
    }
    with_lines(&message, records.iter().map(Record::line))
}

/// Returns the message of lines that others wrote, which came with `tip`.
pub(super) fn carry(tip: Oid, lines: &[String]) -> Vec<u8> {
    let subject = format!("union: {} records of {}", lines.len(), tip.short());
    with_lines(&subject, lines.iter().map(String::as_str))
}

fn with_lines<'a>(subject: &str, lines: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut message = format!("{subject}\n\n");
    for line in lines {
        message.push_str(line);
        message.push('\n');
    }
    message.into_bytes()
}

/// Returns the message of a union, which carries no record but the larger `seq`.
pub(super) fn union(seq: u64) -> Vec<u8> {
    format!("union {seq}\n").into_bytes()
}

/// Returns the `seq` that the message of a union carries.
pub(super) fn union_seq(message: &[u8]) -> Option<u64> {
    let digits = message.strip_prefix(b"union ")?.strip_suffix(b"\n")?;
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    plain.then(|| std::str::from_utf8(digits).ok()?.parse().ok())?
}

/// Returns the record lines of a message: all that is not blank behind its first blank line.
pub(super) fn lines(message: &[u8]) -> impl Iterator<Item = &[u8]> {
    let start = message.windows(2).position(|pair| pair == b"\n\n");
    let body = start.map_or(&[][..], |at| &message[at + 2..]);
    body.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
}

fn subject(record: &Record) -> String {
    let task = record.task.as_deref().unwrap_or("-");
    let criterion = record.criterion.as_deref().unwrap_or("-");
    let owner = record.owner.as_deref().unwrap_or("nobody");
    let text = match &record.body {
        Body::Task(_) => format!("task {task}: opened by {owner}"),
        Body::Adopt(adopt) => {
            let from = adopt.from.as_deref().unwrap_or("nobody");
            format!("adopt {task}: {from} -> {owner}")
        }
        Body::Verdict(verdict) => format!("verdict {} {task}: {criterion}", verdict.outcome),
        Body::Attempt(attempt) => {
            let result = attempt.result.map_or("begun", |result| result.as_str());
            format!("attempt {result} {task}: {criterion}")
        }
        Body::Defer(defer) => format!("defer {task}: {}", defer.reason),
        Body::Decision(decision) => format!("decision {}: {}", decision.decision, decision.what),
        Body::Bar(bar) => format!("bar {}", bar.text.lines().next().unwrap_or_default()),
        Body::Layout(layout) => format!("layout {}", layout.view),
        Body::Signature(signature) => format!("signature {}", signature.of.short()),
        Body::Rewrite(rewrite) => {
            format!("rewrite {}: {} commits", rewrite.cause, rewrite.pairs.len())
        }
        Body::Work(work) => format!("work {}", work.commit.short()),
        Body::Session(note) => format!("session {}: {owner}", note.event),
        Body::Retract(retract) => format!("retract {}: {}", retract.of.short(), retract.why),
        Body::Redact(redact) => format!("redact {}", &redact.digest.to_hex()[..12]),
        Body::Other(kind) => format!("{kind}: a kind this program does not know"),
    };
    one_line(&text)
}

/// Returns `text` as a subject: one line, no control character, not too long.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > SUBJECT_LIMIT {
            let end = (0..=SUBJECT_LIMIT)
                .rev()
                .find(|at| line.is_char_boundary(*at));
            line.truncate(end.unwrap_or(0));
            line.push('…');
            break;
        }
    }
    line
}
