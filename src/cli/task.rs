use super::desk::{Desk, OwnerArg};
use crate::{
    gate::{self, Opening},
    model::TaskId,
    ui::{Codes, Context, Exit, Failure},
};

/// Open a task
///
/// The task is open until a verdict or a deferral closes it; a Claude Code session cannot end its turn
/// while it owns an open task. A task that nobody owns blocks every session. Opening a task that is open
/// already changes nothing.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the task; a name that begins with - needs a -- before it
    id: String,

    #[command(flatten)]
    owner: OwnerArg,

    /// Print the record as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let task = TaskId::new(&args.id)?;
    let desk = Desk::open(context, args.owner.owner.as_deref())?;
    let owner = match gate::open(&desk.gate(), &task, desk.owner.as_ref()) {
        Ok(Opening::Opened(record)) => {
            let text = match &desk.owner {
                Some(owner) => format!("opened '{task}' for session '{owner}'"),
                None => format!("opened '{task}' for nobody: it blocks every session"),
            };
            desk.report(&record, &text)?;
            return Ok(Exit::Done);
        }
        Ok(Opening::Already { owner }) => owner,
        // The predecessor's script never refused a task that was open.
        Err(gate::Error::OpenElsewhere { owner, .. }) if context.codes() == Codes::Predecessors => {
            owner
        }
        Err(error) => return Err(error.into()),
    };
    let whose = owner.map_or_else(
        || "for nobody".to_owned(),
        |owner| format!("for session '{owner}'"),
    );
    context
        .ui
        .note(format_args!("'{task}' is open already, {whose}"));
    Ok(Exit::Done)
}
