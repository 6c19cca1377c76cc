use std::{path::PathBuf, str::FromStr};

/// When to color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorChoice {
    Auto,
    Always,
    Never,
}

impl FromStr for ColorChoice {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "always" => Ok(Self::Always),
            "never" => Ok(Self::Never),
            _ => Err("expected auto, always or never"),
        }
    }
}

/// Whether output may go through a pager.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paging {
    /// When a person reads it and configuration does not say otherwise.
    #[default]
    Auto,
    Never,
}

/// How results are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Text,
    /// One JSON object a line, errors too.
    Json,
}

/// How much is said beside results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Talk {
    /// Errors only.
    Quiet,
    #[default]
    Normal,
    /// Also what is done and why.
    Verbose,
}

/// Whose exit codes are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Codes {
    #[default]
    Ours,
    /// The predecessor's: 2 for every refusal.
    Predecessors,
}

/// What holds for every command.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub directories: Vec<PathBuf>,
    pub git_dir: Option<PathBuf>,
    pub paging: Paging,
    pub color: Option<ColorChoice>,
    pub format: Format,
    pub talk: Talk,
    pub codes: Codes,
}
