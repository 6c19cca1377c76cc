use super::{
    Event,
    policy::{self, Rules, Seen},
    reply::Reply,
    tool_use::{ToolUse, untracked},
};
use crate::{
    policy::Level,
    ui::Failure,
    work::{self, Scope, Work},
};

/// PreToolUse: what lies in the working tree is remembered before the tool runs, and policies may
/// keep it from running.
pub(super) fn answer(event: &Event) -> Reply {
    let rules = event.rules();
    let mut seen = Seen::default();
    let mut reply = Reply::Nothing;
    let used = match begun(event, rules) {
        Ok(Some((used, work))) => {
            seen.work = work;
            if let Some(warning) = used.warning() {
                reply = Reply::message(&warning);
            }
            Some(used)
        }
        Ok(None) => None,
        Err(failure) => {
            reply = untracked(&failure);
            seen.work_lost = failure.message;
            None
        }
    };
    let Some(rules) = rules else { return reply };
    let Some(ruling) = rules.judge(event, seen) else {
        return reply;
    };
    if let Some(used) = used.filter(|_| ruling.level() == Level::Block) {
        // A call that stays pending is given up on when the turn ends.
        let _ = work::deny(&used.repo, (&used.session, &used.id), used.time());
    }
    rules.record(event, &ruling);
    policy::answer("PreToolUse", rules, &ruling, reply)
}

fn begun(event: &Event, rules: Option<&Rules>) -> Result<Option<(ToolUse, Option<Work>)>, Failure> {
    let Some(used) = ToolUse::of(event)? else {
        return Ok(None);
    };
    let scope = rules.map_or(Scope::Target, |rules| rules.scope(event));
    let work = work::begin(&used.repo, &used.call(scope))?.work;
    Ok(Some((used, work)))
}
