//! Which items of two sequences are the same: anchors that occur once in both, widened, and between
//! them the longest common subsequence where that is cheap.

use std::collections::HashMap;

/// The largest table, in cells, that is filled for a longest common subsequence.
const TABLE_LIMIT: usize = 1 << 20;

/// How far an item says where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    Firm,
    Loose,
    /// Never an anchor, though it occurs once.
    None,
}

/// Returns index pairs of equal items, rising on both sides.
pub(super) fn pairs(
    left: &[u32],
    right: &[u32],
    hold: impl Fn(u32) -> Hold,
) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut todo = vec![((0, left.len()), (0, right.len()))];
    while let Some((l, r)) = todo.pop() {
        let mut once = once(left, right, l, r);
        once.retain(|(at, _)| hold(left[*at]) != Hold::None);
        let firm = |(at, _): &&(usize, usize)| hold(left[*at]) == Hold::Firm;
        let firm: Vec<(usize, usize)> = once.iter().filter(firm).copied().collect();
        let anchors = rising(if firm.is_empty() { &once } else { &firm });
        if anchors.is_empty() {
            common(left, right, (l, r), &mut found);
            continue;
        }
        let runs = widen(left, right, (l, r), &anchors);
        let (mut l_at, mut r_at) = (l.0, r.0);
        for run in &runs {
            todo.push(((l_at, run.left), (r_at, run.right)));
            found.extend((0..run.len).map(|at| (run.left + at, run.right + at)));
            (l_at, r_at) = (run.left + run.len, run.right + run.len);
        }
        todo.push(((l_at, l.1), (r_at, r.1)));
    }
    found.sort_unstable();
    slide(left, right, &mut found);
    found
}

/// Of equal items in a row, pairs the last ones, so that what surrounds them does not decide which.
fn slide(left: &[u32], right: &[u32], found: &mut [(usize, usize)]) {
    let mut next = (left.len(), right.len());
    for pair in found.iter_mut().rev() {
        if next.0 == pair.0 + 1 && next.1 > pair.1 + 1 && right[next.1 - 1] == right[pair.1] {
            pair.1 = next.1 - 1;
        } else if next.1 == pair.1 + 1 && next.0 > pair.0 + 1 && left[next.0 - 1] == left[pair.0] {
            pair.0 = next.0 - 1;
        }
        next = *pair;
    }
}

/// Items `left..left + len` equal `right..right + len`.
struct Run {
    left: usize,
    right: usize,
    len: usize,
}

type Range = (usize, usize);

/// Returns the pairs of items that occur once on each side.
fn once(left: &[u32], right: &[u32], l: Range, r: Range) -> Vec<(usize, usize)> {
    let places = |items: &[u32], range: Range| {
        let mut places: HashMap<u32, Option<usize>> = HashMap::new();
        for (at, item) in items[range.0..range.1].iter().enumerate() {
            places
                .entry(*item)
                .and_modify(|place| *place = None)
                .or_insert(Some(range.0 + at));
        }
        places
    };
    if l.0 == l.1 || r.0 == r.1 {
        return Vec::new();
    }
    let (on_left, on_right) = (places(left, l), places(right, r));
    let mut both: Vec<(usize, usize)> = on_left
        .into_iter()
        .filter_map(|(item, at)| Some((at?, (*on_right.get(&item)?)?)))
        .collect();
    both.sort_unstable();
    both
}

/// Returns a longest subsequence whose second members rise.
fn rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut tails: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; pairs.len()];
    for (at, pair) in pairs.iter().enumerate() {
        let place = tails.partition_point(|tail| pairs[*tail].1 < pair.1);
        before[at] = place.checked_sub(1).map(|place| tails[place]);
        if place == tails.len() {
            tails.push(at);
        } else {
            tails[place] = at;
        }
    }
    let mut next = tails.last().copied();
    let mut found = Vec::with_capacity(tails.len());
    while let Some(at) = next {
        found.push(pairs[at]);
        next = before[at];
    }
    found.reverse();
    found
}

