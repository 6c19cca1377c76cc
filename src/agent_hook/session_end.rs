use super::{
    Event,
    reply::Reply,
    session::{Site, known},
};
use crate::{gate, model::SessionEvent, ui::Failure};

/// SessionEnd: what the session leaves open is recorded. The client gives every hook together 1.5 s.
pub(super) fn answer(event: &Event) -> Result<Reply, Failure> {
    let (Ok(site), Some(session)) = (Site::of(event), known(event)) else {
        return Ok(Reply::Nothing);
    };
    if !site.is_ours() {
        return Ok(Reply::Nothing);
    }
    let open = gate::end_session(&site.place, &session, site.clock.wall_ms())?;
    if !open.is_empty() {
        let store = site.store(event)?;
        gate::note_session(
            &site.gate(&store, Some(&session)),
            SessionEvent::Ended,
            Some(&session),
            open,
        )?;
    }
    Ok(Reply::Nothing)
}
