//! A set of records: order, union, heads, the state of a task. Pure.
//!
//! Union is commutative, associative and idempotent: nothing here depends on the order in which
//! records arrive.

mod set;
mod standing;

pub use set::{Entry, Ledger, Newer, Quarantined};
pub use standing::{Standing, State};
