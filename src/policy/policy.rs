//! A policy as it was read.

use super::{
    builtin::Builtin,
    case::Case,
    cel::Expression,
    diagnostic::{Diagnostic, Place},
    event::{Action, EventName},
    glob::Globs,
    part::Part,
    template::Template,
};

/// Where a policy comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Part of the program, on by default.
    BuiltIn,
    /// The user's own configuration directory.
    User,
    /// The project, committed.
    Project,
    /// The project, not committed.
    Local,
}

impl Scope {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

/// How much of what a policy does is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All of it.
    Enforce,
    /// Block and ask become warn, nothing is put back.
    Warn,
    /// It is recorded only.
    Audit,
}

/// What an error in a policy does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    Block,
    Warn,
}

/// When a policy applies.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    Always,
    Cel(Expression),
    Builtin(Builtin),
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
}

impl Condition {
    /// Returns the condition and those inside it.
    pub(super) fn parts(&self) -> Vec<&Self> {
        let mut found = vec![self];
        match self {
            Self::Always | Self::Cel(_) | Self::Builtin(_) => {}
            Self::All(parts) | Self::Any(parts) => {
                found.extend(parts.iter().flat_map(Self::parts));
            }
            Self::Not(part) => found.extend(part.parts()),
        }
        found
    }
}

/// One thing a policy does.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) action: Action,
    pub(super) message: Option<Template>,
    /// What `restore` puts back, where it is not the default.
    pub(super) paths: Option<Expression>,
}

/// A rule over events.
#[derive(Clone, Debug)]
pub struct Policy {
    pub id: String,
    pub scope: Scope,
    pub place: Place,
    pub description: Option<String>,
    pub on: Vec<EventName>,
    pub mode: Mode,
    pub on_error: OnError,
    pub enabled: bool,
    pub overridable: bool,
    /// Whether it was read from HEAD because its file is broken.
    pub is_stale: bool,
    pub(super) tools: Vec<String>,
    pub(super) paths: Option<Globs>,
    /// Where `paths` stands in the file.
    pub(super) paths_at: usize,
    pub(super) when: Condition,
    pub(super) then: Vec<Step>,
    pub(super) message: Option<Template>,
    pub(super) hint: Option<Template>,
    pub(super) cases: Vec<Case>,
}

impl Policy {
    /// Returns the actions in the order they are taken.
    pub fn actions(&self) -> Vec<Action> {
        self.then.iter().map(|step| step.action).collect()
    }

    /// Says whether an expression, a message or a built-in of it asks for something.
    pub fn reads(&self, part: Part) -> bool {
        self.fields()
            .into_iter()
            .any(|field| part.is_told_by(field))
            || self.builtins().any(|builtin| builtin.reads(part))
    }

    /// Says whether it needs the work ledger: it reads `work`, restores, or uses a built-in that does.
    pub fn needs_work(&self) -> bool {
        self.scope != Scope::BuiltIn
            && (self.actions().contains(&Action::Restore) || self.reads(Part::Work))
    }

    /// Says whether a test that passed tells it nothing any more once a file is written.
    pub fn outdates_tests(&self, path: &str) -> bool {
        let reads = |field: &&str| Part::Turn.is_told_by(field);
        let mut tests = self.builtins().filter(|part| part.spec.name == "tests-ran");
        tests.any(|builtin| builtin.params.covers(path)) || self.fields().iter().any(reads)
    }

    /// Says whether its `tools` leave the tool in.
    pub fn admits(&self, tool: &str) -> bool {
        let named = |name: &String| match name.strip_suffix('*') {
            Some(prefix) => tool.starts_with(prefix),
            None => name == tool,
        };
        self.tools.is_empty() || self.tools.iter().any(named)
    }

    pub(super) fn builtins(&self) -> impl Iterator<Item = &Builtin> {
        self.when.parts().into_iter().filter_map(|part| match part {
            Condition::Builtin(builtin) => Some(builtin),
            _ => None,
        })
    }

    pub(super) fn expressions(&self) -> Vec<&Expression> {
        let conditions = self.when.parts().into_iter().filter_map(|part| match part {
            Condition::Cel(expression) => Some(expression),
            _ => None,
        });
        conditions
            .chain(self.then.iter().filter_map(|step| step.paths.as_ref()))
            .collect()
    }

    /// Returns every field that its expressions and messages read.
    pub(super) fn fields(&self) -> Vec<&str> {
        let messages = self
            .then
            .iter()
            .filter_map(|step| step.message.as_ref())
            .chain(&self.message)
            .chain(&self.hint);
        self.expressions()
            .into_iter()
            .flat_map(Expression::fields)
            .map(String::as_str)
            .chain(messages.flat_map(Template::fields))
            .collect()
    }
}

/// A policy file that cannot be used, and has no earlier version that can.
#[derive(Clone, Debug)]
pub struct Broken {
    pub scope: Scope,
    pub fault: Diagnostic,
    /// Whether the policies in it would block.
    pub on_error: OnError,
}
