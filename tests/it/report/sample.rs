//! A ledger as a busy project has after a year, made without a roll of the dice.

use std::{collections::HashMap, io::Write as _};

use git_operator::model::{
    Attempt, AttemptResult, Body, Class, Criterion, Decision, DecisionKind, Defer, Delta, Draft,
    Evidence, Oid, Opened, Outcome, Owner, Record, RecordId, ReplicaId, RepoPath, Run, Seal,
    SessionEvent, SessionNote, Stamp, Task, TaskId, TestCounts, TreeState, Verdict, Work,
};

use crate::support::Repo;

/// 2025-01-06, a Monday.
const FROM: u64 = 1_736_121_600;
const HOUR: u64 = 3600;
const COMMITS: usize = 48;
const GROUP: usize = 20;

const SESSIONS: [&str; 6] = [
    "5f2c9a1e-impl",
    "b81d07c4-impl",
    "0ae6d3f2-review",
    "77c1be90-docs",
    "e4d2a860-impl",
    "9f13c5ab-mech",
];
const SHARED: [&str; 4] = ["suite passes", "lint is clean", "reviewed", "docs build"];
const OWN: [&str; 8] = [
    "p95 under 40 ms",
    "old ledgers still read",
    "no new unsafe",
    "works on a read-only disk",
    "the error names the file",
    "keyboard alone suffices",
    "CRLF survives",
    "two writers lose nothing",
];
const WORK: [&str; 10] = [
    "parse the header once",
    "close the pager before the error",
    "keep the lock short",
    "name the path that failed",
    "render rows in order",
    "read packed refs",
    "retry a missing object",
    "drop the second cache",
    "measure before the sort",
    "say which remote moved",
];

/// Numbers that look like chance and are the same each time.
pub(crate) struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// The repository of the sample, its commits and how many records it was given.
pub(crate) struct Sample {
    pub(crate) repo: Repo,
    pub(crate) commits: Vec<Oid>,
    pub(crate) records: usize,
    /// The root trees of the commits.
    subjects: Vec<Oid>,
    dice: Dice,
    last: HashMap<(Option<TaskId>, Option<Criterion>), RecordId>,
    /// What git is to import.
    stream: String,
}

/// Makes a ledger of about `records` records over a year.
pub(crate) fn sample(records: usize) -> Sample {
    let repo = Repo::new();
    let mut made = Sample {
        repo,
        commits: Vec::new(),
        records: 0,
        subjects: Vec::new(),
        dice: Dice(7),
        last: HashMap::new(),
        stream: String::new(),
    };
    let groups = records.div_ceil(GROUP * 5).max(1);
    for group in 0..groups {
        let at = FROM + (group as u64) * 365 * 24 * HOUR / groups as u64 + 9 * HOUR;
        while made.commits.len() < COMMITS * (group + 1) / groups + 1 {
            made.commit(at);
        }
        made.group(group, at);
    }
    made.write();
    made
}

impl Sample {
    fn commit(&mut self, at: u64) {
        let number = self.commits.len();
        let message = WORK[number % WORK.len()];
        let date = format!("@{at} +0000");
        self.repo.write(
            format!("src/part{}.rs", number % 7),
            format!("// {number}\n"),
        );
        self.repo.git(["add", "--all"]);
        let config = format!("commit --quiet --message={message}");
        let output = std::process::Command::new("git")
            .args(config.splitn(3, ' '))
            .current_dir(self.repo.path())
            .env_clear()
            .envs(self.repo.env())
            .env("GIT_COMMITTER_DATE", &date)
            .env("GIT_AUTHOR_DATE", &date)
            .output()
            .unwrap();
        assert!(output.status.success());
        let id: Oid = self.repo.head().parse().unwrap();
        self.commits.push(id);
        let tree = self.repo.git(["rev-parse", "HEAD^{tree}"]);
        self.subjects.push(tree.parse().unwrap());
        let path = |name: &str| RepoPath::from_quoted(name).unwrap();
        let session = SESSIONS[number % SESSIONS.len()].to_owned();
        let mine = vec![path("src/part1.rs"); 1 + number % 5];
        let other = vec![path("README.md"); number % 4];
        let work = Work {
            commit: id,
            mine: vec![(session, mine)],
            other,
            omitted: 0,
        };
        self.add(at, &[Draft::new(Body::Work(work))]);
    }

