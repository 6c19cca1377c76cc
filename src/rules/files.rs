//! The files of policies: the user's, the project's, and those of this checkout alone.

use std::{
    cell::OnceCell,
    path::{Path, PathBuf},
};

use crate::{
    git::{
        Repo,
        files::{FileError, Lies, Tree},
    },
    model::RepoPath,
    policy::{File, Policies, Policy, Scope},
};

const PROJECT: &str = ".operator/policies";
const LOCAL: &str = ".operator/policies.local";
/// The largest file; the reader of policies refuses less.
const SIZE_LIMIT: u64 = 1 << 20;
const FILE_LIMIT: usize = 1_000;
/// How much of all files together is read: a hook has to answer.
const BYTE_LIMIT: usize = 2 << 20;
const TOO_MUCH: &str = "there are more than 1,000 policy files, or more than 2 MiB of them";
const DEPTH_LIMIT: usize = 8;

/// Where policies lie.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The top of the working tree.
    pub top: Option<PathBuf>,
    /// The user's directory of policies.
    pub user: Option<PathBuf>,
    /// The project's policy files that were there before: one that is gone stands as HEAD has it.
    pub seen: Vec<String>,
}

/// Which of them are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scopes {
    All,
    /// The committed ones only, as continuous integration does.
    Project,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub policies: Policies,
    pub ignored: Vec<Ignored>,
    /// How many files were read.
    pub files: usize,
    /// The project's policy files, those that only HEAD has included.
    pub project: Vec<String>,
}

/// A file among the policies that is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    pub path: String,
    pub reason: &'static str,
}

impl Places {
    /// Returns the places for a top, and a user's directory of configuration.
    pub fn new(top: Option<&Path>, config: Option<&Path>) -> Self {
        Self {
            top: top.map(Path::to_owned),
            user: config.map(|dir| dir.join("git-operator/policies")),
            seen: Vec::new(),
        }
    }

    /// Adds the policy files that were there before.
    #[must_use]
    pub fn with_seen(self, seen: Vec<String>) -> Self {
        Self { seen, ..self }
    }

    /// Says whether the project was set up.
    pub fn is_started(&self) -> bool {
        self.top
            .as_ref()
            .is_some_and(|top| top.join(".operator").is_dir())
    }

    /// Says whether there is any policy to judge by; looks at no file.
    pub fn any(&self) -> bool {
        self.is_started()
            || !self.seen.is_empty()
            || self.user.as_ref().is_some_and(|dir| dir.is_dir())
    }
}

/// Reads the policies; `repo` is opened only to read a file as it is at HEAD: one that is broken or
/// gone, or switches off what is on by default.
///
/// A directory that cannot be read counts as a policy file that is broken.
pub fn load(places: &Places, scopes: Scopes, repo: &dyn Fn() -> Option<Repo>) -> Found {
    let mut reader = Reader::default();
    let all = scopes == Scopes::All;
    if let Some(user) = places.user.as_ref().filter(|user| all && user.is_dir()) {
        let shown = format!("{}/", user.display());
        reader.directory(&Tree::open(user), "", (Scope::User, shown));
    }
    let is_started = places.is_started();
    if let Some(top) = places.top.as_ref().filter(|_| is_started) {
        let tree = Tree::open(top);
        reader.directory(&tree, PROJECT, (Scope::Project, String::new()));
        if all {
            reader.directory(&tree, LOCAL, (Scope::Local, String::new()));
        }
    }
    let opened = OnceCell::new();
    let at_head = |path: &str| at_head(opened.get_or_init(repo).as_ref()?, path);
    reader.gone(&places.seen, &at_head);
    let policies = Policies::load(&reader.files, &at_head);
    let project = reader.project();
    let is_held = |policy: &Policy| match policy.scope {
        Scope::BuiltIn | Scope::User => true,
        Scope::Local => false,
        Scope::Project => {
            let source = &policy.place.source;
            // Outside git nothing can be committed.
            opened.get_or_init(repo).as_ref().is_none_or(Repo::is_store)
                || at_head(&source.path).as_ref() == Some(&source.text)
        }
    };
    Found {
        policies: match is_started || !project.is_empty() {
            true => policies.with_defaults(&is_held),
            false => policies,
        },
        ignored: reader.ignored,
        files: reader.files.len(),
        project,
    }
}

/// Returns a file as it is at HEAD.
fn at_head(repo: &Repo, path: &str) -> Option<String> {
    let commit = repo.head().ok()?.commit()?;
    let tree = repo.commit(commit).ok()?.tree;
    let (_, blob) = repo.place(tree, &RepoPath::new(path)).ok()??;
    String::from_utf8(repo.blob(blob).ok()?).ok()
}

#[derive(Default)]
struct Reader {
    files: Vec<File>,
    /// How many bytes the files have together.
    bytes: usize,
    ignored: Vec<Ignored>,
    /// How many files of the directory being read were left out.
    left: usize,
}

