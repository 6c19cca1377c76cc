use std::{fmt, str::FromStr};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, Visitor},
};

use crate::model::Oid;

/// A file over this many bytes is known by size and time only; its content is not kept.
pub(crate) const LARGEST: u64 = 16 * 1024 * 1024;

/// What lies at a path, exactly: raw bytes (no filter), mode, or a link's target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Content {
    /// Nothing, or a directory.
    Absent,
    File(Oid),
    Executable(Oid),
    /// A symbolic link; the blob is the text of its target.
    Link(Oid),
    /// A file too large to keep.
    Large {
        size: u64,
        modified_ns: i64,
        executable: bool,
    },
    /// A pipe, a socket or a device.
    Special,
}

impl Content {
    /// Returns the blob that holds the bytes.
    pub fn blob(&self) -> Option<Oid> {
        match self {
            Self::File(id) | Self::Executable(id) | Self::Link(id) => Some(*id),
            Self::Absent | Self::Large { .. } | Self::Special => None,
        }
    }

    /// Returns what of it stays the same wherever it lies: all but the mode; `None` where there is
    /// nothing to be moved.
    pub(crate) fn bytes(&self) -> Option<Self> {
        match self {
            Self::Absent | Self::Special => None,
            Self::File(id) | Self::Executable(id) => Some(Self::File(*id)),
            Self::Link(_) => Some(self.clone()),
            Self::Large {
                size, modified_ns, ..
            } => Some(Self::Large {
                size: *size,
                modified_ns: *modified_ns,
                executable: false,
            }),
        }
    }

    /// Says whether it is a regular file.
    pub fn is_file(&self) -> bool {
        match self {
            Self::File(_) | Self::Executable(_) | Self::Large { .. } => true,
            Self::Absent | Self::Link(_) | Self::Special => false,
        }
    }

    /// Says whether there are bytes that can be lost.
    pub fn holds_bytes(&self) -> bool {
        match self {
            Self::Absent | Self::Special => false,
            Self::File(_) | Self::Executable(_) | Self::Link(_) | Self::Large { .. } => true,
        }
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("-"),
            Self::File(id) => write!(f, "f{id}"),
            Self::Executable(id) => write!(f, "x{id}"),
            Self::Link(id) => write!(f, "l{id}"),
            Self::Large {
                size,
                modified_ns,
                executable,
            } => {
                let kind = if *executable { 'X' } else { 'F' };
                write!(f, "{kind}{size}.{modified_ns}")
            }
            Self::Special => f.write_str("s"),
        }
    }
}

impl FromStr for Content {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("'{text}' is no content");
        let mut chars = text.chars();
        let kind = chars.next().ok_or_else(unknown)?;
        let rest = chars.as_str();
        let blob = || rest.parse::<Oid>().map_err(|_| unknown());
        let large = |executable| {
            let (size, modified_ns) = rest.split_once('.').ok_or_else(unknown)?;
            Ok(Self::Large {
                size: size.parse().map_err(|_| unknown())?,
                modified_ns: modified_ns.parse().map_err(|_| unknown())?,
                executable,
            })
        };
        match kind {
            '-' => Ok(Self::Absent),
            's' => Ok(Self::Special),
            'f' => blob().map(Self::File),
            'x' => blob().map(Self::Executable),
            'l' => blob().map(Self::Link),
            'F' => large(false),
            'X' => large(true),
            _ => Err(unknown()),
        }
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text)
    }
}

struct Text;

impl Visitor<'_> for Text {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a content")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Content, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Content;
    use crate::model::Oid;

    #[test]
    fn every_content_reads_back() {
        let id = Oid::from_bytes(&[7; 20]).unwrap();
        let long = Oid::from_bytes(&[9; 32]).unwrap();
        for content in [
            Content::Absent,
            Content::File(id),
            Content::Executable(long),
            Content::Link(id),
            Content::Large {
                size: 17 << 20,
                modified_ns: -5,
                executable: true,
            },
            Content::Large {
                size: u64::MAX,
                modified_ns: i64::MAX,
                executable: false,
            },
            Content::Special,
        ] {
            let text = serde_json::to_string(&content).unwrap();
            assert_eq!(text, format!("\"{content}\""));
            assert_eq!(serde_json::from_str::<Content>(&text).unwrap(), content);
            assert_eq!(content.to_string().parse(), Ok(content));
        }
        for text in ["", "f", "fzz", "L5", "F5", "F.5", "q"] {
            assert!(text.parse::<Content>().is_err(), "{text}");
        }
    }
}
