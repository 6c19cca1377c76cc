use std::{ffi::OsString, path::PathBuf};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, error::ErrorKind};

use super::{Command, Protocol};
use crate::ui::{Codes, ColorChoice, Exit, Format, Options, Paging, Talk};

/// The program's name; git finds it as `git operator`.
pub(super) const NAME: &str = "git-operator";

/// Evidence for work done by AI agents, kept in git
///
/// A task is open until a verdict with its evidence, or a deferral, closes it. Records lie in the
/// repository, at refs/operator/ledger; a Claude Code session cannot end while its tasks are open.
#[derive(Debug, Parser)]
#[command(name = NAME, version)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Any,
}

const EXITS: &str = "\
Exit codes:
    0  done; yes
    1  the answer is no: refused and nothing written, nothing found, a check failed
    2  a Claude Code hook blocks (nothing else)
    3  integrity violation
    4  cannot decide
    5  nothing was checked
  128  fatal: environment, repository, input or output
  129  usage";

#[derive(Debug, Subcommand)]
enum Any {
    #[command(flatten)]
    Own(Command),
    #[command(flatten)]
    Protocol(Protocol),
}

#[derive(Debug, clap::Args)]
struct Global {
    /// Run as if started in DIR; each further -C is relative to the one before
    #[arg(short = 'C', value_name = "DIR")]
    directory: Vec<PathBuf>,

    /// Use this repository, as GIT_DIR does
    #[arg(long, value_name = "PATH")]
    git_dir: Option<PathBuf>,

    /// Do not send output through a pager
    #[arg(long)]
    no_pager: bool,

    /// When to color: auto, always or never
    #[arg(long, value_name = "WHEN", global = true, num_args = 0..=1, require_equals = true, default_missing_value = "always", hide_possible_values = true)]
    color: Option<ColorChoice>,

    /// Say nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,

    /// Say what is done and why
    #[arg(short, long, global = true)]
    verbose: bool,

    /// Exit as the predecessor's scripts did
    #[arg(long, global = true, hide = true)]
    compat: bool,
}

/// What the command line asks for.
pub enum Parsed {
    Own(Options, Command),
    Protocol(Options, Protocol),
    /// Help or the version, for stdout.
    Text(String),
    /// The command line is wrong: why, and how to end.
    Wrong(String, Exit),
}

/// Returns the description of the command line.
pub fn tree() -> clap::Command {
    let tree = Cli::command();
    let width = tree.get_subcommands().map(|c| c.get_name().len()).max();
    let hidden: Vec<String> = tree
        .get_subcommands()
        .filter(|command| command.is_hide_set())
        .map(|command| {
            let about = command.get_about().map(ToString::to_string);
            format!(
                "  {:<2$}  {}",
                command.get_name(),
                about.unwrap_or_default(),
                width.unwrap_or(0)
            )
        })
        .collect();
    let after = format!(
        "Called by other programs:\n{}\n\n{EXITS}",
        hidden.join("\n")
    );
    tree.after_long_help(after)
}

/// Reads a command line; the first of `args` is the program itself.
pub fn parse(args: &[OsString]) -> Parsed {
    let parsed = tree()
        .try_get_matches_from(args)
        .and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, format_of(&matches))));
    match parsed {
        Ok((cli, format)) => {
            let options = cli.global.options(format);
            match cli.command {
                Any::Own(command) => Parsed::Own(options, command),
                Any::Protocol(protocol) => Parsed::Protocol(options, protocol),
            }
        }
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                Parsed::Text(error.render().to_string())
            }
            _ => Parsed::Wrong(error.render().to_string(), misuse(args)),
        },
    }
}

impl Global {
    fn options(self, format: Format) -> Options {
        Options {
            directories: self.directory,
            git_dir: self.git_dir,
            paging: match self.no_pager {
                true => Paging::Never,
                false => Paging::Auto,
            },
            color: self.color,
            format,
            talk: match (self.quiet, self.verbose) {
                (true, _) => Talk::Quiet,
                (false, true) => Talk::Verbose,
                (false, false) => Talk::Normal,
            },
            codes: match self.compat {
                true => Codes::Predecessors,
                false => Codes::Ours,
            },
        }
    }
}

/// Whether the innermost command that knows `--json` was given it.
fn format_of(matches: &clap::ArgMatches) -> Format {
    let mut inner = matches.subcommand();
    while let Some((_, matches)) = inner {
        if let Ok(Some(true)) = matches.try_get_one::<bool>("json") {
            return Format::Json;
        }
        inner = matches.subcommand();
    }
    Format::Text
}

/// How a command line that makes no sense ends: callers of some protocols act on the code.
fn misuse(args: &[OsString]) -> Exit {
    let mut words = args.iter().skip(1);
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("-C" | "--git-dir") => _ = words.next(),
            Some("merge-driver") => return Exit::No,
            Some("git-hook" | "statusline") => return Exit::Done,
            Some(option) if option.starts_with('-') => {}
            _ => break,
        }
    }
    let mut options = args.iter().skip(1).take_while(|word| *word != "--");
    match options.any(|word| word == "--compat") {
        true => Exit::Block,
        false => Exit::Usage,
    }
}
