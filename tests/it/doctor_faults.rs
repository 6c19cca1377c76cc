//! Faults of a set-up that look right at a glance: what `doctor` asks git, and what it counts itself.

use std::{fs, os::unix::fs::PermissionsExt as _};

use crate::support::{Repo, skipped};

fn started() -> Repo {
    let repo = Repo::new();
    repo.commit("a");
    let output = repo.operator(["start", "--hooks", "file"]).run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    is_well(&repo);
    repo
}

#[track_caller]
fn is_well(repo: &Repo) {
    repo.operator(["doctor"]).stdout("all is well\n").check();
}

/// Expects exactly this of `doctor`.
#[track_caller]
fn says(repo: &Repo, text: &str) {
    repo.operator(["doctor"]).stdout(text).exit(1).check();
}

#[track_caller]
fn is_mended(repo: &Repo, what: &str) {
    let fixed = format!("fixed: {what}\n");
    repo.operator(["doctor", "--fix"]).stdout(fixed).check();
    is_well(repo);
}

#[test]
fn a_driver_that_is_another_command_is_named_and_registered_again() {
    let repo = started();
    repo.git(["config", "merge.git-operator.driver", "false"]);
    let what = "the merge driver of the views is another command here: 'false'";
    says(
        &repo,
        &format!("fault: {what}\n  fix: git operator start\n"),
    );
    is_mended(&repo, what);
}

#[test]
fn a_line_of_attributes_that_wins_over_ours_is_named() {
    let repo = started();
    let path = repo.path().join(".git/info/attributes");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}*.md -merge\n")).unwrap();
    let by = |view: &str| {
        format!(
            "fault: '.operator/{view}' is merged by 'unset' and not by the driver: a line behind \
             ours in 'info/attributes' says so\n"
        )
    };
    says(&repo, &[by("VERDICTS.md"), by("DECISIONS.md")].concat());
    // One before ours does not win.
    fs::write(&path, format!("*.md -merge\n{text}")).unwrap();
    is_well(&repo);
}

#[test]
fn tracked_files_that_are_gone_are_named_and_come_back() {
    let repo = started();
    let attributes = repo.read(".operator/.gitattributes");
    fs::remove_file(repo.path().join(".operator/.gitattributes")).unwrap();
    let what = "'.operator/.gitattributes' lacks a rule: clones without git-operator merge the views as \
                any text";
    says(
        &repo,
        &format!("fault: {what}\n  fix: git operator start\n"),
    );
    is_mended(&repo, what);
    assert_eq!(repo.read(".operator/.gitattributes"), attributes);
    // A project's own line stays.
    repo.write(".operator/.gitattributes", "*.png binary\n");
    is_mended(&repo, what);
    assert!(
        repo.read(".operator/.gitattributes")
            .starts_with("*.png binary\n")
    );
    let list = repo.read(".operator/.gitignore");
    fs::remove_file(repo.path().join(".operator/.gitignore")).unwrap();
    let what = "'.operator/.gitignore' is missing: what is to stay in this clone can be committed";
    is_mended(&repo, what);
    assert_eq!(repo.read(".operator/.gitignore"), list);
}

/// Runs the command that the only finding says mends it.
#[track_caller]
fn follow(repo: &Repo) {
    let output = repo.operator(["doctor"]).run();
    let fixes: Vec<&str> = output
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("  fix: "))
        .collect();
    assert_eq!(fixes.len(), 1, "{output:?}");
    let status = std::process::Command::new("sh")
        .args(["-c", fixes[0]])
        .current_dir(repo.path())
        .env_clear()
        .envs(repo.env())
        .status()
        .unwrap();
    assert!(status.success(), "{fixes:?}");
    is_well(repo);
}

