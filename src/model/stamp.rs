use std::fmt;

use thiserror::Error;

/// The source state a record came from, as the seed writes it: `@<commit>`, `@<commit>+dirty`,
/// `@<commit>+unknown`, `@no-commit`, `@no-vcs`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stamp {
    /// The commit (hex digits; imported rows carry abbreviations) and what the tree was beside it.
    Commit { id: String, tree: TreeState },
    /// A repository whose HEAD has no commit yet.
    NoCommit,
    /// No repository.
    NoVcs,
}

/// What git said of the working tree when a stamp was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TreeState {
    /// Nothing outside `.operator` differed from the commit.
    Clean,
    /// Something did.
    Dirty,
    /// git could not say.
    Unknown,
}

/// A text is not a stamp.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("'{0}' is not a stamp")]
pub struct ParseStampError(String);

impl Stamp {
    /// Returns the commit the stamp names, in full or abbreviated.
    pub fn commit(&self) -> Option<&str> {
        match self {
            Self::Commit { id, .. } => Some(id),
            Self::NoCommit | Self::NoVcs => None,
        }
    }

    /// Returns the stamp with the commit's first 12 digits, as views show it.
    pub fn short(&self) -> String {
        match self {
            Self::Commit { id, tree } => {
                let end = id.char_indices().nth(12).map_or(id.len(), |(at, _)| at);
                ["@", &id[..end], tree.suffix()].concat()
            }
            Self::NoCommit | Self::NoVcs => self.to_string(),
        }
    }

    /// Splits a cell into the evidence and the stamp it ends with, if it does.
    pub fn split_cell(cell: &str) -> (&str, Option<Self>) {
        let start = cell.rfind(' ').map_or(0, |space| space + 1);
        match cell[start..].parse() {
            Ok(stamp) => (cell[..start].trim_end(), Some(stamp)),
            Err(ParseStampError(_)) => (cell, None),
        }
    }
}

impl TreeState {
    fn suffix(self) -> &'static str {
        match self {
            Self::Clean => "",
            Self::Dirty => "+dirty",
            Self::Unknown => "+unknown",
        }
    }
}

impl std::str::FromStr for Stamp {
    type Err = ParseStampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || ParseStampError(text.chars().take(80).collect());
        let body = text.strip_prefix('@').ok_or_else(wrong)?;
        match body {
            "no-commit" => return Ok(Self::NoCommit),
            "no-vcs" => return Ok(Self::NoVcs),
            _ => {}
        }
        let (id, tree) = match body.split_once('+') {
            None => (body, TreeState::Clean),
            Some((id, "dirty")) => (id, TreeState::Dirty),
            Some((id, "unknown")) => (id, TreeState::Unknown),
            Some(_) => return Err(wrong()),
        };
        let hex = id
            .bytes()
            .all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c));
        if !hex || !(4..=64).contains(&id.len()) {
            return Err(wrong());
        }
        Ok(Self::Commit {
            id: id.to_owned(),
            tree,
        })
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCommit => f.write_str("@no-commit"),
            Self::NoVcs => f.write_str("@no-vcs"),
            Self::Commit { id, tree } => {
                write!(f, "@{id}{}", tree.suffix())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Stamp;

    #[test]
    fn a_stamp_round_trips() {
        for text in [
            "@no-commit",
            "@no-vcs",
            "@abc1234",
            "@3f786850e387+dirty",
            "@3f786850e387+unknown",
        ] {
            assert_eq!(text.parse::<Stamp>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "@",
            "abc1234",
            "@abc",
            "@ABC1234",
            "@abc1234+x",
            "@no-such",
        ] {
            assert!(text.parse::<Stamp>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_cell_ends_with_its_stamp() {
        let (evidence, stamp) = Stamp::split_cell("all passed @deadbeef @abc1234+dirty");
        assert_eq!(evidence, "all passed @deadbeef");
        assert_eq!(stamp.unwrap().to_string(), "@abc1234+dirty");
        assert_eq!(Stamp::split_cell("no stamp here"), ("no stamp here", None));
    }
}
