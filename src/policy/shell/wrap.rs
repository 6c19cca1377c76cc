//! The commands that other commands run: `sudo`, `env`, `xargs`, `sh -c` and their like.

use super::{Argv, COMMAND_LIMIT, DEPTH_LIMIT, Unparsed, Word, join, parse::simple_commands};

/// A program that runs the command standing after its own options.
struct Wrapper {
    name: &'static str,
    /// Its options that take the next word as their value.
    valued: &'static [&'static str],
    /// How many words stand between the options and the command.
    operands: usize,
}

const WRAPPERS: &[Wrapper] = &[
    wrapper(
        "sudo",
        &[
            "-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U", "-r", "-t", "--user", "--group",
            "--host", "--prompt", "--chdir", "--chroot",
        ],
    ),
    wrapper("doas", &["-u", "-C"]),
    wrapper("env", &["-u", "-C", "--unset", "--chdir"]),
    Wrapper {
        name: "timeout",
        valued: &["-k", "-s", "--kill-after", "--signal"],
        operands: 1,
    },
    wrapper("nice", &["-n", "--adjustment"]),
    wrapper("ionice", &["-c", "-n", "--class", "--classdata"]),
    wrapper("nohup", &[]),
    wrapper("setsid", &[]),
    wrapper(
        "stdbuf",
        &["-i", "-o", "-e", "--input", "--output", "--error"],
    ),
    wrapper("time", &["-f", "-o", "--format", "--output"]),
    wrapper("command", &[]),
    wrapper("builtin", &[]),
    wrapper("exec", &["-a"]),
    wrapper("caffeinate", &["-t", "-w"]),
    wrapper("strace", &["-e", "-o", "-p", "-s", "-u"]),
    wrapper("unbuffer", &[]),
    wrapper("busybox", &[]),
    Wrapper {
        name: "flock",
        valued: &["-w", "-E", "--timeout", "--wait", "--conflict-exit-code"],
        operands: 1,
    },
    Wrapper {
        name: "chroot",
        valued: &[],
        operands: 1,
    },
    Wrapper {
        name: "taskset",
        valued: &[],
        operands: 1,
    },
    wrapper(
        "xargs",
        &[
            "-I",
            "-i",
            "-n",
            "-P",
            "-L",
            "-d",
            "-a",
            "-s",
            "-E",
            "--replace",
            "--max-args",
            "--max-procs",
            "--max-lines",
            "--delimiter",
            "--arg-file",
            "--max-chars",
            "--eof",
        ],
    ),
    wrapper("watch", &["-n", "-q", "--interval", "--equexit"]),
];

const SHELLS: [&str; 6] = ["sh", "bash", "zsh", "dash", "ksh", "ash"];

