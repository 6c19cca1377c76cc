/// The limits of the compressor, in bytes where nothing else is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether anything is done at all.
    pub on: bool,
    /// Whether an output equal to the last one is replaced by a line.
    pub dedup: bool,
    /// Whether escape sequences, blank lines and repeated lines are scrubbed.
    pub scrub: bool,
    /// The size above which the middle is elided.
    pub max: usize,
    /// How much is kept from the start.
    pub head: usize,
    /// How much is kept from the end.
    pub tail: usize,
    /// The length above which one line is shortened.
    pub line: usize,
    /// The size from which blank and repeated lines are collapsed.
    pub scrub_min: usize,
    /// The least saving for which the output is changed.
    pub min_shrink: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            on: true,
            dedup: true,
            scrub: true,
            max: 8_000,
            head: 6_144,
            tail: 4_096,
            line: 1_600,
            scrub_min: 1_024,
            min_shrink: 64,
        }
    }
}

impl Settings {
    /// Returns the settings with what the variables `CC_OPERATOR_COMPRESS…` say; a value that is no
    /// number leaves the default.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let is_off = |name: &str| variable(name).is_some_and(|value| value.trim() == "0");
        let mut settings = Self {
            on: !is_off("CC_OPERATOR_COMPRESS"),
            scrub: !is_off("CC_OPERATOR_COMPRESS_SCRUB"),
            dedup: !is_off("CC_OPERATOR_COMPRESS_DEDUP"),
            ..Self::default()
        };
        for (name, limit) in [
            ("MAX_CHARS", &mut settings.max),
            ("HEAD_BYTES", &mut settings.head),
            ("TAIL_BYTES", &mut settings.tail),
            ("LINE_CHARS", &mut settings.line),
            ("SCRUB_MIN", &mut settings.scrub_min),
            ("MIN_SHRINK", &mut settings.min_shrink),
        ] {
            let value = variable(&format!("CC_OPERATOR_COMPRESS_{name}"));
            if let Some(number) = value.and_then(|value| value.trim().parse().ok()) {
                *limit = number;
            }
        }
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::Settings;

    #[test]
    fn variables_change_the_limits_and_nonsense_does_not() {
        let read = |name: &str| {
            let value = match name {
                "CC_OPERATOR_COMPRESS" => "0",
                "CC_OPERATOR_COMPRESS_MAX_CHARS" => " 100 ",
                "CC_OPERATOR_COMPRESS_TAIL_BYTES" => "-1",
                "CC_OPERATOR_COMPRESS_HEAD_BYTES" => "many",
                _ => return None,
            };
            Some(value.to_owned())
        };
        let expected = Settings {
            on: false,
            max: 100,
            ..Settings::default()
        };
        assert_eq!(Settings::read(read), expected);
    }
}
