use super::desk::{Desk, OwnerArg};
use crate::{
    gate,
    model::TaskId,
    ui::{Context, Exit, Failure},
};

/// Take open tasks over from another session
///
/// Every named task changes its owner, or none does: when one is not open, nothing is written.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Names of the tasks
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,

    #[command(flatten)]
    owner: OwnerArg,

    /// Print the records as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let tasks: Result<Vec<TaskId>, _> = args.ids.iter().map(|id| TaskId::new(id)).collect();
    let tasks = tasks?;
    let desk = Desk::open(context, args.owner.owner.as_deref())?;
    let owner = desk.owner.as_ref().ok_or_else(|| {
        Failure::usage("cannot adopt: no session is known")
            .hint("git operator adopt --owner <session> <id>...")
    })?;
    for adopted in gate::adopt(&desk.gate(), &tasks, owner)? {
        let from = match &adopted.from {
            Some(from) => format!("session '{from}'"),
            None => "nobody".to_owned(),
        };
        let text = format!(
            "adopted '{}' from {from} for session '{owner}'",
            adopted.task
        );
        desk.report(&adopted.record, &text)?;
    }
    Ok(Exit::Done)
}
