//! Which text that both sides added is the same: stretches of one side that the other side has whole.

use std::collections::HashMap;

use super::side::Words;
use crate::view::diff::{Hold, pairs};

/// A side of a region.
pub(super) struct Stretches<'a> {
    pub(super) words: &'a [u32],
    pub(super) range: (usize, usize),
    /// The places of the words that the side added, rising.
    pub(super) added: &'a [usize],
}

/// A stretch of added words, or one other word.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Part<'a> {
    Added(&'a [u32]),
    Other(u32),
}

impl Part<'_> {
    fn hold(&self, words: &Words) -> Hold {
        match self {
            Self::Other(word) => words.hold(*word),
            Self::Added(added) if added.iter().all(|word| words.hold(*word) == Hold::None) => {
                Hold::None
            }
            Self::Added(_) => Hold::Loose,
        }
    }
}

struct Parts<'a> {
    parts: Vec<Part<'a>>,
    /// Where each begins.
    starts: Vec<usize>,
    tokens: Vec<u32>,
}

impl<'a> Stretches<'a> {
    fn parts(&self) -> Parts<'a> {
        let mut parts = Parts {
            parts: Vec::new(),
            starts: Vec::new(),
            tokens: Vec::new(),
        };
        let is_added = |at: usize| self.added.binary_search(&at).is_ok();
        let mut at = self.range.0;
        while at < self.range.1 {
            let start = at;
            at += 1;
            let part = if is_added(start) {
                while at < self.range.1 && is_added(at) {
                    at += 1;
                }
                Part::Added(&self.words[start..at])
            } else {
                Part::Other(self.words[start])
            };
            parts.parts.push(part);
            parts.starts.push(start);
        }
        parts
    }
}

/// Returns pairs of places of added words, rising on the left.
pub(super) fn shared(sides: &[Stretches; 2], words: &Words) -> Vec<(usize, usize)> {
    let [mut left, mut right] = sides.each_ref().map(Stretches::parts);
    let holds = name(&mut left, &mut right, words);
    let hold = |token: u32| holds[token as usize];
    // The sides are put in an order of their own, so that swapped they pair the same.
    let bytes = |side: &Stretches| {
        let words_of = side.words[side.range.0..side.range.1].iter();
        words_of
            .map(|word| words.get(*word).bytes.clone())
            .collect::<Vec<_>>()
    };
    let equal: Vec<(usize, usize)> = if bytes(&sides[0]) <= bytes(&sides[1]) {
        pairs(&left.tokens, &right.tokens, hold)
    } else {
        let swapped = pairs(&right.tokens, &left.tokens, hold);
        swapped.into_iter().map(|(r, l)| (l, r)).collect()
    };
    let mut matching = Matching {
        left: &left,
        right: &right,
        to_right: HashMap::new(),
        to_left: HashMap::new(),
    };
    for (l, r) in &equal {
        if let Part::Added(words) = left.parts[*l] {
            matching.pair(left.starts[*l], right.starts[*r], words.len());
        }
    }
    matching.contained(&equal);
    let mut found: Vec<(usize, usize)> = matching.to_right.into_iter().collect();
    found.sort_unstable();
    found
}

/// Gives equal parts equal tokens; returns what each token is worth.
fn name<'a>(left: &mut Parts<'a>, right: &mut Parts<'a>, words: &Words) -> Vec<Hold> {
    let mut names: HashMap<Part<'a>, u32> = HashMap::new();
    let mut holds = Vec::new();
    for side in [left, right] {
        for part in &side.parts {
            let next = holds.len() as u32;
            let token = *names.entry(part.clone()).or_insert(next);
            if token == next {
                holds.push(part.hold(words));
            }
            side.tokens.push(token);
        }
    }
    holds
}

struct Matching<'p, 'a> {
    left: &'p Parts<'a>,
    right: &'p Parts<'a>,
    to_right: HashMap<usize, usize>,
    to_left: HashMap<usize, usize>,
}

impl Matching<'_, '_> {
    fn pair(&mut self, left: usize, right: usize, len: usize) {
        for at in 0..len {
            self.to_right.insert(left + at, right + at);
            self.to_left.insert(right + at, left + at);
        }
    }

    /// Pairs stretches, and what is left of them, with a part of a longer one, first between the same
    /// neighbours.
    fn contained(&mut self, equal: &[(usize, usize)]) {
        let whole = (self.left.parts.len(), self.right.parts.len());
        let mut from = (0, 0);
        for to in equal.iter().copied().chain([whole]) {
            self.within((from.0, to.0), (from.1, to.1));
            from = (to.0 + 1, to.1 + 1);
        }
        self.within((0, whole.0), (0, whole.1));
    }

    fn within(&mut self, left: (usize, usize), right: (usize, usize)) {
        loop {
            let lefts = open(self.left, left, &self.to_right);
            let rights = open(self.right, right, &self.to_left);
            let both = lefts
                .iter()
                .flat_map(|l| rights.iter().map(move |r| (*l, *r)));
            let Some((l, r, len)) = both.into_iter().find_map(|(l, r)| fit(l, r)) else {
                return;
            };
            self.pair(l, r, len);
        }
    }
}

/// Returns the runs of added words without a pair in a range of parts, with where each begins.
fn open<'a>(
    side: &Parts<'a>,
    range: (usize, usize),
    known: &HashMap<usize, usize>,
) -> Vec<(usize, &'a [u32])> {
    let mut runs = Vec::new();
    for part in range.0..range.1.max(range.0) {
        let Part::Added(words) = side.parts[part] else {
            continue;
        };
        let start = side.starts[part];
        let mut from = 0;
        for at in 0..=words.len() {
            if at == words.len() || known.contains_key(&(start + at)) {
                if at > from {
                    runs.push((start + from, &words[from..at]));
                }
                from = at + 1;
            }
        }
    }
    runs
}

/// Returns where the shorter of two runs stands in the longer one.
fn fit(left: (usize, &[u32]), right: (usize, &[u32])) -> Option<(usize, usize, usize)> {
    let len = left.1.len().min(right.1.len());
    if left.1.len() <= right.1.len() {
        let at = right.1.windows(len).position(|part| part == left.1)?;
        Some((left.0, right.0 + at, len))
    } else {
        let at = left.1.windows(len).position(|part| part == right.1)?;
        Some((left.0 + at, right.0, len))
    }
}
