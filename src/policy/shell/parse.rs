use super::{
    Argv, COMMAND_LIMIT, DEPTH_LIMIT, Redirect, Redirection, Unparsed, Word,
    input::{Heredoc, Input, feed},
    join,
    word::{Inside, Piece, is_meta},
};

/// What closes a list of commands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Input,
    Paren,
    Arm,
}

/// What a list was closed by.
#[derive(PartialEq, Eq)]
enum Closed {
    End,
    Esac,
}

/// Reads a command line from left to right; the commands it meets stand in `found`.
pub(super) struct Parser<'a> {
    pub(super) src: &'a str,
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) found: Vec<Argv>,
    cwd: Option<String>,
    heredocs: Vec<Heredoc>,
    /// The numbers of the commands in `found`, in the order in which they begin.
    numbers: Vec<usize>,
    begun: usize,
    /// The command just read, and the one whose output the next command reads.
    last: Option<usize>,
    feeding: Option<usize>,
    inputs: Vec<(usize, Input)>,
}

/// Returns the simple commands of `line`, which runs in `cwd`.
pub(super) fn simple_commands(
    line: &str,
    depth: usize,
    cwd: Option<String>,
) -> Result<Vec<Argv>, Unparsed> {
    let mut parser = Parser {
        src: line,
        at: 0,
        depth,
        found: Vec::new(),
        cwd,
        heredocs: Vec::new(),
        numbers: Vec::new(),
        begun: 0,
        last: None,
        feeding: None,
        inputs: Vec::new(),
    };
    if depth > DEPTH_LIMIT {
        return Err(Unparsed::TooDeep);
    }
    parser.list(End::Input)?;
    feed(&mut parser.found, &parser.numbers, parser.inputs);
    Ok(parser.found)
}

