//! Long texts of JSON values kept apart, each once: the events of one hook call repeat the file they
//! are about.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The shortest text that is kept apart.
const LONG: usize = 512;

/// A text and the places where it stands: the number of the value, and a JSON pointer (RFC 6901).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Long {
    text: String,
    at: Vec<(usize, String)>,
}

impl Long {
    pub(super) fn size(&self) -> usize {
        self.text.len()
    }
}

/// Returns the values with null in the place of long texts, and those.
pub(super) fn part<'v>(values: impl Iterator<Item = &'v Value>) -> (Vec<Value>, Vec<Long>) {
    let mut parted = Parted::default();
    let short = values.enumerate().map(|(number, value)| {
        parted.number = number;
        parted.short(value)
    });
    let short = short.collect();
    (short, parted.long)
}

/// Puts long texts back where they stood.
pub(super) fn join(values: &mut [Value], long: &[Long]) {
    for Long { text, at } in long {
        for (number, pointer) in at {
            let place = values.get_mut(*number);
            if let Some(place) = place.and_then(|value| value.pointer_mut(pointer)) {
                *place = text.clone().into();
            }
        }
    }
}

#[derive(Default)]
struct Parted<'v> {
    long: Vec<Long>,
    known: HashMap<&'v str, usize>,
    number: usize,
    pointer: String,
}

impl<'v> Parted<'v> {
    fn short(&mut self, value: &'v Value) -> Value {
        match value {
            Value::String(text) if text.len() >= LONG => {
                let next = self.long.len();
                let index = *self.known.entry(text).or_insert(next);
                if index == next {
                    let (text, at) = (text.clone(), Vec::new());
                    self.long.push(Long { text, at });
                }
                self.long[index]
                    .at
                    .push((self.number, self.pointer.clone()));
                Value::Null
            }
            Value::Array(items) => {
                let items = items.iter().enumerate();
                items
                    .map(|(index, item)| self.below(&index.to_string(), item))
                    .collect()
            }
            Value::Object(fields) => {
                let fields = fields.iter().map(|(name, value)| {
                    let step = name.replace('~', "~0").replace('/', "~1");
                    (name.clone(), self.below(&step, value))
                });
                Value::Object(fields.collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        }
    }

    fn below(&mut self, step: &str, value: &'v Value) -> Value {
        let before = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(step);
        let short = self.short(value);
        self.pointer.truncate(before);
        short
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{join, part};

    #[test]
    fn a_long_text_is_kept_once_and_put_back_everywhere() {
        let long = "é".repeat(600);
        let values = [
            json!({"a/b~": {"": [1, long]}, "null": null, "short": "x"}),
            json!(long),
            json!({"other": "y".repeat(512), "again": long}),
        ];
        let (mut short, texts) = part(values.iter());
        assert_eq!(texts.len(), 2);
        let size = |value: &serde_json::Value| value.to_string().len();
        assert!(short.iter().map(size).sum::<usize>() < 200);
        assert_eq!(short[0]["a/b~"][""], json!([1, null]));
        join(&mut short, &texts);
        assert_eq!(short, values);
    }

    #[test]
    fn places_that_are_not_there_are_passed_over() {
        let (_, texts) = part([json!({"a": "x".repeat(600)})].iter());
        let mut other = [json!({"b": 1})];
        join(&mut other, &texts);
        join(&mut [], &texts);
        assert_eq!(other, [json!({"b": 1})]);
    }
}
