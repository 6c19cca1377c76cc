//! Records for tools that know DSSE and in-toto.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::model::{Body, Outcome, Record, Signature, Stamp, TreeState, Verdict, time};

/// The type of a record as the payload of an envelope.
pub const PAYLOAD: &str = "application/vnd.git-operator.record+json";
const STATEMENT: &str = "https://in-toto.io/Statement/v1";
const RESULT: &str = "https://in-toto.io/attestation/test-result/v0.1";

/// Returns a record as a DSSE envelope with the signatures it has. They are over the line itself, not
/// over DSSE's encoding, and armored: a plain verifier of DSSE cannot check them.
pub fn dsse(record: &Record, signatures: &[&Signature]) -> Value {
    let signatures: Vec<Value> = signatures
        .iter()
        .map(|signature| {
            json!({
                "keyid": signature.format,
                "sig": BASE64_STANDARD.encode(&signature.armor),
            })
        })
        .collect();
    json!({
        "payloadType": PAYLOAD,
        "payload": BASE64_STANDARD.encode(record.line()),
        "signatures": signatures,
    })
}

/// Returns a verdict as an in-toto statement of test results; `None` for a record of another kind, or
/// one whose subject is not known.
pub fn in_toto(record: &Record) -> Option<Value> {
    let Body::Verdict(verdict) = &record.body else {
        return None;
    };
    let subject = verdict.subject?;
    let mut subjects = vec![json!({
        "name": "source",
        "digest": {"gitTree": subject.to_hex()},
        "annotations": {"exclude": [".operator"]},
    })];
    // Subjects match by digest alone: a commit that was not what was tested must not stand here.
    if let (Some(head), true) = (verdict.head, is_clean(verdict)) {
        subjects.push(json!({"name": "commit", "digest": {"gitCommit": head.to_hex()}}));
    }
    Some(json!({
        "_type": STATEMENT,
        "subject": subjects,
        "predicateType": RESULT,
        "predicate": predicate(record, verdict),
    }))
}

fn is_clean(verdict: &Verdict) -> bool {
    let clean = matches!(
        &verdict.stamp,
        Stamp::Commit {
            tree: TreeState::Clean,
            ..
        }
    );
    clean && verdict.delta.is_none()
}

fn predicate(record: &Record, verdict: &Verdict) -> Value {
    let name = record.criterion.clone().unwrap_or_default();
    let result = match (verdict.outcome, verdict.taints.is_empty()) {
        (Outcome::Pass, true) => "PASSED",
        (Outcome::Pass, false) => "WARNED",
        (Outcome::Fail, _) => "FAILED",
        (Outcome::Moot, _) => "WARNED",
    };
    let names = |wanted: &str| match result == wanted {
        true => vec![name.clone()],
        false => Vec::new(),
    };
    json!({
        "result": result,
        "configuration": [{"name": "record", "digest": {"blake3": record.id.hash()}}],
        "passedTests": names("PASSED"),
        "warnedTests": names("WARNED"),
        "failedTests": names("FAILED"),
        "annotations": {
            "record": record.id.to_string(),
            "task": record.task,
            "class": verdict.class.as_str(),
            "argv": verdict.run.as_ref().map(|run| run.argv.clone()),
            "taints": verdict.taints,
            "time": time::format_time(record.time),
        },
    })
}
