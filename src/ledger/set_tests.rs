use proptest::prelude::*;

use super::{Entry, Ledger};
use crate::{
    ledger::State,
    model::{
        Body, Class, Criterion, Draft, Evidence, Opened, Outcome, Owner, Record, ReplicaId,
        Retract, Seal, Stamp, Task, TaskId, Verdict,
    },
};

fn seal(draft: &Draft, seq: u64, replica: u8) -> Record {
    draft
        .seal(Seal {
            time: 1_000 + seq,
            seq,
            replica: ReplicaId::new([replica; 8]),
        })
        .unwrap()
}

fn draft(body: Body) -> Draft {
    let mut draft = Draft::new(body);
    draft.owner = Some(Owner::new("S1").unwrap());
    draft.task = Some(TaskId::new("t").unwrap());
    draft
}

fn verdict(outcome: Outcome, opened: Opened, after: &[&Record]) -> Draft {
    let mut draft = draft(Body::Verdict(Box::new(Verdict::new(
        outcome,
        Class::Asserted,
        Evidence::of(b"e"),
        Stamp::NoVcs,
    ))));
    draft.criterion = Some(Criterion::new("c").unwrap());
    draft.opened = opened;
    draft.after = after.iter().map(|record| record.id).collect();
    draft
}

fn ledger(records: &[&Record]) -> Ledger {
    Ledger::of(
        records
            .iter()
            .map(|record| Entry::Record(Box::new((*record).clone()))),
    )
}

fn state(records: &[&Record]) -> Option<State> {
    ledger(records)
        .standings("t")
        .first()
        .map(|standing| standing.state)
}

#[test]
fn the_newest_of_a_chain_is_the_state() {
    let fail = seal(&verdict(Outcome::Fail, Opened::Never, &[]), 1, 1);
    let pass = seal(&verdict(Outcome::Pass, Opened::Never, &[&fail]), 2, 1);
    assert_eq!(state(&[&fail, &pass]), Some(State::Agreed(Outcome::Pass)));
}

#[test]
fn heads_that_differ_are_contested() {
    let fail = seal(&verdict(Outcome::Fail, Opened::Never, &[]), 1, 1);
    let pass = seal(&verdict(Outcome::Pass, Opened::Never, &[]), 1, 2);
    assert_eq!(state(&[&fail, &pass]), Some(State::Contested));
    let settled = seal(
        &verdict(Outcome::Pass, Opened::Never, &[&fail, &pass]),
        2,
        1,
    );
    assert_eq!(
        state(&[&fail, &pass, &settled]),
        Some(State::Agreed(Outcome::Pass))
    );
}

#[test]
fn a_pass_for_an_older_opening_counts_for_nothing() {
    let open = |seq| {
        seal(
            &draft(Body::Task(Task {
                worktree: ".".to_owned(),
            })),
            seq,
            1,
        )
    };
    let (first, second) = (open(1), open(3));
    let pass = seal(&verdict(Outcome::Pass, Opened::By(first.id), &[]), 2, 1);
    assert_eq!(state(&[&first, &pass]), Some(State::Agreed(Outcome::Pass)));
    assert_eq!(state(&[&first, &pass, &second]), None);
}

#[test]
fn a_retraction_counts_for_its_own_replica_and_owner() {
    let pass = seal(&verdict(Outcome::Pass, Opened::Never, &[]), 1, 1);
    let retract = |replica| {
        seal(
            &draft(Body::Retract(Retract {
                of: pass.id,
                why: "wrong".to_owned(),
            })),
            2,
            replica,
        )
    };
    assert_eq!(state(&[&pass, &retract(1)]), None);
    assert_eq!(
        state(&[&pass, &retract(2)]),
        Some(State::Agreed(Outcome::Pass))
    );
}

#[test]
fn a_record_answers_what_a_retracted_one_between_answered() {
    let fail = seal(&verdict(Outcome::Fail, Opened::Never, &[]), 1, 1);
    let wrong = seal(&verdict(Outcome::Fail, Opened::Never, &[&fail]), 2, 1);
    let retract = seal(
        &draft(Body::Retract(Retract {
            of: wrong.id,
            why: "wrong".to_owned(),
        })),
        3,
        1,
    );
    let pass = seal(&verdict(Outcome::Pass, Opened::Never, &[&wrong]), 4, 1);
    assert_eq!(
        state(&[&fail, &wrong, &retract]),
        Some(State::Agreed(Outcome::Fail))
    );
    assert_eq!(
        state(&[&fail, &wrong, &retract, &pass]),
        Some(State::Agreed(Outcome::Pass))
    );
}

fn texts(ledger: &Ledger) -> Vec<String> {
    ledger
        .iter()
        .map(|record| record.line().to_owned())
        .collect()
}

proptest! {
    #[test]
    fn union_is_commutative_associative_and_idempotent(
        picks in proptest::collection::vec((0_u64..9, 1_u8..4, 0_u8..8), 1..24),
    ) {
        let records: Vec<(u8, Record)> = picks
            .iter()
            .map(|(seq, replica, sides)| (*sides, seal(&verdict(Outcome::Pass, Opened::Never, &[]), *seq, *replica)))
            .collect();
        let side = |bit: u8| {
            Ledger::of(records.iter().filter(|(sides, _)| sides & bit != 0).map(|(_, r)| Entry::Record(Box::new(r.clone()))))
        };
        let join = |a: &Ledger, b: &Ledger| {
            let mut joined = a.clone();
            joined.union(b.clone());
            joined
        };
        let (a, b, c) = (side(1), side(2), side(4));
        prop_assert_eq!(texts(&join(&a, &b)), texts(&join(&b, &a)));
        prop_assert_eq!(texts(&join(&join(&a, &b), &c)), texts(&join(&a, &join(&b, &c))));
        prop_assert_eq!(texts(&join(&a, &a)), texts(&a));
    }
}
