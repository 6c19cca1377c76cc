//! The views and the notes of one ledger, byte for byte. A change of these bytes changes what lies
//! committed in every project. `REGENERATE=1` writes the files anew.

use std::{fs, path::PathBuf};

use git_operator::model::{
    Bar, Body, Class, Criterion, Decision, DecisionKind, Draft, Evidence, Import, Layout, Oid,
    Outcome, Owner, Record, RecordId, ReplicaId, Retract, Seal, Stamp, TaskId, TreeState, Verdict,
};

use crate::support::Repo;

const VERDICTS: &str = ".operator/VERDICTS.md";
const DECISIONS: &str = ".operator/DECISIONS.md";
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
/// 2026-11-30T21:04:05Z
const TIME: u64 = 1_796_072_645_000;

fn fixture(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    dir.join("tests/fixtures/views").join(name)
}

#[track_caller]
#[expect(
    clippy::disallowed_methods,
    reason = "whoever runs the test asks for new files"
)]
fn is_fixture(name: &str, text: &str) {
    let path = fixture(name);
    if std::env::var_os("REGENERATE").is_some() {
        fs::write(&path, text).unwrap();
    }
    let want = fs::read_to_string(&path).unwrap();
    assert!(
        want == text,
        "'{name}' is not what comes out:\n{text}\nbut:\n{want}"
    );
}

/// Makes the records of a ledger, each newer than the last.
struct Maker {
    head: Oid,
    tree: Oid,
    records: Vec<Record>,
}

impl Maker {
    fn seal(&mut self, draft: &Draft) -> RecordId {
        let seq = self.records.len() as u64 + 1;
        let record = draft
            .seal(Seal {
                time: TIME + seq * 1_000,
                seq,
                replica: ReplicaId::new([0xab; 8]),
            })
            .unwrap();
        let id = record.id;
        self.records.push(record);
        id
    }

    fn body(&self, outcome: Outcome, evidence: &[u8], stamp: Stamp) -> Verdict {
        let (bound, subject) = match &stamp {
            Stamp::Commit { tree, .. } if *tree == TreeState::Clean => (true, Some(self.tree)),
            Stamp::Commit { .. } => (true, EMPTY_TREE.parse().ok()),
            _ => (false, None),
        };
        Verdict {
            head: bound.then_some(self.head),
            subject,
            ..Verdict::new(outcome, Class::Asserted, Evidence::of(evidence), stamp)
        }
    }

    fn stamp(&self, tree: TreeState) -> Stamp {
        Stamp::Commit {
            id: self.head.to_hex(),
            tree,
        }
    }

    fn verdict(&mut self, (task, criterion): (&str, &str), verdict: Verdict) -> RecordId {
        let mut draft = Draft::new(Body::Verdict(Box::new(verdict)));
        draft.task = Some(TaskId::new(task).unwrap());
        draft.criterion = Some(Criterion::new(criterion).unwrap());
        draft.owner = Some(Owner::new("S1").unwrap());
        self.seal(&draft)
    }

    fn pass(&mut self, task: &str, evidence: &[u8]) -> RecordId {
        let verdict = self.body(Outcome::Pass, evidence, self.stamp(TreeState::Clean));
        self.verdict((task, "suite passes"), verdict)
    }

    fn import(&mut self, view: &str, row: &str) -> RecordId {
        let import = Some(Import {
            view: view.to_owned(),
            row: row.to_owned(),
            n: 1,
        });
        let body = if view == "VERDICTS.md" {
            Body::Verdict(Box::new(Verdict {
                import,
                ..self.body(Outcome::Pass, b"", Stamp::NoVcs)
            }))
        } else {
            Body::Decision(Decision {
                import,
                ..decision(DecisionKind::Decision, ["", "", ""])
            })
        };
        self.seal(&Draft::new(body))
    }

    fn bar(&mut self, view: &str, text: &str, after: &[RecordId]) -> RecordId {
        let mut draft = Draft::new(Body::Bar(Bar {
            view: view.to_owned(),
            text: text.to_owned(),
        }));
        draft.after = after.to_vec();
        self.seal(&draft)
    }

    fn layout(&mut self, view: &str, order: &[RecordId]) {
        self.seal(&Draft::new(Body::Layout(Layout {
            view: view.to_owned(),
            order: order.to_vec(),
        })));
    }

    fn decide(&mut self, owner: Option<&str>, decision: Decision) -> RecordId {
        let mut draft = Draft::new(Body::Decision(decision));
        draft.owner = owner.map(|owner| Owner::new(owner).unwrap());
        self.seal(&draft)
    }
}

fn decision(kind: DecisionKind, [scope, what, why]: [&str; 3]) -> Decision {
    Decision {
        decision: kind,
        scope: scope.to_owned(),
        what: what.to_owned(),
        why: why.to_owned(),
        covers: Vec::new(),
        import: None,
    }
}

