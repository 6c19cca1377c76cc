use std::fmt;

use super::{Binding, Grade};

/// What is wrong with a record itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrity {
    Forged,
    Contradicted,
    Gap,
    Foreign,
}

/// Who stands behind a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Authenticity {
    /// Nobody asked: no trust root, no signature.
    #[default]
    Unasked,
    /// By these principals.
    Trusted(Vec<String>),
    UntrustedSigner,
    Unsigned,
    KeyExpired,
    KeyRevoked,
    /// There is a signature, and nothing here can check it.
    Unverifiable(String),
    /// There is one that does not hold.
    Forged,
}

/// Whether a record answers what the criterion asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    Answered,
    WrongCommand,
    PolicyChanged,
    WeakEvidence,
    Tainted(Vec<String>),
}

/// What a record came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Result {
    Pass,
    Failed,
    Moot,
    Error,
    Skipped,
    TimedOut,
    Interrupted,
    /// The source changed while the command ran.
    Mutated,
    /// A run that began and said nothing more.
    Unfinished,
    /// Heads of its task and criterion disagree.
    Contested,
    /// It passed, and failed when it was run again on the same source.
    Contradicted,
    /// The same command failed on the same source before.
    Flaky,
    /// Fewer tests ran than before, or than required.
    Shrunk,
}

/// Everything that is said of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes {
    pub integrity: Option<Integrity>,
    pub authenticity: Authenticity,
    pub definition: Definition,
    pub binding: Binding,
    /// Its grade is one the criterion takes.
    pub accepted: bool,
    pub result: Result,
    pub expired: bool,
}

impl Integrity {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Forged => "forged",
            Self::Contradicted => "contradicted",
            Self::Gap => "gap",
            Self::Foreign => "foreign",
        }
    }
}

impl Authenticity {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Unasked => "unasked",
            Self::Trusted(_) => "trusted",
            Self::UntrustedSigner => "untrusted-signer",
            Self::Unsigned => "unsigned",
            Self::KeyExpired => "key-expired",
            Self::KeyRevoked => "key-revoked",
            Self::Unverifiable(_) => "sig-unverifiable",
            Self::Forged => "forged",
        }
    }

    /// Says whether the record may count where signatures are required.
    pub fn is_trusted(&self) -> bool {
        matches!(self, Self::Trusted(_))
    }
}

impl Definition {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::WrongCommand => "wrong-command",
            Self::PolicyChanged => "policy-changed",
            Self::WeakEvidence => "weak-evidence",
            Self::Tainted(_) => "tainted",
        }
    }
}

impl Result {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Failed => "failed",
            Self::Moot => "moot",
            Self::Error => "error",
            Self::Skipped => "skipped",
            Self::TimedOut => "timed-out",
            Self::Interrupted => "interrupted",
            Self::Mutated => "mutated",
            Self::Unfinished => "unfinished",
            Self::Contested => "contested",
            Self::Contradicted => "contradicted",
            Self::Flaky => "flaky",
            Self::Shrunk => "shrunk",
        }
    }
}

/// Whether signatures are required of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signing {
    Asked,
    Optional,
}

impl Axes {
    /// Returns the first axis that fails as a word, and the binding's grade beside it; `fresh` when
    /// none does.
    pub fn headline(&self, signing: Signing) -> Headline {
        let word = self.failing(signing).unwrap_or("fresh");
        Headline {
            word,
            grade: self.binding.grade(),
        }
    }

    /// Returns the first axis that fails.
    pub fn failing(&self, signing: Signing) -> Option<&'static str> {
        if let Some(integrity) = self.integrity {
            return Some(integrity.as_str());
        }
        match &self.authenticity {
            Authenticity::Forged => return Some("forged"),
            Authenticity::Unasked | Authenticity::Trusted(_) => {}
            other if signing == Signing::Asked => return Some(other.as_str()),
            _ => {}
        }
        if self.definition != Definition::Answered {
            return Some(self.definition.as_str());
        }
        match &self.binding {
            Binding::Bound(_) if self.accepted => {}
            Binding::Bound(_) => return Some("weak-binding"),
            other => return Some(other.as_str()),
        }
        if self.result != Result::Pass {
            return Some(self.result.as_str());
        }
        self.expired.then_some("expired")
    }
}

/// A record's state in a word, and its grade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headline {
    pub word: &'static str,
    pub grade: Option<Grade>,
}

impl Headline {
    pub fn is_fresh(&self) -> bool {
        self.word == "fresh"
    }
}

impl fmt::Display for Headline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.grade {
            Some(grade) => write!(f, "{} {grade}", self.word),
            None => f.write_str(self.word),
        }
    }
}
