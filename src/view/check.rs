//! Whether a view is what the records make of it, line by line.

use std::collections::HashSet;

use super::{Document, Items, Kind, View, What, blocks};

/// A line of a view that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// From 1; 0 for the file as a whole.
    pub line: usize,
    pub what: String,
}

/// What a check of a view found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    pub findings: Vec<Finding>,
    /// Rows of the ledger that the file does not show.
    pub missing: usize,
}

impl Checked {
    fn find(&mut self, line: usize, what: impl Into<String>) {
        let what = what.into();
        self.findings.push(Finding { line, what });
    }
}

/// Checks the file against the records; an absent file is one finding where there are rows.
pub fn check(view: View, items: &Items, file: Option<&[u8]>) -> Checked {
    let mut checked = Checked::default();
    let Some(file) = file else {
        checked.missing = items.rows().len();
        if checked.missing > 0 {
            checked.find(0, "the file is missing");
        }
        return checked;
    };
    let document = Document::parse(file);
    whole(&document, &mut checked);
    header(view, items, &document, &mut checked);
    rows(view, items, &document, &mut checked);
    for block in blocks::blocks(view, items, &document) {
        if block.known.is_none() {
            checked.find(block.line, "no record holds this text");
        }
    }
    checked.findings.sort();
    checked
}

/// Returns the first line of a block's text that a view would not read as text, and what it would be.
pub fn misread(text: &str) -> Option<Finding> {
    let file = [View::Verdicts.header(), text].concat();
    let document = Document::parse(file.as_bytes());
    let above = View::Verdicts.header().lines().count();
    let found = document
        .lines
        .iter()
        .enumerate()
        .skip(above)
        .find_map(|(at, line)| {
            let what = match &line.kind {
                Kind::Marker => "the marker of a conflict".to_owned(),
                Kind::Malformed(reason) => format!("a malformed row: {reason}"),
                Kind::Title | Kind::Columns | Kind::Delimiter => "a line of the header".to_owned(),
                Kind::Row(row) if row.view == View::Verdicts => "the row of a verdict".to_owned(),
                Kind::Row(_) | Kind::Text => return None,
            };
            Some((at, what))
        });
    found.map(|(at, what)| Finding {
        line: at + 1 - above,
        what,
    })
}

fn whole(document: &Document, checked: &mut Checked) {
    if document.bom {
        checked.find(1, "the file begins with a byte order mark");
    }
    if document.crlf {
        checked.find(1, "lines end with CR LF");
    }
    if !document.terminated && !document.lines.is_empty() {
        checked.find(document.lines.len(), "the last line has no LF");
    }
}

fn header(view: View, items: &Items, document: &Document, checked: &mut Checked) {
    let lines = document.lines[..document.header].iter();
    let here: Vec<u8> = lines
        .flat_map(|line| [line.bytes, b"\n"].concat())
        .collect();
    if document.header == 0 {
        checked.find(1, "the header is missing");
    } else if document.has_own_header(view) {
        if here != view.header().as_bytes() {
            checked.find(1, "the header's white space is not canonical");
        }
    } else if !items.known.iter().any(|(_, text)| text.as_bytes() == here) {
        checked.find(1, "no record holds this header");
    }
}

fn rows(view: View, items: &Items, document: &Document, checked: &mut Checked) {
    let places = items.rows();
    let mut seen = HashSet::new();
    let mut last = 0;
    for (number, line) in document.body() {
        match &line.kind {
            Kind::Marker => checked.find(number, "a marker is left over from a conflict"),
            Kind::Malformed(reason) => checked.find(number, format!("malformed row: {reason}")),
            Kind::Title | Kind::Columns | Kind::Delimiter => {
                checked.find(number, "the header stands twice");
            }
            Kind::Row(row) if row.view == view => match places.get(row.key.as_str()) {
                None => checked.find(number, "no record backs this row"),
                Some(_) if !seen.insert(row.key.clone()) => {
                    checked.find(number, "the row stands twice");
                }
                Some(place) => {
                    if *place < last {
                        checked.find(number, "the row is not in order");
                    }
                    last = last.max(*place);
                    let canonical = matches!(&items.items[*place].what, What::Row { shown, .. } if shown.as_bytes() == line.bytes);
                    if !canonical {
                        checked.find(number, "the row is not canonical");
                    }
                }
            },
            Kind::Row(_) | Kind::Text => {}
        }
    }
    checked.missing = places.len() - seen.len();
}
