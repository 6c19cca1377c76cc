//! The commands that a command runs: those of `sudo`, `xargs`, `sh -c`, `eval` and their like.

use super::{
    Argv, Redirection, Shell, Word, git, join,
    options::{Order, Syntax},
    programs::{Bare, WRAPPERS, Wrapper},
};

const SHELLS: [&str; 14] = [
    "sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "rbash", "fish", "csh", "tcsh", "yash",
    "posh", "pdksh",
];

/// What a command runs.
#[derive(Default)]
pub(super) struct Runs {
    pub(super) commands: Vec<Argv>,
    /// Scripts; an unknown one is read as it is written.
    pub(super) scripts: Vec<(Shell, Word)>,
    /// Whether it runs what cannot be known.
    pub(super) hidden: bool,
}

impl Runs {
    pub(super) fn posix(&mut self, script: Word) {
        self.script(Shell::Posix, script);
    }

    fn script(&mut self, shell: Shell, script: Word) {
        self.hidden |= !script.known;
        self.scripts.push((shell, script));
    }

    /// Adds words that a program joins to a script.
    pub(super) fn posix_words(&mut self, words: &[Word]) {
        if !words.is_empty() {
            self.posix(joined(words));
        }
    }

    /// Adds a command in the place of the one that runs it.
    pub(super) fn command(&mut self, argv: &Argv, words: &[Word]) {
        if !words.is_empty() {
            self.commands.push(Argv {
                words: words.to_vec(),
                cwd: argv.cwd.clone(),
                stdin: argv.stdin.clone(),
                ..Argv::default()
            });
        }
    }

    /// Adds what a shell runs that reads commands.
    fn stdin(&mut self, argv: &Argv) {
        let is_file = |text: &str| !text.starts_with("/dev/") && !text.starts_with("/proc/");
        match &argv.stdin {
            Some(text) => self.posix(text.clone()),
            None => {
                let file = argv.redirects.iter().any(|redirect| {
                    redirect.kind == Redirection::Read
                        && redirect.target.known
                        && is_file(&redirect.target.text)
                });
                self.hidden |= !file;
            }
        }
    }
}

/// Returns what `argv` runs by its arguments or by what it reads.
pub(super) fn runs(argv: &Argv) -> Runs {
    let mut runs = Runs::default();
    let Some(name) = argv.name().map(str::to_ascii_lowercase) else {
        return runs;
    };
    let arguments = &argv.words[1..];
    match name.as_str() {
        name if SHELLS.contains(&name) => shell(argv, &mut runs),
        "eval" => runs.posix_words(arguments),
        "trap" => trap(arguments, &mut runs),
        "alias" => aliases(arguments, &mut runs),
        "source" | "." => {
            runs.hidden = arguments.first().is_some_and(|word| is_stream(&word.text));
        }
        "find" => find(argv, &["-exec", "-execdir", "-ok", "-okdir"], &mut runs),
        "fd" | "fdfind" => find(argv, &["-x", "-X", "--exec", "--exec-batch"], &mut runs),
        "xargs" => xargs(argv, &mut runs),
        "parallel" => parallel(arguments, &mut runs),
        "watch" => {
            let syntax = Syntax {
                letters: "nq",
                glued: "d",
                longs: &["interval", "equexit"],
            };
            runs.posix_words(syntax.read(arguments, Order::Stop).rest);
        }
        "cmd" => cmd(arguments, &mut runs),
        "powershell" | "pwsh" => powershell(arguments, &mut runs),
        name if name == "git" || name.starts_with("git-") => return git::runs(argv),
        name => {
            if let Some(wrapper) = wrapper(name) {
                wrapped(argv, wrapper, &mut runs);
            }
        }
    }
    runs
}

/// Returns the words of the command that runs in the end behind programs such as `env` and `timeout`; none where
/// they run none.
pub fn innermost(words: &[String]) -> Vec<String> {
    let mut argv = Argv {
        words: words.iter().map(|word| Word::plain(word)).collect(),
        ..Argv::default()
    };
    while let Some(wrapper) = argv.name().and_then(wrapper) {
        let mut runs = Runs::default();
        wrapped(&argv, wrapper, &mut runs);
        let looks_up = wrapper.name == "command";
        match runs.commands.pop() {
            Some(inner) => argv = inner,
            None if runs.scripts.is_empty() && !looks_up => return Vec::new(),
            None => break,
        }
    }
    argv.words.into_iter().map(|word| word.text).collect()
}

fn wrapper(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| wrapper.name == name)
}

