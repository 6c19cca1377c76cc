use std::{
    ffi::{OsStr, OsString},
    io::{self, Read, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use super::{Error, HOOK_GUARD, Location, Repo, repo::Children};

/// What a child left: its exit code and its streams.
#[derive(Debug)]
pub struct Finished {
    /// The exit code; 128 plus the signal when one killed it.
    pub code: i32,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    command: String,
}

/// One child git, its arguments given as such, never through a shell.
#[must_use = "call run() or output()"]
pub struct Git<'repo> {
    repo: &'repo Repo,
    args: Vec<OsString>,
    stdin: Vec<u8>,
    deadline: Option<Duration>,
    env: Vec<(OsString, OsString)>,
    talk: Talk,
}

/// Where what a child says on stderr goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Talk {
    Kept,
    Shown,
}

impl Repo {
    /// Prepares git with these arguments for this repository and no other, whatever the environment
    /// says.
    pub fn git<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Git<'_> {
        Git {
            repo: self,
            args: args
                .into_iter()
                .map(|arg| arg.as_ref().to_owned())
                .collect(),
            stdin: Vec::new(),
            deadline: None,
            env: Vec::new(),
            talk: Talk::Kept,
        }
    }
}

impl Git<'_> {
    /// Gives the child these bytes to read.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Kills the child after `deadline`; with its own children when it was told not to prompt
    /// (GIT_TERMINAL_PROMPT=0), as it then needs no terminal and can lead a group of its own.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Lets what the child says on stderr, its progress for one, through to ours instead of keeping it.
    pub fn talking(mut self) -> Self {
        self.talk = Talk::Shown;
        self
    }

    /// Keeps the child from taking locks it can do without, as a reader must.
    pub fn read_only(self) -> Self {
        self.env("GIT_OPTIONAL_LOCKS", "0")
    }

    /// Sets a variable for the child.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env
            .push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Runs the child and returns its stdout; an exit code other than 0 is an error.
    pub fn output(self) -> Result<Vec<u8>, Error> {
        let finished = self.run()?;
        match finished.code {
            0 => Ok(finished.stdout),
            _ => Err(finished.error()),
        }
    }

    /// Runs the child to its end, whatever its exit code.
    pub fn run(self) -> Result<Finished, Error> {
        let name = self.name();
        if self.repo.children == Children::Never {
            return Err(Error::Git {
                command: name,
                reason: "git is never started in a store".to_owned(),
            });
        }
        let mut command = self.command();
        self.repo.env.trace(|| {
            let args: Vec<_> = self.args.iter().map(|arg| arg.to_string_lossy()).collect();
            format!("run: git {}", args.join(" "))
        });
        let dir_is_there = command.get_current_dir().is_some_and(Path::is_dir);
        let child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound if dir_is_there => Error::GitMissing {
                command: name.clone(),
            },
            _ => Error::Git {
                command: name.clone(),
                reason: error.to_string(),
            },
        })?;
        finish(child, self.stdin, self.deadline, name)
    }

    fn command(&self) -> Command {
        let Location {
            top,
            git_dir,
            common_dir,
        } = &self.repo.location;
        let mut command = Command::new("git");
        command.arg("--no-pager").arg("--git-dir").arg(git_dir);
        if let Some(top) = top {
            command.arg("--work-tree").arg(top);
        }
        let quiet = self
            .env
            .iter()
            .any(|(name, value)| name == "GIT_TERMINAL_PROMPT" && value == "0");
        if self.deadline.is_some() && quiet {
            command.process_group(0);
        }
        command
            .args(&self.args)
            .current_dir(top.as_ref().unwrap_or(common_dir))
            .env_clear()
            .envs(self.repo.env.child_vars())
            .env(HOOK_GUARD, "1")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(match self.talk {
                Talk::Kept => Stdio::piped(),
                Talk::Shown => Stdio::inherit(),
            });
        command
    }

    fn name(&self) -> String {
        let mut words = self.args.iter().map(|arg| arg.to_string_lossy());
        let mut name = String::new();
        while let Some(word) = words.next() {
            if word == "-c" {
                words.next();
            } else if !word.starts_with('-') {
                name = word.into_owned();
                break;
            }
        }
        name
    }
}

impl Finished {
    /// Returns the error that this end of the child means.
    pub fn error(&self) -> Error {
        let text = String::from_utf8_lossy(&self.stderr);
        let lines = text.lines().map(str::trim);
        let first = lines.map(|line| {
            line.trim_start_matches("fatal: ")
                .trim_start_matches("error: ")
        });
        let reason = first
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .next();
        Error::Git {
            command: self.command.clone(),
            reason: reason.unwrap_or_else(|| format!("it ended with code {}", self.code)),
        }
    }
}

fn finish(
    mut child: Child,
    stdin: Vec<u8>,
    deadline: Option<Duration>,
    command: String,
) -> Result<Finished, Error> {
    let (sender, receiver) = mpsc::channel();
    let mut input = child.stdin.take();
    thread::spawn(move || {
        // A child that ends without reading all of it breaks the pipe; its exit code says why.
        let _ = input.as_mut().map(|input| input.write_all(&stdin));
    });
    let stdout = collect(child.stdout.take(), sender.clone());
    let stderr = collect(child.stderr.take(), sender);
    let started = Instant::now();
    for _ in 0..2 {
        let Some(deadline) = deadline else {
            // A reader that fails says so when it is joined.
            let _ = receiver.recv();
            continue;
        };
        let left = deadline.saturating_sub(started.elapsed());
        if receiver.recv_timeout(left).is_err() {
            kill(&mut child);
            return Err(Error::Deadline { command, deadline });
        }
    }
    let failed = |error: io::Error| Error::Git {
        command: command.clone(),
        reason: error.to_string(),
    };
    let status = child.wait().map_err(failed)?;
    Ok(Finished {
        code: code(status),
        stdout: joined(stdout).map_err(failed)?,
        stderr: joined(stderr).map_err(failed)?,
        command,
    })
}

/// Kills the child, and with it what it started where it leads a group of its own.
fn kill(child: &mut Child) {
    use nix::{
        sys::signal::{Signal, killpg},
        unistd::{Pid, getpgid},
    };
    // Killing a child that has just ended fails, and nothing is lost by it.
    let pid = i32::try_from(child.id()).map(Pid::from_raw);
    if let Ok(pid) = pid
        && getpgid(Some(pid)) == Ok(pid)
    {
        let _ = killpg(pid, Signal::SIGKILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

type Reader = thread::JoinHandle<io::Result<Vec<u8>>>;

fn collect(stream: Option<impl Read + Send + 'static>, done: mpsc::Sender<()>) -> Reader {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let result = match stream {
            Some(mut stream) => stream.read_to_end(&mut bytes).map(|_| bytes),
            None => Ok(bytes),
        };
        // The receiver is gone when the deadline has passed.
        let _ = done.send(());
        result
    })
}

fn joined(reader: Reader) -> io::Result<Vec<u8>> {
    reader
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("its output could not be read")))
}

fn code(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
