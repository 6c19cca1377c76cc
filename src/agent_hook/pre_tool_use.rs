use super::{
    Event,
    policy::{self, Seen},
    reply::Reply,
    tool_use::ToolUse,
};
use crate::{
    policy::Level,
    ui::Failure,
    work::{self, Scope},
};

/// PreToolUse: what lies in the working tree is remembered before the tool runs, and policies may
/// keep it from running.
pub(super) fn answer(event: &Event) -> Result<Reply, Failure> {
    let rules = event.rules()?;
    let used = ToolUse::of(event)?;
    let mut seen = Seen::default();
    let mut reply = Reply::Nothing;
    if let Some(used) = &used {
        let scope = rules.map_or(Scope::Target, |rules| rules.scope(event));
        seen.work = work::begin(&used.repo, &used.call(scope))?.work;
        if let Some(warning) = used.warning() {
            reply = Reply::message(&warning);
        }
    }
    let Some(rules) = rules else {
        return Ok(reply);
    };
    let Some(ruling) = rules.judge(event, seen)? else {
        return Ok(reply);
    };
    if let Some(used) = used.filter(|_| ruling.level() == Level::Block) {
        work::deny(&used.repo, (&used.session, &used.id), used.time())?;
    }
    rules.record(event, &ruling);
    Ok(policy::answer("PreToolUse", rules, &ruling, reply))
}
