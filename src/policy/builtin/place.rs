//! Where paths lie: in the repository or outside.

use crate::policy::{cel::lies_under, facts::Facts};

/// Stands for a root that is not known.
const NO_ROOT: &str = "/?";

/// Where a call is made.
pub(super) struct Place<'a> {
    root: Option<&'a str>,
    cwd: &'a str,
    allowed: Vec<&'a str>,
}

impl<'a> Place<'a> {
    /// Returns the place of an event; `allowed` are directories outside that count as inside.
    pub(super) fn new(facts: &'a Facts, allowed: Vec<&'a str>) -> Self {
        Self {
            root: facts.event["root"].as_str(),
            cwd: facts.event["cwd"].as_str().unwrap_or_default(),
            allowed,
        }
    }

    /// Says whether `path`, used in the directory `cwd` below where the line starts, lies outside.
    pub(super) fn is_outside(&self, cwd: &str, path: &str) -> bool {
        let is_allowed = |path: &str| self.allowed.iter().any(|allowed| lies_under(path, allowed));
        if is_home(path) {
            return !is_allowed(path);
        }
        let whole = self.whole(cwd, path);
        !lies_under(&whole, &self.root()) && !is_allowed(&whole)
    }

    /// Says whether the repository lies in that directory, or is it.
    pub(super) fn holds_root(&self, cwd: &str, path: &str) -> bool {
        let whole = self.whole(cwd, path);
        lies_under(&self.root(), &whole)
    }

    fn root(&self) -> String {
        self.root.unwrap_or(NO_ROOT).replace('\\', "/")
    }

    fn whole(&self, cwd: &str, path: &str) -> String {
        let mut whole = self.root.unwrap_or(NO_ROOT).to_owned();
        for part in [self.cwd, cwd, path] {
            let part = part.replace('\\', "/");
            if is_absolute(&part) {
                whole = part;
            } else {
                whole = format!("{whole}/{part}");
            }
        }
        plain(&whole)
    }
}

/// Says whether a path begins with somebody's home.
pub(super) fn is_home(text: &str) -> bool {
    ["~", "$HOME", "${HOME}"]
        .iter()
        .any(|home| text.starts_with(home))
}

/// Says whether a path begins at the top of a file system.
pub(super) fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.as_bytes().get(1) == Some(&b':')
}

/// Returns an absolute path without `.` and `..`.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let slash = if path.starts_with('/') { "/" } else { "" };
    format!("{slash}{}", parts.join("/"))
}
