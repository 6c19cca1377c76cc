//! PowerShell, as far as its pipelines, arguments and output files show in the text.

use super::{Argv, COMMAND_LIMIT, DEPTH_LIMIT, Redirect, Redirection, Unparsed, Word};

/// Returns the commands of `line`; files that `Tee-Object` and `Out-File` write stand among the
/// redirections.
pub(super) fn commands(line: &str, depth: usize) -> Result<Vec<Argv>, Unparsed> {
    if depth > DEPTH_LIMIT {
        return Err(Unparsed::TooDeep);
    }
    let mut reader = Reader {
        src: line,
        at: 0,
        depth,
        found: Vec::new(),
        argv: fresh(),
        first: First::Bare,
        is_called: false,
    };
    reader.read()?;
    let mut found = Vec::new();
    for mut argv in reader.found {
        output_files(&mut argv);
        let inner = inner(&mut argv, depth)?;
        found.push(argv);
        found.extend(inner);
    }
    Ok(found)
}

/// Returns the commands that a command of PowerShell's own runs.
fn inner(argv: &mut Argv, depth: usize) -> Result<Vec<Argv>, Unparsed> {
    let name = argv.name().map(str::to_ascii_lowercase);
    match name.as_deref() {
        Some("iex" | "invoke-expression") => {
            let words = argv.words[1..]
                .iter()
                .filter(|word| !word.text.starts_with('-'));
            let mut found = Vec::new();
            for word in words {
                match commands(&word.text, depth + 1) {
                    Ok(inner) if word.known => found.extend(inner),
                    Err(error @ Unparsed::TooDeep) => return Err(error),
                    _ => argv.hidden = true,
                }
            }
            // It reads its script from the pipe where none is given.
            argv.hidden |= argv.words.len() == 1;
            Ok(found)
        }
        Some("start-process" | "saps" | "start") => Ok(started(argv).into_iter().collect()),
        _ => Ok(Vec::new()),
    }
}

/// Returns the process that `Start-Process` starts.
fn started(argv: &Argv) -> Option<Argv> {
    let mut program = None;
    let mut arguments = Vec::new();
    let mut words = argv.words[1..].iter();
    while let Some(word) = words.next() {
        let option = word.text.to_ascii_lowercase();
        match option.as_str() {
            "-filepath" => program = words.next(),
            "-argumentlist" | "-args" => {
                arguments.extend(words.next());
                while arguments
                    .last()
                    .is_some_and(|word| word.text.ends_with(','))
                {
                    let Some(next) = words.next() else { break };
                    arguments.push(next);
                }
            }
            "-workingdirectory" | "-verb" | "-windowstyle" => drop(words.next()),
            _ if option.starts_with('-') => {}
            _ if program.is_none() => program = Some(word),
            _ => arguments.push(word),
        }
    }
    let texts = arguments.iter().flat_map(|word| {
        let known = !word.text.contains('$');
        let parts = word.text.split([',', ' ']).filter(|part| !part.is_empty());
        parts.map(move |part| Word {
            known,
            ..Word::plain(part)
        })
    });
    let words: Vec<Word> = program.cloned().into_iter().chain(texts).collect();
    (!words.is_empty()).then(|| Argv { words, ..fresh() })
}

fn fresh() -> Argv {
    Argv {
        cwd: Some(String::new()),
        ..Argv::default()
    }
}

/// How the first word of a command is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    Bare,
    /// In quotes, or a variable: a value and no command, unless `&` calls it.
    Value,
}

