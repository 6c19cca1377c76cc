//! Maps of paths as text: a state names each dirty path up to three times, and JSON of a thousand of
//! them takes longer than git's status.
//!
//! A row is the length of the quoted path, a space, the path, the fields, each behind a space, and `;`.
//! Numbers are in hex.

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
    marker::PhantomData,
};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, SeqAccess, Visitor},
};

use super::{
    Content,
    state::{Held, Trail, Whose},
};
use crate::model::RepoPath;

/// What stands in a row behind the path.
pub(crate) trait Fields: Sized {
    fn write(&self, row: &mut Writer<'_>);

    /// Reads what [`Self::write`] wrote; `None` where it is something else.
    fn read(fields: &mut Reader<'_>) -> Option<Self>;
}

/// Reads fields from the front of a text.
pub(crate) struct Reader<'a>(&'a str);

impl<'a> Reader<'a> {
    /// Returns the next field, up to the space or the end of its row.
    pub(crate) fn next(&mut self) -> Option<&'a str> {
        let rest = self.0.strip_prefix(' ')?;
        let end = rest.bytes().position(|byte| matches!(byte, b' ' | b';'))?;
        self.0 = &rest[end..];
        Some(&rest[..end])
    }

    /// Returns the next field, a number.
    pub(crate) fn number(&mut self) -> Option<u64> {
        number(self.next()?)
    }

    /// Returns the next field, a content.
    pub(crate) fn content(&mut self) -> Option<Content> {
        self.next()?.parse().ok()
    }

    fn path(&mut self) -> Option<RepoPath> {
        let (length, rest) = self.0.split_once(' ')?;
        let length = number(length)? as usize;
        let path = RepoPath::from_quoted(rest.get(..length)?)?;
        self.0 = &rest[length..];
        Some(path)
    }

    fn row<T: Fields>(&mut self) -> Option<(RepoPath, T)> {
        let row = (self.path()?, T::read(self)?);
        self.0 = self.0.strip_prefix(';')?;
        Some(row)
    }
}

/// Adds fields to a row.
pub(crate) struct Writer<'a>(&'a mut String);

impl Writer<'_> {
    /// Adds one field.
    pub(crate) fn push(&mut self, field: &str) {
        self.0.push(' ');
        self.0.push_str(field);
    }

    pub(crate) fn push_number(&mut self, number: u64) {
        self.0.push(' ');
        push_number(self.0, number);
    }

    pub(crate) fn push_content(&mut self, content: &Content) {
        self.0.push(' ');
        let (kind, id) = match content {
            Content::File(id) => ('f', id),
            Content::Executable(id) => ('x', id),
            Content::Link(id) => ('l', id),
            Content::Absent | Content::Large { .. } | Content::Special => {
                let _ = write!(self.0, "{content}");
                return;
            }
        };
        self.0.push(kind);
        id.push_hex(self.0);
    }
}

/// Adds a number in hex digits, which are read and written fastest.
fn push_number(out: &mut String, number: u64) {
    let digits = number.max(1).ilog2() / 4;
    for digit in (0..=digits).rev() {
        let value = (number >> (4 * digit)) as u8 & 15;
        out.push(char::from(match value {
            0..10 => b'0' + value,
            _ => b'a' + value - 10,
        }));
    }
}

/// Reads what [`push_number`] wrote.
fn number(text: &str) -> Option<u64> {
    if !(1..=16).contains(&text.len()) {
        return None;
    }
    text.bytes().try_fold(0, |number, byte| {
        let value = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => return None,
        };
        Some(number << 4 | u64::from(value))
    })
}

fn push_row(out: &mut String, path: &RepoPath, fields: &impl Fields) {
    let quoted = path.quoted_or_plain();
    push_number(out, quoted.len() as u64);
    out.push(' ');
    out.push_str(&quoted);
    fields.write(&mut Writer(out));
    out.push(';');
}

/// Writes a map as one text.
pub(crate) fn serialize<T: Fields, S: Serializer>(
    map: &BTreeMap<RepoPath, T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut text = String::with_capacity(map.len() * 128);
    for (path, fields) in map {
        push_row(&mut text, path, fields);
    }
    serializer.serialize_str(&text)
}

/// Reads a map from one text.
pub(crate) fn deserialize<'de, T: Fields, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<RepoPath, T>, D::Error> {
    Ok(BTreeMap::from_iter(
        deserializer.deserialize_str(Text(PhantomData))?,
    ))
}

struct Text<T>(PhantomData<T>);

impl<T: Fields> Visitor<'_> for Text<T> {
    type Value = Vec<(RepoPath, T)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rows")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        let mut rows = Vec::with_capacity(text.len() / 128);
        let mut reader = Reader(text);
        while !reader.0.is_empty() {
            let row = reader.row();
            rows.push(row.ok_or_else(|| E::custom("a row is in no form we know"))?);
        }
        Ok(rows)
    }
}

