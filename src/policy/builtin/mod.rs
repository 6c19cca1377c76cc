//! The conditions that come with the program.

mod argv;
mod file;
mod git;
mod outside;
mod params;
mod place;
mod spec;
mod tested;
mod turn;
mod written;

pub(super) use file::is_policy_file;
pub(super) use params::{Params, Reader};
pub(super) use spec::{Kind, NAMES, Spec, spec};

use super::{facts::Facts, part::Part};

/// What a built-in says of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It matches; the text says why, to the agent.
    Match(String),
    /// It does not; the text says why, to whoever reads a trace.
    NoMatch(String),
    /// What it would have to know is not known.
    Unknown(String),
}

/// A built-in with its parameters.
#[derive(Clone, Debug)]
pub(super) struct Builtin {
    pub(super) spec: &'static Spec,
    pub(super) params: Params,
}

impl Builtin {
    /// Says whether the built-in matches an event.
    pub(super) fn check(&self, facts: &Facts) -> Answer {
        let paths = facts.paths();
        let filtered = !self.spec.owns_paths && !paths.is_empty();
        if filtered && !paths.iter().any(|path| self.params.covers(path)) {
            return Answer::NoMatch(format!("{} is not among `paths`", paths.join(", ")));
        }
        let answer = (self.spec.check)(&self.params, facts);
        match answer {
            Answer::Unknown(reason) if self.params.word("unknown") == Some("block") => {
                Answer::Match(format!("this cannot be judged: {reason}"))
            }
            answer => answer,
        }
    }

    /// Says whether it asks for something; who asks for the newest verdict asks for `gate`.
    pub(super) fn reads(&self, part: Part) -> bool {
        let own = self.spec.reads;
        own.contains(&part) || part == Part::Gate && own.contains(&Part::Verdict)
    }
}

#[cfg(test)]
mod reads_tests;
