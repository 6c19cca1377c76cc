//! The scenarios: each builds its situation with git, and compares state, grade, paths and exit code.

use super::scene::{Found, Scene, found};
use crate::support::Repo;

fn fresh(grade: &str) -> Found {
    found(&format!("fresh {grade}"), &[], 0)
}

/// Both hashes, where git knows them.
fn scenes() -> Vec<Scene> {
    [Some(Repo::new()), Repo::sha256()]
        .into_iter()
        .flatten()
        .map(Scene::of)
        .collect()
}

#[test]
fn a_run_on_a_clean_head_is_exact() {
    for scene in scenes() {
        scene.run();
        assert_eq!(scene.verify(), fresh("exact"));
    }
}

#[test]
fn a_commit_of_the_ledger_alone_keeps_the_tree() {
    for scene in scenes() {
        scene.run();
        scene.edit(".operator/VERDICTS.md", "row");
        assert_eq!(scene.verify(), fresh("tree"));
    }
}

#[test]
fn an_edit_after_the_run_is_stale() {
    for scene in scenes() {
        scene.run();
        scene.edit("other", "more");
        assert_eq!(scene.verify(), found("stale", &["other"], 1));
    }
}

fn dirty_run(scene: &Scene) {
    scene.dirty("src/lib");
    scene.write("new.txt", "n\n");
    scene.run();
}

#[test]
fn a_dirty_tree_that_is_not_committed_is_unmatched() {
    for scene in scenes() {
        dirty_run(&scene);
        let expected = found("dirty-unmatched", &["new.txt", "src/lib"], 1);
        assert_eq!(scene.verify(), expected);
    }
}

#[test]
fn a_dirty_tree_that_is_committed_is_the_tree() {
    for scene in scenes() {
        dirty_run(&scene);
        scene.commit_all("all");
        assert_eq!(scene.verify(), fresh("tree"));
    }
}

#[test]
fn a_forgotten_file_is_named() {
    for scene in scenes() {
        dirty_run(&scene);
        scene.tick();
        scene.git(["commit", "-qam", "without new.txt"]);
        assert_eq!(scene.verify(), found("dirty-unmatched", &["new.txt"], 1));
    }
}

#[test]
fn an_edit_between_run_and_commit_is_named() {
    for scene in scenes() {
        scene.dirty("src/lib");
        scene.run();
        scene.edit("src/lib", "again");
        assert_eq!(scene.verify(), found("dirty-unmatched", &["src/lib"], 1));
    }
}

#[test]
fn a_reworded_commit_keeps_the_tree() {
    for scene in scenes() {
        scene.run();
        scene.tick();
        scene.git(["commit", "-q", "--amend", "-m", "reworded"]);
        assert_eq!(scene.verify(), fresh("tree"));
    }
}

#[test]
fn an_amended_commit_is_unreachable() {
    for scene in scenes() {
        scene.run();
        scene.dirty("other");
        scene.tick();
        scene.git(["commit", "-qa", "--amend", "-m", "amended"]);
        assert_eq!(scene.verify(), found("unreachable", &["other"], 1));
    }
}

/// Two commits on a branch, tested at its tip; main may have moved since.
pub(super) fn branch_run(scene: &Scene) {
    scene.branch("topic");
    scene.edit("src/lib", "topic one");
    scene.edit("feature", "topic two");
    scene.run();
}

pub(super) fn moved_main(scene: &Scene) {
    scene.checkout("main");
    scene.edit("other", "main moved");
}

pub(super) fn squash(scene: &Scene) {
    scene.git(["merge", "-q", "--squash", "topic"]);
    scene.commit_staged("squashed");
}

/// Takes away everything of the branch that a host would not keep.
fn forget(scene: &Scene) {
    scene.git(["branch", "-qD", "topic"]);
    scene.git(["reflog", "expire", "--expire=now", "--all"]);
    scene.git(["gc", "-q", "--prune=now"]);
}

#[test]
fn a_squash_onto_an_unmoved_base_keeps_the_tree() {
    for scene in scenes() {
        branch_run(&scene);
        scene.checkout("main");
        squash(&scene);
        scene.git(["branch", "-qD", "topic"]);
        assert_eq!(scene.verify(), fresh("tree"));
    }
}

#[test]
fn a_squash_onto_a_moved_base_is_a_merge_and_weak() {
    for scene in scenes() {
        branch_run(&scene);
        moved_main(&scene);
        squash(&scene);
        assert_eq!(scene.verify(), found("weak-binding merge", &[], 1));
    }
}

#[test]
fn a_squash_onto_a_moved_base_is_fresh_where_merges_are_accepted() {
    let scene = Scene::new();
    scene.require("{accept: [exact, tree, merge]}");
    branch_run(&scene);
    moved_main(&scene);
    squash(&scene);
    assert_eq!(scene.verify(), fresh("merge"));
}

