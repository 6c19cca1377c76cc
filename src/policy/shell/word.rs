use super::{Unparsed, Word, parse::Parser};

/// The characters that end a word when not quoted.
pub(super) fn is_meta(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t' | '\n' | '\r' | ';' | '&' | '|' | '<' | '>' | '(' | ')'
    )
}

/// A word as it grows.
#[derive(Default)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) quoted: bool,
    /// How much of the text stands before the first quote.
    before_quotes: Option<usize>,
    unknown: bool,
    /// Whether it may come to several words, or to none.
    splits: bool,
    open_brace: bool,
}

/// Where an expansion stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
    Word,
    Quotes,
}

impl Piece {
    pub(super) fn word(self) -> Word {
        Word {
            known: !self.unknown,
            single: !self.splits,
            text: self.text,
        }
    }

    fn quote(&mut self) {
        self.quoted = true;
        self.before_quotes.get_or_insert(self.text.len());
    }

    /// Returns the text before the first quote.
    pub(super) fn unquoted(&self) -> &str {
        &self.text[..self.before_quotes.unwrap_or(self.text.len())]
    }

    pub(super) fn is_plain(&self, text: &str) -> bool {
        !self.quoted && !self.unknown && self.text == text
    }
}

impl<'a> Parser<'a> {
    /// Reads one word; `None` when a character that ends words comes first.
    pub(super) fn word(&mut self) -> Result<Option<Piece>, Unparsed> {
        let start = self.at;
        let mut piece = Piece::default();
        while let Some(c) = self.peek() {
            match c {
                '<' | '>' if self.at == start && self.second() == Some('(') => {
                    self.skip(2);
                    self.nested()?;
                    piece.unknown = true;
                    piece.text = self.src[start..self.at].to_owned();
                }
                '(' if self.at > start => {
                    if !self.open_paren(&mut piece)? {
                        break;
                    }
                }
                c if is_meta(c) => break,
                _ => self.piece(c, &mut piece)?,
            }
        }
        if piece.text == "[" {
            // The command of that name; no pattern, as nothing closes it.
            piece.unknown = false;
            piece.splits = false;
        }
        if has_braces(&piece) {
            piece.unknown = true;
            piece.splits = true;
        }
        Ok((self.at > start).then_some(piece))
    }

    /// Reads what `(` opens inside a word: an array or an extended pattern; `false` when neither.
    fn open_paren(&mut self, piece: &mut Piece) -> Result<bool, Unparsed> {
        if piece.text.ends_with('=') {
            self.skip(1);
            self.deeper()?;
            self.array()?;
            self.depth -= 1;
            piece.unknown = true;
            piece.splits = true;
            return Ok(true);
        }
        if piece.text.ends_with(['?', '*', '+', '@', '!']) && !piece.quoted {
            let start = self.at;
            self.skip(1);
            self.balanced(1)?;
            piece.text.push_str(&self.src[start..self.at]);
            piece.unknown = true;
            piece.splits = true;
            return Ok(true);
        }
        Ok(false)
    }

    fn array(&mut self) -> Result<(), Unparsed> {
        loop {
            self.blanks();
            match self.peek() {
                None => return Err(Unparsed::Unclosed("(")),
                Some(')') => {
                    self.skip(1);
                    return Ok(());
                }
                Some('\n') => self.newline()?,
                Some(c) => {
                    if self.word()?.is_none() {
                        return Err(Unparsed::Unexpected(c));
                    }
                }
            }
        }
    }

    fn piece(&mut self, c: char, piece: &mut Piece) -> Result<(), Unparsed> {
        match c {
            '\'' => {
                piece.quote();
                self.skip(1);
                let text = self.until('\'')?;
                piece.text.push_str(text);
            }
            '"' => self.double_quoted(piece)?,
            '\\' => self.escaped(piece),
            '$' => self.dollar(piece, Inside::Word)?,
            '`' => self.backtick(piece, Inside::Word)?,
            c => {
                piece.open_brace |= c == '{';
                if matches!(c, '*' | '?' | '[') {
                    piece.unknown = true;
                    piece.splits = true;
                }
                piece.text.push(c);
                self.skip(c.len_utf8());
            }
        }
        Ok(())
    }

    fn escaped(&mut self, piece: &mut Piece) {
        self.skip(1);
        let Some(c) = self.peek() else {
            piece.text.push('\\');
            return;
        };
        self.skip(c.len_utf8());
        if c != '\n' {
            piece.quote();
            piece.text.push(c);
        }
    }

    fn double_quoted(&mut self, piece: &mut Piece) -> Result<(), Unparsed> {
        piece.quote();
        self.skip(1);
        loop {
            match self.peek() {
                None => return Err(Unparsed::Unclosed("\"")),
                Some('"') => {
                    self.skip(1);
                    return Ok(());
                }
                Some('\\') => {
                    self.skip(1);
                    match self.peek() {
                        Some('\n') => self.skip(1),
                        Some(c @ ('$' | '`' | '"' | '\\')) => {
                            self.skip(1);
                            piece.text.push(c);
                        }
                        _ => piece.text.push('\\'),
                    }
                }
                Some('$') => self.dollar(piece, Inside::Quotes)?,
                Some('`') => self.backtick(piece, Inside::Quotes)?,
                Some(c) => {
                    piece.text.push(c);
                    self.skip(c.len_utf8());
                }
            }
        }
    }

