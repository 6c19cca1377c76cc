//! Which policy files a worktree had when a hook last looked: one that is gone since is asked for at
//! HEAD, which costs nothing where none is.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::Error;
use crate::store;

/// The policy files that a worktree had.
#[derive(Clone, Debug)]
pub struct Seen {
    operator: PathBuf,
    /// Of the file below `operator`.
    name: String,
}

impl Seen {
    /// Returns those of a worktree, kept under `operator`, the directory of local state.
    pub fn new(operator: &Path, worktree: &str) -> Self {
        // No name that git gives to a linked worktree begins with a dot.
        let name = match worktree {
            "." => ".main",
            name => name,
        };
        Self {
            operator: operator.to_owned(),
            name: format!("policy-files/{name}"),
        }
    }

    /// Returns their paths; none where they are not known.
    pub fn read(&self) -> Vec<String> {
        let text = fs::read_to_string(self.operator.join(&self.name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Keeps the paths for the next look.
    pub fn write(&self, paths: &[String]) -> Result<(), Error> {
        if paths.is_empty() {
            return Ok(store::remove_file(&self.operator, &self.name)?);
        }
        let lines: String = paths.iter().map(|path| format!("{path}\n")).collect();
        Ok(store::replace_file(
            &self.operator,
            &self.name,
            lines.as_bytes(),
        )?)
    }
}

#[cfg(test)]
mod tests {
    use super::Seen;

    #[test]
    fn each_worktree_has_a_list_of_its_own() {
        let dir = assert_fs::TempDir::new().unwrap();
        let main = Seen::new(dir.path(), ".");
        let linked = Seen::new(dir.path(), "main");
        let paths = |path: &str| vec![path.to_owned()];
        main.write(&paths("a")).unwrap();
        linked.write(&paths("b")).unwrap();
        assert_eq!((main.read(), linked.read()), (paths("a"), paths("b")));
        linked.write(&[]).unwrap();
        linked.write(&[]).unwrap();
        assert_eq!((main.read(), linked.read()), (paths("a"), Vec::new()));
    }
}
