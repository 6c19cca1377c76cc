use std::{
    io::{IsTerminal, Write},
    time::{Duration, Instant},
};

const DELAY: Duration = Duration::from_millis(700);
const PAUSE: Duration = Duration::from_millis(100);

/// Tells a person at a terminal how far long work is; silent elsewhere and on short work.
pub struct Progress {
    what: &'static str,
    begun: Instant,
    last: Option<Instant>,
    shown: bool,
    wanted: bool,
}

impl Progress {
    pub(super) fn new(what: &'static str, wanted: bool) -> Self {
        Self {
            what,
            begun: Instant::now(),
            last: None,
            shown: false,
            wanted: wanted && std::io::stderr().is_terminal(),
        }
    }

    /// Says that `done` of `total` parts are done; a total of 0 is unknown.
    pub fn at(&mut self, done: u64, total: u64) {
        let soon = self.last.is_some_and(|last| last.elapsed() < PAUSE);
        if !self.wanted || soon || self.begun.elapsed() < DELAY {
            return;
        }
        self.last = Some(Instant::now());
        self.shown = true;
        let what = self.what;
        let text = match total {
            0 => format!("\r{what}: {done}\x1b[K"),
            total => format!("\r{what}: {}% ({done}/{total})\x1b[K", done * 100 / total),
        };
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = std::io::stderr().write_all(b"\r\x1b[K");
        }
    }
}
