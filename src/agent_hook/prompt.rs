use super::{
    Event,
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
        // A session's start and its Stop name what keeps it from being noted.
        let _ = gate::note_seen(&site.place, &session, site.clock.wall_ms(), pid);
    }
    Ok(Reply::Nothing)
}
