//! Loose refs and packed-refs, read and written without gix: its ref transactions take
//! `packed-refs.lock` for every update, and a kill leaves that lock behind, stale.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use gix::bstr::ByteSlice as _;
use tempfile::NamedTempFile;

use super::{Expected, Repo, Swap, Swapped, Value, parse, unreadable};
use crate::{git::Error, model::Oid};

/// A lock that is not ours is taken for a dead process's when it is this old.
const STALE: Duration = Duration::from_secs(10);
const LINKS: usize = 5;

pub(super) fn read(repo: &Repo, name: &str) -> Result<Option<Oid>, Error> {
    let mut name = name.to_owned();
    for _ in 0..=LINKS {
        match read_one(repo, &name)? {
            None => return Ok(None),
            Some(Value::Id(id)) => return Ok(Some(id)),
            Some(Value::Symbolic(target)) => name = target,
        }
    }
    Err(unreadable(&name, "symbolic refs nest too deep"))
}

fn read_one(repo: &Repo, name: &str) -> Result<Option<Value>, Error> {
    let path = path(repo, name);
    match fs::read(&path) {
        Ok(bytes) => parse(name, &bytes).map(Some),
        Err(error) if is_absence(&error) => Ok(packed(repo)?.find(name).map(Value::Id)),
        Err(error) => Err(Error::read(path)(error)),
    }
}

pub(super) fn read_packed(repo: &Repo, name: &str) -> Result<Option<Oid>, Error> {
    Ok(packed(repo)?.find(name))
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory
    )
}

fn path(repo: &Repo, name: &str) -> PathBuf {
    let own = ["refs/bisect/", "refs/worktree/", "refs/rewritten/"];
    match own.iter().any(|prefix| name.starts_with(prefix)) {
        true => repo.git_dir().join(name),
        false => repo.common_dir().join(name),
    }
}

struct Packed(Vec<u8>);

fn packed(repo: &Repo) -> Result<Packed, Error> {
    let path = repo.common_dir().join("packed-refs");
    match fs::read(&path) {
        Ok(bytes) => Ok(Packed(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Packed(Vec::new())),
        Err(error) => Err(Error::read(path)(error)),
    }
}

impl Packed {
    fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .split(|c| *c == b'\n')
            .filter(|line| !line.starts_with(b"#") && !line.starts_with(b"^"))
            .filter_map(|line| std::str::from_utf8(line).ok()?.split_once(' '))
            .map(|(id, name)| (name.trim_end(), id))
    }

    fn find(&self, name: &str) -> Option<Oid> {
        let needle = format!(" {name}\n");
        let mut rest = self.0.as_slice();
        while let Some(at) = rest.find(&needle) {
            let start = rest[..at].rfind_byte(b'\n').map_or(0, |end| end + 1);
            let id = std::str::from_utf8(&rest[start..at]).ok();
            if let Some(id) = id.and_then(|id| id.parse().ok()) {
                return Some(id);
            }
            rest = &rest[at + needle.len() - 1..];
        }
        None
    }

    /// A ref cannot be another's directory.
    fn in_the_way(&self, name: &str) -> Option<&str> {
        let below = |one: &str, other: &str| {
            one.strip_prefix(other)
                .is_some_and(|rest| rest.starts_with('/'))
        };
        self.iter()
            .map(|(known, _)| known)
            .find(|known| below(known, name) || below(name, known))
    }
}

pub(super) fn list(repo: &Repo, prefix: &str) -> Result<Vec<(String, Oid)>, Error> {
    let packed = packed(repo)?;
    let mut found: BTreeMap<String, Option<Oid>> = packed
        .iter()
        .filter(|(name, _)| name.starts_with(prefix))
        .map(|(name, id)| (name.to_owned(), id.parse().ok()))
        .collect();
    let dir = prefix.rfind('/').map_or("refs", |slash| &prefix[..slash]);
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for (name, is_dir) in entries(&path(repo, &dir))? {
            let name = format!("{dir}/{name}");
            if is_dir {
                dirs.push(name);
            } else if name.starts_with(prefix) && super::check_name(&name).is_ok() {
                let id = read(repo, &name).ok().flatten();
                found.insert(name, id);
            }
        }
    }
    Ok(found
        .into_iter()
        .filter_map(|(name, id)| Some((name, id?)))
        .collect())
}

