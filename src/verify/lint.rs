//! Commands that succeed whatever happens.

use crate::policy::shell::innermost;

/// Programs that say nothing about the source.
const IDLE: [&str; 4] = ["true", ":", "echo", "printf"];
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "ksh"];

/// Says whether a command's success says little: a bare `true` or `echo`, or a shell line in which a
/// failure goes unseen (a pipe without pipefail, `|| true`, a list without `set -e`).
pub(super) fn is_weak(argv: &[String]) -> bool {
    let argv = innermost(argv);
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
        let flags = arg
            .strip_prefix('-')
            .filter(|flags| !flags.starts_with('-'))?;
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
    match innermost(words).as_slice() {
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
            &["busybox", "sh", "-c", "cargo test || true"],
            &["sudo", "-nu", "ci", "true"],
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
            &["busybox", "sh", "-c", "cargo test"],
            &["env", "-S", "cargo test"],
            &["command", "-v", "true"],
        ] {
            assert!(!weak(argv), "{argv:?}");
        }
    }
}
