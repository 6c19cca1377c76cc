//! The working tree as a tree id: git's own filters, modes and ignore rules, and none of its
//! shortcuts. Neither the user's index nor the user's objects are touched.

use std::{
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{Change, Error, Git, Head, Repo, StatusEntry, index::Hidden, status};
use crate::model::{DeltaEntry, Oid, RepoPath};

/// What is said of the state of the files when git is asked.
const FORCED: [&str; 8] = [
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.ignoreStat=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "color.ui=false",
];

/// What a snapshot is taken of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The files, tracked and untracked.
    Worktree,
    /// What an index would commit.
    Index(PathBuf),
    /// A commit, whatever lies in the working tree.
    Commit(Oid),
}

/// How far git's record of the files' times is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Files whose times and size are those of the index are not read.
    Stat,
    /// Every file is read.
    Nothing,
}

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
    own_unmerged: Vec<RepoPath>,
    bench: Option<Bench>,
}

impl Survey {
    /// Says whether anything outside `.operator` differs from the commit.
    pub fn is_dirty(&self) -> bool {
        !self.entries.is_empty()
    }
}

/// A tree, and what it takes to read it.
pub struct Snapshot {
    /// The whole root, `.operator` as the index or commit has it.
    pub root: Oid,
    pub subject: Oid,
    /// From HEAD's subject.
    pub delta: Vec<DeltaEntry>,
    bench: Option<Bench>,
}

impl Snapshot {
    /// Returns the directory of objects that the repository does not have, if there are any.
    pub fn objects(&self) -> Option<&Path> {
        self.bench.as_ref().map(|bench| bench.quarantine.objects())
    }
}

/// An object directory of its own over the repository's.
pub(super) struct Quarantine {
    dir: tempfile::TempDir,
    objects: PathBuf,
}

impl Quarantine {
    /// Makes one among our own temporary files.
    fn inside(repo: &Repo) -> Result<Self, Error> {
        let parent = repo.operator_dir().join("tmp");
        fs::create_dir_all(&parent).map_err(Error::write(&parent))?;
        Self::new(
            repo,
            tempfile::Builder::new()
                .prefix("snapshot.")
                .tempdir_in(&parent),
        )
    }

    /// Makes one outside the repository, for a reader.
    pub(super) fn apart(repo: &Repo) -> Result<Self, Error> {
        Self::new(
            repo,
            tempfile::Builder::new().prefix("git-operator.").tempdir(),
        )
    }

    fn new(repo: &Repo, dir: std::io::Result<tempfile::TempDir>) -> Result<Self, Error> {
        let dir = dir.map_err(Error::write("a temporary directory"))?;
        let objects = dir.path().join("objects");
        let info = objects.join("info");
        fs::create_dir_all(&info).map_err(Error::write(&info))?;
        let own = repo.common_dir().join("objects");
        let line = [own.as_os_str().as_bytes(), b"\n"].concat();
        let alternates = info.join("alternates");
        fs::write(&alternates, line).map_err(Error::write(&alternates))?;
        Ok(Self { dir, objects })
    }

    pub(super) fn objects(&self) -> &Path {
        &self.objects
    }
}

/// A temporary index and a quarantine.
struct Bench {
    index: PathBuf,
    quarantine: Quarantine,
}

impl Bench {
    fn new(repo: &Repo) -> Result<Self, Error> {
        let quarantine = Quarantine::inside(repo)?;
        Ok(Self {
            index: quarantine.dir.path().join("index"),
            quarantine,
        })
    }

    fn copy_index(&self, from: &Path) -> Result<(), Error> {
        match fs::copy(from, &self.index) {
            Ok(_) => Ok(()),
            // A repository without an index has nothing staged.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(Error::write(&self.index)(error)),
        }
    }

    fn bind<'repo>(&self, git: Git<'repo>) -> Git<'repo> {
        git.env("GIT_INDEX_FILE", &self.index)
            .env("GIT_OBJECT_DIRECTORY", self.quarantine.objects())
    }
}

/// The time a snapshot may take.
#[derive(Clone, Copy, Debug)]
pub struct Until(Option<Instant>);

impl Until {
    /// Ends `limit` from now.
    pub fn after(limit: Duration) -> Self {
        Self(Some(Instant::now() + limit))
    }

    /// Never ends.
    pub fn done() -> Self {
        Self(None)
    }

