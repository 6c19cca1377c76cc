use super::{Event, policy, reply::Reply, tool_use::ToolUse};
use crate::{ui::Failure, work};

/// PermissionDenied: the tool never ran.
pub(super) fn answer(event: &Event) -> Result<Reply, Failure> {
    if let Some(used) = ToolUse::of(event)? {
        work::deny(&used.repo, (&used.session, &used.id), used.time())?;
    }
    policy::plain(event, Reply::Nothing)
}
