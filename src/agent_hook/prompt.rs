use super::{
    Event, policy,
    reply::Reply,
    session::{Site, known},
};
use crate::{gate, ui::Failure};

/// UserPromptSubmit: the session lives.
pub(super) fn answer(event: &Event) -> Result<Reply, Failure> {
    let (Ok(site), Some(session)) = (Site::of(event), known(event)) else {
        return Ok(Reply::Nothing);
    };
    if site.is_ours() {
        let pid = event
            .env
            .text("CLAUDE_PID")
            .and_then(|pid| pid.parse().ok());
        gate::note_seen(&site.place, &session, site.clock.wall_ms(), pid)?;
    }
    policy::plain(event, Reply::Nothing)
}
