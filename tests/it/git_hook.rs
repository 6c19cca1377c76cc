//! What git tells us through its hooks, and what comes of it.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use git_operator::{
    gate::{self, Gate, NewVerdict, Place, Secrets},
    git::{self, Clock, Env, locate},
    model::{
        Body, Class, Criterion, Evidence, Oid, Outcome, Owner, Rewrite, Stamp, TaskId, TreeState,
        Verdict,
    },
    setup::{self, Charter, HookPlace, Mode, Start},
    store::{Reach, Store},
};

use crate::support::Repo;

mod push;

fn store(repo: &Repo) -> Store {
    let env = Env::new(repo.env());
    let location = locate(repo.path(), &env).unwrap().unwrap();
    Store::open(git::Repo::open(&location, &env).unwrap())
}

fn start(repo: &Repo) {
    let store = store(repo);
    let request = Start {
        charter: Charter::Import,
        hooks: HookPlace::File,
        ci: None,
        mode: Mode::Apply,
    };
    setup::start(repo.path(), Some(store.repo()), request).unwrap();
}

fn site() -> Repo {
    let repo = Repo::new();
    repo.commit("a");
    start(&repo);
    repo
}

/// Records PASS for `task` as of HEAD, or of `subject` where that is given.
fn verdict(repo: &Repo, task: &str, subject: Option<Oid>) -> String {
    let store = store(repo);
    let head: Oid = repo.head().parse().unwrap();
    let tree = store.repo().commit(head).unwrap().tree;
    let clean = store.repo().subject_tree(tree).unwrap();
    let env = Env::new(repo.env());
    let location = locate(repo.path(), &env).unwrap().unwrap();
    let gate = Gate {
        store: &store,
        clock: &Clock::new(&env).unwrap(),
        place: &Place::of(&location),
        session: None,
    };
    let owner = Some(Owner::new("S1").unwrap());
    gate::open(&gate, &TaskId::new(task).unwrap(), owner.as_ref()).unwrap();
    let new = NewVerdict {
        task: TaskId::new(task).unwrap(),
        criterion: Criterion::new("c").unwrap(),
        owner,
        verdict: Verdict {
            outcome: Outcome::Pass,
            class: Class::Asserted,
            evidence: Evidence::of(b""),
            stamp: Stamp::Commit {
                id: head.to_hex(),
                tree: match subject {
                    Some(_) => TreeState::Dirty,
                    None => TreeState::Clean,
                },
            },
            head: Some(head),
            subject: Some(subject.unwrap_or(clean)),
            delta: None,
            change: None,
            taints: Vec::new(),
            repo: None,
            run: None,
            definition: None,
            of: None,
            import: None,
        },
        blobs: Vec::new(),
        bytes: b"ok\n".to_vec(),
        secrets: Secrets::Refuse,
    };
    gate::record(&gate, new).unwrap().record.id.to_string()
}

fn rewrites(repo: &Repo) -> Vec<Rewrite> {
    let ledger = store(repo).load().unwrap();
    let found = ledger.iter().filter_map(|record| match &record.body {
        Body::Rewrite(rewrite) => Some(rewrite.clone()),
        _ => None,
    });
    found.collect()
}

fn note(repo: &Repo, commit: &str) -> String {
    let shown = repo.try_git(["notes", "--ref=operator", "show", commit]);
    String::from_utf8(shown.stdout).unwrap()
}

#[test]
fn a_commit_of_what_was_tested_is_noted_by_its_tree() {
    let repo = site();
    let first = repo.head();
    repo.write("b", "b\n");
    repo.git(["add", "b"]);
    let tree: Oid = repo.git(["write-tree"]).parse().unwrap();
    let id = verdict(&repo, "T 1", Some(tree));
    repo.commit_staged("b");
    assert_eq!(note(&repo, "HEAD"), format!("{id} PASS tree T 1\n"));
    assert_eq!(note(&repo, &first), format!("{id} PASS dirty T 1\n"));
}

