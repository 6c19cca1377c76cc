//! What people and programs are shown of a record, the same in every command.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::Value;

pub(super) use crate::ui::record::{color, subject, when, word};
use crate::{
    model::{Body, Evidence, Record, RepoPath},
    store::{Held, Store},
    ui::{Exit, Failure},
    verify::Tie,
};

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
    let cannot = |why: &str| format!("cannot show the evidence of '{}': {why}", record.id.short());
    match store.held(&stored.digest)? {
        Held::Bytes(bytes) => Ok(Some(bytes)),
        Held::Others => {
            let why = "what is kept under its digest are other bytes";
            Err(Failure::new(Exit::Integrity, cannot(why)))
        }
        Held::Nothing => {
            if let Some(by) = store.redaction(&stored.digest)? {
                let why = format!("it was redacted by {}", by.short());
                return Err(Failure::new(Exit::No, cannot(&why)));
            }
            let why = "its bytes are not in this clone";
            Err(Failure::new(Exit::No, cannot(why)).hint("git operator sync --evidence"))
        }
    }
}

/// Returns what ties a record to a commit as `--json` shows it.
pub(super) fn binding(tie: &Tie) -> Value {
    let paths = tie.binding.paths().iter();
    serde_json::json!({
        "commit": tie.commit.to_hex(),
        "state": tie.binding.as_str(),
        "grade": tie.binding.grade().map(|grade| grade.as_str()),
        "paths": paths.map(RepoPath::quoted).collect::<Vec<_>>(),
        "from": tie.from.map(|old| old.to_hex()),
    })
}

/// Returns bytes as `--json` shows them: text, or `{"b64":…}`.
pub(super) fn json_bytes(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => serde_json::json!({"b64": BASE64_STANDARD.encode(bytes)}),
    }
}
