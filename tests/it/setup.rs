//! Setting a project up and taking it down.

use std::{collections::BTreeMap, fs, os::unix::fs::symlink, path::Path};

use git_operator::{
    git::{self, Env, locate},
    setup::{self, Act, Charter, HookPlace, Mode, Start, Step},
};

use crate::support::Repo;

fn opened(repo: &Repo) -> Option<git::Repo> {
    let env = Env::new(repo.env());
    let location = locate(repo.path(), &env).unwrap()?;
    Some(git::Repo::open(&location, &env).unwrap())
}

fn request() -> Start {
    Start {
        charter: Charter::Import,
        hooks: HookPlace::File,
        ci: None,
        mode: Mode::Apply,
    }
}

fn start_with(repo: &Repo, request: Start) -> Vec<Step> {
    let opened = opened(repo);
    let top = opened
        .as_ref()
        .and_then(|repo| repo.top().map(Path::to_owned))
        .unwrap_or(repo.path().to_owned());
    setup::start(&top, opened.as_ref(), request).unwrap()
}

fn start(repo: &Repo) -> Vec<Step> {
    start_with(repo, request())
}

fn uninstall(repo: &Repo) -> Vec<Step> {
    let opened = opened(repo);
    setup::uninstall(repo.path(), opened.as_ref(), Mode::Apply).unwrap()
}

