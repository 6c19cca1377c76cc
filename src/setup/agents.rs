//! The seats of the plugin as agents of a project, bound to the models its tiers resolve to. Only files
//! that carry our mark are ever replaced or removed.

use thiserror::Error;

use super::tiers::{Model, Tier, Tiers};
use crate::{
    git::files::{FileError, Lies, Tree},
    model::{Explain, Fault},
};

/// A seat of the plugin.
#[derive(Clone, Copy, Debug)]
pub struct Seat {
    /// Its name, without `op-`.
    pub name: &'static str,
    /// The tier it runs on where no layer says otherwise.
    pub tier: Tier,
    text: &'static str,
}

macro_rules! seat {
    ($name:literal, $tier:ident) => {
        Seat {
            name: $name,
            tier: Tier::$tier,
            text: include_str!(concat!("../../plugin/agents/op-", $name, ".md")),
        }
    };
}

/// Every seat.
pub const SEATS: [Seat; 7] = [
    seat!("author", Judgment),
    seat!("mechanic", Implement),
    seat!("reviewer", Judgment),
    seat!("scout", Recon),
    seat!("verifier", Judgment),
    seat!("brainstorm", Mechanical),
    seat!("crawler", Mechanical),
];

/// The last line of a file that was rendered here.
const MARK: &str = "<!-- rendered by git operator agents render; edits are lost -->\n";
const LIMIT: u64 = 1 << 20;

/// Why agents cannot be rendered.
#[derive(Debug, Error)]
pub enum Error {
    #[error("cannot render agents: '{0}' is not ours")]
    Unmarked(String),
    #[error("cannot render agents: {0}")]
    File(#[from] FileError),
}

impl Explain for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::Unmarked(_) => Fault::Refused,
            Self::File(_) => Fault::Fatal,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Unmarked(path) => Some(format!("mv -n {path} {path}.mine")),
            Self::File(_) => None,
        }
    }
}

/// What lies at the place of a rendered agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Missing,
    Current,
    /// Rendered here, from another model or an older text.
    Stale,
    /// Not rendered here.
    Unmarked,
}

/// One seat as it resolves.
#[derive(Clone, Debug)]
pub struct Agent {
    pub seat: Seat,
    pub tier: Tier,
    pub model: Model,
    /// Relative to the project.
    pub path: String,
    pub state: State,
}

/// Returns every seat with its model and what lies at its place.
pub fn list(tree: &Tree, tiers: &Tiers) -> Result<Vec<Agent>, Error> {
    SEATS
        .into_iter()
        .map(|seat| {
            let tier = tiers.seat(seat.name).unwrap_or(seat.tier);
            let model = tiers.model(tier).0.clone();
            let path = path(seat);
            let found = tree.read(&path, LIMIT)?;
            let state = match found {
                None => State::Missing,
                Some(text) if text == rendered(seat, &model).as_bytes() => State::Current,
                Some(text) if text.ends_with(MARK.as_bytes()) => State::Stale,
                Some(_) => State::Unmarked,
            };
            Ok(Agent {
                seat,
                tier,
                model,
                path,
                state,
            })
        })
        .collect()
}

/// Writes every agent that is not current, or none where one of the places is taken.
pub fn render(tree: &Tree, tiers: &Tiers) -> Result<Vec<Agent>, Error> {
    let agents = list(tree, tiers)?;
    if let Some(taken) = agents.iter().find(|agent| agent.state == State::Unmarked) {
        return Err(Error::Unmarked(taken.path.clone()));
    }
    for agent in &agents {
        if agent.state != State::Current {
            let text = rendered(agent.seat, &agent.model);
            tree.write(&agent.path, text.as_bytes(), 0o644)?;
        }
    }
    Ok(agents)
}

/// Removes every agent that was rendered here, and returns their paths.
pub fn revert(tree: &Tree) -> Result<Vec<String>, Error> {
    let mut removed = Vec::new();
    for seat in SEATS {
        let path = path(seat);
        if tree.lies(&path)? != Lies::File {
            continue;
        }
        let text = tree.read(&path, LIMIT)?.unwrap_or_default();
        if text.ends_with(MARK.as_bytes()) {
            tree.remove(&path)?;
            removed.push(path);
        }
    }
    for dir in [".claude/agents", ".claude"] {
        if !removed.is_empty() {
            tree.remove_directory(dir)?;
        }
    }
    Ok(removed)
}

fn path(seat: Seat) -> String {
    format!(".claude/agents/op-{}.md", seat.name)
}

/// The plugin's text with the model put in its front matter, and the mark.
fn rendered(seat: Seat, model: &Model) -> String {
    let text = seat.text.replace('\r', "");
    let mut rendered = String::new();
    let mut rules = 0;
    for line in text.lines() {
        rules += usize::from(line == "---");
        if rules == 1 && line.starts_with("model: ") {
            rendered.push_str(&format!("model: {}\n", model.as_str()));
        } else {
            rendered.push_str(line);
            rendered.push('\n');
        }
    }
    rendered + "\n" + MARK
}

#[cfg(test)]
mod tests;
