use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Component, Path, PathBuf},
};

use super::{Env, Error, config, owner};

/// Where a repository lies: absolute paths without links.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// The top of the working tree; `None` in a bare repository and inside a git directory.
    pub top: Option<PathBuf>,
    /// The directory of HEAD and the index; each linked worktree has its own.
    pub git_dir: PathBuf,
    /// The directory of refs and objects, which all worktrees share.
    pub common_dir: PathBuf,
}

impl Location {
    /// Returns the worktree's name as records write it: its name under `worktrees/`, `.` for the
    /// main one.
    pub fn worktree_name(&self) -> String {
        if self.git_dir == self.common_dir {
            return ".".to_owned();
        }
        let name = self.git_dir.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}

/// Finds the repository that git would use in `start`; `None` when there is none.
///
/// Something that looks like a repository and cannot be used is an error, never an absence.
pub fn locate(start: &Path, env: &Env) -> Result<Option<Location>, Error> {
    if let Some(git_dir) = env.path("GIT_DIR") {
        return given(start, git_dir, env).map(Some);
    }
    let start = real(start)?;
    let ceiling = ceiling(&start, env);
    let mut device = None;
    for dir in start.ancestors() {
        if ceiling.as_deref() == Some(dir) && dir != start {
            return Ok(None);
        }
        let here = stat(dir)?.map(|meta| meta.dev());
        if *device.get_or_insert(here) != here && !env.flag("GIT_DISCOVERY_ACROSS_FILESYSTEM") {
            return Ok(None);
        }
        if let Some(location) = in_dir(dir, env)? {
            return Ok(Some(location));
        }
    }
    Ok(None)
}

/// Returns the nearest directory at or above `path` that is there.
pub fn nearest_dir(path: &Path) -> Option<PathBuf> {
    path.ancestors()
        .filter(|dir| dir.is_absolute())
        .find(|dir| dir.is_dir())
        .map(Path::to_owned)
}

fn in_dir(dir: &Path, env: &Env) -> Result<Option<Location>, Error> {
    let dot_git = dir.join(".git");
    if let Some(meta) = stat(&dot_git)? {
        if meta.is_file() {
            let git_dir = pointed_to(&dot_git)?;
            let location = discovered(dir, git_dir, env)?;
            owner::check(&[&dot_git, dir, &location.git_dir], dir, env)?;
            return Ok(Some(location));
        }
        // `dir` holds no link, so only `.git` itself may be one.
        let git_dir = match fs::symlink_metadata(&dot_git).is_ok_and(|own| !own.is_symlink()) {
            true => dot_git.clone(),
            false => real(&dot_git)?,
        };
        let whole = check(&git_dir, &git_dir);
        if whole.is_ok() || !is_empty_dir(&dot_git)? {
            whole?;
            let location = discovered(dir, git_dir, env)?;
            owner::check(&[dir, &location.git_dir], dir, env)?;
            return Ok(Some(location));
        }
    }
    if is_bare(dir)? {
        let common_dir = common_dir(dir)?;
        owner::check(&[dir], dir, env)?;
        owner::check_bare(dir, env)?;
        return Ok(Some(Location {
            top: None,
            git_dir: dir.to_owned(),
            common_dir,
        }));
    }
    Ok(None)
}

fn discovered(dir: &Path, git_dir: PathBuf, env: &Env) -> Result<Location, Error> {
    let common_dir = common_dir(&git_dir)?;
    let top = if let Some(tree) = env.path("GIT_WORK_TREE") {
        Some(real(&absolute(dir, tree))?)
    } else if git_dir == common_dir {
        configured_top(&git_dir, || Some(dir.to_owned()))?
    } else {
        Some(dir.to_owned())
    };
    Ok(Location {
        top,
        git_dir,
        common_dir,
    })
}

/// GIT_DIR says where the repository is; without GIT_WORK_TREE its top is `start`.
fn given(start: &Path, git_dir: &Path, env: &Env) -> Result<Location, Error> {
    let start = real(start)?;
    let path = absolute(&start, git_dir);
    let git_dir = match stat(&path)? {
        None => return Err(invalid(&path, "it is not there")),
        Some(meta) if meta.is_file() => pointed_to(&path)?,
        Some(_) => real(&path)?,
    };
    let common_dir = match env.path("GIT_COMMON_DIR") {
        Some(common) => real(&absolute(&start, common))?,
        None => common_dir(&git_dir)?,
    };
    check(&git_dir, &common_dir)?;
    let top = match env.path("GIT_WORK_TREE") {
        Some(tree) => Some(real(&absolute(&start, tree))?),
        None if env.var("GIT_IMPLICIT_WORK_TREE").is_some()
            && !env.flag("GIT_IMPLICIT_WORK_TREE") =>
        {
            None
        }
        None => configured_top(&git_dir, || Some(start))?,
    };
    Ok(Location {
        top,
        git_dir,
        common_dir,
    })
}

/// The top that `core.worktree` or `core.bare` settles, else `otherwise`.
fn configured_top(
    git_dir: &Path,
    otherwise: impl FnOnce() -> Option<PathBuf>,
) -> Result<Option<PathBuf>, Error> {
    let path = git_dir.join("config");
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes.to_ascii_lowercase(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(otherwise()),
        Err(error) => return Err(Error::read(path)(error)),
    };
    let text = String::from_utf8_lossy(&bytes);
    // Nearly every config says `bare = false` and no more: no need to parse those on a hot path.
    let plain = text.lines().all(|line| {
        let line: String = line.split_whitespace().collect();
        !line.contains("worktree") && (!line.contains("bare") || line == "bare=false")
    });
    if plain {
        return Ok(otherwise());
    }
    let mut files = vec![config::read(&path)?];
    if config::bool_of(&files[0], "extensions.worktreeConfig")? == Some(true) {
        files.push(config::read(&git_dir.join("config.worktree"))?);
    }
    for file in files.iter().rev() {
        if let Some(tree) = file.string("core.worktree") {
            return real(&absolute(git_dir, &path_of(&tree))).map(Some);
        }
    }
    for file in files.iter().rev() {
        match config::bool_of(file, "core.bare")? {
            Some(true) => return Ok(None),
            Some(false) => break,
            None => {}
        }
    }
    Ok(otherwise())
}

/// Reads a `.git` file: one line `gitdir: <path>`, relative to the file.
fn pointed_to(file: &Path) -> Result<PathBuf, Error> {
    let bytes = fs::read(file).map_err(Error::read(file))?;
    let text = bytes
        .strip_prefix(b"gitdir: ")
        .ok_or_else(|| invalid(file, "it does not begin with 'gitdir: '"))?;
    let target = path_of(text);
    if target.as_os_str().is_empty() {
        return Err(invalid(file, "it names no directory"));
    }
    let dir = file.parent().unwrap_or(Path::new("/"));
    let target = absolute(dir, &target);
    if stat(&target)?.is_none() {
        let reason = format!("'{}' is not there", target.display());
        return Err(invalid(file, &reason));
    }
    let git_dir = real(&target)?;
    check(&git_dir, &common_dir(&git_dir)?)?;
    Ok(git_dir)
}

/// Returns where `git_dir` says its refs and objects are; itself unless it is a linked worktree's.
fn common_dir(git_dir: &Path) -> Result<PathBuf, Error> {
    let file = git_dir.join("commondir");
    let bytes = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(git_dir.to_owned()),
        Err(error) => return Err(Error::read(file)(error)),
    };
    let target = path_of(&bytes);
    if target.as_os_str().is_empty() {
        return Err(invalid(&file, "it names no directory"));
    }
    real(&absolute(git_dir, &target))
}

