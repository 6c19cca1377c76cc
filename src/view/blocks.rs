//! Hand-written text: its blocks, and which of them records hold.

use std::collections::{HashMap, HashSet};

use super::{Document, Items, Kind, View, What, render::is_row_of};
use crate::model::{RecordId, is_blank};

/// The largest part of a block that one record holds, before it is encoded.
const PART_LIMIT: usize = 24 * 1024;

/// A run of lines of hand-written text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The number of its first line.
    pub(super) line: usize,
    pub(super) text: String,
    /// The record that holds it.
    pub(super) known: Option<RecordId>,
}

/// Returns the blocks behind the header in order, taken apart into those that records hold and the
/// rest. Conflict markers are not there.
pub(super) fn blocks(view: View, items: &Items, document: &Document) -> Vec<Block> {
    let mut known = Known::of(items);
    let mut found = Vec::new();
    let mut run: Vec<(usize, &str)> = Vec::new();
    for (number, line) in document.body() {
        let text = std::str::from_utf8(line.bytes).ok();
        match (&line.kind, text) {
            (Kind::Text, Some(text)) => run.push((number, text)),
            (Kind::Row(_), Some(text)) if !is_row_of(view, line) => run.push((number, text)),
            (Kind::Marker, _) => {}
            _ => known.split(&std::mem::take(&mut run), &mut found),
        }
    }
    known.split(&run, &mut found);
    found
}

/// Returns the block records whose text stands in the file, or whose first line does: somebody edited
/// them.
pub(super) fn present(view: View, items: &Items, document: &Document) -> HashSet<RecordId> {
    let blocks = blocks(view, items, document);
    let here: HashSet<RecordId> = blocks.iter().filter_map(|block| block.known).collect();
    let edited: HashSet<&str> = blocks
        .iter()
        .filter_map(|block| heading(&block.text))
        .collect();
    let live = items.items.iter().filter_map(|item| match &item.what {
        What::Block(text) => Some((item.id, text)),
        What::Row { .. } => None,
    });
    live.filter(|(id, text)| {
        here.contains(id) || heading(text).is_some_and(|line| edited.contains(line))
    })
    .map(|(id, _)| id)
    .collect()
}

/// Returns the first line of a block that shows something.
pub(super) fn heading(text: &str) -> Option<&str> {
    text.lines().find(|line| !is_blank(line))
}

/// The texts of records that no block has taken yet, by their first line.
struct Known<'i> {
    by_line: HashMap<&'i str, Vec<(RecordId, &'i str)>>,
}

impl<'i> Known<'i> {
    fn of(items: &'i Items) -> Self {
        let mut by_line: HashMap<&str, Vec<(RecordId, &str)>> = HashMap::new();
        let live: HashSet<RecordId> = items.items.iter().map(|item| item.id).collect();
        // The longest are taken first: one that begins as a longer one does is a part of it. Of equal
        // ones that which still stands.
        let mut known: Vec<&(RecordId, String)> = items.known.iter().collect();
        known.sort_by_key(|(id, text)| (usize::MAX - text.len(), !live.contains(id)));
        for (id, text) in known {
            let first = text.lines().next().unwrap_or_default();
            by_line.entry(first).or_default().push((*id, text));
        }
        Self { by_line }
    }

    fn split(&mut self, run: &[(usize, &str)], found: &mut Vec<Block>) {
        let mut rest: Vec<(usize, &str)> = Vec::new();
        let mut at = 0;
        while at < run.len() {
            let Some((id, text, lines)) = self.take(&run[at..]) else {
                rest.push(run[at]);
                at += 1;
                continue;
            };
            unknown(&std::mem::take(&mut rest), found);
            found.push(Block {
                line: run[at].0,
                text: text.to_owned(),
                known: Some(id),
            });
            at += lines;
        }
        unknown(&rest, found);
    }

    /// Takes a known text that the lines begin with.
    fn take(&mut self, lines: &[(usize, &str)]) -> Option<(RecordId, &'i str, usize)> {
        let candidates = self.by_line.get_mut(lines[0].1)?;
        let place = candidates.iter().position(|(_, text)| {
            let count = text.lines().count();
            count <= lines.len()
                && text
                    .lines()
                    .eq(lines[..count].iter().map(|(_, line)| *line))
        })?;
        let (id, text) = candidates.remove(place);
        Some((id, text, text.lines().count()))
    }
}

/// Adds what no record holds, in parts that a record can hold; blank lines alone say nothing.
fn unknown(run: &[(usize, &str)], found: &mut Vec<Block>) {
    if run.iter().all(|(_, line)| is_blank(line)) {
        return;
    }
    let mut part = Block {
        line: 0,
        text: String::new(),
        known: None,
    };
    for (number, line) in run {
        if part.text.len() + line.len() > PART_LIMIT && !part.text.is_empty() {
            found.push(std::mem::replace(
                &mut part,
                Block {
                    line: 0,
                    text: String::new(),
                    known: None,
                },
            ));
        }
        if part.text.is_empty() {
            part.line = *number;
        }
        part.text.push_str(line);
        part.text.push('\n');
    }
    if !part.text.is_empty() {
        found.push(part);
    }
}
