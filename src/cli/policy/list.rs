use serde_json::json;

use super::{found, pauses};
use crate::{
    model::time,
    policy::{Mode, Policy, manual},
    ui::{Align, Context, Exit, Failure, Table, printable},
};

/// List the policies, and the files among them that are none
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print one JSON object for each policy and each file left aside
    #[arg(long)]
    json: bool,
}

/// Tell in words what a policy does
#[derive(Debug, clap::Args)]
pub(super) struct ExplainArgs {
    /// The policy's id
    #[arg(value_name = "ID")]
    id: String,
}

fn mode(policy: &Policy) -> &'static str {
    match (policy.enabled, policy.mode) {
        (false, _) => "off",
        (true, Mode::Enforce) => "enforce",
        (true, Mode::Warn) => "warn",
        (true, Mode::Audit) => "audit",
    }
}

fn joined(words: impl IntoIterator<Item = impl ToString>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| word.to_string()).collect();
    words.join(",")
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let found = found(context)?;
    if args.json {
        return json_list(&found, context);
    }
    let columns = [Align::Left; 6];
    let mut table = Table::new(&columns);
    for policy in found.policies.list() {
        table.row([
            policy.id.clone(),
            policy.scope.as_str().to_owned(),
            mode(policy).to_owned(),
            joined(&policy.on),
            joined(policy.actions()),
            policy.place.to_string(),
        ]);
    }
    for line in table.lines(context.columns()) {
        context.ui.line(printable(&line))?;
    }
    for broken in found.policies.broken() {
        context.ui.warn(&broken.fault);
    }
    for ignored in &found.ignored {
        context
            .ui
            .note(format!("left aside: {}: {}", ignored.path, ignored.reason));
    }
    let now = context.clock()?.wall_ms();
    if let Some(pause) = pauses(context).ok().and_then(|pauses| pauses.current(now)) {
        context.ui.warn(format!(
            "policies are paused until {}: {}",
            time::format_time(pause.until),
            pause.reason
        ));
    }
    Ok(Exit::Done)
}

fn json_list(found: &crate::rules::Found, context: &Context) -> Result<Exit, Failure> {
    for policy in found.policies.list() {
        let events: Vec<&str> = policy.on.iter().map(|event| event.as_str()).collect();
        let actions: Vec<&str> = policy
            .actions()
            .iter()
            .map(|action| action.as_str())
            .collect();
        context.ui.json(
            "policy",
            json!({
                "id": policy.id,
                "scope": policy.scope.as_str(),
                "mode": mode(policy),
                "on": events,
                "then": actions,
                "file": policy.place.source.path,
                "line": policy.place.line(),
                "stale": policy.is_stale,
            }),
        )?;
    }
    for ignored in &found.ignored {
        context.ui.json(
            "ignored",
            json!({ "file": ignored.path, "reason": ignored.reason }),
        )?;
    }
    Ok(Exit::Done)
}

pub(super) fn explain(args: &ExplainArgs, context: &Context) -> Result<Exit, Failure> {
    let found = found(context)?;
    let policy = found
        .policies
        .list()
        .iter()
        .find(|policy| policy.id == args.id);
    match policy {
        Some(policy) => {
            context.ui.print(printable(&manual::explain(policy)))?;
            Ok(Exit::Done)
        }
        None => Err(Failure::new(
            Exit::No,
            format!("cannot explain '{}': there is no such policy", args.id),
        )
        .hint("git operator policy list")),
    }
}
