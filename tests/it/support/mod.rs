//! What every test is arranged with: a hermetic repository and a run of the program.

mod operator;
mod repo;

pub(crate) use operator::{Operator, Output};
pub(crate) use repo::Repo;
