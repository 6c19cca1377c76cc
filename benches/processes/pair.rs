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

    /// Runs it unmeasured.
    pub(crate) fn run(&self) {
        self.once();
    }

    /// Runs ten times and returns the CPU of one: the kernel counts in ticks of 10 ms.
    fn cpu(&self) -> Duration {
        let before = spent();
        for _ in 0..10 {
            self.once();
        }
        (spent() - before) / 10
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

/// What stays under a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Ratio,
    /// The ratio of the CPU that both take, all rounds together.
    Cpu,
}

/// One line of the table: ours against a baseline, and what it is to stay under.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// How many times the baseline it may take; 0 where only `slack` counts.
    pub(crate) bar: f64,
    /// How many ms more than the bar it may take.
    pub(crate) slack: f64,
    pub(crate) rounds: usize,
    pub(crate) by: By,
    pub(crate) ours: Box<dyn Fn(usize) -> Process>,
    pub(crate) base: Box<dyn Fn(usize) -> Process>,
}

impl Row {
    /// Runs both in turn, so that a busy moment hits both, prints the medians and says whether the bar
    /// is kept.
    pub(crate) fn run(&self) -> bool {
        let (mut ours, mut base) = (Vec::new(), Vec::new());
        for round in 0..self.rounds + 2 {
            let (one, other) = ((self.ours)(round), (self.base)(round));
            let (one, other) = match self.by {
                By::Ratio => (one.once(), other.once()),
                By::Cpu => (one.cpu(), other.cpu()),
            };
            if round >= 2 {
                ours.push(one);
                base.push(other);
            }
        }
        let (ours, base) = match self.by {
            By::Ratio => (median(&mut ours), median(&mut base)),
            By::Cpu => (mean(&ours), mean(&base)),
        };
        let ratio = ours / base;
        let is_kept = ours <= base * self.bar + self.slack;
        let verdict = if is_kept { "pass" } else { "short" };
        println!(
            "{:<46} {ours:>10.2} {base:>10.2} {ratio:>7.2}  {:<12} {verdict}",
            self.name,
            self.limit()
        );
        is_kept
    }

    /// Returns the bar in words: a multiple of the baseline, a time, or both.
    fn limit(&self) -> String {
        match (self.bar, self.slack) {
            (bar, 0.0) => format!("{bar}x"),
            (0.0, slack) => format!("{slack} ms"),
            (bar, slack) => format!("{bar}x + {slack} ms"),
        }
    }
}

/// Returns the CPU that the children of this process took so far.
fn spent() -> Duration {
    const TICK: Duration = Duration::from_millis(10);
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let rest = stat.rsplit(") ").next().unwrap_or_default();
    let fields: Vec<u32> = rest
        .split(' ')
        .map(|word| word.parse().unwrap_or(0))
        .collect();
    // cutime and cstime of proc(5), counted from the state.
    fields
        .get(13..15)
        .map_or(Duration::ZERO, |ticks| TICK * ticks.iter().sum::<u32>())
}

fn mean(times: &[Duration]) -> f64 {
    let sum: Duration = times.iter().sum();
    sum.as_secs_f64() * 1000.0 / times.len() as f64
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1000.0
}
