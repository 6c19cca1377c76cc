//! `doctor` on projects that somebody, or something, has set up wrong.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use crate::support::{Output, Repo};

fn started(args: &[&str]) -> Repo {
    let repo = Repo::new();
    repo.commit("a");
    let output = repo.operator([&["start"], args].concat()).run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    repo
}

fn doctor(repo: &Repo) -> Output {
    repo.operator(["doctor"]).run()
}

/// Returns what `doctor` calls a fault.
fn faults(repo: &Repo) -> Vec<String> {
    let output = doctor(repo);
    let lines = output.stdout.lines();
    let faults: Vec<String> = lines
        .filter_map(|line| line.strip_prefix("fault: "))
        .map(str::to_owned)
        .collect();
    assert_eq!(output.code, i32::from(!faults.is_empty()), "{output:?}");
    faults
}

#[track_caller]
fn finds(repo: &Repo, what: &str) {
    let faults = faults(repo);
    assert!(
        faults.iter().any(|fault| fault.contains(what)),
        "{faults:?}"
    );
}

#[track_caller]
fn is_well(repo: &Repo) {
    assert_eq!(faults(repo), [""; 0]);
}

fn executable(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn verdict(repo: &Repo, task: &str) {
    for args in [
        vec!["task", task, "--owner", "S1"],
        vec!["verdict", task, "c", "ok", "PASS", "--owner", "S1"],
    ] {
        let output = repo.operator(args).run();
        assert_eq!(output.code, 0, "{}", output.stderr);
    }
}

#[test]
fn a_started_project_is_well() {
    let repo = started(&[]);
    is_well(&repo);
    verdict(&repo, "t1");
    is_well(&repo);
    assert_eq!(doctor(&repo).stdout, "all is well\n");
}

/// C46: a clone has the attributes and not the driver.
#[test]
fn a_clone_without_the_driver_is_mended_and_merges() {
    let repo = started(&[]);
    let header = "# VERDICTS — append-only. One row per gated task; written only by git-operator.\n\
                  | Gate | Criterion | Evidence | PASS/FAIL |\n|---|---|---|---|\n";
    let row = |task: &str| format!("| {task} | c | ok @no-commit | PASS |\n");
    repo.write(".operator/VERDICTS.md", header);
    repo.git(["add", "-A"]);
    repo.commit_staged("views");
    let there = repo.dir().join("clone");
    repo.git(["clone", "-q", ".", there.to_str().unwrap()]);
    let clone = repo.at(&there);
    finds(
        &clone,
        "the merge driver of the views is not registered in this clone",
    );
    let output = clone.operator(["doctor", "--fix"]).run();
    assert!(
        output
            .stdout
            .contains("fixed: the merge driver of the views is not registered"),
        "{}",
        output.stdout
    );
    is_well(&clone);
    clone.git(["checkout", "-q", "-b", "x"]);
    clone.write(".operator/VERDICTS.md", format!("{header}{}", row("x")));
    clone.git(["commit", "-q", "-a", "-m", "x"]);
    clone.git(["checkout", "-q", "main"]);
    clone.write(".operator/VERDICTS.md", format!("{header}{}", row("y")));
    clone.git(["commit", "-q", "-a", "-m", "y"]);
    clone.git(["merge", "-q", "x", "-m", "both"]);
    let merged = clone.read(".operator/VERDICTS.md");
    assert!(
        merged.contains(&row("x")) && merged.contains(&row("y")),
        "{merged}"
    );
    assert!(!merged.contains("<<<<<<<"), "{merged}");
}

/// C53: a refspec that lets a fetch overwrite or prune what only this clone has.
#[test]
fn refspecs_that_destroy_records_are_named_and_take_none() {
    let repo = started(&[]);
    let bare = repo.dir().join("hub.git");
    repo.git(["init", "-q", "--bare", bare.to_str().unwrap()]);
    repo.git(["remote", "add", "origin", bare.to_str().unwrap()]);
    repo.git(["push", "-q", "origin", "main"]);
    verdict(&repo, "t1");
    let tip = repo.git(["rev-parse", "refs/operator/ledger"]);
    is_well(&repo);
    let specs = [
        "+refs/notes/*:refs/notes/*",
        "+refs/operator/*:refs/operator/*",
    ];
    for spec in specs {
        repo.git(["config", "--add", "remote.origin.fetch", spec]);
    }
    let found = faults(&repo);
    for spec in specs {
        let named = format!("remote.origin.fetch = {spec} can overwrite or prune records");
        assert!(
            found.iter().any(|fault| fault.starts_with(&named)),
            "{found:?}"
        );
    }
    repo.git(["-c", "fetch.prune=true", "fetch", "-q"]);
    let log = repo.operator(["log", "--kind", "verdict"]).run();
    assert!(log.stdout.contains("t1"), "{}", log.stdout);
    assert!(log.stderr.contains("refs/operator/*"), "{}", log.stderr);
    verdict(&repo, "t2");
    let kept = [
        "merge-base",
        "--is-ancestor",
        tip.as_str(),
        "refs/operator/ledger",
    ];
    assert!(repo.try_git(kept).status.success());
    // What doctor prints is a command that takes the line away and no other.
    let fixes: Vec<String> = doctor(&repo)
        .stdout
        .lines()
        .filter_map(|line| line.trim().strip_prefix("fix: git config --unset"))
        .map(str::to_owned)
        .collect();
    assert_eq!(fixes.len(), 2);
    for fix in fixes {
        let script = format!("git config --unset{fix}");
        let status = std::process::Command::new("sh")
            .args(["-c", &script])
            .current_dir(repo.path())
            .env_clear()
            .envs(repo.env())
            .status()
            .unwrap();
        assert!(status.success(), "{script}");
    }
    is_well(&repo);
    assert_eq!(
        repo.git(["config", "--get-all", "remote.origin.fetch"]),
        "+refs/heads/*:refs/remotes/origin/*"
    );
}

#[test]
fn a_fetch_of_what_doctor_and_start_wrote_keeps_everything() {
    let repo = started(&[]);
    let bare = repo.dir().join("hub.git");
    repo.git(["init", "-q", "--bare", bare.to_str().unwrap()]);
    repo.git(["remote", "add", "origin", bare.to_str().unwrap()]);
    let before = repo.git(["config", "--get-regexp", r"^remote\."]);
    repo.operator(["start"]).run();
    repo.operator(["doctor", "--fix"]).run();
    assert_eq!(repo.git(["config", "--get-regexp", r"^remote\."]), before);
    verdict(&repo, "t1");
    let tip = repo.git(["rev-parse", "refs/operator/ledger"]);
    repo.git(["fetch", "-q", "--prune"]);
    assert_eq!(repo.git(["rev-parse", "refs/operator/ledger"]), tip);
}

/// C68: started from a linked worktree, the hooks go where git looks for them.
#[test]
fn hooks_of_a_linked_worktree_lie_in_the_common_directory() {
    let main = Repo::new();
    main.commit("a");
    let hook = main.path().join(".git/hooks/post-commit");
    let seen = main.dir().join("seen");
    executable(
        &hook,
        &format!(
            "#!/bin/sh\necho user-hook >> '{}'\nexit 3\n",
            seen.display()
        ),
    );
    let linked = main.worktree("w");
    linked.operator(["start"]).run();
    is_well(&linked);
    main.commit("b");
    linked.commit("c");
    assert_eq!(fs::read_to_string(&seen).unwrap(), "user-hook\nuser-hook\n");
    linked.operator(["uninstall"]).run();
    assert_eq!(
        fs::read_to_string(&hook).unwrap(),
        format!(
            "#!/bin/sh\necho user-hook >> '{}'\nexit 3\n",
            seen.display()
        )
    );
}

/// Bug 76: hooks in `.git/hooks` do nothing where husky rules.
#[test]
fn hooks_that_husky_hides_are_named_until_husky_calls_us() {
    for (version, path, stub, own) in [
        (8, ".husky", ".husky", ".husky"),
        (9, ".husky/_", ".husky/_", ".husky"),
    ] {
        let repo = started(&[]);
        is_well(&repo);
        repo.git(["config", "core.hooksPath", path]);
        fs::create_dir_all(repo.path().join(stub)).unwrap();
        finds(&repo, "do not call git-operator");
        let started = repo.operator(["start"]).run();
        assert!(
            started.stderr.contains("hooks are managed by .husky"),
            "{version}: {}",
            started.stderr
        );
        assert_eq!(
            fs::read_dir(repo.path().join(stub)).unwrap().count(),
            0,
            "{version}"
        );
        for name in ["post-commit", "post-rewrite", "post-merge", "post-checkout"] {
            executable(&repo.path().join(stub).join(name), "#!/bin/sh\n. h\n");
            let line = started
                .stderr
                .lines()
                .find_map(|line| line.split_once(&format!("add to its {name} hook: ")))
                .unwrap();
            executable(&repo.path().join(own).join(name), &format!("{}\n", line.1));
        }
        is_well(&repo);
        assert_eq!(repo.git(["config", "core.hooksPath"]), path);
    }
}

fn hook(repo: &Repo, name: &str) -> std::path::PathBuf {
    repo.path().join(".git/hooks").join(name)
}

/// A hook that is there and reaches nobody is as good as none; each is run to see.
#[test]
fn a_hook_that_does_not_reach_us_is_named() {
    let repo = started(&[]);
    is_well(&repo);
    let path = hook(&repo, "post-commit");
    let shim = fs::read_to_string(&path).unwrap();
    for (text, what) in [
        (shim.replace("#!/bin/sh", "#!/bin/sh\nexit 0"), "it ends in line 2 before"),
        (
            format!("#!/bin/sh\nexec other \"$@\"\n{shim}"),
            "it ends in line 2 before",
        ),
        (
            "#!/no/such/shell\n# git-operator begin\ngit-operator git-hook post-commit\n# git-operator end\n"
                .to_owned(),
            "our lines are those of another version",
        ),
    ] {
        executable(&path, &text);
        finds(&repo, &format!("hook post-commit in '{}': {what}", path.parent().unwrap().display()));
    }
    executable(&path, &shim);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    finds(&repo, "it is not executable: git passes it by");
    let fixed = repo.operator(["doctor", "--fix"]).run();
    assert!(
        fixed.stdout.contains("fixed: hook post-commit"),
        "{}",
        fixed.stdout
    );
    is_well(&repo);
}

#[test]
fn a_hook_of_somebody_else_is_not_run_by_a_probe_but_our_lines_in_it_are() {
    let repo = Repo::new();
    repo.commit("a");
    let seen = repo.dir().join("seen");
    let own = format!("#!/bin/sh -eu\necho ran >> '{}'\n", seen.display());
    for name in ["post-commit", "post-rewrite", "post-merge"] {
        executable(&hook(&repo, name), &own);
    }
    assert_eq!(repo.operator(["start"]).run().code, 0);
    is_well(&repo);
    assert!(!seen.exists());
    repo.commit("b");
    assert_eq!(fs::read_to_string(&seen).unwrap(), "ran\n");
    // Another interpreter was put above our lines; it is not there, or cannot read them.
    let path = hook(&repo, "post-commit");
    let ours = fs::read_to_string(&path).unwrap();
    for (interpreter, what) in [
        ("#!/no/such/shell", "it cannot be run: No such file"),
        ("#!/bin/sh\r", "it cannot be run: No such file"),
        ("#!/bin/false", "it fails: it ended with code 1"),
        ("#!/bin/cat", "it ran and did not reach git-operator"),
    ] {
        executable(&path, &ours.replacen("#!/bin/sh -eu", interpreter, 1));
        finds(&repo, what);
    }
    executable(&path, &ours);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    // What somebody switched off is not switched on for them.
    repo.operator(["doctor", "--fix"]).run();
    finds(&repo, "it is not executable: git passes it by");
}

#[test]
fn a_hook_that_finds_another_program_or_none_is_named() {
    let repo = started(&[]);
    let bin = repo.dir().join("bin");
    let with = |first: &Path| {
        let path = crate::support::path_variable();
        let dirs = std::iter::once(first.to_owned()).chain(std::env::split_paths(&path));
        std::env::join_paths(dirs).unwrap()
    };
    for (text, what) in [
        (
            "echo git-operator 0.0.1 hears $2",
            "it calls git-operator 0.0.1, and this is",
        ),
        ("exit 0", "it ran and did not reach git-operator"),
    ] {
        executable(&bin.join("git-operator"), &format!("#!/bin/sh\n{text}\n"));
        let output = repo.operator(["doctor"]).env("PATH", with(&bin)).run();
        assert_eq!(output.code, 1);
        let hooks = "hooks post-checkout, post-commit, post-merge, post-rewrite in";
        assert!(
            output.stdout.contains(hooks)
                || output.stdout.contains("hooks post-commit, post-rewrite"),
            "{}",
            output.stdout
        );
        assert!(output.stdout.contains(what), "{}", output.stdout);
    }
    let git = repo.dir().join("git-only");
    fs::create_dir_all(&git).unwrap();
    let found = String::from_utf8(
        std::process::Command::new("sh")
            .args(["-c", "command -v git"])
            .output()
            .unwrap()
            .stdout,
    )
    .unwrap();
    std::os::unix::fs::symlink(found.trim(), git.join("git")).unwrap();
    let output = repo.operator(["doctor"]).env("PATH", &git).run();
    assert!(
        output
            .stdout
            .contains("it ran and did not reach git-operator: is that on the PATH?"),
        "{}",
        output.stdout
    );
}

#[test]
fn a_hook_manager_with_a_file_of_its_own_is_asked_what_it_runs() {
    for file in ["lefthook.yml", ".pre-commit-config.yaml"] {
        let repo = Repo::new();
        repo.commit("a");
        repo.write(file, "# nothing yet\n");
        let output = repo.operator(["start"]).run();
        assert!(
            output
                .stderr
                .contains(&format!("hooks are managed by {file}")),
            "{}",
            output.stderr
        );
        assert!(!repo.path().join(".git/hooks/post-commit").exists());
        finds(&repo, "do not call git-operator");
        let mut text = String::new();
        for name in ["post-commit", "post-rewrite", "post-merge", "post-checkout"] {
            text.push_str(&format!("{name}: git-operator git-hook {name}\n"));
            executable(
                &repo.path().join(".git/hooks").join(name),
                "#!/bin/sh\nexec the-manager \"$0\"\n",
            );
        }
        repo.write(file, text);
        is_well(&repo);
        fs::remove_file(repo.path().join(".git/hooks/post-merge")).unwrap();
        finds(&repo, "the hooks post-merge in");
    }
}

/// Bugs 77 and 80: other projects' hooks stay, and so does the setting.
#[test]
fn a_global_hooks_path_is_left_alone_and_named() {
    let repo = Repo::new();
    repo.commit("a");
    let shared = repo.home().join("hooks");
    fs::create_dir_all(&shared).unwrap();
    let global = repo.home().join(".gitconfig");
    let mut text = fs::read_to_string(&global).unwrap();
    text.push_str(&format!("[core]\n\thooksPath = {}\n", shared.display()));
    fs::write(&global, &text).unwrap();
    let output = repo.operator(["start", "--hooks", "file"]).run();
    assert!(
        output
            .stderr
            .contains("core.hooksPath leads out of this repository")
    );
    finds(&repo, "do not call git-operator");
    repo.operator(["doctor", "--fix"]).run();
    assert_eq!(fs::read_dir(&shared).unwrap().count(), 0);
    assert_eq!(fs::read_to_string(&global).unwrap(), text);
    assert_eq!(
        repo.try_git(["config", "--local", "core.hooksPath"])
            .status
            .code(),
        Some(1)
    );
}

/// Bug 78: a relative path means the top of each worktree.
#[test]
fn a_relative_hooks_path_is_looked_up_in_each_worktree() {
    let main = Repo::new();
    main.commit("a");
    main.git(["config", "core.hooksPath", "ci/hooks"]);
    main.operator(["start", "--hooks", "file"]).run();
    assert!(main.path().join("ci/hooks/post-commit").exists());
    is_well(&main);
    let linked = main.worktree("w");
    finds(&linked, "which is not there: none runs");
    linked.operator(["start", "--hooks", "file"]).run();
    assert!(linked.path().join("ci/hooks/post-commit").exists());
    is_well(&linked);
}

/// Bug 79: the client writes an absolute path of a directory that does not exist.
#[test]
fn a_hooks_path_of_one_worktree_that_leads_nowhere_is_named_and_the_gate_works() {
    let main = started(&[]);
    let linked = main.worktree("w");
    main.git(["config", "extensions.worktreeConfig", "true"]);
    let nowhere = main.dir().join("nowhere/hooks");
    linked.git([
        "config",
        "--worktree",
        "core.hooksPath",
        nowhere.to_str().unwrap(),
    ]);
    finds(
        &linked,
        &format!(
            "git looks for hooks in '{}', which is not there",
            nowhere.display()
        ),
    );
    is_well(&main);
    verdict(&linked, "t1");
    linked.commit("b");
}

/// C09: who hears of results must hear of failures.
#[test]
fn settings_that_send_results_and_not_failures_are_named() {
    let repo = started(&[]);
    let hook = |event: &str| {
        format!(
            r#""{event}":[{{"matcher":"Bash","hooks":[{{"type":"command","command":"git-operator hook {event}"}}]}}]"#
        )
    };
    repo.write(
        ".claude/settings.json",
        format!("{{\"hooks\":{{{}}}}}", hook("PostToolUse")),
    );
    finds(
        &repo,
        "sends PostToolUse to git-operator and not PostToolUseFailure",
    );
    repo.write(
        ".claude/settings.json",
        format!(
            "{{\"hooks\":{{{},{}}}}}",
            hook("PostToolUse"),
            hook("PostToolUseFailure")
        ),
    );
    is_well(&repo);
    repo.write(".claude/settings.json", "{ not json");
    is_well(&repo);
}

#[test]
fn the_plugin_hears_of_results_and_failures() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/hooks/hooks.json");
    let hooks: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    for event in ["PostToolUse", "PostToolUseFailure"] {
        let text = hooks["hooks"][event].to_string();
        assert!(text.contains("hook"), "{event}: {text}");
    }
}

