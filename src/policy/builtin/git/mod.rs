//! Git commands that lose work or go around a check.

use super::{
    Answer, Params,
    argv::{commands, is_cluster, named},
    params::Switch,
};
use crate::policy::{
    facts::Facts,
    glob::Globs,
    shell::{Argv, Word},
};

pub(super) fn guard(params: &Params, facts: &Facts) -> Answer {
    let commands = match commands(facts) {
        Ok(commands) => commands,
        Err(answer) => return answer,
    };
    let mut unknown = None;
    for argv in &commands {
        let Some(name) = argv.name() else {
            if argv
                .words
                .first()
                .is_some_and(|word| word.text.contains("git"))
            {
                unknown = Some(named(argv));
            }
            continue;
        };
        if name != "git" {
            continue;
        }
        let git = Git::new(argv);
        if let Some(reason) = git.reason(params, facts) {
            return Answer::Match(format!("{} {reason}", named(argv)));
        }
        if git.is_unknown() {
            unknown = Some(named(argv));
        }
    }
    match unknown {
        Some(command) => Answer::Unknown(format!("what {command} does is not known")),
        None => Answer::NoMatch("no git command loses work or goes around a check".to_owned()),
    }
}

/// A git command, its own options taken off.
struct Git<'a> {
    argv: &'a Argv,
    /// Values of `-c`.
    settings: Vec<&'a str>,
    subcommand: Option<&'a Word>,
    arguments: &'a [Word],
}

impl<'a> Git<'a> {
    fn new(argv: &'a Argv) -> Self {
        let words = &argv.words;
        let mut at = 1;
        let mut settings = Vec::new();
        while let Some(word) = words.get(at) {
            match word.text.as_str() {
                "-c" | "--config-env" => {
                    settings.extend(words.get(at + 1).map(|word| word.text.as_str()));
                    at += 2;
                }
                "-C" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path"
                | "--super-prefix" | "--attr-source" => at += 2,
                text if text.starts_with('-') => at += 1,
                _ => break,
            }
        }
        Self {
            argv,
            settings,
            subcommand: words.get(at),
            arguments: words.get(at + 1..).unwrap_or_default(),
        }
    }

    fn name(&self) -> &str {
        self.subcommand
            .filter(|word| word.known)
            .map_or("", |word| word.text.as_str())
    }

    /// Says whether what it does hangs on words that are not known.
    fn is_unknown(&self) -> bool {
        let risky = matches!(
            self.name(),
            "" | "push"
                | "reset"
                | "clean"
                | "checkout"
                | "restore"
                | "stash"
                | "commit"
                | "branch"
        );
        let options = |word: &&Word| !word.known && !word.text.starts_with('"');
        self.subcommand.is_some() && risky && self.arguments.iter().any(|word| options(&word))
            || self.subcommand.is_some_and(|word| !word.known)
    }

    /// Says whether an option is given: its long name, an abbreviation of it, or in a cluster.
    fn has(&self, long: &str, letter: Option<char>) -> bool {
        self.options().any(|text| {
            if let Some(name) = text.strip_prefix("--") {
                let name = name.split('=').next().unwrap_or(name);
                return name == long || (name.len() > 3 && long.starts_with(name));
            }
            letter.is_some_and(|letter| is_cluster(text) && text.contains(letter))
        })
    }

    /// Says whether exactly this long option is given.
    fn has_exact(&self, long: &str) -> bool {
        self.options()
            .any(|text| text.strip_prefix("--") == Some(long))
    }

    /// Returns the options, without words that are the value of the one before.
    fn options(&self) -> impl Iterator<Item = &str> {
        let valued: &[char] = match self.name() {
            "commit" => &['m', 'F', 'c', 'C', 't'],
            "merge" => &['m', 'F', 's', 'X'],
            "push" => &['o'],
            _ => &[],
        };
        let mut is_value = false;
        self.arguments
            .iter()
            .map(|word| word.text.as_str())
            .take_while(|text| *text != "--")
            .filter(move |text| {
                let taken = std::mem::take(&mut is_value);
                let long = matches!(*text, "--message" | "--file" | "--author" | "--push-option");
                is_value = !taken && (long || (is_cluster(text) && text.ends_with(valued)));
                !taken && text.len() > 1 && text.starts_with('-')
            })
    }

    fn operands(&self) -> impl Iterator<Item = &str> {
        let texts = self.arguments.iter().map(|word| word.text.as_str());
        texts.filter(|text| *text != "--" && !(text.len() > 1 && text.starts_with('-')))
    }

