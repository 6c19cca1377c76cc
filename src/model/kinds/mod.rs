//! What each kind of record says (docs/data-model.md).

mod codec;
mod fields;

use super::{Evidence, Oid, RecordId, RepoPath, Stamp};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// Every word, in order.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Returns the word as records and views write it.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// Reads the word; `None` for any other text.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

words! {
    /// What a verdict says.
    Outcome {
        Pass = "PASS",
        Fail = "FAIL",
        /// The criterion no longer applies.
        Moot = "MOOT",
    }
}

words! {
    /// How the evidence came about, weakest first.
    Class {
        /// A row of a view that was there before the ledger.
        Imported = "imported",
        /// Somebody's word.
        Asserted = "asserted",
        /// Output of a process that git-operator ran in the working tree.
        Captured = "captured",
        /// The same in a worktree of its own.
        Isolated = "isolated",
        /// The same, and the new tests fail on the base source.
        Controlled = "controlled",
    }
}

words! {
    /// What a `run` came to when it gave no verdict.
    AttemptResult {
        Skip = "SKIP",
        Error = "ERROR",
        Mutated = "MUTATED",
        Timeout = "TIMEOUT",
        Interrupt = "INTERRUPT",
    }
}

words! {
    /// The kind of a line in DECISIONS.md.
    DecisionKind {
        Decision = "DECISION",
        Deviation = "DEVIATION",
        Escalation = "ESCALATION",
        GateException = "GATE-EXCEPTION",
        DeferredVerdict = "DEFERRED-VERDICT",
        HandoffMark = "HANDOFF-MARK",
        SpecApproved = "SPEC-APPROVED",
    }
}

impl DecisionKind {
    /// Says whether a Stop asks that a decision of this kind be presented to the people.
    pub fn wants_presenting(self) -> bool {
        match self {
            Self::Deviation | Self::Escalation | Self::GateException => true,
            Self::Decision | Self::DeferredVerdict | Self::HandoffMark | Self::SpecApproved => {
                false
            }
        }
    }
}

words! {
    /// What befell a session that had open tasks.
    SessionEvent {
        /// It ended.
        Ended = "ended",
        /// The refusal cap let its Stop through.
        Released = "released",
    }
}

/// A task was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The worktree's name under `worktrees/`, `.` for the main one.
    pub worktree: String,
}

/// A task changed owner; the record's own owner is the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adopt {
    /// The owner before; `None` when it was unowned.
    pub from: Option<String>,
}

/// The changes from HEAD's subject to the tree a verdict speaks of, by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    Inline(Vec<DeltaEntry>),
    /// In the evidence ref.
    Stored {
        digest: super::Digest,
        count: u64,
        paths: Vec<RepoPath>,
    },
    /// Too long to keep.
    Omitted {
        count: u64,
    },
}

/// One path of a delta; a side is its mode (octal) and object id, `None` where the path is absent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeltaEntry {
    pub path: RepoPath,
    pub old: Option<(u32, Oid)>,
    pub new: Option<(u32, Oid)>,
}

/// The change a verdict's subject makes to the base it was built on, for when the commits are gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The commit where the branch left the one it is to land on.
    pub base: Oid,
    /// The digest of the paths, modes and ids that differ between the subjects of base and verdict.
    pub digest: super::Digest,
    /// git's verbatim patch id of the same change.
    pub patch: Option<Oid>,
}

/// Test counts read from a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestCounts {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
}

/// Facts of a process that git-operator ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The exact vector.
    pub argv: Vec<String>,
    /// The directory, relative to the top level.
    pub cwd: String,
    /// The exit status; `None` when a signal ended it.
    pub exit: Option<u64>,
    pub signal: Option<u64>,
    pub timed_out: bool,
    /// Wall clock, ms since 1970.
    pub started: u64,
    /// How long it took, ms.
    pub duration: u64,
    pub tests: Option<TestCounts>,
    /// The subject tree after the run.
    pub after: Option<Oid>,
    /// What the control run on the base source exited with.
    pub control: Option<u64>,
}

/// Where an imported row stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The file's name.
    pub view: String,
    /// The row's trimmed text.
    pub row: String,
    /// It is the n-th equal row of that file, from 1.
    pub n: u64,
}