/// Says whether a script of this name is made up as it is read.
fn is_stream(text: &str) -> bool {
    ["<(", "/dev/", "/proc/"]
        .iter()
        .any(|start| text.starts_with(start))
}

/// Adds the script after `-c` (also `-lc`, `-ceu`), the one it reads, or none where a file holds it.
/// Each `o` takes a word of its own, wherever it stands in a cluster.
fn shell(argv: &Argv, runs: &mut Runs) {
    let mut is_wanted = false;
    let mut reads = false;
    let mut at = 1;
    while let Some(word) = argv.words.get(at) {
        let text = word.text.as_str();
        at += 1;
        if matches!(text, "-" | "--") {
            break;
        }
        if matches!(text, "--version" | "--help") {
            return;
        }
        if matches!(text, "--rcfile" | "--init-file") {
            at += 1;
        } else if text.len() > 1 && text.starts_with(['-', '+']) && !text.starts_with("--") {
            at += text.matches(['o', 'O']).count();
            is_wanted |= text.starts_with('-') && text.contains('c');
            reads |= text.starts_with('-') && text.contains('s');
        } else if !text.starts_with("--") {
            at -= 1;
            break;
        }
    }
    match argv.words.get(at) {
        Some(script) if is_wanted => runs.posix(script.clone()),
        Some(file) if !reads => match file.text.as_str() {
            "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" => runs.stdin(argv),
            text => runs.hidden |= is_stream(text),
        },
        None if is_wanted => {}
        _ => runs.stdin(argv),
    }
}

fn trap(arguments: &[Word], runs: &mut Runs) {
    let found = Syntax::default().read(arguments, Order::Stop);
    if let [script, _, ..] = found.rest
        && script.text != "-"
    {
        runs.posix(script.clone());
    }
}

fn aliases(arguments: &[Word], runs: &mut Runs) {
    for word in arguments {
        if let Some((_, value)) = word.text.split_once('=') {
            runs.posix(Word {
                text: value.to_owned(),
                ..word.clone()
            });
        }
    }
}

fn joined(words: &[Word]) -> Word {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    Word {
        text: texts.join(" "),
        known: words.iter().all(|word| word.known),
        single: true,
    }
}

/// Adds the commands of actions such as `-exec`.
fn find(argv: &Argv, actions: &[&str], runs: &mut Runs) {
    let mut words = argv.words.iter();
    while let Some(word) = words.next() {
        if !actions.contains(&word.text.as_str()) {
            continue;
        }
        let mut action: Vec<Word> = words
            .by_ref()
            .take_while(|word| word.text != ";" && word.text != "+")
            .map(|word| filled(word, "{}"))
            .collect();
        if !action.is_empty() && !argv.is("find") && action.iter().all(|word| word.known) {
            action.push(more());
        }
        runs.command(argv, &action);
    }
}

/// Returns a word in which the program puts something for each `mark`.
fn filled(word: &Word, mark: &str) -> Word {
    Word {
        known: word.known && !word.text.contains(mark),
        ..word.clone()
    }
}

/// Stands for words that are added when it runs.
fn more() -> Word {
    Word {
        text: "{}".to_owned(),
        known: false,
        single: false,
    }
}

fn xargs(argv: &Argv, runs: &mut Runs) {
    let syntax = Syntax {
        letters: "InPLdasEJRS",
        glued: "ile",
        longs: &[
            "max-args",
            "max-procs",
            "delimiter",
            "arg-file",
            "max-chars",
            "process-slot-var",
        ],
    };
    let found = syntax.read(&argv.words[1..], Order::Stop);
    if found.rest.is_empty() {
        return;
    }
    let fills = found.has("replace", Some('i')) || found.has("replace", Some('I'));
    let mut words: Vec<Word> = found.rest.to_vec();
    if fills {
        let marks = found
            .values("replace", Some('i'))
            .chain(found.values("replace", Some('I')));
        let mark = marks.last().map_or("{}", |value| value.text);
        words = words.iter().map(|word| filled(word, mark)).collect();
    } else {
        words.push(more());
    }
    runs.command(argv, &words);
    if let Some(inner) = runs.commands.last_mut() {
        // Its input are the arguments; the command reads nothing.
        inner.stdin = Some(Word::plain(""));
    }
}

fn parallel(arguments: &[Word], runs: &mut Runs) {
    let syntax = Syntax {
        letters: "jPNnIaSCLsDdE",
        glued: "Xm",
        longs: &[
            "jobs",
            "max-procs",
            "max-args",
            "arg-file",
            "sshlogin",
            "colsep",
            "delay",
            "joblog",
            "results",
            "retries",
            "tagstring",
            "timeout",
            "workdir",
            "delimiter",
            "halt",
        ],
    };
    let rest = syntax.read(arguments, Order::Stop).rest;
    let end = rest.iter().position(|word| word.text.starts_with(":::"));
    runs.posix_words(&rest[..end.unwrap_or(rest.len())]);
    runs.hidden = true;
}

