use std::{
    fmt,
    hash::{Hash, Hasher},
};

use thiserror::Error;

/// A git object id, SHA-1 or SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Oid {
    len: u8,
    bytes: [u8; 32],
}

impl Hash for Oid {
    /// The first 16 bytes of a hash tell ids apart.
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(&self.bytes[..16]);
    }
}

/// A text is not an object id.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("'{0}' is not an object id")]
pub struct ParseOidError(String);

impl Oid {
    /// Returns the id of these 20 or 32 bytes; `None` for any other length.
    pub fn from_bytes(raw: &[u8]) -> Option<Self> {
        if raw.len() != 20 && raw.len() != 32 {
            return None;
        }
        let mut bytes = [0; 32];
        bytes[..raw.len()].copy_from_slice(raw);
        Some(Self {
            len: raw.len() as u8,
            bytes,
        })
    }

    /// Returns the id that 40 or 64 hex digits name; `None` for anything else.
    pub fn from_hex(text: &[u8]) -> Option<Self> {
        let len = match text.len() {
            40 => 20,
            64 => 32,
            _ => return None,
        };
        let mut bytes = [0; 32];
        let mut seen = 0;
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            let (high, low) = (VALUES[usize::from(pair[0])], VALUES[usize::from(pair[1])]);
            seen |= high | low;
            *byte = high << 4 | low;
        }
        (seen < 16).then_some(Self { len, bytes })
    }

    /// Returns the id's 20 or 32 bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Adds the id's lower-case hex digits to a text.
    pub(crate) fn push_hex(&self, text: &mut String) {
        text.push_str(digits_of(self.as_bytes(), &mut [0; 64]));
    }

    /// Returns the id as lower-case hex digits.
    pub fn to_hex(&self) -> String {
        hex(self.as_bytes())
    }

    /// Returns the first 12 hex digits, whatever core.abbrev says.
    pub fn short(&self) -> String {
        hex(&self.bytes[..6])
    }

    /// Says whether this is the id of all zeros that git writes for "no object".
    pub fn is_null(&self) -> bool {
        self.bytes.iter().all(|byte| *byte == 0)
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The two digits of each byte.
const PAIRS: [[u8; 2]; 256] = {
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        pairs[byte] = [DIGITS[byte >> 4], DIGITS[byte & 15]];
        byte += 1;
    }
    pairs
};

/// Returns `bytes` as lower-case hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for chunk in bytes.chunks(32) {
        text.push_str(digits_of(chunk, &mut [0; 64]));
    }
    text
}

/// Writes the digits of up to 32 bytes.
fn digits_of<'a>(bytes: &[u8], text: &'a mut [u8; 64]) -> &'a str {
    for (pair, byte) in text.as_chunks_mut().0.iter_mut().zip(bytes) {
        *pair = PAIRS[usize::from(*byte)];
    }
    std::str::from_utf8(&text[..2 * bytes.len().min(32)]).unwrap_or_default()
}

/// The value of each byte as a hex digit; [`NONE`] for one that is none.
const VALUES: [u8; 256] = {
    let mut values = [NONE; 256];
    let mut value = 0;
    while value < 16 {
        values[DIGITS[value] as usize] = value as u8;
        values[DIGITS[value].to_ascii_uppercase() as usize] = value as u8;
        value += 1;
    }
    values
};
const NONE: u8 = 0xff;

/// Returns the byte that two hex digits name.
fn byte_of(pair: &[u8]) -> Option<u8> {
    let (high, low) = (VALUES[usize::from(pair[0])], VALUES[usize::from(pair[1])]);
    (high | low < 16).then_some(high << 4 | low)
}

/// Returns the bytes that lower- or upper-case hex digits name.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    text.as_bytes().chunks_exact(2).map(byte_of).collect()
}

impl std::str::FromStr for Oid {
    type Err = ParseOidError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::from_hex(text.as_bytes())
            .ok_or_else(|| ParseOidError(text.chars().take(80).collect()))
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(digits_of(self.as_bytes(), &mut [0; 64]))
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Oid({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::Oid;

    #[test]
    fn hex_round_trips_for_both_hashes() {
        for text in ["3f786850e387550fdab836ed7e6dc881de23001b", &"ab".repeat(32)] {
            let oid: Oid = text.parse().unwrap();
            assert_eq!(oid.to_hex(), text);
            assert_eq!(oid.short(), text[..12]);
        }
        let upper: Oid = "3F786850E387550FDAB836ED7E6DC881DE23001B".parse().unwrap();
        assert_eq!(upper.short(), "3f786850e387");
        for text in [
            "",
            "abc",
            "zz786850e387550fdab836ed7e6dc881de23001b",
            "3f786850e387550fdab836ed7e6dc881de23001\u{e9}",
            "3f786850e387550fdab836ed7e6dc881de2300/g",
            "3f78",
        ] {
            assert!(text.parse::<Oid>().is_err(), "{text}");
        }
    }
}
