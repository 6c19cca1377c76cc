use std::{
    cell::Cell,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Arc,
};

use assert_fs::TempDir;

use super::Operator;

/// 2026-01-01T00:00:00Z; each commit is made 60 seconds after the last.
const START: u64 = 1_767_225_600;

/// A repository in a directory of its own, with a HOME of its own and no configuration but that.
pub(crate) struct Repo {
    dir: Arc<TempDir>,
    path: PathBuf,
    ticks: Cell<u64>,
}

impl Repo {
    /// Makes an empty repository with the unborn branch `main`.
    pub(crate) fn new() -> Self {
        Self::init(&[])
    }

    /// Makes an empty repository with SHA-256 object ids; `None` (and a line) when git cannot.
    pub(crate) fn sha256() -> Option<Self> {
        Self::init_if_known("--object-format=sha256")
    }

    /// Makes an empty repository with the reftable back end; `None` (and a line) when git cannot.
    pub(crate) fn reftable() -> Option<Self> {
        Self::init_if_known("--ref-format=reftable")
    }

    /// Makes an empty bare repository.
    pub(crate) fn bare() -> Self {
        Self::init(&["--bare"])
    }

    /// Makes an empty directory that is no repository.
    pub(crate) fn outside() -> Self {
        let dir = TempDir::new().unwrap();
        let path = dir.path().canonicalize().unwrap().join("repo");
        let home = path.with_file_name("home");
        fs::create_dir_all(&path).unwrap();
        fs::create_dir_all(&home).unwrap();
        fs::write(
            home.join(".gitconfig"),
            "[user]\n\tname = A U Thor\n\temail = author@example.com\n\
             [init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n\
             [protocol \"file\"]\n\tallow = always\n",
        )
        .unwrap();
        Self {
            dir: Arc::new(dir),
            path,
            ticks: Cell::new(0),
        }
    }

    fn init(args: &[&str]) -> Self {
        let repo = Self::outside();
        repo.git([&["init", "-q"], args].concat());
        repo
    }

    fn init_if_known(option: &str) -> Option<Self> {
        let repo = Self::outside();
        if repo.try_git(["init", "-q", option]).status.success() {
            return Some(repo);
        }
        super::skipped(&format!("this git does not know init {option}"));
        None
    }

    /// Returns the directory git runs in: the top of the working tree, or the bare repository.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the directory that holds the repository, HOME and whatever the test puts beside them.
    pub(crate) fn dir(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir().join("home")
    }

    /// Returns the same repository (and clock) seen from `dir`: a subdirectory, a linked worktree.
    pub(crate) fn at(&self, dir: impl AsRef<Path>) -> Self {
        Self {
            dir: Arc::clone(&self.dir),
            path: self.path.join(dir),
            ticks: Cell::new(self.ticks.get()),
        }
    }

    /// Returns the whole environment of every child, git or ours.
    pub(crate) fn env(&self) -> Vec<(OsString, OsString)> {
        let date = format!("@{} +0000", START + 60 * self.ticks.get());
        let pairs: [(&str, OsString); 8] = [
            ("PATH", path_variable()),
            ("HOME", self.home().into()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("TZ", "UTC".into()),
            ("LC_ALL", "C".into()),
            ("GIT_TERMINAL_PROMPT", "0".into()),
            ("GIT_AUTHOR_DATE", date.clone().into()),
            ("GIT_COMMITTER_DATE", date.into()),
        ];
        pairs
            .into_iter()
            .map(|(name, value)| (name.into(), value))
            .collect()
    }

    /// Moves the clock of this repository by a minute.
    pub(crate) fn tick(&self) {
        self.ticks.set(self.ticks.get() + 1);
    }

    /// Runs git and returns its output, whatever its exit code.
    pub(crate) fn try_git<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Output {
        Command::new("git")
            .args(args)
            .current_dir(&self.path)
            .env_clear()
            .envs(self.env())
            .output()
            .unwrap()
    }

    /// Runs git, which must succeed, and returns its stdout without the last newline.
    #[track_caller]
    pub(crate) fn git<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> String {
        let args: Vec<OsString> = args
            .into_iter()
            .map(|arg| arg.as_ref().to_owned())
            .collect();
        let output = self.try_git(&args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {stderr}");
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        if text.ends_with('\n') {
            text.pop();
        }
        text
    }

    /// Writes a file of the working tree, making its directories.
    pub(crate) fn write(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.path.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Returns the text of a file of the working tree.
    #[track_caller]
    pub(crate) fn read(&self, path: impl AsRef<Path>) -> String {
        fs::read_to_string(self.path.join(path)).unwrap()
    }

    /// Makes `path` differ from HEAD by one line at its end.
    pub(crate) fn dirty(&self, path: impl AsRef<Path>) {
        let mut bytes = fs::read(self.path.join(&path)).unwrap_or_default();
        bytes.extend_from_slice(b"dirty\n");
        self.write(path, bytes);
    }

    /// Commits the file `name` with its name for content and message; returns the commit's id.
    #[track_caller]
    pub(crate) fn commit(&self, name: &str) -> String {
        self.write(name, format!("{name}\n"));
        self.git(["add", "--", name]);
        self.commit_staged(name)
    }

    /// Commits what is staged, if anything; returns the commit's id.
    #[track_caller]
    pub(crate) fn commit_staged(&self, message: &str) -> String {
        self.tick();
        self.git(["commit", "-q", "--allow-empty", "-m", message]);
        self.head()
    }

    #[track_caller]
    pub(crate) fn head(&self) -> String {
        self.git(["rev-parse", "HEAD"])
    }

    /// Makes the branch `name` at HEAD and checks it out.
    #[track_caller]
    pub(crate) fn branch(&self, name: &str) {
        self.git(["checkout", "-q", "-b", name]);
    }

    #[track_caller]
    pub(crate) fn checkout(&self, name: &str) {
        self.git(["checkout", "-q", name]);
    }

    /// Merges `name` with a merge commit; returns its id.
    #[track_caller]
    pub(crate) fn merge(&self, name: &str) -> String {
        self.tick();
        self.git([
            "merge",
            "-q",
            "--no-ff",
            "-m",
            &format!("merge {name}"),
            name,
        ]);
        self.head()
    }

    /// Adds a linked worktree with the new branch `name` beside the repository.
    #[track_caller]
    pub(crate) fn worktree(&self, name: &str) -> Self {
        let path = self.dir().join(name);
        self.git([
            OsStr::new("worktree"),
            OsStr::new("add"),
            OsStr::new("-q"),
            OsStr::new("-b"),
            OsStr::new(name),
            path.as_os_str(),
        ]);
        self.at(path)
    }

    /// Prepares a run of `git-operator` in this repository.
    pub(crate) fn operator<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Operator {
        Operator::new(&self.path, self.env()).args(args)
    }
}

/// The PATH of this process with the program under test first, so `git operator` finds it.
#[expect(
    clippy::disallowed_methods,
    reason = "a test runs the git that PATH names"
)]
pub(crate) fn path_variable() -> OsString {
    let program = Path::new(env!("CARGO_BIN_EXE_git-operator"));
    let own = program.parent().unwrap().to_owned();
    let rest = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&rest))).unwrap()
}
