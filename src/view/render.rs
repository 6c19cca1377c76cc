//! A view's bytes, made of records and of the text that stands in the file.

use std::collections::{HashMap, HashSet};

use super::{Document, Item, Items, Kind, Line, View, What, blocks, line::normal};

/// A view as it is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    pub bytes: Vec<u8>,
    /// Rows and blocks that the file did not have.
    pub added: usize,
    /// The rows of records it shows.
    pub rows: usize,
    /// Rows that stay though no record backs them.
    pub foreign: usize,
}

/// Returns the view of `items`; what else stands in `file` stays behind the row it stands behind.
/// Markers of a conflict are left out.
pub fn render(view: View, items: &Items, file: Option<&[u8]>) -> Rendered {
    render_document(view, items, file.map(Document::parse).as_ref())
}

/// Renders as [`render`] does over a file that was taken apart before.
pub(super) fn render_document(view: View, items: &Items, document: Option<&Document>) -> Rendered {
    let mut writer = Writer {
        bytes: Vec::new(),
        added: 0,
        rows: 0,
    };
    match document {
        Some(document) if document.header > 0 && !document.has_own_header(view) => {
            let lines = &document.lines[..document.header];
            lines.iter().for_each(|line| writer.line(line.bytes));
        }
        Some(document) if document.header > 0 => writer.text(view.header()),
        Some(_) | None => writer.text(items.header.as_deref().unwrap_or(view.header())),
    }
    let own = Beside::of(view, items, (document, &writer.bytes));
    own.top.iter().for_each(|line| writer.line(line));
    for (at, item) in items.items.iter().enumerate() {
        writer.item((at, item), &own);
    }
    Rendered {
        bytes: writer.bytes,
        added: writer.added,
        rows: writer.rows,
        foreign: own.foreign,
    }
}

/// What stands in a file beside the rows of records.
#[derive(Default)]
struct Beside<'d> {
    top: Vec<&'d [u8]>,
    /// By the place of the row.
    behind: HashMap<usize, Vec<&'d [u8]>>,
    /// The places of the rows that are there.
    rows: Vec<bool>,
    foreign: usize,
    /// Blocks of records that are there, also when somebody edited them.
    blocks: HashSet<crate::model::RecordId>,
}

impl<'d> Beside<'d> {
    /// A line of a header that `header` has, or a new file would, stands twice and is left out.
    fn of(view: View, items: &Items, (document, header): (Option<&'d Document>, &[u8])) -> Self {
        let mut beside = Self::default();
        let Some(document) = document else {
            return beside;
        };
        beside.rows = vec![false; items.items.len()];
        let backed = items.rows();
        let mut above: Option<usize> = None;
        let mut again = false;
        for (_, line) in document.body() {
            again = match line.kind {
                Kind::Title | Kind::Columns => is_in(line, header),
                // What it is, its table's first line says.
                Kind::Delimiter => again,
                Kind::Row(_) | Kind::Malformed(_) | Kind::Marker | Kind::Text => false,
            };
            let backing = match &line.kind {
                Kind::Marker => continue,
                Kind::Title | Kind::Columns | Kind::Delimiter if again => continue,
                Kind::Title | Kind::Columns | Kind::Delimiter => None,
                Kind::Row(row) if row.view == view => backed.get(row.key.as_str()).copied(),
                Kind::Row(_) | Kind::Malformed(_) | Kind::Text => None,
            };
            if let Some(place) = backing {
                beside.rows[place] = true;
                above = Some(place);
                continue;
            }
            beside.foreign += usize::from(is_row_of(view, line));
            match above {
                Some(row) => beside.behind.entry(row).or_default().push(line.bytes),
                None => beside.top.push(line.bytes),
            }
        }
        beside.blocks = blocks::present(view, items, document);
        beside
    }
}

/// Says whether a header has the line, or that of a new file.
fn is_in(line: &Line, header: &[u8]) -> bool {
    let here = normal(&String::from_utf8_lossy(line.bytes));
    let header = String::from_utf8_lossy(header);
    let new = View::ALL.into_iter().flat_map(|view| view.header().lines());
    header.lines().chain(new).any(|line| normal(line) == here)
}

struct Writer {
    bytes: Vec<u8>,
    added: usize,
    rows: usize,
}

impl Writer {
    fn line(&mut self, line: &[u8]) {
        self.bytes.extend_from_slice(line);
        self.bytes.push(b'\n');
    }

    fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        if !text.ends_with('\n') {
            self.bytes.push(b'\n');
        }
    }

    fn item(&mut self, (at, item): (usize, &Item), beside: &Beside) {
        match &item.what {
            What::Row { shown, .. } => {
                self.rows += 1;
                self.added += usize::from(beside.rows.get(at) != Some(&true));
                self.line(shown.as_bytes());
                for line in beside.behind.get(&at).into_iter().flatten() {
                    self.line(line);
                }
            }
            What::Block(text) => {
                if !beside.blocks.contains(&item.id) {
                    self.added += 1;
                    self.text(text);
                }
            }
        }
    }
}

/// Says whether a line is a row of `view`.
pub(super) fn is_row_of(view: View, line: &Line) -> bool {
    line.row().is_some_and(|row| row.view == view)
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