#[test]
fn of_many_verdicts_on_one_tree_those_that_were_taken_back_are_not_noted() {
    let repo = site();
    let ids: Vec<String> = (0..20)
        .map(|number| verdict(&repo, &format!("t{number}"), None))
        .collect();
    for id in &ids[3..5] {
        let retract = ["retract", &id[10..], "--why", "wrong", "--owner", "S1"];
        assert_eq!(repo.operator(retract).run().code, 0);
    }
    repo.git(["commit", "-q", "--allow-empty", "-m", "the same tree"]);
    let noted = note(&repo, "HEAD");
    for (number, id) in ids.iter().enumerate() {
        let line = format!("{id} PASS tree t{number}\n");
        assert_eq!(
            noted.contains(&line),
            !(3..5).contains(&number),
            "{number}: {noted}"
        );
    }
}

#[test]
fn a_verdict_on_a_clean_commit_is_noted_at_the_next_one() {
    let repo = site();
    let id = verdict(&repo, "t1", None);
    let first = repo.head();
    repo.commit("b");
    assert_eq!(note(&repo, &first), format!("{id} PASS exact t1\n"));
    assert_eq!(note(&repo, "HEAD"), "");
    let tip = repo.git(["rev-parse", "refs/notes/operator"]);
    repo.operator(["git-hook", "post-commit"]).check();
    assert_eq!(repo.git(["rev-parse", "refs/notes/operator"]), tip);
}

#[test]
fn no_note_is_written_where_notes_are_off() {
    let repo = site();
    repo.git(["config", "operator.notes", "false"]);
    verdict(&repo, "t1", None);
    repo.commit("b");
    assert_eq!(repo.git(["for-each-ref", "refs/notes"]), "");
}

#[test]
fn an_amended_message_keeps_the_tree_and_an_amended_file_does_not() {
    let repo = site();
    let id = verdict(&repo, "t1", None);
    let old = repo.head();
    repo.tick();
    repo.git(["commit", "-q", "--amend", "-m", "other words"]);
    let reworded = repo.head();
    assert_eq!(note(&repo, "HEAD"), format!("{id} PASS tree t1\n"));
    repo.write("a", "changed\n");
    repo.git(["commit", "-q", "-a", "--amend", "-m", "changed"]);
    assert_eq!(note(&repo, "HEAD"), "");
    let found = rewrites(&repo);
    let told: Vec<(&str, String, String, bool)> = found
        .iter()
        .map(|rewrite| {
            let pair = &rewrite.pairs[0];
            (
                rewrite.cause.as_str(),
                pair.old.to_hex(),
                pair.new.to_hex(),
                pair.same,
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("amend", old, reworded.clone(), true),
            ("amend", reworded, repo.head(), false)
        ]
    );
}

/// With `notes.rewriteRef` git copies notes before it tells a hook: a test that never ran.
#[test]
fn a_note_that_git_copies_to_another_source_goes_again() {
    let repo = site();
    repo.git(["config", "notes.rewriteRef", "refs/notes/*"]);
    let id = verdict(&repo, "t1", None);
    repo.operator(["gc", "--notes"]).run();
    repo.git(["notes", "--ref=operator", "append", "-m", "mine", "HEAD"]);
    let old = repo.head();
    repo.write("a", "changed\n");
    repo.git(["commit", "-q", "-a", "--amend", "-m", "changed"]);
    assert_eq!(note(&repo, "HEAD"), "mine\n");
    assert_eq!(note(&repo, &old), format!("{id} PASS exact t1\nmine\n"));
    // Where no hook ran, a collection looks at every note.
    repo.git(["notes", "--ref=operator", "copy", "-f", &old, "HEAD"]);
    assert!(note(&repo, "HEAD").contains(&id));
    repo.operator(["gc", "--notes"]).run();
    assert_eq!(note(&repo, "HEAD"), "mine\n");
    assert_eq!(note(&repo, &old), format!("{id} PASS exact t1\nmine\n"));
}

#[test]
fn a_squash_names_every_commit_that_went_into_it() {
    let repo = site();
    verdict(&repo, "t1", None);
    let base = repo.head();
    let parts: Vec<String> = ["b", "c", "d"].map(|name| repo.commit(name)).into();
    repo.git(["config", "sequence.editor", "sed -i -e '2,$s/^pick/fixup/'"]);
    repo.git(["rebase", "-q", "-i", &base]);
    let found = rewrites(&repo);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].cause, "rebase");
    let mut old: Vec<String> = found[0]
        .pairs
        .iter()
        .map(|pair| pair.old.to_hex())
        .collect();
    let mut want = parts.clone();
    old.sort();
    want.sort();
    assert_eq!(old, want);
    assert!(
        found[0]
            .pairs
            .iter()
            .all(|pair| pair.new.to_hex() == repo.head())
    );
    let same: Vec<&str> = found[0]
        .pairs
        .iter()
        .filter(|pair| pair.same)
        .map(|pair| {
            if pair.old.to_hex() == parts[2] {
                "last"
            } else {
                "other"
            }
        })
        .collect();
    assert_eq!(same, ["last"]);
}

