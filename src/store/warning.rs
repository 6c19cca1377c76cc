use std::fmt;

use crate::model::Oid;

/// Something about the ledger that its reader should hear of once, and that stops nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// The ref no longer contains what it contained before.
    Moved {
        found: Oid,
        /// The setting that lets a fetch do this, where one is configured.
        by: Option<String>,
    },
    /// The ref is gone and the ledger is not.
    Missing { by: Option<String> },
    /// The ref's file holds no object id.
    Unreadable { reason: String },
    /// A shallow fetch left out what is older than this commit.
    Shallow { commit: Oid },
    /// A part of what was fetched is not taken over.
    Refused { reason: String },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let because = |by: &Option<String>| {
            by.as_ref()
                .map_or_else(String::new, |by| format!(" ('{by}' lets a fetch do that)"))
        };
        match self {
            Self::Moved { found, by } => write!(
                f,
                "'refs/operator/ledger' was moved to '{}', which lacks records that were there{}; \
                 they are kept and read all the same",
                found.short(),
                because(by)
            ),
            Self::Missing { by } => write!(
                f,
                "'refs/operator/ledger' was deleted{}; its records are kept and read all the same",
                because(by)
            ),
            Self::Unreadable { reason } => {
                write!(f, "{reason}; its records are kept and read all the same")
            }
            Self::Refused { reason } => {
                write!(
                    f,
                    "a part of the ledger that was fetched is left out: {reason}"
                )
            }
            Self::Shallow { commit } => write!(
                f,
                "the ledger is cut off at commit '{}' by a shallow fetch; older records are unknown",
                commit.short()
            ),
        }
    }
}
