//! The order of the merged nodes: what both sides say of their neighbours, and where they say nothing,
//! the bytes.

use std::collections::{BTreeSet, HashMap};

use super::{
    Out,
    side::{Class, Sides, Words},
    text::{self, Nodes},
};
use crate::view::sort::topological;

pub(super) struct Woven {
    pub(super) lines: Vec<Out>,
    pub(super) conflicts: usize,
}

/// Where a node stands on a side.
#[derive(Clone, Copy)]
struct Place {
    at: usize,
    /// How many rows stand before it: text of one stretch has no row inside.
    stretch: usize,
}

/// A side as a sequence of nodes.
struct Line {
    order: Vec<usize>,
    places: HashMap<usize, Place>,
}

impl Line {
    fn of(nodes: &Nodes, side: usize) -> Self {
        let mut order: Vec<usize> = nodes.places[side].iter().flatten().copied().collect();
        order.dedup();
        let mut places = HashMap::with_capacity(order.len());
        let mut stretch = 0;
        for (at, node) in order.iter().enumerate() {
            stretch += usize::from(!nodes.nodes[*node].is_text);
            places.entry(*node).or_insert(Place { at, stretch });
        }
        Self { order, places }
    }

    fn steps(&self) -> impl Iterator<Item = (usize, usize)> {
        self.order.windows(2).map(|step| (step[0], step[1]))
    }
}

/// Sets of nodes that stay together.
struct Sets(Vec<usize>);

impl Sets {
    fn find(&mut self, node: usize) -> usize {
        let mut root = node;
        while self.0[root] != root {
            root = self.0[root];
        }
        let mut at = node;
        while self.0[at] != root {
            at = std::mem::replace(&mut self.0[at], root);
        }
        root
    }

    fn join(&mut self, left: usize, right: usize) {
        let (left, right) = (self.find(left), self.find(right));
        self.0[left.max(right)] = left.min(right);
    }
}

pub(super) fn weave(sides: &Sides, words: &Words, marker: usize) -> Woven {
    let nodes = text::nodes(sides, words, marker);
    let lines = [0, 1].map(|side| Line::of(&nodes, side));
    let weaver = Weaver { nodes, lines };
    let pieces = weaver.pieces();
    let blocks = weaver.blocks(&pieces);
    let order = weaver.order(&pieces, &blocks);
    Woven {
        lines: order
            .iter()
            .map(|node| weaver.nodes.nodes[*node].to_out())
            .collect(),
        conflicts: weaver.nodes.conflicts,
    }
}

struct Weaver {
    nodes: Nodes,
    lines: [Line; 2],
}

/// Nodes in one part, in their order, and the part of each node.
struct Parts {
    members: Vec<Vec<usize>>,
    of: Vec<usize>,
}

impl Weaver {
    fn is_text(&self, node: usize) -> bool {
        self.nodes.nodes[node].is_text
    }

    /// Joins text nodes that follow each other directly wherever either stands.
    fn pieces(&self) -> Parts {
        let mut sets = Sets((0..self.nodes.nodes.len()).collect());
        for line in &self.lines {
            for (one, next) in line.steps() {
                if self.is_text(one) && self.is_text(next) && self.always_next(one, next) {
                    sets.join(one, next);
                }
            }
        }
        let mut parts = self.parts(&mut sets);
        for members in &mut parts.members {
            members.sort_by_key(|node| {
                let place = |line: &Line| line.places.get(node).map(|place| place.at);
                place(&self.lines[0]).or_else(|| place(&self.lines[1]))
            });
        }
        parts
    }

    fn always_next(&self, one: usize, next: usize) -> bool {
        self.lines.iter().all(
            |line| match (line.places.get(&one), line.places.get(&next)) {
                (None, None) => true,
                (Some(one), Some(next)) => one.at + 1 == next.at,
                _ => false,
            },
        )
    }

