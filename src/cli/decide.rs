use super::desk::{Desk, OwnerArg};
use crate::{
    gate::{self, NewDecision},
    model::{Body, DecisionKind, Text},
    ui::{Context, Exit, Failure},
};

/// Record a decision
///
/// A DEVIATION, ESCALATION or GATE-EXCEPTION holds the session's Stop back until `handoff --mark` says
/// that people were shown it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// DECISION, DEVIATION, ESCALATION or GATE-EXCEPTION
    #[arg(value_parser = kind)]
    kind: DecisionKind,

    /// What was decided
    #[arg(allow_hyphen_values = true)]
    what: String,

    /// Why
    #[arg(long, allow_hyphen_values = true)]
    why: String,

    /// What it is about: a task, a part of the project
    #[arg(
        long,
        value_name = "NAME",
        default_value = "-",
        hide_default_value = true
    )]
    scope: String,

    #[command(flatten)]
    owner: OwnerArg,

    /// Print the record as JSON
    #[arg(long)]
    json: bool,
}

fn kind(text: &str) -> Result<DecisionKind, &'static str> {
    match DecisionKind::parse(&text.to_ascii_uppercase()) {
        Some(
            kind @ (DecisionKind::Decision
            | DecisionKind::Deviation
            | DecisionKind::Escalation
            | DecisionKind::GateException),
        ) => Ok(kind),
        Some(DecisionKind::DeferredVerdict) => Err("'git operator defer' records it"),
        Some(DecisionKind::HandoffMark) => Err("'git operator handoff --mark' records it"),
        Some(DecisionKind::SpecApproved) => Err("'git operator spec approve' records it"),
        None => Err("expected DECISION, DEVIATION, ESCALATION or GATE-EXCEPTION"),
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let desk = Desk::open(context, args.owner.owner.as_deref())?;
    let scope = Text::new("scope", &args.scope)?;
    let new = NewDecision {
        kind: args.kind,
        scope: scope.as_str().to_owned(),
        what: Text::new("decision", &args.what)?,
        why: Text::new("reason", &args.why)?,
        owner: desk.owner.clone(),
    };
    let record = gate::decide(&desk.gate(), new)?;
    if let Body::Decision(decision) = &record.body {
        let text = format!(
            "{} {}: {}",
            decision.decision, decision.scope, decision.what
        );
        desk.report(&record, &text)?;
    }
    Ok(Exit::Done)
}
