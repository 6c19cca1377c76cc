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

/// What people come for, and the commands that do it. Every command of the help is in one of them.
const GROUPS: [(&str, &[&str]); 7] = [
    (
        "Set a project up",
        &[
            "start",
            "demo",
            "doctor",
            "uninstall",
            "completions",
            "install-man",
        ],
    ),
    (
        "Work under the gate",
        &[
            "task", "run", "verdict", "defer", "adopt", "decide", "bar", "spec", "handoff",
        ],
    ),
    (
        "Read the ledger",
        &["status", "log", "show", "report", "export"],
    ),
    ("Judge a commit", &["verify", "relink"]),
    (
        "Share the ledger and keep it whole",
        &["sync", "reconcile", "render", "retract", "redact", "gc"],
    ),
    (
        "See and undo what a session changed",
        &["work", "restore", "recover"],
    ),
    ("Rules and models", &["policy", "tiers", "agents"]),
];

#[derive(Debug, Subcommand)]
enum Any {
    #[command(flatten)]
    Own(Command),
    #[command(flatten)]
    Protocol(Protocol),
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options of every command")]
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
#[derive(Debug)]
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
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}Options:\n{{options}}{{after-help}}",
        groups(&tree, width.unwrap_or(0))
    );
    tree.after_long_help(after).help_template(template)
}

/// Returns the commands of each group, a line each.
fn groups(tree: &clap::Command, width: usize) -> String {
    let mut text = String::new();
    for (title, names) in GROUPS {
        text.push_str(&format!("{title}:\n"));
        for command in names.iter().filter_map(|name| tree.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string);
            let about = about.unwrap_or_default();
            text.push_str(&format!("  {:<width$}  {about}\n", command.get_name()));
        }
        text.push('\n');
    }
    text
}

/// Reads a command line; the first of `args` is the program itself.
pub fn parse(args: &[OsString]) -> Parsed {
    match protocol(args) {
        Some(protocol) => Parsed::Protocol(Options::default(), protocol),
        None => parse_any(args),
    }
}

/// Reads the command line of another program that gives no option, without describing every other
/// command first: hooks run at each call of a tool.
fn protocol(args: &[OsString]) -> Option<Protocol> {
    let [_, name, words @ ..] = args else {
        return None;
    };
    let is_option = |word: &OsString| {
        let bytes = word.as_encoded_bytes();
        bytes.is_empty() || bytes.starts_with(b"-")
    };
    if words.iter().any(is_option) {
        return None;
    }
    Some(match (name.to_str()?, words) {
        ("hook", []) => Protocol::Hook { event: None },
        ("hook", [event]) => Protocol::Hook {
            event: Some(event.to_str()?.to_owned()),
        },
        ("statusline", _) => Protocol::Statusline {
            ignored: words.to_vec(),
        },
        ("git-hook", [name, args @ ..]) => Protocol::GitHook {
            name: name.to_str()?.to_owned(),
            args: args.to_vec(),
        },
        ("merge-driver", _) => Protocol::MergeDriver {
            files: words.to_vec(),
        },
        _ => return None,
    })
}

fn parse_any(args: &[OsString]) -> Parsed {
    // Only help is written as the groups ask; it is an error to clap.
    let parsed = Cli::command()
        .try_get_matches_from(args)
        .or_else(|_| tree().try_get_matches_from(args))
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
            _ => Parsed::Wrong(plain(&error.render().to_string()), misuse(args)),
        },
    }
}

/// Puts what Rust says of a number into words for people.
fn plain(text: &str) -> String {
    text.replace("invalid digit found in string", "expected a number")
        .replace(
            "number too large to fit in target type",
            "too large a number",
        )
        .replace(
            "cannot parse integer from empty string",
            "expected a number",
        )
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

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{Parsed, parse_any, protocol};
    use crate::ui::Options;

    fn args(line: &str) -> Vec<OsString> {
        let words = line.split(' ').map(OsString::from);
        std::iter::once("git-operator".into())
            .chain(words)
            .collect()
    }

    #[test]
    fn what_another_program_calls_is_read_as_every_command_is() {
        for line in [
            "hook",
            "hook Stop",
            "hook help",
            "statusline",
            "statusline a b",
            "git-hook post-commit",
            "git-hook pre-push origin /a/b.git",
            "git-hook help",
            "merge-driver",
            "merge-driver a b c 7 VERDICTS.md",
        ] {
            let quick = Parsed::Protocol(Options::default(), protocol(&args(line)).unwrap());
            let whole = parse_any(&args(line));
            assert_eq!(format!("{quick:?}"), format!("{whole:?}"), "{line}");
        }
    }

    #[test]
    fn options_and_mistakes_are_left_to_the_whole_description() {
        for line in [
            "hook Stop x",
            "hook --help",
            "hook -q Stop",
            "hook ",
            "-C x hook Stop",
            "git-hook",
            "git-hook post-commit -- a",
            "merge-driver -h",
            "status",
        ] {
            assert!(protocol(&args(line)).is_none(), "{line}");
        }
        assert!(protocol(&args("")[..1]).is_none());
    }
}
