use super::desk::Desk;
use crate::{
    gate,
    model::Text,
    ui::{Context, Exit, Failure, read_stdin},
};

/// A record's line holds 64 KiB; this leaves room for what escapes add.
const LIMIT: usize = 24 << 10;

/// Record an acceptance bar, its text from stdin
///
/// The text stands in VERDICTS.md under `## BAR — TITLE`, as it is. A line that would be read there as a
/// row of a verdict, as the marker of a conflict or as a malformed row is refused.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Title of the bar
    #[arg(allow_hyphen_values = true)]
    title: String,

    /// Print the record as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let title = Text::new("title", &args.title)?;
    let desk = Desk::open(context, None)?;
    let body = read_stdin("the bar", LIMIT)?;
    let body = String::from_utf8(body)
        .map_err(|_| Failure::new(Exit::No, "cannot record a bar: its text is not UTF-8"))?;
    Text::new("bar", body.get(..1000).unwrap_or(&body))?;
    let record = gate::bar(&desk.gate(), &title, &body)?;
    desk.report(&record, &format!("bar '{title}'"))?;
    Ok(Exit::Done)
}
