//! What the work ledger does when a turn or a session ends. Nothing is opened where no session of the
//! project was ever tracked.

use super::{
    Event,
    session::{Site, known},
};
use crate::{git::Repo, model::Owner, ui::Failure, work};

/// A turn ends or the next begins: calls that can no longer report their end are given up on.
pub(super) fn ended(event: &Event) -> Result<(), Failure> {
    let Some((repo, session, time)) = tracked(event)? else {
        return Ok(());
    };
    let tasks = event.payload.background();
    let tasks: Vec<work::Background<'_>> = tasks
        .iter()
        .map(|task| work::Background {
            id: &task.id,
            kind: &task.kind,
        })
        .collect();
    let says = event.payload.get("background_tasks").is_some();
    work::turn_end(
        &repo,
        &work::TurnEnd {
            session: session.as_str(),
            background: says.then_some(&tasks),
            time,
        },
    )?;
    Ok(())
}

/// The session ends: what is kept for its calls goes, and what is nowhere else is rescued.
pub(super) fn session_ended(event: &Event) -> Result<(), Failure> {
    if let Some((repo, session, time)) = tracked(event)? {
        work::session_end(&repo, session.as_str(), time)?;
        work::sweep(&repo, time)?;
    }
    Ok(())
}

fn tracked(event: &Event) -> Result<Option<(Repo, Owner, u64)>, Failure> {
    let (Ok(site), Some(session)) = (Site::of(event), known(event)) else {
        return Ok(None);
    };
    let is_tracked = !site.project.is_store() && site.project.location.top.is_some();
    if !is_tracked || !site.project.operator_dir().join("work").is_dir() {
        return Ok(None);
    }
    let repo = site.project.open(&event.env)?;
    Ok(Some((repo, session, site.clock.wall_ms())))
}