fn verdicts(maker: &mut Maker) {
    let old = maker.import(
        "VERDICTS.md",
        "|  t2 | c → d | out: `3 passed` @abc1234+dirty|FAIL |",
    );
    let first = maker.pass("T-1", b"12 passed\n");
    maker.pass("T-1", b"12 passed\n");
    let dirty = maker.body(
        Outcome::Fail,
        b"ok | PASS |\n| T-9 | forged | x | PASS |",
        maker.stamp(TreeState::Dirty),
    );
    maker.verdict(("T-2", "a|b <br> &#124; &amp;"), dirty);
    let unknown = maker.body(
        Outcome::Moot,
        b"\x1b[31mred\x1b[0m\r\n\ttab\x07 \xe2\x80\xae \xe2\x80\x8b",
        maker.stamp(TreeState::Unknown),
    );
    maker.verdict(("T-3 ü 漢字", "#1"), unknown);
    maker.pass("-dash", b"\xff\xfe\x00binary");
    maker.pass("T-4", &b"0123456789 abcdef\n".repeat(600));
    maker.pass("T-5", b"");
    for stamp in [Stamp::NoCommit, Stamp::NoVcs] {
        let verdict = maker.body(Outcome::Pass, b"@deadbeef PASS", stamp);
        maker.verdict(("T-6", "c"), verdict);
    }
    let taken_back = maker.pass("T-7", b"taken back");
    let mut retract = Draft::new(Body::Retract(Retract {
        of: taken_back,
        why: "wrong task".to_owned(),
    }));
    retract.owner = Some(Owner::new("S1").unwrap());
    maker.seal(&retract);
    let top = maker.bar("VERDICTS.md", "Read me first.\n\n", &[]);
    let open = maker.bar("VERDICTS.md", "\n## BAR — T-2\n- [ ] one | two\n", &[]);
    maker.layout("VERDICTS.md", &[top, old, first, open]);
    let ticked = maker.bar("VERDICTS.md", "\n## BAR — T-2\n- [x] one | two\n", &[open]);
    maker.layout("VERDICTS.md", &[first, ticked]);
}

fn decisions(maker: &mut Maker) {
    maker.import(
        "DECISIONS.md",
        "2026-01-02 | scope | DEVIATION | text with | pipes — and → | why",
    );
    let first = maker.decide(
        Some("S1"),
        decision(
            DecisionKind::Deviation,
            ["T-12", "skipped the cache | test", "flaky\nupstream"],
        ),
    );
    for _ in 0..2 {
        maker.decide(
            None,
            decision(
                DecisionKind::Decision,
                ["", "use <br> & &#124;", "\u{1b}[2J"],
            ),
        );
    }
    maker.decide(
        Some("S2:x.y-z"),
        decision(
            DecisionKind::Escalation,
            ["a | b", "[sid:S9] whose line is this", ""],
        ),
    );
    let mark = Decision {
        covers: vec![first],
        ..decision(
            DecisionKind::HandoffMark,
            ["handoff", "2026-11-30T21:04:05Z", "handoff presented"],
        )
    };
    maker.decide(Some("S1"), mark);
    maker.bar("DECISIONS.md", "\nNotes between lines\n", &[]);
}

/// Returns a repository whose ledger holds the records, and their lines.
fn site() -> (Repo, String) {
    let repo = Repo::new();
    repo.commit("a");
    let mut maker = Maker {
        head: repo.head().parse().unwrap(),
        tree: repo.git(["rev-parse", "HEAD^{tree}"]).parse().unwrap(),
        records: Vec::new(),
    };
    verdicts(&mut maker);
    decisions(&mut maker);
    let lines = maker.records.iter();
    let lines: String = lines.map(|record| format!("{}\n", record.line())).collect();
    repo.write("../message", format!("records of every form\n\n{lines}"));
    let empty = repo.git(["hash-object", "-w", "-t", "tree", "/dev/null"]);
    let tip = repo.git(["commit-tree", &empty, "-F", "../message"]);
    repo.git(["update-ref", "refs/operator/ledger", &tip]);
    (repo, lines)
}

#[track_caller]
fn ok(repo: &Repo, args: &[&str]) -> String {
    let output = repo.operator(args).run();
    assert_eq!(output.code, 0, "{args:?}\n{}", output.stderr);
    output.stdout
}

#[test]
fn both_views_keep_their_bytes() {
    let (repo, lines) = site();
    is_fixture("records.ndjson", &lines);
    ok(&repo, &["render"]);
    is_fixture("VERDICTS.md", &repo.read(VERDICTS));
    is_fixture("DECISIONS.md", &repo.read(DECISIONS));
    assert_eq!(ok(&repo, &["render", "--check", "--complete"]), "");
    assert_eq!(ok(&repo, &["reconcile"]), "");
    is_fixture("VERDICTS.md", &repo.read(VERDICTS));
    is_fixture("DECISIONS.md", &repo.read(DECISIONS));
}

#[test]
fn notes_keep_their_text() {
    let (repo, _) = site();
    ok(&repo, &["gc", "--notes"]);
    let list = repo.git(["notes", "--ref=operator", "list"]);
    let mut text = String::new();
    for line in list.lines() {
        let (note, commit) = line.split_once(' ').unwrap();
        text += &format!("{commit}\n{}\n", repo.git(["cat-file", "blob", note]));
    }
    is_fixture("notes", &text);
}

/// What people and other tools did to both files: re-aligned, other line ends, a row and text of their
/// own, a conflict, a row of five cells.
#[test]
fn what_reconcile_makes_of_a_file_keeps_its_bytes() {
    let (repo, _) = site();
    for view in ["VERDICTS.md", "DECISIONS.md"] {
        let typed = fs::read(fixture(&format!("typed/{view}"))).unwrap();
        repo.write(format!(".operator/{view}"), typed);
    }
    let output = repo.operator(["reconcile"]).run();
    assert_eq!(output.code, 1, "{}", output.stderr);
    is_fixture("typed/warnings", &output.stderr);
    for view in [VERDICTS, DECISIONS] {
        let name = view.replace(".operator/", "reconciled/");
        is_fixture(&name, &repo.read(view));
    }
    let before = (repo.read(VERDICTS), repo.read(DECISIONS));
    repo.operator(["reconcile"]).run();
    assert_eq!((repo.read(VERDICTS), repo.read(DECISIONS)), before);
}
