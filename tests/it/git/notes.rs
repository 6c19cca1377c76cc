use std::collections::BTreeMap;

use git_operator::{
    git::{self, Identity, NewCommit, ObjectKind, Swapped},
    model::Oid,
};

use super::{formats, oid, open};
use crate::support::Repo;

const NOTES: &str = "refs/notes/operator";

type Edits = BTreeMap<Oid, Option<Vec<u8>>>;

fn write(git: &git::Repo, edits: &Edits) -> Swapped {
    let own = Identity::own();
    let commit = NewCommit {
        author: &own,
        committer: &own,
        time: 1_767_225_600,
        message: b"Notes added\n",
    };
    let notes = git.notes(NOTES).unwrap();
    git.write_notes(&notes, edits, &commit).unwrap()
}

fn set(objects: &[Oid], text: &str) -> Edits {
    let text = || Some(text.as_bytes().to_vec());
    objects.iter().map(|id| (*id, text())).collect()
}

/// Ids of no objects, spread as hashes are.
fn ids(git: &git::Repo, count: usize) -> Vec<Oid> {
    (0..count)
        .map(|n| git.hash(ObjectKind::Blob, format!("{n}").as_bytes()))
        .collect()
}

#[test]
fn git_shows_the_notes_we_write() {
    for repo in formats() {
        let one = oid(&repo.commit("a"));
        let two = oid(&repo.commit("b"));
        let git = open(&repo);
        assert_eq!(write(&git, &set(&[one, two], "PASS\n")), Swapped::Done);
        assert_eq!(
            repo.git(["notes", "--ref=operator", "show", "HEAD"]),
            "PASS"
        );
        let tip = repo.git(["rev-parse", NOTES]);
        assert_eq!(write(&git, &set(&[one], "PASS\n")), Swapped::Done);
        assert_eq!(repo.git(["rev-parse", NOTES]), tip, "no change, no commit");
        let removed: Edits = [(one, None)].into();
        assert_eq!(write(&git, &removed), Swapped::Done);
        let list = repo.git(["notes", "--ref=operator", "list"]);
        assert!(
            list.ends_with(&two.to_hex()) && list.lines().count() == 1,
            "{list}"
        );
        assert_eq!(
            git.notes(NOTES).unwrap().tip().map(|tip| tip.to_hex()),
            Some(repo.git(["rev-parse", NOTES]))
        );
    }
}

/// Two ids for each first digit, and among those with `ab` so many that they need another level.
fn crowded() -> Vec<Oid> {
    let mut ids = Vec::new();
    for digit in 0..16 {
        for n in 0..2 {
            ids.push(oid(&format!("{digit:x}{n}{}", "0".repeat(38))));
            ids.push(oid(&format!("ab{digit:x}{n}{}", "0".repeat(36))));
        }
    }
    ids
}

#[test]
fn many_notes_lie_where_git_would_put_them() {
    let mut sets: Vec<Vec<Oid>> = Vec::new();
    for count in [1, 40, 120, 300, 1_500] {
        sets.push(ids(&open(&Repo::new()), count));
    }
    sets.push(crowded());
    for ids in sets {
        let count = ids.len();
        let repo = Repo::new();
        let git = open(&repo);
        let blob = git
            .write_object(ObjectKind::Blob, b"x\n", git::Verify::No)
            .unwrap();
        let lines: String = ids
            .iter()
            .map(|id| format!("100644 blob {blob}\t{id}\n"))
            .collect();
        let flat = git.git(["mktree"]).stdin(lines).output().unwrap();
        let flat = String::from_utf8(flat).unwrap();
        let tip = repo.git(["commit-tree", "-m", "flat", flat.trim_end()]);
        repo.git(["update-ref", "refs/notes/theirs", &tip]);
        let extra = oid(&repo.commit("a"));
        // git reads the flat tree whole and writes it back in its own fan-out.
        repo.git(["notes", "--ref=theirs", "add", "-m", "x", "HEAD"]);
        let all: Vec<Oid> = ids.into_iter().chain([extra]).collect();
        write(&git, &set(&all, "x\n"));
        let tree = |of: &str| repo.git(["rev-parse", &format!("{of}^{{tree}}")]);
        assert_eq!(tree(NOTES), tree("refs/notes/theirs"), "{count}");
        let read = git.notes("refs/notes/theirs").unwrap();
        assert_eq!(read.objects().count(), count + 1);
        assert_eq!(
            git.note(&read, extra).unwrap().as_deref(),
            Some(&b"x\n"[..])
        );
    }
}