impl Reader {
    /// Reads the policies below a tree; one that cannot be opened is a broken file.
    fn directory(
        &mut self,
        tree: &Result<Tree, FileError>,
        below: &str,
        (scope, shown): (Scope, String),
    ) {
        let walk = Walk { shown, scope };
        let read = match tree {
            Err(error) => Err(error.to_string()),
            Ok(tree) => walk
                .below(self, tree, below)
                .map_err(|error| error.to_string()),
        };
        let error = match read {
            Err(error) => error,
            // What is left out must not pass in silence.
            Ok(()) if self.left > 0 => TOO_MUCH.to_owned(),
            Ok(()) => return,
        };
        self.left = 0;
        self.files.push(File {
            scope,
            path: format!("{}{below}", walk.shown),
            text: Err(error),
        });
    }
}

impl Reader {
    /// Adds the files of the project that are gone and that HEAD has, as files that cannot be read.
    fn gone(&mut self, seen: &[String], at_head: &dyn Fn(&str) -> Option<String>) {
        let here = self.project();
        for path in seen.iter().filter(|path| !here.contains(path)) {
            let file = |text| File {
                scope: Scope::Project,
                path: path.clone(),
                text,
            };
            // One that was broken there, too, is repaired by taking it away.
            let stands = |text| {
                Policies::load(&[file(Ok(text))], &|_| None)
                    .broken()
                    .is_empty()
            };
            if at_head(path).is_some_and(stands) {
                let gone = Err("it is gone, and HEAD has it".to_owned());
                self.files.push(file(gone));
            }
        }
    }

    fn project(&self) -> Vec<String> {
        // A directory that cannot be read is no policy that could be gone.
        let is_policy = |file: &&File| {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            file.scope == Scope::Project && fault_of(name).is_none()
        };
        let files = self.files.iter();
        files
            .filter(is_policy)
            .map(|file| file.path.clone())
            .collect()
    }
}

struct Walk {
    shown: String,
    scope: Scope,
}

impl Walk {
    fn below(&self, reader: &mut Reader, tree: &Tree, below: &str) -> Result<(), FileError> {
        if below.is_empty() {
            return self.directory(reader, tree, (below, 0));
        }
        match tree.below(below)? {
            Some(tree) => self.directory(reader, &tree, (below, 0)),
            None => Ok(()),
        }
    }

    /// Reads the files of a directory, which is opened once for all of them.
    fn directory(
        &self,
        reader: &mut Reader,
        tree: &Tree,
        (below, depth): (&str, usize),
    ) -> Result<(), FileError> {
        for name in tree.names("")? {
            let Some(name) = name.to_str() else {
                let path = format!("{}{below}/{}", self.shown, name.to_string_lossy());
                reader.ignore(path, "its name is no UTF-8");
                continue;
            };
            let path = match below {
                "" => name.to_owned(),
                below => format!("{below}/{name}"),
            };
            let shown = format!("{}{path}", self.shown);
            let is_policy = fault_of(name).is_none() && reader.has_room();
            let read = is_policy.then(|| tree.read(name, SIZE_LIMIT));
            match read {
                Some(Ok(Some(bytes))) => {
                    self.file(reader, shown, bytes);
                    continue;
                }
                Some(Ok(None)) => continue,
                Some(Err(FileError::Link(_) | FileError::NotAFile(_))) | None => {}
                Some(Err(error)) => {
                    self.unreadable(reader, shown, error.to_string());
                    continue;
                }
            }
            match tree.lies(name) {
                Ok(Lies::Directory) if depth < DEPTH_LIMIT => {
                    if let Some(tree) = tree.below(name)? {
                        self.directory(reader, &tree, (&path, depth + 1))?;
                    }
                }
                Ok(Lies::Directory) => reader.ignore(shown, "it lies too deep"),
                Ok(Lies::File) => match fault_of(name) {
                    Some(fault) => reader.ignore(shown, fault),
                    None => reader.leave(shown),
                },
                Ok(Lies::Nothing) => {}
                Ok(_) | Err(_) => reader.ignore(shown, "it is a link or no regular file"),
            }
        }
        Ok(())
    }

    fn file(&self, reader: &mut Reader, path: String, bytes: Vec<u8>) {
        reader.bytes += bytes.len();
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned());
        reader.files.push(File {
            scope: self.scope,
            path,
            text,
        });
    }

    fn unreadable(&self, reader: &mut Reader, path: String, reason: String) {
        reader.files.push(File {
            scope: self.scope,
            path,
            text: Err(reason),
        });
    }
}

/// Returns why a file of this name is no policy file.
fn fault_of(name: &str) -> Option<&'static str> {
    if name.starts_with('.') {
        Some("its name begins with '.'")
    } else if !name.ends_with(".yaml") && !name.ends_with(".yml") {
        Some("its name does not end in .yaml or .yml")
    } else {
        None
    }
}

impl Reader {
    fn leave(&mut self, path: String) {
        self.left += 1;
        self.ignore(path, "there are too many policy files, or too much in them");
    }

    fn has_room(&self) -> bool {
        self.files.len() < FILE_LIMIT && self.bytes < BYTE_LIMIT
    }

    fn ignore(&mut self, path: String, reason: &'static str) {
        self.ignored.push(Ignored { path, reason });
    }
}
