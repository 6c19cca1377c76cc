use std::collections::BTreeSet;

use super::desk::{Desk, OwnerArg};
use crate::{
    gate,
    model::TaskId,
    ui::{Context, Exit, Failure},
    work,
};

/// Take open tasks over from another session
///
/// Every named task changes its owner, or none does: when one is not open, nothing is written. What the
/// session before left uncommitted and claimed becomes the new owner's, too.
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
    let mut givers = BTreeSet::new();
    for adopted in gate::adopt(&desk.gate(), &tasks, owner)? {
        givers.extend(adopted.from.clone());
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
    let repo = desk.store.repo();
    for from in givers.iter().filter(|_| !repo.is_store()) {
        let count = work::adopt(repo, from.as_str(), owner.as_str())?;
        if count > 0 {
            let paths = if count == 1 { "path" } else { "paths" };
            context.ui.note(format!(
                "{count} uncommitted {paths} of session '{from}' became those of session '{owner}'"
            ));
        }
    }
    Ok(Exit::Done)
}
