//! Which commands a line that succeeded shows to have succeeded: those whose status is the line's.
//! What could have been passed over, turned round or left running shows nothing.

use super::argv::{Match, Pattern, is_cluster};
use crate::policy::shell::{self, Argv, Shell};

/// How deep subshells and `sh -c` are followed.
const DEPTH: usize = 8;
/// Options with which a test command tests nothing.
const IDLE: [&str; 8] = [
    "--no-run",
    "--list",
    "--help",
    "-h",
    "--version",
    "-V",
    "--dry-run",
    "--collect-only",
];
/// Commands after which the rest of the line may not run, or may be something else.
const TURNS: [&str; 8] = [
    "exit", "exec", "return", "break", "continue", "trap", "alias", "eval",
];
const RESERVED: [&str; 14] = [
    "!", "if", "then", "elif", "else", "fi", "while", "until", "for", "case", "select", "function",
    "coproc", "[[",
];
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "ksh"];

/// Says whether a line that succeeded shows that a command of the pattern did.
pub(super) fn shows(line: &str, pattern: &Pattern) -> bool {
    proves(line, pattern, 0)
}

fn proves(line: &str, pattern: &Pattern, depth: usize) -> bool {
    let (Ok(all), Some(lists)) = (shell::commands(Shell::Posix, line), lists(line)) else {
        return false;
    };
    let turns = |argv: &Argv| argv.name().is_some_and(|name| TURNS.contains(&name));
    if depth > DEPTH || all.iter().any(turns) {
        return false;
    }
    // Where the first failure ends the line, all of it succeeded.
    let stops =
        all.first().is_some_and(stops_at_failure) && !lists.iter().any(|list| list.is_reserved());
    let from = match stops {
        true => 0,
        false => lists.len().saturating_sub(1),
    };
    lists[from..]
        .iter()
        .flat_map(List::shown)
        .any(|part| is_test(part.trim(), pattern, depth))
}

/// Says whether a command is `set -e` or one like it.
fn stops_at_failure(argv: &Argv) -> bool {
    let options = argv.words.iter().skip(1);
    let is_exit = |text: &str| text == "errexit" || is_cluster(text) && text.contains('e');
    argv.name() == Some("set") && options.into_iter().any(|word| is_exit(&word.text))
}

/// Says whether one command, of which is known that it succeeded, is one of the pattern.
fn is_test(part: &str, pattern: &Pattern, depth: usize) -> bool {
    for (open, close) in [('(', ')'), ('{', '}')] {
        let inner = part.strip_prefix(open);
        if let Some(inner) = inner.and_then(|inner| inner.strip_suffix(close)) {
            return proves(inner, pattern, depth + 1);
        }
    }
    // What a substitution runs has no say in the status.
    if is_reserved(part) || ["`", "$(", "<("].iter().any(|open| part.contains(open)) {
        return false;
    }
    let Ok(found) = shell::commands(Shell::Posix, part) else {
        return false;
    };
    if let Some(script) = found.first().and_then(script) {
        return proves(script, pattern, depth + 1);
    }
    found.iter().any(|argv| {
        let is_idle = argv.words.iter().any(|word| IDLE.contains(&&*word.text));
        !is_idle && pattern.matches(argv) == Match::Yes
    })
}

/// Returns what `sh -c` runs.
fn script(argv: &Argv) -> Option<&str> {
    argv.name().filter(|name| SHELLS.contains(name))?;
    let is_option = |text: &str| is_cluster(text) && text.ends_with('c');
    let at = argv.words.iter().position(|word| is_option(&word.text))?;
    argv.words.get(at + 1).map(|word| word.text.as_str())
}

fn is_reserved(part: &str) -> bool {
    let first = part.split_whitespace().next();
    first.is_some_and(|word| RESERVED.contains(&word))
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Text(String),
    And,
    Or,
    Pipe,
    /// `;` or the end of a line.
    Then,
    /// `&`: what stands before it is left running.
    Beside,
}

/// What stands between `;`, `&` and ends of lines.
struct List {
    tokens: Vec<Token>,
    is_beside: bool,
}

impl List {
    /// Returns the commands that succeeded where the list did: those after the last `||` and the one
    /// behind it, all of a pipeline.
    fn shown(&self) -> Vec<&str> {
        let or = self.tokens.iter().rposition(|token| *token == Token::Or);
        let from = or.map_or(0, |or| {
            let and = self.tokens[or..]
                .iter()
                .position(|token| *token == Token::And);
            and.map_or(self.tokens.len(), |and| or + and)
        });
        if self.is_beside {
            return Vec::new();
        }
        let operands = self.tokens[from..].split(|token| *token == Token::And);
        let parts = operands.map(|operand| operand.iter().filter_map(Token::text).collect());
        parts
            .filter(|parts: &Vec<&str>| parts.first().is_some_and(|first| !is_reserved(first)))
            .flatten()
            .collect()
    }

    fn is_reserved(&self) -> bool {
        self.tokens.iter().filter_map(Token::text).any(is_reserved)
    }
}

impl Token {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::And | Self::Or | Self::Pipe | Self::Then | Self::Beside => None,
        }
    }
}