#[test]
fn a_push_of_what_stays_here_is_named_and_its_fix_takes_that_line_away() {
    let repo = started();
    repo.git(["remote", "add", "origin", "../hub.git"]);
    for (spec, what) in [
        ("refs/*:refs/*", "pushes what is to stay in this clone"),
        (
            "refs/operator-local/*:refs/operator-local/*",
            "pushes what is to stay in this clone",
        ),
        (
            ":refs/operator/ledger",
            "can overwrite or delete records of the remote",
        ),
    ] {
        repo.git(["config", "remote.origin.push", spec]);
        let output = repo.operator(["doctor"]).run();
        let line = format!("fault: remote.origin.push = {spec} {what}\n");
        assert!(output.stdout.starts_with(&line), "{}", output.stdout);
        follow(&repo);
    }
    for value in ["yes", "1", "TRUE"] {
        repo.git(["config", "remote.origin.mirror", value]);
        follow(&repo);
    }
    let config = repo.path().join(".git/config");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{text}[remote \"origin\"]\n\tmirror\n")).unwrap();
    follow(&repo);
    repo.git(["config", "remote.origin.mirror", "off"]);
    is_well(&repo);
}

/// A fix for a line of another file names the file.
#[test]
fn a_refspec_of_another_file_is_taken_out_there() {
    let repo = started();
    repo.git(["remote", "add", "origin", "../hub.git"]);
    let spec = "+refs/operator/*:refs/operator/*";
    repo.git(["config", "--global", "--add", "remote.origin.fetch", spec]);
    follow(&repo);
    let other = repo.dir().join("it's included");
    fs::write(&other, format!("[remote \"origin\"]\n\tfetch = {spec}\n")).unwrap();
    repo.git(["config", "include.path", other.to_str().unwrap()]);
    follow(&repo);
    // One that a command line gives has no place to be taken out of.
    let output = repo
        .operator(["doctor"])
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "remote.origin.fetch")
        .env("GIT_CONFIG_VALUE_0", spec)
        .run();
    assert_eq!(output.code, 1, "{output:?}");
    assert!(!output.stdout.contains("fix:"), "{}", output.stdout);
}

#[test]
fn a_ledger_that_cannot_be_written_is_named() {
    let repo = started();
    let args = ["task", "t1", "--owner", "S1"];
    assert_eq!(repo.operator(args).run().code, 0);
    let operator = repo.path().join(".git/operator");
    let mode = |mode: u32| {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&operator, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0o555);
    if fs::write(operator.join("probe"), "").is_ok() {
        fs::remove_file(operator.join("probe")).unwrap();
        mode(0o755);
        return skipped("this user may write everywhere");
    }
    let output = repo.operator(["doctor"]).run();
    mode(0o755);
    let line = format!(
        "fault: '{}' cannot be written, and nothing can be recorded: Permission denied\n",
        operator.display()
    );
    assert_eq!((output.code, &*output.stdout), (1, &*line));
}

#[test]
fn a_bare_repository_that_shows_what_is_its_own_is_named() {
    let repo = Repo::bare();
    is_well(&repo);
    let args = ["task", "t1", "--owner", "S1"];
    assert_eq!(repo.operator(args).run().code, 0);
    assert_eq!(repo.operator(["gc"]).run().code, 0);
    says(
        &repo,
        "fault: refs/operator-local is not hidden from those who fetch from this repository\n  \
         fix: git config --add transfer.hideRefs refs/operator-local\n",
    );
    follow(&repo);
}

#[track_caller]
fn names(repo: &Repo, text: &str) {
    let output = repo.operator(["doctor"]).run();
    assert_eq!(output.code, 1, "{}", output.stderr);
    assert!(output.stdout.contains(text), "{}", output.stdout);
}

