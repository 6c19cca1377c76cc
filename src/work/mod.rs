//! The work ledger: which changes in the working tree are a session's, what a tool use changed, and
//! how to undo it.
//!
//! One ledger per session and worktree. Its state is a file under `<git-common-dir>/operator/work/`,
//! the bytes it keeps are packs that `refs/operator-local/work/<key>` names. It never moves HEAD, the
//! index, the stash or a branch, and never runs clean, stash, checkout or reset.

mod begin;
mod beside;
mod commit;
mod content;
mod ends;
mod error;
mod finish;
mod look;
mod place;
mod plan;
mod recover;
mod rescue;
mod restore;
mod rows;
mod rules;
mod session;
mod shelf;
mod since;
mod stashed;
mod state;
mod status;
mod steps;
mod vault;
mod view;

pub use begin::{Begun, Call, Scope, Target, Tool, begin};
pub use commit::{Committed, commit_record};
pub use content::Content;
pub use ends::{Background, TurnEnd, deny, session_end, turn_end};
pub use error::Error;
pub use finish::{FileChange, Finished, Known, Report, finish};
pub use place::{Place, named, place};
pub use recover::{Found, Given, Recover, recover, recoverable};
pub use rescue::{Rescue, Why};
pub use restore::{Done, RestoreLine, RestoreRequest, restore};
pub use rules::Outcome;
pub use status::{
    SessionInfo, Who, adopt, is_on, knows, last_session, sessions, status, sweep, uncommitted,
};
pub use view::{CallView, Reason, Work};

#[cfg(test)]
mod rules_tests;