#[test]
fn who_takes_the_text_of_a_change_takes_more_of_it() {
    let scene = Scene::new();
    scene.require("{accept: [patch]}");
    branch_run(&scene);
    moved_main(&scene);
    squash(&scene);
    assert_eq!(scene.verify(), fresh("merge"));
    forget(&scene);
    assert_eq!(scene.verify(), fresh("delta"));
}

#[test]
fn a_squash_is_known_by_its_change_when_the_branch_is_gone() {
    let scene = Scene::new();
    scene.require("{accept: [exact, tree, delta]}");
    branch_run(&scene);
    moved_main(&scene);
    squash(&scene);
    forget(&scene);
    assert_eq!(scene.verify(), fresh("delta"));
}

#[test]
fn a_line_smuggled_into_a_squash_is_found() {
    let scene = Scene::new();
    scene.require("{accept: [exact, tree, scope, merge, delta, patch]}");
    branch_run(&scene);
    scene.checkout("main");
    scene.git(["merge", "-q", "--squash", "topic"]);
    scene.dirty("src/lib");
    scene.commit_all("squashed and more");
    assert_eq!(scene.verify(), found("unreachable", &["src/lib"], 1));
}

/// One commit on a branch, and main moved in the same file, far enough away.
fn same_file(scene: &Scene) {
    scene.branch("topic");
    scene.edit("src/lib", "at the end");
    scene.run();
    scene.checkout("main");
    let text = scene.read("src/lib").replace("one\n", "ONE\n");
    scene.write("src/lib", text);
    scene.commit_all("main moved in the same file");
    scene.checkout("topic");
    scene.tick();
    scene.git(["rebase", "-q", "main"]);
}

#[test]
fn a_rebase_over_the_same_file_is_a_merge_and_weak() {
    let scene = Scene::new();
    same_file(&scene);
    assert_eq!(scene.verify(), found("weak-binding merge", &[], 1));
}

#[test]
fn a_rebase_is_known_by_its_patch_when_the_old_commit_is_gone() {
    let scene = Scene::new();
    scene.require("{accept: [patch]}");
    same_file(&scene);
    scene.git(["reflog", "expire", "--expire=now", "--all"]);
    scene.git(["gc", "-q", "--prune=now"]);
    assert_eq!(scene.verify(), fresh("patch"));
}

#[test]
fn a_cherry_pick_is_a_merge_and_weak() {
    let scene = Scene::new();
    scene.git(["branch", "release"]);
    scene.branch("topic");
    scene.edit("src/lib", "fix");
    scene.run();
    scene.checkout("release");
    scene.edit("other", "release moved");
    scene.tick();
    scene.git(["cherry-pick", "topic"]);
    assert_eq!(scene.verify(), found("weak-binding merge", &[], 1));
}

#[test]
fn a_commit_of_another_history_is_unreachable() {
    let scene = Scene::new();
    scene.run();
    scene.git(["checkout", "-q", "--orphan", "pages"]);
    scene.edit("index.html", "one");
    scene.edit("index.html", "two");
    assert_eq!(scene.verify(), found("unreachable", &["index.html"], 1));
}

#[test]
fn a_change_of_white_space_is_another_change() {
    let scene = Scene::new();
    scene.require("{accept: [exact, tree, scope, merge, delta, patch]}");
    scene.branch("topic");
    scene.write("tool.py", "def f(x):\n    if x:\n        g()\n    h()\n");
    scene.commit_all("tool");
    scene.run();
    scene.checkout("main");
    scene.write(
        "tool.py",
        "def f(x):\n    if x:\n        g()\n        h()\n",
    );
    scene.commit_all("tool");
    let found = scene.verify();
    assert_eq!((found.state.as_str(), found.exit), ("unreachable", 1));
}

#[test]
fn a_revert_brings_the_tree_back() {
    let scene = Scene::new();
    scene.run();
    scene.edit("src/lib", "bad");
    scene.tick();
    scene.git(["revert", "--no-edit", "HEAD"]);
    assert_eq!(scene.verify(), fresh("tree"));
}

#[test]
fn a_command_that_edits_the_source_is_mutated() {
    let scene = Scene::new();
    assert_eq!(scene.run_with(&["--quiet"], "exit 0"), 0);
    let scene = Scene::new();
    let args = [
        "run",
        "T",
        "tests",
        "--owner",
        "S1",
        "--",
        "sh",
        "-c",
        "echo x >> src/lib",
    ];
    let output = scene.operator(args).run();
    assert_eq!(output.code, 125);
    assert!(
        output.stderr.contains("changed while it ran: src/lib\n"),
        "{output:?}"
    );
    assert_eq!(scene.verify(), found("mutated", &["src/lib"], 1));
}

