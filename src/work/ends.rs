//! What happens to calls that do not report their end.

use super::{
    Error,
    look::{Look, Sight},
    rescue::Why,
    session::{self, END, HOOK, Session},
    shelf::Shelf,
    state::{Call, Phase, Reach},
};
use crate::git::Repo;

/// The end of a turn, or the beginning of the next.
#[derive(Clone, Debug)]
pub struct TurnEnd<'a> {
    pub session: &'a str,
    /// What goes on in the background; `None` when the event does not say.
    pub background: Option<&'a [Background<'a>]>,
    /// The wall time in ms.
    pub time: u64,
}

/// A background task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Background<'a> {
    pub id: &'a str,
    /// `shell`, `subagent`, `workflow`, …
    pub kind: &'a str,
}

/// Forgets a call that was refused: it never ran.
pub fn deny(repo: &Repo, (name, id): (&str, &str), time: u64) -> Result<(), Error> {
    match session::read(repo, name)? {
        Some(state) if state.pending(id).is_some() => {}
        Some(_) | None => return Ok(()),
    }
    let mut session = Session::open(repo, name, HOOK)?;
    session.state.deny(id);
    session.save(time)
}

/// Gives up on calls that cannot report their end any more. Nothing is looked at or written unless
/// there are any.
pub fn turn_end(repo: &Repo, end: &TurnEnd<'_>) -> Result<(), Error> {
    let Some(state) = session::read(repo, end.session)? else {
        return Ok(());
    };
    let given_up = |call: &&Call| matches!(call.phase, Phase::Open { .. }) && end.gives_up(call);
    if state.turn == state.step && !state.calls.iter().any(|call| given_up(&call)) {
        return Ok(());
    }
    let mut session = Session::open(repo, end.session, HOOK)?;
    let ids: Vec<String> = session
        .state
        .calls
        .iter()
        .filter(given_up)
        .map(|call| call.id.clone())
        .collect();
    if !ids.is_empty() {
        let look = session.look(end.time)?;
        session.give_up(&ids, &look, end.time)?;
        session.state.observe(&look.dirty);
    }
    session.state.turn = session.state.step;
    session.save(end.time)
}

/// Ends a session: claims stay for a while, bytes kept for its calls go, and what exists nowhere else
/// is rescued.
pub fn session_end(repo: &Repo, name: &str, time: u64) -> Result<(), Error> {
    if session::read(repo, name)?.is_none() {
        return Ok(());
    }
    let mut session = Session::open(repo, name, END)?;
    let open: Vec<String> = session
        .state
        .open()
        .map(|(call, _)| call.id.clone())
        .collect();
    let look = session.look(time)?;
    session.give_up(&open, &look, time)?;
    session.state.observe(&look.dirty);
    session.state.calls.clear();
    session.state.seen = Sight::default();
    session.state.shelf = Shelf::default();
    // What was others' is seen anew when the session is resumed.
    session.state.paths.retain(|_, trail| {
        let foreign = std::mem::take(&mut trail.foreign);
        let keeps = !trail.is_empty();
        trail.foreign = foreign;
        keeps
    });
    session.state.ended = Some(time);
    session.vault().clear()?;
    session.expire_rescues(time)?;
    session.save(time)
}

impl TurnEnd<'_> {
    fn gives_up(&self, call: &Call) -> bool {
        let agents_run = |tasks: &[Background<'_>]| {
            tasks
                .iter()
                .any(|task| !matches!(task.kind, "shell" | "monitor"))
        };
        match (&call.reach, &call.agent, self.background) {
            (Reach::Background(id), _, Some(tasks)) => tasks.iter().all(|task| task.id != id),
            (Reach::Background(_), _, None) | (_, Some(_), None) => false,
            (_, Some(_), Some(tasks)) => !agents_run(tasks),
            (_, None, _) => true,
        }
    }
}

impl Session<'_> {
    fn give_up(&mut self, ids: &[String], look: &Look, time: u64) -> Result<(), Error> {
        let mut gone = match ids.is_empty() {
            true => Vec::new(),
            false => self.gone(look, time)?,
        };
        for id in ids {
            let now = self.now(id, look, time)?;
            let mut lost = self.state.drop_call(id, &now);
            lost.append(&mut gone);
            let (lost, stashed) = self.not_stashed(lost)?;
            self.rescue(&lost, id, (time, Why::Dropped))?;
            self.rescue(&stashed, id, (time, Why::Stashed))?;
        }
        // A background task reports nothing later.
        self.state
            .calls
            .retain(|call| !call.is_background() || matches!(call.phase, Phase::Open { .. }));
        Ok(())
    }
}
