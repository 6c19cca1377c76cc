use std::{fs, os::unix::fs::PermissionsExt, path::Path, time::Duration};

use git_operator::git::{Expected, ObjectKind, Swap, Verify};

use super::open;
use crate::support::Repo;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn what_we_make_in_a_shared_repository_others_can_use() {
    let repo = Repo::new();
    repo.git(["init", "-q", "--shared=group"]);
    let git = open(&repo);
    let id = git
        .write_object(ObjectKind::Blob, b"x", Verify::No)
        .unwrap();
    git.swap_ref(Swap {
        name: "refs/operator/ledger",
        old: Expected::Absent,
        new: id,
        own: &[],
        wait: Duration::ZERO,
    })
    .unwrap();
    let kept = git.write_pack(&[(ObjectKind::Blob, b"y")]).unwrap();
    git.release_keep(kept).unwrap();
    let loose = git.loose_path(id);
    assert_eq!(mode(&loose) & 0o440, 0o440);
    for dir in [
        loose.parent().unwrap(),
        &git.operator_dir(),
        &git.common_dir().join("refs/operator"),
    ] {
        assert_eq!(mode(dir) & 0o2070, 0o2070, "{}", dir.display());
    }
    let ledger = git.common_dir().join("refs/operator/ledger");
    assert_eq!(mode(&ledger) & 0o660, 0o660);
    for entry in fs::read_dir(git.common_dir().join("objects/pack")).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()) & 0o040, 0o040);
    }
}

#[test]
fn a_private_repository_keeps_the_modes_the_process_gives() {
    let repo = Repo::new();
    let git = open(&repo);
    let id = git
        .write_object(ObjectKind::Blob, b"x", Verify::No)
        .unwrap();
    repo.write("other", "");
    let plain = mode(&repo.path().join("other")) & !0o222;
    assert_eq!(mode(&git.loose_path(id)), plain);
}
