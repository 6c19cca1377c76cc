//! Values: ids, names, records, stamps, rows; parsing and validation of each, once.
//!
//! Nothing here does input or output. What a type accepts, every caller accepts: there is no second
//! validator, parser or escape for any of these.

mod blank;
mod codec;
mod evidence;
mod explain;
mod id;
pub mod json;
mod kinds;
mod name;
mod oid;
mod path;
mod path_map;
mod record;
pub mod row;
pub mod secret;
mod shell;
pub mod spec;
mod stamp;
pub mod time;

pub use blank::is_blank;
pub use codec::{Decoded, MAX_LINE, Quarantine, Seal, decode};
pub use evidence::{Digest, Evidence, INLINE_LIMIT, Kept, LongEvidence};
pub use explain::{Explain, Fault};
pub use id::{ParseIdError, Prefix, RecordId};
pub use kinds::{
    Adopt, Attempt, AttemptResult, Bar, Body, Change, Class, Decision, DecisionKind, Defer, Delta,
    DeltaEntry, Import, Layout, Outcome, Redact, Retract, Rewrite, RewritePair, Run, SessionEvent,
    SessionNote, Signature, Task, TestCounts, Verdict, Work,
};
pub use name::{Criterion, NameError, Owner, TaskId, Text};
pub use oid::{Oid, ParseOidError};
pub use path::RepoPath;
pub use path_map::{Mapped, System, map_path};
pub use record::{Draft, Opened, Record, ReplicaId};
pub use shell::{shell_quoted, shell_quotes};
pub use stamp::{ParseStampError, Stamp, TreeState};
