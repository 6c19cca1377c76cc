//! Whether one side holds all that the other did: then it is the result as it stands. So a merge of a
//! result with a side it was made of changes nothing.

use super::side::{Sides, Words};
use crate::view::diff::pairs;

/// Returns the side that holds all of the other; of two that hold each other, whose text has another
/// order, the one with the smaller bytes.
pub(super) fn whole(sides: &Sides, words: &Words) -> Option<usize> {
    let holds_all = |side: &usize| {
        let [all, some] = [*side, 1 - *side].map(|side| &sides.both[side]);
        holds(all, some, (&sides.base, words))
    };
    let bytes = |side: &usize| {
        let words = sides.both[*side].iter().map(|word| &words.get(*word).bytes);
        words.collect::<Vec<_>>()
    };
    [0, 1].into_iter().filter(holds_all).min_by_key(bytes)
}

/// Says whether `all` has every row of `some` and every line of text that `some` added, in its order,
/// and lacks the text that `some` took out.
fn holds(all: &[u32], some: &[u32], (base, words): (&[u32], &Words)) -> bool {
    let hold = |word| words.hold(word);
    let mut kept = vec![false; some.len()];
    let mut taken_out = vec![true; base.len()];
    for (old, at) in pairs(base, some, hold) {
        kept[at] = true;
        taken_out[old] = false;
    }
    let mut found = vec![false; some.len()];
    for (at, _) in pairs(some, all, hold) {
        found[at] = true;
    }
    let has_all = (0..some.len()).all(|at| found[at] || (kept[at] && words.is_text(some[at])));
    has_all
        && pairs(base, all, hold)
            .into_iter()
            .all(|(old, _)| !taken_out[old] || !words.is_text(base[old]))
}
