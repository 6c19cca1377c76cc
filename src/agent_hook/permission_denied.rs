use super::{
    Event, policy,
    reply::Reply,
    tool_use::{ToolUse, untracked},
};
use crate::{ui::Failure, work};

/// PermissionDenied: the tool never ran.
pub(super) fn answer(event: &Event) -> Reply {
    let told = drop_call(event).map_or_else(|failure| untracked(&failure), |()| Reply::Nothing);
    policy::plain(event, told)
}

fn drop_call(event: &Event) -> Result<(), Failure> {
    if let Some(used) = ToolUse::of(event)? {
        work::deny(&used.repo, (&used.session, &used.id), used.time())?;
    }
    Ok(())
}
