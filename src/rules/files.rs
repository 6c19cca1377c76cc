//! The files of policies: the user's, the project's, and those of this checkout alone.

use std::path::{Path, PathBuf};

use super::Error;
use crate::{
    git::{
        Repo,
        files::{Lies, Tree},
    },
    model::RepoPath,
    policy::{File, Policies, Scope},
};

const PROJECT: &str = ".operator/policies";
const LOCAL: &str = ".operator/policies.local";
/// The largest file; the reader of policies refuses less.
const SIZE_LIMIT: u64 = 1 << 20;
const FILE_LIMIT: usize = 1_000;
const DEPTH_LIMIT: usize = 8;

/// Where policies lie.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The top of the working tree.
    pub top: Option<PathBuf>,
    /// The user's directory of policies.
    pub user: Option<PathBuf>,
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
        }
    }

    /// Says whether the project was set up.
    pub fn is_started(&self) -> bool {
        self.top
            .as_ref()
            .is_some_and(|top| top.join(".operator").is_dir())
    }

    /// Says whether there is any policy to judge by; looks at no file.
    pub fn any(&self) -> bool {
        self.is_started() || self.user.as_ref().is_some_and(|dir| dir.is_dir())
    }
}

/// Reads the policies; `repo` is opened only to read a broken file as it is at HEAD.
pub fn load(
    places: &Places,
    scopes: Scopes,
    repo: &dyn Fn() -> Option<Repo>,
) -> Result<Found, Error> {
    let mut reader = Reader::default();
    if let Some(user) = &places.user
        && scopes == Scopes::All
    {
        reader.directory(user, "", Scope::User)?;
    }
    if let Some(top) = places.top.as_ref().filter(|_| places.is_started()) {
        reader.directory(top, PROJECT, Scope::Project)?;
        if scopes == Scopes::All {
            reader.directory(top, LOCAL, Scope::Local)?;
        }
    }
    let at_head = |path: &str| repo().and_then(|repo| at_head(&repo, path));
    let policies = Policies::load(&reader.files, &at_head);
    Ok(Found {
        policies: if places.is_started() {
            policies.with_defaults()
        } else {
            policies
        },
        ignored: reader.ignored,
        files: reader.files.len(),
    })
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
    ignored: Vec<Ignored>,
}

impl Reader {
    fn directory(&mut self, top: &Path, below: &str, scope: Scope) -> Result<(), Error> {
        if !top.is_dir() {
            return Ok(());
        }
        let fault = |source| Error::Files {
            path: top.join(below),
            source,
        };
        let tree = Tree::open(top).map_err(fault)?;
        let shown = match scope {
            Scope::User => format!("{}/", top.display()),
            Scope::BuiltIn | Scope::Project | Scope::Local => String::new(),
        };
        let mut walk = Walk {
            tree: &tree,
            shown,
            scope,
        };
        walk.directory(self, below, 0)
            .map_err(|source| Error::Files {
                path: top.join(below),
                source,
            })
    }
}

struct Walk<'a> {
    tree: &'a Tree,
    shown: String,
    scope: Scope,
}

impl Walk<'_> {
    fn directory(
        &mut self,
        reader: &mut Reader,
        below: &str,
        depth: usize,
    ) -> Result<(), crate::git::files::FileError> {
        for name in self.tree.names(below)? {
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
            match self.tree.lies(&path) {
                Ok(Lies::Directory) if depth < DEPTH_LIMIT => {
                    self.directory(reader, &path, depth + 1)?;
                }
                Ok(Lies::Directory) => reader.ignore(shown, "it lies too deep"),
                Ok(Lies::File) => self.file(reader, &path, shown),
                Ok(Lies::Nothing) => {}
                Ok(_) | Err(_) => reader.ignore(shown, "it is a link or no regular file"),
            }
        }
        Ok(())
    }

    fn file(&self, reader: &mut Reader, path: &str, shown: String) {
        let name = path.rsplit('/').next().unwrap_or(path);
        if name.starts_with('.') {
            return reader.ignore(shown, "its name begins with '.'");
        }
        if !name.ends_with(".yaml") && !name.ends_with(".yml") {
            return reader.ignore(shown, "its name does not end in .yaml or .yml");
        }
        if reader.files.len() >= FILE_LIMIT {
            return reader.ignore(shown, "there are too many files");
        }
        let text = match self.tree.read(path, SIZE_LIMIT) {
            Ok(Some(bytes)) => String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned()),
            Ok(None) => Err("it is gone".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        reader.files.push(File {
            scope: self.scope,
            path: shown,
            text,
        });
    }
}

impl Reader {
    fn ignore(&mut self, path: String, reason: &'static str) {
        self.ignored.push(Ignored { path, reason });
    }
}
