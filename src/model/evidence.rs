use std::fmt;

use base64::{Engine as _, prelude::BASE64_STANDARD};

use super::{is_blank, json::Value, oid::unhex};

/// How many bytes of evidence, counted as encoded, stand in the record itself.
pub const INLINE_LIMIT: usize = 8 * 1024;
const EXCERPT_PART: usize = 480;

/// A blake3 digest: 64 hex digits in records and in the paths of the evidence ref.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Returns the digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Returns the digest these 32 bytes are.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the 64 hex digits.
    pub fn to_hex(&self) -> String {
        super::oid::hex(&self.0)
    }
}

impl std::str::FromStr for Digest {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        unhex(text)
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or(())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// What a verdict rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Text that fits the record.
    Text(String),
    /// Bytes that fit the record and are not UTF-8.
    Bytes(Vec<u8>),
    /// An excerpt; the bytes lie in the evidence ref under their digest.
    Long(LongEvidence),
}

/// Evidence that is too long for a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongEvidence {
    /// The first and last characters.
    pub excerpt: String,
    /// The digest of all bytes.
    pub digest: Digest,
    /// The number of all bytes.
    pub size: u64,
    /// What is stored when not all bytes are: a head and a tail.
    pub kept: Option<Kept>,
}

/// The stored part of a capped capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    pub digest: Digest,
    pub size: u64,
}

impl Evidence {
    /// Returns what a record carries of `bytes`, all of which are stored when they do not fit.
    pub fn of(bytes: &[u8]) -> Self {
        if let Ok(text) = std::str::from_utf8(bytes) {
            if Value::from(text).to_string().len() <= INLINE_LIMIT {
                return Self::Text(text.to_owned());
            }
        } else if bytes.len().div_ceil(3) * 4 <= INLINE_LIMIT {
            return Self::Bytes(bytes.to_vec());
        }
        Self::Long(LongEvidence {
            excerpt: excerpt(bytes),
            digest: Digest::of(bytes),
            size: bytes.len() as u64,
            kept: None,
        })
    }

    /// Says whether `bytes` are no evidence: nothing in them shows.
    pub fn is_blank(bytes: &[u8]) -> bool {
        std::str::from_utf8(bytes).is_ok_and(is_blank)
    }

    /// Returns the digest and size of the bytes to look for in the evidence ref.
    pub fn stored(&self) -> Option<Kept> {
        match self {
            Self::Text(_) | Self::Bytes(_) => None,
            Self::Long(long) => Some(long.kept.unwrap_or(Kept {
                digest: long.digest,
                size: long.size,
            })),
        }
    }

    /// Returns the bytes when the record itself holds them.
    pub fn inline(&self) -> Option<&[u8]> {
        match self {
            Self::Text(text) => Some(text.as_bytes()),
            Self::Bytes(bytes) => Some(bytes),
            Self::Long(_) => None,
        }
    }

    /// Returns the text a view shows: short evidence whole, else an excerpt with digest and size.
    pub fn cell(&self) -> String {
        match self {
            Self::Text(text) => text.trim().to_owned(),
            Self::Bytes(bytes) => {
                format!(
                    "{} [{} bytes, blake3:{}]",
                    excerpt(bytes),
                    bytes.len(),
                    &Digest::of(bytes).to_hex()[..16]
                )
            }
            Self::Long(long) => {
                format!(
                    "{} [{} bytes, blake3:{}]",
                    long.excerpt.trim(),
                    long.size,
                    &long.digest.to_hex()[..16]
                )
            }
        }
    }

