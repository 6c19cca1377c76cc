use std::{
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// A command line, its directory and its standard input.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) args: Vec<String>,
    pub(crate) dir: PathBuf,
    pub(crate) stdin: Vec<u8>,
}

impl Process {
    pub(crate) fn new(args: &[&str], dir: impl Into<PathBuf>) -> Self {
        Self {
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            dir: dir.into(),
            stdin: Vec::new(),
        }
    }

    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    fn once(&self) -> Duration {
        let mut command = Command::new(&self.args[0]);
        command
            .args(&self.args[1..])
            .current_dir(&self.dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .env_clear()
            .envs(super::data::environment());
        let began = Instant::now();
        let mut child = command.spawn().expect("the program starts");
        if let Some(mut stdin) = child.stdin.take() {
            let _ = stdin.write_all(&self.stdin);
        }
        child.wait().expect("the program ends");
        began.elapsed()
    }
}

/// One line of the table: ours against a baseline, and the ratio it is to stay under.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) bar: f64,
    pub(crate) rounds: usize,
    pub(crate) ours: Box<dyn Fn(usize) -> Process>,
    pub(crate) base: Box<dyn Fn(usize) -> Process>,
}

impl Row {
    /// Runs both in turn, so that a busy moment hits both, and prints the medians.
    pub(crate) fn run(&self) {
        let (mut ours, mut base) = (Vec::new(), Vec::new());
        for round in 0..self.rounds + 2 {
            let (one, other) = ((self.ours)(round).once(), (self.base)(round).once());
            if round >= 2 {
                ours.push(one);
                base.push(other);
            }
        }
        let (ours, base) = (median(&mut ours), median(&mut base));
        let ratio = ours / base;
        let verdict = if ratio <= self.bar { "" } else { "  short" };
        println!(
            "{:<44} {ours:>10.2} {base:>10.2} {ratio:>7.2} {:>6}{verdict}",
            self.name, self.bar
        );
    }
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1000.0
}
