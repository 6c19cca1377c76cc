//! A tolerant reader of JSON that others wrote.
//!
//! It finds values by name and decodes only what is asked for, so that a lone surrogate, a raw control
//! byte, bytes that are not UTF-8, a number nobody can hold or deep nesting elsewhere loses nothing.
//! It never fails and never recurses: what is no value is absent.

use std::{borrow::Cow, ops::Range};

/// One value of a document, as its bytes lie there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value<'a>(&'a [u8]);

/// Finds the end of the first document in bytes that arrive in pieces.
#[derive(Clone, Debug, Default)]
pub(super) struct End {
    seen: usize,
    depth: usize,
    begun: bool,
    in_string: bool,
    escaped: bool,
}

impl End {
    /// Looks at what `bytes` (all that arrived so far) has more than at the last call; returns where the
    /// first object or array ends, once it does.
    pub(super) fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        while let Some(&c) = bytes.get(self.seen) {
            self.seen += 1;
            if self.in_string {
                match c {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match c {
                b'"' => self.in_string = true,
                b'{' | b'[' => {
                    self.begun = true;
                    self.depth += 1;
                }
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if self.begun && self.depth == 0 {
                return Some(self.seen);
            }
        }
        None
    }
}

/// Returns the first value in `bytes`, after a byte order mark and white space.
pub(super) fn first(bytes: &[u8]) -> Option<Value<'_>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut at = Cursor { bytes, at: 0 };
    at.value()
}

/// A member of an object: its name, and where its value lies.
pub(super) type Member = (String, Range<usize>);

/// Returns the members of the object that `bytes` begin with; `None` where it is no object.
pub(super) fn index(bytes: &[u8]) -> Option<Vec<Member>> {
    let start = bytes.as_ptr().addr();
    let object = first(bytes).filter(|value| value.is_object())?;
    let member = |(key, value): (Value<'_>, Value<'_>)| {
        let at = value.0.as_ptr().addr() - start;
        Some((key.text()?.into_owned(), at..at + value.0.len()))
    };
    Some(object.members().filter_map(member).collect())
}

/// Returns the value that lies at `range`, as `index` tells it.
pub(super) fn at(bytes: &[u8], range: Range<usize>) -> Option<Value<'_>> {
    bytes.get(range).map(Value)
}

impl<'a> Value<'a> {
    /// Returns the bytes of the value as they lie in the document.
    pub fn raw(self) -> &'a [u8] {
        self.0
    }

    /// Says whether this is an object.
    pub fn is_object(self) -> bool {
        self.0.first() == Some(&b'{')
    }

    /// Returns the member of an object; of two with one name the last, as the client's parser does.
    pub fn get(self, name: &str) -> Option<Self> {
        self.members()
            .filter(|(key, _)| key.text().is_some_and(|key| key == name))
            .last()
            .map(|(_, value)| value)
    }

    /// Returns names and values of an object, in their order; nothing for another value.
    pub fn members(self) -> impl Iterator<Item = (Self, Self)> {
        let mut cursor = self.inside(b'{');
        std::iter::from_fn(move || {
            let cursor = cursor.as_mut()?;
            loop {
                let key = cursor.value()?;
                if !cursor.skip(b':') {
                    // A value without a name, in an object that is none: go on behind it.
                    cursor.skip(b',');
                    continue;
                }
                let value = cursor.value()?;
                cursor.skip(b',');
                if key.0.first() == Some(&b'"') {
                    return Some((key, value));
                }
            }
        })
    }

    /// Returns the values of an array, in their order; nothing for another value.
    pub fn items(self) -> impl Iterator<Item = Self> {
        let mut cursor = self.inside(b'[');
        std::iter::from_fn(move || {
            let cursor = cursor.as_mut()?;
            let value = cursor.value()?;
            cursor.skip(b',');
            Some(value)
        })
    }

    /// Returns a string's text; what is no text in it becomes U+FFFD.
    pub fn text(self) -> Option<Cow<'a, str>> {
        Some(match self.bytes()? {
            Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
            Cow::Owned(bytes) => Cow::Owned(
                String::from_utf8(bytes)
                    .unwrap_or_else(|wrong| String::from_utf8_lossy(wrong.as_bytes()).into_owned()),
            ),
        })
    }

    /// Returns a string's bytes: those that are not UTF-8 as they came; a lone surrogate is U+FFFD.
    pub fn bytes(self) -> Option<Cow<'a, [u8]>> {
        let inner = self.0.strip_prefix(b"\"")?;
        let inner = inner.strip_suffix(b"\"").unwrap_or(inner);
        match inner.contains(&b'\\') {
            true => Some(Cow::Owned(unescaped(inner))),
            false => Some(Cow::Borrowed(inner)),
        }
    }

    /// Returns the value as JSON that every reader takes: what is no text in its strings becomes U+FFFD.
    pub fn json(self) -> Cow<'a, str> {
        match std::str::from_utf8(self.0) {
            Ok(text) if is_proper(self.0) => Cow::Borrowed(text),
            Ok(_) | Err(_) => Cow::Owned(proper(self.0)),
        }
    }

    /// Says whether this is true, or a string that says so.
    pub fn truth(self) -> bool {
        self.0 == b"true" || self.0.eq_ignore_ascii_case(b"\"true\"")
    }

    fn inside(self, open: u8) -> Option<Cursor<'a>> {
        (self.0.first() == Some(&open)).then_some(Cursor {
            bytes: self.0,
            at: 1,
        })
    }
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn peek(&mut self) -> Option<u8> {
        while let Some(c) = self.bytes.get(self.at) {
            if !c.is_ascii_whitespace() {
                return Some(*c);
            }
            self.at += 1;
        }
        None
    }

    fn skip(&mut self, c: u8) -> bool {
        let found = self.peek() == Some(c);
        self.at += usize::from(found);
        found
    }

    /// Takes the next value; `None` at the end of the container or of the bytes.
    fn value(&mut self) -> Option<Value<'a>> {
        let first = self.peek()?;
        let start = self.at;
        let rest = &self.bytes[start..];
        let len = match first {
            b'"' => string_len(rest),
            b'{' | b'[' => End::default().find(rest).unwrap_or(rest.len()),
            b'}' | b']' | b',' | b':' => return None,
            _ => rest
                .iter()
                .position(|c| c.is_ascii_whitespace() || b",:}]{[\"".contains(c))
                .unwrap_or(rest.len()),
        };
        self.at += len;
        Some(Value(&rest[..len]))
    }
}

