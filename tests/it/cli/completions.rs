use std::process::Command;

use crate::support::Repo;

#[test]
fn every_shell_gets_a_script() {
    let repo = Repo::outside();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = repo.operator(["completions", shell]).run();
        assert_eq!(output.code, 0, "{shell}");
        assert!(output.stdout.contains("git-operator"), "{shell}");
        assert_eq!(output.stderr, "", "{shell}");
        let offered = |word: &str| output.stdout.contains(word);
        assert!(!offered("--compat") && !offered("-l compat"), "{shell}");
    }
}

#[test]
fn bash_completes_the_words_after_git_operator() {
    let repo = Repo::outside();
    let script = repo.operator(["completions", "bash"]).run().stdout;
    repo.write("ours", script);
    // git's own completion calls the function of the command with the words of the line.
    repo.write(
        "try",
        "complete() { :; }; compopt() { :; }; . ./ours\n\
         COMP_WORDS=(git operator comp); COMP_CWORD=2; COMP_LINE='git operator comp'; COMP_POINT=17\n\
         _git_operator && printf '%s\\n' \"${COMPREPLY[@]}\"\n",
    );
    let output = Command::new("bash")
        .arg("try")
        .current_dir(repo.path())
        .env_clear()
        .envs(repo.env())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!((&*stdout, &*stderr), ("completions\ncompress\n", ""));
}

/// Types a line and TAB in an interactive bash, and returns what then stands there.
fn tab(repo: &Repo, setup: &str, typed: &str) -> Option<String> {
    use std::{fs, io::Write as _, process::Stdio};
    if !std::path::Path::new("/usr/bin/script").exists() {
        crate::support::skipped("script(1) is not installed");
        return None;
    }
    let script = repo.operator(["completions", "bash"]).run().stdout;
    repo.write("ours", script);
    fs::write(repo.home().join(".inputrc"), "set bell-style none\n").unwrap();
    repo.write("rc", format!("PS1='> '\n{setup}\n. ./ours\n"));
    let mut child = Command::new("script")
        .args(["-qec", "bash --noprofile --rcfile rc -i", "/dev/null"])
        .current_dir(repo.path())
        .env_clear()
        .envs(repo.env())
        .env("TERM", "dumb")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("{typed}\t\n").as_bytes()).unwrap();
    stdin.write_all(b"exit\n").unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn tab_completes_in_bash() {
    let repo = Repo::new();
    if let Some(shown) = tab(&repo, "", "git-operator install-m") {
        assert!(shown.contains("> git-operator install-man"), "{shown}");
    }
    let gits = "/usr/share/bash-completion/completions/git";
    if !std::path::Path::new(gits).exists() {
        return crate::support::skipped("git's own completion is not installed");
    }
    if let Some(shown) = tab(&repo, &format!(". {gits}"), "git operator install-m") {
        assert!(shown.contains("> git operator install-man"), "{shown}");
    }
}

#[test]
fn the_scripts_of_other_shells_can_be_read_by_them() {
    let repo = Repo::outside();
    for (shell, check) in [("zsh", "-n"), ("fish", "--no-execute"), ("bash", "-n")] {
        let script = repo.operator(["completions", shell]).run().stdout;
        repo.write("script", script);
        let run = Command::new(shell)
            .args([check, "script"])
            .current_dir(repo.path())
            .env_clear()
            .envs(repo.env())
            .output();
        let Ok(output) = run else {
            crate::support::skipped(&format!("{shell} is not installed"));
            continue;
        };
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{shell}: {stderr}");
    }
}
