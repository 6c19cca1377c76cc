//! `git operator merge-driver`, called by hand and by git.

use std::{fs, os::unix::fs::PermissionsExt as _};

use crate::support::Repo;

const HDR: &str =
    "# Engagement Verdicts\n\n| Gate | Criterion | Evidence | PASS/FAIL |\n|---|---|---|---|\n";

fn row(task: &str) -> String {
    format!("| {task} | c | e @1234567 | PASS |\n")
}

fn view(tasks: &[&str]) -> String {
    let rows: String = tasks.iter().map(|task| row(task)).collect();
    format!("{HDR}{rows}")
}

/// A repository whose views are merged by the driver, or by whatever stands in for it.
fn registered(driver: &str) -> Repo {
    let repo = Repo::new();
    repo.git(["config", "merge.git-operator.driver", driver]);
    repo.write(".git/info/attributes", "VERDICTS.md merge=git-operator\n");
    repo.write("VERDICTS.md", view(&["a"]));
    repo.git(["add", "VERDICTS.md"]);
    repo.commit_staged("base");
    repo
}

const DRIVER: &str = "if command -v git-operator >/dev/null 2>&1; then git-operator merge-driver %O %A %B %L %P; else git merge-file --union -q %A %O %B; fi";

fn append(repo: &Repo, text: &str) {
    let old = repo.read("VERDICTS.md");
    repo.write("VERDICTS.md", old + text);
    repo.git(["add", "VERDICTS.md"]);
    repo.commit_staged("append");
}

#[test]
fn a_merge_in_git_holds_the_rows_of_both_branches() {
    let repo = registered(DRIVER);
    repo.branch("x");
    append(&repo, &row("q"));
    repo.checkout("main");
    append(&repo, &row("p"));
    repo.merge("x");
    assert_eq!(repo.read("VERDICTS.md"), view(&["a", "p", "q"]));
    assert_eq!(repo.git(["status", "--porcelain"]), "");
}

#[test]
fn a_missing_binary_still_leaves_the_rows_of_both() {
    let driver = DRIVER.replace("git-operator", "no-such-program");
    let repo = registered(&driver);
    repo.branch("x");
    append(&repo, &row("q"));
    repo.checkout("main");
    append(&repo, &row("p"));
    repo.merge("x");
    assert_eq!(repo.read("VERDICTS.md"), view(&["a", "p", "q"]));
}

#[test]
fn a_rebase_of_sixteen_commits_settles() {
    let repo = registered(DRIVER);
    repo.branch("x");
    let tasks: Vec<String> = (10..26).map(|at| format!("t{at}")).collect();
    for task in &tasks {
        append(&repo, &row(task));
    }
    repo.checkout("main");
    append(&repo, &row("p"));
    repo.checkout("x");
    repo.tick();
    repo.git(["rebase", "-q", "main"]);
    let mut want = vec!["a", "p"];
    want.extend(tasks.iter().map(String::as_str));
    assert_eq!(repo.read("VERDICTS.md"), view(&want));
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    assert_eq!(repo.git(["rev-list", "--count", "main..x"]), "16");
}

#[test]
fn a_conflict_of_text_is_a_conflict_in_git() {
    let repo = registered(DRIVER);
    append(&repo, "\n## BAR\n- one\n");
    let base = repo.read("VERDICTS.md");
    for (branch, word) in [("x", "eins"), ("main", "uno")] {
        if branch == "x" {
            repo.branch("x");
        } else {
            repo.checkout("main");
        }
        repo.write("VERDICTS.md", base.replace("one", word) + &row(branch));
        repo.git(["commit", "-qam", branch]);
    }
    assert!(!repo.try_git(["merge", "-q", "x"]).status.success());
    assert_eq!(
        repo.git(["diff", "--name-only", "--diff-filter=U"]),
        "VERDICTS.md"
    );
    let text = repo.read("VERDICTS.md");
    assert!(
        text.contains("- eins\n=======\n") && text.ends_with(&(row("main") + &row("x"))),
        "{text}"
    );
}

#[test]
fn four_arguments_name_no_marker_length_and_five_do() {
    let repo = Repo::outside();
    let base = format!("{HDR}- one\n");
    repo.write("O", &base);
    repo.write("B", base.replace("one", "two"));
    for (args, marker) in [
        (vec!["my dir/V.md"], 7),
        (vec!["9", "V.md"], 9),
        (vec!["x", "V.md"], 7),
    ] {
        repo.write("A", base.replace("one", "three"));
        let name = args.last().unwrap();
        let mut all = vec!["merge-driver", "O", "A", "B"];
        all.extend(&args);
        repo.operator(all)
            .stderr(format!(
                "error: cannot merge '{name}': both sides changed the same text; edit it\n"
            ))
            .exit(1)
            .check();
        let run = "<".repeat(marker);
        assert!(
            repo.read("A")
                .contains(&format!("\n{run} one side\n- three\n"))
        );
    }
}

