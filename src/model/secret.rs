//! What looks like a secret in a text. Forms with a fixed prefix are matched by their shape; anything
//! else only beside a name that says what it is, so that hashes and ids of ordinary output stay.

use std::{borrow::Cow, ops::Range};

mod assigned;
mod form;

/// A secret found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// What it looks like: `aws-key`, `github-token`, `password`.
    pub kind: &'static str,
    /// Its bytes.
    pub range: Range<usize>,
}

/// A byte that begins a form anywhere.
const SIGN: u8 = 1;
/// A byte that begins a form where a word may begin.
const LETTER: u8 = 2;
/// A byte that begins a value after a name.
const VALUE: u8 = 4;

/// For each byte what it may begin, and four bits higher what may begin right after it.
const PLACES: [u8; 256] = {
    let mut places = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let own = byte as u8;
        let mut begins = form::begins(own);
        if assigned::begins_value(own) {
            begins |= VALUE;
        }
        let mut follows = SIGN;
        if !is_word(own) {
            follows |= LETTER;
        }
        if assigned::stands_before(own) {
            follows |= VALUE;
        }
        places[byte] = begins | follows << 4;
        byte += 1;
    }
    places
};

/// Returns the secrets of `text` in order, none overlapping another.
///
/// Every range begins and ends at a character boundary where `text` is UTF-8.
pub fn secrets(text: &[u8]) -> Vec<Secret> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(place) = place(text, at) {
        match form::secret(text, place).or_else(|| assigned::secret(text, place)) {
            Some(secret) => {
                at = secret.range.end;
                found.push(secret);
            }
            None => at = place + 1,
        }
    }
    found
}

/// Returns the next place in `text`, from `from` on, where its byte and those before let a secret be
/// seen.
fn place(text: &[u8], from: usize) -> Option<usize> {
    let mut follows = match from.checked_sub(1) {
        Some(before) => PLACES[usize::from(text[before])] >> 4,
        None => SIGN | LETTER,
    };
    for (at, byte) in text[from..].iter().enumerate() {
        let place = PLACES[usize::from(*byte)];
        let begins = place & follows;
        follows = place >> 4;
        if begins != 0 && (begins != VALUE || !assigned::is_plain_word(text, from + at)) {
            return Some(from + at);
        }
    }
    None
}

/// Says whether an environment variable holds a secret: its name says so, and its value looks drawn.
pub fn is_exported(name: &[u8], value: &[u8]) -> bool {
    assigned::is_exported(name, value)
}

/// Returns `text` with each secret replaced by a mark that is no longer than it.
///
/// Masking goes on until nothing is found: what stands before a mark may look like a secret only then.
pub fn mask(text: &str) -> Cow<'_, str> {
    let Some(mut masked) = mask_once(text) else {
        return Cow::Borrowed(text);
    };
    while let Some(next) = mask_once(&masked) {
        masked = next;
    }
    Cow::Owned(masked)
}

/// Returns `text` with the secrets of one look masked; `None` when there are none.
fn mask_once(text: &str) -> Option<String> {
    let found = secrets(text.as_bytes());
    if found.is_empty() {
        return None;
    }
    let mut masked = String::with_capacity(text.len());
    let mut from = 0;
    for Secret { kind, range } in found {
        masked.push_str(&text[from..range.start]);
        masked.push_str(&mark(kind, range.len()));
        from = range.end;
    }
    masked.push_str(&text[from..]);
    (masked != text).then_some(masked)
}

fn mark(kind: &str, room: usize) -> String {
    let full = format!("[masked:{kind}]");
    if full.len() <= room {
        full
    } else if "[masked]".len() <= room {
        "[masked]".to_owned()
    } else {
        "*".repeat(room)
    }
}

/// Says whether the bytes before `at` let a word begin there.
fn begins_word(text: &[u8], at: usize) -> bool {
    at == 0 || !is_word(text[at - 1])
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the end of the run of bytes from `at` that `class` accepts.
fn run(text: &[u8], at: usize, class: fn(u8) -> bool) -> usize {
    run_at_most(text, at, usize::MAX, class)
}

/// Returns the end of the first `most` bytes of that run.
fn run_at_most(text: &[u8], at: usize, most: usize, class: fn(u8) -> bool) -> usize {
    let length = text[at..]
        .iter()
        .take(most)
        .take_while(|byte| class(**byte))
        .count();
    looked(length);
    at + length
}

/// Counts the bytes that a place is judged by, for the tests.
#[cfg_attr(not(test), expect(unused_variables, reason = "only tests count"))]
fn looked(bytes: usize) {
    #[cfg(test)]
    LOOKED.set(LOOKED.get() + bytes);
}

#[cfg(test)]
thread_local! {
    static LOOKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Says whether letters and digits are mixed, as in a random string and not in a word.
fn is_mixed(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests;
