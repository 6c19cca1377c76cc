//! Commands that succeed whatever happens.

/// Programs that say nothing about the source.
const IDLE: [&str; 4] = ["true", ":", "echo", "printf"];
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "busybox"];

/// Says whether a command's success says little: a bare `true` or `echo`, or a shell line in which a
/// failure goes unseen (a pipe without pipefail, `|| true`, a list without `set -e`).
pub(super) fn is_weak(argv: &[String]) -> bool {
    let argv = unwrapped(argv);
    let Some(program) = argv.first() else {
        return true;
    };
    let name = base_name(program);
    if IDLE.contains(&name) {
        return true;
    }
    if !SHELLS.contains(&name) {
        return false;
    }
    script(&argv[1..]).is_some_and(|script| script.hides_failure())
}

fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// A program that runs the command behind its own words.
struct Wrapper {
    name: &'static str,
    /// The short options that take a value, in a word of its own or behind the letter.
    valued: &'static str,
    /// The long options whose value is a word of its own.
    long: &'static [&'static str],
    /// How many words come before the command.
    words: usize,
}

const WRAPPERS: [Wrapper; 10] = [
    wrapper("env", "uCS", &["--unset", "--chdir"], 0),
    wrapper("timeout", "ks", &["--kill-after", "--signal"], 1),
    wrapper("nice", "n", &["--adjustment"], 0),
    wrapper("ionice", "cnp", &["--class", "--classdata"], 0),
    wrapper("stdbuf", "ioe", &["--input", "--output", "--error"], 0),
    wrapper("time", "fo", &["--format", "--output"], 0),
    wrapper("nohup", "", &[], 0),
    wrapper("setsid", "", &[], 0),
    wrapper("command", "", &[], 0),
    wrapper("exec", "a", &[], 0),
];

const fn wrapper(
    name: &'static str,
    valued: &'static str,
    long: &'static [&'static str],
    words: usize,
) -> Wrapper {
    Wrapper {
        name,
        valued,
        long,
        words,
    }
}

/// Returns the command that is run in the end, behind `env`, `timeout` and their like.
fn unwrapped(argv: &[String]) -> &[String] {
    let mut rest = argv;
    while let Some(wrapper) = rest
        .first()
        .and_then(|program| WRAPPERS.iter().find(|one| one.name == base_name(program)))
    {
        rest = wrapper.command(&rest[1..]);
    }
    rest
}

impl Wrapper {
    fn command<'a>(&self, mut args: &'a [String]) -> &'a [String] {
        while let Some((arg, rest)) = args.split_first() {
            let is_setting = self.name == "env" && !arg.starts_with('=') && arg.contains('=');
            let (is_own, takes_next) = match arg.strip_prefix('-') {
                _ if arg == "--" => {
                    args = rest;
                    break;
                }
                Some(long) if long.starts_with('-') => (true, self.long.contains(&arg.as_str())),
                Some(letters) => (true, self.takes_next(letters)),
                None => (is_setting, false),
            };
            if !is_own {
                break;
            }
            args = rest.get(usize::from(takes_next)..).unwrap_or_default();
        }
        args.get(self.words..).unwrap_or_default()
    }

    /// Says whether the value of the last of these options is the next word.
    fn takes_next(&self, letters: &str) -> bool {
        letters.find(|letter| self.valued.contains(letter)) == Some(letters.len().wrapping_sub(1))
    }
}

struct Script<'a> {
    text: &'a str,
    errexit: bool,
    pipefail: bool,
}

/// Finds what `-c` gives a shell, and the options before it.
fn script(args: &[String]) -> Option<Script<'_>> {
    let mut errexit = false;
    let mut pipefail = false;
    let mut args = args.iter().peekable();
    while let Some(arg) = args.next() {
        let Some(flags) = arg
            .strip_prefix('-')
            .filter(|flags| !flags.starts_with('-'))
        else {
            // `busybox sh -c`
            if SHELLS.contains(&arg.as_str()) {
                continue;
            }
            return None;
        };
        errexit |= flags.contains('e');
        if flags.ends_with('o') || flags == "o" {
            let option = args.next()?;
            pipefail |= option == "pipefail";
            errexit |= option == "errexit";
        }
        if flags.contains('c') {
            let mut text = args.next()?.as_str();
            while text == "-o" || text == "-e" {
                errexit |= text == "-e";
                if text == "-o" {
                    pipefail |= args.next()? == "pipefail";
                }
                text = args.next()?;
            }
            return Some(Script {
                text,
                errexit,
                pipefail,
            });
        }
    }
    None
}

/// What stands between two commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    Pipe,
    And,
    Or,
    Then,
    Background,
}

impl Script<'_> {
    fn hides_failure(mut self) -> bool {
        let (commands, joins) = split(self.text);
        for command in &commands {
            if command.first().is_some_and(|word| word == "set") {
                let flags = command.iter().skip(1);
                self.pipefail |= flags.clone().any(|word| word == "pipefail");
                self.errexit |= flags
                    .clone()
                    .any(|word| word.starts_with('-') && word.contains('e') || word == "errexit");
            }
        }
        let is_set = |words: &[String]| words.first().is_some_and(|word| word == "set");
        let mut real = Vec::new();
        let mut between = Vec::new();
        for (at, words) in commands.iter().enumerate() {
            if !is_set(words) {
                real.push(words.as_slice());
                between.extend(joins.get(at));
            }
        }
        let piped = between.contains(&Join::Pipe) && !self.pipefail;
        let listed = between.contains(&Join::Then) && !self.errexit;
        let mut pairs = between.iter().zip(real.iter().skip(1));
        let excused = pairs.any(|(join, words)| *join == Join::Or && is_excuse(words));
        let idle = real.iter().all(|words| is_excuse(words));
        let last =
            real.last().is_some_and(|words| is_excuse(words)) && between.last() != Some(&Join::And);
        piped || listed || excused || idle || last || between.contains(&Join::Background)
    }
}