/// At a stop of a rebase somebody may record something on the commit that lies there.
#[test]
fn an_amend_within_a_rebase_is_told_where_a_record_was_made_on_the_commit() {
    let repo = site();
    verdict(&repo, "t1", None);
    let base = repo.head();
    repo.commit("b");
    repo.git(["config", "sequence.editor", "sed -i -e 's/^pick/edit/'"]);
    repo.tick();
    repo.git(["rebase", "-q", "-i", &base]);
    repo.git(["commit", "-q", "--amend", "-m", "once"]);
    assert_eq!(rewrites(&repo), []);
    verdict(&repo, "t2", None);
    let old = repo.head();
    repo.git(["commit", "-q", "--amend", "-m", "twice"]);
    let new = repo.head();
    repo.git(["rebase", "--continue"]);
    let pairs: Vec<(String, String)> = rewrites(&repo)[0]
        .pairs
        .iter()
        .map(|pair| (pair.old.to_hex(), pair.new.to_hex()))
        .collect();
    assert_eq!(pairs, [(old, new)]);
}

#[test]
fn a_pair_that_comes_twice_is_recorded_once() {
    let repo = site();
    verdict(&repo, "t1", None);
    let (old, new) = (repo.head(), repo.commit("b"));
    let twice = format!("{old} {new}\n{old} {new}\n");
    for _ in 0..2 {
        repo.operator(["git-hook", "post-rewrite", "rebase"])
            .stdin(&twice)
            .check();
    }
    let found = rewrites(&repo);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].pairs.len(), 1);
}

#[test]
fn a_rewrite_of_a_thousand_commits_fits() {
    let repo = site();
    verdict(&repo, "t1", None);
    let lines: String = (0..1_000)
        .map(|number| format!("{number:040x} {:040x}\n", number + 5_000))
        .collect();
    repo.operator(["git-hook", "post-rewrite", "rebase"])
        .stdin(lines)
        .check();
    let pairs: usize = rewrites(&repo).iter().map(|found| found.pairs.len()).sum();
    assert_eq!(pairs, 1_000);
}

#[test]
fn a_stamped_commit_that_was_rebased_away_outlives_a_collection() {
    let repo = site();
    repo.commit("b");
    let stamped = repo.head();
    verdict(&repo, "t1", None);
    let lost = repo.commit("c");
    repo.git(["reset", "-q", "--hard", "HEAD~2"]);
    repo.commit("d");
    repo.git(["reflog", "expire", "--expire=now", "--all"]);
    repo.git(["gc", "-q", "--prune=now"]);
    assert!(
        repo.try_git(["cat-file", "-e", &stamped]).status.success(),
        "the stamped commit is gone"
    );
    assert!(!repo.try_git(["cat-file", "-e", &lost]).status.success());
    repo.git(["fsck", "--strict", "--no-dangling"]);
    assert_eq!(
        repo.git(["for-each-ref", "refs/heads", "refs/tags"])
            .lines()
            .count(),
        1
    );
}

#[test]
fn pins_hold_each_commit_once_and_what_came_late() {
    let repo = site();
    let clock = Clock::new(&Env::new(repo.env())).unwrap();
    for name in ["b", "c", "d"] {
        verdict(&repo, name, None);
        verdict(&repo, &format!("{name}2"), None);
        repo.commit(name);
    }
    let store = store(&repo);
    assert_eq!(store.pin(&clock, Reach::New).unwrap(), 0);
    assert_eq!(store.pin(&clock, Reach::All).unwrap(), 0);
    let pinned = repo.git([
        "rev-list",
        "--parents",
        "--first-parent",
        "refs/operator-local/pins",
    ]);
    for commit in ["HEAD~1", "HEAD~2", "HEAD~3"] {
        let id = repo.git(["rev-parse", commit]);
        let parents = pinned.lines().map(|line| line.split(' ').skip(1));
        let times = parents.flatten().filter(|parent| *parent == id).count();
        assert_eq!(times, 1, "{commit} in {pinned}");
    }
    repo.git(["update-ref", "-d", "refs/operator-local/pins"]);
    assert_eq!(store.pin(&clock, Reach::All).unwrap(), 3);
}