    fn left(self) -> Option<Duration> {
        self.0
            .map(|end| end.saturating_duration_since(Instant::now()))
    }

    pub(crate) fn is_bounded(self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn is_over(self) -> bool {
        self.left().is_some_and(|left| left.is_zero())
    }

    /// Gives a child the time that is left.
    pub fn bound(self, git: Git<'_>) -> Git<'_> {
        match self.left() {
            Some(left) => git.deadline(left.max(Duration::from_millis(1))),
            None => git,
        }
    }
}

impl Repo {
    pub(super) fn forced(&self, args: &[&str]) -> Git<'_> {
        let settings = FORCED.iter().flat_map(|setting| ["-c", *setting]);
        let all: Vec<&str> = settings.chain(args.iter().copied()).collect();
        self.git(all)
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_NO_LAZY_FETCH", "1")
            .read_only()
    }

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

    /// Names the tree of what a survey found.
    pub fn snapshot(&self, survey: Survey, until: Until) -> Result<Snapshot, Error> {
        let Survey {
            head,
            entries,
            own_unmerged,
            bench,
            ..
        } = survey;
        if entries.is_empty() {
            return self.snapshot_of_commit(head);
        }
        let bench = match bench {
            Some(bench) => bench,
            None => {
                let bench = Bench::new(self)?;
                bench.copy_index(&self.git_dir().join("index"))?;
                bench
            }
        };
        let paths: Vec<RepoPath> = entries
            .iter()
            .filter(|entry| !is_repository(entry) || self.has_commit(entry))
            .map(|entry| match entry.path.as_bytes().strip_suffix(b"/") {
                Some(path) => RepoPath::new(path),
                None => entry.path.clone(),
            })
            .chain(own_unmerged)
            .collect();
        let update = [
            "update-index",
            "--add",
            "--remove",
            "--replace",
            "-z",
            "--stdin",
        ];
        let git = self.forced(&update).stdin(lines(paths.iter()));
        until.bound(bench.bind(git)).output()?;
        self.snapshot_of_bench(head, bench, until)
    }

    /// Names the tree an index would commit; one with conflicts has none.
    pub fn snapshot_of_index(&self, index: &Path, until: Until) -> Result<Snapshot, Error> {
        let head = self.head()?.commit();
        let bench = Bench::new(self)?;
        bench.copy_index(index)?;
        self.snapshot_of_bench(head, bench, until)
    }

    /// Names the tree of a commit; `None` is the empty tree of an unborn branch.
    pub fn snapshot_of_commit(&self, commit: Option<Oid>) -> Result<Snapshot, Error> {
        let root = match commit {
            Some(commit) => self.commit(commit)?.tree,
            None => self.empty_tree(),
        };
        Ok(Snapshot {
            root,
            subject: self.subject_tree(root)?,
            delta: Vec::new(),
            bench: None,
        })
    }

    fn snapshot_of_bench(
        &self,
        head: Option<Oid>,
        bench: Bench,
        until: Until,
    ) -> Result<Snapshot, Error> {
        let git = bench.bind(self.forced(&["write-tree", "--missing-ok"]));
        let output = until.bound(git).output()?;
        let root = super::refs::oid_of("the tree written", &output)?;
        let reader = self.over(bench.quarantine.objects())?;
        let base = head.map(|head| self.commit(head)).transpose()?;
        Ok(Snapshot {
            root,
            subject: reader.subject_tree(root)?,
            delta: reader.diff_subjects(base.map(|base| base.tree), Some(root))?,
            bench: Some(bench),
        })
    }

    fn has_commit(&self, entry: &StatusEntry) -> bool {
        let Some(top) = self.top() else { return false };
        let dir = { top.join(std::ffi::OsStr::from_bytes(entry.path.as_bytes())) };
        let inside = super::locate(&dir, &self.env().clone().hook())
            .ok()
            .flatten()
            .filter(|location| location.common_dir != self.common_dir());
        inside
            .and_then(|location| Self::open(&location, self.env()).ok())
            .and_then(|repo| repo.head().ok())
            .and_then(|head: Head| head.commit())
            .is_some()
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

fn lines<'a>(paths: impl Iterator<Item = &'a RepoPath>) -> Vec<u8> {
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

fn is_repository(entry: &StatusEntry) -> bool {
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
