use std::{fs, path::PathBuf, sync::Arc};

use serde_json::{Value, json};

use super::{found, shared};
use crate::{
    policy::{self, Facts, Level, Limits, Outcome, Policies, Ruling, Shared, Verdict},
    rules::{self, Bytes, Hook},
    ui::{Context, Exit, Failure, printable, read_stdin},
};

/// Judge an event and show the value of every part of every condition
///
/// Nothing is refused, put back or recorded. The event is a hook's payload (`--event`, `-` for stdin), or
/// is made from a command or a file.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A hook's payload as JSON; `-` reads stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "write"])]
    event: Option<PathBuf>,
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
    let payload = payload(args, context)?;
    let name = payload["hook_event_name"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let policies = shared(found(context)?);
    let facts = facts(&name, &payload, context)?;
    if facts.is_empty() {
        let message = format!("cannot trace '{name}': no policy can stand on this event");
        return Err(Failure::new(Exit::No, message).hint("git operator policy schema"));
    }
    let ruling = policy::trace(&policies, facts, Limits::patient());
    if args.json {
        json_lines(&ruling, context)?;
    } else {
        text(&policies, &ruling, context)?;
    }
    let says = ruling.level() > Level::Log;
    Ok(if args.exit_code && says {
        Exit::No
    } else {
        Exit::Done
    })
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

fn facts(name: &str, payload: &Value, context: &Context) -> Result<Vec<Facts>, Failure> {
    let top = context
        .location()?
        .and_then(|location| location.top.clone());
    let hook = Hook {
        name,
        payload,
        around: json!({ "root": top }),
        shared: Shared::none(),
        changes: Vec::new(),
        blocks: 0,
    };
    let cwd = context.cwd()?.to_owned();
    let place = |named: &str| rules::below(top.as_deref(), &cwd, named);
    let read = |path: &str| match &top {
        Some(top) => rules::bytes(top, path),
        None => Bytes::Unknown,
    };
    Ok(rules::events(&hook, &place, &read)?)
}

fn text(policies: &Arc<Policies>, ruling: &Ruling, context: &Context) -> Result<(), Failure> {
    let mut event = String::new();
    for outcome in &ruling.outcomes {
        let path = outcome.path.as_deref().unwrap_or_default();
        let head = format!("event   {} {path}", outcome.event);
        if head != event {
            context.ui.line(printable(head.trim_end()))?;
            event = head;
        }
        print(outcome, context)?;
    }
    for broken in policies.broken() {
        let line = format!("ERROR   {}", broken.fault);
        context.ui.line(printable(&line))?;
    }
    let restores = ruling.restores();
    if !restores.is_empty() {
        let line = format!("restore would put back {}", restores.join(", "));
        context.ui.line(printable(&line))?;
    }
    context.ui.line(format!("answer  {}", ruling.level()))
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome.verdict {
        Verdict::Match => match outcome.level {
            Level::Block => "BLOCK",
            Level::Ask => "ASK",
            Level::Warn => "WARN",
            Level::Context => "CONTEXT",
            Level::Log => "LOG",
            Level::Nothing => "match",
        },
        Verdict::Pass(_) => "pass",
        Verdict::Skip(_) => "skip",
        Verdict::Unknown(_) => "unknown",
        Verdict::Error(_) => "ERROR",
    }
}

fn reason(outcome: &Outcome) -> &str {
    match &outcome.verdict {
        Verdict::Match => "",
        Verdict::Pass(reason)
        | Verdict::Skip(reason)
        | Verdict::Unknown(reason)
        | Verdict::Error(reason) => reason,
    }
}

fn print(outcome: &Outcome, context: &Context) -> Result<(), Failure> {
    let head = format!(
        "{:7} {}  {}  {:.2} ms",
        word(outcome),
        outcome.policy,
        outcome.place,
        outcome.micros as f64 / 1_000.0
    );
    context.ui.line(printable(&head))?;
    if outcome.detail.is_empty() && !reason(outcome).is_empty() {
        let line = format!("          {}", reason(outcome));
        context.ui.line(printable(&line))?;
    }
    for line in &outcome.detail {
        context.ui.line(printable(&format!("          {line}")))?;
    }
    if let Some(paths) = &outcome.restore {
        let what = match paths.as_slice() {
            [] => "nothing to put back".to_owned(),
            paths => format!("would put back {}", paths.join(", ")),
        };
        context
            .ui
            .line(printable(&format!("          restore  {what}")))?;
    }
    for (level, text) in &outcome.texts {
        let text = text.replace('\n', "\n                   ");
        let line = format!("          {level:8} {text}");
        context.ui.line(printable(&line))?;
    }
    Ok(())
}

fn json_lines(ruling: &Ruling, context: &Context) -> Result<(), Failure> {
    for outcome in &ruling.outcomes {
        let texts: Vec<&str> = outcome
            .texts
            .iter()
            .map(|(_, text)| text.as_str())
            .collect();
        context.ui.json(
            "outcome",
            json!({
                "policy": outcome.policy, "place": outcome.place, "event": outcome.event.as_str(),
                "path": outcome.path, "verdict": word(outcome).to_lowercase(),
                "reason": reason(outcome), "level": outcome.level.as_str(), "texts": texts,
                "restore": outcome.restore, "parts": outcome.detail, "micros": outcome.micros,
            }),
        )?;
    }
    context.ui.json(
        "answer",
        json!({ "level": ruling.level().as_str(), "restore": ruling.restores() }),
    )
}
