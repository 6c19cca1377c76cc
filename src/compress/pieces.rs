//! A text cut into what is kept or elided as a whole: a line, a step of a progress bar that a carriage
//! return ends, or a JSON document over several lines.

use serde::de::IgnoredAny;

use super::failing;

/// How many documents are looked for; each look may read to the end of the text.
const LOOKS: usize = 64;

/// How long a line usually is, at least.
const USUAL: usize = 32;

/// One line or one JSON document, with the line end.
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    pub(super) lines: usize,
    pub(super) json: bool,
}

impl Piece<'_> {
    /// Says whether the piece tells of a failure; a document does where one of its lines does.
    pub(super) fn is_failing(&self) -> bool {
        if self.json {
            self.text.lines().any(failing::is_failing)
        } else {
            failing::is_failing(self.text)
        }
    }
}

/// Says whether `text` is JSON or one JSON document a line, also when it was cut off at the end.
pub(super) fn is_json(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if !text.starts_with(['{', '[']) {
        return false;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    match values.find_map(Result::err) {
        None => true,
        Some(error) => error.is_eof(),
    }
}

/// Returns the pieces of `text`, in order and without a gap.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::with_capacity(text.len() / USUAL + 1);
    let mut looks = LOOKS;
    let mut at = 0;
    let mut line_end = 0;
    while at < text.len() {
        let rest = &text[at..];
        if at >= line_end {
            line_end = rest.find('\n').map_or(text.len(), |end| at + end + 1);
        }
        let mut length = step(&text[at..line_end]);
        let mut json = false;
        if looks > 0 && rest.starts_with(['{', '[']) {
            looks -= 1;
            if let Some(document) = document(rest) {
                length = document;
                json = true;
            }
        }
        found.push(Piece {
            text: &rest[..length],
            lines: if json {
                rest[..length].lines().count()
            } else {
                1
            },
            json,
        });
        at += length;
    }
    found
}

/// Returns the length of the first step of a line, up to a carriage return that does not end it.
fn step(line: &str) -> usize {
    match line.find('\r') {
        Some(at)
            if !line[at..]
                .trim_start_matches('\r')
                .trim_start_matches('\n')
                .is_empty() =>
        {
            at + 1
        }
        Some(_) | None => line.len(),
    }
}

/// Returns the length of the document at the start of `text` with the rest of its last line, which
/// must be blank.
fn document(text: &str) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    let end = values.byte_offset();
    let rest = &text[end..];
    let line = rest.find('\n').map_or(rest.len(), |end| end + 1);
    rest[..line].trim().is_empty().then_some(end + line)
}

#[cfg(test)]
mod tests {
    use super::{is_json, pieces};

    #[test]
    fn json_is_known_whole_by_line_and_cut_off() {
        for text in [
            "{\"a\":1}",
            " [1,\n 2]\n",
            "{\"a\":1}\n{\"a\":2}\n",
            "[1][2]",
            "{\"a\":[1,2,",
            "{\"a\":1}\n{\"b",
            "\u{feff}{}",
        ] {
            assert!(is_json(text), "{text}");
        }
        for text in [
            "1\n2\n3\n",
            "[12:00:01] started\n",
            "{a}\n",
            "",
            "null",
            "{} x",
            "x {}",
        ] {
            assert!(!is_json(text), "{text}");
        }
    }

    #[test]
    fn a_carriage_return_ends_a_step_and_not_a_line_twice() {
        let text = "\ra\rb\r\nc\r\r\nd\r";
        let found: Vec<&str> = pieces(text).iter().map(|piece| piece.text).collect();
        assert_eq!(found, ["\r", "a\r", "b\r\n", "c\r\r\n", "d\r"]);
    }

    #[test]
    fn a_document_over_several_lines_is_one_piece() {
        let text = "GET /x\n{\n \"a\": [1,\n 2]\n}\n[not json\n[1] tail\nend";
        let found: Vec<(&str, bool)> = pieces(text)
            .iter()
            .map(|piece| (piece.text, piece.json))
            .collect();
        assert_eq!(
            found,
            [
                ("GET /x\n", false),
                ("{\n \"a\": [1,\n 2]\n}\n", true),
                ("[not json\n", false),
                ("[1] tail\n", false),
                ("end", false),
            ]
        );
    }
}
