use std::borrow::Cow;

/// Says whether a terminal may act on `c` instead of showing it, or show what follows out of order.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Joins letters into one shape; harmless between them, and emoji need it.
fn joins(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

fn push(shown: &mut String, c: char) {
    match u32::from(c) {
        code @ 0..0x20 => {
            shown.push('^');
            shown.extend(char::from_u32(code + 0x40));
        }
        0x7f => shown.push_str("^?"),
        code if acts(c) && !joins(c) => shown.push_str(&format!("<U+{code:04X}>")),
        _ => shown.push(c),
    }
}

/// Returns `text` with everything a terminal could act on made visible: `^[` for escape, `<U+009B>`
/// beyond ASCII. Newlines and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text
        .chars()
        .any(|c| acts(c) && !joins(c) && !matches!(c, '\n' | '\t'))
    {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c => push(&mut shown, c),
        }
    }
    Cow::Owned(shown)
}

/// Returns `text` on one line: trimmed, each run of white space with a line break or tab in it one
/// space, the rest as [`printable()`] shows it.
pub fn one_line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut blank = false;
    for c in text.trim().chars() {
        if matches!(c, '\n' | '\r' | '\t') {
            blank = true;
            continue;
        }
        if blank {
            if !shown.ends_with(' ') && c != ' ' {
                shown.push(' ');
            }
            blank = false;
        }
        push(&mut shown, c);
    }
    shown
}

/// Returns the same JSON with those characters escaped that JSON lets stand and a terminal acts on.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    if !json.chars().any(|c| acts(c) && !joins(c)) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 8);
    for c in json.chars() {
        if !acts(c) || joins(c) {
            shown.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            shown.push_str(&format!("\\u{unit:04x}"));
        }
    }
    Cow::Owned(shown)
}

/// Returns how many columns a terminal gives `text`.
pub fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

pub(super) fn columns(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36f | 0x483..=0x489 | 0x591..=0x5bd | 0x610..=0x61a | 0x64b..=0x65f => 0,
        0x200b..=0x200f | 0x20d0..=0x20ff | 0xfe00..=0xfe0f | 0xfe20..=0xfe2f => 0,
        0x1100..=0x115f | 0x2e80..=0x303e | 0x3041..=0xa4cf | 0xac00..=0xd7a3 => 2,
        0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 => 2,
        0x1f300..=0x1f64f | 0x1f680..=0x1f6ff | 0x1f900..=0x1f9ff | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::{one_line, printable, printable_json, width};

    #[test]
    fn nothing_a_terminal_acts_on_is_left() {
        assert_eq!(printable("a\x1b[2Jb\x07\x7f\r"), "a^[[2Jb^G^?^M");
        assert_eq!(printable("\u{9b}31m\u{202e}x"), "<U+009B>31m<U+202E>x");
        assert_eq!(
            printable("one\ntwo\tthree é 日本"),
            "one\ntwo\tthree é 日本"
        );
        assert_eq!(printable("👩\u{200d}👧"), "👩\u{200d}👧");
    }

    #[test]
    fn a_line_stays_one_line() {
        assert_eq!(one_line(" a\r\n b\n\nc\x1b "), "a b c^[");
        assert_eq!(one_line("a\u{2028}b"), "a<U+2028>b");
        assert_eq!(one_line("\n"), "");
    }

    #[test]
    fn json_keeps_its_value() {
        let text = "a\u{9b}\u{7f}\u{202e}\u{e0001}é";
        let json = serde_json::to_string(text).unwrap();
        let shown = printable_json(&json);
        assert_eq!(shown, "\"a\\u009b\\u007f\\u202e\\udb40\\udc01é\"");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
    }

    #[test]
    fn wide_and_combining_characters_are_counted() {
        assert_eq!(width("abc"), 3);
        assert_eq!(width("日本"), 4);
        assert_eq!(width("e\u{301}"), 1);
    }
}
