use std::{
    ffi::OsString,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use nix::{errno::Errno, sys::signal, unistd::Pid};

/// How old a marker is that says nothing, before nobody can be about to hold it: a machine that lost
/// power may leave an empty file.
const EMPTY: Duration = Duration::from_secs(10);

/// A file that says who holds the lock beside it; it is there whole or not at all.
#[derive(Debug)]
pub(super) struct Marker {
    path: PathBuf,
}

impl Marker {
    /// Takes the lock at `lock`; `None` while somebody holds it. One whose holder died on this machine
    /// is taken away; of another machine nobody can tell.
    pub(super) fn try_take(lock: &Path) -> io::Result<Option<Self>> {
        let path = beside(lock, ".held");
        if let Some(marker) = Self::make(path.clone())? {
            return Ok(Some(marker));
        }
        if !is_left_over(&path) {
            return Ok(None);
        }
        // One at a time looks again and removes: else the slower would remove the next one's.
        let breaking = beside(lock, ".breaking");
        let Some(_alone) = Self::make(breaking.clone())? else {
            if is_left_over(&breaking) {
                remove(&breaking)?;
            }
            return Ok(None);
        };
        if is_left_over(&path) {
            remove(&path)?;
        }
        Self::make(path)
    }

    fn make(path: PathBuf) -> io::Result<Option<Self>> {
        let dir = path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::Builder::new().prefix(".held-").tempfile_in(dir)?;
        file.write_all(Holder::this().text().as_bytes())?;
        match file.persist_noclobber(&path) {
            Ok(_) => Ok(Some(Self { path })),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(error.error),
        }
    }
}

impl Drop for Marker {
    fn drop(&mut self) {
        // One that stays is taken away by the next process, for this one has ended then.
        let _ = fs::remove_file(&self.path);
    }
}

/// A process, told from every other one of its machine, also from a later one with its number.
#[derive(Debug, PartialEq, Eq)]
struct Holder {
    machine: String,
    process: i32,
    began: String,
}

impl Holder {
    fn this() -> Self {
        let process = Pid::this().as_raw();
        Self {
            machine: machine(),
            process,
            began: began(process),
        }
    }

    fn text(&self) -> String {
        let Self {
            machine,
            process,
            began,
        } = self;
        format!("{machine} {process} {began}\n")
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.strip_suffix('\n')?.split(' ');
        let holder = Self {
            machine: words.next()?.to_owned(),
            process: words.next()?.parse().ok()?,
            began: words.next()?.to_owned(),
        };
        words.next().is_none().then_some(holder)
    }

    fn is_dead(&self) -> bool {
        let gone = || signal::kill(Pid::from_raw(self.process), None) == Err(Errno::ESRCH);
        self.process > 0
            && self.machine == machine()
            && (gone() || began(self.process) != self.began)
    }
}

/// Says whether a marker's holder is known to have ended.
fn is_left_over(path: &Path) -> bool {
    let Ok(text) = fs::read_to_string(path) else {
        return false;
    };
    match Holder::parse(&text) {
        Some(holder) => holder.is_dead(),
        None => fs::metadata(path)
            .and_then(|found| found.modified())
            .is_ok_and(|time| time.elapsed().is_ok_and(|age| age >= EMPTY)),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn beside(lock: &Path, ending: &str) -> PathBuf {
    let mut name = lock.file_name().map(OsString::from).unwrap_or_default();
    name.push(ending);
    lock.with_file_name(name)
}

/// Names this machine: its host name and machine-id(5), which two containers on it do not share.
fn machine() -> String {
    let host = nix::unistd::gethostname().unwrap_or_default();
    let id = fs::read_to_string("/etc/machine-id").unwrap_or_default();
    format!("{}/{}", host.to_string_lossy(), id.trim()).replace(char::is_whitespace, "-")
}

/// Returns the start of the machine and, since then, of a process in clock ticks
/// (proc_sys_kernel(5); proc_pid_stat(5), field 22); nothing where that is not told.
fn began(process: i32) -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let rest = stat.rsplit(") ").next().unwrap_or_default();
    let ticks = rest.split(' ').nth(19).unwrap_or_default();
    format!("{}/{ticks}", boot.trim())
}

#[cfg(test)]
mod tests {
    use std::{fs, process::Command, thread, time::SystemTime};

    use super::{EMPTY, Holder, Marker, beside};

    #[test]
    fn one_holder_at_a_time() {
        const THREADS: usize = 6;
        const EACH: usize = 20;
        let dir = assert_fs::TempDir::new().unwrap();
        let (lock, count) = (dir.path().join("lock"), dir.path().join("count"));
        fs::write(&count, "0").unwrap();
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    let mut done = 0;
                    while done < EACH {
                        let Some(_held) = Marker::try_take(&lock).unwrap() else {
                            thread::yield_now();
                            continue;
                        };
                        let read: usize = fs::read_to_string(&count).unwrap().parse().unwrap();
                        fs::write(&count, (read + 1).to_string()).unwrap();
                        done += 1;
                    }
                });
            }
        });
        assert_eq!(
            fs::read_to_string(&count).unwrap(),
            (THREADS * EACH).to_string()
        );
        let left: Vec<_> = fs::read_dir(dir.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn what_a_dead_process_left_is_taken_away() {
        let dir = assert_fs::TempDir::new().unwrap();
        let lock = dir.path().join("lock");
        let mut child = Command::new("true").spawn().unwrap();
        let dead = Holder {
            process: i32::try_from(child.id()).unwrap(),
            began: "1".to_owned(),
            ..Holder::this()
        };
        child.wait().unwrap();
        for name in [".held", ".breaking"] {
            fs::write(beside(&lock, name), dead.text()).unwrap();
        }
        // The first try takes away what a breaker left.
        assert!(Marker::try_take(&lock).unwrap().is_none());
        assert!(Marker::try_take(&lock).unwrap().is_some());
    }

    #[test]
    fn a_later_process_of_the_same_number_is_another() {
        let dead = Holder {
            began: "1".to_owned(),
            ..Holder::this()
        };
        assert!(dead.is_dead());
        assert!(!Holder::this().is_dead());
    }

    #[test]
    fn what_cannot_be_told_is_held() {
        let dir = assert_fs::TempDir::new().unwrap();
        let lock = dir.path().join("lock");
        let elsewhere = Holder {
            machine: "elsewhere".to_owned(),
            process: i32::MAX,
            began: "1".to_owned(),
        };
        let held = beside(&lock, ".held");
        for text in [elsewhere.text(), String::new(), "a b c d".to_owned()] {
            fs::write(&held, &text).unwrap();
            assert!(Marker::try_take(&lock).unwrap().is_none(), "{text}");
            assert_eq!(fs::read_to_string(&held).unwrap(), text);
        }
        // Nobody is about to write it any more.
        let file = fs::File::options().write(true).open(&held).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + EMPTY).unwrap();
        assert!(Marker::try_take(&lock).unwrap().is_some());
    }
}