fn check(git_dir: &Path, common_dir: &Path) -> Result<(), Error> {
    for path in [
        git_dir.join("HEAD"),
        common_dir.join("objects"),
        common_dir.join("refs"),
    ] {
        if fs::symlink_metadata(&path).is_err() {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            return Err(invalid(git_dir, &format!("it has no {name}")));
        }
    }
    Ok(())
}

fn is_bare(dir: &Path) -> Result<bool, Error> {
    let head = dir.join("HEAD");
    if stat(&head)?.is_none_or(|meta| !meta.is_file()) {
        return Ok(false);
    }
    let Ok(common) = common_dir(dir) else {
        return Ok(false);
    };
    if !common.join("objects").is_dir() || !common.join("refs").is_dir() {
        return Ok(false);
    }
    let bytes = fs::read(&head).map_err(Error::read(head))?;
    let hex = bytes.len() >= 40 && bytes[..40].iter().all(u8::is_ascii_hexdigit);
    Ok(hex || bytes.starts_with(b"ref: refs/"))
}

/// The longest ceiling strictly above `start`. Ceilings after an empty one are taken as they are.
fn ceiling(start: &Path, env: &Env) -> Option<PathBuf> {
    let mut literal = false;
    let mut longest: Option<PathBuf> = None;
    for entry in env.ceilings() {
        if entry.as_os_str().is_empty() {
            literal = true;
            continue;
        }
        if !entry.is_absolute() {
            continue;
        }
        let dir = match literal {
            true => entry,
            false => entry.canonicalize().unwrap_or(entry),
        };
        let longer = longest
            .as_ref()
            .is_none_or(|best| dir.components().count() > best.components().count());
        if start.starts_with(&dir) && start != dir && longer {
            longest = Some(dir);
        }
    }
    longest
}

/// Reads a path from a file's bytes, without the line's end.
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    let end = bytes
        .iter()
        .rposition(|c| !matches!(c, b'\n' | b'\r'))
        .map_or(0, |last| last + 1);
    std::ffi::OsStr::from_bytes(&bytes[..end]).into()
}

fn absolute(dir: &Path, path: &Path) -> PathBuf {
    let joined = dir.join(path);
    joined
        .components()
        .filter(|part| *part != Component::CurDir)
        .collect()
}

fn real(path: &Path) -> Result<PathBuf, Error> {
    path.canonicalize().map_err(Error::read(path))
}

fn stat(path: &Path) -> Result<Option<fs::Metadata>, Error> {
    match fs::metadata(path) {
        Ok(meta) => Ok(Some(meta)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(Error::read(path)(error)),
    }
}

fn is_empty_dir(path: &Path) -> Result<bool, Error> {
    let mut entries = fs::read_dir(path).map_err(Error::read(path))?;
    Ok(entries.next().is_none())
}

fn invalid(path: &Path, reason: &str) -> Error {
    Error::Invalid {
        path: path.to_owned(),
        reason: reason.to_owned(),
    }
}

/// Says whether `dir` is a working tree whose `.git` file points into `common_dir`.
pub(crate) fn points_into(dir: &Path, common_dir: &Path) -> bool {
    pointed_to(&dir.join(".git"))
        .is_ok_and(|git_dir| git_dir.starts_with(common_dir.join("worktrees")))
}