    fn reason(&self, params: &Params, facts: &Facts) -> Option<&'static str> {
        let on = |name| params.switch(name, Switch::On);
        if on("force_push") && self.forces_push() {
            return Some("overwrites what was pushed");
        }
        if on("hard_reset") && self.name() == "reset" && self.has("hard", None) {
            return Some("throws away changes that nobody committed");
        }
        if on("no_verify") && self.skips_hooks() {
            return Some("goes around the hooks");
        }
        if on("clean") && self.cleans() {
            return Some("deletes files that git does not know");
        }
        if on("discard") && self.discards() {
            return Some("throws away changes");
        }
        let branches = params.globs("branches")?;
        self.moves_branch(branches, facts)
            .then_some("changes a protected branch")
    }

    fn forces_push(&self) -> bool {
        self.name() == "push"
            && (self.has_exact("force")
                || self.has("mirror", None)
                || self
                    .options()
                    .any(|text| is_cluster(text) && text.contains('f'))
                || self
                    .operands()
                    .skip(1)
                    .any(|refspec| refspec.starts_with('+')))
    }

    fn skips_hooks(&self) -> bool {
        let short = (self.name() == "commit").then_some('n');
        let runs_hooks = matches!(
            self.name(),
            "commit" | "push" | "merge" | "rebase" | "am" | "cherry-pick" | "revert" | "pull"
        );
        let redirected = |setting: &&str| setting.to_lowercase().starts_with("core.hookspath");
        let config = self.name() == "config"
            && self
                .operands()
                .any(|text| text.eq_ignore_ascii_case("core.hookspath"));
        let without_verify = self.has("no-verify", None)
            || short.is_some_and(|letter| {
                // In a cluster, `m`, `c`, `C`, `F` take the rest as their value.
                self.options().filter(|text| is_cluster(text)).any(|text| {
                    text[1..]
                        .split(['m', 'c', 'C', 'F', 't'])
                        .next()
                        .is_some_and(|own| own.contains(letter))
                })
            });
        runs_hooks && (without_verify || self.settings.iter().any(redirected)) || config
    }

    fn cleans(&self) -> bool {
        self.name() == "clean" && self.has("force", Some('f')) && !self.has("dry-run", Some('n'))
    }

    fn discards(&self) -> bool {
        match self.name() {
            "checkout" => {
                let paths = self.argv.words.iter().any(|word| word.text == "--");
                paths || self.has("force", Some('f')) || self.operands().any(|text| text == ".")
            }
            "restore" => self.has("worktree", Some('W')) || !self.has("staged", Some('S')),
            "switch" => self.has("force", Some('f')) || self.has("discard-changes", None),
            "stash" => matches!(self.operands().next(), Some("drop" | "clear")),
            _ => false,
        }
    }

    /// Says whether it pushes to, moves or deletes one of the branches.
    fn moves_branch(&self, branches: &Globs, facts: &Facts) -> bool {
        let is_protected = |name: &str| {
            let name = name.trim_start_matches('+');
            branches.matches(name.strip_prefix("refs/heads/").unwrap_or(name))
        };
        let current = facts.event["branch"].as_str();
        match self.name() {
            "push" => {
                if self.has("all", None) || self.has("mirror", None) {
                    return true;
                }
                let mut refspecs = self.operands().skip(1).peekable();
                if refspecs.peek().is_none() {
                    return current.is_some_and(is_protected);
                }
                refspecs.any(|refspec| {
                    let target = refspec.rsplit(':').next().unwrap_or(refspec);
                    let target = if target == "HEAD" {
                        current.unwrap_or(target)
                    } else {
                        target
                    };
                    is_protected(target)
                })
            }
            "branch" => {
                let moves = [
                    ('d', "delete"),
                    ('D', "delete"),
                    ('m', "move"),
                    ('M', "move"),
                    ('f', "force"),
                ];
                let moves = moves
                    .into_iter()
                    .any(|(letter, long)| self.has(long, Some(letter)));
                moves && self.operands().any(is_protected)
            }
            "update-ref" => self.operands().next().is_some_and(is_protected),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Git;
    use crate::policy::shell::{Shell, commands};

    #[test]
    fn options_before_the_subcommand_are_seen_past() {
        let line = "git -C x -c a.b=c --no-pager --git-dir y push -f";
        let argv = &commands(Shell::Posix, line).unwrap()[0];
        let git = Git::new(argv);
        assert_eq!(git.name(), "push");
        assert_eq!(git.settings, ["a.b=c"]);
        assert!(git.forces_push());
    }
}
