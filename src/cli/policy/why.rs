use serde_json::json;

use super::{found, log};
use crate::{
    model::time,
    rules::Decision,
    ui::{Align, Context, Exit, Failure, Table, printable},
};

/// Tell why policies decided as they did
///
/// Without an id the last decisions are listed, the newest first.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The decision, or the beginning of its id
    #[arg(value_name = "DECISION")]
    id: Option<String>,
    /// How many to list
    #[arg(short = 'n', value_name = "N", default_value_t = 10)]
    count: usize,
    /// Print JSON objects
    #[arg(long)]
    json: bool,
}

/// Count what each policy did in this clone
#[derive(Debug, clap::Args)]
pub(super) struct StatsArgs {
    /// Print one JSON object for each policy
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let decisions = log(context)?.read()?;
    let matching: Vec<&Decision> = match &args.id {
        Some(id) => {
            let starts = |decision: &&Decision| decision.id.starts_with(id.as_str());
            decisions.iter().filter(starts).collect()
        }
        None => decisions.iter().rev().take(args.count).collect(),
    };
    if matching.is_empty() {
        let message = match &args.id {
            Some(id) => format!("cannot tell about '{id}': no such decision is recorded"),
            None => "nothing was decided in this clone yet".to_owned(),
        };
        return Err(Failure::new(Exit::No, message));
    }
    for decision in matching {
        if args.json {
            let members = serde_json::to_value(decision).unwrap_or_default();
            context.ui.json("decision", members)?;
        } else if args.id.is_some() {
            context.ui.print(printable(&whole(decision)))?;
        } else {
            context.ui.line(printable(&line(decision)))?;
        }
    }
    Ok(Exit::Done)
}

fn line(decision: &Decision) -> String {
    let ids: Vec<&str> = decision
        .policies
        .iter()
        .map(|said| said.policy.as_str())
        .collect();
    format!(
        "{} {} {:7} {} {} {}",
        decision.id,
        time::format_time(decision.time),
        decision.level,
        decision.event,
        decision
            .path
            .as_deref()
            .or(decision.tool.as_deref())
            .unwrap_or("-"),
        ids.join(","),
    )
}

fn whole(decision: &Decision) -> String {
    let mut out = format!("{}\n", line(decision));
    if let Some(session) = &decision.session {
        out.push_str(&format!("session  {session}\n"));
    }
    for said in &decision.policies {
        let error = said.error.as_ref().map(|error| format!("  error: {error}"));
        out.push_str(&format!(
            "{:8} {}  {}  {} µs{}\n",
            said.level,
            said.policy,
            said.place,
            said.micros,
            error.unwrap_or_default()
        ));
    }
    if !decision.restored.is_empty() {
        out.push_str(&format!("restored {}\n", decision.restored.join(", ")));
    }
    out.push_str(&format!("\n{}\n", decision.reason));
    out
}

pub(super) fn stats(args: &StatsArgs, context: &Context) -> Result<Exit, Failure> {
    let mut stats = log(context)?.stats()?;
    for policy in found(context)?.policies.list() {
        stats.entry(policy.id.clone()).or_default();
    }
    let mut columns = vec![Align::Left];
    columns.extend([Align::Right; 4]);
    columns.push(Align::Left);
    let mut table = Table::new(&columns);
    table.row(["policy", "fired", "blocked", "errors", "µs", "last"]);
    for (policy, stat) in &stats {
        if args.json {
            context.ui.json(
                "stat",
                json!({
                    "policy": policy, "fired": stat.fired, "blocked": stat.blocked,
                    "errors": stat.errors, "micros": stat.micros, "last": stat.last,
                }),
            )?;
        }
        let last = stat
            .last
            .map_or_else(|| "never".to_owned(), time::format_time);
        table.row([
            policy.clone(),
            stat.fired.to_string(),
            stat.blocked.to_string(),
            stat.errors.to_string(),
            stat.micros
                .map_or_else(|| "-".to_owned(), |micros| micros.to_string()),
            last,
        ]);
    }
    if !args.json {
        for line in table.lines(context.columns()) {
            context.ui.line(printable(&line))?;
        }
    }
    Ok(Exit::Done)
}
