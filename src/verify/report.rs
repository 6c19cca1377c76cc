use super::{
    Rank,
    state::{Axes, Headline, Signing},
};
use crate::model::{Oid, RecordId, RepoPath};

/// What `verify` found.
#[derive(Clone, Debug)]
pub struct Report {
    /// The commit judged, and its subject; `None` when there is none yet.
    pub target: Option<(Oid, Oid)>,
    pub policy: Policy,
    pub requirements: Vec<Requirement>,
    pub records: Vec<Judged>,
    pub findings: Vec<Finding>,
}

/// Where requirements were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    pub from: Option<Oid>,
    /// The requirements file; `None` when there is none there.
    pub blob: Option<Oid>,
    /// The ref whose requirements were asked.
    pub name: Option<String>,
}

/// What became of one criterion.
#[derive(Clone, Debug)]
pub struct Requirement {
    pub criterion: String,
    pub state: State,
    /// The record that decided.
    pub record: Option<RecordId>,
    pub task: Option<String>,
    pub class: Option<Rank>,
    /// The commit it was made at.
    pub tested_at: Option<Oid>,
    pub paths: Vec<RepoPath>,
    pub details: Vec<String>,
    /// A command that would meet it.
    pub remedy: Option<String>,
}

/// Whether a criterion is met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Met(Headline),
    Unmet(Headline),
    /// No record speaks of it.
    Missing,
    /// Waived: why, and until when.
    Exempt {
        reason: String,
        until: String,
    },
}

impl State {
    pub fn is_met(&self) -> bool {
        matches!(self, Self::Met(_) | Self::Exempt { .. })
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Met(headline) | Self::Unmet(headline) => headline.fmt(f),
            Self::Missing => f.write_str("missing"),
            Self::Exempt { .. } => f.write_str("exempt"),
        }
    }
}

/// One record, judged.
#[derive(Clone, Debug)]
pub struct Judged {
    pub id: RecordId,
    pub task: String,
    pub criterion: String,
    pub class: Rank,
    pub time: u64,
    pub tested_at: Option<Oid>,
    pub axes: Axes,
    pub signing: Signing,
    pub head: bool,
    /// It takes part in deciding: neither taken back nor for an older opening.
    pub counts: bool,
}

impl Judged {
    pub fn headline(&self) -> Headline {
        self.axes.headline(self.signing)
    }
}

/// What weighs how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Warning,
    Unmet,
    Undecided,
    Unchecked,
    Integrity,
}

/// Something found that is no record's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub word: &'static str,
    pub severity: Severity,
    pub message: String,
    pub record: Option<RecordId>,
    /// A file of the target and a line of it, 0 for none.
    pub place: Option<(RepoPath, usize)>,
    pub remedy: Option<String>,
    /// The criterion that settles it once met.
    pub criterion: Option<String>,
}

impl Finding {
    pub(super) fn new(word: &'static str, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            word,
            severity,
            message: message.into(),
            record: None,
            place: None,
            remedy: None,
            criterion: None,
        }
    }

    pub(super) fn record(mut self, id: RecordId) -> Self {
        self.record = Some(id);
        self
    }

    pub(super) fn at(mut self, path: RepoPath, line: usize) -> Self {
        self.place = Some((path, line));
        self
    }

    pub(super) fn remedy(mut self, command: impl Into<String>) -> Self {
        self.remedy = Some(command.into());
        self
    }
}

impl Report {
    /// Returns the heaviest thing found; `None` when all is met.
    pub fn worst(&self) -> Option<Severity> {
        let unmet = self
            .requirements
            .iter()
            .any(|requirement| !requirement.state.is_met())
            .then_some(Severity::Unmet);
        self.findings
            .iter()
            .map(|finding| finding.severity)
            .filter(|severity| *severity > Severity::Warning)
            .chain(unmet)
            .max()
    }

    /// Returns the code the command ends with.
    pub fn exit(&self) -> u8 {
        match self.worst() {
            None | Some(Severity::Warning) => 0,
            Some(Severity::Unmet) => 1,
            Some(Severity::Integrity) => 3,
            Some(Severity::Undecided) => 4,
            Some(Severity::Unchecked) => 5,
        }
    }

    /// Returns what the code means, in a word.
    pub fn verdict(&self) -> &'static str {
        match self.worst() {
            None | Some(Severity::Warning) => "satisfied",
            Some(Severity::Unmet) => "unmet",
            Some(Severity::Integrity) => "integrity violation",
            Some(Severity::Undecided) => "cannot decide",
            Some(Severity::Unchecked) => "nothing checked",
        }
    }
}