/// A verdict on one criterion of one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub outcome: Outcome,
    pub class: Class,
    pub evidence: Evidence,
    pub stamp: Stamp,
    /// The commit HEAD named.
    pub head: Option<Oid>,
    /// The subject tree it speaks of.
    pub subject: Option<Oid>,
    pub delta: Option<Delta>,
    pub change: Option<Change>,
    pub taints: Vec<String>,
    /// The repository's root commits; `None` in a shallow or unborn one.
    pub repo: Option<Vec<Oid>>,
    pub run: Option<Run>,
    /// The digest of the criterion's definition it answers.
    pub definition: Option<String>,
    /// The record a rerun repeats.
    pub of: Option<RecordId>,
    /// Set for imported rows, which have nothing else of their own.
    pub import: Option<Import>,
}

impl Verdict {
    /// Returns a verdict that says this much and nothing of commits, a run or a requirement.
    pub fn new(outcome: Outcome, class: Class, evidence: Evidence, stamp: Stamp) -> Self {
        Self {
            outcome,
            class,
            evidence,
            stamp,
            head: None,
            subject: None,
            delta: None,
            change: None,
            taints: Vec::new(),
            repo: None,
            run: None,
            definition: None,
            of: None,
            import: None,
        }
    }
}

/// A `run` began, or ended without a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The attempt this ends; `None` for one that begins.
    pub of: Option<RecordId>,
    pub result: Option<AttemptResult>,
    pub run: Option<Run>,
    pub stamp: Option<Stamp>,
    pub head: Option<Oid>,
    pub subject: Option<Oid>,
    /// What changed while it ran.
    pub paths: Vec<RepoPath>,
    pub evidence: Option<Evidence>,
}

/// A task was closed without a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defer {
    pub reason: String,
}

/// A line of DECISIONS.md.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub decision: DecisionKind,
    pub scope: String,
    pub what: String,
    pub why: String,
    /// The decisions a HANDOFF-MARK presents.
    pub covers: Vec<RecordId>,
    pub import: Option<Import>,
}

/// A block of hand-written text of a view, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    pub view: String,
    pub text: String,
}

/// The order of imported rows and blocks in a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub view: String,
    pub order: Vec<RecordId>,
}

/// A signature over the line of another record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub of: RecordId,
    /// `ssh` or `openpgp`.
    pub format: String,
    pub armor: String,
}

/// One rewritten commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewritePair {
    pub old: Oid,
    pub new: Oid,
    /// Whether the subject trees are equal.
    pub same: bool,
}

/// Commits were rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// `amend`, `rebase` or `relink`.
    pub cause: String,
    pub pairs: Vec<RewritePair>,
}

/// Whose the paths of a commit were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    pub commit: Oid,
    /// Paths a session wrote, per session.
    pub mine: Vec<(String, Vec<RepoPath>)>,
    /// Paths no session claimed.
    pub other: Vec<RepoPath>,
    /// How many paths were left out to keep the record small.
    pub omitted: u64,
}

/// A session ended, or was let go, with open tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionNote {
    pub event: SessionEvent,
    pub open: Vec<String>,
    pub reason: String,
}

/// A record no longer counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retract {
    pub of: RecordId,
    pub why: String,
}

/// An evidence object is to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redact {
    pub digest: super::Digest,
    pub why: String,
}

/// The fields of a record's own kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    Task(Task),
    Adopt(Adopt),
    Verdict(Box<Verdict>),
    Attempt(Box<Attempt>),
    Defer(Defer),
    Decision(Decision),
    Bar(Bar),
    Layout(Layout),
    Signature(Signature),
    Rewrite(Rewrite),
    Work(Work),
    Session(SessionNote),
    Retract(Retract),
    Redact(Redact),
    /// A kind of version 1 that this program does not know: cargo without effect.
    Other(String),
}

impl Body {
    /// Returns the word of the `kind` member.
    pub fn kind(&self) -> &str {
        match self {
            Self::Task(_) => "task",
            Self::Adopt(_) => "adopt",
            Self::Verdict(_) => "verdict",
            Self::Attempt(_) => "attempt",
            Self::Defer(_) => "defer",
            Self::Decision(_) => "decision",
            Self::Bar(_) => "bar",
            Self::Layout(_) => "layout",
            Self::Signature(_) => "signature",
            Self::Rewrite(_) => "rewrite",
            Self::Work(_) => "work",
            Self::Session(_) => "session",
            Self::Retract(_) => "retract",
            Self::Redact(_) => "redact",
            Self::Other(kind) => kind,
        }
    }

    /// Says whether the body is a row that a view held before the ledger.
    pub fn is_imported(&self) -> bool {
        match self {
            Self::Verdict(verdict) => verdict.import.is_some(),
            Self::Decision(decision) => decision.import.is_some(),
            _ => false,
        }
    }
}