const fn wrapper(name: &'static str, valued: &'static [&'static str]) -> Wrapper {
    Wrapper {
        name,
        valued,
        operands: 0,
    }
}

/// Returns the commands of `line` and those they would run, each after the one that runs it.
pub(super) fn commands(line: &str, depth: usize) -> Result<Vec<Argv>, Unparsed> {
    let mut found = Vec::new();
    for argv in simple_commands(line, depth, Some(String::new()))? {
        add(argv, depth, &mut found)?;
    }
    Ok(found)
}

fn add(argv: Argv, depth: usize, found: &mut Vec<Argv>) -> Result<(), Unparsed> {
    if depth > DEPTH_LIMIT {
        return Err(Unparsed::TooDeep);
    }
    if found.len() >= COMMAND_LIMIT {
        return Err(Unparsed::TooMany);
    }
    let inner = inner(&argv, depth)?;
    found.push(argv);
    for argv in inner {
        add(argv, depth + 1, found)?;
    }
    Ok(())
}

/// Returns the commands that `argv` runs by its arguments.
fn inner(argv: &Argv, depth: usize) -> Result<Vec<Argv>, Unparsed> {
    let Some(name) = argv.name() else {
        return Ok(Vec::new());
    };
    let arguments = &argv.words[1..];
    if SHELLS.contains(&name) {
        return script(argv, shell_script(arguments), depth);
    }
    match name {
        "eval" => script(argv, joined(arguments), depth),
        "find" => Ok(find_actions(argv)),
        "env" if split_string(arguments).is_some() => script(argv, split_string(arguments), depth),
        "watch" if arguments.iter().filter(|word| !is_option(word)).count() == 1 => {
            script(argv, arguments.last().cloned(), depth)
        }
        "command" if arguments.iter().any(is_lookup) => Ok(Vec::new()),
        _ => Ok(WRAPPERS
            .iter()
            .find(|wrapper| wrapper.name == name)
            .and_then(|wrapper| wrapped(argv, wrapper))
            .into_iter()
            .collect()),
    }
}

fn is_option(word: &Word) -> bool {
    word.text.len() > 1 && word.text.starts_with('-')
}

fn is_lookup(word: &Word) -> bool {
    matches!(word.text.as_str(), "-v" | "-V")
}

/// Returns the commands of a script given as one known word.
fn script(argv: &Argv, text: Option<Word>, depth: usize) -> Result<Vec<Argv>, Unparsed> {
    match text {
        Some(word) if word.known => simple_commands(&word.text, depth + 1, argv.cwd.clone()),
        _ => Ok(Vec::new()),
    }
}

/// Returns the word after `-c` (also `-lc`, `-ec`) among the arguments of a shell.
fn shell_script(arguments: &[Word]) -> Option<Word> {
    let mut wanted = false;
    let mut skip = false;
    for word in arguments {
        if std::mem::take(&mut skip) {
            continue;
        }
        let text = word.text.as_str();
        if matches!(text, "-o" | "+o" | "-O" | "+O" | "--rcfile" | "--init-file") {
            skip = true;
        } else if is_option(word) || text.starts_with('+') {
            wanted |= text.starts_with('-') && !text.starts_with("--") && text.contains('c');
        } else {
            return wanted.then(|| word.clone());
        }
    }
    None
}

fn joined(words: &[Word]) -> Option<Word> {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    Some(Word {
        text: texts.join(" "),
        known: words.iter().all(|word| word.known),
    })
}

/// Returns the string of `env -S` and what follows it.
fn split_string(arguments: &[Word]) -> Option<Word> {
    for (at, word) in arguments.iter().enumerate() {
        if word.text == "-S" || word.text == "--split-string" {
            return joined(&arguments[at + 1..]);
        }
        let glued = word
            .text
            .strip_prefix("--split-string=")
            .or_else(|| word.text.strip_prefix("-S"));
        if let Some(first) = glued {
            let mut words = vec![Word {
                text: first.to_owned(),
                known: word.known,
            }];
            words.extend_from_slice(&arguments[at + 1..]);
            return joined(&words);
        }
        if !is_option(word) && !word.text.contains('=') {
            return None;
        }
    }
    None
}

fn wrapped(argv: &Argv, wrapper: &Wrapper) -> Option<Argv> {
    let mut at = 1;
    let mut inner = Argv {
        cwd: argv.cwd.clone(),
        ..Argv::default()
    };
    while let Some(word) = argv.words.get(at) {
        let text = word.text.as_str();
        if text == "--" {
            at += 1;
            break;
        }
        if wrapper.valued.contains(&text) {
            if matches!(text, "-C" | "--chdir" | "-D") {
                inner.cwd = moved(&inner.cwd, argv.words.get(at + 1));
            }
            at += 2;
        } else if is_option(word) {
            at += 1;
        } else {
            break;
        }
    }
    while argv.words.get(at).is_some_and(|word| {
        matches!(wrapper.name, "sudo" | "doas" | "env") && word.text.contains('=')
    }) {
        inner.assignments.push(argv.words[at].clone());
        at += 1;
    }
    inner.words = argv.words.get(at + wrapper.operands..)?.to_vec();
    if wrapper.name == "flock" && inner.words.first().is_some_and(|word| word.text == "-c") {
        inner.words.insert(0, known("sh"));
    }
    (!inner.words.is_empty()).then_some(inner)
}

fn known(text: &str) -> Word {
    Word {
        text: text.to_owned(),
        known: true,
    }
}

fn moved(cwd: &Option<String>, place: Option<&Word>) -> Option<String> {
    let place = place.filter(|word| word.known)?;
    Some(join(cwd.as_ref()?, &place.text))
}

/// Returns the commands of `-exec`, `-execdir`, `-ok` and `-okdir`.
fn find_actions(argv: &Argv) -> Vec<Argv> {
    let mut found = Vec::new();
    let mut words = argv.words.iter();
    while let Some(word) = words.next() {
        if !matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            continue;
        }
        let action: Vec<Word> = words
            .by_ref()
            .take_while(|word| word.text != ";" && word.text != "+")
            .map(|word| Word {
                known: word.known && !word.text.contains("{}"),
                text: word.text.clone(),
            })
            .collect();
        if !action.is_empty() {
            found.push(Argv {
                words: action,
                cwd: argv.cwd.clone(),
                ..Argv::default()
            });
        }
    }
    found
}
