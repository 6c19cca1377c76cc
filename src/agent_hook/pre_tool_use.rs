use super::{Event, reply::Reply, tool_use::ToolUse};
use crate::{
    ui::Failure,
    work::{self, Scope},
};

/// PreToolUse: what lies in the working tree is remembered before the tool runs.
pub(super) fn answer(event: &Event) -> Result<Reply, Failure> {
    let Some(used) = ToolUse::of(event)? else {
        return Ok(Reply::Nothing);
    };
    work::begin(&used.repo, &used.call(Scope::Target))?;
    Ok(used
        .warning()
        .map_or(Reply::Nothing, |warning| Reply::message(&warning)))
}
