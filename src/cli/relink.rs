use super::desk::Desk;
use crate::{
    ui::{Context, Exit, Failure},
    verify,
};

/// Record what became of commits that were rewritten
///
/// For each commit that a verdict was made at and RANGE's end does not reach any more, looks for the
/// commit of RANGE with the same source, else with the same patch, and records the pairs. A verdict is
/// never moved: `verify` computes anew what it is worth.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Commits to look among, as FROM..TO
    range: String,

    /// Print the pairs and record nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let desk = Desk::open(context, None)?;
    let repo = context.repo()?;
    let (links, record) = match args.dry_run {
        true => (verify::links(desk.store, repo, &args.range)?, None),
        false => verify::relink(&desk.gate(), repo, &args.range)?,
    };
    for link in &links {
        let how = match link.same {
            true => "same source",
            false => "same patch",
        };
        context.ui.line(format!(
            "{} -> {} {how}",
            link.old.short(),
            link.new.short()
        ))?;
    }
    match record {
        Some(record) => context.ui.note(format!("recorded {}", record.id.short())),
        None if args.dry_run && !links.is_empty() => context.ui.note("nothing was recorded"),
        None => context.ui.note("nothing to relink"),
    }
    Ok(Exit::Done)
}