#[test]
fn no_repository_is_needed_and_none_is_looked_at() {
    let repo = Repo::outside();
    for (name, tasks) in [("O", &["a"][..]), ("A", &["a", "p"]), ("B", &["a", "q"])] {
        repo.write(name, view(tasks));
    }
    repo.operator(["merge-driver", "O", "A", "B", "7", "VERDICTS.md"])
        .env("GIT_DIR", "/nonexistent")
        .check();
    assert_eq!(repo.read("A"), view(&["a", "p", "q"]));
}

#[test]
fn an_empty_base_is_two_new_files() {
    let repo = Repo::outside();
    repo.write("O", "");
    repo.write("A", view(&["a"]));
    repo.write("B", view(&["b"]));
    repo.operator(["merge-driver", "O", "A", "B", "V.md"])
        .check();
    assert_eq!(repo.read("A"), view(&["a", "b"]));
}

#[test]
fn what_cannot_be_read_or_is_no_view_loses_neither_side() {
    let repo = Repo::outside();
    repo.write("O", "not a ledger\0");
    repo.write("A", "not a ledger\0");
    repo.write("B", view(&["b"]));
    let run = |args: [&str; 5]| {
        let output = repo.operator(args).run();
        (
            output.code,
            String::from_utf8_lossy(&fs::read(repo.path().join("A")).unwrap()).into_owned(),
        )
    };
    repo.operator(["merge-driver", "O", "A", "B", "V.md"])
        .stderr(
            "error: cannot merge 'V.md': it holds a NUL byte and is no text; both versions stand in it\n",
        )
        .exit(1)
        .check();
    repo.write("A", "not a ledger\0");
    let (code, text) = run(["merge-driver", "O", "A", "B", "V.md"]);
    assert_eq!(code, 1);
    assert!(
        text.contains("not a ledger\0\n=======\n# Eng") || text.contains("|\n=======\nnot a"),
        "{text}"
    );
    repo.write("A", view(&["a"]));
    let (code, text) = run(["merge-driver", "O", "A", "none", "V.md"]);
    assert_eq!((code, text), (1, view(&["a"])));
    let (code, text) = run(["merge-driver", "none", "A", "B", "V.md"]);
    assert_eq!((code, text), (1, view(&["a", "b"])));
    fs::remove_file(repo.path().join("A")).unwrap();
    let (code, text) = run(["merge-driver", "O", "A", "B", "V.md"]);
    assert_eq!((code, text), (1, view(&["b"])));
}

#[test]
fn wrong_usage_and_a_directory_that_cannot_be_written_exit_1() {
    let repo = Repo::outside();
    for args in [
        vec!["merge-driver"],
        vec!["merge-driver", "O", "A"],
        vec!["merge-driver", "--x"],
    ] {
        assert_eq!(repo.operator(args).run().code, 1);
    }
    for (name, tasks) in [("O", &["a"][..]), ("A", &["a", "p"]), ("B", &["a", "q"])] {
        repo.write(name, view(tasks));
    }
    fs::set_permissions(repo.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let output = repo.operator(["merge-driver", "O", "A", "B", "V.md"]).run();
    fs::set_permissions(repo.path(), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(output.code <= 1, "{}", output.stderr);
    assert_eq!(repo.read("A"), view(&["a", "p", "q"]));
}

#[test]
fn a_cherry_pick_and_a_stash_hold_the_rows_of_both() {
    let repo = registered(DRIVER);
    repo.branch("x");
    append(&repo, &row("q"));
    let picked = repo.head();
    repo.checkout("main");
    append(&repo, &row("p"));
    repo.tick();
    repo.git(["cherry-pick", &picked]);
    assert_eq!(repo.read("VERDICTS.md"), view(&["a", "p", "q"]));
    let stashed = repo.read("VERDICTS.md") + &row("s");
    repo.write("VERDICTS.md", stashed);
    repo.git(["stash", "-q"]);
    append(&repo, &row("r"));
    repo.git(["stash", "pop", "-q"]);
    assert_eq!(repo.read("VERDICTS.md"), view(&["a", "p", "q", "r", "s"]));
}

#[test]
fn a_merge_without_a_working_tree_holds_the_rows_of_both() {
    let repo = registered(DRIVER);
    repo.branch("x");
    append(&repo, &row("q"));
    repo.checkout("main");
    append(&repo, &row("p"));
    let bare = repo.at(repo.dir().join("bare.git"));
    repo.git(["clone", "-q", "--bare", ".", "../bare.git"]);
    bare.git(["config", "merge.git-operator.driver", DRIVER]);
    bare.write("info/attributes", "VERDICTS.md merge=git-operator\n");
    let tree = bare.git(["merge-tree", "--write-tree", "main", "x"]);
    let text = bare.git(["show", &format!("{tree}:VERDICTS.md")]);
    assert_eq!(text + "\n", view(&["a", "p", "q"]));
}
