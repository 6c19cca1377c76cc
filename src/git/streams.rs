//! The streams of a child, served together by one thread: what it is given keeps nothing from being
//! read, and what it says on one keeps nothing of the other.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    process::{Child, ChildStdin},
    thread,
    time::Instant,
};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
};

/// How much a pipe that can be written takes without a wait.
const ROOM: usize = nix::libc::PIPE_BUF;
const PIECE: usize = 64 << 10;

/// What a child still takes, and what it said.
pub(super) struct Streams {
    input: Option<Input>,
    outputs: [Output; 2],
    failed: Option<io::Error>,
}

struct Input {
    stream: ChildStdin,
    bytes: Vec<u8>,
    written: usize,
}

#[derive(Default)]
struct Output {
    stream: Option<File>,
    bytes: Vec<u8>,
}

/// Which of the three streams do not make a reader or a writer wait.
type Ready = [bool; 3];

impl Streams {
    /// Takes the streams of `child`, which is to read `bytes`.
    pub(super) fn of(child: &mut Child, bytes: Vec<u8>) -> Self {
        let input = child.stdin.take().filter(|_| !bytes.is_empty());
        let outputs = [
            child.stdout.take().map(OwnedFd::from),
            child.stderr.take().map(OwnedFd::from),
        ];
        Self {
            input: input.map(|stream| Input {
                stream,
                bytes,
                written: 0,
            }),
            outputs: outputs.map(|stream| Output {
                stream: stream.map(File::from),
                bytes: Vec::new(),
            }),
            failed: None,
        }
    }

    /// Reads and writes until the child has closed its outputs; `false` when `until` came first.
    pub(super) fn serve(&mut self, until: Option<Instant>) -> bool {
        let mut piece = vec![0; PIECE];
        while self.outputs.iter().any(|output| output.stream.is_some()) {
            let [input, outputs @ ..] = match self.wait(until) {
                Ok(Some(ready)) => ready,
                Ok(None) => return false,
                Err(error) => {
                    self.failed = Some(error);
                    return true;
                }
            };
            if input && self.input.as_mut().is_some_and(Input::is_done) {
                self.input = None;
            }
            for (output, ready) in self.outputs.iter_mut().zip(outputs) {
                if ready && let Err(error) = output.read(&mut piece) {
                    output.stream = None;
                    self.failed = Some(error);
                }
            }
        }
        true
    }

    /// Returns what the child said. What it has not read by now it may read yet.
    pub(super) fn end(self) -> io::Result<[Vec<u8>; 2]> {
        if let Some(mut input) = self.input {
            thread::spawn(move || {
                // A child that ends without reading all of it breaks the pipe; its exit code says why.
                let _ = input.stream.write_all(&input.bytes[input.written..]);
            });
        }
        match self.failed {
            Some(error) => Err(error),
            None => Ok(self.outputs.map(|output| output.bytes)),
        }
    }

    /// Waits until one of the streams is ready; `None` when `until` came first.
    fn wait(&self, until: Option<Instant>) -> io::Result<Option<Ready>> {
        let [stdout, stderr] = &self.outputs;
        let input = self.input.as_ref().map(|input| input.stream.as_fd());
        let streams: [(Option<BorrowedFd<'_>>, PollFlags); 3] = [
            (input, PollFlags::POLLOUT),
            (stdout.fd(), PollFlags::POLLIN),
            (stderr.fd(), PollFlags::POLLIN),
        ];
        let mut open: Vec<PollFd<'_>> = streams
            .iter()
            .filter_map(|(stream, flags)| Some(PollFd::new((*stream)?, *flags)))
            .collect();
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let timeout = left.map_or(PollTimeout::NONE, |left| {
                PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
            });
            match poll(&mut open, timeout) {
                Ok(0) if left.is_some_and(|left| left.is_zero()) => return Ok(None),
                Ok(0) | Err(Errno::EINTR) => {}
                Ok(_) => break,
                Err(error) => return Err(error.into()),
            }
        }
        let mut asked = open.iter();
        Ok(Some(streams.map(|(stream, _)| {
            stream.is_some() && asked.next().and_then(PollFd::any).unwrap_or(false)
        })))
    }
}

impl Input {
    /// Writes what the pipe takes at once, and says whether that was all, or nobody reads.
    fn is_done(&mut self) -> bool {
        let rest = &self.bytes[self.written..];
        match self.stream.write(&rest[..rest.len().min(ROOM)]) {
            Ok(count) => self.written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return true,
        }
        self.written == self.bytes.len()
    }
}

impl Output {
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.stream.as_ref().map(AsFd::as_fd)
    }

    /// Takes in what is there; nothing is the end.
    fn read(&mut self, piece: &mut [u8]) -> io::Result<()> {
        let Some(stream) = &mut self.stream else {
            return Ok(());
        };
        match stream.read(piece) {
            Ok(0) => self.stream = None,
            Ok(count) => self.bytes.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{
        process::{Child, Command, Stdio},
        time::{Duration, Instant},
    };

    use super::Streams;

    fn shell(script: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::piped()).spawn().unwrap()
    }

    #[test]
    fn more_than_a_pipe_holds_goes_in_and_out_on_both() {
        let long = vec![b'x'; 1 << 20];
        let mut child = shell("tee /dev/stderr; echo end");
        let mut streams = Streams::of(&mut child, long.clone());
        assert!(streams.serve(None));
        let [stdout, stderr] = streams.end().unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(stdout.strip_suffix(b"end\n"), Some(long.as_slice()));
        assert!(stderr == long);
    }

    #[test]
    fn a_child_that_reads_nothing_holds_nobody_up() {
        let mut child = shell("echo out; exit 3");
        let mut streams = Streams::of(&mut child, vec![b'x'; 1 << 20]);
        assert!(streams.serve(None));
        assert_eq!(streams.end().unwrap(), [b"out\n".to_vec(), Vec::new()]);
        assert_eq!(child.wait().unwrap().code(), Some(3));
    }

    #[test]
    fn a_child_that_says_no_more_may_still_read() {
        let dir = assert_fs::TempDir::new().unwrap();
        let path = dir.path().join("read");
        let script = format!("exec >&- 2>&-; cat > '{}'", path.display());
        let mut child = shell(&script);
        let mut streams = Streams::of(&mut child, vec![b'x'; 1 << 20]);
        assert!(streams.serve(None));
        streams.end().unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(std::fs::read(path).unwrap().len(), 1 << 20);
    }

    #[test]
    fn a_child_that_takes_too_long_is_not_waited_for() {
        let mut child = shell("echo begun; exec sleep 1000");
        let mut streams = Streams::of(&mut child, Vec::new());
        let until = Instant::now() + Duration::from_millis(50);
        assert!(!streams.serve(Some(until)));
        assert!(Instant::now() >= until);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
