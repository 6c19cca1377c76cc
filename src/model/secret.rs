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

/// Returns the secrets of `text` in order, none overlapping another.
///
/// Every range begins and ends at a character boundary where `text` is UTF-8.
pub fn secrets(text: &[u8]) -> Vec<Secret> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        match form::secret(text, at).or_else(|| assigned::secret(text, at)) {
            Some(secret) => {
                at = secret.range.end;
                found.push(secret);
            }
            None => at += 1,
        }
    }
    found
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
    at == 0 || !(text[at - 1].is_ascii_alphanumeric() || text[at - 1] == b'_')
}

/// Returns the end of the run of bytes from `at` that `class` accepts.
fn run(text: &[u8], at: usize, class: fn(u8) -> bool) -> usize {
    text[at..]
        .iter()
        .position(|byte| !class(*byte))
        .map_or(text.len(), |length| at + length)
}

/// Says whether letters and digits are mixed, as in a random string and not in a word.
fn is_mixed(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests;