fn entries(dir: &Path) -> Result<Vec<(String, bool)>, Error> {
    let listing = match fs::read_dir(dir) {
        Ok(listing) => listing,
        Err(error) if is_absence(&error) => return Ok(Vec::new()),
        Err(error) => return Err(Error::read(dir)(error)),
    };
    let mut found = Vec::new();
    for entry in listing {
        let entry = entry.map_err(Error::read(dir))?;
        let kind = entry.file_type().map_err(Error::read(dir))?;
        if let Ok(name) = entry.file_name().into_string() {
            found.push((name, kind.is_dir()));
        }
    }
    Ok(found)
}

pub(super) fn swap(repo: &Repo, swap: Swap<'_>) -> Result<Swapped, Error> {
    let started = Instant::now();
    loop {
        let lock = Lock::take(repo, swap, started)?;
        let found = match read_one(repo, swap.name)? {
            None => None,
            Some(Value::Id(id)) => Some(id),
            Some(Value::Symbolic(_)) => return Err(refused(swap.name, "it is symbolic")),
        };
        if !swap.old.holds(found) {
            return Ok(Swapped::Mismatch { found });
        }
        if swap.old == Expected::Absent
            && let Some(other) = packed(repo)?.in_the_way(swap.name)
        {
            return Err(refused(swap.name, &format!("there is a ref '{other}'")));
        }
        if lock.commit(swap.name)? {
            return Ok(Swapped::Done);
        }
    }
}

pub(super) fn delete(repo: &Repo, name: &str, old: Oid) -> Result<Swapped, Error> {
    let swap = Swap {
        name,
        old: Expected::Is(old),
        new: old,
        own: &[],
        wait: Duration::from_secs(1),
    };
    let lock = Lock::take(repo, swap, Instant::now())?;
    let found = read(repo, name)?;
    if !swap.old.holds(found) {
        return Ok(Swapped::Mismatch { found });
    }
    fs::remove_file(&lock.target).map_err(Error::write(&lock.target))?;
    Ok(Swapped::Done)
}

/// Removes a loose ref that is empty or garbage, so that its packed value shows again.
pub(super) fn drop_unreadable(repo: &Repo, swap: Swap<'_>) -> Result<(), Error> {
    let lock = Lock::take(repo, swap, Instant::now())?;
    match read_one(repo, swap.name) {
        Err(Error::UnreadableRef { .. }) => {
            fs::remove_file(&lock.target).map_err(Error::write(&lock.target))
        }
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    }
}

/// `<ref>.lock`, as git takes it, holding the new value from its first instant.
struct Lock {
    target: PathBuf,
    path: PathBuf,
    held: bool,
    /// Another name of the lock's file; gone when this is dropped.
    _finished: NamedTempFile,
}

