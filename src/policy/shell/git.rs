//! Git's command line: the options before the subcommand, and the commands that git is told to run.

use super::{
    Argv, Word, join,
    options::{Given, Order, Syntax},
    runs::Runs,
};

/// Options that take the next word, before the subcommand.
const VALUED: [&str; 6] = [
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--super-prefix",
    "--attr-source",
    "--config-env",
];

/// Settings that name a program git runs.
const PROGRAMS: [&str; 9] = [
    "core.editor",
    "core.pager",
    "core.sshcommand",
    "core.fsmonitor",
    "core.askpass",
    "sequence.editor",
    "diff.external",
    "gpg.program",
    "uploadpack.packobjectshook",
];

/// A setting given on the command line or by the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting<'a> {
    /// In small letters, as far as capitals do not count.
    pub key: String,
    /// `None` where another variable holds it.
    pub value: Option<&'a str>,
    /// Whether the text is known.
    pub known: bool,
}

/// A git command, its own options taken off.
#[derive(Clone, Debug)]
pub struct Invocation<'a> {
    pub settings: Vec<Setting<'a>>,
    /// Values of `-C`, in order.
    pub directories: Vec<&'a Word>,
    /// Values of `--git-dir` and `--work-tree`.
    pub places: Vec<&'a str>,
    /// Whether another directory is searched for git's programs.
    pub exec_path: bool,
    /// The subcommand's name, if it is known.
    pub name: Option<&'a str>,
    /// Whether there is a subcommand, known or not.
    pub is_given: bool,
    /// The subcommand and its arguments.
    pub words: &'a [Word],
    pub arguments: &'a [Word],
}

impl<'a> Invocation<'a> {
    /// Reads a command; `None` when it is no git.
    pub fn new(argv: &'a Argv) -> Option<Self> {
        let program = argv.name()?;
        let mut found = Self {
            settings: environment(&argv.assignments),
            directories: Vec::new(),
            places: Vec::new(),
            exec_path: false,
            name: None,
            is_given: true,
            words: &[],
            arguments: &argv.words[1..],
        };
        if let Some(name) = program.strip_prefix("git-") {
            found.name = Some(name);
            return Some(found);
        }
        if !program.eq_ignore_ascii_case("git") {
            return None;
        }
        let at = found.options(&argv.words);
        let subcommand = argv.words.get(at);
        found.is_given = subcommand.is_some();
        found.name = subcommand
            .filter(|word| word.known)
            .map(|word| word.text.as_str());
        found.words = argv.words.get(at..).unwrap_or_default();
        found.arguments = argv.words.get(at + 1..).unwrap_or_default();
        Some(found)
    }

    /// Reads git's own options; returns where the subcommand stands.
    fn options(&mut self, words: &'a [Word]) -> usize {
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            if !text.starts_with('-') {
                break;
            }
            at += 1;
            let next = words.get(at);
            let (name, glued) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (text, None),
            };
            let takes = glued.is_none() && (matches!(text, "-c" | "-C") || VALUED.contains(&text));
            at += usize::from(takes && next.is_some());
            let next = next.filter(|_| takes);
            let known = word.known && next.is_none_or(|next| next.known);
            let value = glued.or_else(|| next.map(|word| word.text.as_str()));
            match name {
                "-c" => self
                    .settings
                    .extend(value.map(|value| setting(value, known))),
                "--config-env" => self.settings.extend(value.map(|value| Setting {
                    value: None,
                    ..setting(value, known)
                })),
                "-C" => self.directories.extend(next),
                "--git-dir" | "--work-tree" => self.places.extend(value),
                "--exec-path" => self.exec_path |= glued.is_some(),
                _ => {}
            }
        }
        at
    }

    /// Returns the directory it runs in, as seen from where the line starts.
    pub fn directory(&self, cwd: Option<&str>) -> Option<String> {
        self.directories
            .iter()
            .try_fold(cwd?.to_owned(), |cwd, word| {
                word.known.then(|| join(&cwd, &word.text))
            })
    }

    /// Says whether one of the settings is `key`.
    pub fn sets(&self, key: &str) -> bool {
        self.settings.iter().any(|setting| setting.key == key)
    }

    /// Returns what `git config` would write: the key, and the value where there is one.
    pub fn written_setting(&self) -> Option<(String, Option<&'a Word>)> {
        const VALUED: Syntax = Syntax {
            letters: "f",
            glued: "",
            longs: &["file", "blob", "type", "default", "comment", "value", "url"],
        };
        if self.name != Some("config") {
            return None;
        }
        let found = VALUED.read(self.arguments, Order::Permute);
        let is_write = ["add", "replace-all", "unset", "unset-all"]
            .into_iter()
            .any(|name| found.has(name, None));
        let is_get = |given: &Given| matches!(given, Given::Long(own, _) if own.starts_with("get"));
        let reads = found.has("list", Some('l')) || found.options.iter().any(is_get);
        if reads {
            return None;
        }
        let mut operands = found.operands.as_slice();
        let verb = operands.first().map(|word| word.text.as_str());
        let has_verb = matches!(
            verb,
            Some("get" | "set" | "unset" | "list" | "edit" | "rename-section" | "remove-section")
        );
        if has_verb {
            operands = &operands[1..];
        }
        if has_verb && !matches!(verb, Some("set" | "unset")) {
            return None;
        }
        let [key, rest @ ..] = operands else {
            return None;
        };
        let writes = is_write || has_verb || !rest.is_empty();
        writes.then(|| (key.text.to_lowercase(), rest.first().copied()))
    }
}

