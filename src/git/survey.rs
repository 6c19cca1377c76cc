//! What git says of the working tree, edits included that the index is told to hide.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{Change, Error, Repo, StatusEntry, Trust, Until, bench::Bench, index::Hidden, status};
use crate::model::{Oid, RepoPath};

/// What makes a tree say less than it seems to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Taint {
    DirtySubmodule,
    EmbeddedRepo,
    Filters,
    /// So many paths are there that only this clone's own excludes keep out.
    HiddenUntracked(usize),
    PartialClone,
    Sparse,
    Unmerged,
}

impl std::fmt::Display for Taint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::DirtySubmodule => f.write_str("dirty-submodule"),
            Self::EmbeddedRepo => f.write_str("embedded-repo"),
            Self::Filters => f.write_str("filters"),
            Self::HiddenUntracked(count) => write!(f, "hidden-untracked:{count}"),
            Self::PartialClone => f.write_str("partial-clone"),
            Self::Sparse => f.write_str("sparse"),
            Self::Unmerged => f.write_str("unmerged"),
        }
    }
}

/// What git says of the working tree, and what more it takes to name its tree.
pub struct Survey {
    /// The commit git compared with; `None` when HEAD is unborn.
    pub head: Option<Oid>,
    /// What differs, without `.operator` and linked worktrees.
    pub entries: Vec<StatusEntry>,
    pub taints: Vec<Taint>,
    pub(super) own_unmerged: Vec<RepoPath>,
    pub(super) bench: Option<Bench>,
}

impl Survey {
    /// Says whether anything outside `.operator` differs from the commit.
    pub fn is_dirty(&self) -> bool {
        !self.entries.is_empty()
    }
}

impl Repo {
    /// Asks git what of the working tree differs from HEAD, edits included that assume-unchanged or
    /// skip-worktree would hide.
    pub fn survey(&self, trust: Trust, until: Until) -> Result<Survey, Error> {
        let hidden = self.hidden()?;
        let bench = match (trust, hidden.edits.is_empty()) {
            (Trust::Nothing, _) => Some(self.forgetful(until)?),
            (Trust::Stat, false) => Some(self.uncovered(&hidden, until)?),
            (Trust::Stat, true) => None,
        };
        let private = self.has_private_excludes()?;
        let output = self.survey_output(bench.as_ref(), private, until)?;
        let wrong = || Error::Git {
            command: "status".to_owned(),
            reason: "its output is in no form we know".to_owned(),
        };
        let all = status::parse(&output).ok_or_else(wrong)?;
        let (own, mut entries): (Vec<_>, Vec<_>) =
            all.into_iter().partition(StatusEntry::is_operator);
        entries.retain(|entry| !self.is_linked_worktree(entry));
        let mut taints = self.taints(&entries, &hidden)?;
        let count = self.private_count(&output, until)?;
        if count > 0 {
            taints.push(Taint::HiddenUntracked(count));
        }
        taints.sort();
        Ok(Survey {
            head: head_line(&output).ok_or_else(wrong)?,
            entries,
            taints,
            own_unmerged: own
                .into_iter()
                .filter(is_unmerged)
                .map(|e| e.path)
                .collect(),
            bench,
        })
    }

    fn survey_output(
        &self,
        bench: Option<&Bench>,
        private: bool,
        until: Until,
    ) -> Result<Vec<u8>, Error> {
        let mut args = vec![
            "status",
            "--porcelain=v2",
            "-z",
            "--branch",
            "--no-ahead-behind",
            "--untracked-files=all",
            "--no-renames",
            "--ignore-submodules=none",
        ];
        if private {
            args.push("--ignored=matching");
        }
        let git = self.forced(&args);
        let git = match bench {
            Some(bench) => bench.bind(git),
            None => git,
        };
        until.bound(git).output()
    }

    /// Makes an index that knows no file's times.
    fn forgetful(&self, until: Until) -> Result<Bench, Error> {
        let bench = Bench::new(self)?;
        let lines = until
            .bound(self.forced(&["ls-files", "-s", "-z", "--full-name"]))
            .output()?;
        let git = self
            .forced(&["update-index", "-z", "--index-info"])
            .stdin(lines);
        until.bound(bench.bind(git)).output()?;
        Ok(bench)
    }