#[test]
fn a_command_that_writes_ignored_files_is_exact() {
    let scene = Scene::new();
    scene.write(".gitignore", "out/\n");
    scene.commit_all("ignore");
    assert_eq!(scene.run_with(&[], "mkdir out && touch out/x"), 0);
    assert_eq!(scene.verify(), fresh("exact"));
}

#[test]
fn an_edit_hidden_by_the_index_is_found() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let scene = Scene::new();
        scene.git(["update-index", flag, "src/lib"]);
        scene.dirty("src/lib");
        scene.run();
        assert_eq!(
            scene.verify(),
            found("dirty-unmatched", &["src/lib"], 1),
            "{flag}"
        );
    }
}

#[test]
fn a_helper_only_this_clone_hides_is_a_taint_and_missing_in_isolation() {
    let scene = Scene::new();
    scene.write(".git/info/exclude", "helper\n");
    scene.write("helper", "x");
    assert_eq!(scene.run_with(&[], "test -e helper"), 0);
    let report = scene.report(&[]);
    assert_eq!(report["requirements"][0]["state"], "fresh");
    assert_eq!(
        report["requirements"][0]["details"][0],
        "taint hidden-untracked:1"
    );
    assert_eq!(scene.run_with(&["--isolated"], "test -e helper"), 1);
}

#[test]
fn a_dirty_submodule_is_a_taint_that_requirements_may_deny() {
    let scene = Scene::new();
    let inner = Repo::new();
    inner.commit("x");
    scene.git([
        "submodule",
        "-q",
        "add",
        inner.path().to_str().unwrap(),
        "sub",
    ]);
    scene.commit_all("sub");
    scene.dirty("sub/x");
    scene.run();
    let report = scene.report(&[]);
    assert_eq!(report["requirements"][0]["state"], "fresh");
    assert_eq!(
        report["requirements"][0]["details"][0],
        "taint dirty-submodule"
    );
    scene.require("{deny-taint: [dirty-submodule]}");
    assert_eq!(scene.verify(), found("tainted tree", &[], 1));
}

#[test]
fn a_run_during_a_conflict_is_unmatched_and_tainted() {
    let scene = Scene::new();
    scene.branch("topic");
    scene.edit("src/lib", "topic");
    scene.checkout("main");
    scene.edit("src/lib", "main");
    assert!(!scene.try_git(["merge", "topic"]).status.success());
    scene.run();
    let report = scene.report(&[]);
    assert_eq!(report["requirements"][0]["state"], "dirty-unmatched");
    assert_eq!(report["requirements"][0]["details"][0], "taint unmerged");
}

#[test]
fn a_command_that_fails_is_failed() {
    let scene = Scene::new();
    assert_eq!(scene.run_with(&[], "exit 1"), 1);
    assert_eq!(scene.verify(), found("failed exact", &[], 1));
}

#[test]
fn another_command_than_the_required_one_is_wrong() {
    let scene = Scene::new();
    assert_eq!(scene.run_with(&[], "exit 0"), 0);
    scene.require("{arg: [cargo, test]}");
    assert_eq!(scene.verify(), found("wrong-command tree", &[], 1));
}

#[test]
fn a_commit_that_was_reset_away_is_unreachable_and_then_unknown() {
    let scene = Scene::new();
    scene.edit("src/lib", "tested");
    scene.run();
    scene.git(["reset", "-q", "--hard", "HEAD~1"]);
    scene.edit("other", "else");
    assert_eq!(
        scene.verify(),
        found("unreachable", &["other", "src/lib"], 1)
    );
    scene.git(["reflog", "expire", "--expire=now", "--all"]);
    scene.git(["gc", "-q", "--prune=now"]);
    assert_eq!(scene.verify(), found("unknown-commit", &[], 1));
}

fn clone(scene: &Scene, options: &[&str]) -> Scene {
    let url = format!("file://{}", scene.path().display());
    let target = scene.dir().join("clone");
    let target = target.to_str().unwrap();
    let args = [&["clone", "-q"][..], options, &[url.as_str(), target]].concat();
    scene.git(args);
    let clone = scene.at(target);
    clone.git([
        "fetch",
        "-q",
        "--no-tags",
        "origin",
        "+refs/operator/*:refs/operator-remotes/origin/*",
    ]);
    clone
}

