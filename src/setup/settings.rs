//! What is set below `operator.` and means nothing.

use super::{Error, Finding};
use crate::git::{Config, Repo};

/// What a setting may be.
enum Values {
    Bool,
    Words(&'static [&'static str]),
    /// The name of a remote.
    Remote,
}

/// Each setting with its values and what holds where it is not set.
const SETTINGS: [(&str, Values, &str); 7] = [
    ("remote", Values::Remote, "<remote>"),
    ("autoArm", Values::Bool, "true"),
    ("work", Values::Bool, "false"),
    ("sign", Values::Bool, "false"),
    ("view", Values::Words(&["auto", "off"]), "auto"),
    ("notes", Values::Bool, "true"),
    ("prePush", Values::Words(&["off", "sync", "verify"]), "off"),
];

/// Names the settings whose value is none of theirs.
pub(super) fn check(repo: &Repo, found: &mut Vec<Finding>) -> Result<(), Error> {
    let config = repo.config()?;
    for (name, values, usual) in &SETTINGS {
        let key = format!("operator.{name}");
        if let Some(wrong) = values.fault(config, &key) {
            let what = format!("'{key}' is '{wrong}', and must be {}", values.shown());
            found.push(Finding::fault(what).fix(format!("git config {key} {usual}")));
        }
    }
    Ok(())
}

impl Values {
    /// Returns the value, where it is none of these.
    fn fault(&self, config: &Config, key: &str) -> Option<String> {
        let value = config.string(key)?.to_string();
        let is_one = match self {
            Self::Bool => config.bool(key).is_ok(),
            Self::Words(words) => words.contains(&value.as_str()),
            Self::Remote => config.subsections("remote").contains(&value),
        };
        (!is_one).then_some(value)
    }

    fn shown(&self) -> String {
        match self {
            Self::Bool => "true or false".to_owned(),
            Self::Words(words) => words.join(" or "),
            Self::Remote => "the name of a remote".to_owned(),
        }
    }
}