    /// Joins text nodes that follow each other on a side and have no row between them on the other.
    fn blocks(&self, pieces: &Parts) -> Parts {
        let mut sets = Sets((0..self.nodes.nodes.len()).collect());
        for members in &pieces.members {
            for node in members {
                sets.join(members[0], *node);
            }
        }
        for (side, line) in self.lines.iter().enumerate() {
            let there = self.stretches(line, &self.lines[1 - side]);
            for (at, (one, next)) in line.steps().enumerate() {
                if there[at] == there[at + 1] && self.is_text(one) && self.is_text(next) {
                    sets.join(one, next);
                }
            }
        }
        self.parts(&mut sets)
    }

    /// Returns, for each node of `line`, the stretch of `other` it belongs to: its own there, or that
    /// of the text before it, or behind it.
    fn stretches(&self, line: &Line, other: &Line) -> Vec<Option<usize>> {
        let mut there: Vec<Option<usize>> = line
            .order
            .iter()
            .map(|node| other.places.get(node).map(|place| place.stretch))
            .collect();
        let mut fill = |order: &mut dyn Iterator<Item = usize>| {
            let mut last = None;
            for at in order {
                last = if self.is_text(line.order[at]) {
                    there[at].or(last)
                } else {
                    None
                };
                there[at] = there[at].or(last);
            }
        };
        fill(&mut (0..line.order.len()));
        fill(&mut (0..line.order.len()).rev());
        there
    }

    fn parts(&self, sets: &mut Sets) -> Parts {
        let count = self.nodes.nodes.len();
        let mut numbers = HashMap::new();
        let mut parts = Parts {
            members: Vec::new(),
            of: Vec::with_capacity(count),
        };
        for node in 0..count {
            let root = sets.find(node);
            let number = *numbers.entry(root).or_insert(parts.members.len());
            if number == parts.members.len() {
                parts.members.push(Vec::new());
            }
            parts.members[number].push(node);
            parts.of.push(number);
        }
        parts
    }

    /// Orders the pieces of each block, then the blocks.
    fn order(&self, pieces: &Parts, blocks: &Parts) -> Vec<usize> {
        let mut edges = BTreeSet::new();
        for line in &self.lines {
            for (one, next) in line.steps() {
                edges.insert((pieces.of[one], pieces.of[next]));
            }
        }
        edges.retain(|(one, next)| one != next);
        let texts: Vec<Vec<u8>> = pieces
            .members
            .iter()
            .map(|members| self.text(members))
            .collect();
        let ranks = ranks(&texts, &edges);
        let mut inside: Vec<Vec<usize>> = vec![Vec::new(); blocks.members.len()];
        for (piece, members) in pieces.members.iter().enumerate() {
            inside[blocks.of[members[0]]].push(piece);
        }
        let block_of = |piece: usize| blocks.of[pieces.members[piece][0]];
        let mut within: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
        let mut between = BTreeSet::new();
        for &(one, next) in &edges {
            if block_of(one) == block_of(next) {
                within.entry(block_of(one)).or_default().push((one, next));
            } else {
                between.insert((block_of(one), block_of(next)));
            }
        }
        for (block, members) in inside.iter_mut().enumerate() {
            if members.len() > 1 {
                let edges = within.remove(&block).unwrap_or_default();
                *members = follow(members, &edges, &ranks);
            }
        }
        let texts: Vec<Vec<u8>> = inside
            .iter()
            .map(|members| {
                let nodes = members.iter().flat_map(|piece| &pieces.members[*piece]);
                self.text(&nodes.copied().collect::<Vec<_>>())
            })
            .collect();
        let block_ranks = self::ranks(&texts, &between);
        let between: Vec<(usize, usize)> = between.into_iter().collect();
        topological(&block_ranks, &between)
            .into_iter()
            .flat_map(|block| inside[block].clone())
            .flat_map(|piece| pieces.members[piece].clone())
            .collect()
    }

