//! The launcher under every shell that is at hand, from a folder whose name needs quoting.

use std::{
    fs,
    io::Write,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use assert_fs::TempDir;

use super::{at, json};

const SHELLS: [&str; 3] = ["/bin/sh", "/bin/dash", "/bin/bash"];
const TOOLS: &str = "/usr/bin:/bin";

struct Install {
    dir: TempDir,
}

impl Install {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let bin = dir.path().join("it's my \"plug\" (x86) $1/bin");
        fs::create_dir_all(&bin).unwrap();
        for name in ["git-operator", "cc-operator-statusline"] {
            // Links, since a file that was just written may still be open in a sibling that forked.
            symlink(at("plugin/bin").join(name), bin.join(name)).unwrap();
        }
        fs::create_dir(dir.path().join("home")).unwrap();
        Self { dir }
    }

    fn bin(&self) -> PathBuf {
        self.dir.path().join("it's my \"plug\" (x86) $1/bin")
    }

    /// Puts a program that says who it is and with which arguments at `dir/git-operator`.
    fn binary(&self, dir: &str) -> String {
        let dir = self.dir.path().join(dir);
        fs::create_dir_all(&dir).unwrap();
        symlink(at("tests/it/plugin/fake-binary"), dir.join("git-operator")).unwrap();
        dir.to_str().unwrap().to_owned()
    }

    /// Puts a program that a launcher must never run where relative elements of PATH lead.
    fn tool(&self, name: &str) {
        for dir in [".", "rel"] {
            let dir = self.dir.path().join(dir);
            fs::create_dir_all(&dir).unwrap();
            symlink(at("tests/it/plugin/fake-binary"), dir.join(name)).unwrap();
        }
    }

    fn command(&self, shell: &str, script: &Path) -> Command {
        let mut command = Command::new(shell);
        command
            .arg(script)
            .env_clear()
            .env("HOME", self.dir.path().join("home"))
            .env("PATH", TOOLS)
            .current_dir(self.dir.path());
        command
    }

    fn launcher(&self, shell: &str) -> Command {
        self.command(shell, &self.bin().join("git-operator"))
    }
}

fn shells() -> impl Iterator<Item = &'static str> {
    SHELLS.into_iter().filter(|shell| Path::new(shell).exists())
}

fn run(command: &mut Command, stdin: &str) -> Output {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(stdin.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

fn out(output: &Output) -> (i32, String, String) {
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout.clone()).unwrap(),
        String::from_utf8(output.stderr.clone()).unwrap(),
    )
}

#[test]
fn the_binary_on_path_is_run_with_its_arguments_and_never_the_launcher_itself() {
    let install = Install::new();
    let real = install.binary("real dir");
    let own = install.bin();
    let copy = install.dir.path().join("copy");
    fs::create_dir(&copy).unwrap();
    fs::copy(own.join("git-operator"), copy.join("git-operator")).unwrap();
    let linked = install.dir.path().join("linked");
    fs::create_dir(&linked).unwrap();
    symlink(own.join("git-operator"), linked.join("git-operator")).unwrap();
    let path = format!(
        "{}:{}:{}:{real}:{TOOLS}",
        own.display(),
        copy.display(),
        linked.display()
    );
    for shell in shells() {
        let mut command = install.launcher(shell);
        command.env("PATH", &path).args(["log", "a b", "$x", ""]);
        assert_eq!(
            out(&run(&mut command, "")),
            (
                0,
                format!("{real}/git-operator\n<log><a b><$x><>"),
                String::new()
            ),
            "{shell}"
        );
    }
}

#[test]
fn without_one_on_path_the_plugin_data_and_then_cargo_are_searched() {
    let install = Install::new();
    let cargo = install.binary("home/.cargo/bin");
    for shell in shells() {
        let found = out(&run(install.launcher(shell).arg("log"), ""));
        assert_eq!(found.1, format!("{cargo}/git-operator\n<log>"), "{shell}");
    }
    let data = install.binary("home/.claude/plugins/data/cc-operator-git-operator/bin");
    for shell in shells() {
        let found = out(&run(install.launcher(shell).arg("log"), ""));
        assert_eq!(found.1, format!("{data}/git-operator\n<log>"), "{shell}");
    }
    let named = install.binary("named/bin");
    for shell in shells() {
        let mut command = install.launcher(shell);
        command.env("CLAUDE_PLUGIN_DATA", install.dir.path().join("named"));
        let found = out(&run(command.arg("log"), ""));
        assert_eq!(found.1, format!("{named}/git-operator\n<log>"), "{shell}");
    }
}

#[test]
fn a_relative_or_empty_path_element_is_not_searched() {
    let install = Install::new();
    install.binary(".");
    install.binary("rel");
    for shell in shells() {
        let mut command = install.launcher(shell);
        command.env("PATH", format!(":.:rel:{TOOLS}:")).arg("log");
        let (code, stdout, stderr) = out(&run(&mut command, ""));
        assert_eq!((code, stdout.as_str()), (128, ""), "{shell}");
        assert!(
            stderr.starts_with("error: cannot run 'git operator': "),
            "{stderr}"
        );
        assert_eq!(stderr.lines().count(), 1);
    }
}

