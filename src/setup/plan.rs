//! The steps of setting up and taking down: each is announced, and done unless the run is dry.

use std::path::{Path, PathBuf};

use super::Error;
use crate::git::{
    Repo,
    files::{Lies, Tree},
};

/// Whether the steps are done or only announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Apply,
    DryRun,
}

/// What became, or would become, of one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Created,
    Updated,
    Kept,
    Removed,
    /// Nothing was changed, and somebody ought to know.
    Warned,
}

impl Act {
    /// Returns the word a line of output begins with.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Kept => "kept",
            Self::Removed => "removed",
            Self::Warned => "warning",
        }
    }
}

/// One line of what was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub act: Act,
    /// A path relative to the top, a configuration key, or a sentence.
    pub what: String,
    /// Why, or what to do about it.
    pub note: Option<String>,
}

const TEXT_LIMIT: u64 = 16 << 20;

/// The project that is set up, and what was done to it.
pub(super) struct Plan<'a> {
    pub(super) mode: Mode,
    pub(super) top: &'a Path,
    pub(super) tree: Tree,
    pub(super) repo: Option<&'a Repo>,
    pub(super) steps: Vec<Step>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(top: &'a Path, repo: Option<&'a Repo>, mode: Mode) -> Result<Self, Error> {
        Ok(Self {
            mode,
            top,
            tree: Tree::open(top)?,
            repo,
            steps: Vec::new(),
        })
    }

    pub(super) fn say(&mut self, act: Act, what: impl Into<String>, note: Option<&str>) {
        self.steps.push(Step {
            act,
            what: what.into(),
            note: note.map(str::to_owned),
        });
    }

    pub(super) fn applies(&self) -> bool {
        self.mode == Mode::Apply
    }

    /// Returns the text of a file under the top; `None` where there is none.
    pub(super) fn text(&self, path: &str) -> Result<Option<String>, Error> {
        let Some(bytes) = self.tree.read(path, TEXT_LIMIT)? else {
            return Ok(None);
        };
        String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| Error::NotText(self.top.join(path)))
    }

    /// Makes the file hold `text`, whatever it held.
    pub(super) fn write(&mut self, path: &str, text: &str, mode: u32) -> Result<(), Error> {
        let before = match self.tree.lies(path)? {
            Lies::Nothing => None,
            _ => self.tree.read(path, TEXT_LIMIT)?,
        };
        let act = match &before {
            None => Act::Created,
            Some(bytes) if bytes == text.as_bytes() => Act::Kept,
            Some(_) => Act::Updated,
        };
        if act != Act::Kept && self.applies() {
            self.tree.write(path, text.as_bytes(), mode)?;
        }
        self.say(act, path, None);
        Ok(())
    }

    /// Makes a file that people go on to change: one that is there is kept as it is.
    pub(super) fn create(&mut self, path: &str, text: &str) -> Result<(), Error> {
        match self.tree.lies(path)? {
            Lies::Nothing => self.write(path, text, 0o644),
            _ => {
                self.say(Act::Kept, path, None);
                Ok(())
            }
        }
    }

    /// Removes a file that holds exactly `text`.
    pub(super) fn remove_own(&mut self, path: &str, text: &str) -> Result<(), Error> {
        match self.tree.read(path, TEXT_LIMIT)? {
            None => {}
            Some(bytes) if bytes == text.as_bytes() => {
                if self.applies() {
                    self.tree.remove(path)?;
                }
                self.say(Act::Removed, path, None);
            }
            Some(_) => self.say(Act::Kept, path, Some("it was changed since it was written")),
        }
        Ok(())
    }

    /// Returns the path under the top that a link at `path` leads to, or `path` itself.
    pub(super) fn resolve(&self, path: &str) -> Result<String, Error> {
        if self.tree.lies(path)? != Lies::Link {
            return Ok(path.to_owned());
        }
        let whole = self.top.join(path);
        let real = |path: &Path| path.canonicalize().map_err(crate::git::Error::read(path));
        let target = real(&whole)?;
        let inside = target
            .strip_prefix(real(self.top)?)
            .ok()
            .and_then(Path::to_str);
        inside.map(str::to_owned).ok_or(Error::Outside(whole))
    }

    /// Sets a configuration key of the repository.
    pub(super) fn set(&mut self, key: &str, value: &str) -> Result<(), Error> {
        let Some(repo) = self.repo else { return Ok(()) };
        let old = local(repo, key)?;
        let act = match old.as_slice() {
            [] => Act::Created,
            [old] if old == value => Act::Kept,
            _ => Act::Updated,
        };
        if act != Act::Kept && self.applies() {
            repo.git(["config", "--local", "--replace-all", key, value])
                .output()?;
        }
        self.say(act, format!("config {key}"), Some(value));
        Ok(())
    }

    /// Adds a value to a configuration key that may have several.
    pub(super) fn add(&mut self, key: &str, value: &str) -> Result<(), Error> {
        let Some(repo) = self.repo else { return Ok(()) };
        let known = local(repo, key)?.iter().any(|old| old == value);
        if !known && self.applies() {
            repo.git(["config", "--local", "--add", key, value])
                .output()?;
        }
        self.say(
            if known { Act::Kept } else { Act::Created },
            format!("config {key}"),
            Some(value),
        );
        Ok(())
    }

    /// Removes one value of a configuration key.
    pub(super) fn unset(&mut self, key: &str, value: &str) -> Result<(), Error> {
        let Some(repo) = self.repo else { return Ok(()) };
        if !local(repo, key)?.iter().any(|old| old == value) {
            return Ok(());
        }
        if self.applies() {
            repo.git([
                "config",
                "--local",
                "--fixed-value",
                "--unset-all",
                key,
                value,
            ])
            .output()?;
        }
        self.say(Act::Removed, format!("config {key}"), Some(value));
        Ok(())
    }
}

/// Returns the values of `key` in the repository's own configuration.
pub(super) fn local(repo: &Repo, key: &str) -> Result<Vec<String>, Error> {
    let found = repo
        .git(["config", "--local", "-z", "--get-all", key])
        .read_only()
        .run()?;
    let text = String::from_utf8_lossy(&found.stdout).into_owned();
    Ok(text.split_terminator('\0').map(str::to_owned).collect())
}

/// Returns `path` as people read it below `top`.
pub(super) fn shown(top: &Path, path: &Path) -> String {
    let path: PathBuf = path.strip_prefix(top).unwrap_or(path).to_owned();
    path.display().to_string()
}
