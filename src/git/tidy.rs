//! What git and we leave behind in the object store: loose objects that belong in a pack, and temporary
//! files of processes that died.

use std::{
    fs, io,
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::{Error, Repo, repo::Children};

/// gix and we finish a file in seconds.
const OURS: Duration = Duration::from_secs(3_600);
/// A fetch that is still running writes to its file all the time.
const GITS: Duration = Duration::from_secs(24 * 3_600);

impl Repo {
    /// Packs the loose objects that `refs` reach and returns how many there were.
    pub fn pack_loose(&self, refs: &[&str]) -> Result<usize, Error> {
        if self.children == Children::Never {
            return Ok(0);
        }
        let mut tips = String::new();
        for name in refs {
            if self.read_ref(name)?.is_some() {
                tips.push_str(name);
                tips.push('\n');
            }
        }
        if tips.is_empty() {
            return Ok(0);
        }
        let list = [
            "rev-list",
            "--objects",
            "--unpacked",
            "--no-object-names",
            "--stdin",
        ];
        let found = self.git(list).read_only().stdin(tips).output()?;
        let objects = found.iter().filter(|byte| **byte == b'\n').count();
        if objects == 0 {
            return Ok(0);
        }
        let packs = self.common_dir().join("objects/pack");
        self.make_dir(&packs)?;
        let pack = packs.join("pack").into_os_string();
        let args = ["pack-objects", "--quiet", "--incremental", "--non-empty"];
        let args = args.into_iter().map(Into::into).chain([pack]);
        self.git(args.collect::<Vec<_>>()).stdin(found).output()?;
        self.git(["prune-packed", "--quiet"]).output()?;
        self.reopen();
        Ok(objects)
    }

    /// Says whether every object that the ref `name` leads to is here.
    pub fn is_connected(&self, name: &str) -> Result<bool, Error> {
        let list = ["rev-list", "--objects", "--quiet", name];
        Ok(self.git(list).read_only().run()?.code == 0)
    }

    /// Removes temporary files in the object store whose writers are dead, as of `now` (ms since 1970);
    /// returns how many there were.
    pub fn remove_leftovers(&self, now: u64) -> Result<usize, Error> {
        let now = UNIX_EPOCH + Duration::from_millis(now);
        let objects = self.common_dir().join("objects");
        let mut removed = sweep(&objects, now)?;
        for dir in names(&objects)? {
            let is_fan = dir.len() == 2 && dir.bytes().all(|c| c.is_ascii_hexdigit());
            if is_fan || dir == "pack" {
                removed += sweep(&objects.join(dir), now)?;
            }
        }
        removed += sweep(&self.operator_dir().join("tmp"), now)?;
        Ok(removed)
    }
}

/// Returns after how long a file of this name is nobody's.
fn patience(name: &str) -> Option<Duration> {
    let ours = [".tmp", "tmp_obj_", "file."];
    if ours.iter().any(|start| name.starts_with(start)) {
        return Some(OURS);
    }
    let gits = ["tmp_pack_", "tmp_idx_", "tmp_rev_"];
    let is_gits = gits.iter().any(|start| name.starts_with(start));
    is_gits.then_some(GITS)
}

fn sweep(dir: &Path, now: SystemTime) -> Result<usize, Error> {
    let mut removed = 0;
    for name in names(dir)? {
        let path = dir.join(&name);
        let Some(patience) = patience(&name) else {
            continue;
        };
        let Ok(meta) = fs::symlink_metadata(&path) else {
            continue;
        };
        let age = meta
            .modified()
            .ok()
            .and_then(|at| now.duration_since(at).ok());
        if !meta.is_file() || age.is_none_or(|age| age < patience) {
            continue;
        }
        match fs::remove_file(&path) {
            Ok(()) => removed += 1,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::write(path)(error)),
        }
    }
    Ok(removed)
}

fn names(dir: &Path) -> Result<Vec<String>, Error> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::read(dir)(error)),
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.collect())
}
