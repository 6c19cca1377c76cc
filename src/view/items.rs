//! What of the records stands in a view, in order: by (`seq`, `id`), imported rows and blocks where the
//! layouts put them, rows that say the same once.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use super::{Document, View};
use crate::model::{
    Body, Record, RecordId, ReplicaId, Verdict, is_blank,
    row::{DecisionRow, VerdictRow},
    time,
};

/// A row or a block of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub id: RecordId,
    /// The order of its record; 0 where that was imported.
    pub seq: u64,
    pub what: What,
}

/// What an item shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    Row {
        /// The line without its LF.
        shown: String,
        /// Equal in rows that say the same.
        key: String,
    },
    /// Hand-written text, its LFs included.
    Block(String),
}

/// The records of one view.
#[derive(Clone, Debug, Default)]
pub struct Items {
    /// In order, each row and block once.
    pub items: Vec<Item>,
    /// The newest header of the project's own.
    pub header: Option<String>,
    /// Every block ever captured, also those that others took the place of.
    pub known: Vec<(RecordId, String)>,
}

impl Items {
    /// Takes from `records`, oldest first, what `view` shows.
    pub fn of<'a>(view: View, records: impl Iterator<Item = &'a Record> + Clone) -> Self {
        let mut items = Self::default();
        let mut places: Vec<Placed> = Vec::new();
        let mut replaced: HashSet<RecordId> = HashSet::new();
        let mut counts: HashMap<(Option<ReplicaId>, &str), usize> = HashMap::new();
        let mut blocks: HashSet<(&str, usize)> = HashSet::new();
        for record in records.clone() {
            if let Body::Bar(bar) = &record.body
                && bar.view == view.file_name()
            {
                replaced.extend(&record.after);
            }
        }
        for record in records.clone() {
            if let Some(what) = row(view, record) {
                let what = (what, record.body.is_imported());
                places.push(Placed::row(record, what));
            }
            let Body::Bar(bar) = &record.body else {
                continue;
            };
            // Blank lines alone were captured once; where they stand, they stand.
            if bar.view != view.file_name() || is_blank(&bar.text) {
                continue;
            }
            items.known.push((record.id, bar.text.clone()));
            if replaced.contains(&record.id) {
                continue;
            }
            if is_header(view, &bar.text) {
                items.header = Some(bar.text.clone());
                continue;
            }
            // The n-th equal block of one clone is the n-th of another.
            let count = counts.entry((record.replica, &bar.text)).or_insert(0);
            *count += 1;
            if blocks.insert((&bar.text, *count)) {
                places.push(Placed::block(record, bar.text.clone()));
            }
        }
        let mut order = arrange(view, &places, records);
        let mut seen = HashSet::with_capacity(places.len());
        order.retain(|at| match &places[*at].what {
            What::Row { key, .. } => seen.insert(key.as_str()),
            What::Block(_) => true,
        });
        items.items = order
            .into_iter()
            .map(|at| {
                let placed = &mut places[at];
                Item {
                    id: placed.id,
                    seq: placed.seq,
                    what: std::mem::replace(&mut placed.what, What::Block(String::new())),
                }
            })
            .collect();
        items
    }

    /// Returns the blocks that stand in the view.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (RecordId, &str)> {
        self.items.iter().filter_map(|item| match &item.what {
            What::Block(text) => Some((item.id, text.as_str())),
            What::Row { .. } => None,
        })
    }

    /// Leaves out these blocks.
    pub(super) fn without(&self, blocks: &HashSet<RecordId>) -> Cow<'_, Self> {
        if blocks.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut items = self.clone();
        items.items.retain(|item| !blocks.contains(&item.id));
        Cow::Owned(items)
    }

    /// Returns the place of each row, by what it says.
    pub fn rows(&self) -> HashMap<&str, usize> {
        let rows = self.items.iter().enumerate();
        rows.filter_map(|(at, item)| match &item.what {
            What::Row { key, .. } => Some((key.as_str(), at)),
            What::Block(_) => None,
        })
        .collect()
    }
}

/// Says whether a captured block is a header.
pub(super) fn is_header(view: View, text: &str) -> bool {
    let document = Document::parse(text.as_bytes());
    let whole = document.header == document.lines.len() && document.header > 0;
    match view {
        View::Verdicts => whole && document.head().is_some(),
        View::Decisions => whole,
    }
}

/// Returns what the row of a record says in its view: equal in rows that say the same.
pub fn row_key(view: View, record: &Record) -> Option<String> {
    match row(view, record)? {
        What::Row { key, .. } => Some(key),
        What::Block(_) => None,
    }
}

