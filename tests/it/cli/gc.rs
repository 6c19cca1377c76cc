use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use crate::support::Repo;

fn verdict(repo: &Repo, task: &str, evidence: &str) {
    for args in [
        vec!["task", task, "--owner", "S1"],
        vec!["verdict", task, "c", evidence, "PASS", "--owner", "S1"],
    ] {
        let output = repo.operator(args).run();
        assert_eq!(output.code, 0, "{}", output.stderr);
    }
}

fn site() -> Repo {
    let repo = Repo::new();
    repo.commit("a");
    repo
}

fn old_file(path: &Path, hours: u64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = fs::File::create(path).unwrap();
    // A file that was just made says what time it is.
    let now = file.metadata().unwrap().modified().unwrap();
    let at = now - Duration::from_secs(hours * 3_600);
    file.set_modified(at).unwrap();
}

fn loose(repo: &Repo) -> String {
    let counted = repo.git(["count-objects", "-v"]);
    counted.lines().next().unwrap().to_owned()
}

#[test]
fn what_the_ledger_wrote_is_packed_and_stays() {
    let repo = site();
    for number in 0..20 {
        verdict(&repo, &format!("t{number}"), &"long ".repeat(3_000));
    }
    // One commit, its tree and its blob are the project's.
    assert_ne!(loose(&repo), "count: 3");
    let log = repo.operator(["log"]).run();
    let output = repo.operator(["gc"]).run();
    assert!(output.stdout.contains("objects packed"), "{output:?}");
    assert!(output.stdout.contains("1 commit pinned"), "{output:?}");
    assert_eq!(loose(&repo), "count: 4", "the pin is loose");
    assert_eq!(repo.operator(["log"]).run(), log);
    repo.git(["fsck", "--strict", "--no-dangling"]);
    repo.operator(["gc"]).stdout("nothing to do\n").check();
    verdict(&repo, "later", "ok");
    assert_eq!(repo.operator(["log", "-n", "1"]).run().code, 0);
}

#[test]
fn a_collection_of_gits_beside_ours_loses_nothing() {
    let repo = site();
    for number in 0..5 {
        verdict(&repo, &format!("t{number}"), "ok");
        repo.operator(["gc"]).run();
        repo.git(["gc", "-q", "--prune=now"]);
    }
    let log = repo.operator(["log", "--kind", "verdict"]).run();
    assert_eq!(log.stdout.lines().count(), 5, "{}", log.stdout);
    repo.git(["fsck", "--strict", "--no-dangling"]);
}

/// Makes every object a file of its own.
fn unpack(repo: &Repo) {
    let dir = repo.path().join(".git/objects/pack");
    for entry in fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "pack") {
            continue;
        }
        let aside = repo.path().join(".git/aside.pack");
        fs::rename(&path, &aside).unwrap();
        fs::remove_file(path.with_extension("idx")).unwrap();
        let child = Command::new("git")
            .args(["unpack-objects", "-q"])
            .current_dir(repo.path())
            .env_clear()
            .envs(repo.env())
            .stdin(fs::File::open(&aside).unwrap())
            .status();
        assert!(child.unwrap().success());
    }
}

/// Takes objects away, as a `git gc --prune=now` does that runs beside their writer.
fn take(repo: &Repo, objects: &[&str]) {
    let ids: Vec<String> = objects
        .iter()
        .map(|object| repo.git(["rev-parse", object]))
        .collect();
    for id in ids {
        let path = format!(".git/objects/{}/{}", &id[..2], &id[2..]);
        fs::remove_file(repo.path().join(path)).unwrap();
    }
}