#[test]
fn pins_and_work_are_not_shown_to_those_who_fetch() {
    let repo = site();
    verdict(&repo, "t1", None);
    repo.commit("b");
    let shown = repo.git(["ls-remote", repo.path().to_str().unwrap()]);
    assert!(shown.contains("refs/operator/ledger"), "{shown}");
    assert!(!shown.contains("operator-local"), "{shown}");
}

#[test]
fn a_hook_below_a_git_of_ours_does_nothing() {
    let repo = site();
    verdict(&repo, "t1", None);
    let (old, new) = (repo.head(), "1".repeat(40));
    repo.operator(["git-hook", "post-rewrite", "amend"])
        .env("GIT_OPERATOR_HOOK", "1")
        .stdin(format!("{old} {new}\n"))
        .check();
    assert_eq!(rewrites(&repo), []);
}

#[test]
fn a_hook_of_a_broken_ledger_says_so_and_exits_0() {
    let repo = site();
    verdict(&repo, "t1", None);
    fs::write(repo.path().join(".git/operator/journal"), "garbage\n").unwrap();
    fs::remove_file(repo.path().join(".git/operator/state")).unwrap();
    repo.git(["update-ref", "-d", "refs/operator/ledger"]);
    let output = repo.operator(["git-hook", "post-merge", "0"]).run();
    assert_eq!((output.code, output.stdout.as_str()), (0, ""));
    assert!(
        output
            .stderr
            .starts_with("warning: git-operator, in post-merge: cannot read the ledger"),
        "{}",
        output.stderr
    );
    repo.operator(["git-hook", "a-hook-of-tomorrow", "x"])
        .check();
    Repo::outside()
        .operator(["git-hook", "post-commit"])
        .check();
}

#[test]
fn a_repository_without_a_ledger_is_left_as_it_is() {
    let repo = Repo::new();
    repo.commit("a");
    for name in [
        "post-commit",
        "post-merge",
        "post-checkout",
        "post-rewrite",
        "pre-push",
    ] {
        repo.operator(["git-hook", name]).check();
    }
    assert!(!repo.path().join(".git/operator").exists());
    assert_eq!(repo.git(["for-each-ref"]).lines().count(), 1);
}

#[test]
fn a_checkout_and_a_merge_move_the_ref_to_what_was_promised() {
    for (name, args) in [
        ("post-merge", &["0"][..]),
        ("post-checkout", &["x", "y", "1"]),
    ] {
        let repo = site();
        verdict(&repo, "t1", None);
        let tip = repo.git(["rev-parse", "refs/operator/ledger"]);
        let older = repo.git(["rev-parse", "refs/operator/ledger~1"]);
        repo.git(["update-ref", "refs/operator/ledger", &older]);
        let output = repo.operator([&["git-hook", name], args].concat()).run();
        assert_eq!(output.code, 0);
        assert_eq!(
            repo.git(["rev-parse", "refs/operator/ledger"]),
            tip,
            "{name}"
        );
    }
}

/// What a branch of somebody else brought is named after the merge, and by no checkout.
#[test]
fn rows_that_a_merge_brought_and_no_record_backs_are_named_once() {
    let repo = site();
    repo.operator(["start", "--hooks", "file"]).run();
    verdict(&repo, "t1", None);
    repo.operator(["render"]).run();
    repo.git(["add", "-f", ".operator"]);
    repo.commit_staged("views");
    repo.branch("x");
    let text = repo.read(".operator/VERDICTS.md");
    repo.write(
        ".operator/VERDICTS.md",
        text + "| t8 | c | e @1234567 | PASS |\n| t9 | c | e @1234567 | PASS |\n",
    );
    repo.git(["commit", "-qam", "theirs"]);
    repo.checkout("main");
    repo.commit("b");
    repo.tick();
    let merged = repo.try_git(["merge", "-q", "-m", "m", "x"]);
    let said = String::from_utf8(merged.stderr).unwrap();
    assert_eq!(
        said,
        "hint: '.operator/VERDICTS.md' has 2 lines that the ledger has otherwise: git operator reconcile\n"
    );
    for branch in ["x", "main"] {
        let output = repo.try_git(["checkout", "-q", branch]);
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{branch}");
    }
    let output = repo.operator(["reconcile"]).run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    repo.operator(["git-hook", "post-merge", "0"]).check();
}

