//! What every test is arranged with: a hermetic repository and a run of the program.

mod http;
mod operator;
mod repo;
mod site;

pub(crate) use http::{Answer, HttpServer};
pub(crate) use operator::{Operator, Output};
pub(crate) use repo::{Repo, path_variable};
pub(crate) use site::Site;

/// Says that a test, or a part of it, did not run.
#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
pub(crate) fn skipped(why: &str) {
    eprintln!("SKIPPED: {why}");
}
