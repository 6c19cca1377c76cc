//! A bound on what reading policies costs, counted in steps instead of in time.
//!
//! What a hook may read of policy files is bounded in bytes, but a few bytes can be much work: a class
//! of characters, a pattern that repeats one, an expression of many parts. Each of these says what it
//! will cost before it is read. Where the steps of all files together are used up, the rest is not
//! read: the file that asks for more, and each after it, is broken. So that it is the same files on
//! every machine, no time is looked at.

use std::cell::Cell;

/// How many steps reading the policies of all files may take; a step is about a microsecond.
pub(super) const STEPS: u64 = 250_000;

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(STEPS) };
}

/// There are not so many steps left; what is to be said of that.
#[derive(Clone, Debug)]
pub(super) struct Spent(pub(super) String);

/// Begins to count anew.
pub(super) fn begin() {
    LEFT.set(STEPS);
}

/// Counts steps that are about to be taken; fails, from then on, where there are not that many.
pub(super) fn spend(steps: usize) -> Result<(), Spent> {
    let steps = u64::try_from(steps).unwrap_or(u64::MAX);
    let left = LEFT.get().checked_sub(steps);
    LEFT.set(left.unwrap_or(0));
    match left {
        Some(_) => Ok(()),
        None => Err(Spent(format!(
            "reading the policies takes more than {STEPS} steps"
        ))),
    }
}