/// The only thing known of most dirty paths: one content, somebody else's.
struct Foreign(Content);

impl Foreign {
    fn of(trail: &Trail) -> Option<Self> {
        let [content] = trail.foreign.as_slice() else {
            return None;
        };
        let Trail {
            claim: None,
            mixed: None,
            unattributed: None,
            carried: None,
            touched: false,
            ..
        } = trail
        else {
            return None;
        };
        trail.earlier.is_empty().then(|| Self(content.clone()))
    }
}

impl From<Foreign> for Trail {
    fn from(Foreign(content): Foreign) -> Self {
        Self {
            foreign: vec![content],
            ..Self::default()
        }
    }
}

impl Fields for Foreign {
    fn write(&self, row: &mut Writer<'_>) {
        row.push_content(&self.0);
    }

    fn read(fields: &mut Reader<'_>) -> Option<Self> {
        fields.content().map(Self)
    }
}

/// Trails: a text of those of whom nothing but one foreign content is known, and a map of the rest.
pub(crate) mod trails {
    use super::{
        BTreeMap, Deserialize, Deserializer, Error, Foreign, PhantomData, RepoPath, SeqAccess,
        Serialize, Serializer, Text, Trail, Visitor, fmt, push_row,
    };

    struct Rows<'a>(&'a str);

    impl Serialize for Rows<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str(self.0)
        }
    }

    pub(crate) fn serialize<S: Serializer>(
        trails: &BTreeMap<RepoPath, Trail>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut text = String::with_capacity(trails.len() * 80);
        let mut rest = BTreeMap::new();
        for (path, trail) in trails {
            match Foreign::of(trail) {
                Some(foreign) => push_row(&mut text, path, &foreign),
                None => drop(rest.insert(path, trail)),
            }
        }
        (Rows(&text), rest).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<RepoPath, Trail>, D::Error> {
        deserializer.deserialize_tuple(2, Both)
    }

    struct Both;

    impl<'de> Visitor<'de> for Both {
        type Value = BTreeMap<RepoPath, Trail>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("rows and a map")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
            let short = |at| A::Error::invalid_length(at, &"two parts");
            let Known(rows) = parts.next_element()?.ok_or_else(|| short(0))?;
            let rest: BTreeMap<RepoPath, Trail> = parts.next_element()?.ok_or_else(|| short(1))?;
            let rows = rows.into_iter().map(|(path, one)| (path, one.into()));
            Ok(rows.chain(rest).collect())
        }
    }

    struct Known(Vec<(RepoPath, Foreign)>);

    impl<'de> Deserialize<'de> for Known {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = Text::<Foreign>(PhantomData);
            deserializer.deserialize_str(text).map(Self)
        }
    }
}

impl Fields for Held {
    fn write(&self, row: &mut Writer<'_>) {
        row.push(match self.whose {
            Whose::Mine => "m",
            Whose::Carried => "r",
            Whose::Foreign => "f",
            Whose::Unattributed => "u",
            Whose::Clean => "c",
        });
        match self.mode {
            Some(mode) => row.push_number(mode.into()),
            None => row.push("-"),
        }
        row.push_content(&self.content);
    }

    fn read(fields: &mut Reader<'_>) -> Option<Self> {
        let whose = match fields.next()? {
            "m" => Whose::Mine,
            "r" => Whose::Carried,
            "f" => Whose::Foreign,
            "u" => Whose::Unattributed,
            "c" => Whose::Clean,
            _ => return None,
        };
        let mode = match fields.next()? {
            "-" => None,
            mode => Some(number(mode)?.try_into().ok()?),
        };
        Some(Self {
            whose,
            mode,
            content: fields.content()?,
        })
    }
}

