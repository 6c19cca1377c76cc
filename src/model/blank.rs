/// Says whether `text` shows nothing: white space, control and invisible characters only.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| {
        c.is_whitespace()
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
            )
    })
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
        ] {
            assert!(is_blank(text), "{text:?}");
        }
        assert!(!is_blank(" \u{200b}."));
    }
}