/// Widens each anchor over the equal items before and behind it.
fn widen(
    left: &[u32],
    right: &[u32],
    (l, r): (Range, Range),
    anchors: &[(usize, usize)],
) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let (mut l_from, mut r_from) = (l.0, r.0);
    for &(l_at, r_at) in anchors {
        if l_at < l_from {
            continue;
        }
        let mut back = 0;
        while l_at - back > l_from
            && r_at - back > r_from
            && left[l_at - back - 1] == right[r_at - back - 1]
        {
            back += 1;
        }
        let mut len = back + 1;
        while l_at - back + len < l.1
            && r_at - back + len < r.1
            && left[l_at - back + len] == right[r_at - back + len]
        {
            len += 1;
        }
        let run = Run {
            left: l_at - back,
            right: r_at - back,
            len,
        };
        (l_from, r_from) = (run.left + len, run.right + len);
        runs.push(run);
    }
    runs
}

fn common(left: &[u32], right: &[u32], (l, r): (Range, Range), found: &mut Vec<(usize, usize)>) {
    let (height, width) = (l.1 - l.0, r.1 - r.0);
    if height == 0 || width == 0 || height.saturating_mul(width) > TABLE_LIMIT {
        return;
    }
    let equal = |y: usize, x: usize| left[l.0 + y] == right[r.0 + x];
    let mut lengths = vec![0u32; (height + 1) * (width + 1)];
    let cell = |y: usize, x: usize| y * (width + 1) + x;
    for y in 1..=height {
        for x in 1..=width {
            lengths[cell(y, x)] = if equal(y - 1, x - 1) {
                lengths[cell(y - 1, x - 1)] + 1
            } else {
                lengths[cell(y - 1, x)].max(lengths[cell(y, x - 1)])
            };
        }
    }
    let (mut y, mut x) = (height, width);
    while y > 0 && x > 0 {
        if equal(y - 1, x - 1) {
            found.push((l.0 + y - 1, r.0 + x - 1));
            (y, x) = (y - 1, x - 1);
        } else if lengths[cell(y - 1, x)] >= lengths[cell(y, x - 1)] {
            y -= 1;
        } else {
            x -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Hold;

    fn pairs(left: &[u32], right: &[u32]) -> Vec<(usize, usize)> {
        super::pairs(left, right, |_| Hold::Loose)
    }

    fn of(left: &str, right: &str) -> String {
        let items = |text: &str| text.bytes().map(u32::from).collect::<Vec<_>>();
        pairs(&items(left), &items(right))
            .into_iter()
            .map(|(at, _)| char::from(left.as_bytes()[at]))
            .collect()
    }

    #[test]
    fn what_both_hold_in_order_is_paired() {
        assert_eq!(of("abc", "abc"), "abc");
        assert_eq!(of("abcd", "axcd"), "acd");
        assert_eq!(of("aabb", "ab"), "ab");
        assert_eq!(of("", "x"), "");
        assert_eq!(of("xyz", "zyx").len(), 1);
    }

    #[test]
    fn an_item_that_repeats_goes_with_its_neighbours() {
        let items = |text: &str| text.bytes().map(u32::from).collect::<Vec<_>>();
        let found = pairs(&items(".ax.bx"), &items(".bx"));
        assert_eq!(found, [(3, 0), (4, 1), (5, 2)]);
    }

    #[test]
    fn a_firm_item_holds_against_many_loose_ones() {
        let hold = |item| if item == 9 { Hold::Firm } else { Hold::Loose };
        assert_eq!(super::pairs(&[9, 1, 2], &[1, 2, 9], hold), [(0, 2)]);
        assert_eq!(
            super::pairs(&[1, 2], &[2, 1], |item| if item == 2 {
                Hold::None
            } else {
                Hold::Loose
            }),
            [(0, 1)]
        );
    }

    proptest! {
        #[test]
        fn pairs_are_equal_and_rise(left in prop::collection::vec(0u32..6, 0..30), right in prop::collection::vec(0u32..6, 0..30)) {
            let found = pairs(&left, &right);
            for (l, r) in &found {
                prop_assert_eq!(left[*l], right[*r]);
            }
            for step in found.windows(2) {
                prop_assert!(step[0].0 < step[1].0 && step[0].1 < step[1].1);
            }
        }

        #[test]
        fn a_sequence_is_paired_with_itself(left in prop::collection::vec(0u32..6, 0..30)) {
            prop_assert_eq!(pairs(&left, &left).len(), left.len());
        }
    }
}