#[test]
fn notes_and_pins_whose_objects_are_gone_are_made_anew_and_git_collects_again() {
    let notes = "refs/notes/operator";
    let pins = "refs/operator-local/pins";
    let whole: &[&str] = &[notes, "refs/notes/operator^{tree}"];
    for gone in [
        &[notes][..],
        whole,
        &["refs/notes/operator^{tree}"],
        &["refs/notes/operator:first"],
        &["refs/notes/operator^"],
        &[pins],
        &["refs/operator-local/pins^"],
    ] {
        let repo = site();
        for task in ["t1", "t2"] {
            verdict(&repo, task, "ok");
            repo.operator(["gc", "--notes"]).run();
            repo.commit(task);
        }
        verdict(&repo, "t3", "ok");
        repo.git([
            "-c",
            "user.name=Eve",
            "notes",
            "--ref=operator",
            "add",
            "-m",
            "hers",
        ]);
        repo.operator(["gc"]).run();
        let first = repo.git(["rev-parse", "HEAD~2"]);
        unpack(&repo);
        let gone: Vec<String> = gone
            .iter()
            .map(|name| name.replace("first", &first))
            .collect();
        let names: Vec<&str> = gone.iter().map(String::as_str).collect();
        take(&repo, &names);
        let git = repo.try_git(["gc", "-q"]);
        assert!(!git.status.success(), "{gone:?}: the fault is not there");

        let output = repo.operator(["gc", "--notes"]).run();
        assert_eq!(output.code, 0, "{gone:?}: {}", output.stderr);
        repo.git(["gc", "-q", "--prune=now"]);
        repo.git(["fsck", "--strict", "--no-dangling"]);
        let shown = |commit: &str| repo.git(["notes", "--ref=operator", "show", commit]);
        assert!(shown("HEAD~2").ends_with(" PASS exact t1"), "{gone:?}");
        assert!(shown("HEAD~1").ends_with(" PASS exact t2"), "{gone:?}");
        let kept = repo.git(["log", "--format=%P", pins]);
        assert!(kept.contains(&first), "{gone:?}: {kept}");
        repo.operator(["gc", "--notes"])
            .stdout("nothing to do\n")
            .check();
    }
}

#[test]
fn notes_that_were_lost_are_written_anew() {
    let repo = site();
    verdict(&repo, "t1", "ok");
    repo.commit("b");
    verdict(&repo, "t2", "ok");
    let output = repo.operator(["gc", "--notes"]).run();
    assert!(output.stdout.contains("2 notes written"), "{output:?}");
    let shown = |commit: &str| repo.git(["notes", "--ref=operator", "show", commit]);
    assert!(
        shown("HEAD").ends_with(" PASS exact t2"),
        "{}",
        shown("HEAD")
    );
    assert!(shown("HEAD~1").ends_with(" PASS exact t1"));
    let json = repo.operator(["gc", "--notes", "--json"]).run();
    assert!(json.stdout.contains("\"noted\":0"), "{}", json.stdout);
}

/// Notes of people are theirs; a verdict that was taken back is no longer shown.
#[test]
fn a_retracted_verdict_loses_its_line_and_a_note_of_others_stays() {
    let repo = site();
    verdict(&repo, "t1", "ok");
    repo.operator(["gc", "--notes"]).run();
    repo.git(["notes", "--ref=operator", "append", "-m", "mine", "HEAD"]);
    let note = repo.git(["notes", "--ref=operator", "show", "HEAD"]);
    let id = note.split(' ').next().unwrap().to_owned();
    let output = repo
        .operator(["retract", &id[10..], "--why", "wrong", "--owner", "S1"])
        .run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    repo.operator(["gc", "--notes"]).run();
    let note = repo.git(["notes", "--ref=operator", "show", "HEAD"]);
    assert_eq!(note, "mine");
}

#[test]
fn leftovers_of_the_dead_go_and_those_of_the_living_stay() {
    let repo = site();
    let objects = repo.path().join(".git/objects");
    let gone =
        ["ab/tmp_obj_x", ".tmpXYZ", "pack/.tmpABC", "ab/.tmp1"].map(|name| objects.join(name));
    let kept: Vec<PathBuf> = ["pack/tmp_pack_1", "ab/theirs", "pack/x.keep"]
        .map(|name| objects.join(name))
        .into();
    for path in gone.iter().chain(&kept) {
        old_file(path, 2);
    }
    old_file(&objects.join("pack/tmp_pack_2"), 48);
    old_file(&objects.join("cd/tmp_obj_young"), 0);
    repo.operator(["gc"])
        .stdout("5 leftovers removed\n")
        .check();
    assert!(gone.iter().all(|path| !path.exists()));
    assert!(kept.iter().all(|path| path.exists()));
    assert!(objects.join("cd/tmp_obj_young").exists());
}

#[test]
fn without_a_ledger_there_is_nothing_to_do() {
    let repo = site();
    repo.operator(["gc"]).stdout("nothing to do\n").check();
    repo.operator(["gc", "--notes"])
        .stdout("nothing to do\n")
        .check();
    assert_eq!(repo.git(["for-each-ref"]).lines().count(), 1);
}