impl Parser<'_> {
    pub(super) fn peek(&self) -> Option<char> {
        self.src[self.at..].chars().next()
    }

    pub(super) fn second(&self) -> Option<char> {
        self.src[self.at..].chars().nth(1)
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    pub(super) fn deeper(&mut self) -> Result<(), Unparsed> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(Unparsed::TooDeep);
        }
        Ok(())
    }

    /// Reads the commands up to the parenthesis that closes them; `cd` in them ends with them.
    pub(super) fn nested(&mut self) -> Result<(), Unparsed> {
        self.deeper()?;
        let cwd = self.cwd.clone();
        self.list(End::Paren)?;
        self.cwd = cwd;
        self.depth -= 1;
        Ok(())
    }

    /// Reads `text`, the inside of a back-quoted substitution or a script given as one word.
    pub(super) fn inner(&mut self, text: &str) -> Result<(), Unparsed> {
        for argv in simple_commands(text, self.depth + 1, self.cwd.clone())? {
            self.begun += 1;
            self.numbers.push(self.begun);
            self.found.push(argv);
        }
        Ok(())
    }

    pub(super) fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\r') => self.skip(1),
                Some('\\') if self.second() == Some('\n') => self.skip(2),
                Some('#') => {
                    let rest = &self.src[self.at..];
                    self.skip(rest.find('\n').unwrap_or(rest.len()));
                }
                _ => return,
            }
        }
    }

    fn list(&mut self, end: End) -> Result<Closed, Unparsed> {
        loop {
            self.blanks();
            let Some(c) = self.peek() else {
                return match end {
                    End::Input => Ok(Closed::End),
                    End::Paren => Err(Unparsed::Unclosed("(")),
                    End::Arm => Err(Unparsed::Unclosed("case")),
                };
            };
            match c {
                '\n' => self.newline()?,
                ')' if end == End::Paren => {
                    self.separator(1);
                    return Ok(Closed::End);
                }
                ')' => return Err(Unparsed::Unexpected(')')),
                ';' if matches!(self.second(), Some(';' | '&')) => {
                    if end != End::Arm {
                        return Err(Unparsed::Unexpected(';'));
                    }
                    let long = self.src[self.at..].starts_with(";;&");
                    self.skip(if long { 3 } else { 2 });
                    return Ok(Closed::End);
                }
                '&' if self.second() == Some('>') => self.simple().map(drop)?,
                '|' if self.second() == Some('|') => self.separator(2),
                '|' => {
                    let last = self.last;
                    self.separator(if self.second() == Some('&') { 2 } else { 1 });
                    self.feeding = last;
                }
                ';' | '&' => self.separator(1),
                '(' => self.open()?,
                _ => {
                    if self.simple()? == Closed::Esac {
                        return match end {
                            End::Arm => Ok(Closed::Esac),
                            End::Input | End::Paren => Err(Unparsed::Unexpected('e')),
                        };
                    }
                }
            }
        }
    }

    fn separator(&mut self, bytes: usize) {
        self.skip(bytes);
        self.last = None;
        self.feeding = None;
    }

    fn open(&mut self) -> Result<(), Unparsed> {
        self.separator(1);
        if self.is_arithmetic() {
            return self.arithmetic();
        }
        self.nested()
    }

    /// Takes a newline and the here-documents that begin after it.
    pub(super) fn newline(&mut self) -> Result<(), Unparsed> {
        self.skip(1);
        self.last = None;
        for heredoc in std::mem::take(&mut self.heredocs) {
            let start = self.at;
            let mut end = self.src.len();
            while self.at < self.src.len() {
                let rest = &self.src[self.at..];
                let line = rest.split('\n').next().unwrap_or(rest);
                let bare = line.strip_suffix('\r').unwrap_or(line);
                let bare = if heredoc.strip_tabs {
                    bare.trim_start_matches('\t')
                } else {
                    bare
                };
                if bare == heredoc.delimiter {
                    end = self.at;
                    self.skip((line.len() + 1).min(rest.len()));
                    break;
                }
                self.skip((line.len() + 1).min(rest.len()));
            }
            let text = Input::Text(heredoc.text(&self.src[start..end]));
            self.inputs.push((heredoc.reader, text));
            if !heredoc.quoted {
                self.body(start, end)?;
            }
        }
        Ok(())
    }

    /// Reads the substitutions in the body of a here-document.
    fn body(&mut self, start: usize, end: usize) -> Result<(), Unparsed> {
        let after = self.at;
        let whole = self.src;
        self.src = &whole[..end];
        self.at = start;
        let mut scratch = Piece::default();
        while let Some(c) = self.peek() {
            match c {
                '$' => self.dollar(&mut scratch, Inside::Quotes)?,
                '`' => self.backtick(&mut scratch, Inside::Quotes)?,
                '\\' => {
                    self.skip(1);
                    let next = self.peek().map_or(0, char::len_utf8);
                    self.skip(next);
                }
                c => self.skip(c.len_utf8()),
            }
        }
        self.src = whole;
        self.at = after;
        Ok(())
    }

    fn simple(&mut self) -> Result<Closed, Unparsed> {
        let mut argv = Argv {
            cwd: self.cwd.clone(),
            ..Argv::default()
        };
        self.begun += 1;
        let number = self.begun;
        if let Some(feeding) = self.feeding.take() {
            self.inputs.push((number, Input::Output(feeding)));
        }
        self.last = None;
        loop {
            self.blanks();
            if self.redirect(number, &mut argv)? {
                continue;
            }
            let Some(piece) = self.word()? else { break };
            if argv.words.is_empty() {
                if piece.is_plain("esac") {
                    return Ok(Closed::Esac);
                }
                if !piece.quoted && self.reserved(&piece)? {
                    return Ok(Closed::End);
                }
                if is_assignment(piece.unquoted()) {
                    argv.assignments.push(piece.word());
                    continue;
                }
            }
            argv.words.push(piece.word());
            self.blanks();
            if argv.words.len() == 1 && self.peek() == Some('(') {
                return self.function().map(|()| Closed::End);
            }
        }
        self.change_directory(&argv);
        self.push(number, argv)?;
        Ok(Closed::End)
    }

    fn push(&mut self, number: usize, argv: Argv) -> Result<(), Unparsed> {
        if self.found.len() >= COMMAND_LIMIT {
            return Err(Unparsed::TooMany);
        }
        if !argv.words.is_empty() || !argv.redirects.is_empty() || !argv.assignments.is_empty() {
            self.last = Some(number);
            self.numbers.push(number);
            self.found.push(argv);
        }
        Ok(())
    }

    /// Reads `()` after the name of a function; its body follows as commands do.
    fn function(&mut self) -> Result<(), Unparsed> {
        self.skip(1);
        self.blanks();
        match self.peek() {
            Some(')') => {
                self.skip(1);
                Ok(())
            }
            Some(c) => Err(Unparsed::Unexpected(c)),
            None => Err(Unparsed::Unclosed("(")),
        }
    }

    /// Handles a word the shell reserves at the start of a command; `false` when it is none.
    fn reserved(&mut self, piece: &Piece) -> Result<bool, Unparsed> {
        match piece.text.as_str() {
            "if" | "then" | "elif" | "else" | "fi" | "while" | "until" | "do" | "done" | "{"
            | "}" | "!" => {}
            "time" => {
                let rest = &self.src[self.at..];
                return Ok(is_group(rest));
            }
            "coproc" => self.coproc(),
            "function" => {
                self.blanks();
                self.word()?;
                self.blanks();
                if self.peek() == Some('(') {
                    self.function()?;
                }
            }
            "for" | "select" => self.loop_head()?,
            "case" => self.case()?,
            "[[" => self.test()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Skips the name that a `coproc` of a group may have.
    fn coproc(&mut self) {
        self.blanks();
        let rest = &self.src[self.at..];
        let name = name_length(rest);
        if name > 0 && is_group(&rest[name..]) {
            self.skip(name);
        }
    }

    fn loop_head(&mut self) -> Result<(), Unparsed> {
        self.blanks();
        if self.src[self.at..].starts_with("((") {
            self.skip(1);
            return self.arithmetic();
        }
        while self.word()?.is_some() {
            self.blanks();
        }
        Ok(())
    }

    fn case(&mut self) -> Result<(), Unparsed> {
        self.deeper()?;
        self.blanks();
        self.word()?;
        self.lines()?;
        if !self.word()?.is_some_and(|piece| piece.is_plain("in")) {
            return Err(Unparsed::Unclosed("case"));
        }
        loop {
            self.lines()?;
            if self.peek() == Some('(') {
                self.skip(1);
            }
            loop {
                self.blanks();
                match self.peek() {
                    Some(')') => break self.skip(1),
                    Some('|') => self.skip(1),
                    Some(c) => match self.word()? {
                        Some(piece) if piece.is_plain("esac") => {
                            self.depth -= 1;
                            return Ok(());
                        }
                        Some(_) => {}
                        None => return Err(Unparsed::Unexpected(c)),
                    },
                    None => return Err(Unparsed::Unclosed("case")),
                }
            }
            if self.list(End::Arm)? == Closed::Esac {
                self.depth -= 1;
                return Ok(());
            }
        }
    }

    fn lines(&mut self) -> Result<(), Unparsed> {
        self.blanks();
        while self.peek() == Some('\n') {
            self.newline()?;
            self.blanks();
        }
        Ok(())
    }

    /// Skips a `[[ … ]]` test, whose `<`, `>` and parentheses are operators of the test.
    fn test(&mut self) -> Result<(), Unparsed> {
        loop {
            self.blanks();
            match self.peek() {
                None => return Err(Unparsed::Unclosed("[[")),
                Some('\n') => self.newline()?,
                Some(c) if is_meta(c) && self.second() != Some('(') => self.skip(1),
                Some('(') => self.skip(1),
                Some(_) => {
                    if self.word()?.is_some_and(|piece| piece.is_plain("]]")) {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Reads a redirection, if one stands here.
    fn redirect(&mut self, number: usize, argv: &mut Argv) -> Result<bool, Unparsed> {
        let rest = &self.src[self.at..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let Some((operator, kind)) = operator(&rest[digits..]) else {
            return Ok(false);
        };
        if digits > 0 && operator.starts_with('&') {
            return Ok(false);
        }
        self.skip(digits + operator.len());
        self.blanks();
        let Some(piece) = self.word()? else {
            return match self.peek() {
                Some(c) => Err(Unparsed::Unexpected(c)),
                None => Err(Unparsed::Unclosed("a redirection")),
            };
        };
        if operator.starts_with("<<") && operator != "<<<" {
            self.heredocs.push(Heredoc {
                reader: number,
                strip_tabs: operator == "<<-",
                quoted: piece.quoted,
                delimiter: piece.text,
            });
            return Ok(true);
        }
        let target = piece.word();
        if operator == "<<<" {
            argv.stdin = Some(target);
            return Ok(true);
        }
        let Some(kind) = kind.filter(|_| !is_descriptor(operator, &target)) else {
            return Ok(true);
        };
        argv.redirects.push(Redirect { kind, target });
        Ok(true)
    }

    fn change_directory(&mut self, argv: &Argv) {
        match argv.name() {
            Some("cd" | "pushd") => {}
            Some("popd") => return self.cwd = None,
            _ => return,
        }
        let place = argv.words[1..]
            .iter()
            .find(|word| !word.text.starts_with('-') || word.text == "-");
        self.cwd = match (&self.cwd, place) {
            (Some(cwd), Some(word)) if word.known && word.text != "-" => {
                Some(join(cwd, &word.text))
            }
            (_, Some(word)) if word.known && word.text.starts_with('/') => Some(word.text.clone()),
            _ => None,
        };
    }
}

/// Returns how long the name is that `rest` begins with.
fn name_length(rest: &str) -> usize {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    rest.find(|c| !is_name(c)).unwrap_or(rest.len())
}

/// Says whether a compound command comes first in `rest`.
fn is_group(rest: &str) -> bool {
    let rest = rest.trim_start_matches([' ', '\t']);
    let word = &rest[..name_length(rest)];
    let words = ["while", "until", "if", "for", "case", "select", "function"];
    rest.starts_with(['{', '(']) || rest.starts_with("[[") || words.contains(&word)
}

fn is_assignment(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split('[').next().unwrap_or(name);
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn is_descriptor(operator: &str, target: &Word) -> bool {
    operator.ends_with('&')
        && target
            .text
            .trim_end_matches('-')
            .chars()
            .all(|c| c.is_ascii_digit())
}

/// Returns the redirection operator that `rest` begins with and what it does to a file.
fn operator(rest: &str) -> Option<(&'static str, Option<Redirection>)> {
    const OPERATORS: [(&str, Option<Redirection>); 13] = [
        ("&>>", Some(Redirection::Append)),
        ("&>", Some(Redirection::Write)),
        ("<<<", None),
        ("<<-", None),
        ("<<", None),
        ("<>", Some(Redirection::Append)),
        ("<&", None),
        (">>", Some(Redirection::Append)),
        (">&", Some(Redirection::Write)),
        (">|", Some(Redirection::Write)),
        ("<(", None),
        ("<", Some(Redirection::Read)),
        (">", Some(Redirection::Write)),
    ];
    if rest.starts_with("<(") || rest.starts_with(">(") {
        return None;
    }
    OPERATORS
        .into_iter()
        .find(|(operator, _)| rest.starts_with(operator))
}
