//! Shell command lines, taken apart and never run: the commands in one with their arguments, and the
//! files it names as targets. What cannot be taken apart is said to be so, never guessed.
//!
//! A parser of our own, with a bound on depth and a cost linear in the input; the decision record on
//! it says what the crates do instead.

pub mod git;
mod input;
pub mod options;
mod parse;
mod powershell;
mod programs;
mod runs;
mod word;
mod wrap;

use options::{Order, Syntax};
pub use runs::innermost;
use thiserror::Error;

/// The longest command line that is looked at.
const LENGTH_LIMIT: usize = 256 * 1024;
/// The most commands one line may hold.
const COMMAND_LIMIT: usize = 4_000;
/// The most bytes that the scripts in one line, such as those of `sh -c`, may have together with it.
const SCRIPTS_LIMIT: usize = 1024 * 1024;
/// How deep substitutions, subshells and `sh -c` may nest.
const DEPTH_LIMIT: usize = 24;

/// The shell a command line is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    Posix,
    PowerShell,
}

impl Shell {
    /// Returns the shell that the tool named `tool` runs; `None` when it runs none.
    pub fn of_tool(tool: &str) -> Option<Self> {
        match tool {
            "Bash" => Some(Self::Posix),
            "PowerShell" => Some(Self::PowerShell),
            _ => None,
        }
    }
}

/// One word of a command after quotes were taken off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// The text; expansions stand in it as they were written.
    pub text: String,
    /// Whether the program gets exactly this text: no expansion, pattern or brace list in it.
    pub known: bool,
    /// Whether the program gets one word, whatever the expansions in it come to.
    pub single: bool,
}

impl Word {
    /// Returns a word that says `text` and nothing else.
    pub(in crate::policy) fn plain(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            known: true,
            single: true,
        }
    }
}

/// What a redirection does to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redirection {
    Read,
    Write,
    Append,
}

/// A redirection to or from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    pub kind: Redirection,
    pub target: Word,
}

/// One simple command: `A=b name arguments > target`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Argv {
    /// The assignments before the name, as written.
    pub assignments: Vec<Word>,
    /// The name and the arguments; empty for bare assignments and for redirections of a group.
    pub words: Vec<Word>,
    pub redirects: Vec<Redirect>,
    /// Where it runs, relative to where the line starts (`""`); `None` when not known.
    pub cwd: Option<String>,
    /// What it reads, where the line tells: a here-document, a here-string, the output of `echo`.
    pub stdin: Option<Word>,
    /// Whether it runs commands that the line does not tell, such as a script that is downloaded.
    pub hidden: bool,
}

impl Argv {
    /// Returns the name of the program without its directory and `.exe`, if it is known.
    pub fn name(&self) -> Option<&str> {
        let first = self.words.first().filter(|word| word.known)?;
        Some(base(&first.text))
    }

    /// Says whether it runs the program `name`; capitals do not count, as on some file systems.
    pub fn is(&self, name: &str) -> bool {
        self.name()
            .is_some_and(|own| own.eq_ignore_ascii_case(name))
    }

    /// Returns the texts of the name and the arguments.
    pub fn texts(&self) -> Vec<&str> {
        self.words.iter().map(|word| word.text.as_str()).collect()
    }
}

/// A file that a command line names as the target of its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The path as the shell would take it from where the line starts.
    pub path: String,
    pub append: bool,
}

/// Why a command line was not taken apart.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum Unparsed {
    #[error("the command is longer than {LENGTH_LIMIT} bytes")]
    TooLong,
    #[error("the command nests deeper than {DEPTH_LIMIT} levels")]
    TooDeep,
    #[error("the line holds more than {COMMAND_LIMIT} commands")]
    TooMany,
    #[error("the scripts in the command are longer than {SCRIPTS_LIMIT} bytes")]
    TooLarge,
    #[error("{0} is not closed")]
    Unclosed(&'static str),
    #[error("'{0}' is not expected here")]
    Unexpected(char),
}

/// Returns every command in `line`, in the order written: those of lists, pipelines, groups and
/// substitutions, and those that `sudo`, `env`, `timeout`, `xargs`, `sh -c` and their like would run.
pub fn commands(shell: Shell, line: &str) -> Result<Vec<Argv>, Unparsed> {
    if line.len() > LENGTH_LIMIT {
        return Err(Unparsed::TooLong);
    }
    wrap::commands(shell, line)
}

/// Returns the files named as targets of `>`, `>>`, `>|`, `&>` and `tee` (for PowerShell `>`, `>>`,
/// `Tee-Object`, `Out-File`) whose names are known; nothing for a line that cannot be taken apart.
pub fn writes(shell: Shell, line: &str) -> Vec<Target> {
    commands(shell, line).map_or_else(|_| Vec::new(), |found| targets(&found))
}

/// Returns the files that `commands` name as targets.
pub fn targets(commands: &[Argv]) -> Vec<Target> {
    let mut found: Vec<Target> = Vec::new();
    for argv in commands {
        for target in argv_targets(argv) {
            if !found.contains(&target) {
                found.push(target);
            }
        }
    }
    found
}

fn argv_targets(argv: &Argv) -> Vec<Target> {
    let Some(cwd) = &argv.cwd else {
        return Vec::new();
    };
    outputs(argv)
        .into_iter()
        .filter_map(|(word, append)| target(cwd, word, append))
        .collect()
}

/// Returns the words that name where the output of a command goes, known or not, and whether it is
/// added to what is there.
pub fn outputs(argv: &Argv) -> Vec<(&Word, bool)> {
    let mut found = Vec::new();
    for redirect in &argv.redirects {
        match redirect.kind {
            Redirection::Read => {}
            Redirection::Write => found.push((&redirect.target, false)),
            Redirection::Append => found.push((&redirect.target, true)),
        }
    }
    if argv.is("tee") {
        let arguments = Syntax::default().read(&argv.words[1..], Order::Permute);
        let append = arguments.has("append", Some('a'));
        found.extend(arguments.operands.into_iter().map(|word| (word, append)));
    }
    found
}

fn target(cwd: &str, word: &Word, append: bool) -> Option<Target> {
    if !word.known || word.text.is_empty() || word.text.starts_with("/dev/") {
        return None;
    }
    let path = join(cwd, &word.text);
    Some(Target { path, append })
}

/// Returns the name of a program without its directory and without what Windows adds to it.
pub(in crate::policy) fn base(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let Some(at) = name.len().checked_sub(4).filter(|at| *at > 0) else {
        return name;
    };
    let is_added = name
        .get(at..)
        .is_some_and(|end| end.eq_ignore_ascii_case(".exe") || end.eq_ignore_ascii_case(".cmd"));
    if is_added { &name[..at] } else { name }
}

/// Returns `path` as seen from where the line starts, for a command that runs in `cwd`.
pub(in crate::policy) fn join(cwd: &str, path: &str) -> String {
    if cwd.is_empty() || path.starts_with('/') || path.starts_with('~') {
        path.to_owned()
    } else {
        format!("{}/{path}", cwd.trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests;
