use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

use crate::support::Repo;

fn test_run() -> String {
    let passed: String = (1..=3000)
        .map(|i| format!("test mod::case_{i} ... ok\n"))
        .collect();
    let built: String = (1..=3000)
        .map(|i| format!("   Compiling dep{i} v1.0.0\n"))
        .collect();
    format!(
        "{passed}test mod::bad ... FAILED\n{built}thread 'main' panicked at src/lib.rs:9:5:\n\
         left: 1\nright: 2\nerror: test failed, to rerun pass `--lib`\n"
    )
}

fn cited(text: &str) -> PathBuf {
    let rest = text.split("whole output: ").nth(1).expect("a cited spill");
    PathBuf::from(rest.split(']').next().unwrap())
}

#[test]
fn the_output_of_a_command_is_shortened_and_lies_whole_under_operator() {
    let repo = Repo::new();
    repo.operator(["start"]).run();
    let out = test_run();
    let output = repo
        .operator(["compress", "--tool", "Bash"])
        .stdin(&out)
        .run();
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    assert!(output.stdout.len() < 12_000);
    for line in ["FAILED", "panicked", "left: 1", "right: 2", "error:"] {
        assert!(output.stdout.contains(line), "{line}");
    }
    let spill = cited(&output.stdout);
    assert!(spill.starts_with(repo.path().join(".operator/.compress-spill")));
    assert_eq!(fs::read_to_string(&spill).unwrap(), out);
    assert_eq!(
        fs::metadata(&spill).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(
        repo.try_git(["check-ignore", "-q", spill.to_str().unwrap()])
            .status
            .code(),
        Some(0)
    );
}

#[test]
fn a_tool_that_is_never_shortened_passes_byte_for_byte() {
    let repo = Repo::new();
    let out = test_run();
    for tool in [
        "Read",
        "Edit",
        "Write",
        "NotebookEdit",
        "mcp__x__y",
        "Other",
    ] {
        repo.operator(["compress", "--tool", tool])
            .stdin(&out)
            .stdout(&out)
            .check();
    }
}

#[test]
fn bytes_that_are_no_text_pass_and_no_character_is_cut() {
    let repo = Repo::new();
    let mut child = repo.operator(["compress"]).command().spawn().unwrap();
    let bytes = b"\xff\xfe".repeat(50_000);
    let mut stdin = child.stdin.take().unwrap();
    let written = bytes.clone();
    let writer = std::thread::spawn(move || std::io::Write::write_all(&mut stdin, &written));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert_eq!(output.stdout, bytes);
    for n in 0..8 {
        let text = "x".repeat(n) + &"日本語é👩‍👩‍👧".repeat(4_000);
        let small = repo
            .operator(["compress"])
            .env("TMPDIR", repo.dir())
            .stdin(&text)
            .run()
            .stdout;
        assert!(small.len() < text.len() && !small.contains('\u{fffd}'));
    }
}

#[test]
fn a_project_that_was_not_started_gets_no_directory() {
    let repo = Repo::new();
    let small = repo
        .operator(["compress"])
        .env("TMPDIR", repo.dir())
        .stdin(test_run())
        .run()
        .stdout;
    assert!(cited(&small).starts_with(repo.dir()));
    assert!(!repo.path().join(".operator").exists());
    assert_eq!(repo.git(["status", "--porcelain", "--ignored"]), "");
}

#[test]
fn colors_go_and_secrets_are_masked_whatever_the_size() {
    let repo = Repo::new();
    let run = |text: &str| {
        repo.operator(["compress"])
            .env("TMPDIR", repo.dir())
            .stdin(text)
            .run()
            .stdout
    };
    assert_eq!(run("\u{1b}[1;31mred\u{1b}[0m\n"), "red\n");
    assert_eq!(
        run("AWS_SECRET_ACCESS_KEY=AKIAEXAMPLEEXAMPLE00\n"),
        "AWS_SECRET_ACCESS_KEY=[masked:aws-key]\n"
    );
    assert_eq!(run("plain\n"), "plain\n");
    let off = repo
        .operator(["compress"])
        .env("CC_OPERATOR_COMPRESS", "0")
        .stdin("\u{1b}[1;31mred\u{1b}[0m\n")
        .run();
    assert_eq!(off.stdout, "\u{1b}[1;31mred\u{1b}[0m\n");
}
