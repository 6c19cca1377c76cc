//! YAML as a tree that knows where each value stands; what could hide meaning is refused: tags,
//! anchors, merge keys, a key twice, and more than a policy file needs of anything.

mod plain;

use std::{fmt, sync::Arc};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{DuplicateKeyPolicy, Spanned};

use super::{
    diagnostic::{Code, Diagnostic, Place, Source},
    effort::{self, Spent},
};

/// The largest policy file.
pub(super) const SIZE_LIMIT: usize = 256 * 1024;
const NODE_LIMIT: usize = 10_000;
const DEPTH_LIMIT: usize = 32;
const DOCUMENT_LIMIT: usize = 256;
/// How many bytes are read in one step, and by the general parser.
const PLAIN_BYTES: usize = 64;
const GENERAL_BYTES: usize = 2;

/// A value and the place where it stands.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) value: Yaml,
    pub(super) at: usize,
    /// The byte after its last; equal to `at` for lists and maps.
    pub(super) end: usize,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(super) enum Yaml {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

impl Yaml {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }
}

impl Node {
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Yaml::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the value as JSON; keys that are no text are written as they read.
    pub(super) fn json(&self) -> serde_json::Value {
        match &self.value {
            Yaml::Null => serde_json::Value::Null,
            Yaml::Bool(value) => (*value).into(),
            Yaml::Int(value) => (*value).into(),
            Yaml::Float(value) => (*value).into(),
            Yaml::Text(value) => value.clone().into(),
            Yaml::List(items) => items.iter().map(Self::json).collect(),
            Yaml::Map(entries) => entries
                .iter()
                .map(|(key, value)| (key.key(), value.json()))
                .collect(),
        }
    }

    /// Returns the text of a key.
    pub(super) fn key(&self) -> String {
        match &self.value {
            Yaml::Text(text) => text.clone(),
            Yaml::Null | Yaml::Bool(_) | Yaml::Int(_) | Yaml::Float(_) => self.json().to_string(),
            Yaml::List(_) | Yaml::Map(_) => String::new(),
        }
    }
}

impl<'de> Deserialize<'de> for Yaml {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Yaml>::deserialize(deserializer)?;
        let span = spanned.referenced.span();
        let at = span.byte_offset().map_or(0, to_usize);
        let len = span.byte_len().map_or(0, to_usize);
        let end = match spanned.value {
            Yaml::List(_) | Yaml::Map(_) => at,
            _ => at + len,
        };
        Ok(Self {
            value: spanned.value,
            at,
            end,
        })
    }
}

fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(0)
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Yaml;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Yaml, E> {
        Ok(Yaml::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Yaml, E> {
        Ok(Yaml::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Yaml, E> {
        Ok(Yaml::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Yaml, E> {
        Ok(i64::try_from(value).map_or(Yaml::Float(value as f64), Yaml::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Yaml, E> {
        Ok(Yaml::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Yaml, E> {
        Ok(Yaml::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Yaml, E> {
        Ok(Yaml::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Yaml, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Yaml::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Yaml, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Yaml::Map(map))
    }
}

/// Returns the documents of `source`, empty ones left out.
pub(super) fn documents(source: &Arc<Source>) -> Result<Vec<Node>, Diagnostic> {
    let bytes = source.text.len();
    if bytes > SIZE_LIMIT {
        let message = format!("the file is longer than {SIZE_LIMIT} bytes");
        return Err(fault(source, (Code::E01, 0), message));
    }
    let spent = |Spent(reason)| fault(source, (Code::E09, 0), reason);
    effort::spend(1 + bytes / PLAIN_BYTES).map_err(spent)?;
    if let Some(documents) = plain::documents(&source.text) {
        return Ok(documents);
    }
    effort::spend(bytes / GENERAL_BYTES).map_err(spent)?;
    general(source)
}

fn fault(source: &Arc<Source>, (code, at): (Code, usize), message: String) -> Diagnostic {
    Diagnostic {
        code,
        place: Place {
            source: Arc::clone(source),
            at,
        },
        message,
    }
}

/// Returns the documents as the general parser reads them.
fn general(source: &Arc<Source>) -> Result<Vec<Node>, Diagnostic> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: NODE_LIMIT,
            max_events: 4 * NODE_LIMIT,
            max_depth: DEPTH_LIMIT,
            flow_nesting_limit: DEPTH_LIMIT,
            max_documents: DOCUMENT_LIMIT,
            max_aliases: 0,
            max_anchors: 0,
            max_merge_keys: 0,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        reject_unsupported_tags: true,
        reject_tagged_field_names: true,
        strict_booleans: true,
        with_snippet: false,
    };
    serde_saphyr::from_multiple_with_options::<Node>(&source.text, options)
        .map(|nodes| {
            let is_some = |node: &Node| !matches!(node.value, Yaml::Null);
            nodes.into_iter().filter(is_some).collect()
        })
        .map_err(|error| {
            let at = (Code::E01, place(&error, &source.text));
            fault(source, at, reason(&error))
        })
}

/// Returns the byte at which the parser found the fault.
fn place(error: &serde_saphyr::Error, text: &str) -> usize {
    let Some(location) = error.location() else {
        return 0;
    };
    let line = to_usize(location.line()).saturating_sub(1);
    let column = to_usize(location.column()).saturating_sub(1);
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let rest = &text[start..];
    let inside: usize = rest.chars().take(column).map(char::len_utf8).sum();
    start + inside
}

/// Returns what is wrong in our words, where the parser's would mislead.
fn reason(error: &serde_saphyr::Error) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let first = first.split(" at line ").next().unwrap_or(first);
    if first.contains("Anchors") || first.contains("Aliases") {
        "anchors and aliases are not allowed".to_owned()
    } else if first.contains("MergeKeys") {
        "merge keys ('<<') are not allowed".to_owned()
    } else if first.starts_with("budget breached") {
        format!(
            "the file is larger than a policy file may be: at most {NODE_LIMIT} values, \
             {DEPTH_LIMIT} levels and {DOCUMENT_LIMIT} documents"
        )
    } else if let Some(rest) = first.strip_prefix("duplicate mapping key: ") {
        let key = rest.split(", set ").next().unwrap_or(rest);
        format!("the key '{key}' stands twice in one map")
    } else if first.starts_with("unsupported tag") {
        format!("{first}; a value that begins with '!' must be quoted")
    } else {
        format!("not valid YAML: {first}")
    }
}

#[cfg(test)]
mod plain_tests;
#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Source, documents};
    use crate::policy::effort;

    pub(super) fn source(text: &str) -> Arc<Source> {
        Arc::new(Source {
            path: "p".to_owned(),
            text: text.to_owned(),
        })
    }

    fn read(text: &str) -> Result<String, String> {
        effort::begin();
        let nodes = documents(&source(text)).map_err(|fault| fault.to_string())?;
        let json: Vec<_> = nodes.iter().map(|node| node.json().to_string()).collect();
        Ok(json.join(" "))
    }

    #[test]
    fn documents_are_read() {
        assert_eq!(
            read("on: [a]\nb: {c: 1, d: 'x'}\n---\n---\ne: yes\n").unwrap(),
            r#"{"on":["a"],"b":{"c":1,"d":"x"}} {"e":"yes"}"#
        );
        assert_eq!(read("# nothing\n").unwrap(), "");
    }

    #[test]
    fn what_could_hide_meaning_is_refused() {
        for (text, expected) in [
            (
                "a: 1\ncel: !event.x\n",
                "p:2:14: unsupported tag `!event.x`; a value that begins with '!' must be quoted (E01)",
            ),
            (
                "a: &x 1\nb: *x\n",
                "p:1:7: anchors and aliases are not allowed (E01)",
            ),
            (
                "<<: {a: 1}\n",
                "p:1:1: merge keys ('<<') are not allowed (E01)",
            ),
            (
                "a: 1\nb: 2\na: 3\n",
                "p:3:1: the key 'a' stands twice in one map (E01)",
            ),
            (
                "on: [a\n",
                "p:1:5: not valid YAML: unclosed bracket '[' (E01)",
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), expected);
        }
    }

    #[test]
    fn bombs_end_in_an_error() {
        let laughs = "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n";
        let deep = "[".repeat(20_000);
        let indented: String = (0..200).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
        let wide = format!("[{}]", "1,".repeat(20_000));
        let documents = "---\na: 1\n".repeat(300);
        let large = format!("a: {}\n", "x".repeat(300_000));
        for text in [laughs, &deep, &indented, &wide, &documents, &large] {
            assert!(read(text).is_err(), "{}", &text[..20]);
        }
    }
}
