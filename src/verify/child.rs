//! The command whose exit code a verdict rests on: a process group of its own, no shell, no stdin, its
//! output shown as it comes and kept.

use std::{
    ffi::OsString,
    fs,
    io::{self, Read, Write},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{SigSet, Signal, kill, killpg},
    unistd::Pid,
};

use super::spool::Spool;

/// How long a group that was asked to end is waited for, and a pipe that outlives its command.
const GRACE: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_millis(50);

/// What is run.
pub(super) struct CommandLine<'a> {
    pub(super) argv: &'a [OsString],
    pub(super) cwd: PathBuf,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) timeout: Option<Duration>,
}

/// Where the command's two streams are shown.
pub struct Screen<'a> {
    pub out: &'a mut dyn Write,
    pub err: &'a mut dyn Write,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Exit(i32),
    Signal(i32),
    TimedOut,
    /// Somebody asked us to end.
    Interrupted,
}

/// A command that is over.
pub(super) struct Ended {
    pub(super) end: End,
    /// The exit code and the signal the group's leader ended with, whatever made it end.
    pub(super) status: (Option<i32>, Option<i32>),
    pub(super) duration: Duration,
    pub(super) spool: Spool,
}

enum Event {
    Out(Vec<u8>),
    Err(Vec<u8>),
    /// A stream ended.
    Closed,
    Signal(Signal),
}

/// Runs a command to its end.
pub(super) fn run(line: &CommandLine<'_>, screen: Screen<'_>) -> io::Result<Ended> {
    let start = Instant::now();
    let (program, args) = line
        .argv
        .split_first()
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut child = Command::new(program)
        .args(args)
        .current_dir(&line.cwd)
        .env_clear()
        .envs(line.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let (sender, events) = mpsc::sync_channel(64);
    // Blocked after the child is made: a child inherits what is blocked.
    let watch = Watch::begin(&sender);
    pump(child.stdout.take(), sender.clone(), Event::Out);
    pump(child.stderr.take(), sender, Event::Err);
    let mut running = Running {
        child,
        screen,
        spool: Spool::default(),
        open: 2,
        deadline: line.timeout.map(|timeout| start + timeout),
        end: None,
        kill_at: None,
    };
    let status = running.wait(&events)?;
    let Running { spool, end, .. } = running;
    watch.end();
    Ok(Ended {
        end: end.unwrap_or_else(|| end_of(status)),
        status: (status.code(), status.signal()),
        duration: start.elapsed(),
        spool,
    })
}

fn end_of(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exit(code),
        (None, signal) => End::Signal(signal.unwrap_or(0)),
    }
}

struct Running<'a> {
    child: Child,
    screen: Screen<'a>,
    spool: Spool,
    open: usize,
    deadline: Option<Instant>,
    /// Why we ended it, if we did.
    end: Option<End>,
    kill_at: Option<Instant>,
}

impl Running<'_> {
    fn wait(&mut self, events: &Receiver<Event>) -> io::Result<ExitStatus> {
        let mut status = None;
        loop {
            match events.recv_timeout(TICK) {
                Ok(event) => self.take(event),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            if status.is_none() {
                status = self.child.try_wait()?;
                if status.is_some() {
                    // What is left of the group holds the pipes; it gets no longer than this.
                    self.kill_at = Some(Instant::now() + GRACE);
                }
            }
            self.enforce(status.is_some());
            if let Some(status) = status
                && (self.open == 0 || self.is_overdue())
            {
                self.signal(Signal::SIGKILL);
                self.drain(events);
                return Ok(status);
            }
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Out(bytes) => {
                self.spool.push(&bytes);
                // A reader that went away does not end the test.
                let _ = self
                    .screen
                    .out
                    .write_all(&bytes)
                    .and_then(|()| self.screen.out.flush());
            }
            Event::Err(bytes) => {
                self.spool.push(&bytes);
                let _ = self
                    .screen
                    .err
                    .write_all(&bytes)
                    .and_then(|()| self.screen.err.flush());
            }
            Event::Closed => self.open -= 1,
            Event::Signal(signal) => self.stop(End::Interrupted, signal),
        }
    }

    /// Takes what the readers already have.
    fn drain(&mut self, events: &Receiver<Event>) {
        let until = Instant::now() + TICK;
        while self.open > 0 && Instant::now() < until {
            match events.recv_timeout(TICK) {
                Ok(event) => self.take(event),
                Err(_) => return,
            }
        }
    }

    fn enforce(&mut self, over: bool) {
        if over {
            return;
        }
        if self.end.is_none()
            && self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
        {
            self.stop(End::TimedOut, Signal::SIGTERM);
        }
        if self.is_overdue() {
            self.signal(Signal::SIGKILL);
        }
    }

    fn stop(&mut self, end: End, signal: Signal) {
        self.end.get_or_insert(end);
        self.kill_at.get_or_insert(Instant::now() + GRACE);
        self.signal(signal);
    }

    fn is_overdue(&self) -> bool {
        self.kill_at.is_some_and(|at| Instant::now() >= at)
    }

    fn signal(&self, signal: Signal) {
        let Ok(group) = i32::try_from(self.child.id()) else {
            return;
        };
        // The group may be gone; then there is nobody to tell.
        let _ = killpg(Pid::from_raw(group), signal);
    }
}

fn pump(
    stream: Option<impl Read + Send + 'static>,
    sender: SyncSender<Event>,
    event: fn(Vec<u8>) -> Event,
) {
    thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        if let Some(mut stream) = stream {
            loop {
                match stream.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(count) => {
                        if sender.send(event(buffer[..count].to_vec())).is_err() {
                            return;
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
        }
        // The receiver is gone when the run is over.
        let _ = sender.send(Event::Closed);
    });
}

/// Turns the signals that ask us to end into events, so that the attempt is recorded.
struct Watch {
    signals: SigSet,
}

impl Watch {
    fn begin(sender: &SyncSender<Event>) -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = ignored(&status);
        let asks = [
            Signal::SIGHUP,
            Signal::SIGINT,
            Signal::SIGTERM,
            Signal::SIGQUIT,
        ];
        // One that is ignored, as by nohup, would be waited for all the same once it is blocked.
        let signals: SigSet = asks
            .into_iter()
            .filter(|signal| ignored >> (*signal as u32 - 1) & 1 == 0)
            .collect();
        // Without the mask a signal ends us at once, as it would have anyway.
        let _ = signals.thread_block();
        let sender = sender.clone();
        thread::spawn(move || {
            while let Ok(signal) = signals.wait() {
                if sender.send(Event::Signal(signal)).is_err() {
                    // The run is over: the signal is for whoever takes it now.
                    let _ = kill(Pid::this(), signal);
                    return;
                }
            }
        });
        Self { signals }
    }

    fn end(self) {
        let _ = self.signals.thread_unblock();
    }
}

/// Reads the signals a process ignores, as proc(5) shows them; none where it does not.
fn ignored(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::ignored;

    #[test]
    fn ignored_signals_are_bits_from_one() {
        assert_eq!(
            ignored("SigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\n"),
            0x1001
        );
        assert_eq!(ignored(""), 0);
    }
}
