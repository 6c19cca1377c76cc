use clap::Subcommand;

use super::tiers::{places, top};
use crate::{
    git::files::Tree,
    setup::{
        agents::{self, Agent, State},
        tiers::load,
    },
    ui::{Align, Context, Exit, Failure, Table},
};

/// Bind the seats of the plugin to the models of the tiers
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Render(Render),
}

/// Write the seats as agents of the project
///
/// Writes `.claude/agents/op-SEAT.md` for every seat, with the model its tier resolves to. A file that
/// was not written by this command is never replaced or removed. Takes effect in the next session.
#[derive(Debug, clap::Args)]
struct Render {
    /// Bind a tier or a seat for this run, as JUDGMENT=model or scout=JUDGMENT; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Print each seat with its tier, model and state, and write nothing
    #[arg(long)]
    show: bool,
    /// Exit 1 where a file is not what would be written
    #[arg(long, conflicts_with = "show")]
    check: bool,
    /// Remove what this command wrote
    #[arg(long, conflicts_with_all = ["show", "check", "set"])]
    revert: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let Action::Render(args) = &args.action;
    let tree = Tree::open(&top(context)?).map_err(agents::Error::from)?;
    if args.revert {
        for path in agents::revert(&tree)? {
            context.ui.line(format!("removed {path}"))?;
        }
        return Ok(Exit::Done);
    }
    let tiers = load(&places(context)?, &args.set)?;
    if args.show || args.check {
        let agents = agents::list(&tree, &tiers)?;
        print(&agents, context)?;
        let current = agents.iter().all(|agent| agent.state == State::Current);
        return Ok(if args.check && !current {
            Exit::No
        } else {
            Exit::Done
        });
    }
    for agent in agents::render(&tree, &tiers)? {
        let verb = match agent.state {
            State::Current => "kept",
            State::Missing => "created",
            State::Stale | State::Unmarked => "updated",
        };
        context
            .ui
            .line(format!("{verb} {}: {}", agent.path, agent.model.as_str()))?;
    }
    if let Some(model) = context.env().text("CLAUDE_CODE_SUBAGENT_MODEL") {
        context.ui.warn(format!(
            "CLAUDE_CODE_SUBAGENT_MODEL is '{model}' and overrides the model of every agent"
        ));
    }
    context
        .ui
        .note("the client reads agents when a session starts");
    Ok(Exit::Done)
}

fn print(agents: &[Agent], context: &Context) -> Result<(), Failure> {
    let mut table = Table::new(&[Align::Left; 4]);
    for agent in agents {
        let state = match agent.state {
            State::Missing => "missing",
            State::Current => "current",
            State::Stale => "stale",
            State::Unmarked => "not ours",
        };
        table.row([
            agent.seat.name,
            agent.tier.name(),
            agent.model.as_str(),
            state,
        ]);
    }
    for line in table.lines(None) {
        context.ui.line(line)?;
    }
    Ok(())
}
