//! What can go without a loss: complete escape sequences, runs of blank lines, repeated lines.

use std::borrow::Cow;

const ESC: char = '\u{1b}';
const BEL: u8 = 0x07;
/// How deep sequences inside sequences are followed before the text is left alone.
const PASSES: usize = 4;
const OSC_LIMIT: usize = 4_096;

/// Returns `text` without its complete escape sequences; an incomplete one stays.
///
/// A text without ESC comes back as it is.
pub(super) fn escapes(text: &str) -> Cow<'_, str> {
    let mut plain = Cow::Borrowed(text);
    for _ in 0..PASSES {
        match once(&plain) {
            None => return plain,
            Some(shorter) => plain = Cow::Owned(shorter),
        }
    }
    // Removing a sequence made another one, over and over: no terminal prints that.
    if once(&plain).is_none() {
        plain
    } else {
        Cow::Borrowed(text)
    }
}

fn once(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut kept = String::new();
    let mut from = 0;
    let mut at = 0;
    while let Some(found) = text[at..].find(ESC) {
        let start = at + found;
        at = match sequence(&bytes[start..]) {
            Some(length) => {
                kept.push_str(&text[from..start]);
                from = start + length;
                from
            }
            None => start + 1,
        };
    }
    (from > 0).then(|| {
        kept.push_str(&text[from..]);
        kept
    })
}

/// Returns the length of the complete sequence at the start of `bytes`, which begin with ESC.
fn sequence(bytes: &[u8]) -> Option<usize> {
    match bytes.get(1)? {
        b'[' => {
            let end = bytes[2..]
                .iter()
                .position(|byte| !matches!(byte, 0x20..=0x3f))?;
            matches!(bytes[2 + end], 0x40..=0x7e).then_some(end + 3)
        }
        b']' | b'P' | b'_' | b'^' => {
            let end = bytes[2..]
                .iter()
                .take(OSC_LIMIT)
                .position(|byte| *byte < 0x20)?
                + 2;
            match bytes[end] {
                BEL => Some(end + 1),
                0x1b if bytes.get(end + 1) == Some(&b'\\') => Some(end + 2),
                _ => None,
            }
        }
        b'(' | b')' => bytes.get(2)?.is_ascii_alphanumeric().then_some(3),
        b'=' | b'>' | b'7' | b'8' | b'c' | b'D' | b'E' | b'H' | b'M' => Some(2),
        _ => None,
    }
}

/// Returns `text` with three or more blank lines made one, and four or more equal lines made one
/// with their count.
pub(super) fn repeats(text: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let mut from = 0;
    let mut at = 0;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let mut count = 1;
        while lines.next_if(|next| *next == line).is_some() {
            count += 1;
        }
        at += line.len() * count;
        if let Some(mark) = collapsed(line, count) {
            kept.push_str(&text[from..at - line.len() * (count - 1)]);
            kept.push_str(&mark);
            from = at;
        }
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    kept.push_str(&text[from..]);
    if kept.len() < text.len() {
        Cow::Owned(kept)
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns what stands for all but the first of so many equal lines; `None` where they stay.
fn collapsed(line: &str, count: usize) -> Option<String> {
    if count < 3 {
        return None;
    }
    let blank = line.trim_end_matches(['\r', '\n']).is_empty();
    match (blank, count) {
        (true, 3..) => Some(String::new()),
        (false, 4..) if line.len() * count > line.len() + 24 => {
            Some(format!("[repeated {count}×]\n"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{escapes, repeats};

    #[test]
    fn complete_sequences_go_and_the_rest_stays() {
        for (text, plain) in [
            ("\u{1b}[1;31mred\u{1b}[0m\n", "red\n"),
            (
                "\u{1b}]8;;http://e.invalid\u{1b}\\link\u{1b}]8;;\u{1b}\\",
                "link",
            ),
            ("\u{1b}]0;title\u{7}é", "é"),
            ("\u{1b}(B\u{1b}[?25l\u{1b}[2K日", "日"),
            ("\u{1b}[", "\u{1b}["),
            ("\u{1b}[31", "\u{1b}[31"),
            ("\u{1b}]8;;no end\nnext", "\u{1b}]8;;no end\nnext"),
            (
                "arr[0]=1; ]8;; [31m not an escape",
                "arr[0]=1; ]8;; [31m not an escape",
            ),
            ("\u{1b}[\u{1b}[31m31mx", "x"),
            ("\u{1b}[3é1m", "\u{1b}[3é1m"),
        ] {
            assert_eq!(escapes(text), plain, "{text:?}");
        }
    }

    #[test]
    fn repeated_and_blank_lines_collapse() {
        let row = "waiting for the server to answer\n";
        assert_eq!(
            repeats(&format!("a\n\n\n\n\nb\n{}", row.repeat(4))),
            format!("a\n\nb\n{row}[repeated 4×]\n")
        );
        for text in [
            "a\n\n\nb\n",
            "x\nx\nx\n",
            "x\nx\nx\nx\n",
            "",
            "\n",
            "a",
            "a\na\na\na",
        ] {
            assert_eq!(repeats(text), text);
        }
    }

    /// Copies line by line.
    fn repeats_plainly(text: &str) -> String {
        let mut kept = String::new();
        let mut lines = text.split_inclusive('\n').peekable();
        while let Some(line) = lines.next() {
            let mut count = 1;
            while lines.peek() == Some(&line) {
                lines.next();
                count += 1;
            }
            let blank = line.trim_end_matches(['\r', '\n']).is_empty();
            match (blank, count) {
                (true, 3..) => kept.push_str(line),
                (false, 4..) if line.len() * count > line.len() + 24 => {
                    kept.push_str(line);
                    kept.push_str(&format!("[repeated {count}×]\n"));
                }
                _ => (0..count).for_each(|_| kept.push_str(line)),
            }
        }
        if kept.len() < text.len() {
            kept
        } else {
            text.to_owned()
        }
    }

    proptest::proptest! {
        #[test]
        fn a_text_without_escapes_is_a_fixed_point(text in "[^\u{1b}]{0,80}") {
            proptest::prop_assert_eq!(escapes(&text), text.as_str());
        }

        #[test]
        fn what_repeats_is_what_a_copy_line_by_line_leaves_out(text in "((\r?\n){1,5}|(a{0,9}\r?\n){2}|(b\n){3,6}|(é{9}\n){3,6}){0,9}a{0,2}") {
            proptest::prop_assert_eq!(repeats(&text), repeats_plainly(&text));
        }

        #[test]
        fn scrubbing_twice_is_scrubbing_once(text in "(\u{1b}|\\[|\\]|[0-9;m]|\u{7}|\\\\|\n|é|a{30}\n){0,40}") {
            let plain = escapes(&text).into_owned();
            proptest::prop_assert_eq!(escapes(&plain), plain.as_str());
            let short = repeats(&plain).into_owned();
            proptest::prop_assert_eq!(repeats(&short), short.as_str());
            proptest::prop_assert!(short.len() <= text.len());
        }
    }
}
