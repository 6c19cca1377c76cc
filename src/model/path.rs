use std::{borrow::Cow, ffi::OsStr, fmt, os::unix::ffi::OsStrExt as _};

/// A path in a repository as git knows it: bytes, `/` between the parts, relative to the top level.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(Vec<u8>);

impl RepoPath {
    /// Returns the path of these bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the text records, JSON and messages carry: the path itself, or git's C-quoting
    /// (core.quotePath false) where it holds a control byte, `"`, `\` or bytes that are not UTF-8.
    pub fn quoted(&self) -> String {
        self.quoted_or_plain().into_owned()
    }

    /// The same, without a copy where the path stands for itself.
    pub(crate) fn quoted_or_plain(&self) -> Cow<'_, str> {
        let text = std::str::from_utf8(&self.0);
        match text {
            Ok(text) if !text.bytes().any(needs_quotes) => text.into(),
            _ => quote(&self.0).into(),
        }
    }

    /// Reads what [`Self::quoted`] wrote; `None` for a broken escape.
    pub fn from_quoted(text: &str) -> Option<Self> {
        match text.strip_prefix('"') {
            None => Some(Self(text.as_bytes().to_vec())),
            Some(rest) => unquote(rest.strip_suffix('"')?.as_bytes()).map(Self),
        }
    }
}

fn needs_quotes(byte: u8) -> bool {
    byte < 0x20 || matches!(byte, b'"' | b'\\' | 0x7f)
}

fn quote(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\u{7}' => out.push_str("\\a"),
                '\u{8}' => out.push_str("\\b"),
                '\t' => out.push_str("\\t"),
                '\n' => out.push_str("\\n"),
                '\u{b}' => out.push_str("\\v"),
                '\u{c}' => out.push_str("\\f"),
                '\r' => out.push_str("\\r"),
                c if c.is_ascii_control() => out.push_str(&format!("\\{:03o}", u32::from(c))),
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\{byte:03o}"));
        }
    }
    out.push('"');
    out
}

fn unquote(mut text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let [first, rest @ ..] = text {
        text = rest;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let [escape, rest @ ..] = text else {
            return None;
        };
        text = rest;
        bytes.push(match escape {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            b'"' | b'\\' => *escape,
            b'0'..=b'3' => {
                let [middle @ b'0'..=b'7', low @ b'0'..=b'7', rest @ ..] = text else {
                    return None;
                };
                text = rest;
                (escape - b'0') * 64 + (middle - b'0') * 8 + (low - b'0')
            }
            _ => return None,
        });
    }
    Some(bytes)
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.quoted_or_plain())
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RepoPath({})", self.quoted())
    }
}

impl AsRef<OsStr> for RepoPath {
    fn as_ref(&self) -> &OsStr {
        OsStr::from_bytes(&self.0)
    }
}

impl serde::Serialize for RepoPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.quoted_or_plain())
    }
}

impl<'de> serde::Deserialize<'de> for RepoPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Quoted)
    }
}

struct Quoted;

impl serde::de::Visitor<'_> for Quoted {
    type Value = RepoPath;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a path")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<RepoPath, E> {
        RepoPath::from_quoted(text).ok_or_else(|| E::custom("a path is badly quoted"))
    }
}

impl From<&str> for RepoPath {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::RepoPath;

    #[test]
    fn quoting_is_gits() {
        for (bytes, quoted) in [
            (&b"a b"[..], "a b"),
            (b"q\"q", r#""q\"q""#),
            (b"nl\nx", r#""nl\nx""#),
            (b"back\\slash", r#""back\\slash""#),
            ("é".as_bytes(), "é"),
            (b"bad\xff.t", r#""bad\377.t""#),
            (b"\x01", r#""\001""#),
            (b"-rf", "-rf"),
        ] {
            assert_eq!(RepoPath::new(bytes).quoted(), quoted);
        }
    }

    proptest! {
        #[test]
        fn any_path_round_trips(bytes in proptest::collection::vec(any::<u8>(), 1..40)) {
            let path = RepoPath::new(bytes);
            prop_assert_eq!(RepoPath::from_quoted(&path.quoted()), Some(path));
        }
    }
}
