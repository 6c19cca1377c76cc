//! A verdict derived from the exit code of a process we own.

use std::{
    ffi::OsString,
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::{
    Error,
    child::{self, CommandLine, End, Screen},
    junit, lint,
    spool::{Captured, Spool},
};
use crate::{
    git::{
        self, Budget, Clock, Isolated, Layout, Measured, Repo, StampRequest, Stamped, Subject,
        Trust, change_paths,
    },
    model::{AttemptResult, Class, DeltaEntry, Oid, Outcome, RepoPath, Run, TestCounts},
};

/// Where a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the working tree, where it was called.
    Worktree,
    /// In a directory of its own that holds the subject and nothing else.
    Isolated,
}

/// What is to be run, and how.
pub struct Plan<'a> {
    pub argv: Vec<OsString>,
    /// The directory it was called in.
    pub cwd: &'a Path,
    pub subject: Subject,
    pub place: Place,
    pub trust: Trust,
    pub timeout: Option<Duration>,
    /// A JUnit report the command writes, relative to its directory.
    pub junit: Option<PathBuf>,
    /// The changed files that are tests, for a control run; `None` asks for none.
    pub control: Option<&'a dyn Fn(&RepoPath) -> bool>,
    /// Exit codes that count as success.
    pub ok_exit: &'a [i32],
    pub roots: &'a [Oid],
    pub clock: Clock,
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conclusion {
    Verdict(Outcome),
    Attempt(AttemptResult),
}

/// A run that is over.
#[derive(Debug)]
pub struct Report {
    pub conclusion: Conclusion,
    pub class: Class,
    pub run: Run,
    pub captured: Captured,
    /// What changed while it ran.
    pub paths: Vec<RepoPath>,
    /// What the reader is told besides.
    pub notes: Vec<String>,
    /// How the caller ends: the command's own code, 124 or 125.
    pub exit: u8,
}

/// A run that may begin: the subject is known.
pub struct Prepared<'a> {
    repo: &'a Repo,
    plan: Plan<'a>,
    measured: Measured,
    isolated: Option<Isolated>,
    /// The directory the command runs in, and the same relative to the top.
    dir: PathBuf,
    inside: PathBuf,
    /// Wall clock, ms since 1970.
    started: u64,
}

/// Takes the first snapshot. Without one no run can be more than a run, so none begins.
pub fn prepare<'a>(repo: &'a Repo, plan: Plan<'a>) -> Result<Prepared<'a>, Error> {
    let top = repo.top().ok_or(Error::NoWorktree)?;
    let inside = plan
        .cwd
        .strip_prefix(top)
        .map_err(|_| Error::Outside(plan.cwd.to_owned()))?
        .to_owned();
    let mut measured = measure(repo, &plan)?;
    if let Some(shortfall) = &measured.stamped.shortfall {
        return Err(Error::NoSnapshot(shortfall.to_string()));
    }
    measured
        .stamped
        .taints
        .extend(command_taints(&plan, top, &inside));
    let isolated = match (plan.place, &measured.snapshot) {
        (Place::Isolated, Some(snapshot)) => {
            Some(repo.isolate(&Layout::of(snapshot, measured.stamped.head))?)
        }
        _ => None,
    };
    let dir = match &isolated {
        Some(isolated) => isolated.top().join(&inside),
        None => plan.cwd.to_owned(),
    };
    if !dir.is_dir() {
        return Err(Error::NoDirectory(inside));
    }
    let started = plan.clock.wall_ms();
    Ok(Prepared {
        repo,
        plan,
        measured,
        isolated,
        dir,
        inside,
        started,
    })
}

fn measure(repo: &Repo, plan: &Plan<'_>) -> Result<Measured, Error> {
    let request = StampRequest {
        budget: Budget::Run,
        trust: plan.trust,
        roots: plan.roots,
    };
    Ok(match &plan.subject {
        Subject::Worktree => repo.measure(request),
        Subject::Index(index) => repo.measure_index(index, request)?,
        Subject::Commit(commit) => repo.measure_commit(*commit, request)?,
    })
}

fn command_taints(plan: &Plan<'_>, top: &Path, inside: &Path) -> Vec<String> {
    let argv = texts(&plan.argv);
    let mut taints = Vec::new();
    let program = argv.first().map(Path::new).unwrap_or(Path::new(""));
    let path = match program.components().count() {
        1 => None,
        _ => Some(normal(&top.join(inside).join(program))),
    };
    if path.is_some_and(|path| path.starts_with(top.join(".operator"))) {
        taints.push("command-outside-subject".to_owned());
    }
    if lint::is_weak(&argv) {
        taints.push("weak-command".to_owned());
    }
    taints
}

/// Resolves `.` and `..` by name.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                out.pop();
            }
            std::path::Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}

fn texts(argv: &[OsString]) -> Vec<String> {
    argv.iter()
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect()
}

