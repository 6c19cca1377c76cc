use crate::model::Class;

/// What a record's word is worth: its class, or more where the verifier ran the command again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    Of(Class),
    /// A run in isolation that came to the same as the record it repeats.
    Reproduced,
}

impl Rank {
    /// Returns the word of requirements and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Of(class) => class.as_str(),
            Self::Reproduced => "reproduced",
        }
    }

    /// Reads the word.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "reproduced" => Some(Self::Reproduced),
            text => Class::parse(text).map(Self::Of),
        }
    }
}
