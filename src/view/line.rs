//! A view taken apart into lines. What a line is, its content says, not the name of the file.

use crate::model::{
    Outcome, is_blank,
    row::{DecisionRow, VerdictRow},
};

/// One of the two views.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum View {
    Verdicts,
    Decisions,
}

impl View {
    /// Both views.
    pub const ALL: [Self; 2] = [Self::Verdicts, Self::Decisions];

    /// Returns the file's name under `.operator/`, which records carry too.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Verdicts => "VERDICTS.md",
            Self::Decisions => "DECISIONS.md",
        }
    }

    /// Returns the header of a new file.
    pub fn header(self) -> &'static str {
        match self {
            Self::Verdicts => concat!(
                "# VERDICTS — append-only. One row per gated task; written only by git-operator.\n",
                "| Gate | Criterion | Evidence | PASS/FAIL |\n",
                "|---|---|---|---|\n"
            ),
            Self::Decisions => concat!(
                "# DECISIONS — append-only. One line per decision.\n",
                "# YYYY-MM-DD | scope | KIND | what | why; KIND: DEVIATION ESCALATION ",
                "GATE-EXCEPTION DECISION DEFERRED-VERDICT HANDOFF-MARK SPEC-APPROVED\n"
            ),
        }
    }
}

/// A managed row, as records are compared with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The view such rows stand in.
    pub view: View,
    /// The canonical text: equal in two rows that say the same.
    pub key: String,
}

impl Row {
    /// Reads a row; `None` for any other line. A row without its leading pipe is one only in a table
    /// that has none.
    fn parse(text: &str, bare: bool) -> Option<Self> {
        let text = text.trim();
        if !text.starts_with('|') {
            if let Some(row) = DecisionRow::parse(text) {
                return Some(Self {
                    view: View::Decisions,
                    key: row.format(),
                });
            }
            if !bare {
                return None;
            }
        }
        if VerdictRow::is_plain(text) {
            return Some(Self {
                view: View::Verdicts,
                key: text.to_owned(),
            });
        }
        VerdictRow::parse(text).map(|row| Self {
            view: View::Verdicts,
            key: row.format(),
        })
    }
}

/// What a line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A `#` line of the header.
    Title,
    /// The line that names the columns.
    Columns,
    /// The line of dashes under it.
    Delimiter,
    Row(Row),
    /// Looks like a row and is none, for this reason: reported, neither imported nor removed.
    Malformed(String),
    /// Left over from a conflict.
    Marker,
    Text,
}

impl Kind {
    /// Says whether the line can only be a header's.
    pub fn is_header(&self) -> bool {
        matches!(self, Self::Title | Self::Columns | Self::Delimiter)
    }
}

/// A line of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The bytes without the line's end.
    pub bytes: &'a [u8],
    pub kind: Kind,
}

impl Line<'_> {
    /// Returns the row the line is.
    pub fn row(&self) -> Option<&Row> {
        if let Kind::Row(row) = &self.kind {
            Some(row)
        } else {
            None
        }
    }
}

/// A view as it lies in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document<'a> {
    pub bom: bool,
    /// Most lines end with CR LF.
    pub crlf: bool,
    /// The last line ends with LF.
    pub terminated: bool,
    pub lines: Vec<Line<'a>>,
    /// How many of the lines, from the first, are the header.
    pub header: usize,
}

const BOM: &[u8] = b"\xef\xbb\xbf";

impl<'a> Document<'a> {
    /// Takes `bytes` apart; every input is some document.
    pub fn parse(bytes: &'a [u8]) -> Self {
        let body = bytes.strip_prefix(BOM).unwrap_or(bytes);
        let (mut raw, mut crlf) = (Vec::new(), 0);
        let terminated = body.ends_with(b"\n");
        let whole = body.strip_suffix(b"\n").unwrap_or(body);
        if !body.is_empty() {
            for line in whole.split(|byte| *byte == b'\n') {
                let end = line.iter().rposition(|byte| *byte != b'\r');
                let kept = &line[..end.map_or(0, |end| end + 1)];
                crlf += usize::from(kept.len() < line.len());
                raw.push(kept);
            }
        }
        let kinds = classify(&raw);
        let header = header_len(&raw, &kinds);
        Self {
            bom: body.len() < bytes.len(),
            crlf: crlf * 2 > raw.len(),
            terminated,
            lines: raw
                .into_iter()
                .zip(kinds)
                .map(|(bytes, kind)| Line { bytes, kind })
                .collect(),
            header,
        }
    }

    /// Says whether the header is `view`'s own, white space and alignment apart; also when there is
    /// none.
    pub fn has_own_header(&self, view: View) -> bool {
        let own: Vec<String> = view.header().lines().map(normal).collect();
        let here: Vec<String> = self.lines[..self.header]
            .iter()
            .map(|line| normal(&String::from_utf8_lossy(line.bytes)))
            .filter(|line| !line.is_empty())
            .collect();
        here.is_empty() || here == own
    }

