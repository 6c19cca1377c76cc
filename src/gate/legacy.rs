//! Tasks of the predecessor: `.operator/pending/`, read and honored, never written by us.

use std::{fs, io::Read as _, path::Path};

use crate::model::{Owner, TaskId};

const BODY_LIMIT: u64 = 4_096;
const ENTRIES_LIMIT: usize = 10_000;

/// One entry of `.operator/pending/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    /// The file's name, lossy where it is not UTF-8.
    pub(super) name: String,
    pub(super) task: Task,
}

/// What an entry stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// An open task, and its owner if the entry names one that could be real.
    Open { task: TaskId, owner: Option<Owner> },
    /// A name no tool accepts, a link or another thing that is no file: it blocks everybody.
    Malformed,
}

/// Returns the entries of `pending/` under `top`, sorted by name; dot files are not entries.
pub(super) fn pending(top: &Path) -> Vec<Pending> {
    let dir = top.join(".operator/pending");
    let real = [top.join(".operator"), dir.clone()]
        .iter()
        .all(|path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir()));
    let Ok(entries) = fs::read_dir(&dir) else {
        return Vec::new();
    };
    if !real {
        return Vec::new();
    }
    let mut found: Vec<Pending> = entries
        .take(ENTRIES_LIMIT)
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().to_string_lossy().into_owned();
            (!name.starts_with('.')).then(|| Pending {
                task: read(&entry.path(), &name),
                name,
            })
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn read(path: &Path, name: &str) -> Task {
    let regular = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
    if !regular {
        return Task::Malformed;
    }
    let (owner, task) = match name.split_once("__") {
        None => (body_owner(path), name),
        Some((_, rest)) if rest.contains("__") => return Task::Malformed,
        Some((owner, task)) => (Owner::new(owner).ok(), task),
    };
    match TaskId::new(task) {
        Ok(task) => Task::Open { task, owner },
        Err(_) => Task::Malformed,
    }
}

/// Returns the owner that an old entry's body names; anything cut, binary or odd is no owner, and an
/// unowned task blocks everybody.
fn body_owner(path: &Path) -> Option<Owner> {
    let mut body = String::new();
    let file = fs::File::open(path).ok()?;
    if file.metadata().ok()?.len() > BODY_LIMIT {
        return None;
    }
    file.take(BODY_LIMIT).read_to_string(&mut body).ok()?;
    if body.contains('\0') {
        return None;
    }
    let owner = body
        .lines()
        .take(20)
        .find_map(|line| line.strip_prefix("session_id: "))?;
    Owner::new(owner).ok()
}

#[cfg(test)]
mod tests {
    use assert_fs::{TempDir, prelude::*};

    use super::{Pending, Task, pending};
    use crate::model::{Owner, TaskId};

    fn open(name: &str, task: &str, owner: Option<&str>) -> Pending {
        let task = Task::Open {
            task: TaskId::new(task).unwrap(),
            owner: owner.map(|owner| Owner::new(owner).unwrap()),
        };
        Pending {
            name: name.to_owned(),
            task,
        }
    }

    #[test]
    fn owners_come_from_the_name_or_the_body() {
        let dir = TempDir::new().unwrap();
        let file = |name: &str, body: &str| {
            dir.child(".operator/pending")
                .child(name)
                .write_str(body)
                .unwrap();
        };
        file("t1", "session_id: S1\ncwd: /x\n");
        file("S2__t2", "forensics\n");
        file("t3", "session_id: S\r\n");
        file("t4", "session_id: ../../x\n");
        file("t5", "");
        file("t6", &format!("{}session_id: S1\n", "x".repeat(5000)));
        file("release candidate", "");
        file(".hidden", "session_id: S1\n");
        assert_eq!(
            pending(dir.path()),
            [
                open("S2__t2", "t2", Some("S2")),
                open("release candidate", "release candidate", None),
                open("t1", "t1", Some("S1")),
                open("t3", "t3", Some("S")),
                open("t4", "t4", None),
                open("t5", "t5", None),
                open("t6", "t6", None),
            ]
        );
    }

    #[test]
    fn what_no_tool_could_have_written_blocks() {
        let dir = TempDir::new().unwrap();
        let at = dir.child(".operator/pending");
        at.child("A__B__C").write_str("").unwrap();
        at.child("S__").write_str("").unwrap();
        at.child("dir").create_dir_all().unwrap();
        std::os::unix::fs::symlink("/nowhere", at.child("link").path()).unwrap();
        let found = pending(dir.path());
        assert_eq!(found.len(), 4);
        assert!(
            found.iter().all(|entry| entry.task == Task::Malformed),
            "{found:?}"
        );
    }

    #[test]
    fn a_linked_directory_holds_no_tasks() {
        let dir = TempDir::new().unwrap();
        let other = TempDir::new().unwrap();
        other.child("t1").write_str("").unwrap();
        dir.child(".operator").create_dir_all().unwrap();
        std::os::unix::fs::symlink(other.path(), dir.child(".operator/pending").path()).unwrap();
        assert_eq!(pending(dir.path()), []);
        assert_eq!(pending(other.path()), []);
    }
}
