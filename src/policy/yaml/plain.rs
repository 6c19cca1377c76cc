//! The form of YAML that policy files are written in, read without the general parser.
//!
//! Maps and lists as blocks, short ones in brackets on one line, words, whole numbers and texts in
//! quotes. It answers only where nothing else is in the file; whatever it does not know (tags, anchors,
//! blocks of text, several documents, a character that is not ASCII) is the general parser's, and so is
//! everything that is wrong.

use super::{Node, Yaml};

/// More of anything is left to the general parser, which counts it.
const NODE_LIMIT: usize = 5_000;
const ENTRY_LIMIT: usize = 64;
const DEPTH_LIMIT: usize = 16;

/// What stands between two documents.
const SEPARATOR: &str = "---\n";

/// Returns the documents of a file; `None` where the general parser has to read it.
pub(super) fn documents(text: &str) -> Option<Vec<Node>> {
    let is_plain = |byte: u8| byte == b'\n' || (b' '..=b'~').contains(&byte);
    text.bytes().all(is_plain).then_some(())?;
    let mut reader = Reader {
        text,
        at: 0,
        nodes: 0,
    };
    reader.next_line();
    let mut documents = vec![reader.block(0)?];
    while reader.is_between() {
        reader.at += SEPARATOR.len();
        reader.next_line();
        documents.push(reader.block(0)?);
    }
    (reader.at == text.len()).then_some(documents)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    nodes: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn column(&self) -> usize {
        let start = self.text[..self.at].rfind('\n').map_or(0, |at| at + 1);
        self.at - start
    }

    fn spaces(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    /// Says whether a document ends here and another begins.
    fn is_between(&self) -> bool {
        self.rest().starts_with(SEPARATOR) && self.column() == 0
    }

    /// Says whether a map or list that began at this column goes on here.
    fn is_at(&self, column: usize) -> bool {
        self.at < self.text.len() && self.column() == column && !self.is_between()
    }

    /// Goes to the next text that is no comment; expects to stand at the beginning of a line.
    fn next_line(&mut self) {
        loop {
            self.spaces();
            match self.peek() {
                Some(b'\n') => self.at += 1,
                Some(b'#') => match self.rest().find('\n') {
                    Some(len) => self.at += len + 1,
                    None => self.at = self.text.len(),
                },
                _ => return,
            }
        }
    }

    /// Ends a line after a value, with or without a comment; goes to the next text.
    fn end_line(&mut self) -> Option<()> {
        let before = self.at;
        self.spaces();
        match self.peek() {
            None => return Some(()),
            Some(b'\n') => {}
            Some(b'#') if self.at > before => {}
            Some(_) => return None,
        }
        self.next_line();
        Some(())
    }

    fn node(&mut self, value: Yaml, (at, end): (usize, usize)) -> Option<Node> {
        self.nodes += 1;
        (self.nodes <= NODE_LIMIT).then_some(Node { value, at, end })
    }

    /// Reads the map or list that begins here.
    fn block(&mut self, depth: usize) -> Option<Node> {
        if depth > DEPTH_LIMIT {
            return None;
        }
        let (at, column) = (self.at, self.column());
        let value = if self.rest().starts_with("- ") {
            Yaml::List(self.items(column, depth)?)
        } else {
            Yaml::Map(self.entries(column, depth)?)
        };
        // What stands further in belongs to nothing that was read.
        let is_over = self.at == self.text.len() || self.column() < column || self.is_between();
        (is_over && self.at > at).then_some(())?;
        self.node(value, (at, at))
    }

    fn items(&mut self, column: usize, depth: usize) -> Option<Vec<Node>> {
        let mut items = Vec::new();
        while self.is_at(column) {
            self.rest().starts_with("- ").then_some(())?;
            self.at += 2;
            self.spaces();
            let item = if self.has_key() {
                self.block(depth + 1)?
            } else {
                self.value(depth + 1, Within::Block)?
            };
            items.push(item);
        }
        Some(items)
    }

    fn entries(&mut self, column: usize, depth: usize) -> Option<Vec<(Node, Node)>> {
        let mut entries = Vec::new();
        while self.is_at(column) {
            let key = self.key(&entries)?;
            let value = match self.peek()? {
                b'\n' | b' ' if self.is_line_over() => {
                    self.end_line()?;
                    (self.at < self.text.len() && self.column() > column).then_some(())?;
                    self.block(depth + 1)?
                }
                b' ' => {
                    self.spaces();
                    self.value(depth + 1, Within::Block)?
                }
                _ => return None,
            };
            entries.push((key, value));
        }
        Some(entries)
    }

    fn is_line_over(&self) -> bool {
        let rest = self.rest().trim_start_matches(' ');
        rest.is_empty() || rest.starts_with(['\n', '#'])
    }

    /// Says whether a key stands here, with its value on the same line or below.
    fn has_key(&self) -> bool {
        let len = word(self.rest());
        let after = &self.rest().as_bytes()[len..];
        len > 0 && matches!(after, [b':', b' ' | b'\n', ..])
    }

    /// Reads a key and its colon.
    fn key(&mut self, before: &[(Node, Node)]) -> Option<Node> {
        let at = self.at;
        let key = &self.rest()[..word(self.rest())];
        let is_known = before.iter().any(|(other, _)| other.text() == Some(key));
        let is_full = before.len() >= ENTRY_LIMIT;
        if key.is_empty() || is_known || is_full || is_reserved(key) {
            return None;
        }
        self.at += key.len();
        (self.peek() == Some(b':')).then_some(())?;
        let node = self.node(Yaml::Text(key.to_owned()), (at, self.at));
        self.at += 1;
        node
    }

    /// Reads a value that begins and ends on this line.
    fn value(&mut self, depth: usize, within: Within) -> Option<Node> {
        if depth > DEPTH_LIMIT {
            return None;
        }
        let at = self.at;
        let value = match self.peek()? {
            b'"' => Yaml::Text(self.double_quoted()?),
            b'\'' => Yaml::Text(self.single_quoted()?),
            b'[' => Yaml::List(self.bracketed(depth)?),
            b'{' => Yaml::Map(self.braced(depth)?),
            _ => self.scalar(within)?,
        };
        let end = match value {
            Yaml::List(_) | Yaml::Map(_) => at,
            _ => self.at,
        };
        if within == Within::Block {
            self.end_line()?;
        }
        self.node(value, (at, end))
    }

    fn double_quoted(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut escaped = false;
        for (at, c) in self.rest().char_indices().skip(1) {
            match c {
                '\n' => return None,
                '"' | '\\' if escaped => text.push(c),
                _ if escaped => return None,
                '"' => {
                    self.at += at + 1;
                    return Some(text);
                }
                '\\' => {}
                c => text.push(c),
            }
            escaped = c == '\\' && !escaped;
        }
        None
    }

    fn single_quoted(&mut self) -> Option<String> {
        let rest = self.rest();
        let mut text = String::new();
        let mut at = 1;
        loop {
            let len = rest[at..].find(['\'', '\n'])?;
            text.push_str(&rest[at..at + len]);
            at += len + 1;
            rest[..at].ends_with('\'').then_some(())?;
            if !rest[at..].starts_with('\'') {
                self.at += at;
                return Some(text);
            }
            text.push('\'');
            at += 1;
        }
    }

    fn bracketed(&mut self, depth: usize) -> Option<Vec<Node>> {
        let mut items = Vec::new();
        while self.goes_on(b']', items.is_empty())? {
            items.push(self.value(depth + 1, Within::Brackets)?);
        }
        Some(items)
    }

    fn braced(&mut self, depth: usize) -> Option<Vec<(Node, Node)>> {
        let mut entries = Vec::new();
        while self.goes_on(b'}', entries.is_empty())? {
            let key = self.key(&entries)?;
            (self.peek() == Some(b' ')).then_some(())?;
            self.spaces();
            let value = self.value(depth + 1, Within::Brackets)?;
            entries.push((key, value));
        }
        Some(entries)
    }

    /// Goes past the opening bracket or a comma; `false` past the bracket that closes.
    fn goes_on(&mut self, close: u8, is_first: bool) -> Option<bool> {
        if is_first {
            self.at += 1;
        }
        self.spaces();
        let next = self.peek()?;
        if next == close {
            self.at += 1;
            return Some(false);
        }
        if !is_first {
            (next == b',').then_some(())?;
            self.at += 1;
            self.spaces();
            // Nothing between a comma and what follows is not read here.
            (self.peek()? != close).then_some(())?;
        }
        Some(true)
    }

    /// Reads a text without quotes, a number or a boolean.
    fn scalar(&mut self, within: Within) -> Option<Yaml> {
        let rest = self.rest();
        let text = match within {
            Within::Block => {
                let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
                line.split(" #").next()?
            }
            Within::Brackets => &rest[..rest.find([',', ']', '}', '\n'])?],
        };
        let text = text.trim_end_matches(' ');
        let ends_in_colon = text.ends_with(':');
        let first = text.bytes().next()?;
        let is_odd = match within {
            Within::Block => ends_in_colon || text.contains(": "),
            Within::Brackets => !text.bytes().all(is_tame),
        };
        if is_odd {
            return None;
        }
        self.at += text.len();
        if first.is_ascii_digit() {
            return number(text).map(Yaml::Int);
        }
        match text {
            "true" => Some(Yaml::Bool(true)),
            "false" => Some(Yaml::Bool(false)),
            text if is_reserved(text) || !(first.is_ascii_alphabetic() || first == b'_') => None,
            text => Some(Yaml::Text(text.to_owned())),
        }
    }
}

/// Where a value stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Block,
    Brackets,
}

/// Returns the length of the word that a text begins with.
fn word(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes.first() {
        Some(first) if first.is_ascii_alphabetic() || *first == b'_' => bytes
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
            .count(),
        _ => 0,
    }
}

/// Says whether a byte means nothing but itself between brackets.
fn is_tame(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'*' | b'-' | b' ')
}

/// Says whether a word may stand for something other than its letters.
fn is_reserved(text: &str) -> bool {
    ["true", "false", "null", "nan", "inf", "infinity"]
        .iter()
        .any(|word| word.eq_ignore_ascii_case(text))
}

fn number(text: &str) -> Option<i64> {
    let is_canonical = text == "0" || !text.starts_with('0');
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    (is_canonical && digits && text.len() <= 18)
        .then(|| text.parse().ok())
        .flatten()
}
