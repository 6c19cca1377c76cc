use std::{
    ffi::{OsStr, OsString},
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use predicates::{Predicate, str::diff};

/// What a run of the program printed and returned.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The exit code; 128 plus the signal when one killed it.
    pub(crate) code: i32,
}

/// One run of `git-operator`; whatever is not expected must be empty, and the exit code 0.
#[must_use = "call check() or run()"]
#[derive(Clone)]
pub(crate) struct Operator {
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    cwd: PathBuf,
    stdin: Vec<u8>,
    stdout: String,
    stderr: String,
    code: i32,
}

impl Operator {
    pub(crate) fn new(cwd: &Path, env: Vec<(OsString, OsString)>) -> Self {
        Self {
            args: Vec::new(),
            env,
            cwd: cwd.to_owned(),
            stdin: Vec::new(),
            stdout: String::new(),
            stderr: String::new(),
            code: 0,
        }
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self = self.env_remove(name);
        self.env.push((name.into(), value.as_ref().to_owned()));
        self
    }

    pub(crate) fn env_remove(mut self, name: &str) -> Self {
        self.env.retain(|(known, _)| known != name);
        self
    }

    pub(crate) fn cwd(mut self, dir: impl AsRef<Path>) -> Self {
        self.cwd = dir.as_ref().to_owned();
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.stdin = bytes.as_ref().to_owned();
        self
    }

    /// Expects exactly `text` on stdout.
    pub(crate) fn stdout(mut self, text: impl Into<String>) -> Self {
        self.stdout = text.into();
        self
    }

    /// Expects exactly `text` on stderr.
    pub(crate) fn stderr(mut self, text: impl Into<String>) -> Self {
        self.stderr = text.into();
        self
    }

    /// Expects the exit code `code`.
    pub(crate) fn exit(mut self, code: i32) -> Self {
        self.code = code;
        self
    }

    /// Runs the program and returns what it printed, whatever was expected.
    pub(crate) fn run(&self) -> Output {
        let mut child = self.command().spawn().unwrap();
        // A program that ends without reading its stdin breaks the pipe; that is its right.
        let _ = child.stdin.take().unwrap().write_all(&self.stdin);
        let output = child.wait_with_output().unwrap();
        Output {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: code(output.status),
        }
    }

    /// Runs the program and compares all it printed and its exit code with what is expected.
    #[track_caller]
    pub(crate) fn check(&self) -> Output {
        let output = self.run();
        let stdout = diff(self.stdout.clone());
        let stderr = diff(self.stderr.clone());
        let as_expected =
            stdout.eval(&output.stdout) && stderr.eval(&output.stderr) && output.code == self.code;
        assert!(
            as_expected,
            "git-operator {:?}\nexit {} (expected {})\nstdout: {stdout}\nstderr: {stderr}\nstdout was:\n{}\nstderr was:\n{}",
            self.args, output.code, self.code, output.stdout, output.stderr
        );
        output
    }

    /// Returns the command, its streams piped, for a test that must hold the process.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_git-operator"));
        command
            .args(&self.args)
            .current_dir(&self.cwd)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

fn code(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap())
}
