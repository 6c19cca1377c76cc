//! The ledger at rest, driven through the library.

mod ahead;
mod append;
mod child;
mod concurrent;
mod damage;
mod index;
mod kill;
mod mend;
mod shapes;
mod tasks;
mod union;

use git_operator::{
    git::{Clock, Env, Repo as Git, locate},
    model::{
        Body, Class, Criterion, Decision, DecisionKind, Defer, Draft, Evidence, Opened, Outcome,
        Owner, Record, RecordId, Stamp, Task, TaskId, Verdict,
    },
    store::{Committed, Store, Wait},
};

use crate::support::Repo;

pub(crate) fn env(repo: &Repo) -> Env {
    Env::new(repo.env())
}

pub(crate) fn store(repo: &Repo) -> Store {
    let env = env(repo);
    let location = locate(repo.path(), &env).unwrap().unwrap();
    Store::open(Git::open(&location, &env).unwrap())
}

pub(crate) fn commit(store: &Store, drafts: &[Draft]) -> Committed {
    let clock = Clock::new(store.repo().env()).unwrap();
    let mut transaction = store.begin(Wait::Command, clock).unwrap();
    let committed = transaction.commit(drafts, Vec::new()).unwrap();
    assert_eq!(committed.unfinished, None);
    committed
}

/// Records one draft, in git too.
pub(crate) fn record(store: &Store, draft: Draft) -> Record {
    let mut committed = commit(store, &[draft]);
    assert_eq!(committed.pending, None);
    committed.records.remove(0)
}

/// A decision that says `what`.
pub(crate) fn note(what: &str) -> Draft {
    Draft::new(Body::Decision(Decision {
        decision: DecisionKind::Decision,
        scope: "test".to_owned(),
        what: what.to_owned(),
        why: "because".to_owned(),
        covers: Vec::new(),
        import: None,
    }))
}

pub(crate) fn on(task: &str, owner: &str, body: Body) -> Draft {
    let mut draft = Draft::new(body);
    draft.task = Some(TaskId::new(task).unwrap());
    draft.owner = Some(Owner::new(owner).unwrap());
    draft
}

pub(crate) fn open(task: &str) -> Draft {
    let worktree = ".".to_owned();
    on(task, "S1", Body::Task(Task { worktree }))
}

pub(crate) fn defer(task: &str, opened: RecordId) -> Draft {
    let reason = "later".to_owned();
    let mut draft = on(task, "S1", Body::Defer(Defer { reason }));
    draft.opened = Opened::By(opened);
    draft
}

pub(crate) fn verdict(
    task: &str,
    opened: Option<RecordId>,
    class: Class,
    outcome: Outcome,
) -> Draft {
    let body = Body::Verdict(Box::new(Verdict {
        outcome,
        class,
        evidence: Evidence::of(b"ran the suite"),
        stamp: Stamp::NoVcs,
        head: None,
        subject: None,
        delta: None,
        taints: Vec::new(),
        repo: None,
        run: None,
        definition: None,
        of: None,
        change: None,
        import: None,
    }));
    let mut draft = on(task, "S1", body);
    draft.criterion = Some(Criterion::new("suite passes").unwrap());
    draft.opened = opened.map_or(Opened::Never, Opened::By);
    draft
}

/// What the decisions of a ledger say, oldest first.
pub(crate) fn notes(store: &Store) -> Vec<String> {
    let ledger = store.load().unwrap();
    assert_eq!(ledger.quarantined().count(), 0);
    let mut said = Vec::new();
    for record in ledger.iter() {
        if let Body::Decision(decision) = &record.body {
            said.push(decision.what.clone());
        }
    }
    said
}

/// Fails where git finds anything wrong but objects nobody needs.
#[track_caller]
pub(crate) fn fsck(repo: &Repo) {
    let output = repo.try_git(["fsck", "--full"]);
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let bad: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("dangling ") && !line.starts_with("notice:"))
        .collect();
    assert!(bad.is_empty() && output.status.success(), "{bad:#?}");
}