/// Every file below `dir`, with its bytes; git's objects and logs are left out.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(at) = dirs.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(dir).unwrap().display().to_string();
            if name.starts_with(".git/objects")
                || name.starts_with(".git/logs")
                || name == ".git/index"
            {
                continue;
            }
            let kind = fs::symlink_metadata(&path).unwrap();
            if kind.is_dir() {
                dirs.push(path);
            } else if kind.is_symlink() {
                found.insert(
                    name,
                    fs::read_link(&path)
                        .unwrap()
                        .into_os_string()
                        .into_encoded_bytes(),
                );
            } else {
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn acts(steps: &[Step], act: Act) -> Vec<&str> {
    steps
        .iter()
        .filter(|step| step.act == act)
        .map(|step| step.what.as_str())
        .collect()
}

#[test]
fn a_second_start_changes_nothing() {
    let repo = Repo::new();
    repo.commit("a");
    start(&repo);
    let before = files(repo.path());
    let steps = start(&repo);
    assert_eq!(acts(&steps, Act::Created), [""; 0]);
    assert_eq!(acts(&steps, Act::Updated), [""; 0]);
    assert_eq!(files(repo.path()), before);
}

#[test]
fn a_dry_run_names_the_changes_and_makes_none() {
    let repo = Repo::new();
    repo.commit("a");
    let before = files(repo.path());
    let steps = start_with(
        &repo,
        Start {
            mode: Mode::DryRun,
            ..request()
        },
    );
    assert!(acts(&steps, Act::Created).contains(&"OPERATOR.md"));
    assert_eq!(files(repo.path()), before);
}

#[test]
fn uninstall_gives_back_the_bytes_of_hooks_attributes_and_config() {
    let repo = Repo::new();
    repo.commit("a");
    repo.write(".git/hooks/post-commit", "#!/bin/sh\necho mine");
    repo.write(".git/hooks/post-rewrite", "#!/bin/bash\ncat\n");
    repo.write(".git/info/attributes", "*.bin binary");
    repo.write("CLAUDE.md", "# Notes\n");
    let before = files(repo.path());
    start(&repo);
    assert_ne!(files(repo.path()), before);
    uninstall(&repo);
    let mut after = files(repo.path());
    after.retain(|name, _| !name.starts_with(".operator/"));
    let config = ".git/config";
    assert_eq!(settings(&after[config]), settings(&before[config]));
    after.insert(config.to_owned(), before[config].clone());
    assert_eq!(after, before);
}

/// The settings of a configuration file; git leaves an emptied section header behind.
fn settings(config: &[u8]) -> Vec<String> {
    let text = String::from_utf8(config.to_vec()).unwrap();
    text.lines()
        .filter(|line| line.starts_with('\t'))
        .map(str::to_owned)
        .collect()
}

#[test]
fn an_existing_hook_still_runs_and_gets_its_input() {
    let repo = Repo::new();
    repo.commit("a");
    let seen = repo.path().join("seen");
    repo.write(
        ".git/hooks/post-rewrite",
        format!("#!/bin/sh\ncat > '{}'\n", seen.display()),
    );
    repo.write(
        ".git/hooks/post-commit",
        format!("#!/bin/sh\necho ran >> '{}.commit'\n", seen.display()),
    );
    for hook in ["post-rewrite", "post-commit"] {
        let path = repo.path().join(".git/hooks").join(hook);
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    start(&repo);
    let old = repo.head();
    repo.git(["commit", "-q", "--amend", "--allow-empty", "-m", "b"]);
    assert_eq!(
        fs::read_to_string(&seen).unwrap(),
        format!("{old} {}\n", repo.head())
    );
    assert_eq!(
        fs::read_to_string(seen.with_extension("commit")).unwrap(),
        "ran\n"
    );
}

#[test]
fn hooks_outside_the_repository_are_not_edited() {
    let repo = Repo::new();
    repo.commit("a");
    let shared = repo.home().join("hooks");
    fs::create_dir_all(&shared).unwrap();
    repo.git(["config", "core.hooksPath", shared.to_str().unwrap()]);
    let steps = start(&repo);
    assert!(acts(&steps, Act::Warned).contains(&"core.hooksPath leads out of this repository"));
    assert_eq!(fs::read_dir(&shared).unwrap().count(), 0);
    assert_eq!(
        repo.git(["config", "core.hooksPath"]).trim(),
        shared.to_str().unwrap()
    );
}

#[test]
fn a_hook_manager_gets_a_line_to_add() {
    let repo = Repo::new();
    repo.commit("a");
    repo.write(".husky/pre-commit", "true\n");
    let steps = start_with(
        &repo,
        Start {
            hooks: HookPlace::Auto,
            ci: None,
            ..request()
        },
    );
    assert!(acts(&steps, Act::Warned).contains(&"hooks are managed by .husky"));
    assert!(!repo.path().join(".git/hooks/post-commit").exists());
}

#[test]
fn hooks_of_the_configuration_that_this_git_does_not_run_are_named() {
    let repo = Repo::new();
    repo.commit("a");
    let version = repo.git(["version"]);
    let mut numbers = version
        .split([' ', '.'])
        .skip(2)
        .map(|part| part.trim().parse());
    let mut next = || numbers.next().and_then(Result::ok).unwrap_or(0);
    let runs_them = (next(), next()) >= (2, 54);
    let steps = start_with(
        &repo,
        Start {
            hooks: HookPlace::Config,
            ci: None,
            ..request()
        },
    );
    let told = "this git runs no hooks that its configuration names: that takes git 2.54";
    assert_eq!(acts(&steps, Act::Warned).contains(&told), !runs_them);
}

#[test]
fn what_a_teammate_needs_is_tracked_and_nothing_else() {
    let repo = Repo::new();
    repo.commit("a");
    start(&repo);
    let ignored = |path: &str| repo.try_git(["check-ignore", "-q", path]).status.success();
    for name in [
        ".gitignore",
        ".gitattributes",
        "VERDICTS.md",
        "DECISIONS.md",
        "tiers.env",
        "requirements.yaml",
        "allowed_signers",
        "policies/a.yaml",
        "policies/deep/b.yaml",
        "specs/x.md",
        "handoff-2026-11-30.md",
        "verdicts.d/S1.md",
    ] {
        assert!(!ignored(&format!(".operator/{name}")), "{name}");
    }
    for name in [
        "bin/ops-task.sh",
        "pending/t1",
        "policies.local/a.yaml",
        "store.git/config",
        ".compress-spill/x",
        "new",
    ] {
        assert!(ignored(&format!(".operator/{name}")), "{name}");
    }
}

#[test]
fn an_older_ignore_list_is_replaced_with_a_copy_beside_it() {
    let repo = Repo::new();
    repo.commit("a");
    let old = "# gitignore v2 (allowlist)\n*\n!VERDICTS.md\n!armgate.on\n";
    repo.write(".operator/.gitignore", old);
    let steps = start(&repo);
    assert!(acts(&steps, Act::Warned).contains(&"'.operator/.gitignore' was replaced"));
    assert_eq!(repo.read(".operator/.gitignore.v2.bak"), old);
    assert!(repo.read(".operator/.gitignore").ends_with("!armgate.on\n"));
    assert_eq!(acts(&start(&repo), Act::Updated), [""; 0]);
}

#[test]
fn an_ignore_list_whose_copy_cannot_be_kept_stays() {
    let repo = Repo::new();
    repo.commit("a");
    repo.write(".operator/.gitignore", "pending/\n");
    symlink("/nowhere", repo.path().join(".operator/.gitignore.v1.bak")).unwrap();
    let steps = start(&repo);
    assert!(
        acts(&steps, Act::Warned).contains(&"'.operator/.gitignore' was not brought up to date")
    );
    assert_eq!(repo.read(".operator/.gitignore"), "pending/\n");
}

#[test]
fn a_rule_that_hides_the_views_is_named() {
    let repo = Repo::new();
    repo.write(".gitignore", ".operator/\n");
    repo.git(["add", "."]);
    repo.commit_staged("a");
    let steps = start(&repo);
    let warned = acts(&steps, Act::Warned).join("\n");
    assert!(
        warned.contains("is ignored by the rule .gitignore:1:.operator/"),
        "{warned}"
    );
}

#[test]
fn a_linked_operator_directory_is_refused() {
    let repo = Repo::new();
    repo.commit("a");
    symlink(repo.home(), repo.path().join(".operator")).unwrap();
    let opened = opened(&repo);
    let error = setup::start(repo.path(), opened.as_ref(), request()).unwrap_err();
    assert!(
        error.to_string().contains(".operator' is a symbolic link"),
        "{error}"
    );
    assert!(!repo.home().join("bin").exists());
}

#[test]
fn a_linked_memory_file_is_written_where_it_leads() {
    let repo = Repo::new();
    repo.write("AGENTS.md", "# Notes\n");
    symlink("AGENTS.md", repo.path().join("CLAUDE.md")).unwrap();
    repo.git(["add", "."]);
    repo.commit_staged("a");
    start(&repo);
    assert_eq!(
        repo.read("AGENTS.md"),
        "# Notes\n\n## Operator\n\n@OPERATOR.md\n"
    );
    assert!(
        fs::symlink_metadata(repo.path().join("CLAUDE.md"))
            .unwrap()
            .is_symlink()
    );
}

#[test]
fn a_changed_charter_is_kept_and_an_unchanged_one_is_brought_up_to_date() {
    let repo = Repo::new();
    repo.commit("a");
    start(&repo);
    let written = repo.read("OPERATOR.md");
    repo.write("OPERATOR.md", written.replace("verdict", "opinion"));
    assert!(acts(&start(&repo), Act::Kept).contains(&"OPERATOR.md"));
    assert!(repo.read("OPERATOR.md").contains("opinion"));
}

#[test]
fn the_inline_charter_is_added_once() {
    let repo = Repo::new();
    repo.write("CLAUDE.md", "# Notes");
    repo.git(["add", "."]);
    repo.commit_staged("a");
    let inline = Start {
        charter: Charter::Inline,
        ..request()
    };
    start_with(&repo, inline);
    let text = repo.read("CLAUDE.md");
    assert!(text.starts_with("# Notes\n\n## Operator\n\n"), "{text}");
    assert!(text.contains("### Solo mode"), "{text}");
    assert!(!repo.path().join("OPERATOR.md").exists());
    start_with(&repo, inline);
    assert_eq!(repo.read("CLAUDE.md"), text);
}

const CHARTERS: [Charter; 2] = [Charter::Import, Charter::Inline];

fn start_as(repo: &Repo, charter: Charter) -> Vec<Step> {
    start_with(
        repo,
        Start {
            charter,
            ..request()
        },
    )
}

#[test]
fn uninstall_gives_back_the_bytes_of_the_memory_file() {
    for charter in CHARTERS {
        for text in [
            "# P\nrules",
            "",
            "x",
            "x\n",
            "x\n\n",
            "x\n\n\n",
            "\n",
            "x\r\n",
        ] {
            let repo = Repo::new();
            repo.commit("a");
            repo.write("CLAUDE.md", text);
            start_as(&repo, charter);
            let written = repo.read("CLAUDE.md");
            start_as(&repo, charter);
            assert_eq!(repo.read("CLAUDE.md"), written, "{charter:?} {text:?}");
            uninstall(&repo);
            assert_eq!(repo.read("CLAUDE.md"), text, "{charter:?}");
        }
        let repo = Repo::new();
        repo.commit("a");
        start_as(&repo, charter);
        uninstall(&repo);
        assert!(!repo.path().join("CLAUDE.md").exists(), "{charter:?}");
    }
}

#[test]
fn what_was_added_below_the_charter_keeps_its_own_line() {
    for charter in CHARTERS {
        let repo = Repo::new();
        repo.commit("a");
        repo.write("CLAUDE.md", "rules");
        start_as(&repo, charter);
        let written = repo.read("CLAUDE.md");
        repo.write("CLAUDE.md", format!("{written}\nmore\n"));
        uninstall(&repo);
        assert_eq!(repo.read("CLAUDE.md"), "rules\n\nmore\n");
    }
}

#[test]
fn the_charter_is_loaded_once_in_whatever_form_it_was_put_first() {
    for (first, second) in [
        (Charter::Import, Charter::Inline),
        (Charter::Inline, Charter::Import),
    ] {
        let repo = Repo::new();
        repo.commit("a");
        repo.write("CLAUDE.md", "x\n");
        start_as(&repo, first);
        let written = repo.read("CLAUDE.md");
        start_as(&repo, second);
        assert_eq!(repo.read("CLAUDE.md"), written, "{first:?}");
        uninstall(&repo);
        assert_eq!(repo.read("CLAUDE.md"), "x\n", "{first:?}");
        assert!(!repo.path().join("OPERATOR.md").exists());
    }
}

#[test]
fn a_changed_inline_charter_is_kept_and_an_older_one_is_brought_up_to_date() {
    let repo = Repo::new();
    repo.commit("a");
    repo.write("CLAUDE.md", "x\n");
    start_as(&repo, Charter::Inline);
    let written = repo.read("CLAUDE.md");
    let changed = written.replace("verdict", "opinion");
    repo.write("CLAUDE.md", &changed);
    for charter in CHARTERS {
        assert!(acts(&start_as(&repo, charter), Act::Kept).contains(&"CLAUDE.md"));
        assert_eq!(repo.read("CLAUDE.md"), changed);
    }
    assert!(acts(&uninstall(&repo), Act::Kept).contains(&"CLAUDE.md"));
    assert_eq!(repo.read("CLAUDE.md"), changed);

    // As it was written before it had a seal.
    let seal = written.rfind("<!-- git-operator charter ").unwrap();
    repo.write("CLAUDE.md", &written[..seal]);
    start_as(&repo, Charter::Import);
    assert_eq!(repo.read("CLAUDE.md"), written);
}

#[test]
fn outside_a_repository_the_ledger_lies_in_the_project() {
    let repo = Repo::outside();
    let steps = start(&repo);
    assert!(acts(&steps, Act::Created).contains(&".operator/store.git"));
    assert!(repo.path().join(".operator/store.git/HEAD").exists());
    assert_eq!(acts(&start(&repo), Act::Created), [""; 0]);
}

#[test]
fn a_second_operator_directory_is_named() {
    let repo = Repo::new();
    repo.commit("a");
    repo.write("sub/.operator/VERDICTS.md", "x\n");
    let steps = start(&repo);
    assert!(acts(&steps, Act::Warned).contains(&"'sub/.operator' is a second '.operator'"));
}

#[test]
fn a_bare_repository_is_refused() {
    let repo = Repo::bare();
    let opened = opened(&repo);
    let error = setup::start(repo.path(), opened.as_ref(), request()).unwrap_err();
    assert!(
        error.to_string().contains("it is a bare repository"),
        "{error}"
    );
}

#[test]
fn a_job_that_verifies_is_written_once_and_then_the_projects() {
    use git_operator::setup::Ci;
    for (ci, path) in [
        (Ci::Github, ".github/workflows/git-operator.yml"),
        (Ci::Gitlab, ".gitlab/git-operator.yml"),
    ] {
        let repo = Repo::new();
        let asked = Start {
            ci: Some(ci),
            ..request()
        };
        let env = git_operator::git::Env::new(repo.env());
        let location = git_operator::git::locate(repo.path(), &env)
            .unwrap()
            .unwrap();
        let git = git_operator::git::Repo::open(&location, &env).unwrap();
        git_operator::setup::start(repo.path(), Some(&git), asked).unwrap();
        let text = repo.read(path);
        assert!(text.contains("git operator verify"), "{text}");
        assert!(text.contains(
            "git fetch --no-tags origin '+refs/operator/*:refs/operator-remotes/origin/*'"
        ));
        repo.write(path, "changed by hand\n");
        git_operator::setup::start(repo.path(), Some(&git), asked).unwrap();
        assert_eq!(repo.read(path), "changed by hand\n");
    }
}

#[test]
fn a_linked_hook_is_left_as_it_is_and_its_line_is_named() {
    let repo = Repo::new();
    repo.commit("a");
    repo.write("tools/pc", "#!/bin/sh\necho v1\n");
    let hooks = repo.path().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    symlink("../../tools/pc", hooks.join("post-commit")).unwrap();
    symlink("../../tools/none", hooks.join("post-merge")).unwrap();
    let before = files(&hooks);
    let steps = start(&repo);
    let warned = acts(&steps, Act::Warned);
    for name in ["post-commit", "post-merge"] {
        let what = format!("'.git/hooks/{name}' is a symbolic link");
        assert!(warned.contains(&what.as_str()), "{warned:?}");
        assert!(hooks.join(name).is_symlink());
    }
    assert_eq!(repo.read("tools/pc"), "#!/bin/sh\necho v1\n");
    let note = steps.iter().find_map(|step| {
        step.note
            .as_deref()
            .filter(|note| note.contains("post-merge"))
    });
    assert_eq!(
        note,
        Some("add a call of: git-operator git-hook post-merge \"$@\" || :")
    );
    uninstall(&repo);
    assert_eq!(files(&hooks), before);
    // Once it calls us there is nothing to say.
    repo.write(
        "tools/pc",
        "#!/bin/sh\ngit-operator git-hook post-commit \"$@\" || :\n",
    );
    let steps = start(&repo);
    let link = |what: &&&str| what.contains("post-commit");
    assert_eq!(acts(&steps, Act::Warned).iter().filter(link).count(), 0);
}

#[test]
fn a_linked_directory_of_hooks_that_others_share_is_not_edited() {
    let repo = Repo::new();
    repo.commit("a");
    let shared = repo.home().join("hooks");
    fs::create_dir_all(&shared).unwrap();
    let hooks = repo.path().join(".git/hooks");
    let _ = fs::remove_dir_all(&hooks);
    symlink(&shared, &hooks).unwrap();
    let steps = start(&repo);
    assert!(acts(&steps, Act::Warned).contains(&"'.git/hooks' leads out of this repository"));
    assert_eq!(fs::read_dir(&shared).unwrap().count(), 0);
}

#[test]
fn each_older_ignore_list_keeps_its_copy() {
    let repo = Repo::new();
    repo.commit("a");
    for list in ["pending\n", "pending\nother\n", "pending\n"] {
        repo.write(".operator/.gitignore", list);
        start(&repo);
    }
    assert_eq!(repo.read(".operator/.gitignore.v1.bak"), "pending\n");
    assert_eq!(
        repo.read(".operator/.gitignore.v1.bak.2"),
        "pending\nother\n"
    );
    assert!(!repo.path().join(".operator/.gitignore.v1.bak.3").exists());
}
