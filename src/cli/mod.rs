//! The command line: one file per command, each with its arguments and its `run`.
//!
//! A command parses, calls one operation, and prints. The clap tree in here is the only description of
//! the command line; the reference page and the manual pages are made from it.

mod completions;
mod install_man;
mod manual;
mod parse;
mod protocol;
mod start;
mod uninstall;

pub use manual::{pages, reference};
pub use parse::{Parsed, parse, tree};
pub use protocol::Protocol;

use clap::Subcommand;

use crate::ui::{Context, Exit, Failure};

/// The commands of this module.
#[derive(Debug, Subcommand)]
pub enum Command {
    Completions(completions::Args),
    InstallMan(install_man::Args),
    #[command(visible_alias = "init")]
    Start(start::Args),
    Uninstall(uninstall::Args),
}

/// Runs a command.
pub fn run(command: &Command, context: &Context) -> Result<Exit, Failure> {
    match command {
        Command::Completions(args) => completions::run(args, context),
        Command::InstallMan(args) => install_man::run(args, context),
        Command::Start(args) => start::run(args, context),
        Command::Uninstall(args) => uninstall::run(args, context),
    }
}
