use std::fmt;

use thiserror::Error;

use super::is_blank;

/// Why a name is refused. Names are refused, never sanitised.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum NameError {
    #[error("a {0} cannot be empty")]
    Empty(&'static str),
    #[error("a {what} cannot contain {found}")]
    Contains { what: &'static str, found: String },
    #[error("a {0} cannot begin with '.'")]
    LeadingDot(&'static str),
    #[error("a {what} cannot be longer than {limit} bytes")]
    TooLong { what: &'static str, limit: usize },
}

const NAME_LIMIT: usize = 200;
const CRITERION_LIMIT: usize = 2_000;
const TEXT_LIMIT: usize = 8_000;

fn shown(c: char) -> String {
    match c {
        '\n' => "a newline".to_owned(),
        '\r' => "a carriage return".to_owned(),
        c if c.is_whitespace() && c != ' ' => format!("U+{:04X}", u32::from(c)),
        ' ' => "white space".to_owned(),
        c if c.is_control() || breaks_line(c) => {
            format!("the control character U+{:04X}", u32::from(c))
        }
        c => format!("'{c}'"),
    }
}

fn breaks_line(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn check_name(what: &'static str, name: &str) -> Result<(), NameError> {
    if is_blank(name) {
        return Err(NameError::Empty(what));
    }
    if name.starts_with('.') {
        return Err(NameError::LeadingDot(what));
    }
    if let Some(c) = name
        .chars()
        .find(|c| matches!(c, '/' | '|') || c.is_control() || breaks_line(*c))
    {
        return Err(NameError::Contains {
            what,
            found: shown(c),
        });
    }
    if name.len() > NAME_LIMIT {
        return Err(NameError::TooLong {
            what,
            limit: NAME_LIMIT,
        });
    }
    Ok(())
}

fn check_text(what: &'static str, text: &str, limit: usize) -> Result<(), NameError> {
    if is_blank(text) {
        return Err(NameError::Empty(what));
    }
    if text.len() > limit {
        return Err(NameError::TooLong { what, limit });
    }
    Ok(())
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

name!(
    /// A task id: not empty, no `/`, no leading `.`, no `|`, no control character, at most 200 bytes.
    /// Spaces are legal.
    TaskId
);
name!(
    /// A session that owns tasks: a task id's rules and no white space or shell metacharacter.
    Owner
);
name!(
    /// What a verdict is about, one line of the acceptance bar; not blank, at most 2,000 bytes.
    Criterion
);
name!(
    /// A reason, a title or another sentence of a person; not blank, at most 8,000 bytes.
    Text
);

impl TaskId {
    /// Accepts a task id; see the type for what is refused.
    pub fn new(name: &str) -> Result<Self, NameError> {
        check_name("task id", name)?;
        Ok(Self(name.to_owned()))
    }
}

impl Owner {
    /// Accepts a session id; see the type for what is refused.
    pub fn new(name: &str) -> Result<Self, NameError> {
        const META: &str = "$`'\"\\;&<>()*?[]{}!~#";
        check_name("session id", name)?;
        if let Some(c) = name
            .chars()
            .find(|c| c.is_whitespace() || META.contains(*c))
        {
            return Err(NameError::Contains {
                what: "session id",
                found: shown(c),
            });
        }
        Ok(Self(name.to_owned()))
    }
}

impl Criterion {
    /// Accepts a criterion; see the type for what is refused.
    pub fn new(text: &str) -> Result<Self, NameError> {
        check_text("criterion", text, CRITERION_LIMIT)?;
        Ok(Self(text.to_owned()))
    }
}

impl Text {
    /// Accepts a sentence named `what` in the error; see the type for what is refused.
    pub fn new(what: &'static str, text: &str) -> Result<Self, NameError> {
        check_text(what, text, TEXT_LIMIT)?;
        Ok(Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Criterion, Owner, TaskId};

    #[test]
    fn task_ids_are_refused_not_sanitised() {
        let long = "x".repeat(201);
        for name in [
            "",
            " ",
            ".",
            "..",
            ".a",
            "s/x",
            "../../x",
            "a\nb",
            "a\rb",
            "a|b",
            "a\u{202e}b",
            "\u{a0}",
            &long,
        ] {
            assert!(TaskId::new(name).is_err(), "{name:?}");
        }
        for name in [
            "s", "S", "a b", "a..b", "a.lock", "a~1", "a@{1}", "a\\b", "-x", "é", "CON", "a*",
            "a__b", "Gate",
        ] {
            assert_eq!(TaskId::new(name).unwrap().as_str(), name);
        }
    }

    #[test]
    fn owners_hold_no_white_space_or_metacharacter() {
        for name in [
            "S ",
            " S1 ",
            "my session",
            "$S",
            "S\r",
            "`id`",
            "a'b",
            "a\"b",
            "a\\b",
            "a;b",
            "",
            "a/b",
        ] {
            assert!(Owner::new(name).is_err(), "{name:?}");
        }
        for name in [
            "S1",
            "0b9c7f8e-1111-4222-8333-444455556666",
            "x.exempt",
            "user@host",
        ] {
            assert!(Owner::new(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_criterion_may_hold_any_text_that_shows() {
        assert!(Criterion::new("c|d\nx").is_ok());
        assert!(Criterion::new("\u{200b} ").is_err());
    }

    #[test]
    fn the_refusal_names_what_was_found() {
        let message = TaskId::new("a\nb").unwrap_err().to_string();
        assert_eq!(message, "a task id cannot contain a newline");
    }
}
