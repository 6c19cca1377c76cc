use std::path::Path;

use super::{Error, Repo, Running, locate};
use crate::model::{Oid, RepoPath};

/// One path that differs from HEAD, from the index, or that git does not track.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusEntry {
    pub path: RepoPath,
    pub change: Change,
}

/// How a path differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Tracked {
        /// HEAD to index: `.` or one of `MTADRC`.
        staged: u8,
        /// Index to working tree: the same.
        unstaged: u8,
        submodule: Option<Submodule>,
        /// Of HEAD, the index and the working tree; 0 where there is none.
        modes: [u32; 3],
        /// Of HEAD and the index; all zeros where there is none.
        ids: [Oid; 2],
    },
    Unmerged {
        /// `DD AU UD UA DU AA UU`.
        sides: [u8; 2],
        submodule: Option<Submodule>,
        /// Of stages 1, 2 and 3 and the working tree.
        modes: [u32; 4],
        /// Of stages 1, 2 and 3.
        ids: [Oid; 3],
    },
    /// A file git does not track; a directory (its path ends in `/`) when a repository of its own.
    Untracked,
}

/// What of a submodule differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submodule {
    pub commit: bool,
    pub modified: bool,
    pub untracked: bool,
}

impl StatusEntry {
    /// Says whether the path lies in `.operator` at the top.
    pub fn is_operator(&self) -> bool {
        let path = self.path.as_bytes();
        path == b".operator" || path.starts_with(b".operator/")
    }
}

/// A git that looks at the working tree.
#[must_use = "call entries()"]
pub struct Status<'repo> {
    repo: &'repo Repo,
    top: &'repo Path,
    child: Running,
}

impl Status<'_> {
    /// Waits for its end and returns what it says.
    pub fn entries(self) -> Result<Vec<StatusEntry>, Error> {
        Ok(self.parted()?.0)
    }

    /// The same, and the linked worktrees of this repository that lie inside the tree.
    pub fn parted(self) -> Result<(Vec<StatusEntry>, Vec<RepoPath>), Error> {
        let output = self.child.output()?;
        let mut entries = parse(&output).ok_or_else(|| Error::Git {
            command: "status".to_owned(),
            reason: "its output is in no form we know".to_owned(),
        })?;
        let mut worktrees = Vec::new();
        entries.retain(|entry| {
            let is_worktree = self.repo.is_worktree(self.top, entry);
            if is_worktree {
                worktrees.push(entry.path.clone());
            }
            !is_worktree
        });
        Ok((entries, worktrees))
    }
}

impl Repo {
    /// Returns what git says of the working tree, by one child; no setting of the user's changes it.
    ///
    /// Linked worktrees of this repository that lie inside the tree are left out.
    pub fn status(&self) -> Result<Vec<StatusEntry>, Error> {
        self.start_status()?.entries()
    }

    /// Starts the child of [`Self::status`]; it looks at the working tree while the caller goes on.
    pub fn start_status(&self) -> Result<Status<'_>, Error> {
        let Some(top) = self.top() else {
            return Err(Error::Git {
                command: "status".to_owned(),
                reason: format!("'{}' has no working tree", self.git_dir().display()),
            });
        };
        let child = self
            .git([
                "-c",
                "status.renames=false",
                "-c",
                "status.showStash=false",
                "-c",
                "core.quotePath=false",
                "-c",
                "color.ui=false",
                "--no-optional-locks",
                "status",
                "--porcelain=v2",
                "-z",
                "--untracked-files=all",
                "--no-renames",
                "--ignore-submodules=none",
            ])
            .read_only()
            .start()?;
        Ok(Status {
            repo: self,
            top,
            child,
        })
    }

    pub(super) fn is_worktree(&self, top: &Path, entry: &StatusEntry) -> bool {
        use std::os::unix::ffi::OsStrExt;
        let path = entry.path.as_bytes();
        if entry.change != Change::Untracked || !path.ends_with(b"/") {
            return false;
        }
        let dir = top.join(std::ffi::OsStr::from_bytes(path));
        locate::points_into(&dir, self.common_dir())
    }
}

/// Reads `git status --porcelain=v2 -z`; `None` when it is something else.
pub(super) fn parse(output: &[u8]) -> Option<Vec<StatusEntry>> {
    let mut entries = Vec::new();
    let mut records = output.split(|c| *c == 0);
    while let Some(record) = records.next() {
        let (kind, rest) = match record {
            [] | [b'#', ..] => continue,
            [kind, b' ', rest @ ..] => (*kind, rest),
            _ => return None,
        };
        entries.push(match kind {
            b'1' => tracked::<7>(rest)?,
            b'2' => {
                // The path a rename came from is a record of its own.
                records.next()?;
                tracked::<8>(rest)?
            }
            b'u' => unmerged(rest)?,
            b'?' => StatusEntry {
                path: RepoPath::new(rest),
                change: Change::Untracked,
            },
            b'!' => continue,
            _ => return None,
        });
    }
    Some(entries)
}

