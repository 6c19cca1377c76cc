//! Git commands that lose work or go around a check.

mod branches;
mod syntax;

use self::branches::{Current, Moves, Protected};
use super::{
    Answer, Params,
    argv::{commands, named},
    params::Switch,
    place::Place,
};
use crate::policy::{
    facts::Facts,
    shell::{
        Argv, Word,
        git::{Invocation, Setting, environment},
        options::{Arguments, Given, Order},
    },
};

/// Subcommands whose arguments decide whether they lose work or go around a check.
const RISKY: [&str; 12] = [
    "push",
    "send-pack",
    "reset",
    "clean",
    "checkout",
    "switch",
    "restore",
    "stash",
    "commit",
    "merge",
    "rebase",
    "am",
];
/// Those whose arguments decide which branch they move.
const MOVING: [&str; 6] = [
    "branch",
    "fetch",
    "pull",
    "update-ref",
    "symbolic-ref",
    "worktree",
];
/// Those that do nothing else with the value of an option than take it.
const TAKING: [&str; 7] = ["push", "stash", "commit", "merge", "rebase", "am", "pull"];

pub(super) fn guard(params: &Params, facts: &Facts) -> Answer {
    let commands = match commands(facts) {
        Ok(commands) => commands,
        Err(answer) => return answer,
    };
    let exported = exported(&commands);
    let place = Place::new(facts, Vec::new());
    let mut current = match facts.event["branch"].as_str() {
        Some(branch) => Current::Branch(branch.to_owned()),
        None => Current::Detached,
    };
    let mut unknown = None;
    for argv in &commands {
        let is_unnamed = argv.name().is_none() && !argv.words.is_empty();
        if argv.hidden || is_unnamed {
            unknown = Some(named(argv));
        }
        let Some(git) = Git::new(argv, &exported) else {
            continue;
        };
        if let Some(reason) = git.reason(params) {
            return Answer::Match(format!("{} {reason}", named(argv)));
        }
        let elsewhere = git.is_elsewhere(&place);
        if let Some(branches) = params.globs("branches") {
            let current = if elsewhere {
                &Current::Unknown
            } else {
                &current
            };
            match (Protected { branches, current }).moved_by(&git) {
                Moves::Yes => {
                    return Answer::Match(format!("{} changes a protected branch", named(argv)));
                }
                Moves::Unknown => unknown = Some(named(argv)),
                Moves::No => {}
            }
        }
        if git.is_unknown(params.globs("branches").is_some()) {
            unknown = Some(named(argv));
        }
        if !elsewhere {
            current = branches::after(&git, current);
        }
    }
    match unknown {
        Some(command) => Answer::Unknown(format!("what {command} does is not known")),
        None => Answer::NoMatch("no git command loses work or goes around a check".to_owned()),
    }
}

/// Returns the assignments of a line that hold for all its commands.
fn exported(commands: &[Argv]) -> Vec<Word> {
    let mut found = Vec::new();
    for argv in commands {
        if argv.words.is_empty() {
            found.extend(argv.assignments.iter().cloned());
        } else if ["export", "declare", "typeset"]
            .iter()
            .any(|name| argv.is(name))
        {
            found.extend(argv.words[1..].iter().cloned());
        }
    }
    found.retain(|word| word.text.starts_with("GIT_CONFIG"));
    found
}

/// A git command with its options read.
struct Git<'a> {
    argv: &'a Argv,
    call: Invocation<'a>,
    found: Arguments<'a>,
}

impl<'a> Git<'a> {
    fn new(argv: &'a Argv, exported: &'a [Word]) -> Option<Self> {
        let mut call = Invocation::new(argv)?;
        call.settings.extend(environment(exported));
        let syntax = syntax::of(call.name.unwrap_or_default());
        let found = syntax.read(call.arguments, Order::Permute);
        Some(Self { argv, call, found })
    }

    fn name(&self) -> &str {
        self.call.name.unwrap_or_default()
    }

    fn stdin(&self) -> Option<&Word> {
        self.argv.stdin.as_ref()
    }

    /// Says whether it runs in another repository than the line starts in, as far as is known.
    fn is_elsewhere(&self, place: &Place) -> bool {
        let directory = self.call.directory(self.argv.cwd.as_deref());
        let is_outside = directory.is_none_or(|directory| place.is_outside("", &directory));
        is_outside || !self.call.places.is_empty()
    }

