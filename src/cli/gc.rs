use crate::{
    setup::{self, Notes},
    ui::{Context, Exit, Failure},
};

/// Pack what the ledger wrote and drop what has had its time
///
/// Cuts the journal into a pack, packs our loose objects, takes out evidence that was redacted elsewhere,
/// removes temporary files of processes that died, drops claims and rescues of more than 14 days, and
/// pins stamped commits. No record is ever dropped,
/// and nothing of the project is collected: that is `git gc`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write the notes of every verdict anew
    #[arg(long)]
    notes: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let notes = if args.notes { Notes::All } else { Notes::Leave };
    let store = context.store()?;
    let clock = context.clock()?;
    let done = context
        .ui
        .busy("packing", || setup::gc(store, &clock, notes))?;
    if args.json {
        context.ui.json(
            "gc",
            serde_json::json!({
                "packed": done.packed, "leftovers": done.leftovers,
                "pinned": done.pinned, "noted": done.noted, "sessions": done.sessions,
            }),
        )?;
        return Ok(Exit::Done);
    }
    let parts = [
        (done.packed, "object", "packed"),
        (done.leftovers, "leftover", "removed"),
        (done.pinned, "commit", "pinned"),
        (done.noted, "note", "written"),
        (done.sessions, "old session", "dropped"),
    ];
    let said: Vec<String> = parts
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, what, how)| {
            let end = if *count == 1 { "" } else { "s" };
            format!("{count} {what}{end} {how}")
        })
        .collect();
    match said.as_slice() {
        [] => context.ui.line("nothing to do")?,
        _ => context.ui.line(said.join(", "))?,
    }
    Ok(Exit::Done)
}