#[test]
fn a_shallow_clone_cannot_decide_about_what_it_was_not_given() {
    let scene = Scene::new();
    scene.run();
    scene.edit("other", "one");
    scene.edit("other", "two");
    let clone = clone(&scene, &["--depth=1"]);
    assert_eq!(clone.verify(), found("undecidable", &[], 4));
    let output = clone.verify_command(&[]).run();
    assert!(
        output.stderr.ends_with("hint: git fetch --unshallow\n"),
        "{output:?}"
    );
    clone.git(["fetch", "-q", "--unshallow"]);
    assert_eq!(clone.verify(), found("stale", &["other"], 1));
}

#[test]
fn a_shallow_clone_decides_about_its_head() {
    let scene = Scene::new();
    scene.edit("other", "one");
    scene.run();
    assert_eq!(clone(&scene, &["--depth=1"]).verify(), fresh("exact"));
}

#[test]
fn a_change_outside_the_inputs_is_in_scope() {
    let scene = Scene::new();
    scene.require("{accept: [exact, tree, scope], input: ['src/**']}");
    scene.run();
    scene.edit("README", "words");
    assert_eq!(scene.verify(), fresh("scope"));
    scene.edit("src/lib", "code");
    assert_eq!(scene.verify(), found("stale", &["README", "src/lib"], 1));
}

#[test]
fn a_merge_onto_a_moved_base_carries_the_change_and_its_second_parent_is_exact() {
    let scene = Scene::new();
    branch_run(&scene);
    moved_main(&scene);
    scene.merge("topic");
    assert_eq!(scene.verify(), found("weak-binding delta", &[], 1));
    assert_eq!(scene.verify_with(&["HEAD^2"]), fresh("exact"));
}

#[test]
fn a_merge_onto_an_unmoved_base_keeps_the_tree() {
    let scene = Scene::new();
    branch_run(&scene);
    scene.checkout("main");
    scene.merge("topic");
    assert_eq!(scene.verify(), fresh("tree"));
}

#[test]
fn a_replace_ref_changes_nothing() {
    let scene = Scene::new();
    scene.run();
    scene.edit("src/lib", "evil");
    scene.git(["replace", "HEAD", "HEAD~1"]);
    assert_eq!(scene.verify(), found("stale", &["src/lib"], 1));
}

#[test]
fn a_run_without_a_commit_is_unbound_until_the_first_one() {
    let scene = Scene { repo: Repo::new() };
    scene.write("src/lib", "x\n");
    scene.run();
    assert_eq!(scene.verify(), found("unbound", &[], 1));
    scene.commit_all("first");
    assert_eq!(scene.verify(), fresh("tree"));
}

#[test]
fn a_run_in_a_linked_worktree_counts_in_the_main_one() {
    let scene = Scene::new();
    let linked = Scene {
        repo: scene.worktree("topic"),
    };
    linked.dirty("src/lib");
    linked.run();
    linked.commit_all("there");
    assert_eq!(scene.verify_with(&["topic"]), fresh("tree"));
}

#[test]
fn modes_and_names_are_content() {
    let scene = Scene::new();
    scene.run();
    scene.executable("src/lib");
    scene.commit_all("mode");
    assert_eq!(scene.verify(), found("stale", &["src/lib"], 1));
    let scene = Scene::new();
    scene.run();
    scene.git(["mv", "other", "another"]);
    scene.commit_all("name");
    assert_eq!(scene.verify(), found("stale", &["another", "other"], 1));
}

#[test]
fn crlf_in_the_working_tree_is_exact_and_tainted() {
    let scene = Scene::new();
    scene.write(".gitattributes", "* text=auto\n");
    scene.write("crlf", "a\r\nb\r\n");
    scene.commit_all("crlf");
    scene.run();
    let report = scene.report(&[]);
    assert_eq!(report["requirements"][0]["grade"], "exact");
    assert_eq!(report["requirements"][0]["details"][0], "taint filters");
}

#[test]
fn a_clone_without_the_requirements_cannot_decide() {
    let scene = Scene::new();
    scene.require("{}");
    scene.run();
    scene.git(["config", "uploadpack.allowFilter", "true"]);
    let clone = clone(&scene, &["--no-checkout", "--filter=tree:0"]);
    clone.git(["config", "remote.origin.url", "/nonexistent"]);
    let output = clone.verify_command(&[]).run();
    assert_eq!(output.code, 4, "{output:?}");
    assert!(output.stderr.contains("\nhint: git fetch "), "{output:?}");
}

#[test]
fn a_treeless_clone_cannot_decide_and_fetches_nothing() {
    let scene = Scene::new();
    scene.git(["config", "uploadpack.allowFilter", "true"]);
    scene.run();
    scene.edit("other", "one");
    let clone = clone(&scene, &["--filter=tree:0", "--no-checkout"]);
    clone.git(["config", "remote.origin.url", "/nonexistent"]);
    let output = clone.verify_command(&[]).run();
    assert_eq!(output.code, 4, "{output:?}");
}
