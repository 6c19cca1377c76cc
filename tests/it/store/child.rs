//! Writers in processes of their own: this test binary again, running one job.

use std::{
    cell::Cell,
    io::Write,
    path::Path,
    process::{Child, Command, Output, Stdio},
    rc::Rc,
};

use git_operator::store::{Hook, Step, Store};
use nix::sys::signal::{Signal, raise};

use super::{commit, note};
use crate::support::Repo;

const JOB: &str = "STORE_JOB";
const SIGNAL: &str = "STORE_SIGNAL";

/// Appends numbered notes, one write each, in a process of their own.
pub(crate) struct Writer<'repo> {
    repo: &'repo Repo,
    name: String,
    count: usize,
    size: usize,
    signal: Option<(Signal, Step, usize)>,
    limit: Option<usize>,
}

impl<'repo> Writer<'repo> {
    pub(crate) fn new(repo: &'repo Repo, name: &str, count: usize) -> Self {
        Self {
            repo,
            name: name.to_owned(),
            count,
            size: 0,
            signal: None,
            limit: None,
        }
    }

    /// Makes each note this long.
    pub(crate) fn size(mut self, size: usize) -> Self {
        self.size = size;
        self
    }

    /// Kills the process with SIGKILL when it comes to `step` for the `nth` time.
    pub(crate) fn killed_at(self, step: Step, nth: usize) -> Self {
        self.signaled_at(Signal::SIGKILL, step, nth)
    }

    /// Sends the writing thread a signal when it comes to `step` for the `nth` time.
    pub(crate) fn signaled_at(mut self, signal: Signal, step: Step, nth: usize) -> Self {
        self.signal = Some((signal, step, nth));
        self
    }

    /// Lets no file grow beyond this many blocks of 512 bytes.
    pub(crate) fn limited(mut self, blocks: usize) -> Self {
        self.limit = Some(blocks);
        self
    }

    pub(crate) fn spawn(&self) -> Child {
        let job = format!("{} {} {}", self.name, self.count, self.size);
        let mut command = Command::new("sh");
        let limit = self
            .limit
            .map(|blocks| format!("ulimit -f {blocks}; trap '' XFSZ;"));
        let script = format!("{} exec \"$0\" \"$@\"", limit.unwrap_or_default());
        command
            .args(["-c", &script])
            .arg(std::env::current_exe().unwrap())
            .args(["store::child::job", "--exact", "--ignored", "--nocapture"])
            .current_dir(self.repo.path())
            .env_clear()
            .envs(self.repo.env())
            .env(JOB, job)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some((signal, step, nth)) = self.signal {
            command.env(SIGNAL, format!("{signal} {step:?} {nth}"));
        }
        command.spawn().unwrap()
    }

    /// Runs the process to its end and returns what it was told is recorded.
    pub(crate) fn run(&self) -> Vec<String> {
        acknowledged(&self.spawn().wait_with_output().unwrap())
    }
}

/// Returns the notes a writer was told are recorded.
pub(crate) fn acknowledged(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .filter_map(|line| line.strip_prefix("recorded "))
        .map(str::to_owned)
        .collect()
}

fn hook() -> Option<Hook> {
    #[expect(clippy::disallowed_methods, reason = "how a test tells its child")]
    let told = std::env::var(SIGNAL).ok()?;
    let words: Vec<&str> = told.split(' ').collect();
    let signal: Signal = words[0].parse().unwrap();
    let (step, nth) = (words[1].to_owned(), words[2].parse::<usize>().unwrap());
    let seen = Cell::new(0);
    Some(Rc::new(move |at| {
        if format!("{at:?}") == step {
            seen.set(seen.get() + 1);
            if seen.get() == nth {
                raise(signal).unwrap();
            }
        }
        Ok(())
    }))
}

fn open(dir: &Path) -> Store {
    let env = git_operator::git::Env::from_process();
    let location = git_operator::git::locate(dir, &env).unwrap().unwrap();
    let store = Store::open(git_operator::git::Repo::open(&location, &env).unwrap());
    match hook() {
        Some(hook) => store.hooked(hook),
        None => store,
    }
}

#[test]
#[ignore = "other tests start it in a process of its own"]
#[expect(clippy::disallowed_methods, reason = "how a test tells its child")]
fn job() {
    let Ok(job) = std::env::var(JOB) else { return };
    let mut words = job.split(' ');
    let name = words.next().unwrap();
    let mut number = || words.next().unwrap().parse::<usize>().unwrap();
    let (count, size) = (number(), number());
    let store = open(&std::env::current_dir().unwrap());
    let mut stdout = std::io::stdout();
    for index in 0..count {
        let what = format!("{name}-{index}");
        commit(&store, &[note(&format!("{what:x<size$}"))]);
        writeln!(stdout, "recorded {what}").unwrap();
    }
}
