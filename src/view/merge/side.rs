//! A view as a sequence of words: equal lines of the three files are the same word.

use std::collections::{HashMap, HashSet};

use super::{Out, weave::Woven};
use crate::view::{Document, Kind, View, diff::Hold, line::normal};

/// What makes two lines the same.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Head,
    Row(String),
    /// A line of the header, with its white space taken out, and its number among its equals; a blank
    /// one with its place.
    Title(String, usize),
    Text(Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Head,
    Title,
    Row,
    Text,
}

/// What a line of the three files says, once.
pub(super) struct Word {
    pub(super) class: Class,
    /// The bytes to write: of several spellings the shortest, then the smallest.
    pub(super) bytes: Vec<u8>,
}

impl Word {
    /// Says whether the word is merged three ways.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.class, Class::Title | Class::Text)
    }
}

/// What the lines are that begin the tables of the three files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heads {
    /// Versions of one.
    One,
    /// Two sides that each made a table of their own.
    Text,
}

impl Heads {
    fn of([base, ours, theirs]: &[Document; 3]) -> Self {
        let plain =
            |document: &Document| document.head().map(|head| head.map(|line| normal(&line)));
        let (None, Some(ours), Some(theirs)) = (plain(base), plain(ours), plain(theirs)) else {
            return Self::One;
        };
        let new = Document::parse(View::Verdicts.header().as_bytes());
        let new = plain(&new).unwrap_or_default();
        match ours == theirs || [ours, theirs].contains(&new) {
            true => Self::One,
            false => Self::Text,
        }
    }
}

#[derive(Default)]
pub(super) struct Words {
    known: HashMap<Key, u32>,
    words: Vec<Word>,
}

/// The three files.
pub(super) struct Sides {
    pub(super) base: Vec<u32>,
    pub(super) both: [Vec<u32>; 2],
}

impl Words {
    pub(super) fn get(&self, word: u32) -> &Word {
        &self.words[word as usize]
    }

    /// Returns a side as it stands.
    pub(super) fn as_they_stand(&self, side: &[u32]) -> Woven {
        let out = |word: &u32| {
            let word = self.get(*word);
            match word.class {
                Class::Head => Out::Head,
                Class::Title | Class::Row | Class::Text => Out::Line(word.bytes.clone()),
            }
        };
        Woven {
            lines: side.iter().map(out).collect(),
            conflicts: 0,
        }
    }

    /// Says what a word is worth when two sides are compared: rows hold, blank lines do not.
    pub(super) fn hold(&self, word: u32) -> Hold {
        let word = self.get(word);
        if !word.is_text() {
            Hold::Firm
        } else if word.bytes.iter().all(u8::is_ascii_whitespace) {
            Hold::None
        } else {
            Hold::Loose
        }
    }

    pub(super) fn is_text(&self, word: u32) -> bool {
        self.get(word).is_text()
    }

    /// Returns the words of the three files. A side without a header took none away.
    pub(super) fn sides(&mut self, documents: &[Document; 3]) -> Sides {
        let heads = Heads::of(documents);
        let [base, ours, theirs] = documents;
        let mut sides = Sides {
            base: self.side(base, heads),
            both: [self.side(ours, heads), self.side(theirs, heads)],
        };
        let header = sides
            .base
            .iter()
            .take_while(|word| matches!(self.get(**word).class, Class::Head | Class::Title));
        let header: Vec<u32> = header.copied().collect();
        for (side, document) in sides.both.iter_mut().zip([ours, theirs]) {
            if document.header == 0 && !header.is_empty() {
                let rest = side.iter().copied().filter(|word| !header.contains(word));
                *side = header.iter().copied().chain(rest).collect();
            }
        }
        sides
    }

    /// Returns the words of a file. Its header and rows are a set; markers are left out.
    fn side(&mut self, document: &Document, heads: Heads) -> Vec<u32> {
        let mut seen = HashSet::new();
        let mut counts: HashMap<String, usize> = HashMap::new();
        let mut side = Vec::with_capacity(document.lines.len());
        for (at, line) in document.lines.iter().enumerate() {
            let bytes = line.bytes.to_vec();
            let word = match &line.kind {
                Kind::Columns | Kind::Delimiter if heads == Heads::Text => {
                    side.push(self.word(Key::Text(bytes.clone()), Class::Text, bytes));
                    continue;
                }
                Kind::Delimiter | Kind::Marker => continue,
                Kind::Columns => self.word(Key::Head, Class::Head, Vec::new()),
                Kind::Row(row) => {
                    let shown = match row.view {
                        View::Verdicts => row.key.clone().into_bytes(),
                        View::Decisions => bytes.trim_ascii().to_vec(),
                    };
                    self.word(Key::Row(row.key.clone()), Class::Row, shown)
                }
                Kind::Text | Kind::Malformed(_) if at >= document.header => {
                    side.push(self.word(Key::Text(bytes.clone()), Class::Text, bytes));
                    continue;
                }
                Kind::Title => {
                    let text = normal(&String::from_utf8_lossy(line.bytes));
                    self.word(Key::Title(text, 0), Class::Title, bytes)
                }
                Kind::Text | Kind::Malformed(_) => {
                    let text = normal(&String::from_utf8_lossy(line.bytes));
                    let count = counts.entry(text.clone()).or_insert(0);
                    *count += 1;
                    let again = if text.is_empty() { at } else { *count };
                    self.word(Key::Title(text, again), Class::Title, bytes)
                }
            };
            if seen.insert(word) {
                side.push(word);
            }
        }
        side
    }

    fn word(&mut self, key: Key, class: Class, bytes: Vec<u8>) -> u32 {
        let next = self.words.len() as u32;
        let word = *self.known.entry(key).or_insert(next);
        if word == next {
            self.words.push(Word { class, bytes });
        } else {
            let known = &mut self.words[word as usize].bytes;
            if (bytes.len(), &bytes) < (known.len(), known) {
                *known = bytes;
            }
        }
        word
    }
}
