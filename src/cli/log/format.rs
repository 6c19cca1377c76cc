use std::str::FromStr;

use super::super::record;
use crate::{
    model::{Body, Record, time},
    ui::{Color, Paint, cut, printable, width},
};

/// Narrower than this, a line has no room for the time; narrower than the other, none for a subject.
const TIMED: usize = 64;
const NARROW: usize = 40;

/// Returns the line of a record: abbreviated id, time, word, subject. A terminal that is too narrow
/// gets no time, or the subject on a line of its own.
pub(super) fn line(record: &Record, marks: &str, paint: Paint, columns: Option<usize>) -> String {
    fitted(
        record,
        &format!("{marks}{}", record::subject(record)),
        (marks.len(), paint),
        columns,
    )
}

/// Returns the line of a record that says `text`, of which the first `dim` bytes are marks.
pub(super) fn fitted(
    record: &Record,
    text: &str,
    (dim, paint): (usize, Paint),
    columns: Option<usize>,
) -> String {
    let width_of = columns.unwrap_or(usize::MAX);
    let id = paint.paint(Color::Yellow, record.id.short());
    let word = format!("{:<8}", record::word(record));
    let shown = paint.paint(record::color(record), &word);
    let timed = (width_of >= TIMED).then(|| format!("{:<16} ", record::when(record)));
    let used =
        width(record.id.short()) + 1 + timed.as_ref().map_or(0, String::len) + width(&word) + 1;
    if width_of < NARROW {
        let left = width_of.saturating_sub(width(record.id.short()) + 1).max(1);
        let word = paint.paint(record::color(record), &cut(word.trim_end(), left));
        let first = format!("{id} {word}");
        let rest = cut(text, width_of.saturating_sub(2).max(1));
        return format!("{first}\n  {rest}");
    }
    let text = columns.map_or_else(
        || text.to_owned(),
        |columns| cut(text, columns.saturating_sub(used)),
    );
    let (marks, subject) = text.split_at(dim.min(text.len()));
    let marks = if marks.is_empty() {
        String::new()
    } else {
        paint.paint(Color::Dim, marks)
    };
    format!("{id} {}{shown} {marks}{subject}", timed.unwrap_or_default())
}

/// What `--format` prints of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Byte(u8),
    Field(char),
}

const FIELDS: &str = "HhkwtcoSseaCdb";

impl FromStr for Template {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((plain, after)) = rest.split_once('%') {
            parts.push(Part::Text(plain.to_owned()));
            let mut letters = after.chars();
            rest = letters.as_str();
            let next = letters.next();
            parts.push(match next {
                Some('%') => Part::Text("%".to_owned()),
                Some('n') => Part::Text("\n".to_owned()),
                Some('x') => Part::Byte(hex(letters.as_str()).ok_or("%x needs two hex digits")?),
                Some(c) if FIELDS.contains(c) => Part::Field(c),
                Some(c) => return Err(format!("%{c} is no field")),
                None => return Err("it ends in %".to_owned()),
            });
            let taken = next.map_or(0, char::len_utf8) + if next == Some('x') { 2 } else { 0 };
            rest = &rest[taken..];
        }
        parts.push(Part::Text(rest.to_owned()));
        Ok(Self(parts))
    }
}

fn hex(text: &str) -> Option<u8> {
    let digits = text.get(..2)?;
    let plain = digits.bytes().all(|c| c.is_ascii_hexdigit());
    plain.then(|| u8::from_str_radix(digits, 16).ok())?
}

impl Template {
    /// Says whether it prints what ties a record to a commit.
    pub(super) fn asks_binding(&self) -> bool {
        self.0.contains(&Part::Field('b'))
    }

    /// Returns the bytes for a record. What comes from the record is printable, what the template says
    /// stands as it is.
    pub(super) fn fill(&self, record: &Record, binding: &str) -> Vec<u8> {
        let mut filled = Vec::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => filled.extend_from_slice(text.as_bytes()),
                Part::Byte(byte) => filled.push(*byte),
                Part::Field('b') => filled.extend_from_slice(binding.as_bytes()),
                Part::Field(c) => {
                    filled.extend_from_slice(printable(&field(record, *c)).as_bytes());
                }
            }
        }
        filled
    }
}

fn field(record: &Record, c: char) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    match c {
        'H' => record.id.to_string(),
        'h' => record.id.short().to_owned(),
        'k' => record.body.kind().to_owned(),
        'w' => record::word(record).to_owned(),
        't' => text(&record.task),
        'c' => text(&record.criterion),
        'o' => text(&record.owner),
        'S' => text(&record.session),
        's' => record::subject(record),
        'e' => record::evidence(record).map_or_else(String::new, |evidence| evidence.cell()),
        'a' => match &record.body {
            Body::Verdict(verdict) => verdict.stamp.to_string(),
            Body::Attempt(attempt) => {
                let stamp = attempt.stamp.as_ref();
                stamp.map_or_else(String::new, ToString::to_string)
            }
            _ => String::new(),
        },
        'C' => record.commits().join(" "),
        _ => match record.time {
            0 => String::new(),
            time => time::format_time(time),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::Template;

    #[test]
    fn a_template_is_refused_where_it_says_nothing() {
        for text in ["%", "a%", "%q", "%x", "%x0", "%xg0", "%x+1"] {
            assert!(text.parse::<Template>().is_err(), "{text}");
        }
        for text in ["", "plain", "%H %h%n", "%%", "%x00", "%xe9é"] {
            assert!(text.parse::<Template>().is_ok(), "{text}");
        }
    }
}
