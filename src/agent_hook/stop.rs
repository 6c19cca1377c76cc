use super::{Event, reply::Reply};
use crate::{model::Explain, payload::Place, ui::Failure};

/// Stop: the session must not end while its work has no evidence.
pub(super) fn answer(event: &Event) -> Result<Reply, Failure> {
    match Place::find(&event.payload, &event.env) {
        Place::Found(_) | Place::Nowhere => Ok(Reply::Nothing),
        Place::Gone(cwd) => {
            let shown = cwd.display();
            Ok(unchecked(&format!(
                "'{shown}' is gone and no project is set"
            )))
        }
        Place::Fault(error) => {
            let hint = error.hint().map(|hint| format!("; run: {hint}"));
            Ok(unchecked(&format!("{error}{}", hint.unwrap_or_default())))
        }
    }
}

/// Says that the gate could not be looked at, in words that are no refusal.
fn unchecked(why: &str) -> Reply {
    Reply::message(&format!(
        "git-operator could not check for open tasks, so this turn ends unchecked: {why}"
    ))
}
