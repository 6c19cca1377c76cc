//! The rows of the two views, and the escape of their cells.
//!
//! A cell holds no raw `|`, CR, LF or control character, so that a plain split on `|` works. `|` is
//! `&#124;`, LF is `<br>`, a control or invisible character is `&#xHH;`; a literal that would read
//! back as one of these has its `&` written `&amp;` (or its `<br>` as `&lt;br>`).

use super::{DecisionKind, Outcome, Stamp};

/// A row of VERDICTS.md, its cells decoded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VerdictRow {
    pub task: String,
    pub criterion: String,
    /// The evidence and, at its end, the stamp.
    pub cell: String,
    pub outcome: Outcome,
}

/// A line of DECISIONS.md, its fields decoded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DecisionRow {
    /// `2026-11-30`.
    pub date: String,
    pub scope: String,
    pub kind: DecisionKind,
    pub owner: Option<String>,
    pub what: String,
    pub why: String,
}

impl VerdictRow {
    /// Reads a row of exactly four cells, none empty, the last a verdict; white space around cells and
    /// missing outer pipes are another tool's alignment. `None` for any other line.
    pub fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        let inner = line.strip_prefix('|').unwrap_or(line);
        let inner = inner.strip_suffix('|').unwrap_or(inner);
        let cells: Vec<&str> = inner.split('|').map(str::trim).collect();
        let [task, criterion, cell, outcome] = cells.as_slice() else {
            return None;
        };
        if [task, criterion, cell]
            .iter()
            .any(|cell| super::is_blank(cell))
        {
            return None;
        }
        Some(Self {
            task: unescape(task),
            criterion: unescape(criterion),
            cell: without_blank(unescape(cell)),
            outcome: Outcome::parse(outcome)?,
        })
    }

    /// Returns the evidence without its stamp.
    pub fn evidence(&self) -> &str {
        Stamp::split_cell(&self.cell).0
    }

    /// Returns the stamp the evidence cell ends with.
    pub fn stamp(&self) -> Option<Stamp> {
        Stamp::split_cell(&self.cell).1
    }

    /// Returns the canonical row, without its LF.
    pub fn format(&self) -> String {
        Self::of([&self.task, &self.criterion, &self.cell], self.outcome)
    }

    /// Returns the canonical row of a task, a criterion and a cell of evidence, without its LF.
    pub fn of(cells: [&str; 3], outcome: Outcome) -> String {
        let len: usize = cells.iter().map(|cell| cell.len() + 3).sum();
        let mut row = String::with_capacity(len + 10);
        for cell in cells {
            row.push_str("| ");
            escape_into(cell, &mut row);
            row.push(' ');
        }
        row.push_str("| ");
        row.push_str(outcome.as_str());
        row.push_str(" |");
        row
    }

    /// Says of a line without white space at its ends whether it is surely a canonical row: one of those
    /// whose cells need no escape. Of any other line it says no.
    pub fn is_plain(line: &str) -> bool {
        let inner = line
            .strip_prefix("| ")
            .and_then(|row| row.strip_suffix(" |"));
        let Some(inner) = inner.filter(|inner| needs_no_escape(inner)) else {
            return false;
        };
        let mut cells = inner.split('|');
        let mut next = || cells.next();
        let (Some(task), Some(criterion), Some(cell)) = (next(), next(), next()) else {
            return false;
        };
        let (Some(outcome), None) = (next(), next()) else {
            return false;
        };
        // Each cell but the first begins, and each but the last ends, with the space of its pipe.
        let alone = [
            task.strip_suffix(' '),
            criterion
                .strip_prefix(' ')
                .and_then(|cell| cell.strip_suffix(' ')),
            cell.strip_prefix(' ')
                .and_then(|cell| cell.strip_suffix(' ')),
        ];
        let plain = |cell: &Option<&str>| {
            cell.is_some_and(|cell| {
                cell.starts_with(|c: char| c.is_ascii_graphic())
                    && cell.ends_with(|c: char| !c.is_whitespace())
            })
        };
        alone.iter().all(plain)
            && outcome
                .strip_prefix(' ')
                .is_some_and(|word| Outcome::parse(word).is_some_and(|o| o.as_str() == word))
    }
}

