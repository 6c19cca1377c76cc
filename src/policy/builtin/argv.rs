//! Commands by name and arguments.

use super::{Answer, Params};
use crate::policy::{
    facts::Facts,
    shell::{self, Argv, Shell, Word},
};

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
        if !wild(&self.name, name) && !wild(&self.name, &first.text) {
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
    for argv in commands.iter().filter(|argv| !argv.words.is_empty()) {
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
        let Some(only) = params.commands("only") else {
            continue;
        };
        let results: Vec<Match> = only.iter().map(|pattern| pattern.matches(argv)).collect();
        if results.contains(&Match::Yes) {
            continue;
        }
        if results.contains(&Match::Unknown) {
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