    /// Returns what a part is ordered by: the header first, then the bytes.
    fn text(&self, members: &[usize]) -> Vec<u8> {
        let header = members
            .iter()
            .any(|node| match self.nodes.nodes[*node].class {
                Class::Head | Class::Title => true,
                Class::Row | Class::Text => false,
            });
        let mut text = vec![u8::from(!header)];
        for node in members {
            text.extend_from_slice(&self.nodes.nodes[*node].out);
            text.push(b'\n');
        }
        text
    }
}

/// Ranks parts by their text; equal ones by what stands around them, so that it does not matter which
/// side they came from.
fn ranks(texts: &[Vec<u8>], edges: &BTreeSet<(usize, usize)>) -> Vec<usize> {
    const ROUNDS: usize = 4;
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by(|one, next| texts[*one].cmp(&texts[*next]));
    if order
        .windows(2)
        .any(|pair| texts[pair[0]] == texts[pair[1]])
    {
        let mut marks: Vec<[u8; 32]> = texts
            .iter()
            .map(|text| *blake3::hash(text).as_bytes())
            .collect();
        for _ in 0..ROUNDS {
            marks = refine(&marks, edges);
        }
        order.sort_by(|one, next| (&texts[*one], marks[*one]).cmp(&(&texts[*next], marks[*next])));
    }
    let mut ranks = vec![0; texts.len()];
    for (rank, part) in order.into_iter().enumerate() {
        ranks[part] = rank;
    }
    ranks
}

fn refine(marks: &[[u8; 32]], edges: &BTreeSet<(usize, usize)>) -> Vec<[u8; 32]> {
    let mut around: Vec<[Vec<[u8; 32]>; 2]> = vec![[Vec::new(), Vec::new()]; marks.len()];
    for &(one, next) in edges {
        around[one][1].push(marks[next]);
        around[next][0].push(marks[one]);
    }
    around
        .into_iter()
        .zip(marks)
        .map(|(mut around, mark)| {
            let mut hasher = blake3::Hasher::new();
            hasher.update(mark);
            for side in &mut around {
                side.sort_unstable();
                hasher.update(&(side.len() as u64).to_le_bytes());
                side.iter().for_each(|mark| {
                    hasher.update(mark);
                });
            }
            *hasher.finalize().as_bytes()
        })
        .collect()
}

/// Orders the pieces of a block: behind those with an edge to them, going on where the last one leads.
fn follow(members: &[usize], edges: &[(usize, usize)], ranks: &[usize]) -> Vec<usize> {
    let mut waits: HashMap<usize, usize> = members.iter().map(|piece| (*piece, 0)).collect();
    let mut next: HashMap<usize, Vec<usize>> = HashMap::new();
    for &(from, to) in edges {
        next.entry(from).or_default().push(to);
        *waits.entry(to).or_default() += 1;
    }
    let mut left: BTreeSet<(usize, usize)> = members
        .iter()
        .map(|piece| (ranks[*piece], *piece))
        .collect();
    let mut free: BTreeSet<(usize, usize)> = left
        .iter()
        .copied()
        .filter(|(_, piece)| waits[piece] == 0)
        .collect();
    let mut order = Vec::with_capacity(members.len());
    let mut leads: BTreeSet<(usize, usize)> = BTreeSet::new();
    while let Some(chosen) = leads
        .first()
        .or_else(|| free.first())
        .or_else(|| left.first())
        .copied()
    {
        left.remove(&chosen);
        free.remove(&chosen);
        order.push(chosen.1);
        leads.clear();
        for to in next.remove(&chosen.1).unwrap_or_default() {
            let waiting = waits.entry(to).or_default();
            *waiting = waiting.saturating_sub(1);
            let known = (ranks[to], to);
            if *waiting == 0 && left.contains(&known) {
                free.insert(known);
                leads.insert(known);
            }
        }
    }
    order
}
