//! The gate's operations on a real repository: what is recorded, what is refused, what stays open.

use std::path::Path;

use git_operator::{
    gate::{self, Closing, Gate, NewDecision, NewDefer, NewVerdict, Opening, Place, Secrets, Who},
    git::{self, Clock, Env, locate},
    ledger::State,
    model::{
        Body, Class, Criterion, DecisionKind, Evidence, Explain, Opened, Outcome, Owner, Stamp,
        TaskId, Text, Verdict,
    },
    store::Store,
};

use crate::support::{Repo, Site};

/// A repository with its ledger and gate.
struct Scene {
    repo: Repo,
    site: Site,
}

impl std::ops::Deref for Scene {
    type Target = Site;

    fn deref(&self) -> &Site {
        &self.site
    }
}

fn site() -> Scene {
    let repo = Repo::new();
    repo.commit("a");
    open_site(repo)
}

fn open_site(repo: Repo) -> Scene {
    Scene {
        site: Site::of(&repo),
        repo,
    }
}

impl Scene {
    fn open(&self, task: &str, owner: &str) {
        assert!(matches!(
            gate::open(&self.gate(), &id(task), Some(&sid(owner))),
            Ok(Opening::Opened(_))
        ));
    }

    fn mine(&self, owner: &str) -> Vec<String> {
        let parts = gate::survey(&self.place, &Who::Session(sid(owner)))
            .unwrap()
            .parts;
        parts.mine.into_iter().map(|open| open.task).collect()
    }
}

fn id(task: &str) -> TaskId {
    TaskId::new(task).unwrap()
}

fn sid(owner: &str) -> Owner {
    Owner::new(owner).unwrap()
}

fn verdict(task: &str, outcome: Outcome, owner: Option<&str>, bytes: &[u8]) -> NewVerdict {
    NewVerdict {
        task: id(task),
        criterion: Criterion::new("c").unwrap(),
        owner: owner.map(sid),
        verdict: Verdict::new(outcome, Class::Asserted, Evidence::of(b""), Stamp::NoCommit),
        bytes: bytes.to_vec(),
        blobs: Vec::new(),
        secrets: Secrets::Refuse,
    }
}

#[test]
fn a_verdict_of_any_outcome_closes_its_task() {
    let site = site();
    for (task, outcome) in [
        ("t1", Outcome::Pass),
        ("t2", Outcome::Fail),
        ("t3", Outcome::Moot),
    ] {
        site.open(task, "S1");
        assert_eq!(site.mine("S1"), [task]);
        let recorded =
            gate::record(&site.gate(), verdict(task, outcome, Some("S1"), b"ok\n")).unwrap();
        assert_eq!(recorded.closing, Closing::Closed);
        assert!(matches!(recorded.record.opened, Opened::By(_)));
        assert_eq!(site.mine("S1"), [""; 0]);
    }
}

#[test]
fn a_captured_fail_leaves_the_task_open() {
    let site = site();
    site.open("t1", "S1");
    let mut new = verdict("t1", Outcome::Fail, Some("S1"), b"1 failed\n");
    new.verdict.class = Class::Captured;
    assert_eq!(
        gate::record(&site.gate(), new).unwrap().closing,
        Closing::StillOpen
    );
    assert_eq!(site.mine("S1"), ["t1"]);
    let mut new = verdict("t1", Outcome::Pass, Some("S1"), b"2 passed\n");
    new.verdict.class = Class::Captured;
    assert_eq!(
        gate::record(&site.gate(), new).unwrap().closing,
        Closing::Closed
    );
    let standings = site.store.load().unwrap();
    assert_eq!(
        standings.standings("t1")[0].state,
        State::Agreed(Outcome::Pass)
    );
}

#[test]
fn another_sessions_task_is_refused_and_the_hint_adopts() {
    let site = site();
    site.open("release candidate", "S1");
    let error = gate::record(
        &site.gate(),
        verdict("release candidate", Outcome::Pass, Some("S2"), b"ok"),
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot record a verdict for 'release candidate': the task is owned by session 'S1'"
    );
    assert_eq!(
        error.hint().unwrap(),
        "git operator adopt --owner S2 'release candidate'"
    );
    assert_eq!(site.mine("S1"), ["release candidate"]);
    assert_eq!(site.store.load().unwrap().len(), 1);
}

#[test]
fn a_task_that_was_never_opened_gets_an_exception_in_the_same_commit() {
    let site = site();
    let recorded = gate::record(
        &site.gate(),
        verdict("t9", Outcome::Pass, Some("S1"), b"ok"),
    )
    .unwrap();
    assert_eq!(recorded.closing, Closing::NeverOpened);
    assert_eq!(recorded.record.opened, Opened::Never);
    assert_eq!(recorded.records.len(), 2);
    assert_eq!(
        site.repo
            .git(["rev-list", "--count", "refs/operator/ledger"])
            .trim(),
        "1"
    );
    let survey = gate::survey(&site.place, &Who::Session(sid("S1"))).unwrap();
    assert_eq!(survey.decisions[0].kind, DecisionKind::GateException);
    assert!(
        !gate::survey(&site.place, &Who::Session(sid("S2")))
            .unwrap()
            .blocks()
    );
}

