// Every parser of untrusted bytes as a plain function: cargo-fuzz calls one of them for long runs
// (fuzz/fuzz_targets), `cargo test` replays the corpus and mutates it for a while (tests/it/fuzz.rs).
// A target panics when a promise is broken, and only then.

use std::sync::Arc;

use serde_json::json;

use git_operator::{
    model::{self, RepoPath, row},
    payload,
    policy::{
        EventName, Facts, File, Level, Limits, OnError, Policies, Ruling, Scope, Shared, Verdict,
        shell,
    },
    setup::tiers,
    view::{Document, View, join, merge},
};

pub(crate) type Target = (&'static str, fn(&[u8]));

/// Every target by its name.
pub(crate) const TARGETS: &[Target] = &[
    ("record", record),
    ("row", rows),
    ("path", path),
    ("view", view),
    ("merge", merging),
    ("payload", payload::fuzz),
    ("policy", policy),
    ("shell", command),
    ("tiers", layer),
];

fn record(bytes: &[u8]) {
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Ok(model::Decoded::Record(record)) = model::decode(line) {
            assert_eq!(record.line().as_bytes(), line);
        }
    }
}

fn rows(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for line in text.lines() {
        if let Some(row) = row::VerdictRow::parse(line) {
            assert_eq!(row::VerdictRow::parse(&row.format()).as_ref(), Some(&row));
        }
        let _ = row::DecisionRow::parse(line).map(|row| row.format());
        let cell = row::escape(line);
        assert!(!cell.contains(['|', '\r', '\n']));
        assert_eq!(row::unescape(&cell), line);
    }
}

fn path(bytes: &[u8]) {
    let path = RepoPath::new(bytes);
    assert_eq!(RepoPath::from_quoted(&path.quoted()), Some(path));
    let _ = RepoPath::from_quoted(&String::from_utf8_lossy(bytes));
}

fn view(bytes: &[u8]) {
    let document = Document::parse(bytes);
    for view in View::ALL {
        let _ = document.has_own_header(view);
    }
    let _ = document.body().count();
}

/// The three sides of a merge are the parts between lines of `===`.
fn merging(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut sides = text.splitn(3, "===\n");
    let mut next = || sides.next().unwrap_or_default().as_bytes().to_vec();
    let (base, ours, theirs) = (next(), next(), next());
    let one = merge(&base, &ours, &theirs, 7);
    let _ = join(&ours, &theirs);
    let again = merge(&base, &ours, &theirs, 7);
    assert_eq!(
        one.bytes, again.bytes,
        "a merge is a function of its three files"
    );
}

fn policy(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let file = File {
        scope: Scope::Project,
        path: "p.yaml".to_owned(),
        text: Ok(text),
    };
    let policies = Arc::new(Policies::load(&[file], &|_| None));
    let strict = policies
        .broken()
        .iter()
        .any(|broken| broken.on_error == OnError::Block);
    let make = json!({ "tool": "Bash", "data": { "command": "make" } });
    let level = judged(&policies, EventName::ToolCall, make).level();
    assert!(
        !strict || level == Level::Block,
        "a broken policy passes in silence"
    );
    let read = judged(&policies, EventName::ToolCall, json!({ "tool": "Read" }));
    let errors = read
        .outcomes
        .iter()
        .filter(|outcome| matches!(outcome.verdict, Verdict::Error(_)));
    let worst = errors.map(|outcome| outcome.level).max();
    assert!(
        worst < Some(Level::Block),
        "an error of ours keeps a tool from reading"
    );
    let content = "fn name() { a + 1 }\n".repeat(200);
    let large = json!({ "data": { "path": "a/b.rs", "content": content, "before": "x\n" } });
    judged(&policies, EventName::FileWrite, large);
    for event in EventName::ALL {
        let ruling = judged(&policies, *event, json!({}));
        let standing = policies
            .list()
            .iter()
            .filter(|policy| policy.on.contains(event))
            .count();
        assert!(ruling.outcomes.len() >= standing, "a policy was not judged");
    }
}

fn judged(policies: &Arc<Policies>, event: EventName, value: serde_json::Value) -> Ruling {
    let facts = Facts::new(event, value, &Shared::none());
    let facts = facts.into_iter().collect();
    // With time to spare, only the count of steps ends what would go on.
    let ruling = git_operator::policy::judge(policies, facts, Limits::patient());
    for outcome in &ruling.outcomes {
        let stopped =
            matches!(&outcome.verdict, Verdict::Error(why) if why.contains("took longer"));
        assert!(!stopped, "a policy was stopped by the clock");
    }
    ruling
}

fn command(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for shell in ["Bash", "PowerShell"]
        .into_iter()
        .filter_map(shell::Shell::of_tool)
    {
        let _ = shell::commands(shell, &text);
        let _ = shell::writes(shell, &text);
    }
}

fn layer(bytes: &[u8]) {
    let _ = tiers::parse(bytes);
}