/// Returns the lists of a line; `None` where it defines functions, or holds text that only looks like
/// commands.
fn lists(line: &str) -> Option<Vec<List>> {
    let mut scan = Scan {
        chars: line.chars().collect(),
        at: 0,
        depth: 0,
        text: String::new(),
        tokens: Vec::new(),
    };
    while scan.step()? {}
    scan.push(Token::Then);
    let mut found = Vec::new();
    let mut tokens = Vec::new();
    for token in scan.tokens {
        match token {
            Token::Then | Token::Beside if tokens.is_empty() => {}
            Token::Then | Token::Beside => found.push(List {
                tokens: std::mem::take(&mut tokens),
                is_beside: token == Token::Beside,
            }),
            token => tokens.push(token),
        }
    }
    (scan.depth == 0).then_some(found)
}

/// Goes over a line; quotes, groups and substitutions are taken whole.
struct Scan {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    text: String,
    tokens: Vec<Token>,
}

impl Scan {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn take(&mut self, count: usize) {
        let end = (self.at + count).min(self.chars.len());
        self.text.extend(&self.chars[self.at..end]);
        self.at = end;
    }

    fn push(&mut self, token: Token) {
        let text = std::mem::take(&mut self.text);
        if !text.trim().is_empty() {
            self.tokens.push(Token::Text(text));
        }
        self.tokens.push(token);
    }

    fn operator(&mut self, token: Token, length: usize) {
        self.push(token);
        self.at += length;
    }

    /// Goes one step on; `false` at the end.
    fn step(&mut self) -> Option<bool> {
        let Some(c) = self.peek(0) else {
            return Some(false);
        };
        let next = self.peek(1);
        let begins = self
            .text
            .chars()
            .next_back()
            .is_none_or(char::is_whitespace);
        match c {
            '\\' => self.take(2),
            '\'' | '"' | '`' => self.quoted(c)?,
            '#' if begins => {
                let rest = self.chars[self.at..].iter();
                self.at += rest.take_while(|c| **c != '\n').count();
            }
            '<' if next == Some('<') => match self.peek(2) {
                Some('<') => self.take(3),
                _ => return None,
            },
            '(' if next == Some(')') => return None,
            '(' => self.group(1),
            ')' => self.group(-1),
            '{' if begins && next.is_some_and(char::is_whitespace) => self.group(1),
            '}' if begins && self.depth > 0 => self.group(-1),
            _ if self.depth > 0 => self.take(1),
            ';' | '\n' => self.operator(Token::Then, 1),
            '&' if next == Some('&') => self.operator(Token::And, 2),
            '&' if next == Some('>') || self.text.ends_with(['>', '<']) => self.take(1),
            '&' => self.operator(Token::Beside, 1),
            '|' if next == Some('|') => self.operator(Token::Or, 2),
            '|' if self.text.ends_with('>') => self.take(1),
            '|' => self.operator(Token::Pipe, 1 + usize::from(next == Some('&'))),
            _ => self.take(1),
        }
        Some(true)
    }

    fn group(&mut self, change: isize) {
        // One that closes what was never opened leaves the depth at a number that is never zero.
        self.depth = self.depth.wrapping_add_signed(change);
        self.take(1);
    }

    fn quoted(&mut self, quote: char) -> Option<()> {
        self.take(1);
        loop {
            let c = self.peek(0)?;
            self.take(if c == '\\' && quote != '\'' { 2 } else { 1 });
            if c == quote {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Pattern, shows};

    #[test]
    fn a_line_shows_what_its_status_is_that_of() {
        let pattern = Pattern::new("cargo test").unwrap();
        for line in [
            "cargo test",
            "cd x && RUST_LOG=1 cargo test | tail",
            "cd x; cargo test -q 2>&1 | tail -5",
            "cargo test && echo done",
            "cargo build || true; cargo test",
            "false || true && cargo test",
            "(cd x && cargo test)",
            "{ cd x; cargo test; } 2>/dev/null; cargo test",
            "timeout 60 cargo test > log",
            "bash -c 'cd x && cargo test'",
            "set -euo pipefail\ncargo test\necho done",
            "echo 'a || b'; cargo test # || true",
        ] {
            assert!(shows(line, &pattern), "{line}");
        }
        for line in [
            "cargo test || true",
            "cargo test; true",
            "cargo test\necho done",
            "! cargo test",
            "! true | cargo test",
            "cargo test &",
            "cargo test & wait",
            "if false; then cargo test; fi",
            "if false; then\ncargo test\nfi",
            "set -e; if false; then\ncargo test\nfi",
            "f() { cargo test; }",
            "cargo() { :; }; cargo test",
            "cargo test --no-run",
            "cargo test -- --list",
            "(cargo test; true)",
            "bash -c 'cargo test || true'",
            "exit 0; cargo test",
            "echo $(cargo test)",
            "true || cargo test",
            "cat <<E\ncargo test",
            "alias cargo=true; cargo test",
            "cargo build",
            "cargo test '",
            ") cargo test (",
        ] {
            assert!(!shows(line, &pattern), "{line}");
        }
    }
}