impl DecisionRow {
    /// Reads `date | scope | KIND | what | why`, optionally with a leading `[sid:S]` in the fourth
    /// field. Pipes beyond the fourth belong to what and why as they were typed. `None` for any other
    /// line: a row starts with an ISO date and its third field is a kind.
    pub fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        if !line.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let fields: Vec<&str> = line.split(" | ").collect();
        let [date, scope, kind, what, why @ ..] = fields.as_slice() else {
            return None;
        };
        let (what, why) = match why {
            [] => (what.trim_end_matches(" |").to_owned(), ""),
            [why] => ((*what).to_owned(), *why),
            [middle @ .., why] => (format!("{what} | {}", middle.join(" | ")), *why),
        };
        let digits = date.len() == 10
            && date.bytes().enumerate().all(|(at, c)| {
                if matches!(at, 4 | 7) {
                    c == b'-'
                } else {
                    c.is_ascii_digit()
                }
            });
        digits.then_some(())?;
        let (owner, what) = split_owner(what.trim());
        Some(Self {
            date: (*date).to_owned(),
            scope: unescape(scope.trim()),
            kind: DecisionKind::parse(kind.trim())?,
            owner: owner.map(unescape),
            what: unescape(what),
            why: unescape(why.trim()),
        })
    }

    /// Returns the canonical line, without its LF.
    pub fn format(&self) -> String {
        let owner = self
            .owner
            .as_ref()
            .map(|owner| format!("[sid:{}] ", escape(owner)))
            .unwrap_or_default();
        format!(
            "{} | {} | {} | {owner}{} | {}",
            self.date,
            escape(&self.scope),
            self.kind,
            escape(&self.what),
            escape(&self.why)
        )
    }
}

/// A stamp with nothing but white space before it stands alone.
fn without_blank(cell: String) -> String {
    let text = cell.trim_start();
    match text.parse::<Stamp>() {
        Ok(_) => text.to_owned(),
        Err(_) => cell,
    }
}

fn split_owner(what: &str) -> (Option<&str>, &str) {
    let tagged = what
        .strip_prefix("[sid:")
        .and_then(|rest| rest.split_once(']'));
    match tagged {
        Some((owner, what)) if !owner.is_empty() => (Some(owner), what.trim_start()),
        _ => (None, what),
    }
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Says whether a text between white space stands in a cell as it is, pipes apart.
fn needs_no_escape(text: &str) -> bool {
    let plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'&' && byte != b'<';
    text.bytes().all(|byte| plain(byte) || byte >= 0x80)
        && (text.is_ascii() || !text.chars().any(is_hidden))
}

/// Returns `text` as a cell holds it.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    escape_into(text, &mut out);
    out
}

fn escape_into(text: &str, out: &mut String) {
    if needs_no_escape(text) && !text.contains('|') && text.trim().len() == text.len() {
        out.push_str(text);
        return;
    }
    let start = text.len() - text.trim_start().len();
    let end = text.trim_end().len();
    for (at, c) in text.char_indices() {
        match c {
            '|' => out.push_str("&#124;"),
            '\n' => out.push_str("<br>"),
            '&' if reads_back(&text[at + 1..]) => out.push_str("&amp;"),
            '<' if text[at..].starts_with("<br>") => out.push_str("&lt;"),
            c if is_hidden(c) || at < start || at >= end => {
                out.push_str(&format!("&#x{:02X};", u32::from(c)));
            }
            c => out.push(c),
        }
    }
}

/// Says whether an `&` before `rest` would be decoded.
fn reads_back(rest: &str) -> bool {
    let rest = rest.trim_start_matches("amp;");
    rest.starts_with("#124;") || rest.starts_with("lt;br>") || hidden(rest).is_some()
}

/// Returns the character that `#xHH;` names and the length of that text.
fn hidden(rest: &str) -> Option<(char, usize)> {
    let digits = rest.strip_prefix("#x")?;
    let end = digits.find(';').filter(|end| (2..=4).contains(end))?;
    let hex = &digits[..end];
    if !hex
        .bytes()
        .all(|c| c.is_ascii_digit() || (b'A'..=b'F').contains(&c))
    {
        return None;
    }
    let c = u32::from_str_radix(hex, 16).ok().and_then(char::from_u32)?;
    (format!("{:02X}", u32::from(c)) == hex && (is_hidden(c) || c.is_whitespace()))
        .then_some((c, end + 3))
}

/// Returns the text that a cell holds.
pub fn unescape(cell: &str) -> String {
    let mut out = String::with_capacity(cell.len());
    let mut rest = cell;
    while let Some(at) = rest.find(['&', '<']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (text, used) = decode_one(rest);
        out.push_str(&text);
        rest = &rest[used..];
    }
    out.push_str(rest);
    out
}

