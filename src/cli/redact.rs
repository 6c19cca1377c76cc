use super::{
    desk::{Desk, OwnerArg},
    record,
};
use crate::{
    gate,
    model::{Digest, Prefix, Record, Text},
    store::REMOTES,
    ui::{Context, Exit, Failure, one_line},
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

    /// Say what would be taken out, and leave it
    #[arg(long)]
    dry_run: bool,

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
    if args.dry_run {
        return foretell(&digest, &desk, context);
    }
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

/// Says what a redaction would take out.
fn foretell(digest: &Digest, desk: &Desk<'_>, context: &Context) -> Result<Exit, Failure> {
    let name = &digest.to_hex()[..12];
    match desk.store.evidence(digest)? {
        Some(bytes) => context.ui.line(format!(
            "would take out {name}, {} bytes, of these records:",
            bytes.len()
        ))?,
        None => context.ui.line(format!(
            "would take out {name}, which this clone does not hold, of these records:"
        ))?,
    }
    let ledger = desk.store.load()?;
    for record in ledger.iter() {
        let stored = record::evidence(record).and_then(|evidence| evidence.stored());
        if stored.is_some_and(|stored| stored.digest == *digest) {
            let task = record.task.as_deref().unwrap_or_default();
            let criterion = record.criterion.as_deref().unwrap_or_default();
            let text = format!("{} {task}: {criterion}", record.id.short());
            context.ui.line(one_line(&text))?;
        }
    }
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