/// git 2.54 runs hooks that its configuration names; here a git that says it is one.
#[test]
fn a_newer_git_gets_its_hooks_by_configuration() {
    let repo = Repo::new();
    repo.commit("a");
    let bin = repo.dir().join("bin");
    let path = |repo: &Repo| {
        let env = repo.env();
        let (_, old) = env.into_iter().find(|(name, _)| name == "PATH").unwrap();
        let mut dirs = vec![bin.clone()];
        dirs.extend(std::env::split_paths(&old));
        (std::env::join_paths(dirs).unwrap(), old)
    };
    let (with, without) = path(&repo);
    let script = format!(
        "#!/bin/sh\nPATH='{}'\nfor word; do case $word in version) echo git version 2.54.0; exit 0;; \
         -*|/*) ;; *) break;; esac; done\nexec git \"$@\"\n",
        without.to_str().unwrap()
    );
    executable(&bin.join("git"), &script);
    let before = repo.read(".git/config");
    let output = repo.operator(["start"]).env("PATH", &with).run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    let found = repo.git(["config", "--local", "--get-regexp", r"^hook\."]);
    for name in ["post-commit", "post-rewrite", "post-merge", "post-checkout"] {
        let section = format!("hook.git-operator-{name}");
        assert!(
            found.contains(&format!("{section}.event {name}")),
            "{found}"
        );
        let command = repo.git(["config", "--local", &format!("{section}.command")]);
        // As git runs it: by a shell, what it passes behind.
        for (path, code) in [("/nonexistent", 0), (without.to_str().unwrap(), 0)] {
            let status = std::process::Command::new("/bin/sh")
                .args(["-c", &format!("{command} \"$@\""), name, "amend"])
                .current_dir(repo.path())
                .env_clear()
                .envs(repo.env())
                .env("PATH", path)
                .stdin(std::process::Stdio::null())
                .status()
                .unwrap();
            assert_eq!(status.code(), Some(code), "{name} with {path}");
        }
    }
    assert!(!found.contains("pre-push"), "{found}");
    assert!(!repo.path().join(".git/hooks/post-commit").exists());
    let well = || repo.operator(["doctor"]).env("PATH", &with).run();
    assert_eq!((well().code, well().stdout.as_str()), (0, "all is well\n"));
    for (key, value, what) in [
        (
            "hook.git-operator-post-commit.enabled",
            "false",
            "enabled switches it off",
        ),
        (
            "hook.post-merge.enabled",
            "false",
            "enabled switches it off",
        ),
        (
            "hook.git-operator-post-commit.command",
            "true",
            "its settings are not those of start",
        ),
        (
            "hook.git-operator-post-commit.event",
            "pre-commit",
            "its settings are not those of start",
        ),
    ] {
        let before = repo.try_git(["config", key]).stdout;
        repo.git(["config", key, value]);
        let found = well();
        assert!(
            found.code == 1 && found.stdout.contains(what),
            "{key}: {}",
            found.stdout
        );
        repo.git(["config", "--unset-all", key]);
        if !before.is_empty() {
            repo.git(["config", key, String::from_utf8(before).unwrap().trim()]);
        }
    }
    assert_eq!(well().stdout, "all is well\n");
    repo.operator(["uninstall"]).env("PATH", &with).run();
    let settings = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.starts_with('\t'));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(settings(&repo.read(".git/config")), settings(&before));
}

