//! Every kind of record as it lies in a ledger. A change of these bytes is a change of the format.

use git_operator::model::{
    Adopt, Attempt, AttemptResult, Bar, Body, Change, Class, Criterion, Decision, DecisionKind,
    Decoded, Defer, Delta, DeltaEntry, Digest, Draft, Evidence, Import, Layout, Oid, Opened,
    Outcome, Owner, Record, RecordId, Redact, ReplicaId, RepoPath, Retract, Rewrite, RewritePair,
    Run, Seal, SessionEvent, SessionNote, Signature, Stamp, Task, TaskId, TestCounts, TreeState,
    Verdict, Work, decode,
};

const HEAD: &str = "3f786850e387550fdab836ed7e6dc881de23001b";
const TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

fn oid(text: &str) -> Oid {
    text.parse().unwrap()
}

fn id() -> RecordId {
    "01M1VC1R630000000000000000000000000000000A"
        .parse()
        .unwrap()
}

fn draft(body: Body) -> Draft {
    Draft {
        owner: Some(Owner::new("S1").unwrap()),
        session: Some(Owner::new("S1").unwrap()),
        task: Some(TaskId::new("T-12").unwrap()),
        criterion: None,
        opened: Opened::By(id()),
        after: vec![id()],
        body,
    }
}

fn verdict(evidence: &[u8], delta: Option<Delta>) -> Verdict {
    Verdict {
        outcome: Outcome::Pass,
        class: Class::Captured,
        evidence: Evidence::of(evidence),
        stamp: Stamp::Commit {
            id: HEAD.to_owned(),
            tree: TreeState::Dirty,
        },
        head: Some(oid(HEAD)),
        subject: Some(oid(TREE)),
        delta,
        change: Some(Change {
            base: oid(HEAD),
            digest: Digest::of(b"[]"),
            patch: Some(oid(TREE)),
        }),
        taints: vec!["filters".to_owned()],
        repo: Some(vec![oid(HEAD)]),
        run: Some(Run {
            argv: vec!["cargo".to_owned(), "test".to_owned()],
            cwd: String::new(),
            exit: Some(0),
            signal: None,
            timed_out: false,
            started: 1_796_072_645_000,
            duration: 1_234,
            tests: Some(TestCounts {
                passed: 12,
                failed: 0,
                skipped: 1,
            }),
            after: Some(oid(TREE)),
            control: None,
        }),
        definition: Some("ab".repeat(32)),
        of: None,
        import: None,
    }
}

fn entry() -> DeltaEntry {
    DeltaEntry {
        path: RepoPath::new(*b"src/bad\xff.rs"),
        old: None,
        new: Some((0o100_644, oid(HEAD))),
    }
}

fn on_criterion(verdict: Verdict) -> Draft {
    let mut draft = draft(Body::Verdict(Box::new(verdict)));
    draft.criterion = Some(Criterion::new("suite passes").unwrap());
    draft
}

fn imported(body: Body) -> Draft {
    Draft::new(body)
}

fn import(view: &str, row: &str) -> Import {
    Import {
        view: view.to_owned(),
        row: row.to_owned(),
        n: 1,
    }
}

fn gate_drafts() -> Vec<(&'static str, Draft)> {
    let mut opened = draft(Body::Task(Task {
        worktree: ".".to_owned(),
    }));
    opened.opened = Opened::NotAsked;
    opened.after = Vec::new();
    let stored = Delta::Stored {
        digest: Digest::of(b"delta"),
        count: 300,
        paths: vec!["src/lib.rs".into()],
    };
    let mut never = on_criterion(Verdict {
        change: None,
        ..verdict(b"ok\n", None)
    });
    never.opened = Opened::Never;
    vec![
        ("task", opened),
        (
            "adopt",
            draft(Body::Adopt(Adopt {
                from: Some("S0".to_owned()),
            })),
        ),
        (
            "verdict",
            on_criterion(verdict(b"12 passed\n", Some(Delta::Inline(vec![entry()])))),
        ),
        (
            "verdict-bytes",
            on_criterion(verdict(b"\xff\xfe", Some(stored))),
        ),
        (
            "verdict-long",
            on_criterion(verdict(
                &b"x".repeat(9000),
                Some(Delta::Omitted { count: 2001 }),
            )),
        ),
        ("verdict-never-opened", never),
        (
            "defer",
            draft(Body::Defer(Defer {
                reason: "needs a key".to_owned(),
            })),
        ),
        (
            "attempt",
            draft(Body::Attempt(Box::new(Attempt {
                of: Some(id()),
                result: Some(AttemptResult::Mutated),
                run: verdict(b"", None).run,
                stamp: Some(Stamp::NoCommit),
                head: None,
                subject: Some(oid(TREE)),
                paths: vec!["a b".into()],
                evidence: Some(Evidence::of(b"log")),
            }))),
        ),
    ]
}

