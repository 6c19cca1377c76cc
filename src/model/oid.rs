use std::fmt;

use thiserror::Error;

/// A git object id, SHA-1 or SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oid {
    len: u8,
    bytes: [u8; 32],
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

    /// Returns the id's 20 or 32 bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
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

/// Returns `bytes` as lower-case hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| {
            [
                DIGITS[usize::from(byte >> 4)],
                DIGITS[usize::from(byte & 15)],
            ]
        })
        .map(char::from)
        .collect()
}

/// Returns the bytes that lower- or upper-case hex digits name.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    text.as_bytes()
        .chunks(2)
        .map(|pair| {
            let high = char::from(pair[0]).to_digit(16)?;
            let low = char::from(pair[1]).to_digit(16)?;
            u8::try_from(high * 16 + low).ok()
        })
        .collect()
}

impl std::str::FromStr for Oid {
    type Err = ParseOidError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        unhex(text)
            .and_then(|bytes| Self::from_bytes(&bytes))
            .ok_or_else(|| ParseOidError(text.chars().take(80).collect()))
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
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
        for text in [
            "",
            "abc",
            "zz786850e387550fdab836ed7e6dc881de23001b",
            "3f78",
        ] {
            assert!(text.parse::<Oid>().is_err(), "{text}");
        }
    }
}
