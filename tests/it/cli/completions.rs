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
