use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use super::{facts, found, operator, shared, shown};
use crate::{
    policy::{self, Facts, Level, Limits},
    rules::Moments,
    ui::{Context, Exit, Failure, read_stdin},
};

/// Judge an event and show the value of every part of every condition
///
/// Nothing is refused, put back or recorded. The event is a hook's payload (`--event`, `-` for stdin), is
/// made from a command or a file, or is one that a hook recorded (`--last`, `--session`).
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A hook's payload as JSON; `-` reads stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "write", "last"])]
    event: Option<PathBuf>,
    /// The newest recorded event, or the N-th newest
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1",
        conflicts_with_all = ["command", "write"]
    )]
    last: Option<usize>,
    /// The session whose recorded event, or whose work and tasks, are looked at
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// The tool that is called
    #[arg(long, value_name = "NAME", default_value = "Bash")]
    tool: String,
    /// A command line that is about to run
    #[arg(long, value_name = "LINE", conflicts_with = "write")]
    command: Option<String>,
    /// A file that is about to be written
    #[arg(long, value_name = "PATH")]
    write: Option<PathBuf>,
    /// The file that holds what is written; `-` reads stdin
    #[arg(long, value_name = "FILE", requires = "write")]
    content: Option<PathBuf>,
    /// Exit 1 when something would be said, 2 is left to hooks
    #[arg(long)]
    exit_code: bool,
    /// Print one JSON object for each policy
    #[arg(long)]
    json: bool,
}

const LIMIT: usize = 16 << 20;

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let policies = shared(found(context)?);
    let facts = match (&args.event, &args.command, &args.write) {
        (None, None, None) => recorded(args, context)?,
        _ => made(args, context)?,
    };
    let ruling = policy::trace(&policies, facts.clone(), Limits::patient());
    if args.json {
        shown::json_lines(&facts, &ruling, context)?;
    } else {
        shown::text(&policies, &facts, &ruling, context)?;
    }
    let says = ruling.level() > Level::Log;
    Ok(if args.exit_code && says {
        Exit::No
    } else {
        Exit::Done
    })
}

/// Returns the facts of an event that a hook recorded.
fn recorded(args: &Args, context: &Context) -> Result<Vec<Facts>, Failure> {
    let (number, session) = match (args.last, &args.session) {
        (None, None) => {
            return Err(Failure::usage(
                "cannot trace nothing: give --event, --command, --write, --last or --session",
            ));
        }
        (number, session) => (number.unwrap_or(1).max(1), session.as_deref()),
    };
    let moments = Moments::new(&operator(context)?).read(session)?;
    let fault = |reason: &str| {
        let message = format!("cannot trace event {number} from the newest: {reason}");
        Failure::new(Exit::No, message)
    };
    let moment = moments.iter().rev().nth(number - 1);
    let moment = moment.ok_or_else(|| fault("fewer are recorded"))?;
    moment.facts().map_err(|reason| fault(&reason))
}

/// Returns the facts of an event made from the arguments.
fn made(args: &Args, context: &Context) -> Result<Vec<Facts>, Failure> {
    let payload = payload(args, context)?;
    let facts = facts::of(&payload, args.session.as_deref(), context)?;
    if facts.is_empty() {
        let name = payload["hook_event_name"].as_str().unwrap_or_default();
        let message = format!("cannot trace '{name}': no policy can stand on this event");
        return Err(Failure::new(Exit::No, message).hint("git operator policy schema"));
    }
    Ok(facts)
}

fn read(path: &PathBuf, context: &Context) -> Result<Vec<u8>, Failure> {
    if path.as_os_str() == "-" {
        return read_stdin("the event", LIMIT);
    }
    let path = context.cwd()?.join(path);
    fs::read(&path)
        .map_err(|error| Failure::io(format_args!("cannot read '{}'", path.display()), &error))
}

fn payload(args: &Args, context: &Context) -> Result<Value, Failure> {
    if let Some(path) = &args.event {
        let bytes = read(path, context)?;
        return serde_json::from_slice(&bytes)
            .map_err(|error| Failure::new(Exit::No, format!("cannot read the event: {error}")));
    }
    if let Some(line) = &args.command {
        return Ok(json!({
            "hook_event_name": "PreToolUse", "tool_name": args.tool,
            "tool_input": { "command": line },
        }));
    }
    let Some(path) = &args.write else {
        return Err(Failure::usage(
            "cannot trace nothing: give --event, --command or --write",
        ));
    };
    let content = match &args.content {
        Some(file) => read(file, context)?,
        None => fs::read(context.cwd()?.join(path)).unwrap_or_default(),
    };
    Ok(json!({
        "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": {
            "file_path": context.cwd()?.join(path),
            "content": String::from_utf8_lossy(&content),
        },
    }))
}