/// overcommit links one Ruby program to every hook; hk execs its own; prek keeps TOML.
#[test]
fn what_overcommit_hk_and_prek_run_is_read_and_none_of_it_is_run() {
    let names = ["post-commit", "post-rewrite", "post-merge", "post-checkout"];
    let camel = |name: &str| {
        name.replace("post-c", "PostC")
            .replace("post-r", "PostR")
            .replace("post-m", "PostM")
    };
    let overcommit = |name: &str| {
        format!(
            "{}:\n  GitOperator:\n    enabled: true\n    command: ['git-operator', 'git-hook', '{name}']\n",
            camel(name)
        )
    };
    let hk = |name: &str| {
        format!(
            "  [\"{name}\"] {{\n    steps {{ [\"o\"] {{ check = \"git-operator git-hook {name}\" }} }}\n  }}\n"
        )
    };
    let prek = |name: &str| {
        format!(
            "[[repos.hooks]]\nid = \"{name}\"\nentry = \"git-operator git-hook {name}\"\nstages = [\"{name}\"]\n"
        )
    };
    type Entry<'a> = &'a dyn Fn(&str) -> String;
    let managers: [(&str, &str, Entry<'_>); 3] = [
        (
            ".overcommit.yml",
            "#!/usr/bin/env ruby\nputs 1; File.write('ran', '')\n",
            &overcommit,
        ),
        (
            "hk.pkl",
            "#!/bin/sh\ntouch ran\ntest \"${HK:-1}\" = \"0\" || exec hk run x \"$@\"\n",
            &hk,
        ),
        (
            "prek.toml",
            "#!/bin/sh\ntouch ran\nexec prek hook-impl\n",
            &prek,
        ),
    ];
    for (file, program, entry) in managers {
        let repo = Repo::new();
        repo.commit("a");
        repo.write(file, "# git-operator git-hook post-commit\n");
        for name in names {
            executable(&hook(&repo, name), program);
        }
        let output = repo.operator(["start"]).run();
        assert!(
            output
                .stderr
                .contains(&format!("hooks are managed by {file}")),
            "{}",
            output.stderr
        );
        assert_eq!(
            fs::read_to_string(hook(&repo, "post-commit")).unwrap(),
            program
        );
        finds(
            &repo,
            "the hooks post-commit, post-rewrite, post-merge, post-checkout in",
        );
        repo.write(file, names.map(entry).concat());
        is_well(&repo);
        repo.write(
            file,
            names[1..]
                .iter()
                .map(|name| entry(name))
                .collect::<String>(),
        );
        finds(&repo, "the hooks post-commit in");
        assert!(!repo.path().join("ran").exists(), "{file}");
    }
}

#[test]
fn what_a_dead_git_left_locked_is_named() {
    let repo = started(&[]);
    let lock = repo.path().join(".git/packed-refs.lock");
    fs::write(&lock, "").unwrap();
    is_well(&repo);
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    fs::File::options()
        .write(true)
        .open(&lock)
        .unwrap()
        .set_modified(old)
        .unwrap();
    finds(
        &repo,
        "packed-refs.lock' was left behind by a git that died",
    );
}

#[test]
fn a_lost_task_file_is_named_and_made_anew() {
    let repo = started(&[]);
    repo.operator(["task", "T-1", "--owner", "S1"]).run();
    let tasks = repo.path().join(".git/operator/tasks");
    let file = fs::read_dir(&tasks)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let text = fs::read_to_string(&file).unwrap();
    for damage in [None, Some("{")] {
        match damage {
            None => fs::remove_file(&file).unwrap(),
            Some(bytes) => fs::write(&file, bytes).unwrap(),
        }
        finds(&repo, "task 'T-1' was opened here and its file is lost");
        let output = repo.operator(["doctor", "--fix"]).run();
        assert!(
            output.stdout.contains("fixed: task 'T-1' was opened here"),
            "{}",
            output.stdout
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        is_well(&repo);
    }
}

/// What a writer could not do in time is recorded all the same; the next writer, or `--fix`, does it.
#[test]
fn records_that_wait_for_their_ref_or_their_files_are_named_and_finished() {
    let repo = started(&[]);
    verdict(&repo, "t0");
    is_well(&repo);
    let ref_lock = repo.path().join(".git/refs/operator/ledger.lock");
    fs::write(&ref_lock, "somebody else").unwrap();
    let output = repo.operator(["task", "t1", "--owner", "S1"]).run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    finds(
        &repo,
        "records wait in the journal: 'refs/operator/ledger' lacks them",
    );
    fs::remove_file(&ref_lock).unwrap();
    let fixed = repo.operator(["doctor", "--fix"]).run();
    assert!(
        fixed.stdout.contains("fixed: records wait in the journal"),
        "{}",
        fixed.stdout
    );
    is_well(&repo);
    let tasks = repo.path().join(".git/operator/tasks");
    let kept = repo.dir().join("tasks");
    fs::rename(&tasks, &kept).unwrap();
    fs::write(&tasks, "in the way").unwrap();
    repo.operator(["decide", "DECISION", "d", "--why", "w"])
        .run();
    repo.operator(["task", "t2", "--owner", "S1"]).run();
    let found = doctor(&repo);
    assert_ne!(found.code, 0, "{}{}", found.stdout, found.stderr);
    fs::remove_file(&tasks).unwrap();
    fs::rename(&kept, &tasks).unwrap();
    repo.operator(["doctor", "--fix"]).run();
    is_well(&repo);
}

#[test]
fn a_setting_that_means_nothing_is_named_with_what_it_may_be() {
    let repo = started(&[]);
    for (key, wrong, may_be, right) in [
        ("view", "none", "auto or off", "auto"),
        ("autoArm", "somtimes", "true or false", "true"),
        ("work", "2x", "true or false", "false"),
        ("sign", "gpg", "true or false", "false"),
        ("notes", "of", "true or false", "true"),
        ("prePush", "verfy", "off or sync or verify", "off"),
        ("remote", "upstraem", "the name of a remote", "<remote>"),
    ] {
        let key = format!("operator.{key}");
        repo.git(["config", &key, wrong]);
        finds(
            &repo,
            &format!("'{key}' is '{wrong}', and must be {may_be}"),
        );
        let output = doctor(&repo);
        let fix = format!("git config {key} {right}");
        assert!(output.stdout.contains(&fix), "{}", output.stdout);
        repo.git(["config", "--unset", &key]);
        is_well(&repo);
    }
    for (key, value) in [("view", "off"), ("work", "yes"), ("prePush", "off")] {
        repo.git(["config", &format!("operator.{key}"), value]);
        is_well(&repo);
    }
}
