//! The JSON of a record line: UTF-8, no floats, no duplicate keys, bounded depth.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// How deep a record line may nest.
const MAX_DEPTH: usize = 16;
const MAX_INT: i64 = 1 << 53;
/// Up to this many keys are compared one by one.
const FEW: usize = 32;

/// A JSON value of a record line; keys keep their order. Texts are the line's own where they need no
/// decoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Str(Cow<'a, str>),
    List(Vec<Self>),
    Map(Members<'a>),
}

/// The members of a map, in order.
pub type Members<'a> = Vec<(Cow<'a, str>, Value<'a>)>;

impl<'a> Value<'a> {
    /// Returns the value of `text`, which must be one JSON value with no duplicate key, no number
    /// that is not an integer below 2^53, and at most 16 levels.
    pub fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        let mut source = serde_json::Deserializer::from_str(text);
        let value = Seed(MAX_DEPTH).deserialize(&mut source)?;
        source.end()?;
        Ok(value)
    }

    /// Returns the member `key` of a map; `None` where there is none or it is null.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(members) = self else {
            return None;
        };
        members
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
            .filter(|v| **v != Self::Null)
    }

    /// Returns the text of a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Str(text) = self {
            Some(text)
        } else {
            None
        }
    }

    /// Returns a number that is not negative.
    pub fn as_u64(&self) -> Option<u64> {
        if let Self::Int(number) = self {
            u64::try_from(*number).ok()
        } else {
            None
        }
    }

    /// Returns the elements of a list.
    pub fn as_list(&self) -> Option<&[Self]> {
        if let Self::List(values) = self {
            Some(values)
        } else {
            None
        }
    }

    /// Returns a list of strings; `None` if any element is something else.
    pub fn as_strings(&self) -> Option<Vec<String>> {
        self.as_list()?
            .iter()
            .map(|value| value.as_str().map(str::to_owned))
            .collect()
    }

    /// Appends the value without white space, strings as serde_json writes them.
    pub fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(fact) => out.push_str(if *fact { "true" } else { "false" }),
            Self::Int(number) => out.push_str(&number.to_string()),
            Self::Str(text) => write_str(text, out),
            Self::List(values) => {
                out.push('[');
                for (index, value) in values.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    value.write(out);
                }
                out.push(']');
            }
            Self::Map(members) => {
                out.push('{');
                write_members(members, out);
                out.push('}');
            }
        }
    }
}

/// Appends `"key":value` pairs with commas between.
pub(crate) fn write_members(members: &[(Cow<'_, str>, Value<'_>)], out: &mut String) {
    for (index, (key, value)) in members.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_str(key, out);
        out.push(':');
        value.write(out);
    }
}

fn write_str(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.write(&mut out);
        f.write_str(&out)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Str(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Str(Cow::Owned(text))
    }
}

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Self::Int(i64::try_from(number).map_or(MAX_INT, |number| number.min(MAX_INT)))
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<bool> for Value<'_> {
    fn from(fact: bool) -> Self {
        Self::Bool(fact)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Value<'_> {
    fn from(values: Vec<T>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value<'_> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

struct Seed(usize);

impl<'de> DeserializeSeed<'de> for Seed {
    type Value = Value<'de>;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Value<'de>, D::Error> {
        source.deserialize_any(self)
    }
}

impl Seed {
    fn deeper<E: serde::de::Error>(&self) -> Result<Self, E> {
        self.0
            .checked_sub(1)
            .map(Self)
            .ok_or_else(|| E::custom("nested too deep"))
    }
}

impl<'de> Visitor<'de> for Seed {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value with integers only")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: serde::de::Error>(self, fact: bool) -> Result<Self::Value, E> {
        Ok(Value::Bool(fact))
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Self::Value, E> {
        if number.abs() < MAX_INT {
            Ok(Value::Int(number))
        } else {
            Err(E::custom("a number beyond 2^53"))
        }
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Self::Value, E> {
        i64::try_from(number).map_or_else(
            |_| Err(E::custom("a number beyond 2^53")),
            |n| self.visit_i64(n),
        )
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<Self::Value, E> {
        Err(E::custom("a number that is not an integer"))
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Value::Str(Cow::Borrowed(text)))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Value::Str(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut source: A) -> Result<Self::Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = source.next_element_seed(self.deeper()?)? {
            values.push(value);
        }
        Ok(Value::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut source: A) -> Result<Self::Value, A::Error> {
        let mut members: Members<'de> = Vec::with_capacity(FEW);
        let mut seen = HashSet::new();
        while let Some(key) = source.next_key_seed(Key)? {
            let twice = match members.len() {
                ..FEW => members.iter().any(|(name, _)| *name == key),
                FEW => {
                    seen.extend(members.iter().map(|(name, _)| name.clone()));
                    !seen.insert(key.clone())
                }
                _ => !seen.insert(key.clone()),
            };
            if twice {
                return Err(A::Error::custom(format!("duplicate key '{key}'")));
            }
            let value = source.next_value_seed(self.deeper()?)?;
            members.push((key, value));
        }
        Ok(Value::Map(members))
    }
}

struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Self::Value, D::Error> {
        source.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn a_line_round_trips() {
        let line = r#"{"a":1,"b":[true,null,"x\"\\\n\u0001é"],"c":{"d":-5}}"#;
        assert_eq!(Value::parse(line).unwrap().to_string(), line);
    }

    #[test]
    fn hostile_values_are_refused() {
        let deep = format!("{}{}", "[".repeat(17), "]".repeat(17));
        let many = (0..200).map(|n| format!("\"k{n}\":0")).collect::<Vec<_>>();
        let twice = |at: usize| format!("{{{},\"k{at}\":1}}", many.join(","));
        assert!(Value::parse(&twice(200)).is_ok());
        let twice = [0, 31, 32, 33, 199].map(twice);
        for line in [
            r#"{"a":1,"a":2}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"{"a":{"b":1,"b":1}}"#,
            r#"{"a":1.5}"#,
            r#"{"a":1e999}"#,
            r#"{"a":9007199254740993}"#,
            r#"{"a":"\ud83d"}"#,
            "{} {}",
            "",
            &deep,
        ]
        .into_iter()
        .chain(twice.iter().map(String::as_str))
        {
            assert!(Value::parse(line).is_err(), "{line}");
        }
    }
}