fn setting(text: &str, known: bool) -> Setting<'_> {
    let (key, value) = text.split_once('=').unwrap_or((text, "true"));
    Setting {
        key: key.to_lowercase(),
        value: Some(value),
        known,
    }
}

/// Returns the settings that assignments before a command make.
pub fn environment(assignments: &[Word]) -> Vec<Setting<'_>> {
    let mut found = Vec::new();
    let pairs: Vec<(&str, &str, bool)> = assignments
        .iter()
        .filter_map(|word| {
            let (name, value) = word.text.split_once('=')?;
            Some((name, value, word.known))
        })
        .collect();
    for (name, value, known) in &pairs {
        if let Some(number) = name.strip_prefix("GIT_CONFIG_KEY_") {
            let wanted = format!("GIT_CONFIG_VALUE_{number}");
            let given = pairs.iter().find(|(name, ..)| *name == wanted);
            found.push(Setting {
                key: value.to_lowercase(),
                value: given.map(|(_, value, _)| *value),
                known: *known && given.is_none_or(|(.., known)| *known),
            });
        }
        if *name == "GIT_CONFIG_PARAMETERS" {
            let parts = value.split('\'').map(|part| part.trim_start_matches('='));
            let keys = parts.filter(|part| part.contains('.'));
            found.extend(keys.map(|part| setting(part, *known)));
        }
    }
    found
}

/// Returns the commands that git runs because the command line says so.
pub(super) fn runs(argv: &Argv) -> Runs {
    let mut runs = Runs::default();
    let Some(git) = Invocation::new(argv) else {
        return runs;
    };
    for setting in &git.settings {
        if PROGRAMS.contains(&setting.key.as_str()) || setting.key.starts_with("pager.") {
            match setting.value {
                Some(value) if !matches!(value, "" | "true" | "false") => runs.posix(Word {
                    known: setting.known,
                    ..Word::plain(value)
                }),
                Some(_) => {}
                None => runs.hidden = true,
            }
        }
        let alias = setting.key.strip_prefix("alias.");
        if alias.is_some_and(|name| git.name.is_some_and(|own| own.eq_ignore_ascii_case(name))) {
            match setting.value {
                Some(value) => {
                    alias_runs(argv, value, git.arguments, &mut runs);
                    runs.hidden |= !setting.known;
                }
                None => runs.hidden = true,
            }
        }
    }
    if let Some((key, Some(value))) = git.written_setting()
        && key.starts_with("alias.")
    {
        alias_runs(argv, &value.text, &[], &mut runs);
        runs.hidden |= !value.known;
    }
    subcommand_runs(argv, &git, &mut runs);
    runs
}

/// Adds what an alias of this value runs with these arguments.
fn alias_runs(argv: &Argv, value: &str, arguments: &[Word], runs: &mut Runs) {
    let mut words: Vec<Word> = match value.strip_prefix('!') {
        Some(script) => {
            let texts = arguments.iter().map(|word| word.text.as_str());
            let whole: Vec<&str> = std::iter::once(script).chain(texts).collect();
            return runs.posix(Word {
                known: arguments.iter().all(|word| word.known),
                ..Word::plain(&whole.join(" "))
            });
        }
        None => value.split_whitespace().map(Word::plain).collect(),
    };
    runs.hidden |= value.contains(['\'', '"', '\\']);
    words.insert(0, Word::plain("git"));
    words.extend_from_slice(arguments);
    runs.command(argv, &words);
}

fn subcommand_runs(argv: &Argv, git: &Invocation<'_>, runs: &mut Runs) {
    let words = git.arguments;
    match git.name {
        Some("rebase") => {
            let syntax = Syntax {
                letters: "xsX",
                glued: "CS",
                longs: &["exec", "onto", "strategy", "strategy-option"],
            };
            let found = syntax.read(words, Order::Permute);
            for value in found.values("exec", Some('x')) {
                runs.posix(value.word());
            }
        }
        Some("difftool") => {
            let syntax = Syntax {
                letters: "xt",
                glued: "",
                longs: &["extcmd", "tool"],
            };
            let found = syntax.read(words, Order::Permute);
            for value in found.values("extcmd", Some('x')) {
                runs.posix(value.word());
            }
        }
        Some("filter-branch") => {
            let filters = words
                .windows(2)
                .filter(|pair| pair[0].text.starts_with("--") && pair[0].text.ends_with("-filter"));
            for pair in filters {
                runs.posix(pair[1].clone());
            }
        }
        Some("submodule") => {
            let found = Syntax::default().read(words, Order::Stop);
            if let [verb, rest @ ..] = found.rest
                && verb.text == "foreach"
            {
                let script = Syntax::default().read(rest, Order::Stop).rest;
                runs.posix_words(script);
            }
        }
        Some("bisect") => {
            if let [verb, rest @ ..] = words
                && verb.text == "run"
            {
                runs.command(argv, rest);
            }
        }
        // Our own command, which runs what follows the dashes.
        Some("operator") => {
            let dashes = words.iter().position(|word| word.text == "--");
            if let Some(at) = dashes
                && words[..at]
                    .iter()
                    .any(|word| word.text == "run" || !word.known)
            {
                runs.command(argv, &words[at + 1..]);
            }
        }
        _ => {}
    }
}