/// Returns the length of the string that `bytes` begin with, its quotes included.
fn string_len(bytes: &[u8]) -> usize {
    let mut escaped = false;
    for (at, c) in bytes.iter().enumerate().skip(1) {
        match c {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    bytes.len()
}

fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        if text[at] != b'\\' {
            bytes.push(text[at]);
            at += 1;
            continue;
        }
        let plain = match text.get(at + 1) {
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'b') => 0x08,
            Some(b'f') => 0x0c,
            Some(b'u') => {
                let (c, len) = unicode(&text[at..]);
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                at += len;
                continue;
            }
            Some(other) => *other,
            None => b'\\',
        };
        bytes.push(plain);
        at += 2;
    }
    bytes
}

/// Says whether the strings of a value hold no raw control byte and no escape that may be wrong.
fn is_proper(json: &[u8]) -> bool {
    let mut at = 0;
    while let Some(c) = json.get(at) {
        match (c, json.get(at + 1)) {
            (b'\\', Some(b'u')) if unicode(&json[at..]).0 == char::REPLACEMENT_CHARACTER => {
                return false;
            }
            (b'\\', Some(b'"' | b'\\' | b'/' | b'n' | b't' | b'r' | b'b' | b'f')) => at += 1,
            (b'\\', Some(b'u')) => at += unicode(&json[at..]).1 - 1,
            (b'\\', _) | (..=0x1f, _) => return false,
            _ => {}
        }
        at += 1;
    }
    true
}

/// Writes each string of a value anew.
fn proper(json: &[u8]) -> String {
    let mut text = String::with_capacity(json.len());
    let mut at = 0;
    while at < json.len() {
        let rest = &json[at..];
        let length = match rest[0] {
            b'"' => {
                let length = string_len(rest);
                let string = Value(&rest[..length]).text().unwrap_or_default();
                text.push_str(&serde_json::Value::from(string).to_string());
                length
            }
            _ => {
                let length = rest.iter().position(|c| *c == b'"');
                let length = length.unwrap_or(rest.len());
                text.push_str(&String::from_utf8_lossy(&rest[..length]));
                length
            }
        };
        at += length;
    }
    text
}

/// Decodes the `\uXXXX`, or pair of them, that `text` begins with; returns its length too.
fn unicode(text: &[u8]) -> (char, usize) {
    let unit = |at: usize| {
        let escape = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        let digits = escape.iter().all(u8::is_ascii_hexdigit);
        let digits = std::str::from_utf8(escape).ok().filter(|_| digits)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let Some(high) = unit(0) else {
        return (char::REPLACEMENT_CHARACTER, 2);
    };
    if let Some(low) = unit(6)
        && let Some(Ok(c)) = char::decode_utf16([high, low]).next()
        && c.len_utf16() == 2
    {
        return (c, 12);
    }
    let c = char::from_u32(u32::from(high));
    (c.unwrap_or(char::REPLACEMENT_CHARACTER), 6)
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