/// `XY sub mH mI mW hH hI path`, and a score before the path of a rename.
fn tracked<const FIELDS: usize>(record: &[u8]) -> Option<StatusEntry> {
    let (fields, path) = fields::<FIELDS>(record)?;
    let [staged, unstaged] = fields[0].try_into().ok()?;
    Some(StatusEntry {
        path,
        change: Change::Tracked {
            staged,
            unstaged,
            submodule: submodule(fields[1])?,
            modes: [mode(fields[2])?, mode(fields[3])?, mode(fields[4])?],
            ids: [Oid::from_hex(fields[5])?, Oid::from_hex(fields[6])?],
        },
    })
}

/// `XY sub m1 m2 m3 mW h1 h2 h3 path`
fn unmerged(record: &[u8]) -> Option<StatusEntry> {
    let (fields, path) = fields::<9>(record)?;
    let [m1, m2, m3, worktree] = [2, 3, 4, 5].map(|at| mode(fields[at]));
    let [h1, h2, h3] = [6, 7, 8].map(|at| Oid::from_hex(fields[at]));
    Some(StatusEntry {
        path,
        change: Change::Unmerged {
            sides: fields[0].try_into().ok()?,
            submodule: submodule(fields[1])?,
            modes: [m1?, m2?, m3?, worktree?],
            ids: [h1?, h2?, h3?],
        },
    })
}

/// Splits off `N` fields; the path is the rest, whatever bytes it has.
fn fields<const N: usize>(record: &[u8]) -> Option<([&[u8]; N], RepoPath)> {
    let mut fields = [&record[..0]; N];
    let mut rest = record;
    for field in &mut fields {
        let end = rest.iter().position(|byte| *byte == b' ')?;
        (*field, rest) = (&rest[..end], &rest[end + 1..]);
    }
    (!rest.is_empty()).then(|| (fields, RepoPath::new(rest)))
}

/// `N...` or `S<c><m><u>`
fn submodule(field: &[u8]) -> Option<Option<Submodule>> {
    match field {
        b"N..." => Some(None),
        [b'S', commit, modified, untracked] => Some(Some(Submodule {
            commit: *commit == b'C',
            modified: *modified == b'M',
            untracked: *untracked == b'U',
        })),
        _ => None,
    }
}

fn mode(field: &[u8]) -> Option<u32> {
    if !(1..=6).contains(&field.len()) {
        return None;
    }
    field.iter().try_fold(0, |mode, byte| match byte {
        b'0'..=b'7' => Some(mode << 3 | u32::from(byte - b'0')),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Change, StatusEntry, Submodule, parse};
    use crate::model::RepoPath;

    const A: &str = "3f786850e387550fdab836ed7e6dc881de23001b";
    const Z: &str = "0000000000000000000000000000000000000000";

    fn one(record: &str) -> StatusEntry {
        let mut entries = parse(format!("{record}\0").as_bytes()).unwrap();
        assert_eq!(entries.len(), 1);
        entries.remove(0)
    }

    #[test]
    fn a_path_may_hold_spaces_and_newlines() {
        let entry = one(&format!("1 .M N... 100644 100644 100755 {A} {A} a b\nc"));
        assert_eq!(entry.path, RepoPath::from("a b\nc"));
        assert_eq!(
            entry.change,
            Change::Tracked {
                staged: b'.',
                unstaged: b'M',
                submodule: None,
                modes: [0o100644, 0o100644, 0o100755],
                ids: [A.parse().unwrap(), A.parse().unwrap()],
            }
        );
        assert_eq!(one("? x y").path, RepoPath::from("x y"));
    }

    #[test]
    fn a_submodule_and_a_conflict_keep_what_git_says() {
        let entry = one(&format!("1 A. SC.U 000000 160000 160000 {Z} {A} sub"));
        let Change::Tracked { submodule, .. } = entry.change else {
            panic!("{entry:?}");
        };
        let expected = Submodule {
            commit: true,
            modified: false,
            untracked: true,
        };
        assert_eq!(submodule, Some(expected));
        let entry = one(&format!(
            "u UU N... 100644 100644 100644 100644 {A} {A} {A} f"
        ));
        assert!(matches!(
            entry.change,
            Change::Unmerged {
                sides: [b'U', b'U'],
                ..
            }
        ));
    }

    #[test]
    fn a_rename_is_the_new_path_and_headers_are_nothing() {
        let text = format!("# stash 1\u{0}2 R. N... 100644 100644 100644 {A} {A} R100 new\0old\0");
        let entries = parse(text.as_bytes()).unwrap();
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].path, RepoPath::from("new"));
    }

    #[test]
    fn other_output_is_refused() {
        for text in ["M  a\0", "1 .M N...\0", "x y\0", "1 .M N... 1 2 3 a b c\0"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(parse(b""), Some(vec![]));
    }

    proptest::proptest! {
        #[test]
        fn any_output_is_read_or_refused(text in "([12u?!#] ?[ -~]{0,40}\0?){0,4}") {
            let _ = parse(text.as_bytes());
        }
    }

    #[test]
    fn the_ledger_directory_is_told_from_its_neighbors() {
        assert!(one("? .operator/VERDICTS.md").is_operator());
        assert!(!one("? .operators/x").is_operator());
        assert!(!one("? a/.operator/x").is_operator());
    }
}
