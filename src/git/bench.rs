//! A place to work in beside the user's index and objects.

use std::{
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use super::{Error, Git, Repo};
use crate::model::RepoPath;

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
        let line = alternate(&own);
        let alternates = info.join("alternates");
        fs::write(&alternates, line).map_err(Error::write(&alternates))?;
        Ok(Self { dir, objects })
    }

    pub(super) fn objects(&self) -> &Path {
        &self.objects
    }
}

/// Returns the line of `info/alternates` that names an object directory: a path that would end the line
/// stands in quotes (gitrepository-layout(5), link_alt_odb_entries in git's odb.c).
pub(super) fn alternate(objects: &Path) -> Vec<u8> {
    let path = objects.as_os_str().as_bytes();
    let breaks = path.iter().any(|byte| matches!(byte, b'\n' | b'\r'));
    let mut line = match breaks {
        true => RepoPath::new(path).quoted().into_bytes(),
        false => path.to_vec(),
    };
    line.push(b'\n');
    line
}

/// A temporary index and a quarantine.
pub(super) struct Bench {
    index: PathBuf,
    quarantine: Quarantine,
}

impl Bench {
    pub(super) fn new(repo: &Repo) -> Result<Self, Error> {
        let quarantine = Quarantine::inside(repo)?;
        Ok(Self {
            index: quarantine.dir.path().join("index"),
            quarantine,
        })
    }

    pub(super) fn objects(&self) -> &Path {
        self.quarantine.objects()
    }

    /// Copies an index with its time: by that git tells entries whose file may have changed within
    /// the second it was looked at.
    pub(super) fn copy_index(&self, from: &Path) -> Result<(), Error> {
        let copied = fs::metadata(from).and_then(|found| {
            fs::copy(from, &self.index)?;
            let copy = fs::OpenOptions::new().write(true).open(&self.index)?;
            copy.set_modified(found.modified()?)
        });
        match copied {
            Ok(()) => Ok(()),
            // A repository without an index has nothing staged.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(Error::write(&self.index)(error)),
        }
    }

    pub(super) fn bind<'repo>(&self, git: Git<'repo>) -> Git<'repo> {
        git.env("GIT_INDEX_FILE", &self.index)
            .env("GIT_OBJECT_DIRECTORY", self.quarantine.objects())
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
}
