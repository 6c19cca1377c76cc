/// Says whether `text` shows nothing: white space, control and invisible characters and the sequences of
/// ECMA-48 that only colour what is not there.
pub fn is_blank(text: &str) -> bool {
    let mut rest = text;
    loop {
        let shown = rest.trim_start_matches(is_invisible_but_escape);
        match shown.strip_prefix('\u{1b}') {
            Some(after) => rest = without_sequence(after),
            None => return shown.is_empty(),
        }
    }
}

/// Returns what follows a whole control sequence whose escape was taken; all where it is none.
fn without_sequence(text: &str) -> &str {
    let Some(sequence) = text.strip_prefix('[') else {
        return text;
    };
    let end = sequence.trim_start_matches(|c| matches!(c, ' '..='?'));
    match end.chars().next() {
        Some('@'..='~') => &end[1..],
        _ => text,
    }
}

fn is_invisible_but_escape(c: char) -> bool {
    c != '\u{1b}'
        && (c.is_whitespace()
            || c.is_control()
            || matches!(
                c,
                '\u{ad}'
                    | '\u{34f}'
                    | '\u{61c}'
                    | '\u{115f}'
                    | '\u{1160}'
                    | '\u{17b4}'
                    | '\u{17b5}'
                    | '\u{180b}'..='\u{180f}'
                    | '\u{200b}'..='\u{200f}'
                    | '\u{202a}'..='\u{202e}'
                    | '\u{2060}'..='\u{206f}'
                    | '\u{2800}'
                    | '\u{3164}'
                    | '\u{fe00}'..='\u{fe0f}'
                    | '\u{feff}'
                    | '\u{ffa0}'
                    | '\u{e0000}'..='\u{e0fff}'
            ))
}

#[cfg(test)]
mod tests {
    use super::is_blank;

    #[test]
    fn invisible_characters_are_blank() {
        for text in [
            "",
            "  \n\t",
            "\u{a0}",
            "\u{200b}\u{feff}",
            "\u{3164}",
            "\0\u{1b}",
            "\u{1b}[0m\n",
            "\u{1b}[38;5;1m \u{1b}[K\u{1b}[m",
        ] {
            assert!(is_blank(text), "{text:?}");
        }
        for text in [" \u{200b}.", "\u{1b}[0mx", "\u{1b}[0", "\u{1b}]x"] {
            assert!(!is_blank(text), "{text:?}");
        }
    }
}
