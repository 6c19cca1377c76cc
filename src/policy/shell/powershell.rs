//! PowerShell, as far as its pipelines, arguments and output files show in the text.

use super::{Argv, COMMAND_LIMIT, Redirect, Redirection, Unparsed, Word};

/// Returns the commands of `line`; files that `Tee-Object` and `Out-File` write stand among the
/// redirections.
pub(super) fn commands(line: &str) -> Result<Vec<Argv>, Unparsed> {
    let mut reader = Reader {
        src: line,
        at: 0,
        found: Vec::new(),
        argv: fresh(),
    };
    reader.read()?;
    for argv in &mut reader.found {
        output_files(argv);
    }
    Ok(reader.found)
}

fn fresh() -> Argv {
    Argv {
        cwd: Some(String::new()),
        ..Argv::default()
    }
}

struct Reader<'a> {
    src: &'a str,
    at: usize,
    found: Vec<Argv>,
    argv: Argv,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.src[self.at..]
    }

    fn read(&mut self) -> Result<(), Unparsed> {
        while let Some(c) = self.rest().chars().next() {
            match c {
                ' ' | '\t' | '\r' => self.at += 1,
                '#' => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
                '\n' | ';' | '|' | '{' | '}' | '(' | ')' => {
                    self.at += 1;
                    self.end()?;
                }
                '&' if self.rest().starts_with("&&") => {
                    self.at += 2;
                    self.end()?;
                }
                '&' => self.at += 1,
                _ => {
                    if !self.redirect()? {
                        let word = self.word()?;
                        self.argv.words.push(word);
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
        let argv = std::mem::replace(&mut self.argv, fresh());
        if !argv.words.is_empty() || !argv.redirects.is_empty() {
            self.found.push(argv);
        }
        Ok(())
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
                word.known &= !(quote == '"' && c == '$');
                word.text.push(c);
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
