//! Which nodes the words of each side are: rows are one node wherever they stand, text is merged three
//! ways, and where both sides changed the same text a node holds both versions.

use std::collections::HashMap;

use super::stretch::{self, Stretches};
use super::{
    Out, conflict,
    side::{Class, Sides, Words},
};
use crate::view::diff::pairs;

/// A place in the result.
pub(super) struct Node {
    pub(super) class: Class,
    pub(super) out: Vec<u8>,
    pub(super) is_text: bool,
}

impl Node {
    pub(super) fn to_out(&self) -> Out {
        match self.class {
            Class::Head => Out::Head,
            Class::Title | Class::Row | Class::Text => Out::Line(self.out.clone()),
        }
    }
}

/// The nodes, and the nodes each word of each side stands for, in order.
pub(super) struct Nodes {
    pub(super) nodes: Vec<Node>,
    pub(super) places: [Vec<Vec<usize>>; 2],
    pub(super) conflicts: usize,
}

/// A stretch between two words that all three files share, and what each side did to its text.
struct Region {
    base: (usize, usize),
    sides: [(usize, usize); 2],
    changes: [Change; 2],
}

/// What one side did to the text of a region, as word indexes.
#[derive(Default)]
struct Change {
    /// Words of the side that the base has too.
    kept: Vec<usize>,
    added: Vec<usize>,
    /// Words of the base that are gone.
    removed: Vec<usize>,
}

struct Text<'a> {
    sides: &'a Sides,
    words: &'a Words,
    marker: usize,
    /// For each word of the base, its place on each side.
    matched: [Vec<Option<usize>>; 2],
    /// For each side, the places of added words that the other side added too, and where there.
    shared: [HashMap<usize, usize>; 2],
    found: Nodes,
}

pub(super) fn nodes(sides: &Sides, words: &Words, marker: usize) -> Nodes {
    let matched = [0, 1].map(|side| {
        let mut places = vec![None; sides.base.len()];
        for (base, at) in pairs(&sides.base, &sides.both[side], |word| words.hold(word)) {
            places[base] = Some(at);
        }
        places
    });
    let places = [0, 1].map(|side| vec![Vec::new(); sides.both[side].len()]);
    let mut text = Text {
        sides,
        words,
        marker,
        matched,
        shared: [HashMap::new(), HashMap::new()],
        found: Nodes {
            nodes: Vec::new(),
            places,
            conflicts: 0,
        },
    };
    let regions = text.regions();
    regions.iter().for_each(|region| text.share(region));
    text.rows();
    text.kept();
    text.decide(&regions);
    text.found
}