impl Lock {
    fn take(repo: &Repo, swap: Swap<'_>, started: Instant) -> Result<Self, Error> {
        let target = path(repo, swap.name);
        let mut path = target.clone().into_os_string();
        path.push(".lock");
        let path = PathBuf::from(path);
        let mut round = 0;
        loop {
            let finished = finished(repo, swap.new)?;
            match place(repo, &finished, &path, swap.new) {
                Ok(()) => {
                    return Ok(Self {
                        target,
                        path,
                        held: true,
                        _finished: finished,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if break_dead(&path, swap.own, &finished) {
                        continue;
                    }
                }
                // git removes directories of refs that became empty.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                    return Err(refused(
                        swap.name,
                        "another ref is where its directory would be",
                    ));
                }
                Err(error) => return Err(Error::write(path)(error)),
            }
            if started.elapsed() >= swap.wait && round > 0 {
                return Err(Error::RefLocked {
                    name: swap.name.to_owned(),
                    path,
                });
            }
            round += 1;
            pause(round);
        }
    }

    /// Puts the new value in place; `false` when the lock was taken from us meanwhile.
    fn commit(mut self, name: &str) -> Result<bool, Error> {
        self.held = false;
        for _ in 0..3 {
            match fs::rename(&self.path, &self.target) {
                Ok(()) => return Ok(true),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
                    if !remove_empty(&self.target) {
                        self.held = true;
                        return Err(refused(name, "there are refs below it"));
                    }
                }
                Err(error) => {
                    self.held = true;
                    return Err(Error::write(&self.target)(error));
                }
            }
        }
        self.held = true;
        Err(refused(name, "its directory is busy"))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.held {
            // What is left is found dead by the next writer.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn finished(repo: &Repo, id: Oid) -> Result<NamedTempFile, Error> {
    let dir = repo.operator_dir().join("tmp");
    repo.make_dir(&dir)?;
    let mut file = tempfile::Builder::new()
        .prefix("ref.")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666))
        .tempfile_in(&dir)
        .map_err(Error::write(&dir))?;
    file.write_all(format!("{id}\n").as_bytes())
        .map_err(Error::write(&dir))?;
    repo.share(file.path())?;
    Ok(file)
}

fn place(repo: &Repo, finished: &NamedTempFile, lock: &Path, id: Oid) -> io::Result<()> {
    if let Some(dir) = lock.parent() {
        repo.make_dir_io(dir)?;
    }
    match fs::hard_link(finished.path(), lock) {
        Err(error) if has_no_links(&error) => {
            let mut file = fs::File::create_new(lock)?;
            file.write_all(format!("{id}\n").as_bytes())
        }
        other => other,
    }
}

fn has_no_links(error: &io::Error) -> bool {
    use nix::errno::Errno;
    let known = [
        Errno::EPERM,
        Errno::EOPNOTSUPP,
        Errno::ENOSYS,
        Errno::EXDEV,
        Errno::EMLINK,
    ];
    error
        .raw_os_error()
        .is_some_and(|code| known.contains(&Errno::from_raw(code)))
}

/// Removes a lock whose holder is dead: one that holds an id of ours, or is older than [`STALE`].
fn break_dead(lock: &Path, own: &[Oid], now: &NamedTempFile) -> bool {
    let (Ok(meta), Ok(bytes)) = (fs::metadata(lock), fs::read(lock)) else {
        return false;
    };
    let is_own = super::oid_of("", &bytes).is_ok_and(|id| own.contains(&id));
    let age = now.as_file().metadata().and_then(|now| now.modified());
    let age = age.and_then(|now| {
        let since = now.duration_since(meta.modified()?);
        Ok(since.unwrap_or_default())
    });
    if !is_own && age.is_ok_and(|age| age < STALE) {
        return false;
    }
    // Moved aside first: between the look and the removal the lock may have become a live one's.
    let aside = lock.with_extension(format!("{}.lock", std::process::id()));
    if fs::rename(lock, &aside).is_err() {
        return false;
    }
    let same = fs::metadata(&aside).is_ok_and(|moved| moved.ino() == meta.ino());
    if !same {
        let _ = fs::hard_link(&aside, lock);
    }
    let _ = fs::remove_file(&aside);
    same
}

/// Removes a directory that holds nothing but empty directories.
fn remove_empty(dir: &Path) -> bool {
    let Ok(entries) = fs::read_dir(dir) else {
        return false;
    };
    for entry in entries.flatten() {
        if !entry.path().is_dir() || !remove_empty(&entry.path()) {
            return false;
        }
    }
    fs::remove_dir(dir).is_ok()
}

/// Waits a little longer each round, no two processes alike.
fn pause(round: u32) {
    let jitter = u64::from(std::process::id() % 7);
    thread::sleep(Duration::from_millis(u64::from(round.min(8)) * 4 + jitter));
}

fn refused(name: &str, reason: &str) -> Error {
    Error::UpdateRef {
        name: name.to_owned(),
        reason: reason.to_owned(),
    }
}