/// Says whether a command of a script only makes the script succeed.
fn is_excuse(words: &[String]) -> bool {
    match unwrapped(words) {
        [] => true,
        [exit] if exit == "exit" => false,
        [exit, code, ..] if exit == "exit" => code == "0",
        [program, ..] => IDLE.contains(&base_name(program)),
    }
}

/// Takes a script apart at its top level: the words of each command, and what joins them.
fn split(text: &str) -> (Vec<Vec<String>>, Vec<Join>) {
    let mut commands = vec![Vec::new()];
    let mut joins = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    let mut depth = 0_usize;
    while let Some(c) = chars.next() {
        let join = match c {
            '\'' | '"' => {
                quoted(c, &mut chars, &mut word);
                continue;
            }
            '\\' => {
                word.extend(chars.next());
                continue;
            }
            '(' | '{' => {
                depth += 1;
                continue;
            }
            ')' | '}' => {
                depth = depth.saturating_sub(1);
                continue;
            }
            _ if depth > 0 && word.contains('$') => continue,
            '|' if chars.next_if_eq(&'|').is_some() => Join::Or,
            '|' => Join::Pipe,
            '&' if chars.next_if_eq(&'&').is_some() => Join::And,
            // `2>&1` and `&>` join nothing.
            '&' if word.ends_with('>') || chars.peek() == Some(&'>') => continue,
            '&' => Join::Background,
            ';' | '\n' => Join::Then,
            c if c.is_whitespace() => {
                end_word(&mut word, &mut commands);
                continue;
            }
            c => {
                word.push(c);
                continue;
            }
        };
        end_word(&mut word, &mut commands);
        if commands.last().is_some_and(|words| !words.is_empty()) {
            commands.push(Vec::new());
            joins.push(join);
        }
    }
    end_word(&mut word, &mut commands);
    if commands.last().is_some_and(Vec::is_empty) {
        commands.pop();
        if joins.last() != Some(&Join::Background) {
            joins.pop();
        }
    }
    (commands, joins)
}

fn end_word(word: &mut String, commands: &mut [Vec<String>]) {
    if !word.is_empty()
        && let Some(words) = commands.last_mut()
    {
        words.push(std::mem::take(word));
    }
}

fn quoted(quote: char, chars: &mut impl Iterator<Item = char>, word: &mut String) {
    while let Some(c) = chars.next() {
        match c {
            c if c == quote => return,
            '\\' if quote == '"' => word.extend(chars.next()),
            c => word.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_weak;

    fn weak(argv: &[&str]) -> bool {
        is_weak(
            &argv
                .iter()
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn a_command_that_cannot_fail_is_weak() {
        for argv in [
            &["true"][..],
            &["/bin/true"],
            &["echo", "ok"],
            &[":"],
            &["sh", "-c", "false | tail -1"],
            &["bash", "-c", "cargo test || true"],
            &["sh", "-c", "cargo test||:"],
            &["sh", "-c", "cargo test; echo done"],
            &["sh", "-c", "cargo test; cargo doc"],
            &["sh", "-c", "cargo test\necho done"],
            &["sh", "-c", "cargo test &"],
            &["sh", "-c", "cargo test || exit 0"],
            &["sh", "-c", "true"],
            &["sh", "-c", "cargo test; exit 0"],
            &["sh", "-ec", "cargo test; exit 0"],
            &["sh", "-ec", "make | tee log"],
            &["sh", "-c", ""],
            &["env", "true"],
            &[
                "/usr/bin/env",
                "-iu",
                "X",
                "A=1",
                "bash",
                "-c",
                "false|| true",
            ],
            &["timeout", "-vk", "5", "5", "true"],
            &[
                "timeout",
                "--signal",
                "KILL",
                "1m",
                "sh",
                "-c",
                "false; true",
            ],
            &["nice", "-n10", "env", "true"],
            &["nohup", "echo", "ok"],
            &["env", "A=1"],
            &["sh", "-c", "cargo test || env true"],
        ] {
            assert!(weak(argv), "{argv:?}");
        }
    }

    #[test]
    fn a_command_that_can_fail_is_not() {
        for argv in [
            &["cargo", "test"][..],
            &["sh", "-c", "cargo test"],
            &["sh", "-c", "cargo test;"],
            &["sh", "-c", "cargo test && cargo doc"],
            &["bash", "-o", "pipefail", "-c", "cargo test | tail"],
            &[
                "bash",
                "-euo",
                "pipefail",
                "-c",
                "cargo test | tail; cargo doc",
            ],
            &["bash", "-c", "set -o pipefail; cargo test | tail"],
            &["sh", "-ec", "cargo test; cargo doc"],
            &["sh", "-c", "set -e\ncargo test\ncargo doc"],
            &["sh", "-c", "cargo test 2>&1"],
            &["sh", "-c", "grep 'a|b' f"],
            &["sh", "-c", "cargo build || cargo test"],
            &["sh", "run.sh"],
            &["make"],
            &["env", "RUST_LOG=true", "cargo", "test"],
            &["timeout", "60", "cargo", "test"],
            &["nice", "make", "true"],
            &["env", "-u", "true", "make"],
        ] {
            assert!(!weak(argv), "{argv:?}");
        }
    }
}