    /// Returns the two lines that begin the own table.
    pub(super) fn head(&self) -> Option<[String; 2]> {
        let at = self
            .lines
            .iter()
            .position(|line| line.kind == Kind::Columns)?;
        let text = |at: usize| String::from_utf8_lossy(self.lines[at].bytes).into_owned();
        let dashes = self
            .lines
            .get(at + 1)
            .filter(|line| line.kind == Kind::Delimiter);
        dashes.map(|_| [text(at), text(at + 1)])
    }

    /// Returns the lines behind the header with their numbers, from 1.
    pub fn body(&self) -> impl Iterator<Item = (usize, &Line<'a>)> {
        self.lines
            .iter()
            .enumerate()
            .skip(self.header)
            .map(|(at, line)| (at + 1, line))
    }
}

/// Returns `line` with its white space and its table's alignment taken out.
pub(super) fn normal(line: &str) -> String {
    let Some(cells) = cells(line) else {
        return line.split_whitespace().collect::<Vec<_>>().join(" ");
    };
    let cells: Vec<String> = cells
        .into_iter()
        .map(|cell| match is_dashes(cell) {
            true => "---".to_owned(),
            false => cell.split_whitespace().collect::<Vec<_>>().join(" "),
        })
        .collect();
    format!("|{}|", cells.join("|"))
}

/// Returns what of a line is not changed by taking it to its normal form.
fn letters(line: &str) -> impl Iterator<Item = char> {
    let changed = |c: char| c.is_whitespace() || matches!(c, '|' | '-' | ':');
    line.chars().filter(move |c| !changed(*c))
}

/// Returns the trimmed cells of a line that holds a pipe.
fn cells(line: &str) -> Option<Vec<&str>> {
    let line = line.trim();
    if !line.contains('|') || line.starts_with('#') {
        return None;
    }
    let inner = line.strip_prefix('|').unwrap_or(line);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    Some(inner.split('|').map(str::trim).collect())
}

fn is_dashes(cell: &str) -> bool {
    let inner = cell.strip_prefix(':').unwrap_or(cell);
    let inner = inner.strip_suffix(':').unwrap_or(inner);
    !inner.is_empty() && inner.bytes().all(|byte| byte == b'-')
}

/// Returns the number of columns when the line is the dashes under a table's head.
fn delimiter(line: &str) -> Option<usize> {
    if letters(line).next().is_some() {
        return None;
    }
    let cells = cells(line)?;
    cells
        .iter()
        .all(|cell| is_dashes(cell))
        .then_some(cells.len())
}

/// Where a table begins: the line of its column names.
struct Table {
    at: usize,
    columns: usize,
    bare: bool,
}

fn tables(texts: &[Option<&str>]) -> Vec<Table> {
    let text = |at: usize| texts.get(at).copied().flatten();
    (0..texts.len())
        .filter_map(|at| {
            let names = text(at)?;
            let dashes = text(at + 1)?;
            let columns = delimiter(dashes)?;
            let names_head = cells(names).is_some()
                && delimiter(names).is_none()
                && Row::parse(names, false).is_none();
            names_head.then(|| Table {
                at,
                columns,
                bare: !dashes.trim_start().starts_with('|'),
            })
        })
        .collect()
}

/// Returns the index of the view's own table: the first of four columns, else the first one when no
/// row stands above it.
fn own_table(tables: &[Table], texts: &[Option<&str>]) -> Option<usize> {
    if let Some(own) = tables.iter().position(|table| table.columns == 4) {
        return Some(own);
    }
    let first = tables.first()?;
    let rows_above = texts[..first.at]
        .iter()
        .flatten()
        .any(|text| Row::parse(text, false).is_some());
    (!rows_above).then_some(0)
}

fn classify(raw: &[&[u8]]) -> Vec<Kind> {
    let texts: Vec<Option<&str>> = raw
        .iter()
        .map(|line| {
            std::str::from_utf8(line)
                .ok()
                .filter(|text| !text.contains('\0'))
        })
        .collect();
    let tables = tables(&texts);
    let own = own_table(&tables, &texts);
    let mut classifier = Classifier {
        bare: own.is_some_and(|own| tables[own].bare),
        open: 0,
        foreign: false,
        top: true,
        heading: false,
        head: own.map(|own| {
            let at = tables[own].at;
            [at, at + 1].map(|at| normal(texts[at].unwrap_or_default()))
        }),
        titles: Vec::new(),
    };
    let mut heads = vec![None; texts.len()];
    for (index, table) in tables.iter().enumerate() {
        heads[table.at] = Some(Some(index) == own);
    }
    let mut kinds: Vec<Kind> = Vec::with_capacity(raw.len());
    for (at, text) in texts.iter().enumerate() {
        let kind = match text {
            None => Kind::Malformed("it is not text".to_owned()),
            Some(text) => {
                let below = at.checked_sub(1).and_then(|above| heads[above]);
                classifier.line(text, heads[at].or(below))
            }
        };
        kinds.push(kind);
    }
    kinds
}

