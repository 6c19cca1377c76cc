//! A ledger whose every text was written by somebody who means harm.

use git_operator::model::{
    Bar, Body, Class, Criterion, Decision, DecisionKind, Defer, Draft, Evidence, Outcome, Owner,
    RecordId, Redact, ReplicaId, Retract, Run, Seal, SessionEvent, SessionNote, Stamp, Task,
    TaskId, Verdict, Work,
};

use super::{html::section, page};
use crate::support::Repo;

const WORD: &str = "PLACEHOLDER";

fn hostile() -> Vec<String> {
    vec![
        "<script>alert(1)</script>".to_owned(),
        "\"><img src=x onerror=alert(1)>".to_owned(),
        "' onmouseover='alert(1)".to_owned(),
        "</style></title></bdi></table><style>*{display:none}".to_owned(),
        "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m".to_owned(),
        "\u{202e}txt.exe\u{2066}\u{200f}".to_owned(),
        "a\0b\r\nc\u{2028}d".to_owned(),
        "javascript:alert(1)".to_owned(),
        "&lt;b&gt;&#x3c;".to_owned(),
        "w".repeat(7_500),
        "日本語 עברית 👩\u{200d}👧".to_owned(),
    ]
}

fn bodies() -> Vec<Body> {
    let word = || WORD.to_owned();
    let verdict = |outcome, evidence| {
        Body::Verdict(Box::new(Verdict {
            outcome,
            class: Class::Captured,
            evidence,
            stamp: Stamp::NoVcs,
            head: "0123456789012345678901234567890123456789".parse().ok(),
            subject: "1123456789012345678901234567890123456789".parse().ok(),
            delta: None,
            change: None,
            taints: vec![word()],
            repo: None,
            run: Some(Run {
                argv: vec![word()],
                cwd: word(),
                exit: Some(u64::from(outcome == Outcome::Fail)),
                ..Run::default()
            }),
            definition: Some(word()),
            of: None,
            import: None,
        }))
    };
    let of = RecordId::new(1, &blake3::hash(b"x"));
    vec![
        Body::Task(Task { worktree: word() }),
        verdict(Outcome::Pass, Evidence::of(WORD.as_bytes())),
        verdict(Outcome::Fail, Evidence::Bytes(vec![0xff, b'<', 0])),
        Body::Defer(Defer { reason: word() }),
        Body::Decision(Decision {
            decision: DecisionKind::Escalation,
            scope: word(),
            what: word(),
            why: word(),
            covers: Vec::new(),
            import: None,
        }),
        Body::Bar(Bar {
            view: word(),
            text: word(),
        }),
        Body::Session(SessionNote {
            event: SessionEvent::Released,
            open: vec![word()],
            reason: word(),
        }),
        Body::Retract(Retract { of, why: word() }),
        Body::Redact(Redact {
            digest: git_operator::model::Digest::of(b"x"),
            why: word(),
        }),
        Body::Work(Work {
            commit: "2123456789012345678901234567890123456789".parse().unwrap(),
            mine: vec![(word(), Vec::new())],
            other: Vec::new(),
            omitted: 3,
        }),
    ]
}

/// Returns a record's line with every placeholder made `text`, under the id it then has.
fn line(body: Body, seq: u64, text: &str) -> String {
    let time = 1_760_000_000_000 + seq;
    let mut draft = Draft::new(body);
    draft.task = Some(TaskId::new(WORD).unwrap());
    draft.criterion = Some(Criterion::new(WORD).unwrap());
    draft.owner = Some(Owner::new(WORD).unwrap());
    let seal = Seal {
        time,
        seq,
        replica: ReplicaId::new([7; 8]),
    };
    let sealed = draft.seal(seal).unwrap();
    let encoded = serde_json::to_string(text).unwrap();
    let line = sealed.line().replace(WORD, &encoded[1..encoded.len() - 1]);
    let id = format!("\"id\":\"{}\",", sealed.id);
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"git-operator/record/v1\0");
    hasher.update(line.replacen(&id, "", 1).as_bytes());
    let new = RecordId::new(time, &hasher.finalize());
    line.replacen(&id, &format!("\"id\":\"{new}\","), 1)
}

/// Returns a repository with that ledger, and how many of its lines are records.
pub(super) fn ledger() -> (Repo, usize) {
    let repo = Repo::new();
    repo.commit("a");
    let mut lines = Vec::new();
    for text in hostile() {
        for body in bodies() {
            let line = line(body, lines.len() as u64 + 1, &text);
            lines.push(line);
        }
    }
    let reason = "w".repeat(60_000);
    lines.push(line(Body::Defer(Defer { reason }), 500, "long"));
    // Too long to be a record: it is set aside, and the reason is on the page as well.
    let reason = "w".repeat(70_000);
    let short = line(
        Body::Defer(Defer {
            reason: "short".to_owned(),
        }),
        501,
        "longer",
    );
    lines.push(short.replacen("short", &reason, 1));
    let tree = repo.git(["mktree", "--missing"]);
    let message = repo.dir().join("message");
    std::fs::write(&message, format!("forged\n\n{}\n", lines.join("\n"))).unwrap();
    let commit = repo.git(["commit-tree", "-F", message.to_str().unwrap(), &tree]);
    repo.git(["update-ref", "refs/operator/ledger", &commit]);
    (repo, lines.len() - 1)
}

#[test]
fn no_text_of_a_record_is_more_than_text() {
    let (repo, wanted) = ledger();
    let shown = page(&repo, &[]);
    let records = section(&shown, "records");
    assert!(records.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(records.contains("&lt;U+202E&gt;txt.exe"));
    assert!(records.contains("日本語 עברית"));
    assert!(!shown.contains(&"w".repeat(300)), "a long word is cut");
    let count = records.matches("<li id=\"r-").count();
    let told = super::text(section(&shown, "summary"));
    assert_eq!(count, wanted, "{told}");
}