/// Returns the row a record makes in a view, if it makes one.
fn row(view: View, record: &Record) -> Option<What> {
    match (&record.body, view) {
        (Body::Verdict(verdict), View::Verdicts) => {
            let shows = |text: &&String| !is_blank(text);
            let key = match &verdict.import {
                Some(import) => VerdictRow::parse(&import.row)?.format(),
                None => {
                    let task = record.task.as_ref().filter(shows)?;
                    let criterion = record.criterion.as_ref().filter(shows)?;
                    VerdictRow::of([task, criterion, &cell(verdict)], verdict.outcome)
                }
            };
            Some(What::Row {
                shown: key.clone(),
                key,
            })
        }
        (Body::Decision(decision), View::Decisions) => {
            if let Some(import) = &decision.import {
                return Some(What::Row {
                    shown: import.row.trim().to_owned(),
                    key: DecisionRow::parse(&import.row)?.format(),
                });
            }
            let row = DecisionRow {
                date: time::format_date(record.time),
                scope: decision.scope.clone(),
                kind: decision.decision,
                owner: record.owner.clone(),
                what: decision.what.clone(),
                why: decision.why.clone(),
            };
            let shown = row.format();
            let key = DecisionRow::parse(&shown)?.format();
            Some(What::Row { shown, key })
        }
        _ => None,
    }
}

/// Returns evidence and stamp as they stand in one cell; a run that printed nothing has the stamp
/// alone.
fn cell(verdict: &Verdict) -> String {
    let evidence = verdict.evidence.cell();
    let stamp = verdict.stamp.short();
    match evidence.is_empty() {
        true => stamp.to_string(),
        false => format!("{evidence} {stamp}"),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    /// Stands by its order; others are placed beside it.
    Own,
    Imported,
    Block,
}

struct Placed {
    id: RecordId,
    seq: u64,
    what: What,
    sort: Sort,
}

impl Placed {
    fn row(record: &Record, (what, imported): (What, bool)) -> Self {
        let sort = if imported { Sort::Imported } else { Sort::Own };
        Self {
            id: record.id,
            seq: record.seq,
            what,
            sort,
        }
    }

    fn block(record: &Record, text: String) -> Self {
        Self {
            id: record.id,
            seq: record.seq,
            what: What::Block(text),
            sort: Sort::Block,
        }
    }
}

/// A list that things are moved in.
struct Chain {
    next: Vec<usize>,
    before: Vec<usize>,
}

impl Chain {
    /// The last place is the ring's end.
    fn new(count: usize) -> Self {
        let size = count + 1;
        Self {
            next: (0..size).map(|at| (at + 1) % size).collect(),
            before: (0..size).map(|at| (at + size - 1) % size).collect(),
        }
    }

    fn move_behind(&mut self, at: usize, place: usize) {
        if at == place || self.next[place] == at {
            return;
        }
        let (before, next) = (self.before[at], self.next[at]);
        (self.next[before], self.before[next]) = (next, before);
        let behind = self.next[place];
        (self.next[place], self.before[at]) = (at, place);
        (self.next[at], self.before[behind]) = (behind, at);
    }
}

/// Applies the layouts, oldest first: what is imported or hand-written moves beside the first thing in
/// the list that stands by itself.
fn arrange<'a>(
    view: View,
    places: &[Placed],
    records: impl Iterator<Item = &'a Record>,
) -> Vec<usize> {
    let mut layouts = records
        .filter_map(|record| match &record.body {
            Body::Layout(layout) if layout.view == view.file_name() => Some(layout),
            _ => None,
        })
        .peekable();
    if layouts.peek().is_none() {
        return (0..places.len()).collect();
    }
    let known: HashMap<RecordId, usize> = places
        .iter()
        .enumerate()
        .map(|(at, placed)| (placed.id, at))
        .collect();
    let mut chain = Chain::new(places.len());
    for layout in layouts {
        let mut seen = HashSet::new();
        let order: Vec<usize> = layout
            .order
            .iter()
            .filter_map(|id| known.get(id).copied())
            .filter(|at| seen.insert(*at))
            .collect();
        let Some(anchor) = (0..order.len()).min_by_key(|at| places[order[*at]].sort) else {
            continue;
        };
        for at in (0..anchor).rev() {
            let place = chain.before[order[at + 1]];
            chain.move_behind(order[at], place);
        }
        let mut last = order[anchor];
        for &at in &order[anchor + 1..] {
            if places[at].sort != Sort::Own {
                chain.move_behind(at, last);
            }
            last = at;
        }
    }
    let end = places.len();
    let mut order = Vec::with_capacity(end);
    let mut at = chain.next[end];
    while at != end {
        order.push(at);
        at = chain.next[at];
    }
    order
}
