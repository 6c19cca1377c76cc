//! Commands by name and arguments.

use super::{Answer, Params, place::Place};
use crate::policy::{
    facts::Facts,
    shell::{self, Argv, Redirection, Shell, Word, git::Invocation},
};

/// Where programs lie that are known by their names alone.
const PROGRAM_DIRECTORIES: [&str; 3] = ["", "/bin/", "/usr/bin/"];

/// Variables that choose what a program runs or where it looks for its parts.
const STEERING: [&str; 12] = [
    "PATH",
    "ENV",
    "BASH_ENV",
    "IFS",
    "PAGER",
    "EDITOR",
    "VISUAL",
    "LESSOPEN",
    "LESSCLOSE",
    "NODE_OPTIONS",
    "PYTHONSTARTUP",
    "PERL5OPT",
];
const STEERING_STARTS: [&str; 10] = [
    "LD_",
    "DYLD_",
    "GIT_CONFIG",
    "GIT_EXEC",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_EXTERNAL",
    "GIT_SSH",
    "GIT_PAGER",
    "GIT_EDITOR",
];

/// A command to look for: a name, and arguments that must be given in this order, others between
/// them or not. `*` stands for any text, `-x` also for a cluster that holds x, `--opt` also for
/// `--opt=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::policy) struct Pattern {
    name: String,
    arguments: Vec<String>,
    text: String,
}

/// Whether a pattern matches, as far as is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    Yes,
    No,
    Unknown,
}

impl Pattern {
    pub(in crate::policy) fn new(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace().map(str::to_owned);
        let name = words
            .next()
            .ok_or_else(|| "a command pattern is empty".to_owned())?;
        if text.contains(['|', ';', '&', '>', '<']) {
            return Err(format!(
                "'{text}' is more than one command; write one pattern for each"
            ));
        }
        Ok(Self {
            name,
            arguments: words.collect(),
            text: text.to_owned(),
        })
    }

    pub(super) fn matches(&self, argv: &Argv) -> Match {
        let Some(first) = argv.words.first() else {
            return Match::No;
        };
        let Some(name) = argv.name() else {
            return if self.name == "*" && first.known {
                Match::Yes
            } else {
                Match::Unknown
            };
        };
        if !self.names(name) && !wild(&self.name, &first.text) {
            return Match::No;
        }
        let mut unknown = false;
        let mut rest = argv.words[1..].iter();
        for wanted in &self.arguments {
            let found = rest.by_ref().any(|word| {
                unknown |= !word.known;
                fits(wanted, word)
            });
            if !found {
                return if unknown { Match::Unknown } else { Match::No };
            }
        }
        Match::Yes
    }

    /// Says whether a program of this name is meant; capitals do not count.
    fn names(&self, name: &str) -> bool {
        let own = shell::base(&self.name).to_lowercase();
        wild(&own, &name.to_lowercase())
    }

    /// Says whether the command is no more than what is written: the program and, before any other
    /// operand, the operands in their order; options may stand anywhere.
    pub(super) fn permits(&self, argv: &Argv, place: &Place) -> Match {
        let Some(first) = argv.words.first() else {
            return Match::No;
        };
        let Some(name) = argv.name() else {
            return Match::Unknown;
        };
        let directory = &first.text[..first.text.rfind(['/', '\\']).map_or(0, |at| at + 1)];
        let is_meant = if self.name.contains('/') {
            wild(&self.name, &first.text)
        } else {
            self.names(name) && PROGRAM_DIRECTORIES.contains(&directory)
        };
        if !is_meant {
            return Match::No;
        }
        match Invocation::new(argv).filter(|_| !self.arguments.is_empty()) {
            Some(git) => match is_plain(&git, argv, place) {
                Match::Yes => self.permits_words(git.words),
                other => other,
            },
            None => self.permits_words(&argv.words[1..]),
        }
    }

    fn permits_words(&self, words: &[Word]) -> Match {
        let mut rest = words.iter();
        for wanted in &self.arguments {
            if wanted.starts_with('-') {
                let options = words.iter().take_while(|word| word.text != "--");
                if options.clone().any(|word| fits(wanted, word)) {
                    continue;
                }
                return known_or(Match::No, options.clone().all(|word| word.known));
            }
            let operand = rest.find(|word| {
                let is_option = word.text.len() > 1 && word.text.starts_with(['-', '+']);
                !is_option || word.text == "--" || !(word.known || word.single)
            });
            match operand {
                Some(word) if fits(wanted, word) => {}
                Some(word) => return known_or(Match::No, word.known),
                None => return Match::No,
            }
        }
        Match::Yes
    }
}

fn known_or(answer: Match, known: bool) -> Match {
    if known { answer } else { Match::Unknown }
}

/// Says whether git runs in the repository, with its own settings and programs.
fn is_plain(git: &Invocation<'_>, argv: &Argv, place: &Place) -> Match {
    if !git.settings.is_empty() || git.exec_path || !git.places.is_empty() {
        return Match::No;
    }
    match git.directory(argv.cwd.as_deref()) {
        Some(directory) if place.is_outside("", &directory) => Match::No,
        Some(_) => Match::Yes,
        None => Match::Unknown,
    }
}

/// Says whether an assignment chooses what programs run.
fn steers(assignment: &Word) -> bool {
    let Some((name, value)) = assignment.text.split_once('=') else {
        return false;
    };
    let is_harmless = name.ends_with("PAGER") && matches!(value, "" | "cat");
    let steers =
        STEERING.contains(&name) || STEERING_STARTS.iter().any(|start| name.starts_with(start));
    steers && !is_harmless
}

