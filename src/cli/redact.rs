use super::{
    desk::{Desk, OwnerArg},
    record,
};
use crate::{
    gate,
    model::{Digest, Prefix, Record, Text},
    store::REMOTES,
    ui::{Context, Exit, Failure},
};

/// Take long evidence out of the ledger
///
/// The evidence leaves the evidence ref and the journal of this clone, and every clone that learns of it
/// by a sync. The record stays, with the excerpt that it shows; what others fetched before cannot be
/// recalled. Evidence of up to 8 KiB is part of its record and cannot be taken out.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The id of a record, or the part of it that log prints; or the digest of the evidence
    id: String,

    /// Why it is to go
    #[arg(long, default_value = "redacted", allow_hyphen_values = true)]
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
    let digest = match args.id.parse::<Digest>() {
        Ok(digest) => digest,
        Err(_) => of_record(&args.id, &desk)?,
    };
    let was_here = desk.store.evidence(&digest)?.is_some();
    let done = gate::redact(&desk.gate(), digest, &why, desk.owner.as_ref())?;
    for record in &done.records {
        let name = &digest.to_hex()[..12];
        desk.report(record, &format!("redacted {name}: {why}"))?;
    }
    if let Some(reason) = &done.unfinished {
        context
            .ui
            .warn(format!("recorded, and not taken out here yet: {reason}"));
    }
    caution(was_here, &desk, context)?;
    Ok(Exit::Done)
}

/// Says what is out of reach.
fn caution(was_here: bool, desk: &Desk<'_>, context: &Context) -> Result<(), Failure> {
    if !was_here {
        context
            .ui
            .note("this clone did not hold it; clones that do lose it when they sync");
    }
    context.ui.note(
        "the excerpt in the record and copies that others fetched cannot be recalled; git itself \
         keeps its copy here until it prunes what nothing names",
    );
    let tracked = desk.store.repo().list_refs(REMOTES)?;
    if tracked.iter().any(|(name, _)| name.ends_with("/evidence")) {
        context.ui.note("hint: git operator sync --evidence");
    }
    Ok(())
}

fn of_record(id: &str, desk: &Desk<'_>) -> Result<Digest, Failure> {
    let found = match Prefix::parse(id) {
        Some(prefix) => desk.store.find(&prefix)?,
        None => Vec::new(),
    };
    let refused = |reason: &str| Failure::new(Exit::No, format!("cannot redact '{id}': {reason}"));
    let record = match found.as_slice() {
        [record] => record,
        [] => return Err(refused("there is no such record").hint("git operator log")),
        [..] => return Err(refused("it is short for several records")),
    };
    digest(record).ok_or_else(|| {
        refused("it has no long evidence; what a record itself says cannot be taken out")
    })
}

fn digest(record: &Record) -> Option<Digest> {
    let stored = record::evidence(record)?.stored()?;
    Some(stored.digest)
}
