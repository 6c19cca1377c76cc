use std::{
    ffi::{OsStr, OsString},
    fs, io,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{Error, HOOK_GUARD, Location, Repo, repo::Children, streams::Streams};

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
    program: OsString,
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
        self.child("git").args(args)
    }

    /// Prepares a program as git runs it as a hook of this repository: at the top, told by GIT_DIR
    /// which repository it is.
    pub fn program(&self, path: impl AsRef<OsStr>) -> Git<'_> {
        self.child(path)
    }

    fn child(&self, program: impl AsRef<OsStr>) -> Git<'_> {
        Git {
            repo: self,
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            stdin: Vec::new(),
            deadline: None,
            env: Vec::new(),
            talk: Talk::Kept,
        }
    }
}

impl Git<'_> {
    /// Gives the child these arguments, too.
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

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
        self.run()?.output()
    }

    /// Runs the child to its end, whatever its exit code.
    pub fn run(self) -> Result<Finished, Error> {
        let (mut child, task) = self.spawned()?;
        let mut streams = Streams::of(&mut child, self.stdin);
        let in_time = streams.serve(task.until);
        task.end(child, (in_time, streams))
    }

    /// Starts the child, whose output is read while the caller goes on.
    pub fn start(self) -> Result<Running, Error> {
        let (mut child, task) = self.spawned()?;
        let mut streams = Streams::of(&mut child, self.stdin);
        Ok(Running {
            child: Some(child),
            served: Some(thread::spawn(move || (streams.serve(task.until), streams))),
            task,
        })
    }

    fn spawned(&self) -> Result<(Child, Task), Error> {
        let command = self.name();
        if self.repo.children == Children::Never {
            return Err(Error::Git {
                command,
                reason: "git is never started in a store".to_owned(),
            });
        }
        self.repo.env.trace(|| {
            let args: Vec<_> = self.args.iter().map(|arg| arg.to_string_lossy()).collect();
            format!("run: {} {}", self.program.to_string_lossy(), args.join(" "))
        });
        let child = self.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound if self.dir().is_dir() && self.is_git() => Error::GitMissing {
                command: command.clone(),
            },
            _ => Error::Git {
                command: command.clone(),
                reason: error.to_string(),
            },
        })?;
        let deadline = self.deadline;
        let until = deadline.and_then(|deadline| Instant::now().checked_add(deadline));
        let task = Task {
            command,
            deadline: deadline.unwrap_or_default(),
            until,
        };
        Ok((child, task))
    }

    /// Starts the child. A program given by its path is started without a copy of this process; one
    /// that cannot be started so is looked for as the system does.
    fn spawn(&self) -> io::Result<Child> {
        let found = self.is_git().then(|| self.repo.git_path()).flatten();
        if let Some(path) = found
            && let Ok(child) = self.command(path.as_os_str()).arg0("git").spawn()
        {
            return Ok(child);
        }
        self.command(&self.program).spawn()
    }

    fn dir(&self) -> &Path {
        let Location {
            top, common_dir, ..
        } = &self.repo.location;
        top.as_ref().unwrap_or(common_dir)
    }

    fn command(&self, program: &OsStr) -> Command {
        let Location { top, git_dir, .. } = &self.repo.location;
        let mut command = Command::new(program);
        if self.is_git() {
            command.arg("--no-pager").arg("--git-dir").arg(git_dir);
        }
        if let Some(top) = top.as_ref().filter(|_| self.is_git()) {
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
            .current_dir(self.dir())
            .env_clear()
            .envs(self.repo.env.child_vars())
            .env(HOOK_GUARD, "1")
            .envs((!self.is_git()).then_some(("GIT_DIR", git_dir)))
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(match self.stdin.is_empty() {
                true => Stdio::null(),
                false => Stdio::piped(),
            })
            .stdout(Stdio::piped())
            .stderr(match self.talk {
                Talk::Kept => Stdio::piped(),
                Talk::Shown => Stdio::inherit(),
            });
        command
    }

    fn is_git(&self) -> bool {
        self.program == "git"
    }

    fn name(&self) -> String {
        if !self.is_git() {
            return self.program.to_string_lossy().into_owned();
        }
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
    fn output(self) -> Result<Vec<u8>, Error> {
        match self.code {
            0 => Ok(self.stdout),
            _ => Err(self.error()),
        }
    }

    /// Returns the error that this end of the child means.
    pub fn error(&self) -> Error {
        let text = String::from_utf8_lossy(&self.stderr);
        let lines = text.lines().map(str::trim);
        let mut said = lines
            .map(|line| {
                line.trim_start_matches("fatal: ")
                    .trim_start_matches("error: ")
                    .trim_start_matches("warning: ")
            })
            .filter(|line| !line.is_empty());
        let reason = said.next().map(|line| match said.next() {
            // What a line announces stands in the next one.
            Some(next) if line.ends_with(':') => format!("{line} {next}"),
            Some(_) | None => line.to_owned(),
        });
        Error::Git {
            command: self.command.clone(),
            reason: reason.unwrap_or_else(|| format!("it ended with code {}", self.code)),
        }
    }
}

/// What a child is about, and how long it may take.
#[derive(Default)]
struct Task {
    command: String,
    deadline: Duration,
    /// When the deadline is; `None` where there is none.
    until: Option<Instant>,
}

impl Task {
    /// Takes what `child` left; kills one that did not end in time.
    fn end(self, mut child: Child, served: (bool, Streams)) -> Result<Finished, Error> {
        let Self {
            command, deadline, ..
        } = self;
        let (in_time, streams) = served;
        if !in_time {
            kill(&mut child);
            return Err(Error::Deadline { command, deadline });
        }
        let failed = |error: io::Error| Error::Git {
            command: command.clone(),
            reason: error.to_string(),
        };
        let outputs = streams.end();
        let status = child.wait().map_err(failed)?;
        let [stdout, stderr] = outputs.map_err(failed)?;
        Ok(Finished {
            code: code(status),
            stdout,
            stderr,
            command,
        })
    }
}

/// A child that runs; it is killed where nobody waits for its end.
#[must_use = "call finish() or output()"]
pub struct Running {
    child: Option<Child>,
    served: Option<thread::JoinHandle<(bool, Streams)>>,
    task: Task,
}

impl Running {
    /// Waits for the end and returns the child's stdout; an exit code other than 0 is an error.
    pub fn output(self) -> Result<Vec<u8>, Error> {
        self.finish()?.output()
    }

    /// Waits for the end, whatever the exit code.
    pub fn finish(mut self) -> Result<Finished, Error> {
        let served = self.served.take().map(thread::JoinHandle::join);
        let task = std::mem::take(&mut self.task);
        match (self.child.take(), served) {
            (Some(child), Some(Ok(served))) => task.end(child, served),
            (child, _) => {
                self.child = child;
                Err(Error::Git {
                    command: task.command,
                    reason: "its output could not be read".to_owned(),
                })
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            kill(child);
        }
    }
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

/// Returns the first program of this name in the directories that `path` lists; `None` where one of
/// those before it is not absolute.
pub(super) fn find_program(name: &str, path: &OsStr) -> Option<PathBuf> {
    const RUNS: u32 = 0o111;
    let runs = |file: &Path| {
        fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & RUNS != 0)
    };
    std::env::split_paths(path)
        .take_while(|dir| dir.is_absolute())
        .map(|dir| dir.join(name))
        .find(|file| runs(file))
}

fn code(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
