use std::{fs, path::PathBuf};

use super::{Env, Hints, Place, resolve};

/// Makes the skeleton of a repository.
fn repository(path: &std::path::Path) -> PathBuf {
    for dir in ["objects", "refs"] {
        fs::create_dir_all(path.join(".git").join(dir)).unwrap();
    }
    fs::write(path.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    path.canonicalize().unwrap()
}

struct Dirs {
    _dir: tempfile::TempDir,
    outer: PathBuf,
    inner: PathBuf,
    plain: PathBuf,
}

/// `outer` is a repository that holds the repository `inner`; `plain` is in none.
fn dirs() -> Dirs {
    let dir = tempfile::tempdir().unwrap();
    let outer = repository(&dir.path().join("outer"));
    let inner = repository(&outer.join("inner"));
    let plain = dir.path().canonicalize().unwrap().join("plain");
    fs::create_dir(&plain).unwrap();
    Dirs {
        _dir: dir,
        outer,
        inner,
        plain,
    }
}

fn top(
    payload: Option<PathBuf>,
    project: Option<PathBuf>,
    process: Option<PathBuf>,
) -> Option<PathBuf> {
    let hints = Hints {
        payload,
        project,
        process,
    };
    match resolve(&hints, &Env::default()) {
        Place::Found(project) => project.top,
        Place::Nowhere | Place::Gone(_) => None,
        Place::Fault(error) => panic!("{error}"),
    }
}

#[test]
fn the_directory_of_the_payload_wins() {
    let dirs = dirs();
    let found = top(Some(dirs.inner.clone()), Some(dirs.outer.clone()), None);
    assert_eq!(found, Some(dirs.inner));
}

#[test]
fn in_the_git_directory_the_files_beside_it_are_meant() {
    let dirs = dirs();
    for dir in [".git", ".git/refs"] {
        let found = top(Some(dirs.inner.join(dir)), None, None);
        assert_eq!(found.as_ref(), Some(&dirs.inner), "{dir}");
    }
}

#[test]
fn outside_a_project_the_session_is_where_it_began() {
    let dirs = dirs();
    let found = top(Some(dirs.plain.clone()), Some(dirs.outer.clone()), None);
    assert_eq!(found, Some(dirs.outer.clone()));
    let found = top(Some(dirs.plain.clone()), None, Some(dirs.outer.clone()));
    assert_eq!(found, Some(dirs.outer.clone()));
    assert_eq!(top(None, None, Some(dirs.inner.clone())), Some(dirs.inner));
    assert_eq!(top(Some(dirs.plain.clone()), None, Some(dirs.plain)), None);
}

#[test]
fn a_directory_that_is_gone_lay_in_its_nearest_ancestor() {
    let dirs = dirs();
    let gone = dirs.outer.join("a/b");
    assert_eq!(
        top(Some(gone.clone()), None, None),
        Some(dirs.outer.clone())
    );
    let found = top(Some(gone.clone()), Some(dirs.outer.clone()), None);
    assert_eq!(found, Some(dirs.outer.clone()));
    // Only another checkout is known: what lies above the gone one is not its repository.
    assert_eq!(
        top(Some(gone), Some(dirs.inner.clone()), None),
        Some(dirs.inner)
    );
}

#[test]
fn a_project_outside_git_is_found_from_below() {
    let dirs = dirs();
    let below = dirs.plain.join("a");
    fs::create_dir_all(dirs.plain.join(".operator/store.git")).unwrap();
    fs::create_dir(&below).unwrap();
    let hints = Hints {
        payload: Some(below),
        project: None,
        process: None,
    };
    let Place::Found(project) = resolve(&hints, &Env::default()) else {
        panic!("found")
    };
    assert!(project.is_store() && project.is_started());
    assert_eq!(project.top, Some(dirs.plain));
}
