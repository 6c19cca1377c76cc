// Every parser of untrusted bytes as a plain function: cargo-fuzz calls one of them for long runs
// (fuzz/fuzz_targets), `cargo test` replays the corpus and mutates it for a while (tests/it/fuzz.rs).
// A target panics when a promise is broken, and only then.

use git_operator::{
    model::{self, RepoPath, row},
    payload,
    policy::{File, Limits, Policies, Scope, shell},
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
    let _ = Policies::load(&[file], &|_| None);
    let _ = Limits::default();
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
