use std::str::FromStr;

use super::super::record;
use crate::{
    model::{Body, Record, time},
    ui::{Color, Paint, cut, printable, width},
};

/// Returns the line of a record: abbreviated id, time, word, subject.
pub(super) fn line(
    record: &Record,
    retracted: bool,
    paint: Paint,
    columns: Option<usize>,
) -> String {
    let id = record.id.short();
    let when = record::when(record);
    let word = format!("{:<8}", record::word(record));
    let mark = if retracted { "(retracted) " } else { "" };
    let used = width(id) + 16 + width(&word) + width(mark) + 3;
    let mut subject = record::subject(record);
    if let Some(columns) = columns {
        subject = cut(&subject, columns.saturating_sub(used).max(20));
    }
    format!(
        "{} {when:<16} {} {}{subject}",
        paint.paint(Color::Yellow, id),
        paint.paint(record::color(record), &word),
        paint.paint(Color::Dim, mark),
    )
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

const FIELDS: &str = "HhkwtcoSseaCd";

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
    /// Returns the bytes for a record. What comes from the record is printable, what the template says
    /// stands as it is.
    pub(super) fn fill(&self, record: &Record) -> Vec<u8> {
        let mut filled = Vec::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => filled.extend_from_slice(text.as_bytes()),
                Part::Byte(byte) => filled.push(*byte),
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
        'C' => super::filter::commits(record).join(" "),
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
