use std::{os::unix::process::parent_id, path::PathBuf};

use super::tiers::top;
use crate::{
    compress::{Place, Settings, filter, treatment},
    ui::{Context, Exit, Failure, read_stdin},
};

/// Shorten the output of a tool, read from stdin
///
/// Drops escape sequences and repetitions, masks secrets, and leaves out the middle of a long text but
/// for the lines that tell of a failure. What is left out lies whole in the file that the text cites.
/// Text that is not UTF-8, and the output of a tool that is never shortened, passes as it is.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the tool that printed it
    #[arg(long, default_value = "Bash")]
    tool: String,
}

const LIMIT: usize = 1 << 30;

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let bytes = read_stdin("the output", LIMIT)?;
    let Ok(text) = std::str::from_utf8(&bytes) else {
        context.ui.bytes(&bytes)?;
        return Ok(Exit::Done);
    };
    let env = context.env();
    let settings = Settings {
        // Whoever pipes a text through here wants every byte that can go.
        min_shrink: 1,
        ..Settings::read(|name| env.text(name).map(str::to_owned))
    };
    let place = place(context)?;
    let short = filter(text, treatment(&args.tool, ""), &settings, &place);
    context.ui.bytes(short.as_bytes())?;
    Ok(Exit::Done)
}

/// Returns where spills go for this process.
fn place(context: &Context) -> Result<Place, Failure> {
    let env = context.env();
    let top = top(context)?;
    Ok(Place {
        project: top.join(".operator").is_dir().then_some(top),
        temp: env
            .path("TMPDIR")
            .map_or_else(|| PathBuf::from("/tmp"), PathBuf::from),
        cwd: context.cwd()?.to_owned(),
        session: env
            .text("CLAUDE_CODE_SESSION_ID")
            .unwrap_or_default()
            .to_owned(),
        call: "stdin".to_owned(),
        client: env
            .text("CLAUDE_PID")
            .and_then(|pid| pid.parse().ok())
            .or(Some(parent_id())),
    })
}
