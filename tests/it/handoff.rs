//! The six sections, from what the ledger of a real repository knows.

use git_operator::{
    gate::{self, NewDecision, NewDefer, NewVerdict, Secrets, Who},
    git::files::Tree,
    model::{
        Class, Criterion, DecisionKind, Evidence, Outcome, Owner, Stamp, TaskId, Text, Verdict,
    },
};

use crate::support::{Repo, Site};

/// A started repository with its ledger and gate.
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
    std::fs::create_dir(repo.path().join(".operator")).unwrap();
    Scene {
        site: Site::of(&repo),
        repo,
    }
}

fn sid() -> Owner {
    Owner::new("S1").unwrap()
}

impl Scene {
    fn open(&self, task: &str) {
        gate::open(&self.gate(), &TaskId::new(task).unwrap(), Some(&sid())).unwrap();
    }

    fn verdict(&self, task: &str, criterion: &str, outcome: Outcome) -> String {
        let verdict = Verdict {
            outcome,
            evidence: Evidence::of(b""),
            stamp: Stamp::NoVcs,
            head: None,
            subject: None,
            delta: None,
            change: None,
            taints: Vec::new(),
            class: Class::Asserted,
            run: None,
            repo: None,
            definition: None,
            of: None,
            import: None,
        };
        let new = NewVerdict {
            task: TaskId::new(task).unwrap(),
            criterion: Criterion::new(criterion).unwrap(),
            owner: Some(sid()),
            verdict,
            bytes: b"3 passed\nall\tgood".to_vec(),
            blobs: Vec::new(),
            secrets: Secrets::Refuse,
        };
        let recorded = gate::record(&self.gate(), new).unwrap();
        recorded.record.id.short().to_owned()
    }

    fn decide(&self, kind: DecisionKind, what: &str) -> String {
        let new = NewDecision {
            kind,
            scope: "e".to_owned(),
            what: Text::new("decision", what).unwrap(),
            why: Text::new("reason", "because").unwrap(),
            owner: Some(sid()),
        };
        gate::decide(&self.gate(), new)
            .unwrap()
            .id
            .short()
            .to_owned()
    }

    /// The lines of the section.
    fn section(&self, title: &str) -> Vec<String> {
        let open = gate::survey(&self.place, &Who::Session(sid()))
            .unwrap()
            .parts;
        let handoff = gate::handoff(&self.store.load().unwrap(), &open);
        let titles: Vec<&str> = handoff
            .sections
            .iter()
            .map(|section| section.title)
            .collect();
        assert_eq!(
            titles,
            [
                "Verdict vs the BAR",
                "Banked",
                "Unverified/open",
                "Conditional next steps",
                "Stop conditions",
                "Not-doing"
            ]
        );
        let text = handoff.to_string();
        for section in &handoff.sections {
            assert!(text.contains(&format!("\n## {}\n", section.title)));
            for line in &section.lines {
                assert!(line.ends_with(']'), "no record is cited: {line}");
                assert!(text.contains(&format!("\n- {line}\n")));
            }
        }
        let section = handoff
            .sections
            .into_iter()
            .find(|section| section.title == title);
        section.unwrap().lines
    }
}

#[test]
fn what_passed_is_banked_and_cited() {
    let site = site();
    let bar = gate::bar(
        &site.gate(),
        &Text::new("title", "the bar").unwrap(),
        "- c1\n",
    )
    .unwrap();
    site.open("T-1");
    let first = site.verdict("T-1", "c1", Outcome::Pass);
    let second = site.verdict("T-1", "c2", Outcome::Pass);
    let decided = site.decide(DecisionKind::Decision, "use git");
    assert_eq!(
        site.section("Verdict vs the BAR"),
        [
            format!("BAR — the bar [{}]", bar.id.short()),
            format!("PASS T-1: c1: 3 passed all good @no-vcs [{first}]"),
            format!("PASS T-1: c2: 3 passed all good @no-vcs [{second}]"),
        ]
    );
    assert_eq!(
        site.section("Banked"),
        [
            format!("T-1: 2 criteria passed [{first} {second}]"),
            format!("DECISION: use git: because [{decided}]"),
        ]
    );
    assert_eq!(site.section("Unverified/open"), Vec::<String>::new());
    assert_eq!(site.section("Stop conditions"), Vec::<String>::new());
}