impl Prepared<'_> {
    /// Returns the source state the run answers for.
    pub fn stamped(&self) -> &Stamped {
        &self.measured.stamped
    }

    /// Returns what an `attempt` says when it begins.
    pub fn planned(&self) -> Run {
        Run {
            argv: texts(&self.plan.argv),
            cwd: self.inside.to_string_lossy().into_owned(),
            started: self.started,
            ..Run::default()
        }
    }

    /// Runs the command to its end and concludes.
    pub fn execute(self, screen: Screen<'_>) -> Result<(Stamped, Report), Error> {
        let mut run = self.planned();
        let line = self.line(&self.dir, self.plan.timeout);
        let ended = match child::run(&line, screen) {
            Ok(ended) => ended,
            Err(error) => return Ok(self.not_started(run, &error)),
        };
        run.exit = ended.status.0.and_then(|code| u64::try_from(code).ok());
        run.signal = ended.status.1.and_then(|signal| u64::try_from(signal).ok());
        run.timed_out = ended.end == End::TimedOut;
        run.duration = u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX);
        let (after, paths) = self.compare();
        run.after = after;
        let mut notes = Vec::new();
        let tests = self.tests(&mut notes);
        run.tests = tests.ok().flatten();
        let facts = Facts {
            unchanged: after == self.measured.stamped.subject
                && paths.as_ref().is_some_and(Vec::is_empty),
            tests,
        };
        let conclusion = self.conclude(ended.end, facts);
        let class = self.class(&mut run, &conclusion, &mut notes)?;
        let exit = exit_of(&conclusion, ended.end);
        let report = Report {
            conclusion,
            class,
            captured: evidence(&ended.spool, &run),
            run,
            paths: paths.unwrap_or_default(),
            notes,
            exit,
        };
        Ok((self.measured.stamped, report))
    }

    fn line(&self, dir: &Path, timeout: Option<Duration>) -> CommandLine<'_> {
        CommandLine {
            argv: &self.plan.argv,
            cwd: dir.to_owned(),
            env: self.repo.env().clone().hook().pairs(),
            timeout,
        }
    }

    /// 126 and 127 are what a shell says of a command it cannot start.
    fn not_started(self, mut run: Run, error: &io::Error) -> (Stamped, Report) {
        let code = match error.kind() {
            io::ErrorKind::NotFound => 127,
            _ => 126,
        };
        run.exit = Some(code);
        let note = format!("cannot run '{}': {error}", run.argv[0]);
        let mut spool = Spool::default();
        spool.push(note.as_bytes());
        let report = Report {
            conclusion: Conclusion::Attempt(AttemptResult::Error),
            class: Class::Captured,
            captured: spool.captured(),
            run,
            paths: Vec::new(),
            notes: vec![note],
            exit: 125,
        };
        (self.measured.stamped, report)
    }

    /// Returns the subject after the run, and what differs from the one before; `None` where that
    /// cannot be said.
    fn compare(&self) -> (Option<Oid>, Option<Vec<RepoPath>>) {
        let repo = self
            .isolated
            .as_ref()
            .map_or(self.repo, |isolated| &isolated.repo);
        let after = repo.measure_plain(self.plan.trust);
        let (Ok((head, after)), Some(before)) = (after, &self.measured.snapshot) else {
            return (None, None);
        };
        let moved = self.isolated.is_none() && head != self.measured.stamped.head;
        let from: &[DeltaEntry] = match self.isolated {
            // What is laid out is the commit of its own repository.
            Some(_) => &[],
            None => &before.delta,
        };
        let mut paths = change_paths(from, &after.delta);
        if moved {
            paths.push(RepoPath::from(".git/HEAD"));
        }
        (Some(after.subject), Some(paths))
    }

    fn tests(&self, notes: &mut Vec<String>) -> Result<Option<TestCounts>, ()> {
        let Some(file) = &self.plan.junit else {
            return Ok(None);
        };
        let path = self.dir.join(file);
        match read_report(&path, UNIX_EPOCH + Duration::from_millis(self.started)) {
            Ok(counts) => Ok(Some(counts)),
            Err(reason) => {
                notes.push(format!("cannot read report '{}': {reason}", file.display()));
                Err(())
            }
        }
    }

    fn conclude(&self, end: End, facts: Facts) -> Conclusion {
        use AttemptResult::{Error, Interrupt, Mutated, Skip, Timeout};
        let Facts { unchanged, tests } = facts;
        let failed_tests = matches!(tests, Ok(Some(tests)) if tests.failed > 0);
        match end {
            End::TimedOut => Conclusion::Attempt(Timeout),
            End::Interrupted => Conclusion::Attempt(Interrupt),
            _ if !unchanged => Conclusion::Attempt(Mutated),
            End::Exit(code) if self.is_ok(code) && tests.is_err() => Conclusion::Attempt(Error),
            End::Exit(code) if self.is_ok(code) && !failed_tests => {
                Conclusion::Verdict(Outcome::Pass)
            }
            End::Exit(125) => Conclusion::Attempt(Skip),
            End::Exit(126 | 127) => Conclusion::Attempt(Error),
            End::Exit(_) | End::Signal(_) => Conclusion::Verdict(Outcome::Fail),
        }
    }

    fn is_ok(&self, code: i32) -> bool {
        code == 0 || self.plan.ok_exit.contains(&code)
    }

    fn class(
        &self,
        run: &mut Run,
        conclusion: &Conclusion,
        notes: &mut Vec<String>,
    ) -> Result<Class, Error> {
        let class = match self.plan.place {
            Place::Worktree => Class::Captured,
            Place::Isolated => Class::Isolated,
        };
        let passed = *conclusion == Conclusion::Verdict(Outcome::Pass);
        let (true, Some(is_test)) = (passed, self.plan.control) else {
            return Ok(class);
        };
        match self.control(is_test)? {
            Control::Failed(code) => {
                run.control = Some(code);
                Ok(Class::Controlled)
            }
            Control::Passed => {
                run.control = Some(0);
                notes.push("the changed tests pass on the base source, too".to_owned());
                Ok(class)
            }
            Control::Impossible(why) => {
                notes.push(format!("no control run: {why}"));
                Ok(class)
            }
        }
    }

    /// Runs the command on the base source with only the changed tests.
    fn control(&self, is_test: &dyn Fn(&RepoPath) -> bool) -> Result<Control, Error> {
        let stamped = &self.measured.stamped;
        let base = stamped
            .change
            .as_ref()
            .map(|change| change.base)
            .or(stamped.head);
        let (Some(base), Some(snapshot)) = (base, &self.measured.snapshot) else {
            return Ok(Control::Impossible("there is no base commit"));
        };
        let root = self.repo.commit(base)?.tree;
        let mut patch = self.repo.diff_from(root, snapshot)?;
        patch.retain(|entry| is_test(&entry.path));
        if patch.is_empty() {
            return Ok(Control::Impossible("no test differs from the base"));
        }
        let isolated = self.repo.isolate(&Layout {
            root,
            objects: snapshot.objects(),
            patch: &patch,
            parent: Some(base),
        })?;
        let dir = isolated.top().join(&self.inside);
        fs::create_dir_all(&dir).map_err(|source| git::Error::Write {
            path: dir.clone(),
            source,
        })?;
        let line = self.line(&dir, self.plan.timeout);
        let screen = Screen {
            out: &mut io::sink(),
            err: &mut io::sink(),
        };
        let ended = child::run(&line, screen).map_err(Error::Control)?;
        Ok(match ended.end {
            End::Exit(code) if self.is_ok(code) => Control::Passed,
            End::Exit(code @ (125..=127)) => {
                let _ = code;
                Control::Impossible("the command could not be run on the base")
            }
            End::Exit(code) => Control::Failed(u64::try_from(code).unwrap_or(1)),
            End::Signal(signal) => Control::Failed(128 + u64::try_from(signal).unwrap_or(0)),
            End::TimedOut | End::Interrupted => Control::Impossible("it was not done in time"),
        })
    }
}