/// git dies where it is asked for an absolute path that runs through a file.
#[test]
fn a_path_of_hooks_that_runs_through_a_file_is_named() {
    let main = started();
    main.git(["config", "core.hooksPath", ".git/hooks"]);
    is_well(&main);
    let linked = main.worktree("w");
    let place = linked.path().join(".git/hooks");
    let what = format!(
        "git looks for hooks in '{}', which is not there",
        place.display()
    );
    names(&linked, &what);
    let output = linked.operator(["start", "--hooks", "file"]).run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    let told = "git looks for hooks in '.git/hooks', where none can be: '.git' is no directory";
    assert!(output.stderr.contains(told), "{}", output.stderr);
    main.git(["config", "core.hooksPath", "/dev/null/x"]);
    names(
        &linked,
        "git looks for hooks in '/dev/null/x', which is not there",
    );
    let output = linked.operator(["start", "--hooks", "file"]).run();
    assert!(
        output
            .stderr
            .contains("core.hooksPath leads out of this repository"),
        "{}",
        output.stderr
    );
    let output = linked.operator(["uninstall"]).run();
    assert_eq!(output.code, 0, "{}", output.stderr);
}

#[test]
fn a_path_of_hooks_below_the_home_directory_is_found() {
    let repo = started();
    repo.git(["config", "core.hooksPath", "~/hooks"]);
    let place = repo.home().join("hooks");
    names(
        &repo,
        &format!("git looks for hooks in '{}'", place.display()),
    );
}

#[test]
fn a_ref_that_was_deleted_is_fixed_and_then_no_fault() {
    let repo = started();
    repo.operator(["task", "t", "--owner", "S1"]).run();
    repo.git(["update-ref", "-d", "refs/operator/ledger"]);
    names(&repo, "'refs/operator/ledger' was deleted");
    let fixed = repo.operator(["doctor", "--fix"]).run();
    assert_eq!(
        (fixed.code, fixed.stderr.as_str()),
        (0, ""),
        "{}",
        fixed.stdout
    );
    assert!(!fixed.stdout.contains("fault:"), "{}", fixed.stdout);
    assert!(
        fixed
            .stdout
            .contains("fixed: 'refs/operator/ledger' was deleted"),
        "{}",
        fixed.stdout
    );
    is_well(&repo);
}

#[test]
fn a_hook_that_start_does_not_edit_gets_the_line_to_add() {
    let repo = started();
    let path = repo.path().join(".git/hooks/post-commit");
    let fix = "fix: add to it: git-operator git-hook post-commit \"$@\" || :";
    let link = repo.dir().join("linked");
    fs::write(&link, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&link, fs::Permissions::from_mode(0o755)).unwrap();
    for (text, why) in [
        (Some("#!/usr/bin/perl\n"), "is no shell script"),
        (Some("echo\n"), "is no shell script"),
        (None, "is a symbolic link"),
    ] {
        fs::remove_file(&path).unwrap();
        match text {
            Some(text) => {
                fs::write(&path, text).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            }
            None => std::os::unix::fs::symlink(&link, &path).unwrap(),
        }
        names(&repo, &format!("it does not call git-operator, and {why}"));
        names(&repo, fix);
    }
}

/// Returns the lines of a session's start that tell of the set-up.
fn told(repo: &Repo) -> Vec<String> {
    let payload = serde_json::json!({
        "hook_event_name": "SessionStart", "session_id": "S1", "cwd": repo.path(), "source": "startup",
    });
    let output = repo
        .operator(["hook", "SessionStart"])
        .stdin(payload.to_string())
        .run();
    let reply: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    let text = reply["hookSpecificOutput"]["additionalContext"].as_str();
    let lines = text.unwrap().lines();
    lines
        .filter(|line| line.starts_with("Set-up:"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_session_is_told_of_hooks_that_are_off() {
    let repo = started();
    assert_eq!(told(&repo), [""; 0]);
    let hooks = repo.path().join(".git/hooks");
    fs::set_permissions(hooks.join("post-merge"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::remove_file(hooks.join("post-commit")).unwrap();
    let place = hooks.display();
    assert_eq!(
        told(&repo),
        [format!(
            "Set-up: the hooks post-commit, post-merge in '{place}' do not call git-operator (git operator start)"
        )]
    );
    repo.git(["config", "core.hooksPath", "/dev/null"]);
    assert_eq!(
        told(&repo),
        ["Set-up: git looks for hooks in '/dev/null', which is not there: none runs"]
    );
}