impl Text<'_> {
    fn word(&self, side: usize, at: usize) -> u32 {
        self.sides.both[side][at]
    }

    fn add(&mut self, class: Class, out: Vec<u8>) -> usize {
        self.found.nodes.push(Node {
            class,
            out,
            is_text: matches!(class, Class::Title | Class::Text),
        });
        self.found.nodes.len() - 1
    }

    fn add_word(&mut self, word: u32) -> usize {
        let word = self.words.get(word);
        self.add(word.class, word.bytes.clone())
    }

    /// Gives every word that is no text one node, wherever it stands.
    fn rows(&mut self) {
        let mut known: HashMap<u32, usize> = HashMap::new();
        for side in [0, 1] {
            for at in 0..self.sides.both[side].len() {
                let word = self.word(side, at);
                if self.words.is_text(word) {
                    continue;
                }
                let node = match known.get(&word) {
                    Some(node) => *node,
                    None => {
                        let node = self.add_word(word);
                        known.insert(word, node);
                        node
                    }
                };
                self.found.places[side][at].push(node);
            }
        }
    }

    /// Gives every word of text that all three files share a node.
    fn kept(&mut self) {
        for at in 0..self.sides.base.len() {
            let [Some(left), Some(right)] = [0, 1].map(|side: usize| self.matched[side][at]) else {
                continue;
            };
            if self.words.is_text(self.sides.base[at]) {
                let node = self.add_word(self.sides.base[at]);
                self.found.places[0][left].push(node);
                self.found.places[1][right].push(node);
            }
        }
    }

    fn regions(&self) -> Vec<Region> {
        let end = (
            self.sides.base.len(),
            self.sides.both[0].len(),
            self.sides.both[1].len(),
        );
        let borders = (0..self.sides.base.len())
            .filter_map(|at| Some((at, self.matched[0][at]?, self.matched[1][at]?)));
        let mut from = (0, 0, 0);
        let mut regions = Vec::new();
        for to in borders.chain([end]) {
            let mut region = Region {
                base: (from.0, to.0),
                sides: [(from.1, to.1), (from.2, to.2)],
                changes: Default::default(),
            };
            region.changes = [0, 1].map(|side| self.change(&region, side));
            regions.push(region);
            from = (to.0 + 1, to.1 + 1, to.2 + 1);
        }
        regions
    }

    /// Pairs the words that both sides added to a region: a stretch of one side that the other has
    /// whole. Equal lines in stretches that differ are not the same line.
    fn share(&mut self, region: &Region) {
        if region.changes.iter().any(|change| change.added.is_empty()) {
            return;
        }
        let sides = [0, 1].map(|side: usize| Stretches {
            words: &self.sides.both[side],
            range: region.sides[side],
            added: &region.changes[side].added,
        });
        for (left, right) in stretch::shared(&sides, self.words) {
            self.shared[0].insert(left, right);
            self.shared[1].insert(right, left);
        }
    }

    /// Settles every region: what both sides say, or both versions in one node.
    fn decide(&mut self, regions: &[Region]) {
        let mut agree: Vec<bool> = regions.iter().map(|region| self.agree(region)).collect();
        for (region, agree) in regions.iter().zip(&mut agree) {
            *agree = *agree || self.same(region);
        }
        for side in [0, 1] {
            for (region, agree) in regions.iter().zip(&agree) {
                if *agree {
                    self.add_all(side, &region.changes[side].added);
                }
            }
        }
        for (region, agree) in regions.iter().zip(&agree) {
            if *agree {
                self.stand_in(0, region);
                self.stand_in(1, region);
            } else {
                self.disagree(region);
            }
        }
    }

    /// Pairs all text of a region that reads the same on both sides; says whether it does.
    fn same(&mut self, region: &Region) -> bool {
        let texts = [0, 1].map(|side: usize| {
            let (from, to) = region.sides[side];
            let places = (from..to).filter(|at| self.words.is_text(self.word(side, *at)));
            places.collect::<Vec<usize>>()
        });
        let bytes = |side: usize, at: &usize| &self.words.get(self.word(side, *at)).bytes;
        let equal = texts[0].len() == texts[1].len()
            && texts[0]
                .iter()
                .zip(&texts[1])
                .all(|(left, right)| bytes(0, left) == bytes(1, right));
        if !equal {
            return false;
        }
        for (left, right) in texts[0].iter().zip(&texts[1]) {
            let node = self.add_word(self.word(0, *left));
            self.found.places[0][*left] = vec![node];
            self.found.places[1][*right] = vec![node];
        }
        true
    }

    fn agree(&self, region: &Region) -> bool {
        let [left, right] = &region.changes;
        self.subsumes(left, right, 1)
            || self.subsumes(right, left, 0)
            || (left.added.is_empty() && right.added.is_empty())
            || region
                .changes
                .iter()
                .all(|change| change.removed.is_empty())
            || self.apart(region, 0)
            || self.apart(region, 1)
    }

    fn change(&self, region: &Region, side: usize) -> Change {
        let mut change = Change::default();
        let mut kept = vec![false; region.sides[side].1 - region.sides[side].0];
        for at in region.base.0..region.base.1 {
            if !self.words.is_text(self.sides.base[at]) {
                continue;
            }
            match self.matched[side][at] {
                Some(place) => {
                    change.kept.push(place);
                    kept[place - region.sides[side].0] = true;
                }
                None => change.removed.push(at),
            }
        }
        change.added = (region.sides[side].0..region.sides[side].1)
            .filter(|at| self.words.is_text(self.word(side, *at)))
            .filter(|at| !kept[at - region.sides[side].0])
            .collect();
        change
    }

    /// Says whether `all` holds everything that `some` (of `side`) did.
    fn subsumes(&self, all: &Change, some: &Change, side: usize) -> bool {
        some.removed
            .iter()
            .all(|at| all.removed.binary_search(at).is_ok())
            && some
                .added
                .iter()
                .all(|at| self.shared[side].contains_key(at))
    }

    /// Gives added words their nodes; one that the other side added too has one node.
    fn add_all(&mut self, side: usize, added: &[usize]) {
        for &at in added {
            if !self.found.places[side][at].is_empty() {
                continue;
            }
            let there = self.shared[side]
                .get(&at)
                .and_then(|there| self.found.places[1 - side][*there].first())
                .copied();
            let node = match there {
                Some(node) => node,
                None => self.add_word(self.word(side, at)),
            };
            self.found.places[side][at].push(node);
        }
    }

    /// Lets text that the other side put in the very place of kept words stand for them, so that their
    /// neighbours find their place.
    fn stand_in(&mut self, side: usize, region: &Region) {
        let other = 1 - side;
        let (old, new) = (region.sides[side].0, region.sides[other].0);
        let kept = &region.changes[side].kept;
        let added = &region.changes[other].added;
        let in_place = kept.first() == Some(&old) && added.first() == Some(&new);
        if !in_place
            || self.shared[other].contains_key(&new)
            || !self.found.places[side][old].is_empty()
        {
            return;
        }
        // A word that stands on both sides has its place, and stands for no other.
        let run = added
            .iter()
            .zip(new..)
            .take_while(|(at, want)| *at == want && !self.shared[other].contains_key(at));
        let end = run.map(|(at, _)| *at).last().unwrap_or(new);
        let [start, end] = [new, end].map(|at| self.found.places[other][at][0]);
        let last = kept[kept.len() - 1];
        self.found.places[side][old].push(start);
        self.found.places[side][last].push(end);
    }

    /// Says whether `side` only added text here, and a row stands between what is its alone and all
    /// that the other side removed.
    fn apart(&self, region: &Region, side: usize) -> bool {
        let (from, to) = region.sides[side];
        let change = &region.changes[side];
        if !change.removed.is_empty() {
            return false;
        }
        let mut stretches = vec![0; to - from];
        let mut stretch = 0;
        for at in from..to {
            stretch += usize::from(!self.words.is_text(self.word(side, at)));
            stretches[at - from] = stretch;
        }
        let kept: Vec<usize> = change.kept.iter().map(|at| stretches[at - from]).collect();
        let own = change
            .added
            .iter()
            .filter(|at| !self.shared[side].contains_key(at));
        own.map(|at| stretches[at - from])
            .all(|stretch| !kept.contains(&stretch))
    }

    /// Puts both versions of a region's text into one node; the header's lines stay out of it.
    fn disagree(&mut self, region: &Region) {
        let mut titles: HashMap<u32, usize> = HashMap::new();
        let mut texts = [Vec::new(), Vec::new()];
        let mut places = Vec::new();
        for side in [0, 1] {
            for at in region.sides[side].0..region.sides[side].1 {
                let word = self.word(side, at);
                match self.words.get(word).class {
                    Class::Head | Class::Row => {}
                    Class::Title => {
                        let node = match titles.get(&word) {
                            Some(node) => *node,
                            None => self.add_word(word),
                        };
                        titles.insert(word, node);
                        self.found.places[side][at] = vec![node];
                    }
                    Class::Text => {
                        texts[side].extend_from_slice(&self.words.get(word).bytes);
                        texts[side].push(b'\n');
                        places.push((side, at));
                    }
                }
            }
        }
        let mut out = conflict(&texts[0], &texts[1], self.marker);
        out.pop();
        let node = self.add(Class::Text, out);
        self.found.conflicts += 1;
        for (side, at) in places {
            self.found.places[side][at] = vec![node];
        }
    }
}