/// What the lines above say of the next one.
struct Classifier {
    /// The own table has no outer pipes.
    bare: bool,
    /// The length of the marker that opened a conflict, 0 outside one.
    open: usize,
    /// The line above belongs to a table that is not the view's.
    foreign: bool,
    /// Only titles and blank lines so far.
    top: bool,
    /// The line above is text that `=` would underline.
    heading: bool,
    /// The own table's two lines, in their normal form.
    head: Option<[String; 2]>,
    titles: Vec<String>,
}

impl Classifier {
    /// `head` says that the line is one of the two that begin a table, and whether that is the own
    /// one.
    fn line(&mut self, text: &str, head: Option<bool>) -> Kind {
        if self.marker(text) {
            return Kind::Marker;
        }
        let kind = self.other(text, head);
        self.heading = kind == Kind::Text && !is_blank(text);
        kind
    }

    fn other(&mut self, text: &str, head: Option<bool>) -> Kind {
        let piped = text.trim_start().starts_with('|');
        self.foreign = piped && (self.foreign || head == Some(false));
        if let Some(kind) = self.header(text) {
            self.foreign = false;
            return kind;
        }
        self.top = self.top && is_blank(text);
        if let Some(row) = Row::parse(text, self.bare) {
            self.foreign = false;
            return Kind::Row(row);
        }
        match self.malformed(text, piped) {
            Some(reason) if !self.foreign => Kind::Malformed(reason),
            _ => Kind::Text,
        }
    }

    fn header(&mut self, text: &str) -> Option<Kind> {
        let title = text.starts_with("# ") || text == "#";
        let heads = self.head.iter().flatten();
        if !title
            && heads
                .into_iter()
                .all(|head| !letters(text).eq(letters(head)))
        {
            return None;
        }
        let normal_text = normal(text);
        if let Some([names, dashes]) = &self.head {
            if normal_text == *names && Row::parse(text, false).is_none() {
                return Some(Kind::Columns);
            }
            if normal_text == *dashes {
                return Some(Kind::Delimiter);
            }
        }
        if title && (self.top || self.titles.contains(&normal_text)) {
            self.titles.push(normal_text);
            return Some(Kind::Title);
        }
        None
    }

    /// A run of seven or more `<`, `|` or `>` at the first column; `=` also between those, or where
    /// it underlines no heading.
    fn marker(&mut self, text: &str) -> bool {
        let Some(first) = text.bytes().next().filter(|first| b"<|=>".contains(first)) else {
            return false;
        };
        let run = text.bytes().take_while(|byte| *byte == first).count();
        let rest = &text[run..];
        if run < 7 || !(rest.is_empty() || rest.starts_with(' ')) {
            return false;
        }
        match first {
            b'<' => self.open = run,
            b'=' => {
                return rest.is_empty() && (run == self.open || (run == 7 && !self.heading));
            }
            b'>' => self.open = 0,
            _ => {}
        }
        true
    }

    fn malformed(&self, text: &str, piped: bool) -> Option<String> {
        if is_dated(text) {
            return Some("it has no kind of decision in its third field".to_owned());
        }
        let cells = cells(text)?;
        let last = cells.last().copied().unwrap_or_default();
        let says = Outcome::parse(&last.to_ascii_uppercase()).is_some();
        let is_tabular = piped || (self.bare && says);
        if !is_tabular {
            return None;
        }
        Some(match cells.as_slice() {
            [_, _, _, word] if Outcome::parse(word).is_some() => "it has an empty cell".to_owned(),
            [_, _, _, _] => "its last cell is no verdict".to_owned(),
            cells => format!("it has {} cells, not 4", cells.len()),
        })
    }
}

/// Says whether the line begins like a decision.
fn is_dated(text: &str) -> bool {
    let Some((date, _)) = text.trim_start().split_once('|') else {
        return false;
    };
    let date = date.trim_end().as_bytes();
    date.len() == 10
        && date.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// The header reaches to the own table's dashes when nothing managed stands above them; else it is
/// the titles at the top.
fn header_len(raw: &[&[u8]], kinds: &[Kind]) -> usize {
    let dashes = kinds.iter().position(|kind| *kind == Kind::Delimiter);
    if let Some(dashes) = dashes {
        let clear = kinds[..dashes]
            .iter()
            .all(|kind| kind.is_header() || *kind == Kind::Text);
        if clear {
            return dashes + 1;
        }
    }
    let blank = |at: usize| std::str::from_utf8(raw[at]).is_ok_and(is_blank);
    let top = (0..kinds.len())
        .take_while(|at| kinds[*at] == Kind::Title || blank(*at))
        .filter(|at| kinds[*at] == Kind::Title)
        .last();
    top.map_or(0, |last| last + 1)
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