impl Serialize for Held {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.content, self.whose, self.mode).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Held {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (content, whose, mode) = Deserialize::deserialize(deserializer)?;
        Ok(Self {
            content,
            whose,
            mode,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::{Content, Held, RepoPath, Trail, Whose};
    use crate::{
        git::{Stat, files::Lies},
        model::Oid,
        work::{
            look::{Seen, Sight},
            rules::Begin,
            state::{Reach, State},
        },
    };

    fn content() -> impl Strategy<Value = Content> {
        let id = || any::<[u8; 20]>().prop_map(|bytes| Oid::from_bytes(&bytes).unwrap());
        let large = (any::<u64>(), any::<i64>(), any::<bool>());
        prop_oneof![
            Just(Content::Absent),
            Just(Content::Special),
            id().prop_map(Content::File),
            id().prop_map(Content::Executable),
            any::<[u8; 32]>().prop_map(|bytes| Content::Link(Oid::from_bytes(&bytes).unwrap())),
            large.prop_map(|(size, modified_ns, executable)| Content::Large {
                size,
                modified_ns,
                executable,
            }),
        ]
    }

    fn path() -> impl Strategy<Value = RepoPath> {
        let hard = prop_oneof![
            Just(b"; 3 a f".to_vec()),
            Just(b"-".to_vec()),
            "[a-c ;0-9\"\\\\\\n\u{1f980}]{1,9}".prop_map(String::into_bytes),
            proptest::collection::vec(1_u8.., 1..9),
        ];
        hard.prop_map(RepoPath::new)
    }

    fn whose() -> impl Strategy<Value = Whose> {
        prop_oneof![
            Just(Whose::Mine),
            Just(Whose::Carried),
            Just(Whose::Foreign),
            Just(Whose::Unattributed),
            Just(Whose::Clean),
        ]
    }

    fn held() -> impl Strategy<Value = Held> {
        let mode = proptest::option::of(0_u32..0o200_000);
        (content(), whose(), mode).prop_map(|(content, whose, mode)| Held {
            content,
            whose,
            mode,
        })
    }

    fn seen() -> impl Strategy<Value = Seen> {
        let numbers = (any::<u64>(), any::<i64>(), any::<i64>(), any::<u64>());
        (numbers, any::<u32>(), content()).prop_map(|(numbers, mode, content)| {
            let (size, modified_ns, changed_ns, inode) = numbers;
            let stat = Stat {
                lies: Lies::File,
                size,
                modified_ns,
                changed_ns,
                inode,
                mode,
            };
            Seen::new(&stat, content)
        })
    }

    fn trail() -> impl Strategy<Value = Trail> {
        let some = || proptest::option::of(content());
        let many = || proptest::collection::vec(content(), 0..3);
        let one = (some(), some(), some(), any::<bool>());
        let plain = content().prop_map(|content| Trail {
            foreign: vec![content],
            ..Trail::default()
        });
        let rich = (many(), many(), one).prop_map(|(earlier, foreign, rest)| Trail {
            claim: None,
            earlier,
            foreign,
            mixed: rest.0,
            unattributed: rest.1,
            carried: rest.2,
            touched: rest.3,
        });
        prop_oneof![plain, rich]
    }

    fn map<T: std::fmt::Debug>(
        of: impl Strategy<Value = T>,
    ) -> impl Strategy<Value = BTreeMap<RepoPath, T>> {
        proptest::collection::btree_map(path(), of, 0..9)
    }

    proptest! {
        #[test]
        fn a_state_reads_back(
            paths in map(trail()),
            seen in map(seen()),
            snapshot in map(held()),
        ) {
            let mut state = State::new("S1", ".");
            state.paths = paths;
            state.seen = Sight::of(seen);
            let begin = Begin {
                id: "u1".to_owned(),
                tool: "Bash".to_owned(),
                agent: None,
                reach: Reach::Tree,
                time: 1,
                head: None,
                not_covered: Vec::new(),
            };
            state.begin(begin, snapshot);
            let text = serde_json::to_string(&state).unwrap();
            prop_assert_eq!(serde_json::from_str::<State>(&text).unwrap(), state);
        }

        #[test]
        fn other_texts_are_refused_not_misread(text in ".{1,40}") {
            let mut state = serde_json::to_value(State::new("S1", ".")).unwrap();
            state["seen"] = text.clone().into();
            let read = serde_json::from_str::<State>(&state.to_string());
            prop_assert!(read.is_err() || read.unwrap().seen.len() == text.matches(';').count());
        }
    }

    #[test]
    fn a_row_that_is_cut_short_or_too_long_is_refused() {
        let whole = "1 a f 1a4 s;";
        let read = |text: &str| {
            let mut state = serde_json::to_value(State::new("S1", ".")).unwrap();
            state["paths"] = serde_json::json!(["1 a s;", {}]);
            state["calls"] = serde_json::json!([{
                "id": "u1", "tool": "Bash", "reach": "tree", "begun": 1, "time": 1,
                "phase": { "open": { "snapshot": text } },
            }]);
            serde_json::from_str::<State>(&state.to_string()).is_ok()
        };
        assert!(read(whole));
        assert!(read(""));
        for at in 1..whole.len() {
            assert!(!read(&whole[..at]), "{}", &whole[..at]);
        }
        for text in [
            "1 a f 420 s s;",
            "2 a f 420 s;",
            "1 a q 420 s;",
            "1 a f 420 fzz;",
            "1 é f - s;",
        ] {
            assert!(!read(text), "{text}");
        }
    }
}