struct Reader<'a> {
    src: &'a str,
    at: usize,
    depth: usize,
    found: Vec<Argv>,
    argv: Argv,
    first: First,
    /// Whether `&` stands before the command.
    is_called: bool,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.src[self.at..]
    }

    fn read(&mut self) -> Result<(), Unparsed> {
        while let Some(c) = self.rest().chars().next() {
            match c {
                ' ' | '\t' | '\r' => self.at += 1,
                '`' if self.rest().starts_with("`\n") => self.at += 2,
                '`' if self.rest().starts_with("`\r\n") => self.at += 3,
                '#' => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
                '\n' | ';' | '|' | '{' | '}' | '(' | ')' => {
                    self.at += 1;
                    self.end()?;
                }
                '&' if self.rest().starts_with("&&") => {
                    self.at += 2;
                    self.end()?;
                }
                '&' => {
                    self.at += 1;
                    self.end()?;
                    self.is_called = true;
                }
                '=' if self.is_assigned() => {
                    self.at += 1;
                    self.argv.words.clear();
                }
                _ => {
                    if !self.redirect()? {
                        self.push()?;
                    }
                }
            }
        }
        self.end()
    }

    fn end(&mut self) -> Result<(), Unparsed> {
        if self.found.len() >= COMMAND_LIMIT {
            return Err(Unparsed::TooMany);
        }
        let mut argv = std::mem::replace(&mut self.argv, fresh());
        if self.first == First::Value && !self.is_called {
            argv.words.clear();
        }
        self.is_called = false;
        self.first = First::Bare;
        if !argv.words.is_empty() || !argv.redirects.is_empty() {
            self.found.push(argv);
        }
        Ok(())
    }

    fn push(&mut self) -> Result<(), Unparsed> {
        if self.argv.words.is_empty() {
            let is_value = self.rest().starts_with(|c: char| {
                c.is_ascii_digit() || matches!(c, '"' | '\'' | '$' | '@' | '[')
            });
            self.first = if is_value { First::Value } else { First::Bare };
        }
        let word = self.word()?;
        match (self.argv.words.as_slice(), word.text.as_str()) {
            ([], ".") => self.is_called = true,
            ([variable], "+=") if variable.text.starts_with('$') => self.argv.words.clear(),
            _ => self.argv.words.push(word),
        }
        Ok(())
    }

    /// Says whether what stands here as `=` assigns to the variable before it.
    fn is_assigned(&self) -> bool {
        let [variable] = self.argv.words.as_slice() else {
            return false;
        };
        variable.text.starts_with(['$', '['])
    }

    /// Reads `>`, `>>`, `2>`, `*>` and their file, if one stands here.
    fn redirect(&mut self) -> Result<bool, Unparsed> {
        let rest = self.rest();
        let stream = rest
            .chars()
            .next()
            .filter(|c| matches!(c, '*' | '1'..='6'))
            .map_or(0, char::len_utf8);
        if !rest[stream..].starts_with('>') {
            return Ok(false);
        }
        let append = rest[stream..].starts_with(">>");
        self.at += stream + if append { 2 } else { 1 };
        if self.rest().starts_with('&') {
            let stream = self.rest().chars().nth(1).map_or(0, char::len_utf8);
            self.at += 1 + stream;
            return Ok(true);
        }
        while self.rest().starts_with([' ', '\t']) {
            self.at += 1;
        }
        if self.rest().is_empty() {
            return Err(Unparsed::Unclosed("a redirection"));
        }
        let target = self.word()?;
        let kind = if append {
            Redirection::Append
        } else {
            Redirection::Write
        };
        self.argv.redirects.push(Redirect { kind, target });
        Ok(true)
    }

    fn word(&mut self) -> Result<Word, Unparsed> {
        let mut word = Word {
            text: String::new(),
            known: true,
            single: true,
        };
        let start = self.at;
        while let Some(c) = self.rest().chars().next() {
            match c {
                '\'' => self.quoted(c, &mut word)?,
                '"' => self.quoted(c, &mut word)?,
                '`' => {
                    self.at += 1;
                    if let Some(next) = self.rest().chars().next() {
                        self.at += next.len_utf8();
                        if next != '\n' {
                            word.text.push(next);
                        }
                    }
                }
                ' ' | '\t' | '\r' | '\n' | ';' | '|' | '(' | ')' | '{' | '}' | '>' => break,
                '=' if word.text.starts_with('$') && self.argv.words.is_empty() => break,
                c => {
                    word.known &= !matches!(c, '$' | '*' | '?' | '[' | '@' | ',');
                    word.text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        if self.at == start {
            let c = self.rest().chars().next().unwrap_or(' ');
            return Err(Unparsed::Unexpected(c));
        }
        Ok(word)
    }

    /// Reads the commands of a `$(` in quotes, which stands here without its `$`.
    fn substitution(&mut self, word: &mut Word) -> Result<(), Unparsed> {
        let mut depth = 0_usize;
        let closes = |c: char| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        };
        let Some(end) = self.rest().find(closes) else {
            return Err(Unparsed::Unclosed("("));
        };
        let inner = &self.rest()[1..end];
        let found = commands(inner, self.depth + 1)?;
        word.text.push_str(&self.rest()[..=end]);
        self.at += end + 1;
        self.found.extend(found);
        Ok(())
    }

    fn quoted(&mut self, quote: char, word: &mut Word) -> Result<(), Unparsed> {
        self.at += 1;
        loop {
            let Some(c) = self.rest().chars().next() else {
                return Err(Unparsed::Unclosed("a quote"));
            };
            self.at += c.len_utf8();
            if c == quote {
                if !self.rest().starts_with(quote) {
                    return Ok(());
                }
                self.at += 1;
                word.text.push(quote);
            } else if quote == '"' && c == '`' {
                if let Some(next) = self.rest().chars().next() {
                    self.at += next.len_utf8();
                    word.text.push(next);
                }
            } else {
                let expands = quote == '"' && c == '$';
                word.known &= !expands;
                word.text.push(c);
                if expands && self.rest().starts_with('(') {
                    self.substitution(word)?;
                }
            }
        }
    }
}

/// Adds the files that `Tee-Object` and `Out-File` write.
fn output_files(argv: &mut Argv) {
    let Some(name) = argv.words.first() else {
        return;
    };
    let name = name.text.to_ascii_lowercase();
    if !matches!(name.as_str(), "tee-object" | "tee" | "out-file") {
        return;
    }
    let is_append = |word: &Word| {
        let text = word.text.to_ascii_lowercase();
        text.len() > 1 && "-append".starts_with(&text)
    };
    let kind = if argv.words.iter().any(is_append) {
        Redirection::Append
    } else {
        Redirection::Write
    };
    let mut target = None;
    let mut words = argv.words[1..].iter();
    while let Some(word) = words.next() {
        let text = word.text.to_ascii_lowercase();
        if !text.starts_with('-') {
            target = target.or(Some(word));
        } else if matches!(text.as_str(), "-filepath" | "-literalpath" | "-path" | "-f") {
            target = words.next();
            break;
        } else if matches!(
            text.as_str(),
            "-encoding" | "-width" | "-variable" | "-inputobject"
        ) {
            words.next();
        }
    }
    if let Some(target) = target.cloned() {
        argv.redirects.push(Redirect { kind, target });
    }
    argv.words[0].text = name;
}
