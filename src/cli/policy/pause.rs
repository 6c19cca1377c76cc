use std::io::IsTerminal as _;

use super::pauses;
use crate::{
    model::time,
    rules::{LONGEST, Pause},
    ui::{Context, Exit, Failure},
};

/// Switch all policies off for a while
///
/// Only a person at a terminal can: it is refused in a hook and in an agent's shell. The pause is kept in
/// this clone, shown by `policy list`, and ends by itself, after a day at most.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// How long, as 30s, 10m or 2h
    #[arg(long = "for", value_name = "TIME", required_unless_present = "end")]
    time: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "no reason given")]
    reason: String,
    /// End the pause
    #[arg(long, conflicts_with = "time")]
    end: bool,
}

/// Variables that an agent's client sets for what it runs.
const AGENTS: [&str; 3] = ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "AI_AGENT"];

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let pauses = pauses(context)?;
    if args.end {
        let line = match pauses.end()? {
            true => "policies apply again",
            false => "policies were not paused",
        };
        context.ui.line(line)?;
        return Ok(Exit::Done);
    }
    let agent = AGENTS.iter().any(|name| context.env().var(name).is_some());
    let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if agent || !terminal {
        let message = "cannot pause policies: only a person at a terminal can";
        return Err(Failure::new(Exit::No, message));
    }
    let text = args.time.as_deref().unwrap_or_default();
    let Some(length) = length(text).filter(|length| *length <= LONGEST) else {
        let message = format!("cannot pause for '{text}': it is no time up to 24h, such as 10m");
        return Err(Failure::usage(message));
    };
    let since = context.clock()?.wall_ms();
    let pause = Pause {
        since,
        until: since + length,
        reason: args.reason.clone(),
    };
    pauses.begin(&pause)?;
    let until = time::format_time(pause.until);
    context
        .ui
        .line(format!("policies are paused until {until}"))?;
    Ok(Exit::Done)
}

/// Returns the milliseconds that `30s`, `10m` or `2h` are.
fn length(text: &str) -> Option<u64> {
    let unit = match text.chars().last()? {
        's' => 1_000,
        'm' => 60_000,
        'h' => 3_600_000,
        _ => return None,
    };
    let number: u64 = text[..text.len() - 1].parse().ok()?;
    number.checked_mul(unit).filter(|length| *length > 0)
}

#[cfg(test)]
mod tests {
    use super::length;

    #[test]
    fn a_time_has_a_number_and_a_unit() {
        for (text, expected) in [
            ("30s", Some(30_000)),
            ("10m", Some(600_000)),
            ("2h", Some(7_200_000)),
            ("0m", None),
            ("m", None),
            ("10", None),
            ("", None),
            ("é", None),
            ("99999999999999999999h", None),
        ] {
            assert_eq!(length(text), expected, "{text}");
        }
    }
}