    /// Seals records as the ledger would, each after the one before on its task and criterion.
    fn add(&mut self, at: u64, drafts: &[Draft]) -> Vec<Record> {
        let mut sealed = Vec::new();
        for draft in drafts {
            let mut draft = draft.clone();
            let key = (draft.task.clone(), draft.criterion.clone());
            draft.after = self.last.get(&key).copied().into_iter().collect();
            self.records += 1;
            let seq = self.records as u64;
            let time = at * 1000 + seq % 1000;
            let replica = ReplicaId::new([7; 8]);
            let record = draft.seal(Seal { time, seq, replica }).unwrap();
            if draft.criterion.is_some() {
                self.last.insert(key, record.id);
            }
            sealed.push(record);
        }
        let lines: Vec<&str> = sealed.iter().map(Record::line).collect();
        let message = format!("{} records\n\n{}\n", lines.len(), lines.join("\n"));
        self.stream.push_str(&format!(
            "commit refs/operator/ledger\ncommitter A U Thor <author@example.com> {at} +0000\ndata {}\n{message}\n",
            message.len()
        ));
        sealed
    }

    /// Makes the ledger of what was added.
    fn write(&self) {
        let mut child = std::process::Command::new("git")
            .args(["fast-import", "--quiet"])
            .current_dir(self.repo.path())
            .env_clear()
            .envs(self.repo.env())
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(self.stream.as_bytes()).unwrap();
        drop(stdin);
        assert!(child.wait().unwrap().success());
    }

    /// Opens tasks together, then lets each have its verdicts.
    fn group(&mut self, group: usize, at: u64) {
        let names: Vec<String> = (0..GROUP)
            .map(|at| format!("T-{}", 100 + group * GROUP + at))
            .collect();
        let opens: Vec<Draft> = names
            .iter()
            .map(|task| {
                self.on(
                    task,
                    Body::Task(Task {
                        worktree: ".".to_owned(),
                    }),
                )
            })
            .collect();
        let opened = self.add(at, &opens);
        let mut drafts = Vec::new();
        for (task, opening) in names.iter().zip(&opened) {
            drafts.extend(self.verdicts(task, opening));
        }
        self.add(at + HOUR * (1 + self.dice.0 % 5), &drafts);
    }

    fn on(&mut self, task: &str, body: Body) -> Draft {
        let mut draft = Draft::new(body);
        draft.task = Some(TaskId::new(task).unwrap());
        let owner = SESSIONS[self.dice.roll(SESSIONS.len() as u64) as usize];
        draft.owner = Some(Owner::new(owner).unwrap());
        draft
    }

    fn verdicts(&mut self, task: &str, opening: &Record) -> Vec<Draft> {
        let owner = opening.owner.clone().unwrap();
        let mut drafts = Vec::new();
        for (at, criterion) in SHARED.iter().enumerate() {
            if self.dice.roll(4) < 3 - (at as u64) / 2 {
                let outcome = match self.dice.roll(12) {
                    0 => Outcome::Fail,
                    1 => Outcome::Moot,
                    _ => Outcome::Pass,
                };
                drafts.push(self.verdict((task, criterion), outcome, opening.id));
                if outcome == Outcome::Fail && self.dice.roll(4) > 0 {
                    drafts.push(self.verdict((task, criterion), Outcome::Pass, opening.id));
                }
            }
        }
        let own = OWN[self.dice.roll(OWN.len() as u64) as usize];
        drafts.push(self.verdict((task, own), Outcome::Pass, opening.id));
        if let Some(more) = self.rare(task, opening.id) {
            drafts.push(more);
        }
        for draft in &mut drafts {
            draft.owner = Some(Owner::new(&owner).unwrap());
        }
        drafts
    }