#[test]
fn a_view_left_with_markers_is_named_in_one_line() {
    let repo = site();
    verdict(&repo, "t1", None);
    repo.write(
        ".operator/VERDICTS.md",
        "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\n",
    );
    let hint = "hint: '.operator/VERDICTS.md' has conflict markers: git operator reconcile\n";
    repo.operator(["git-hook", "post-merge", "0"])
        .stderr(hint)
        .check();
    repo.operator(["git-hook", "post-checkout", "a", "b", "1"])
        .stderr(hint)
        .check();
    repo.operator(["git-hook", "post-checkout", "a", "b", "0"])
        .check();
}

/// git hands its hooks an index that it is about to replace (bug 69).
#[test]
fn the_index_of_a_commit_in_a_linked_worktree_is_not_touched() {
    let main = site();
    verdict(&main, "t1", None);
    let repo = main.worktree("w");
    repo.write("b", "b\n");
    repo.git(["add", "b"]);
    repo.write("a", "changed\n");
    repo.tick();
    repo.git(["commit", "-q", "-a", "-m", "all"]);
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    verdict(&repo, "t2", None);
    repo.write("a", "again\n");
    repo.git(["commit", "-q", "-m", "one path", "--", "a"]);
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    assert!(note(&repo, "HEAD~1").ends_with(" PASS exact t2\n"));
}

#[test]
fn an_inherited_repository_is_the_one_that_is_meant() {
    let (here, there) = (site(), site());
    verdict(&there, "t1", None);
    let elsewhere = here.path().to_owned();
    let (old, new) = (there.head(), "1".repeat(40));
    there
        .operator(["git-hook", "post-rewrite", "amend"])
        .env("GIT_DIR", there.path().join(".git"))
        .env("GIT_INDEX_FILE", here.path().join("no-index"))
        .cwd(&elsewhere)
        .stdin(format!("{old} {new}\n"))
        .check();
    assert_eq!(rewrites(&there).len(), 1);
    assert!(!here.path().join("no-index").exists());
}

/// A signer that fails or asks would stop every commit of ours (C56).
#[test]
fn no_object_of_ours_is_signed_and_no_identity_is_needed() {
    let repo = site();
    for (key, value) in [
        ("commit.gpgSign", "true"),
        ("tag.gpgSign", "true"),
        ("gpg.program", "false"),
        ("user.useConfigOnly", "true"),
    ] {
        repo.git(["config", key, value]);
    }
    fs::write(repo.home().join(".gitconfig"), "").unwrap();
    verdict(&repo, "t1", None);
    repo.operator(["git-hook", "post-commit"])
        .env("GIT_AUTHOR_NAME", "a\n<x>")
        .check();
    assert_eq!(
        repo.git(["log", "-1", "--format=%cn %ce", "refs/operator-local/pins"]),
        "git-operator git-operator@localhost"
    );
    assert!(note(&repo, "HEAD").contains(" PASS exact t1"));
    repo.git(["fsck", "--strict", "--no-dangling"]);
}

/// Lists what git runs in a hook directory that holds every shim.
#[test]
fn every_shim_ends_well_where_the_program_is_missing() {
    let repo = Repo::new();
    for name in [
        "post-commit",
        "post-rewrite",
        "post-merge",
        "post-checkout",
        "pre-push",
    ] {
        let path = repo.dir().join(name);
        fs::write(&path, setup::shim(name).unwrap()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let status = Command::new("/bin/sh")
            .arg(&path)
            .env_clear()
            .env("PATH", "/nonexistent")
            .status()
            .unwrap();
        assert!(status.success(), "{name}");
    }
    assert!(Path::new("/bin/sh").exists());
}
