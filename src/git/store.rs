use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{
    Env, Error, HashKind, Location, RefStorage, Repo,
    repo::{Children, Format},
    shared::Shared,
};

/// The whole configuration of a store. A store with any other is somebody else's and stays shut:
/// configuration can run programs.
const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n";
const HEAD: &str = "ref: refs/heads/main\n";

impl Repo {
    /// Makes a store, the bare repository that keeps a ledger where there is no repository.
    pub fn create_bare_store(path: &Path) -> Result<Self, Error> {
        for dir in ["objects/info", "objects/pack", "refs/heads", "refs/tags"] {
            let dir = path.join(dir);
            fs::create_dir_all(&dir).map_err(Error::write(&dir))?;
        }
        write_new(&path.join("HEAD"), HEAD)?;
        write_new(&path.join("config"), CONFIG)?;
        Self::open_bare_store(path)
    }

    /// Opens a store without reading any configuration; git is never started in it.
    pub fn open_bare_store(path: &Path) -> Result<Self, Error> {
        check(path)?;
        let git_dir = path.canonicalize().map_err(Error::read(path))?;
        let location = Location {
            top: None,
            common_dir: git_dir.clone(),
            git_dir,
        };
        let format = Format {
            hash: HashKind::Sha1,
            refs: RefStorage::Files,
            known: true,
            shared: Shared::No,
        };
        Self::with(location, Env::default(), Children::Never, format)
    }

    /// Says whether this is a store.
    pub fn is_store(&self) -> bool {
        self.children == Children::Never
    }
}

fn check(path: &Path) -> Result<(), Error> {
    let refuse = |reason: String| {
        Err(Error::Store {
            path: path.to_owned(),
            reason,
        })
    };
    let meta = fs::symlink_metadata(path).map_err(Error::read(path))?;
    if !meta.is_dir() {
        return refuse("it is no directory".to_owned());
    }
    for name in ["config", "objects", "refs", "HEAD"] {
        let part = path.join(name);
        let meta = fs::symlink_metadata(&part).map_err(Error::read(&part))?;
        if meta.is_symlink() {
            return refuse(format!("its {name} is a link"));
        }
    }
    let config = path.join("config");
    if fs::read(&config).map_err(Error::read(config))? != CONFIG.as_bytes() {
        return refuse("its config is not the one it was made with".to_owned());
    }
    let foreign = [
        "hooks",
        "info",
        "commondir",
        "config.worktree",
        "objects/info/alternates",
    ];
    for name in foreign {
        if fs::symlink_metadata(path.join(name)).is_ok() {
            return refuse(format!("it has {name}"));
        }
    }
    Ok(())
}

fn write_new(path: &PathBuf, text: &str) -> Result<(), Error> {
    let same = |bytes: Vec<u8>| bytes == text.as_bytes();
    match fs::read(path) {
        Ok(bytes) if same(bytes.clone()) => Ok(()),
        Ok(_) => Err(Error::Write {
            path: path.clone(),
            source: io::Error::from(io::ErrorKind::AlreadyExists),
        }),
        Err(_) => fs::write(path, text).map_err(Error::write(path)),
    }
}
