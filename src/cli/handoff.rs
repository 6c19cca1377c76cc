use super::desk::Desk;
use crate::{
    gate::{self, Who},
    model::time,
    ui::{Context, Exit, Failure, one_line, printable},
};

/// Hand the work over in six sections, or mark that it was
///
/// Prints what the ledger knows since the last mark (Verdict vs the BAR, Banked, Unverified/open,
/// Conditional next steps, Stop conditions, Not-doing), each line with the records it rests on, and
/// writes it to `.operator/handoff-DATE.md` for a person to finish.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Record that the decisions were presented; only after they were
    #[arg(long)]
    mark: bool,
    /// What is handed over
    #[arg(
        long,
        value_name = "NAME",
        default_value = "handoff",
        requires = "mark"
    )]
    engagement: String,
    /// Session that hands over
    #[arg(long, value_name = "SESSION")]
    owner: Option<String>,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let desk = Desk::open(context, args.owner.as_deref())?;
    if args.mark {
        return mark(args, &desk, context);
    }
    let who = match &desk.owner {
        Some(owner) => Who::Session(owner.clone()),
        None => Who::Nobody,
    };
    let open = gate::survey(&desk.place, &who)?.parts;
    let handoff = gate::handoff(&desk.store.load()?, &open);
    let text = handoff.to_string();
    context.ui.print(printable(&text))?;
    if desk.place.is_started() {
        let date = time::format_date(desk.clock.now_ms());
        let path = gate::write_handoff(&desk.tree()?, &date, &handoff)?;
        context.ui.line(format!("\nwritten to {path}"))?;
    }
    Ok(Exit::Done)
}

fn mark(args: &Args, desk: &Desk<'_>, context: &Context) -> Result<Exit, Failure> {
    let marked = gate::mark_handoff(&desk.gate(), desk.owner.as_ref(), &args.engagement)?;
    desk.show();
    for decision in &marked.presented {
        context.ui.line(one_line(&format!(
            "presented {} {}: {}",
            decision.id.short(),
            decision.kind,
            decision.what
        )))?;
    }
    desk.report(&marked.record, "marked")?;
    Ok(Exit::Done)
}