    pub(super) fn to_value(&self) -> Value<'_> {
        match self {
            Self::Text(text) => Value::from(text.as_str()),
            Self::Bytes(bytes) => {
                Value::Map(vec![("b64".into(), BASE64_STANDARD.encode(bytes).into())])
            }
            Self::Long(long) => {
                let mut members = vec![
                    ("excerpt".into(), long.excerpt.as_str().into()),
                    ("blake3".into(), long.digest.to_hex().into()),
                    ("size".into(), long.size.into()),
                ];
                if let Some(kept) = long.kept {
                    members.push(("kept".into(), kept.to_value()));
                }
                Value::Map(members)
            }
        }
    }

    pub(super) fn from_value(value: &Value<'_>) -> Option<Self> {
        if let Some(text) = value.as_str() {
            return Some(Self::Text(text.to_owned()));
        }
        if let Some(encoded) = value.get("b64") {
            return BASE64_STANDARD
                .decode(encoded.as_str()?)
                .ok()
                .map(Self::Bytes);
        }
        Some(Self::Long(LongEvidence {
            excerpt: value.get("excerpt")?.as_str()?.to_owned(),
            digest: value.get("blake3")?.as_str()?.parse().ok()?,
            size: value.get("size")?.as_u64()?,
            kept: match value.get("kept") {
                None => None,
                Some(kept) => Some(Kept::from_value(kept)?),
            },
        }))
    }
}

impl Kept {
    fn to_value(self) -> Value<'static> {
        Value::Map(vec![
            ("blake3".into(), self.digest.to_hex().into()),
            ("size".into(), self.size.into()),
        ])
    }

    fn from_value(value: &Value<'_>) -> Option<Self> {
        Some(Self {
            digest: value.get("blake3")?.as_str()?.parse().ok()?,
            size: value.get("size")?.as_u64()?,
        })
    }
}

/// Returns the head and the tail of `bytes` as text, cut between characters.
fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim();
    if text.len() <= 2 * EXCERPT_PART {
        return text.to_owned();
    }
    let head = text.floor_char_boundary_at(EXCERPT_PART);
    let tail = text.ceil_char_boundary_at(text.len() - EXCERPT_PART);
    format!(
        "{} … {}",
        text[..head].trim_end(),
        text[tail..].trim_start()
    )
}

trait CharBoundary {
    fn floor_char_boundary_at(&self, at: usize) -> usize;
    fn ceil_char_boundary_at(&self, at: usize) -> usize;
}

impl CharBoundary for str {
    fn floor_char_boundary_at(&self, at: usize) -> usize {
        (0..=at)
            .rev()
            .find(|at| self.is_char_boundary(*at))
            .unwrap_or(0)
    }

    fn ceil_char_boundary_at(&self, at: usize) -> usize {
        (at..=self.len())
            .find(|at| self.is_char_boundary(*at))
            .unwrap_or(self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{Evidence, INLINE_LIMIT};

    #[test]
    fn evidence_up_to_the_limit_as_encoded_is_inline() {
        assert!(matches!(
            Evidence::of(&vec![b'x'; INLINE_LIMIT - 2]),
            Evidence::Text(_)
        ));
        assert!(matches!(
            Evidence::of(&vec![b'x'; INLINE_LIMIT - 1]),
            Evidence::Long(_)
        ));
        assert!(matches!(
            Evidence::of(&vec![b'"'; INLINE_LIMIT / 2]),
            Evidence::Long(_)
        ));
        assert!(matches!(Evidence::of(b"\xff\xfe"), Evidence::Bytes(_)));
        assert!(matches!(Evidence::of(&[0xff; 7000]), Evidence::Long(_)));
    }

    #[test]
    fn an_excerpt_is_cut_between_characters() {
        for shift in 0..8 {
            let text = format!("{}{}", "x".repeat(shift), "日本語é👩‍👩‍👧".repeat(2000));
            let Evidence::Long(long) = Evidence::of(text.as_bytes()) else {
                panic!("long")
            };
            assert!(long.excerpt.len() < 1000);
            assert_eq!(long.size, text.len() as u64);
        }
    }

    #[test]
    fn evidence_round_trips() {
        for bytes in [b"ok\n".to_vec(), vec![0, 159, 146, 150], vec![b'a'; 20_000]] {
            let evidence = Evidence::of(&bytes);
            assert_eq!(Evidence::from_value(&evidence.to_value()), Some(evidence));
        }
    }
}
