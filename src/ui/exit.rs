use std::process::ExitCode;

use crate::model::Fault;

/// How the program ends, as docs/reference.md lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done; the answer is yes.
    Done,
    /// The answer is no.
    No,
    /// A Claude Code hook blocks; nothing else ends with this code.
    Block,
    Integrity,
    Undecided,
    Unchecked,
    Fatal,
    Usage,
    /// `run` ends as its command did.
    Child(u8),
}

impl Exit {
    /// Returns the number.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::No => 1,
            Self::Block => 2,
            Self::Integrity => 3,
            Self::Undecided => 4,
            Self::Unchecked => 5,
            Self::Fatal => 128,
            Self::Usage => 129,
            Self::Child(code) => code,
        }
    }
}

impl From<Fault> for Exit {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Refused => Self::No,
            Fault::Integrity => Self::Integrity,
            Fault::Undecided => Self::Undecided,
            Fault::Unchecked => Self::Unchecked,
            Fault::Fatal => Self::Fatal,
            Fault::Usage => Self::Usage,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