fn plain(body: Body) -> Draft {
    let mut draft = Draft::new(body);
    draft.owner = Some(Owner::new("S1").unwrap());
    draft
}

fn other_drafts() -> Vec<(&'static str, Draft)> {
    vec![
        (
            "decision",
            plain(Body::Decision(Decision {
                decision: DecisionKind::HandoffMark,
                scope: "handoff".to_owned(),
                what: "2026-11-30T21:04:05Z".to_owned(),
                why: "handoff presented".to_owned(),
                covers: vec![id()],
                import: None,
            })),
        ),
        (
            "bar",
            plain(Body::Bar(Bar {
                view: "VERDICTS.md".to_owned(),
                text: "## BAR — x\n- keep | me\n".to_owned(),
            })),
        ),
        (
            "layout",
            plain(Body::Layout(Layout {
                view: "VERDICTS.md".to_owned(),
                order: vec![id()],
            })),
        ),
        (
            "signature",
            plain(Body::Signature(Signature {
                of: id(),
                format: "ssh".to_owned(),
                armor: "-----BEGIN SSH SIGNATURE-----\n".to_owned(),
            })),
        ),
        (
            "rewrite",
            plain(Body::Rewrite(Rewrite {
                cause: "amend".to_owned(),
                pairs: vec![RewritePair {
                    old: oid(HEAD),
                    new: oid(TREE),
                    same: true,
                }],
            })),
        ),
        (
            "work",
            plain(Body::Work(Work {
                commit: oid(HEAD),
                mine: vec![("S1".to_owned(), vec!["src/lib.rs".into()])],
                other: vec!["README.md".into()],
                omitted: 0,
            })),
        ),
        (
            "session",
            plain(Body::Session(SessionNote {
                event: SessionEvent::Released,
                open: vec!["T-12".to_owned()],
                reason: "refused 7 times".to_owned(),
            })),
        ),
        (
            "retract",
            plain(Body::Retract(Retract {
                of: id(),
                why: "wrong task".to_owned(),
            })),
        ),
        (
            "redact",
            plain(Body::Redact(Redact {
                digest: Digest::of(b"secret"),
                why: "a key".to_owned(),
            })),
        ),
    ]
}

fn imported_drafts() -> Vec<(&'static str, Draft)> {
    vec![
        (
            "verdict-imported",
            imported(Body::Verdict(Box::new(Verdict {
                import: Some(import(
                    "VERDICTS.md",
                    "| t2 | c → d | out: `3 passed` @abc1234+dirty | FAIL |",
                )),
                ..verdict(b"", None)
            }))),
        ),
        (
            "decision-imported",
            imported(Body::Decision(Decision {
                decision: DecisionKind::Deviation,
                scope: String::new(),
                what: String::new(),
                why: String::new(),
                covers: Vec::new(),
                import: Some(import(
                    "DECISIONS.md",
                    "2026-01-02 | scope | DEVIATION | text with | pipes — and → | why",
                )),
            })),
        ),
    ]
}

fn all_drafts() -> Vec<(&'static str, Draft)> {
    [gate_drafts(), other_drafts(), imported_drafts()].concat()
}

fn sealed(draft: &Draft) -> Record {
    draft
        .seal(Seal {
            time: 1_796_072_645_123,
            seq: 41,
            replica: ReplicaId::new([0xab; 8]),
        })
        .unwrap()
}

#[test]
fn every_kind_keeps_its_bytes() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/records");
    let drafts = all_drafts();
    let mut wrong = Vec::new();
    for (name, draft) in &drafts {
        let line = format!("{}\n", sealed(draft).line());
        let path = dir.join(format!("{name}.json"));
        if std::fs::read_to_string(&path).ok().as_deref() != Some(&line) {
            wrong.push(format!("{name}: {line}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "these lines are not the fixtures':\n{}",
        wrong.concat()
    );
    let files = std::fs::read_dir(&dir).unwrap().count();
    assert_eq!(
        files,
        drafts.len(),
        "a fixture that no draft makes, or a kind without one"
    );
}

#[test]
fn every_fixture_reads_back() {
    for (name, draft) in all_drafts() {
        let record = sealed(&draft);
        let Ok(Decoded::Record(read)) = decode(record.line().as_bytes()) else {
            panic!("{name}")
        };
        assert_eq!(*read, record, "{name}");
        if !draft.body.is_imported() {
            assert_eq!(read.body, draft.body, "{name}");
        }
    }
}

#[test]
fn two_clones_that_import_one_row_make_one_record() {
    let (_, draft) = imported_drafts().pop().unwrap();
    let there = Seal {
        time: 9,
        seq: 1,
        replica: ReplicaId::new([7; 8]),
    };
    assert_eq!(draft.seal(there).unwrap(), sealed(&draft));
}
