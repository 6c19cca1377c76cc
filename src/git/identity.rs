use std::fmt;

use super::{Config, Env};

/// A name and an address as git writes them in a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub name: String,
    pub email: String,
}

/// Whose identity of a commit is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Author,
    Committer,
}

impl Identity {
    /// Returns the identity of commits that no person stands behind.
    pub fn own() -> Self {
        Self {
            name: "git-operator".to_owned(),
            email: "git-operator@localhost".to_owned(),
        }
    }

    /// Returns the user's identity when git was given one, else our own; nothing is guessed from
    /// the machine and nobody is asked.
    pub(crate) fn find(role: Role, config: &Config, env: &Env) -> Self {
        let (upper, lower) = match role {
            Role::Author => ("GIT_AUTHOR", "author"),
            Role::Committer => ("GIT_COMMITTER", "committer"),
        };
        let one = |part: &str| {
            env.text(&format!("{upper}_{}", part.to_ascii_uppercase()))
                .map(str::to_owned)
                .or_else(|| config.text(&format!("{lower}.{part}")))
                .or_else(|| config.text(&format!("user.{part}")))
        };
        let email = one("email").or_else(|| env.text("EMAIL").map(str::to_owned));
        let name = one("name").map(|name| clean(&name));
        let email = email.map(|email| clean(&email));
        match (name, email) {
            (Some(name), Some(email)) if !name.is_empty() && !email.is_empty() => {
                Self { name, email }
            }
            _ => Self::own(),
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <{}>", self.name, self.email)
    }
}

/// Drops what would break a commit's header, and at both ends what git calls crud.
fn clean(text: &str) -> String {
    let kept: String = text
        .chars()
        .filter(|c| !matches!(c, '\n' | '\r' | '\0' | '<' | '>'))
        .collect();
    let crud = |c: char| c <= ' ' || matches!(c, '.' | ',' | ':' | ';' | '"' | '\\' | '\'');
    kept.trim_matches(crud).to_owned()
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn a_hostile_name_stays_in_its_place() {
        assert_eq!(clean("a\n<x>"), "ax");
        assert_eq!(clean(" .Jo Doe, "), "Jo Doe");
        assert_eq!(clean("\n<>\0"), "");
    }
}