/// What besides the end of the process decides.
struct Facts {
    /// The source is what it was.
    unchanged: bool,
    /// The report's counts; an error where one was asked for and cannot be read.
    tests: Result<Option<TestCounts>, ()>,
}

enum Control {
    Failed(u64),
    Passed,
    Impossible(&'static str),
}

fn exit_of(conclusion: &Conclusion, end: End) -> u8 {
    match (conclusion, end) {
        (Conclusion::Attempt(AttemptResult::Timeout), _) => 124,
        (Conclusion::Verdict(Outcome::Fail), End::Exit(0)) => 1,
        (Conclusion::Verdict(_), End::Exit(code)) => u8::try_from(code).unwrap_or(1),
        (Conclusion::Verdict(_), End::Signal(signal)) => u8::try_from(128 + signal).unwrap_or(255),
        (Conclusion::Verdict(_) | Conclusion::Attempt(_), _) => 125,
    }
}

/// A row needs text: a command that printed nothing is described.
fn evidence(spool: &Spool, run: &Run) -> Captured {
    if !crate::model::Evidence::is_blank(&spool.kept()) {
        return spool.captured();
    }
    let how = match (run.exit, run.signal) {
        (Some(code), _) => format!("exit {code}"),
        (None, signal) => format!("signal {}", signal.unwrap_or(0)),
    };
    let mut said = Spool::default();
    said.push(format!("{}: {how}, no output", run.argv.join(" ")).as_bytes());
    said.captured()
}

fn read_report(path: &Path, since: SystemTime) -> Result<TestCounts, String> {
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    let written = file.metadata().and_then(|meta| meta.modified());
    // File systems that keep whole seconds round down.
    let earliest = since - Duration::from_secs(2);
    if written.is_ok_and(|written| written < earliest) {
        return Err("it is older than the run".to_owned());
    }
    let mut text = String::new();
    let read = file.take(junit::LIMIT).read_to_string(&mut text);
    read.map_err(|error| error.to_string())?;
    junit::counts(&text)
}
