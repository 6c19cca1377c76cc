use crate::support::Repo;

#[test]
fn a_wrong_command_line_exits_129() {
    let repo = Repo::outside();
    for args in [
        &["no-such"][..],
        &["--no-such"],
        &["completions", "tcsh"],
        &["completions"],
        &["hook", "Stop", "surplus"],
        &["-q", "-v", "completions", "bash"],
        &["--color=blue", "completions", "bash"],
        &[],
    ] {
        let output = repo.operator(args).run();
        assert_eq!((output.code, output.stdout.as_str()), (129, ""), "{args:?}");
        assert!(!output.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn the_predecessors_scripts_exit_2_instead() {
    let repo = Repo::outside();
    let output = repo.operator(["--compat", "completions"]).run();
    assert_eq!(output.code, 2);
}

#[test]
fn control_bytes_of_the_command_line_do_not_come_back() {
    let repo = Repo::outside();
    for word in ["\x1b[2J", "a\rb", "--x=\u{9b}31m"] {
        let output = repo.operator([word]).run();
        assert_eq!(output.code, 129);
        let raw = output.stderr.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(raw, None, "{word:?}");
    }
}

#[test]
fn the_version_is_that_of_the_crate() {
    Repo::outside()
        .operator(["--version"])
        .stdout(concat!("git-operator ", env!("CARGO_PKG_VERSION"), "\n"))
        .check();
}

#[test]
fn short_help_leaves_out_what_only_programs_call() {
    let repo = Repo::outside();
    let short = repo.operator(["-h"]).run().stdout;
    assert!(short.contains("completions"));
    assert!(!short.contains("statusline"));
    for args in [&["--help"][..], &["help"]] {
        let long = repo.operator(args).run().stdout;
        assert!(long.contains("statusline"), "{args:?}");
        assert!(long.contains("129  usage"), "{args:?}");
    }
}

#[test]
fn the_description_of_the_command_line_holds_together() {
    git_operator::cli::tree().debug_assert();
}

#[test]
fn a_wrong_number_is_told_in_words() {
    let repo = Repo::outside();
    for (number, why) in [
        ("abc", "expected a number"),
        ("", "expected a number"),
        ("99999999999999999999999", "too large a number"),
    ] {
        let said = repo.operator(["log", "-n", number]).run();
        let wanted = format!("error: invalid value '{number}' for '--max-count <N>': {why}\n");
        let line = said.stderr.split_inclusive('\n').next().unwrap();
        assert_eq!((line, said.code), (&*wanted, 129));
    }
}

#[test]
fn what_the_system_says_is_told_as_everything_else() {
    let repo = Repo::new();
    repo.commit("a");
    for args in [
        &["run", "T", "c", "--owner", "S", "--", "/absent"][..],
        &["policy", "check", "absent.yaml"],
        &["policy", "test", "absent.yaml"],
    ] {
        let output = repo.operator(args).run();
        let said = output.stdout + &output.stderr;
        assert!(said.contains(": no such file or directory\n"), "{said}");
    }
}

#[test]
fn help_names_every_command_once_and_fits_80_columns() {
    let repo = Repo::outside();
    for args in [&["-h"][..], &["--help"]] {
        let help = repo.operator(args).run().stdout;
        for command in git_operator::cli::tree().get_subcommands() {
            let name = command.get_name();
            let of = |line: &&str| {
                line.strip_prefix("  ").and_then(|l| l.split(' ').next()) == Some(name)
            };
            let wanted = usize::from(!command.is_hide_set() || args == ["--help"]);
            assert_eq!(help.lines().filter(of).count(), wanted, "{name}: {help}");
        }
        let groups = help.split("\nOptions:").next().unwrap();
        for line in groups.lines().filter(|line| line.starts_with("  ")) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

#[test]
fn every_command_has_help() {
    let repo = Repo::outside();
    for command in git_operator::cli::tree().get_subcommands() {
        let name = command.get_name();
        assert!(command.get_about().is_some(), "{name}");
        let help = repo.operator(["help", name]).run();
        assert_eq!((help.code, help.stderr.as_str()), (0, ""), "{name}");
        assert!(
            help.stdout.contains(&format!("git-operator {name}")),
            "{name}"
        );
    }
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let repo = Repo::outside();
    let missing = repo.path().join("missing");
    repo.operator(["-C", "missing", "install-man", "pages"])
        .stderr(format!(
            "error: cannot change to '{}': no such file or directory\n",
            missing.display()
        ))
        .exit(128)
        .check();
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let repo = Repo::outside();
    let mut child = repo
        .operator(["completions", "bash"])
        .command()
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_full_disk_is_a_failure() {
    let Ok(full) = std::fs::File::options().write(true).open("/dev/full") else {
        return;
    };
    let repo = Repo::outside();
    let mut command = repo.operator(["completions", "bash"]).command();
    let output = command
        .stdout(full)
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap();
    assert_eq!(output.status.code(), Some(128));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: cannot write to standard output: no space left on device\n"
    );
}