#[test]
fn what_is_open_failed_or_deferred_is_not_banked() {
    let site = site();
    site.open("T-open");
    site.open("T-fail");
    site.verdict("T-fail", "c", Outcome::Fail);
    let failed = site.verdict("T-fail", "c", Outcome::Fail);
    site.open("T-later");
    let new = NewDefer {
        task: TaskId::new("T-later").unwrap(),
        reason: Text::new("reason", "no access").unwrap(),
        owner: Some(sid()),
    };
    let deferred = gate::defer(&site.gate(), new)
        .unwrap()
        .record
        .id
        .short()
        .to_owned();
    assert_eq!(site.section("Banked"), Vec::<String>::new());
    let open = site.section("Unverified/open");
    assert_eq!(open.len(), 3);
    assert!(
        open[0].starts_with("T-open is open, owned by S1 ["),
        "{}",
        open[0]
    );
    assert_eq!(
        open[1],
        format!("FAIL T-fail: c: 3 passed all good @no-vcs [{failed}]")
    );
    assert_eq!(
        open[2],
        format!("T-later was deferred: no access [{deferred}]")
    );
    let next = site.section("Conditional next steps");
    assert!(
        next[0].contains("`git operator adopt --owner <session-id> T-open`"),
        "{}",
        next[0]
    );
    assert_eq!(
        next[1..],
        [
            format!("when this no longer holds, open T-later again: no access [{deferred}]"),
            format!("when its cause is repaired, check again: T-fail: c [{failed}]"),
        ]
    );
    let stops = site.section("Stop conditions");
    assert_eq!(stops.len(), 1);
    assert!(
        stops[0].starts_with("T-fail: c failed 2 times in a row ["),
        "{}",
        stops[0]
    );
}

#[test]
fn what_people_must_decide_stops_the_work_until_a_mark() {
    let site = site();
    let escalated = site.decide(DecisionKind::Escalation, "which database");
    let deviated = site.decide(DecisionKind::Deviation, "skipped the bench");
    site.open("T-1");
    let moot = site.verdict("T-1", "old", Outcome::Moot);
    assert_eq!(
        site.section("Stop conditions"),
        [
            format!("ESCALATION: which database: because [{escalated}]"),
            format!("DEVIATION: skipped the bench: because [{deviated}]"),
        ]
    );
    assert_eq!(
        site.section("Conditional next steps"),
        [format!("when it is answered: which database [{escalated}]")]
    );
    assert_eq!(
        site.section("Not-doing"),
        [format!("MOOT T-1: old: 3 passed all good @no-vcs [{moot}]")]
    );
    gate::mark_handoff(&site.gate(), Some(&sid()), "e").unwrap();
    for title in [
        "Stop conditions",
        "Not-doing",
        "Verdict vs the BAR",
        "Conditional next steps",
    ] {
        assert_eq!(site.section(title), Vec::<String>::new(), "{title}");
    }
    let later = site.decide(DecisionKind::Deviation, "another");
    assert_eq!(
        site.section("Stop conditions"),
        [format!("DEVIATION: another: because [{later}]")]
    );
}

#[test]
fn a_long_section_is_cut_and_counted() {
    let site = site();
    for i in 0..45 {
        site.decide(DecisionKind::Decision, &format!("number {i}"));
    }
    assert_eq!(site.section("Banked").len(), 40);
    let open = gate::survey(&site.place, &Who::Session(sid()))
        .unwrap()
        .parts;
    let text = gate::handoff(&site.store.load().unwrap(), &open).to_string();
    assert!(text.contains("\n- 5 more: `git operator log`\n"), "{text}");
    assert!(text.contains("\n- the ledger knows of nothing\n"));
}

#[test]
fn a_handoff_that_a_person_finished_is_not_overwritten() {
    let site = site();
    let tree = Tree::open(site.repo.path()).unwrap();
    let handoff = gate::handoff(&site.store.load().unwrap(), &Default::default());
    let write = || gate::write_handoff(&tree, "2026-01-02", &handoff).unwrap();
    assert_eq!(write(), ".operator/handoff-2026-01-02.md");
    assert_eq!(write(), ".operator/handoff-2026-01-02.md");
    site.repo
        .write(".operator/handoff-2026-01-02.md", "finished by hand");
    assert_eq!(write(), ".operator/handoff-2026-01-02-2.md");
    assert_eq!(
        site.repo.read(".operator/handoff-2026-01-02.md"),
        "finished by hand"
    );
}
