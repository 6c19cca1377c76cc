use std::{
    fmt,
    hash::{Hash, Hasher},
};

use thiserror::Error;

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// The place in the alphabet of each byte; 255 of those that are not in it.
const VALUES: [u8; 256] = {
    let mut values = [255; 256];
    let mut place = 0;
    while place < ALPHABET.len() {
        values[ALPHABET[place] as usize] = place as u8;
        place += 1;
    }
    values
};
const TIME: usize = 10;
const HASH: usize = 32;
const MAX_TIME: u64 = (1 << 48) - 1;

/// The id of a record: 42 characters of Crockford base32, 10 of time (ms) and 32 (160 bits) of blake3.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordId([u8; TIME + HASH]);

impl Hash for RecordId {
    /// The last 16 characters, 80 bits of blake3, tell ids apart.
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(&self.0[TIME + HASH - 16..]);
    }
}

/// A text is not a record id.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("'{0}' is not a record id")]
pub struct ParseIdError(String);

impl RecordId {
    /// Returns the id of a record made at `time` (ms) whose line without its id hashes to `hash`.
    pub fn new(time: u64, hash: &blake3::Hash) -> Self {
        let mut text = [0; TIME + HASH];
        let mut left = time.min(MAX_TIME);
        for place in text[..TIME].iter_mut().rev() {
            *place = ALPHABET[(left & 31) as usize];
            left >>= 5;
        }
        for (index, place) in text[TIME..].iter_mut().enumerate() {
            *place = ALPHABET[usize::from(five_bits(hash.as_bytes(), index * 5))];
        }
        Self(text)
    }

    /// Returns the 42 characters.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("the alphabet is ASCII")
    }

    /// Returns the time part in ms.
    pub fn time(&self) -> u64 {
        self.0[..TIME]
            .iter()
            .fold(0, |time, c| (time << 5) | u64::from(value(*c).unwrap_or(0)))
    }

    /// Returns the hash part, of which people see and type a prefix.
    pub fn hash(&self) -> &str {
        &self.as_str()[TIME..]
    }

    /// Returns the first 10 characters of the hash part.
    pub fn short(&self) -> &str {
        &self.as_str()[TIME..TIME + 10]
    }
}

fn five_bits(bytes: &[u8], at: usize) -> u8 {
    let word = (u16::from(bytes[at / 8]) << 8) | u16::from(*bytes.get(at / 8 + 1).unwrap_or(&0));
    ((word >> (11 - at % 8)) & 31) as u8
}

fn value(c: u8) -> Option<u8> {
    let place = VALUES[usize::from(c)];
    (place < 32).then_some(place)
}

impl std::str::FromStr for RecordId {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || ParseIdError(text.chars().take(80).collect());
        let bytes: [u8; TIME + HASH] = text.as_bytes().try_into().map_err(|_| wrong())?;
        let known = bytes.iter().all(|c| value(*c).is_some());
        if !known || bytes[0] > b'7' {
            return Err(wrong());
        }
        Ok(Self(bytes))
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RecordId({self})")
    }
}

/// What a person types for an id: a whole id, or at least 4 characters from the start of its hash part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix(String);

impl Prefix {
    /// Reads `text` as Crockford base32 (any case; I and L are 1, O is 0); `None` when it cannot be one.
    pub fn parse(text: &str) -> Option<Self> {
        let folded: Option<String> = text
            .chars()
            .map(|c| match c.to_ascii_uppercase() {
                'I' | 'L' => Some('1'),
                'O' => Some('0'),
                c if c.is_ascii() && value(c as u8).is_some() => Some(c),
                _ => None,
            })
            .collect();
        folded
            .filter(|text| (4..=TIME + HASH).contains(&text.len()))
            .map(Self)
    }

    /// Returns what the hash part of every id that this text names begins with, one of these.
    pub fn hash_starts(&self) -> impl Iterator<Item = &str> {
        let as_id = (self.0.len() > TIME).then(|| &self.0[TIME..]);
        let as_hash = (self.0.len() <= HASH).then_some(self.0.as_str());
        as_hash.into_iter().chain(as_id)
    }

    /// Says whether `id` is one that this text names.
    pub fn matches(&self, id: &RecordId) -> bool {
        id.hash().starts_with(&self.0) || (self.0.len() > TIME && id.as_str().starts_with(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::{Prefix, RecordId};

    #[test]
    fn an_id_sorts_by_time_and_names_its_hash() {
        let hash = blake3::hash(b"x");
        let early = RecordId::new(1, &hash);
        let late = RecordId::new(1_700_000_000_000, &hash);
        assert!(early < late);
        assert_eq!(late.time(), 1_700_000_000_000);
        assert_eq!(late.as_str().len(), 42);
        assert_eq!(late.as_str().parse(), Ok(late));
        assert_eq!(early.hash(), late.hash());
    }

    #[test]
    fn the_hash_part_is_the_first_160_bits() {
        let hash = blake3::hash(b"x");
        let id = RecordId::new(0, &hash);
        let mut bits = String::new();
        for c in id.hash().bytes() {
            bits.push_str(&format!("{:05b}", super::value(c).unwrap()));
        }
        let want: String = hash.as_bytes()[..20]
            .iter()
            .map(|byte| format!("{byte:08b}"))
            .collect();
        assert_eq!(bits, want);
    }

    #[test]
    fn a_prefix_is_typed_in_any_case() {
        let id = RecordId::new(5, &blake3::hash(b"y"));
        assert!(
            Prefix::parse(&id.hash()[..6].to_lowercase())
                .unwrap()
                .matches(&id)
        );
        assert!(Prefix::parse(id.as_str()).unwrap().matches(&id));
        assert_eq!(Prefix::parse("abc"), None);
        assert_eq!(Prefix::parse("T-12"), None);
    }

    #[test]
    fn other_texts_are_no_ids() {
        for text in [
            "",
            "01J",
            &"0".repeat(41),
            &"U".repeat(42),
            &"8".repeat(42),
            &"0".repeat(43),
        ] {
            assert!(text.parse::<RecordId>().is_err(), "{text}");
        }
    }
}
