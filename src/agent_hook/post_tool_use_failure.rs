use super::{Event, post_tool_use::ended, reply::Reply, shorten};
use crate::work::Outcome;

/// PostToolUseFailure: a tool that failed, or was interrupted, may have changed files, too.
pub(super) fn answer(event: &Event) -> Reply {
    shorten::note_failure(event);
    ended(event, Outcome::Failure)
}