#[test]
fn without_a_binary_the_session_start_says_so_once_and_every_other_hook_is_silent() {
    let install = Install::new();
    for shell in shells() {
        for event in json("plugin/hooks/hooks.json")["hooks"]
            .as_object()
            .unwrap()
            .keys()
        {
            for spelled in [
                format!(r#"{{"session_id":"s","hook_event_name":"{event}","source":"startup"}}"#),
                format!("{{\n  \"hook_event_name\": \"{event}\",\n  \"source\": \"clear\"\n}}"),
            ] {
                let (code, stdout, stderr) =
                    out(&run(install.launcher(shell).arg("hook"), &spelled));
                assert_eq!((code, stderr.as_str()), (0, ""), "{shell} {event}");
                if event == "SessionStart" {
                    let reply: serde_json::Value = serde_json::from_str(&stdout).unwrap();
                    let line = reply["systemMessage"].as_str().unwrap();
                    assert!(
                        line.starts_with("git-operator is not installed, "),
                        "{line}"
                    );
                    assert!(!line.contains('\n'));
                    let output = &reply["hookSpecificOutput"];
                    assert_eq!(output["hookEventName"], "SessionStart");
                    assert_eq!(output["additionalContext"], line);
                } else {
                    assert_eq!(stdout, "", "{shell} {event}");
                }
            }
        }
    }
}

#[test]
fn without_a_binary_a_compaction_a_quoted_event_and_a_large_payload_are_silent() {
    let install = Install::new();
    let quoted = r#"{"hook_event_name":"PostToolUse","tool_response":
        {"stdout":"{\"hook_event_name\":\"SessionStart\"}"}}"#;
    let large = format!(
        r#"{{"hook_event_name":"PostToolUse","tool_response":"{}"}}"#,
        "x".repeat(1 << 20)
    );
    let compact = r#"{"hook_event_name":"SessionStart","source":"compact"}"#;
    for shell in shells() {
        for payload in [quoted, &large, compact, "", "not json"] {
            let found = out(&run(install.launcher(shell).arg("hook"), payload));
            assert_eq!(found, (0, String::new(), String::new()), "{shell}");
        }
    }
}

/// Values of PATH without the tools of the system; `None` is no PATH at all.
const BARE: [Option<&str>; 4] = [None, Some(""), Some("/nonexistent"), Some(":.:rel")];

#[test]
fn without_a_binary_and_without_tools_on_path_the_line_is_the_same() {
    let install = Install::new();
    for tool in ["dd", "tr", "cat", "timeout"] {
        install.tool(tool);
    }
    let start = r#"{"session_id":"s","hook_event_name":"SessionStart","source":"startup"}"#;
    let stop = r#"{"session_id":"s","hook_event_name":"Stop"}"#;
    for shell in shells() {
        let expected = out(&run(install.launcher(shell).arg("hook"), start));
        assert!(expected.1.contains("git-operator is not installed, "));
        for path in BARE {
            let bare = || {
                let mut command = install.launcher(shell);
                match path {
                    Some(path) => command.env("PATH", path),
                    None => command.env_remove("PATH"),
                };
                command
            };
            let said = out(&run(bare().arg("hook"), start));
            assert_eq!(said, expected, "{shell} {path:?}");
            for (arguments, stdin) in [
                (&["hook"][..], stop),
                (&["statusline"], "{}"),
                (&["git-hook", "post-commit"], ""),
            ] {
                let said = out(&run(bare().args(arguments), stdin));
                let silent = (0, String::new(), String::new());
                assert_eq!(said, silent, "{shell} {path:?} {arguments:?}");
            }
            let (code, stdout, stderr) = out(&run(bare().arg("log"), ""));
            assert_eq!((code, stdout.as_str()), (128, ""), "{shell} {path:?}");
            assert_eq!(stderr.lines().count(), 1, "{stderr}");
        }
    }
}

#[test]
fn without_a_binary_a_client_that_never_closes_its_end_is_not_waited_for() {
    let install = Install::new();
    if !Path::new("/usr/bin/timeout").exists() {
        return;
    }
    for shell in shells() {
        for (argument, payload) in [
            ("hook", r#"{"hook_event_name":"SessionStart"}"#),
            ("hook", r#"{"hook_event_name":"Stop"}"#),
            ("statusline", "{}"),
        ] {
            // The limit only ends a launcher that would wait for ever.
            let mut command = Command::new("/usr/bin/timeout");
            let script = install.bin().join("git-operator");
            command.args(["60", shell]).arg(script).arg(argument);
            command.env_clear().env("HOME", install.dir.path());
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let mut open = child.stdin.take().unwrap();
            open.write_all(payload.as_bytes()).unwrap();
            let status = child.wait().unwrap();
            assert_eq!(status.code(), Some(0), "{shell} {argument}");
            drop(open);
        }
    }
}

#[test]
fn without_a_binary_the_status_line_is_empty_and_a_git_hook_passes() {
    let install = Install::new();
    for shell in shells() {
        for arguments in [&["statusline"][..], &["git-hook", "post-commit"]] {
            let stdin = if arguments.len() == 1 { "{}" } else { "" };
            let found = out(&run(install.launcher(shell).args(arguments), stdin));
            assert_eq!(found, (0, String::new(), String::new()), "{shell}");
        }
    }
}

#[test]
fn the_status_line_script_works_from_another_directory() {
    let install = Install::new();
    let real = install.binary("real");
    let script = install.bin().join("cc-operator-statusline");
    for shell in shells() {
        let mut command = install.command(shell, &script);
        command
            .env("PATH", format!("{real}:{TOOLS}"))
            .current_dir("/");
        let found = out(&run(&mut command, "{}"));
        assert_eq!(
            found.1,
            format!("{real}/git-operator\n<statusline>"),
            "{shell}"
        );
        let mut beside = install.command(shell, Path::new("cc-operator-statusline"));
        beside
            .env("PATH", format!("{real}:{TOOLS}"))
            .current_dir(install.bin());
        let found = out(&run(&mut beside, "{}"));
        assert_eq!(
            found.1,
            format!("{real}/git-operator\n<statusline>"),
            "{shell}"
        );
    }
}