fn cmd(arguments: &[Word], runs: &mut Runs) {
    let at = arguments
        .iter()
        .position(|word| ["/c", "/k", "/r"].contains(&word.text.to_ascii_lowercase().as_str()));
    match at {
        Some(at) if at + 1 < arguments.len() => {
            runs.script(Shell::PowerShell, joined(&arguments[at + 1..]));
        }
        _ => runs.hidden = true,
    }
}

fn powershell(arguments: &[Word], runs: &mut Runs) {
    for (at, word) in arguments.iter().enumerate() {
        let text = word.text.to_ascii_lowercase();
        let name = text.trim_start_matches(['-', '/']);
        if name.len() == text.len() {
            // A script, or a command where no option says so.
            let known_file = name.ends_with(".ps1");
            if !known_file {
                runs.script(Shell::PowerShell, joined(&arguments[at..]));
            }
            return;
        }
        if !name.is_empty() && ("command".starts_with(name) || name == "cwa") {
            if at + 1 < arguments.len() && arguments[at + 1].text != "-" {
                runs.script(Shell::PowerShell, joined(&arguments[at + 1..]));
            } else {
                runs.hidden = true;
            }
            return;
        }
        if "file".starts_with(name) {
            return;
        }
        if name == "ec" || (name.starts_with('e') && "encodedcommand".starts_with(name)) {
            runs.hidden = true;
            return;
        }
    }
    runs.hidden = true;
}

fn wrapped(argv: &Argv, wrapper: &Wrapper, runs: &mut Runs) {
    let mut words = &argv.words[1..];
    let mut found = wrapper.syntax.read(words, Order::Stop);
    if wrapper.name == "env" && found.rest.first().is_some_and(|word| word.text == "-") {
        words = &found.rest[1..];
        found = wrapper.syntax.read(words, Order::Stop);
    }
    if wrapper.name == "command" && (found.has("", Some('v')) || found.has("", Some('V'))) {
        return;
    }
    let mut cwd = argv.cwd.clone();
    if let Some((long, letter)) = wrapper.chdir {
        for place in found.values(long, Some(letter)) {
            cwd = cwd
                .filter(|_| place.known)
                .map(|cwd| join(&cwd, place.text));
        }
    }
    if wrapper.name == "env" {
        let split: Vec<Word> = found
            .values("split-string", Some('S'))
            .map(|value| value.word())
            .collect();
        if !split.is_empty() {
            let whole: Vec<Word> = split
                .into_iter()
                .chain(found.rest.iter().cloned())
                .collect();
            return runs.posix_words(&whole);
        }
    }
    let is_su = wrapper.name == "su" || wrapper.name == "runuser" && !found.has("user", Some('u'));
    if let Some((long, letter)) = wrapper.script {
        let order = if is_su { Order::Permute } else { Order::Stop };
        let options = wrapper.syntax.read(words, order);
        let before = runs.scripts.len();
        for value in options.values(long, Some(letter)) {
            runs.posix(value.word());
        }
        if runs.scripts.len() > before {
            return;
        }
    }
    let mut inner = Argv {
        cwd,
        stdin: argv.stdin.clone(),
        ..Argv::default()
    };
    let mut rest = found.rest;
    while let Some(word) = rest
        .first()
        .filter(|word| wrapper.assigns && word.text.contains('='))
    {
        inner.assignments.push(word.clone());
        rest = &rest[1..];
    }
    inner.words = rest
        .get(wrapper.operands..)
        .filter(|_| !is_su)
        .unwrap_or_default()
        .to_vec();
    if let [dash, script, ..] = inner.words.as_slice()
        && wrapper.script.is_some()
        && dash.text == "-c"
    {
        return runs.posix(script.clone());
    }
    if !inner.words.is_empty() {
        runs.commands.push(inner);
    } else if wrapper.bare == Bare::Shell || is_shell_wanted(wrapper, &found) {
        runs.stdin(argv);
    }
}

/// Says whether a program without a command runs a shell, as `sudo -s` does.
fn is_shell_wanted(wrapper: &Wrapper, found: &super::options::Arguments<'_>) -> bool {
    match wrapper.name {
        "sudo" => found.has("shell", Some('s')) || found.has("login", Some('i')),
        "doas" => found.has("", Some('s')),
        _ => false,
    }
}