#[test]
fn without_a_session_a_task_that_was_never_opened_is_refused() {
    let site = site();
    let error = gate::record(&site.gate(), verdict("t9", Outcome::Pass, None, b"ok")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot record a verdict for 't9': it was never opened, and no session is known"
    );
    assert!(site.store.load().unwrap().is_empty());
}

#[test]
fn a_closed_task_is_amended() {
    let site = site();
    site.open("t1", "S1");
    gate::record(
        &site.gate(),
        verdict("t1", Outcome::Fail, Some("S1"), b"1 failed"),
    )
    .unwrap();
    let amended = gate::record(
        &site.gate(),
        verdict("t1", Outcome::Pass, Some("S1"), b"fixed"),
    )
    .unwrap();
    assert_eq!(amended.closing, Closing::Amended);
    assert_eq!(
        site.store.load().unwrap().standings("t1")[0].state,
        State::Agreed(Outcome::Pass)
    );
}

#[test]
fn evidence_that_shows_nothing_or_a_secret_is_refused() {
    let site = site();
    site.open("t1", "S1");
    for bytes in [&b""[..], b"  \n", "\u{a0}\u{200b}".as_bytes()] {
        let error = gate::record(
            &site.gate(),
            verdict("t1", Outcome::Pass, Some("S1"), bytes),
        )
        .unwrap_err();
        assert!(
            error.to_string().ends_with("the evidence is blank"),
            "{error}"
        );
    }
    let secret = b"key AKIAIOSFODNN7EXAMPLQ used";
    let mut new = verdict("t1", Outcome::Pass, Some("S1"), secret);
    assert!(
        gate::record(&site.gate(), new.clone())
            .unwrap_err()
            .to_string()
            .contains("looks like")
    );
    assert_eq!(site.mine("S1"), ["t1"]);
    new.secrets = Secrets::Allow;
    gate::record(&site.gate(), new).unwrap();
}

#[test]
fn long_evidence_comes_back_byte_for_byte() {
    let site = site();
    site.open("t1", "S1");
    let bytes: Vec<u8> = (0..3_000_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let recorded = gate::record(
        &site.gate(),
        verdict("t1", Outcome::Pass, Some("S1"), &bytes),
    )
    .unwrap();
    let Body::Verdict(verdict) = recorded.record.body else {
        panic!("a verdict")
    };
    let stored = verdict.evidence.stored().unwrap();
    assert_eq!(site.store.evidence(&stored.digest).unwrap().unwrap(), bytes);
}

#[test]
fn a_deferral_closes_honestly() {
    let site = site();
    site.open("t1", "S1");
    let new = NewDefer {
        task: id("t1"),
        reason: Text::new("reason", "needs a key").unwrap(),
        owner: Some(sid("S1")),
    };
    assert_eq!(
        gate::defer(&site.gate(), new).unwrap().closing,
        Closing::Closed
    );
    assert_eq!(site.mine("S1"), [""; 0]);
}

#[test]
fn one_of_forty_parallel_openings_wins() {
    let site = site();
    let path = site.repo.path().to_owned();
    let env = site.repo.env();
    let opened = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..40)
            .map(|number| {
                let (path, env) = (path.clone(), env.clone());
                scope.spawn(move || open_alone(&path, env, &format!("S{number}")))
            })
            .collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap())
            .filter(|won| *won)
            .count()
    });
    assert_eq!(opened, 1);
    assert_eq!(site.store.load().unwrap().len(), 1);
}

fn open_alone(
    path: &Path,
    env: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    owner: &str,
) -> bool {
    let env = Env::new(env);
    let location = locate(path, &env).unwrap().unwrap();
    let store = Store::open(git::Repo::open(&location, &env).unwrap());
    let clock = Clock::new(&env).unwrap();
    let place = Place::of(&location);
    let gate = Gate {
        store: &store,
        clock: &clock,
        place: &place,
        session: None,
    };
    matches!(
        gate::open(&gate, &id("one"), Some(&sid(owner))),
        Ok(Opening::Opened(_))
    )
}

#[test]
fn opening_again_changes_nothing_and_another_owner_is_refused() {
    let site = site();
    site.open("t1", "S1");
    for owner in [None, Some(sid("S1"))] {
        assert!(matches!(
            gate::open(&site.gate(), &id("t1"), owner.as_ref()),
            Ok(Opening::Already { .. })
        ));
    }
    let error = gate::open(&site.gate(), &id("t1"), Some(&sid("S2"))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot open 't1': it is open and owned by session 'S1'"
    );
    assert_eq!(site.store.load().unwrap().len(), 1);
}

