//! Start, uninstall, doctor: what a project needs to be set up, and how it is taken down again.
//!
//! Every change is announced; a second run changes nothing; the files of others keep their bytes.

pub mod agents;
mod block;
mod charter;
mod clients;
mod doctor;
mod error;
mod gc;
mod hooks;
mod ignore;
mod plan;
mod probe;
pub mod proxy;
mod refspecs;
mod registered;
mod settings;
pub mod spec;
mod start;
pub mod tiers;

pub use charter::TEXT as CHARTER;
pub use doctor::{Finding, Repair, Weight, doctor, drift};
pub use error::Error;
pub use gc::{Collected, Notes, gc};
pub use hooks::shim;
pub use plan::{Act, Mode, Step};
pub use probe::{PROBE, answer as probe_answer};
pub use start::{Ci, Start, start, uninstall};

/// How CLAUDE.md carries the charter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charter {
    /// A line that imports OPERATOR.md.
    Import,
    /// The whole text.
    Inline,
}

/// Where the git hooks go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookPlace {
    /// git's configuration where git knows it, a printed line where a hook manager rules, else files.
    Auto,
    Config,
    File,
    None,
}
