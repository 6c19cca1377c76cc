//! Words of a shell.

/// Returns `text` as one word of a shell, on one line, in quotes where it needs them.
pub fn shell_quoted(text: &str) -> String {
    let plain = !text.is_empty()
        && text.bytes().all(|c| {
            c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.' | b'/' | b'@' | b':' | b'+')
        });
    match plain && !text.starts_with('-') {
        true => text.to_owned(),
        false => shell_quotes(text),
    }
}

/// Returns `text` in quotes of a shell, on one line: `$'…'` where it holds control characters.
pub fn shell_quotes(text: &str) -> String {
    match text.chars().any(breaks) {
        true => format!("$'{}'", text.chars().map(escaped).collect::<String>()),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// Says whether a character would end the line or be acted on.
fn breaks(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Returns a character as it stands between `$'` and `'`.
fn escaped(c: char) -> String {
    match c {
        '\n' => r"\n".to_owned(),
        '\t' => r"\t".to_owned(),
        '\'' | '\\' => format!("\\{c}"),
        c if c.is_ascii_control() => format!("\\x{:02x}", u32::from(c)),
        c if breaks(c) => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::shell_quoted;

    #[test]
    fn a_word_is_one_line_and_one_word() {
        for (text, word) in [
            ("a-b.c", "a-b.c"),
            ("-n", "'-n'"),
            ("it's", r"'it'\''s'"),
            ("q\n::error::x", r"$'q\n::error::x'"),
            ("a\x1b[1m'\\", r"$'a\x1b[1m\'\\'"),
            ("a\u{2028}b", r"$'a\u2028b'"),
        ] {
            assert_eq!(shell_quoted(text), word);
        }
    }

    #[test]
    fn a_shell_reads_what_was_quoted() {
        for text in ["it's", "q\n::x", "\u{1b}[1m'\\\t", "ä\u{85}", "\u{2028}"] {
            let script = format!("printf %s {}", shell_quoted(text));
            let shell = std::process::Command::new("bash")
                .args(["-c", &script])
                .env("LC_ALL", "C.UTF-8")
                .output()
                .unwrap();
            assert_eq!(String::from_utf8_lossy(&shell.stdout), text);
        }
    }
}
