//! The files that hold whole outputs. Names are hashes: nothing from a payload becomes a path. Every
//! directory is opened without following links, and what is wiped is only what was made here.

use std::{
    fs::File,
    io::{Read, Write},
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
};

use nix::{
    errno::Errno,
    fcntl::{OFlag, openat},
    sys::stat::{Mode, fstat, mkdirat},
    unistd::{Pid, Uid, UnlinkatFlags, unlinkat},
};

/// How many spills of one session are kept.
const KEPT: usize = 50;
const SPILLS: &str = ".compress-spill";

/// Where the spills of one call go.
#[derive(Clone, Debug)]
pub struct Place {
    /// The directory that holds `.operator/`, where the project was started.
    pub project: Option<PathBuf>,
    /// The directory for temporary files, used where it was not.
    pub temp: PathBuf,
    /// The working directory of the call.
    pub cwd: PathBuf,
    /// The session.
    pub session: String,
    /// What tells this call from the others of the session.
    pub call: String,
    /// The process of the client that runs the session.
    pub client: Option<u32>,
}

fn hash(parts: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

impl Place {
    fn session_name(&self) -> String {
        hash(&[self.session.as_bytes()])
    }

    fn cwd_name(&self) -> String {
        hash(&[self.cwd.as_os_str().as_encoded_bytes()])
    }

    /// The names below an existing directory that lead to the spills of all sessions.
    fn root(&self) -> (&Path, [String; 2]) {
        match &self.project {
            Some(top) => (top, [".operator".to_owned(), SPILLS.to_owned()]),
            None => {
                let user = format!("cc-operator-{}", Uid::current());
                (&self.temp, [user, self.cwd_name()])
            }
        }
    }

    fn open_root(&self) -> Option<OwnedFd> {
        let (base, [first, second]) = self.root();
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let base = nix::fcntl::open(base, flags, Mode::empty()).ok()?;
        // A project that was not started has no `.operator/`, and gets none here.
        let first = match &self.project {
            Some(_) => open_dir(&base, &first)?,
            None => make_private(&base, &first)?,
        };
        let root = make_private(&first, &second)?;
        ignore_all(&root);
        Some(root)
    }

    fn root_path(&self) -> PathBuf {
        let (base, [first, second]) = self.root();
        base.join(first).join(second)
    }
}

/// Opens a directory that is no link.
fn open_dir(parent: impl AsFd, name: &str) -> Option<OwnedFd> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    openat(parent, name, flags, Mode::empty()).ok()
}

/// Opens a directory of ours, made if it is missing; refuses one that others own or can enter.
fn make_private(parent: impl AsFd, name: &str) -> Option<OwnedFd> {
    match mkdirat(&parent, name, Mode::S_IRWXU) {
        Ok(()) | Err(Errno::EEXIST) => {}
        Err(_) => return None,
    }
    let dir = open_dir(parent, name)?;
    let stat = fstat(&dir).ok()?;
    let private = stat.st_uid == Uid::current().as_raw() && stat.st_mode & 0o077 == 0;
    private.then_some(dir)
}

fn create(dir: impl AsFd, name: &str, flags: OFlag) -> Result<File, Errno> {
    let flags = flags | OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    openat(dir, name, flags, Mode::S_IRUSR | Mode::S_IWUSR).map(File::from)
}

fn read(dir: impl AsFd, name: &str, limit: u64) -> Option<Vec<u8>> {
    let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let file = File::from(openat(dir, name, flags, Mode::empty()).ok()?);
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn ignore_all(root: &OwnedFd) {
    if let Ok(mut file) = create(root, ".gitignore", OFlag::O_EXCL) {
        // Without the file the allow-list one level up ignores the directory just as well.
        let _ = file.write_all(b"*\n");
    }
}

fn open_session(place: &Place) -> Option<OwnedFd> {
    let session = make_private(&place.open_root()?, &place.session_name())?;
    if let Some(client) = place.client
        && let Ok(mut file) = create(&session, "client", OFlag::O_EXCL)
    {
        file.write_all(client.to_string().as_bytes()).ok()?;
    }
    Some(session)
}

/// A whole output, and the name of the file it goes to.
pub(super) struct Spill<'a> {
    place: &'a Place,
    whole: &'a str,
    name: String,
}

impl<'a> Spill<'a> {
    /// Names the file of `whole`; nothing is written yet.
    pub(super) fn of(place: &'a Place, whole: &'a str) -> Self {
        let hash = hash(&[place.call.as_bytes(), whole.as_bytes()]);
        Self {
            place,
            whole,
            name: format!("{hash}.txt"),
        }
    }

    /// Returns the path that `write` gives it; `None` where it cannot stand in a line of text.
    pub(super) fn path(&self) -> Option<String> {
        let path = self
            .place
            .root_path()
            .join(self.place.session_name())
            .join(&self.name);
        let path = path.into_os_string().into_string().ok()?;
        (!path.contains(char::is_control)).then_some(path)
    }

