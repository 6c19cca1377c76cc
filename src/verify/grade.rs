/// How a record is tied to a commit, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// It was made at this commit, with nothing changed.
    Exact,
    /// The commit's subject is the one it was made on.
    Tree,
    /// Only paths outside the criterion's inputs differ.
    Scope,
    /// Merging what it was made on into the commit's parent gives the commit.
    Merge,
    /// The commit makes the very change it was made on, to another base.
    Delta,
    /// The same by the patch's text.
    Patch,
}

impl Grade {
    /// Every grade, best first.
    pub const ALL: &[Self] = &[
        Self::Exact,
        Self::Tree,
        Self::Scope,
        Self::Merge,
        Self::Delta,
        Self::Patch,
    ];

    /// Returns the word of requirements and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Tree => "tree",
            Self::Scope => "scope",
            Self::Merge => "merge",
            Self::Delta => "delta",
            Self::Patch => "patch",
        }
    }

    /// Reads the word.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|grade| grade.as_str() == text)
    }
}

impl std::fmt::Display for Grade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}
