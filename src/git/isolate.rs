//! A tree in a directory of its own, for a command that must see nothing else: neither ignored files,
//! nor those of another session, nor `.operator`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    Error, HashKind, Location, NewCommit, ObjectKind, Repo, Role, Snapshot, Verify,
    bench::alternate,
};
use crate::model::{DeltaEntry, Oid};

/// The settings of a repository that decide what bytes a checkout writes.
const CHECKOUT_KEYS: &str =
    r"^(filter|lfs)\.|^core\.(autocrlf|eol|symlinks|filemode|ignorecase|attributesfile)$";

/// What is laid out.
pub struct Layout<'a> {
    pub root: Oid,
    /// Where objects lie that the repository does not have.
    pub objects: Option<&'a Path>,
    /// What is changed on top of the root.
    pub patch: &'a [DeltaEntry],
    /// The commit that history continues from.
    pub parent: Option<Oid>,
}

impl<'a> Layout<'a> {
    /// Returns the layout of a snapshot.
    pub fn of(snapshot: &'a Snapshot, parent: Option<Oid>) -> Self {
        Self {
            root: snapshot.root,
            objects: snapshot.objects(),
            patch: &[],
            parent,
        }
    }
}

/// A repository of its own in a temporary directory, which borrows the objects of another; it is
/// removed with this value.
pub struct Isolated {
    pub repo: Repo,
    _dir: tempfile::TempDir,
}

impl Isolated {
    /// Returns the top of the working tree.
    pub fn top(&self) -> &Path {
        self.repo.top().unwrap_or(self.repo.git_dir())
    }
}

impl Repo {
    /// Lays a tree out in a directory of its own. Nothing of this repository is written.
    pub fn isolate(&self, layout: &Layout<'_>) -> Result<Isolated, Error> {
        let dir = tempfile::Builder::new()
            .prefix("git-operator.")
            .tempdir()
            .map_err(Error::write("a temporary directory"))?;
        // A link on the way would make the command see two names for one file.
        let top = dir.path().canonicalize().map_err(Error::read(dir.path()))?;
        let top = top.join("tree");
        let git_dir = top.join(".git");
        self.found(&git_dir, layout)?;
        let location = Location {
            top: Some(top),
            common_dir: git_dir.clone(),
            git_dir,
        };
        let env = self.env().clone().hook();
        let repo = Self::open(&location, &env)?;
        repo.lay_out(layout)?;
        Ok(Isolated { repo, _dir: dir })
    }

    /// Makes the files of the borrowing repository.
    fn found(&self, git_dir: &Path, layout: &Layout<'_>) -> Result<(), Error> {
        for part in ["objects/info", "refs/heads", "info"] {
            let part = git_dir.join(part);
            fs::create_dir_all(&part).map_err(Error::write(&part))?;
        }
        let mut alternates = Vec::new();
        let own = self.common_dir().join("objects");
        for objects in layout.objects.into_iter().chain([own.as_path()]) {
            alternates.extend(alternate(objects));
        }
        let attributes = fs::read(self.common_dir().join("info/attributes")).unwrap_or_default();
        let files: [(PathBuf, Vec<u8>); 4] = [
            (git_dir.join("objects/info/alternates"), alternates),
            (git_dir.join("HEAD"), b"ref: refs/heads/isolated\n".to_vec()),
            (git_dir.join("config"), self.checkout_config()?),
            (git_dir.join("info/attributes"), attributes),
        ];
        for (path, bytes) in files {
            fs::write(&path, bytes).map_err(Error::write(&path))?;
        }
        Ok(())
    }

    fn checkout_config(&self) -> Result<Vec<u8>, Error> {
        let mut text = match self.hash_kind() {
            HashKind::Sha1 => b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n".to_vec(),
            HashKind::Sha256 => b"[core]\n\trepositoryformatversion = 1\n\tbare = false\n\
                [extensions]\n\tobjectFormat = sha256\n"
                .to_vec(),
        };
        let git = self.git(["config", "--local", "-z", "--get-regexp", CHECKOUT_KEYS]);
        let finished = git.read_only().run()?;
        for pair in finished.stdout.split(|c| *c == 0) {
            if let Some((key, value)) = split_once(pair, b'\n') {
                text.extend(setting(key, value));
            }
        }
        Ok(text)
    }

    fn lay_out(&self, layout: &Layout<'_>) -> Result<(), Error> {
        self.forced(&["read-tree", &layout.root.to_hex()])
            .output()?;
        if !layout.patch.is_empty() {
            let lines = index_lines(layout.patch, self.hash_kind());
            self.forced(&["update-index", "-z", "--index-info"])
                .stdin(lines)
                .output()?;
        }
        let own = [
            "rm",
            "-r",
            "-q",
            "--cached",
            "--ignore-unmatch",
            "--",
            ".operator",
        ];
        self.forced(&own).output()?;
        self.forced(&["checkout-index", "-a", "-f", "-q"])
            .output()?;
        let tree = self.forced(&["write-tree", "--missing-ok"]).output()?;
        let tree = super::refs::oid_of("the tree laid out", &tree)?;
        let time = match layout.parent {
            Some(parent) => self.commit(parent)?.committer_time,
            None => 0,
        };
        let commit = NewCommit {
            author: &self.identity(Role::Author)?,
            committer: &self.identity(Role::Committer)?,
            time: u64::try_from(time).unwrap_or(0),
            message: b"isolated\n",
        };
        let parents: Vec<Oid> = layout.parent.into_iter().collect();
        let id = self.write_object(
            ObjectKind::Commit,
            &commit.bytes(tree, &parents),
            Verify::No,
        )?;
        let head = self.git_dir().join("HEAD");
        fs::write(&head, format!("{id}\n")).map_err(Error::write(&head))?;
        // The times of the files just written, so that a later look need not read them.
        self.forced(&["update-index", "-q", "--refresh"]).run()?;
        Ok(())
    }
}

fn index_lines(patch: &[DeltaEntry], hash: HashKind) -> Vec<u8> {
    let none = "0".repeat(hash.hex_len());
    let mut lines = Vec::new();
    for entry in patch {
        let line = match entry.new {
            Some((mode, id)) => format!("{mode:o} {id}\t"),
            None => format!("0 {none}\t"),
        };
        lines.extend_from_slice(line.as_bytes());
        lines.extend_from_slice(entry.path.as_bytes());
        lines.push(0);
    }
    lines
}

fn split_once(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let place = bytes.iter().position(|c| *c == at)?;
    Some((&bytes[..place], &bytes[place + 1..]))
}

/// Writes one setting as a section of its own.
fn setting(key: &[u8], value: &[u8]) -> Vec<u8> {
    let key = String::from_utf8_lossy(key);
    let Some((section, name)) = key.rsplit_once('.') else {
        return Vec::new();
    };
    let header = match section.split_once('.') {
        Some((section, sub)) => format!("[{section} {}]", quoted(sub.as_bytes())),
        None => format!("[{section}]"),
    };
    format!("{header}\n\t{name} = {}\n", quoted(value)).into_bytes()
}

fn quoted(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", text.replace('\n', "\\n").replace('\t', "\\t"))
}