fn decode_one(rest: &str) -> (String, usize) {
    if rest.starts_with("<br>") {
        return ("\n".to_owned(), 4);
    }
    let Some(entity) = rest.strip_prefix('&') else {
        return ("<".to_owned(), 1);
    };
    if entity.starts_with("#124;") {
        return ("|".to_owned(), 6);
    }
    if entity.starts_with("lt;br>") {
        return ("<br>".to_owned(), 7);
    }
    if let Some((c, used)) = hidden(entity) {
        return (c.to_string(), used + 1);
    }
    if let Some(after) = entity.strip_prefix("amp;")
        && reads_back(after)
    {
        return ("&".to_owned(), 5);
    }
    ("&".to_owned(), 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{DecisionRow, VerdictRow, escape, unescape, without_blank};
    use crate::model::{DecisionKind, Outcome};

    #[test]
    fn cells_hold_no_pipe_or_line_end() {
        for (text, cell) in [
            (
                "ok | PASS |\n| t2 |",
                "ok &#124; PASS &#124;<br>&#124; t2 &#124;",
            ),
            ("a & b <br> c", "a & b &lt;br> c"),
            ("&#124; &amp; &amp;#124;", "&amp;#124; &amp; &amp;amp;#124;"),
            ("\r\x1b[31m", "&#x0D;&#x1B;[31m"),
            ("\u{202e}x", "&#x202E;x"),
            (" x ", "&#x20;x&#x20;"),
            ("&#x41;", "&#x41;"),
        ] {
            assert_eq!(escape(text), cell);
            assert_eq!(unescape(cell), text);
        }
    }

    #[test]
    fn a_row_has_exactly_four_cells_and_a_verdict() {
        let row = VerdictRow::parse("|  t1 | c |  e @1234567+dirty  | PASS |").unwrap();
        assert_eq!(row.evidence(), "e");
        assert_eq!(row.stamp().unwrap().to_string(), "@1234567+dirty");
        assert_eq!(row.format(), "| t1 | c | e @1234567+dirty | PASS |");
        for (line, plain) in [
            ("| t1 | c | e — é @1234567+dirty | PASS |", true),
            ("| t1 | c | e  e | MOOT |", true),
            ("| t1 | c |  e | PASS |", false),
            ("| t1 | c | e | pass |", false),
            ("| t1 | c | e | PASS", false),
            ("| t1 | c | e&#124; | PASS |", false),
            ("| t1 | c | <br> | PASS |", false),
            ("| t1 | c | e\u{200b} | PASS |", false),
            ("| t1 | c | \u{e9} | PASS |", false),
            ("| t1 |  | e | PASS |", false),
            ("| t1 | c | e | PASS | x |", false),
            ("| t1 | c | PASS |", false),
        ] {
            assert_eq!(VerdictRow::is_plain(line), plain, "{line}");
        }
        for line in [
            "| t3 | c | e @1234567 | PASS | extra |",
            "| t4 | c | PASS |",
            "|t5|c|e|pass|",
            "| t |  | e | PASS |",
            "| Gate | Criterion | Evidence | PASS/FAIL |",
            "|---|---|---|---|",
            "prose",
            "",
        ] {
            assert_eq!(VerdictRow::parse(line), None, "{line}");
        }
        assert_eq!(
            VerdictRow::parse("t1 | c | e | FAIL").unwrap().outcome,
            Outcome::Fail
        );
        assert_eq!(
            VerdictRow::parse("| Gate | c | e | MOOT |").unwrap().task,
            "Gate"
        );
    }

    #[test]
    fn a_decision_starts_with_a_date_and_names_its_kind_third() {
        let row = DecisionRow::parse(
            "2026-01-02 | scope | DEVIATION | [sid:S1] text with | pipes — and → | why",
        )
        .unwrap();
        assert_eq!(row.kind, DecisionKind::Deviation);
        assert_eq!(row.owner.as_deref(), Some("S1"));
        assert_eq!(row.what, "text with | pipes — and →");
        assert_eq!(row.why, "why");
        for line in [
            "# YYYY-MM-DD | scope | KIND | what | why; KIND: DEVIATION",
            "2026-01-02 | scope | note | a | DEVIATION | b",
            "26-01-02 | scope | DEVIATION | a | b",
            "2026-01-02 | scope | DEVIATION",
        ] {
            assert_eq!(DecisionRow::parse(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_text_round_trips_through_a_cell(text in "[\\PC&<>#;|lt amp x0-9br\n\r\t]{0,40}") {
            let cell = escape(&text);
            prop_assert!(!cell.contains(['|', '\n', '\r']));
            prop_assert_eq!(cell.trim(), &cell);
            prop_assert_eq!(unescape(&cell), text);
        }

        #[test]
        fn a_plain_row_is_the_canonical_one(line in "(\\| )?[a& |<\u{a0}\u{200b}\u{e9}\x01]{0,4}( \\| [@ab \u{200b}]{0,3}){0,3} \\| (PASS|MOOT|pass) ?\\|?") {
            let line = line.trim();
            let canonical = VerdictRow::parse(line).map(|row| row.format());
            if VerdictRow::is_plain(line) {
                prop_assert_eq!(canonical.as_deref(), Some(line));
            }
        }

        #[test]
        fn any_row_round_trips(task in "\\PC{1,9}", criterion in "[\\PC\n]{1,9}", evidence in "[\\PC|\n]{1,30}") {
            let cell = without_blank(format!("{evidence} @no-vcs"));
            let row = VerdictRow { task, criterion, cell, outcome: Outcome::Moot };
            if let Some(read) = VerdictRow::parse(&row.format()) {
                prop_assert_eq!(read, row);
            } else {
                prop_assert!(crate::model::is_blank(&row.task) || crate::model::is_blank(&row.criterion));
            }
        }
    }
}