#[test]
fn every_fan_out_is_read_and_a_mixed_one_mended() {
    let repo = Repo::new();
    let commit = oid(&repo.commit("a"));
    let git = open(&repo);
    let hex = commit.to_hex();
    let paths = [
        hex.clone(),
        format!("{}/{}", &hex[..2], &hex[2..]),
        format!("{}/{}/{}", &hex[..2], &hex[2..4], &hex[4..]),
    ];
    let index = repo.dir().join("index");
    let add = |path: &str, text: &str| {
        let blob = git
            .write_object(ObjectKind::Blob, text.as_bytes(), git::Verify::No)
            .unwrap();
        let entry = format!("100644,{blob},{path}");
        git.git(["update-index", "--add", "--cacheinfo", &entry])
            .env("GIT_INDEX_FILE", &index)
            .output()
            .unwrap();
    };
    for (n, path) in paths.iter().enumerate() {
        let _ = std::fs::remove_file(&index);
        add(path, &format!("note {n}\n"));
        let tree = git
            .git(["write-tree"])
            .env("GIT_INDEX_FILE", &index)
            .output()
            .unwrap();
        let tree = String::from_utf8(tree).unwrap();
        let tip = repo.git(["commit-tree", "-m", "x", tree.trim_end()]);
        repo.git(["update-ref", NOTES, &tip]);
        let notes = git.notes(NOTES).unwrap();
        let text = git.note(&notes, commit).unwrap().unwrap();
        assert_eq!(text, format!("note {n}\n").as_bytes());
        assert_eq!(git.note(&notes, git.empty_tree()).unwrap(), None);
    }
    add(&paths[0], "flat\n");
    add("other/file", "kept\n");
    let tree = git
        .git(["write-tree"])
        .env("GIT_INDEX_FILE", &index)
        .output()
        .unwrap();
    let tree = String::from_utf8(tree).unwrap();
    let tip = repo.git(["commit-tree", "-m", "x", tree.trim_end()]);
    repo.git(["update-ref", NOTES, &tip]);
    let other = git.empty_tree();
    write(&git, &set(&[other], "new\n"));
    let names = repo.git(["ls-tree", "-r", "--name-only", NOTES]);
    let mut expected = vec![hex.clone(), other.to_hex(), "other/file".to_owned()];
    expected.sort();
    assert_eq!(names.lines().collect::<Vec<_>>(), expected);
    let text = git
        .note(&git.notes(NOTES).unwrap(), commit)
        .unwrap()
        .unwrap();
    assert_eq!(text, b"note 2\nflat\n");
}

#[test]
fn notes_that_moved_meanwhile_are_not_overwritten() {
    let repo = Repo::new();
    let commit = oid(&repo.commit("a"));
    let git = open(&repo);
    let stale = git.notes(NOTES).unwrap();
    write(&git, &set(&[commit], "first\n"));
    let own = Identity::own();
    let by = NewCommit {
        author: &own,
        committer: &own,
        time: 0,
        message: b"",
    };
    let result = git
        .write_notes(&stale, &set(&[commit], "second\n"), &by)
        .unwrap();
    assert!(matches!(result, Swapped::Mismatch { found: Some(_) }));
    let text = git
        .note(&git.notes(NOTES).unwrap(), commit)
        .unwrap()
        .unwrap();
    assert_eq!(text, b"first\n");
}
