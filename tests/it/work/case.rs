//! Runs a shell script as somebody's session: hooks as the client sends them, commands beside them.

use std::process::{Command, Stdio};

use assert_fs::TempDir;
use serde_json::Value;

use crate::support::path_variable;

const PRELUDE: &str = include_str!("prelude.sh");

/// What a script printed.
pub(super) struct Ran {
    pub(super) stdout: String,
    pub(super) stderr: String,
    dir: TempDir,
}

/// Runs a script after the prelude, in a directory of its own; every hook and command of it must end
/// without a panic.
pub(super) fn run(script: &str) -> Ran {
    let dir = TempDir::new().unwrap();
    let output = Command::new("bash")
        .arg("-c")
        .arg(format!("{PRELUDE}\n{script}"))
        .current_dir(dir.path())
        .env_clear()
        .env("PATH", path_variable())
        .env("TMPDIR", dir.path().canonicalize().unwrap())
        .env("HOME", dir.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let ran = Ran {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        dir,
    };
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    ran
}

impl Ran {
    /// Returns the objects that `work --json` printed.
    pub(super) fn works(&self) -> Vec<Value> {
        let lines = self.stdout.lines();
        lines
            .filter(|line| line.starts_with(r#"{"v":1,"type":"work""#))
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Returns the last object that `work --json` printed.
    pub(super) fn work(&self) -> Value {
        self.works()
            .pop()
            .unwrap_or_else(|| panic!("{}", self.all()))
    }

    /// Says whether a line was printed exactly so.
    pub(super) fn has(&self, line: &str) -> bool {
        self.stdout.lines().any(|other| other == line)
    }

    /// Fails unless each line was printed exactly so.
    #[track_caller]
    pub(super) fn expect(&self, lines: &[&str]) {
        for line in lines {
            assert!(self.has(line), "no line {line:?} in\n{}", self.all());
        }
    }

    pub(super) fn all(&self) -> String {
        format!("stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr)
    }

    pub(super) fn dir(&self) -> &std::path::Path {
        self.dir.path()
    }
}

/// Fails unless the list `name` of a `work --json` object is exactly this.
#[track_caller]
pub(super) fn list(work: &Value, name: &str, wanted: &[&str]) {
    let found: Vec<&str> = work[name]
        .as_array()
        .unwrap()
        .iter()
        .map(|path| path.as_str().unwrap())
        .collect();
    assert_eq!(found, wanted, "{name} in {work}");
}
