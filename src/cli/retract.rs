use super::desk::{Desk, OwnerArg};
use crate::{
    gate,
    model::{Prefix, Text},
    ui::{Context, Exit, Failure},
};

/// Take a record back
///
/// The record stays and counts no more; only the clone and the session that made it can take it back. A
/// FAIL, an attempt or a decision goes on counting in `verify`, unless the retraction is signed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The record's id, or the part of it that log prints
    id: String,

    /// Why it is wrong
    #[arg(long, allow_hyphen_values = true)]
    why: String,

    #[command(flatten)]
    owner: OwnerArg,

    /// Print the record as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let why = Text::new("reason", &args.why)?;
    let desk = Desk::open(context, args.owner.owner.as_deref())?;
    let found = match Prefix::parse(&args.id) {
        Some(prefix) => desk.store.find(&prefix)?,
        None => Vec::new(),
    };
    let refused = |reason: &str| {
        let message = format!("cannot retract '{}': {reason}", args.id);
        Failure::new(Exit::No, message)
    };
    let of = match found.as_slice() {
        [record] => record,
        [] => return Err(refused("there is no such record").hint("git operator log")),
        [..] => return Err(refused("it is short for several records")),
    };
    let record = gate::retract(&desk.gate(), of, &why, desk.owner.as_ref())?;
    desk.report(&record, &format!("retracted {}: {why}", of.id.short()))?;
    Ok(Exit::Done)
}
