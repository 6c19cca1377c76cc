use super::desk::{Desk, OwnerArg};
use crate::{
    gate::{self, NewDefer},
    model::{TaskId, Text},
    ui::{Context, Exit, Failure},
};

/// Close a task without a verdict, and say why
///
/// The deferral is recorded and shown to people: it is the honest end of a task whose evidence cannot be
/// had now.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the task
    id: String,

    /// Why there is no verdict
    #[arg(allow_hyphen_values = true)]
    reason: String,

    #[command(flatten)]
    owner: OwnerArg,

    /// Print the record as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let desk = Desk::open(context, args.owner.owner.as_deref())?;
    defer(&args.id, &args.reason, &desk)
}

/// Defers a task, for `verdict --defer` too.
pub(super) fn defer(task: &str, reason: &str, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let task = TaskId::new(task)?;
    let new = NewDefer {
        reason: Text::new("reason", reason)?,
        owner: desk.owner.clone(),
        task,
    };
    let recorded = gate::defer(&desk.gate(), new)?;
    desk.caution(&recorded);
    let task = recorded.record.task.as_deref().unwrap_or_default();
    desk.report(&recorded.record, &format!("deferred '{task}': {reason}"))?;
    Ok(Exit::Done)
}