/// Returns what a command does beside running its program, for a list of all that may run.
fn beside(argv: &Argv) -> Option<String> {
    if let Some(word) = argv.assignments.iter().find(|word| steers(word)) {
        return Some(format!("'{}' chooses what programs run", word.text));
    }
    let is_device = |text: &str| {
        matches!(
            text,
            "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty"
        ) || text.eq_ignore_ascii_case("$null")
    };
    argv.redirects
        .iter()
        .find(|redirect| redirect.kind != Redirection::Read && !is_device(&redirect.target.text))
        .map(|redirect| format!("'{}' would be written", redirect.target.text))
}

fn fits(wanted: &str, word: &Word) -> bool {
    let text = word.text.as_str();
    if wild(wanted, text) {
        return true;
    }
    if wanted.starts_with("--") {
        return text
            .strip_prefix(wanted)
            .is_some_and(|rest| rest.starts_with('='));
    }
    let mut letters = wanted.chars();
    if let (Some('-'), Some(letter), None) = (letters.next(), letters.next(), letters.next()) {
        return is_cluster(text) && text.contains(letter);
    }
    false
}

/// Says whether a word is several one-letter options, such as `-rf`.
pub(super) fn is_cluster(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|letters| {
        !letters.is_empty() && letters.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

/// Says whether `*` in a pattern can stand for what makes it the text. Linear in both but for the
/// last star's tries.
fn wild(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(first) = parts.next() else {
        return text.is_empty();
    };
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Returns the commands of a shell tool; the answer to give where there are none to look at.
pub(super) fn commands(facts: &Facts) -> Result<Vec<Argv>, Answer> {
    let Some(shell) = facts.tool().and_then(Shell::of_tool) else {
        return Err(Answer::NoMatch("no shell command".to_owned()));
    };
    let Some(line) = facts.data_text("command") else {
        return Err(Answer::Unknown("the command is not known".to_owned()));
    };
    shell::commands(shell, line).map_err(|error| Answer::Unknown(error.to_string()))
}

/// Returns a command as text for a message.
pub(super) fn named(argv: &Argv) -> String {
    let text = argv.texts().join(" ");
    let short: String = text.chars().take(120).collect();
    if short.len() < text.len() {
        format!("'{short}…'")
    } else {
        format!("'{short}'")
    }
}

pub(super) fn command(params: &Params, facts: &Facts) -> Answer {
    let commands = match commands(facts) {
        Ok(commands) => commands,
        Err(answer) => return answer,
    };
    let mut unknown = None;
    let deny = params.commands("deny").unwrap_or_default();
    let only = params.commands("only");
    let place = Place::new(facts, Vec::new());
    for argv in &commands {
        if argv.hidden {
            unknown = Some(named(argv));
        }
        if let Some(reason) = beside(argv).filter(|_| only.is_some()) {
            return Answer::Match(format!("only some commands are allowed: {reason}"));
        }
        if argv.words.is_empty() {
            continue;
        }
        for pattern in deny {
            match pattern.matches(argv) {
                Match::Yes => {
                    return Answer::Match(format!(
                        "{} is not allowed here ('{}')",
                        named(argv),
                        pattern.text
                    ));
                }
                Match::Unknown => unknown = Some(named(argv)),
                Match::No => {}
            }
        }
        let Some(only) = only else {
            continue;
        };
        let results = || only.iter().map(|pattern| pattern.permits(argv, &place));
        if results().any(|result| result == Match::Yes) {
            continue;
        }
        if results().any(|result| result == Match::Unknown) {
            unknown = Some(named(argv));
        } else {
            return Answer::Match(format!("{} is not among the allowed commands", named(argv)));
        }
    }
    match unknown {
        Some(command) => Answer::Unknown(format!("what {command} runs is not known")),
        None => Answer::NoMatch("no command matches".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Match, Pattern, wild};
    use crate::policy::shell::{Shell, commands};

    #[test]
    fn patterns_match_arguments_in_order() {
        for (pattern, line, expected) in [
            ("git push --force", "git push origin --force", Match::Yes),
            ("git push --force", "git -C x push --force=yes", Match::Yes),
            ("git push --force", "git push", Match::No),
            ("git push --force", "echo git push --force", Match::No),
            ("git push --force", "git push --force-with-lease", Match::No),
            ("git push -f", "git push -uf", Match::Yes),
            ("rm -r", "rm -rf x", Match::Yes),
            ("rm -r", "rm --recursive x", Match::No),
            ("rm -r", "/bin/rm -r x", Match::Yes),
            ("rm *.rs", "rm a b.rs", Match::Yes),
            ("npm*", "npm-check x", Match::Yes),
            ("git push", "git $x", Match::Unknown),
            ("git push", "$git push", Match::Unknown),
            ("ls", "git $x", Match::No),
        ] {
            let argv = &commands(Shell::Posix, line).unwrap()[0];
            assert_eq!(
                Pattern::new(pattern).unwrap().matches(argv),
                expected,
                "{pattern}: {line}"
            );
        }
        assert!(Pattern::new("a && b").is_err());
        assert!(Pattern::new(" ").is_err());
    }

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "ab", false),
            ("*a*b*", "xaxbx", true),
            ("a", "ab", false),
            ("*é", "xé", true),
        ] {
            assert_eq!(wild(pattern, text), expected, "{pattern} {text}");
        }
    }
}
