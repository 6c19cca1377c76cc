//! The command line: one file per command, each with its arguments and its `run`.
//!
//! A command parses, calls one operation, and prints. The clap tree in here is the only description of
//! the command line; the reference page and the manual pages are made from it.

mod adopt;
mod agents;
mod bar;
mod completions;
mod compress;
mod decide;
mod defer;
mod demo;
mod desk;
mod doctor;
mod export;
mod gc;
mod handoff;
mod install_man;
mod log;
mod manual;
mod parse;
mod policy;
mod protocol;
mod reconcile;
mod record;
mod recover;
mod redact;
mod relink;
mod render;
mod report;
mod restore;
mod retract;
mod run;
mod show;
mod spec;
mod start;
mod status;
mod sync;
mod task;
mod tiers;
mod uninstall;
mod verdict;
mod verify;
mod work;

pub use manual::{pages, reference};
pub use parse::{Parsed, parse, tree};
pub use protocol::Protocol;

use clap::Subcommand;

use crate::ui::{Context, Exit, Failure};

/// The commands of this module.
#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(visible_alias = "init")]
    Start(start::Args),
    Demo(demo::Args),
    Doctor(doctor::Args),
    Uninstall(uninstall::Args),
    Completions(completions::Args),
    InstallMan(install_man::Args),
    Task(task::Args),
    Run(run::Args),
    Verdict(verdict::Args),
    Defer(defer::Args),
    Adopt(adopt::Args),
    Decide(decide::Args),
    Bar(bar::Args),
    Spec(spec::Args),
    Handoff(handoff::Args),
    Status(status::Args),
    Log(Box<log::Args>),
    Show(show::Args),
    Report(report::Args),
    Export(export::Args),
    Verify(verify::Args),
    Relink(relink::Args),
    Sync(sync::Args),
    Reconcile(reconcile::Args),
    Render(render::Args),
    Retract(retract::Args),
    Redact(redact::Args),
    Gc(gc::Args),
    Work(work::Args),
    Restore(restore::Args),
    Recover(recover::Args),
    Policy(policy::Args),
    Tiers(tiers::Args),
    Agents(agents::Args),
    #[command(hide = true)]
    Compress(compress::Args),
}

/// Runs a command.
pub fn run(command: &Command, context: &Context) -> Result<Exit, Failure> {
    match command {
        Command::Adopt(args) => adopt::run(args, context),
        Command::Bar(args) => bar::run(args, context),
        Command::Decide(args) => decide::run(args, context),
        Command::Defer(args) => defer::run(args, context),
        Command::Reconcile(args) => reconcile::run(args, context),
        Command::Render(args) => render::run(args, context),
        Command::Recover(args) => recover::run(args, context),
        Command::Restore(args) => restore::run(args, context),
        Command::Demo(args) => demo::run(args, context),
        Command::Redact(args) => redact::run(args, context),
        Command::Retract(args) => retract::run(args, context),
        Command::Status(args) => status::run(args, context),
        Command::Task(args) => task::run(args, context),
        Command::Verdict(args) => verdict::run(args, context),
        Command::Agents(args) => agents::run(args, context),
        Command::Compress(args) => compress::run(args, context),
        Command::Completions(args) => completions::run(args, context),
        Command::Export(args) => export::run(args, context),
        Command::Doctor(args) => doctor::run(args, context),
        Command::Gc(args) => gc::run(args, context),
        Command::Handoff(args) => handoff::run(args, context),
        Command::InstallMan(args) => install_man::run(args, context),
        Command::Log(args) => log::run(args, context),
        Command::Policy(args) => policy::run(args, context),
        Command::Relink(args) => relink::run(args, context),
        Command::Report(args) => report::run(args, context),
        Command::Run(args) => run::run(args, context),
        Command::Show(args) => show::run(args, context),
        Command::Spec(args) => spec::run(args, context),
        Command::Start(args) => start::run(args, context),
        Command::Sync(args) => sync::run(args, context),
        Command::Tiers(args) => tiers::run(args, context),
        Command::Uninstall(args) => uninstall::run(args, context),
        Command::Verify(args) => verify::run(args, context),
        Command::Work(args) => work::run(args, context),
    }
}
