//! A view taken apart into lines. What a line is, its content says, not the name of the file.

use super::classify::classify;
use crate::model::{
    is_blank,
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
    pub(super) fn parse(text: &str, bare: bool) -> Option<Self> {
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

    /// Returns the number of the first marker of a conflict.
    pub(super) fn marker(&self) -> Option<usize> {
        let mut lines = self.lines.iter();
        let at = lines.position(|line| line.kind == Kind::Marker)?;
        Some(at + 1)
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

/// Returns the trimmed cells of a line that holds a pipe.
pub(super) fn cells(line: &str) -> Option<Vec<&str>> {
    let line = line.trim();
    if !line.contains('|') || line.starts_with('#') {
        return None;
    }
    let inner = line.strip_prefix('|').unwrap_or(line);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    Some(inner.split('|').map(str::trim).collect())
}

pub(super) fn is_dashes(cell: &str) -> bool {
    let inner = cell.strip_prefix(':').unwrap_or(cell);
    let inner = inner.strip_suffix(':').unwrap_or(inner);
    !inner.is_empty() && inner.bytes().all(|byte| byte == b'-')
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