    pub(super) fn dollar(&mut self, piece: &mut Piece, inside: Inside) -> Result<(), Unparsed> {
        let start = self.at;
        match self.second() {
            Some('(') => {
                self.skip(2);
                if self.is_arithmetic() {
                    self.arithmetic()?;
                } else {
                    self.nested()?;
                }
            }
            Some('{') => {
                self.skip(2);
                self.parameter()?;
            }
            Some('\'') if inside == Inside::Word => {
                self.skip(2);
                return self.ansi_quoted(piece);
            }
            Some('"') if inside == Inside::Word => {
                self.skip(1);
                return self.double_quoted(piece);
            }
            Some(c) if c.is_ascii_alphanumeric() || c == '_' => {
                self.skip(1);
                while let Some(c) = self
                    .peek()
                    .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
                {
                    self.skip(c.len_utf8());
                }
            }
            Some(c) if "@*#?-$!".contains(c) => self.skip(2),
            _ => {
                self.skip(1);
                piece.text.push('$');
                return Ok(());
            }
        }
        let text = &self.src[start..self.at];
        let is_list = text == "$@" || (text.starts_with("${") && text.contains('@'));
        piece.unknown = true;
        piece.splits |= inside == Inside::Word || is_list;
        piece.text.push_str(text);
        Ok(())
    }

    /// Says whether the second parenthesis of a `((`, standing here, closes right before the first
    /// one does; else the two open subshells. Looks at no word twice, so nesting costs nothing.
    pub(super) fn is_arithmetic(&self) -> bool {
        let mut depth = 0_usize;
        let mut rest = self.src[self.at..].chars();
        while let Some(c) = rest.next() {
            match c {
                '(' => depth += 1,
                ')' if depth == 1 => return rest.next() == Some(')'),
                ')' if depth > 1 => depth -= 1,
                '\\' => drop(rest.next()),
                _ if depth == 0 => return false,
                _ => {}
            }
        }
        false
    }

    /// Skips an arithmetic expression from its second `(` to after its last `)`.
    pub(super) fn arithmetic(&mut self) -> Result<(), Unparsed> {
        self.deeper()?;
        self.skip(1);
        self.balanced(2)?;
        self.depth -= 1;
        Ok(())
    }

    /// Skips to after the parenthesis that closes `depth` open ones; substitutions inside are read.
    fn balanced(&mut self, mut depth: usize) -> Result<(), Unparsed> {
        let mut scratch = Piece::default();
        while depth > 0 {
            match self.peek() {
                None => return Err(Unparsed::Unclosed("(")),
                Some('(') => {
                    depth += 1;
                    self.skip(1);
                }
                Some(')') => {
                    depth -= 1;
                    self.skip(1);
                }
                Some(c) => self.piece(c, &mut scratch)?,
            }
        }
        Ok(())
    }

    /// Skips to after the `}` of a `${`; substitutions inside are read.
    fn parameter(&mut self) -> Result<(), Unparsed> {
        self.deeper()?;
        let mut scratch = Piece::default();
        loop {
            match self.peek() {
                None => return Err(Unparsed::Unclosed("${")),
                Some('}') => {
                    self.skip(1);
                    self.depth -= 1;
                    return Ok(());
                }
                Some(c) => self.piece(c, &mut scratch)?,
            }
        }
    }

    fn ansi_quoted(&mut self, piece: &mut Piece) -> Result<(), Unparsed> {
        piece.quote();
        loop {
            let Some(c) = self.peek() else {
                return Err(Unparsed::Unclosed("$'"));
            };
            self.skip(c.len_utf8());
            match c {
                '\'' => return Ok(()),
                '\\' => self.ansi_escape(piece),
                c => piece.text.push(c),
            }
        }
    }

    fn ansi_escape(&mut self, piece: &mut Piece) {
        let Some(c) = self.peek() else { return };
        self.skip(c.len_utf8());
        let plain = match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'x' => return self.code(piece, 16, 2),
            'u' => return self.code(piece, 16, 4),
            'U' => return self.code(piece, 16, 8),
            '0'..='7' => {
                self.at -= 1;
                return self.code(piece, 8, 3);
            }
            c => c,
        };
        piece.text.push(plain);
    }

    fn code(&mut self, piece: &mut Piece, radix: u32, most: usize) {
        let digits = self.src[self.at..]
            .chars()
            .take(most)
            .take_while(|c| c.is_digit(radix))
            .count();
        let value = u32::from_str_radix(&self.src[self.at..self.at + digits], radix);
        self.skip(digits);
        match value.ok().and_then(char::from_u32) {
            Some(c) => piece.text.push(c),
            None => piece.unknown = true,
        }
    }

    pub(super) fn backtick(&mut self, piece: &mut Piece, inside: Inside) -> Result<(), Unparsed> {
        let start = self.at;
        self.skip(1);
        let mut inner = String::new();
        loop {
            let Some(c) = self.peek() else {
                return Err(Unparsed::Unclosed("`"));
            };
            self.skip(c.len_utf8());
            match c {
                '`' => break,
                '\\' => match self.peek() {
                    Some(c @ ('`' | '\\' | '$')) => {
                        self.skip(1);
                        inner.push(c);
                    }
                    _ => inner.push('\\'),
                },
                c => inner.push(c),
            }
        }
        self.inner(&inner)?;
        piece.unknown = true;
        piece.splits |= inside == Inside::Word;
        piece.text.push_str(&self.src[start..self.at]);
        Ok(())
    }

    fn until(&mut self, close: char) -> Result<&'a str, Unparsed> {
        let start = self.at;
        let Some(end) = self.src[start..].find(close) else {
            return Err(Unparsed::Unclosed("'"));
        };
        self.skip(end + close.len_utf8());
        Ok(&self.src[start..start + end])
    }
}

/// Says whether the word holds a brace list (`{a,b}`, `{1..3}`), which the shell makes several of.
fn has_braces(piece: &Piece) -> bool {
    piece.open_brace
        && piece.text.contains('}')
        && (piece.text.contains(',') || piece.text.contains(".."))
}