    /// Makes an index in which no bit hides an edit of a file that is there.
    fn uncovered(&self, hidden: &Hidden, until: Until) -> Result<Bench, Error> {
        let bench = Bench::new(self)?;
        bench.copy_index(&self.git_dir().join("index"))?;
        for flag in ["--no-assume-unchanged", "--no-skip-worktree"] {
            let git = self.forced(&["update-index", flag, "-z", "--stdin"]);
            let git = git.stdin(lines(hidden.edits.iter()));
            until.bound(bench.bind(git)).output()?;
        }
        Ok(bench)
    }

    fn is_linked_worktree(&self, entry: &StatusEntry) -> bool {
        self.top().is_some_and(|top| self.is_worktree(top, entry))
    }

    fn taints(&self, entries: &[StatusEntry], hidden: &Hidden) -> Result<Vec<Taint>, Error> {
        let mut taints = Vec::new();
        let submodule = |entry: &StatusEntry| match &entry.change {
            Change::Tracked { submodule, .. } | Change::Unmerged { submodule, .. } => {
                submodule.is_some_and(|sub| sub.modified || sub.untracked)
            }
            Change::Untracked => false,
        };
        let found = [
            (Taint::DirtySubmodule, entries.iter().any(submodule)),
            (Taint::EmbeddedRepo, entries.iter().any(is_repository)),
            (Taint::PartialClone, self.is_partial()),
            (Taint::Sparse, hidden.sparse),
            (Taint::Unmerged, entries.iter().any(is_unmerged)),
        ];
        taints.extend(
            found
                .into_iter()
                .filter(|(_, is)| *is)
                .map(|(taint, _)| taint),
        );
        Ok(taints)
    }

    /// Counts the ignored paths that no `.gitignore` of the tree ignores.
    fn private_count(&self, output: &[u8], until: Until) -> Result<usize, Error> {
        let ignored: Vec<RepoPath> = output
            .split(|c| *c == 0)
            .filter_map(|record| record.strip_prefix(b"! "))
            .filter(|path| *path != b".operator/" && !path.starts_with(b".operator/"))
            .map(RepoPath::new)
            .collect();
        if ignored.is_empty() {
            return Ok(0);
        }
        let git = self.forced(&["check-ignore", "-v", "-z", "--stdin", "--no-index"]);
        let finished = until.bound(git.stdin(lines(ignored.iter()))).run()?;
        let fields: Vec<&[u8]> = finished.stdout.split(|c| *c == 0).collect();
        // <source> <line> <pattern> <path>
        let private = fields.chunks_exact(4).filter(|fields| {
            let source = fields[0];
            source != b".gitignore" && !source.ends_with(b"/.gitignore") || source.starts_with(b"/")
        });
        Ok(private.count())
    }

    /// Says whether this clone or this user excludes paths that the project does not.
    fn has_private_excludes(&self) -> Result<bool, Error> {
        let env = self.env();
        let config = self.config()?;
        let named = config.text("core.excludesFile").map(|path| {
            match (path.strip_prefix("~/"), env.home()) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => PathBuf::from(&path),
            }
        });
        let standard = env
            .path("XDG_CONFIG_HOME")
            .map(Path::to_owned)
            .or_else(|| env.home().map(|home| home.join(".config")))
            .map(|dir| dir.join("git/ignore"));
        let own = self.common_dir().join("info/exclude");
        let files = [Some(own), named.or(standard)];
        Ok(files.into_iter().flatten().any(|file| {
            fs::read(file).is_ok_and(|text| {
                text.split(|c| *c == b'\n')
                    .any(|line| !line.trim_ascii().is_empty() && !line.starts_with(b"#"))
            })
        }))
    }
}

pub(super) fn lines<'a>(paths: impl Iterator<Item = &'a RepoPath>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for path in paths {
        bytes.extend_from_slice(path.as_bytes());
        bytes.push(0);
    }
    bytes
}

fn is_unmerged(entry: &StatusEntry) -> bool {
    matches!(entry.change, Change::Unmerged { .. })
}

pub(super) fn is_repository(entry: &StatusEntry) -> bool {
    entry.change == Change::Untracked && entry.path.as_bytes().ends_with(b"/")
}

/// `# branch.oid <commit>` or `# branch.oid (initial)`
fn head_line(output: &[u8]) -> Option<Option<Oid>> {
    let line = output
        .split(|c| *c == 0)
        .find_map(|record| record.strip_prefix(b"# branch.oid "))?;
    if line == b"(initial)" {
        return Some(None);
    }
    std::str::from_utf8(line).ok()?.parse().ok().map(Some)
}