    fn rare(&mut self, task: &str, opening: RecordId) -> Option<Draft> {
        let body = match self.dice.roll(24) {
            0 => Body::Defer(Defer {
                reason: "needs the staging bucket".to_owned(),
            }),
            1 => Body::Session(SessionNote {
                event: SessionEvent::Released,
                open: vec![task.to_owned()],
                reason: "its Stop was refused 7 times".to_owned(),
            }),
            2 => Body::Session(SessionNote {
                event: SessionEvent::Ended,
                open: vec![task.to_owned()],
                reason: "the session ended".to_owned(),
            }),
            3 | 4 => Body::Decision(Decision {
                decision: [DecisionKind::Deviation, DecisionKind::Escalation]
                    [self.dice.roll(2) as usize],
                scope: task.to_owned(),
                what: "skipped the cache test".to_owned(),
                why: "flaky upstream; pinned until their release".to_owned(),
                covers: Vec::new(),
                import: None,
            }),
            5 => return Some(self.attempt(task)),
            _ => return None,
        };
        let is_defer = matches!(body, Body::Defer(_));
        let mut draft = self.on(task, body);
        if is_defer {
            draft.opened = Opened::By(opening);
        } else {
            draft.task = None;
        }
        Some(draft)
    }

    fn attempt(&mut self, task: &str) -> Draft {
        let attempt = Attempt {
            of: None,
            result: Some(AttemptResult::Timeout),
            run: Some(self.run(Outcome::Fail)),
            stamp: None,
            head: self.commits.last().copied(),
            subject: None,
            paths: Vec::new(),
            evidence: None,
        };
        let mut draft = self.on(task, Body::Attempt(Box::new(attempt)));
        draft.criterion = Some(Criterion::new("suite passes").unwrap());
        draft
    }

    fn run(&mut self, outcome: Outcome) -> Run {
        Run {
            argv: ["cargo", "test"].map(str::to_owned).to_vec(),
            exit: Some(if outcome == Outcome::Fail { 101 } else { 0 }),
            duration: 4_000 + self.dice.roll(90_000),
            tests: Some(TestCounts {
                passed: 240 + self.dice.roll(60),
                failed: 0,
                skipped: 2,
            }),
            ..Run::default()
        }
    }

    fn verdict(
        &mut self,
        (task, criterion): (&str, &str),
        outcome: Outcome,
        opening: RecordId,
    ) -> Draft {
        let head = *self.commits.last().unwrap();
        let runs = matches!(criterion, "suite passes" | "lint is clean" | "docs build");
        let ran = runs && outcome != Outcome::Moot;
        // Most failures are met before the work is committed; a few on the very source that passes.
        let dirty = outcome == Outcome::Fail && self.dice.roll(6) > 0;
        let subject = if dirty {
            let bytes: Vec<u8> = (0..20).map(|_| self.dice.roll(256) as u8).collect();
            Oid::from_bytes(&bytes).unwrap()
        } else {
            self.subjects[self.commits.len() - 1]
        };
        let evidence = match (ran, outcome) {
            (true, Outcome::Fail) => "test result: FAILED. 251 passed; 3 failed",
            (true, _) => "test result: ok. 254 passed; 0 failed",
            (false, _) => "read twice by kim: two nits, both fixed",
        };
        let body = Body::Verdict(Box::new(Verdict {
            outcome,
            class: if ran {
                Class::Captured
            } else {
                Class::Asserted
            },
            evidence: Evidence::of(evidence.as_bytes()),
            stamp: Stamp::Commit {
                id: head.to_string(),
                tree: if dirty {
                    TreeState::Dirty
                } else {
                    TreeState::Clean
                },
            },
            head: Some(head),
            subject: Some(subject),
            delta: dirty.then_some(Delta::Omitted { count: 2_001 }),
            change: None,
            taints: Vec::new(),
            repo: None,
            run: ran.then(|| self.run(outcome)),
            definition: None,
            of: None,
            import: None,
        }));
        let mut draft = self.on(task, body);
        draft.criterion = Some(Criterion::new(criterion).unwrap());
        draft.opened = Opened::By(opening);
        draft
    }
}