    /// Says whether what it does hangs on words that are not known.
    fn is_unknown(&self, protects: bool) -> bool {
        let Some(name) = self.call.name else {
            return self.call.is_given;
        };
        if name == "config" {
            return self.found.operands.first().is_some_and(|word| !word.known);
        }
        let is_hidden = |setting: &Setting<'_>| !setting.known && setting.key.contains(['$', '`']);
        let is_risky = RISKY.contains(&name);
        if is_risky && self.call.settings.iter().any(is_hidden) {
            return true;
        }
        (is_risky || protects && MOVING.contains(&name))
            && self
                .call
                .arguments
                .iter()
                .any(|word| !word.known && !self.is_taken(word))
    }

    /// Says whether a word is no more than the value of an option, whatever it comes to.
    fn is_taken(&self, word: &Word) -> bool {
        let within = word.text.as_bytes().as_ptr_range();
        let is_value = |given: &Given<'_>| {
            let is_known = !matches!(given, Given::Long(name, _) if name.contains(['$', '`']));
            let value = given.value();
            is_known && value.is_some_and(|value| within.contains(&value.text.as_ptr()))
        };
        word.single && TAKING.contains(&self.name()) && self.found.options.iter().any(is_value)
    }

    fn has(&self, long: &str, letter: Option<char>) -> bool {
        self.found.has(long, letter)
    }

    /// Says whether an option is given that makes a command harmless, and not taken back.
    fn spares(&self, long: &str, letter: char) -> bool {
        let taken_back = format!("no-{long}");
        let is_back = |name: &str| name.len() > 3 && taken_back.starts_with(name);
        let back = self
            .found
            .options
            .iter()
            .any(|given| matches!(given, Given::Long(name, _) if is_back(name)));
        self.has(long, Some(letter)) && !back
    }

    fn values(&self, long: &'a str, letter: Option<char>) -> impl Iterator<Item = &'a str> {
        self.found.values(long, letter).map(|value| value.text)
    }

    fn operands(&self) -> impl Iterator<Item = &'a str> {
        self.found.operands.iter().map(|word| word.text.as_str())
    }

    fn reason(&self, params: &Params) -> Option<&'static str> {
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
        None
    }

    fn forces_push(&self) -> bool {
        matches!(self.name(), "push" | "send-pack")
            && (self.has("force", Some('f'))
                || self.has("mirror", None)
                || self
                    .operands()
                    .skip(1)
                    .any(|refspec| refspec.starts_with('+')))
    }

    fn skips_hooks(&self) -> bool {
        let runs_hooks = matches!(
            self.name(),
            "commit" | "push" | "merge" | "rebase" | "am" | "cherry-pick" | "revert" | "pull"
        );
        let short = matches!(self.name(), "commit" | "am").then_some('n');
        let redirects = |(key, _)| key == "core.hookspath";
        runs_hooks && (self.has("no-verify", short) || self.call.sets("core.hookspath"))
            || self.call.written_setting().is_some_and(redirects)
    }

    fn cleans(&self) -> bool {
        let is_no = |setting: &Setting<'_>| {
            let value = setting.value.map(str::to_lowercase);
            let yes = ["true", "yes", "on", "1"];
            setting.key == "clean.requireforce" && !value.is_some_and(|text| yes.contains(&&*text))
        };
        self.name() == "clean"
            && (self.has("force", Some('f'))
                || self.has("interactive", Some('i'))
                || self.call.settings.iter().any(is_no))
            && !self.spares("dry-run", 'n')
    }

    fn discards(&self) -> bool {
        match self.name() {
            "checkout" => self.checks_out_files() || self.has("force", Some('f')),
            "restore" => self.has("worktree", Some('W')) || !self.spares("staged", 'S'),
            "switch" => self.has("force", Some('f')) || self.has("discard-changes", None),
            "stash" => matches!(self.operands().next(), Some("drop" | "clear")),
            _ => false,
        }
    }

    /// Says whether a checkout is of files, as far as its words tell.
    fn checks_out_files(&self) -> bool {
        let operands = self.found.operands.len();
        let creates = self.has("", Some('b')) || self.has("", Some('B'));
        self.found.dashes.is_some_and(|before| before < operands)
            || self.has("ours", Some('2'))
            || self.has("theirs", Some('3'))
            || self.has("pathspec-from-file", None)
            || operands > 1 && !creates
            || self.found.operands.iter().any(|word| is_pathspec(word))
    }
}

/// Says whether a word can name no branch or commit, but files.
fn is_pathspec(word: &Word) -> bool {
    let text = word.text.as_str();
    let is_relative =
        matches!(text, "." | "..") || text.starts_with("./") || text.starts_with("../");
    word.known
        && (is_relative
            || text.starts_with([':', '/'])
            || text.ends_with('/')
            || text.contains(['*', '?', '[']))
}

#[cfg(test)]
mod tests {
    use super::Git;
    use crate::policy::shell::{Shell, commands};

    #[test]
    fn options_before_the_subcommand_are_seen_past() {
        let line = "git -C x -c a.B=c --no-pager --git-dir y push -f";
        let argv = &commands(Shell::Posix, line).unwrap()[0];
        let git = Git::new(argv, &[]).unwrap();
        assert_eq!(git.name(), "push");
        assert_eq!(git.call.settings[0].key, "a.b");
        assert_eq!(git.call.places, ["y"]);
        assert_eq!(git.call.directories[0].text, "x");
        assert!(git.forces_push());
    }
}
