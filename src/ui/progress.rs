use std::{
    io::{self, IsTerminal, Write},
    sync::{Condvar, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// Work that is over sooner is not spoken of.
const DELAY: Duration = Duration::from_millis(700);
const PAUSE: Duration = Duration::from_millis(200);

/// Whether anybody is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// A person at a terminal.
    Terminal,
    Nobody,
}

impl Audience {
    pub(super) fn of_stderr() -> Self {
        match io::stderr().is_terminal() {
            true => Self::Terminal,
            false => Self::Nobody,
        }
    }
}

/// Does `work`, and tells a person at a terminal how long it has gone on.
pub(super) fn busy<T>(what: &str, audience: Audience, work: impl FnOnce() -> T) -> T {
    match audience {
        Audience::Terminal => told(what, (DELAY, PAUSE), io::stderr(), work),
        Audience::Nobody => work(),
    }
}

/// Does `work` with one line above it, for work during which somebody may be asked something.
pub(super) fn announced<T>(what: &str, audience: Audience, work: impl FnOnce() -> T) -> T {
    if audience == Audience::Nobody {
        return work();
    }
    let _ = io::stderr().write_all(format!("{what}...").as_bytes());
    let done = work();
    let _ = io::stderr().write_all(b"\r\x1b[K");
    done
}

#[derive(Default)]
struct Over {
    is_over: Mutex<bool>,
    told: Condvar,
}

impl Over {
    /// Waits so long, or until the work is over, and says whether it is.
    fn wait(&self, pause: Duration) -> bool {
        let is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.told.wait_timeout_while(is_over, pause, |over| !*over);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Ends the telling, also when the work panics.
struct End<'a>(&'a Over);

impl Drop for End<'_> {
    fn drop(&mut self) {
        *self
            .0
            .is_over
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = true;
        self.0.told.notify_all();
    }
}

fn told<T>(
    what: &str,
    (delay, pause): (Duration, Duration),
    mut out: impl Write + Send,
    work: impl FnOnce() -> T,
) -> T {
    let over = Over::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            let begun = Instant::now();
            if over.wait(delay) {
                return;
            }
            loop {
                let seconds = begun.elapsed().as_secs();
                let _ = out.write_all(format!("\r{what}: {seconds} s\x1b[K").as_bytes());
                if over.wait(pause) {
                    break;
                }
            }
            let _ = out.write_all(b"\r\x1b[K");
        });
        let _end = End(&over);
        work()
    })
}

#[cfg(test)]
mod tests {
    use std::{
        io::{self, Write},
        sync::mpsc::{Sender, channel},
        time::Duration,
    };

    use super::{Audience, busy, told};

    struct Out(Sender<String>);

    impl Write for Out {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.send(String::from_utf8_lossy(bytes).into_owned());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn long_work_is_told_of_and_the_line_is_cleared() {
        let (sender, receiver) = channel();
        let zero = (Duration::ZERO, Duration::ZERO);
        let first = told("verifying", zero, Out(sender), || receiver.recv().unwrap());
        assert_eq!(first, "\rverifying: 0 s\x1b[K");
        assert_eq!(receiver.iter().last().unwrap(), "\r\x1b[K");
    }

    #[test]
    fn short_work_is_not_spoken_of() {
        let (sender, receiver) = channel();
        let hour = Duration::from_secs(3600);
        assert_eq!(told("verifying", (hour, hour), Out(sender), || 7), 7);
        assert_eq!(receiver.iter().count(), 0);
        assert_eq!(busy("verifying", Audience::Nobody, || 7), 7);
    }
}