    /// Writes the whole byte for byte for its owner alone; says whether it lies there now.
    pub(super) fn write(&self) -> bool {
        let Some(session) = open_session(self.place) else {
            return false;
        };
        let (name, whole) = (self.name.as_str(), self.whole.as_bytes());
        match create(&session, name, OFlag::O_EXCL) {
            Ok(mut file) => {
                let written = file.write_all(whole).is_ok();
                if !written {
                    let _ = unlinkat(&session, name, UnlinkatFlags::NoRemoveDir);
                }
                prune(self.place, &session);
                written
            }
            Err(Errno::EEXIST) => {
                read(&session, name, whole.len() as u64 + 1).is_some_and(|old| old == whole)
            }
            Err(_) => false,
        }
    }
}

/// Removes all but the newest spills of the session.
fn prune(place: &Place, session: &OwnedFd) {
    let dir = place.root_path().join(place.session_name());
    let Ok(entries) = std::fs::read_dir(dir) else {
        return;
    };
    let mut spills: Vec<_> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.file_name())))
        .filter(|(_, name)| is_ours(&name.to_string_lossy(), ".txt"))
        .collect();
    spills.sort();
    let surplus = spills.len().saturating_sub(KEPT);
    for (_, name) in &spills[..surplus] {
        let _ = unlinkat(session, name.as_os_str(), UnlinkatFlags::NoRemoveDir);
    }
}

fn is_ours(name: &str, end: &str) -> bool {
    name.strip_suffix(end)
        .is_some_and(|stem| stem.len() == 16 && stem.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// How much is kept of the name of the last call.
const CALL: usize = 512;

fn last_name(kind: &str) -> String {
    format!("{}.last", hash(&[kind.as_bytes()]))
}

/// Returns the call that printed `whole` before, where it is the last one of `kind`; keeps `call` and
/// its output as the last.
pub(super) fn repeated(place: &Place, kind: &str, whole: &str, call: &str) -> Option<String> {
    let session = open_session(place)?;
    let name = last_name(kind);
    let digest = blake3::hash(whole.as_bytes()).to_hex();
    let last = read(&session, &name, CALL as u64).unwrap_or_default();
    if let Some(before) = last.strip_prefix(digest.as_bytes()) {
        return Some(String::from_utf8_lossy(before).trim().to_owned());
    }
    if let Ok(mut file) = create(&session, &name, OFlag::O_TRUNC) {
        // A digest cut short equals none, so a failed write only costs a repetition.
        let _ = file.write_all(format!("{digest}\n{call}").as_bytes());
    }
    None
}

/// Forgets the last output of `kind`; makes nothing.
pub(super) fn forget(place: &Place, kind: &str) {
    let session = place.root_path().join(place.session_name());
    if session.symlink_metadata().is_err() {
        return;
    }
    let session = place
        .open_root()
        .and_then(|root| open_dir(&root, &place.session_name()));
    if let Some(session) = session {
        let _ = unlinkat(
            &session,
            last_name(kind).as_str(),
            UnlinkatFlags::NoRemoveDir,
        );
    }
}

/// Removes the spills of every session whose client is gone or is the one of `place`.
///
/// Called when a session starts: what it said before is no longer in its context.
pub fn wipe(place: &Place) {
    let root_path = place.root_path();
    if root_path.symlink_metadata().is_err() {
        return;
    }
    let Some(root) = place.open_root() else {
        return;
    };
    let Ok(entries) = std::fs::read_dir(&root_path) else {
        return;
    };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !is_ours(&name, "") {
            continue;
        }
        let Some(session) = open_dir(&root, &name) else {
            continue;
        };
        if !is_in_use(&session, place.client) {
            empty(&session, &entry.path());
            let _ = unlinkat(&root, name.as_str(), UnlinkatFlags::RemoveDir);
        }
    }
}

fn is_in_use(session: &OwnedFd, client: Option<u32>) -> bool {
    let Some(owner) = read(session, "client", 16)
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .and_then(|text| text.parse::<u32>().ok())
    else {
        return false;
    };
    let Ok(pid) = i32::try_from(owner) else {
        return false;
    };
    Some(owner) != client
        && !matches!(
            nix::sys::signal::kill(Pid::from_raw(pid), None),
            Err(Errno::ESRCH)
        )
}

fn empty(session: &OwnedFd, path: &Path) {
    let Ok(entries) = std::fs::read_dir(path) else {
        return;
    };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let text = name.to_string_lossy();
        if text == "client" || is_ours(&text, ".txt") || is_ours(&text, ".last") {
            let _ = unlinkat(session, name.as_os_str(), UnlinkatFlags::NoRemoveDir);
        }
    }
}