#[test]
fn adoption_is_all_or_nothing() {
    let site = site();
    site.open("t1", "S1");
    let error = gate::adopt(&site.gate(), &[id("t1"), id("t2")], &sid("S2")).unwrap_err();
    assert_eq!(error.to_string(), "cannot adopt 't2': it is not open");
    assert_eq!(site.mine("S1"), ["t1"]);
    let adopted = gate::adopt(&site.gate(), &[id("t1")], &sid("S2")).unwrap();
    assert_eq!(adopted[0].from, Some(sid("S1")));
    assert_eq!(
        (site.mine("S1").len(), site.mine("S2")),
        (0, vec!["t1".to_owned()])
    );
    // One named twice is taken over once, from whom it was.
    let twice = gate::adopt(&site.gate(), &[id("t1"), id("t1")], &sid("S3")).unwrap();
    assert_eq!(twice.len(), 1);
    assert_eq!(twice[0].from, Some(sid("S2")));
}

#[test]
fn a_mark_covers_what_was_there_and_only_its_own() {
    let site = site();
    let decide = |owner: Option<&str>, what: &str| {
        let new = NewDecision {
            kind: DecisionKind::Deviation,
            scope: "s".to_owned(),
            what: Text::new("decision", what).unwrap(),
            why: Text::new("reason", "because").unwrap(),
            owner: owner.map(sid),
        };
        gate::decide(&site.gate(), new).unwrap()
    };
    decide(Some("S1"), "mine");
    decide(Some("S2"), "theirs");
    decide(None, "nobody's");
    assert!(gate::mark_handoff(&site.gate(), None, "handoff").is_err());
    let mark = gate::mark_handoff(&site.gate(), Some(&sid("S1")), "handoff").unwrap();
    let whats: Vec<&str> = mark
        .presented
        .iter()
        .map(|decision| decision.what.as_str())
        .collect();
    assert_eq!(whats, ["mine", "nobody's"]);
    assert!(
        !gate::survey(&site.place, &Who::Session(sid("S1")))
            .unwrap()
            .blocks()
    );
    assert!(
        gate::survey(&site.place, &Who::Session(sid("S2")))
            .unwrap()
            .blocks()
    );
    decide(Some("S1"), "later");
    assert!(
        gate::survey(&site.place, &Who::Session(sid("S1")))
            .unwrap()
            .blocks()
    );
}

#[test]
fn the_predecessors_open_tasks_are_taken_over() {
    let site = site();
    site.repo
        .write(".operator/pending/old task", "session_id: S1\n");
    site.repo.write(".operator/pending/A__B__C", "");
    assert_eq!(site.mine("S1"), ["old task"]);
    gate::record(
        &site.gate(),
        verdict("old task", Outcome::Pass, Some("S1"), b"ok"),
    )
    .unwrap();
    assert_eq!(site.mine("S1"), [""; 0]);
    assert!(!site.repo.path().join(".operator/pending/old task").exists());
    let survey = gate::survey(&site.place, &Who::Session(sid("S1"))).unwrap();
    assert_eq!(survey.parts.unreadable.len(), 1);
    assert!(survey.decisions.is_empty());
}

#[test]
fn a_linked_worktree_sees_every_open_task() {
    let site = site();
    site.open("t1", "S1");
    let there = open_site(site.repo.worktree("w"));
    assert_eq!(there.mine("S1"), ["t1"]);
    let unknown = Who::Unknown {
        worktree: there.place.worktree.clone(),
    };
    assert_eq!(
        gate::survey(&there.place, &unknown)
            .unwrap()
            .parts
            .foreign
            .len(),
        1
    );
    let unknown = Who::Unknown {
        worktree: ".".to_owned(),
    };
    assert_eq!(
        gate::survey(&site.place, &unknown)
            .unwrap()
            .parts
            .mine
            .len(),
        1
    );
}

#[test]
fn an_unreadable_task_blocks_everybody_and_is_never_already_open() {
    let site = site();
    site.open("t1", "S1");
    let file = std::fs::read_dir(site.place.operator.join("tasks"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    std::fs::write(file, "{").unwrap();
    assert_eq!(
        gate::survey(&site.place, &Who::Session(sid("S9")))
            .unwrap()
            .parts
            .unreadable
            .len(),
        1
    );
    assert!(gate::open(&site.gate(), &id("t1"), Some(&sid("S1"))).is_err());
}

#[test]
fn a_session_that_changed_files_is_armed_once() {
    let site = site();
    assert!(gate::arm(&site.gate(), &sid("S1")).unwrap().is_some());
    let task = site.mine("S1").remove(0);
    assert!(task.starts_with("autobar-"), "{task}");
    gate::record(
        &site.gate(),
        verdict(&task, Outcome::Pass, Some("S1"), b"ok"),
    )
    .unwrap();
    assert!(gate::arm(&site.gate(), &sid("S1")).unwrap().is_none());
}
