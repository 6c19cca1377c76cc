use std::{
    io::{self, Read},
    os::fd::AsFd,
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
};

use super::scan::End;

/// How long a payload may take to arrive.
const DEADLINE: Duration = Duration::from_secs(3);
/// How long the end of the input is waited for once everything is answered.
const LINGER: Duration = Duration::from_millis(100);
/// How much is read at once: most payloads are short, and whatever is larger fills the second size.
const PIECE: usize = 8 << 10;
const LARGE_PIECE: usize = 64 << 10;
/// How much of a payload is kept; more is read and thrown away.
const LIMIT: usize = 64 << 20;

/// What arrived on stdin.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Arrived {
    /// A complete document.
    Whole(Vec<u8>),
    /// What came before the end, the deadline or the limit, and why it is no document.
    Part(Vec<u8>, &'static str),
}

/// Reads one document from stdin. Its end is enough: an open pipe is not awaited, but what the writer
/// has written by then is read, so that it meets no closed pipe.
pub(super) fn read() -> Arrived {
    receive(&mut io::stdin().lock(), DEADLINE)
}

/// Reads what was written since, at the very end: a writer that ends its document with a second write
/// meets no closed pipe either. One that keeps the pipe open is waited for a moment only.
pub fn drain() {
    drain_from(&mut io::stdin().lock());
}

fn drain_from(input: &mut (impl Read + AsFd)) {
    let mut piece = [0; PIECE];
    let begun = Instant::now();
    while begun.elapsed() < DEADLINE && is_ready(input, LINGER) {
        match input.read(&mut piece) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if is_passing(&error) => {}
            Err(_) => return,
        }
    }
}

fn receive(input: &mut (impl Read + AsFd), deadline: Duration) -> Arrived {
    let begun = Instant::now();
    let mut bytes = Vec::new();
    let mut end = End::default();
    let mut whole = None;
    let mut piece = vec![0; PIECE];
    loop {
        // Once the document is there, only what waits in the pipe is taken.
        let left = deadline.saturating_sub(begun.elapsed());
        let wait = match whole {
            Some(_) => Duration::ZERO,
            None => left,
        };
        if (whole.is_some() && left.is_zero()) || !is_ready(input, wait) {
            return settled(bytes, whole, "it did not arrive in time");
        }
        match input.read(&mut piece) {
            Ok(0) => return settled(bytes, whole, "it is cut off"),
            Ok(count) if whole.is_none() && bytes.len() < LIMIT => {
                bytes.extend_from_slice(&piece[..count]);
                whole = end.find(&bytes);
                if count == piece.len() {
                    piece.resize(LARGE_PIECE, 0);
                }
            }
            Ok(_) => {}
            Err(error) if is_passing(&error) => {}
            Err(_) => return settled(bytes, whole, "it cannot be read"),
        }
    }
}

fn settled(mut bytes: Vec<u8>, whole: Option<usize>, why: &'static str) -> Arrived {
    match whole {
        Some(end) => {
            bytes.truncate(end);
            Arrived::Whole(bytes)
        }
        None if bytes.iter().all(u8::is_ascii_whitespace) => Arrived::Part(bytes, "it is empty"),
        None if !starts_document(&bytes) => Arrived::Part(bytes, "it is no JSON object"),
        None if bytes.len() >= LIMIT => Arrived::Part(bytes, "it is too long"),
        None => Arrived::Part(bytes, why),
    }
}

fn starts_document(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['))
}

fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
    )
}

fn is_ready(input: &impl AsFd, left: Duration) -> bool {
    let until = Instant::now() + left;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
        let mut fds = [PollFd::new(input.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, timeout) {
            Ok(0) => return false,
            Ok(_) => return true,
            Err(Errno::EINTR) => {}
            // What cannot be polled is read, and says by itself what is wrong.
            Err(_) => return true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::File,
        io::{Write, pipe},
        time::Duration,
    };

    use super::{Arrived, receive};

    const SHORT: Duration = Duration::from_millis(40);

    #[test]
    fn a_whole_document_is_enough_while_the_pipe_stays_open() {
        let (mut reader, mut writer) = pipe().unwrap();
        writer.write_all(b" {\"a\":1}\n{").unwrap();
        let arrived = receive(&mut reader, Duration::from_secs(60));
        assert_eq!(arrived, Arrived::Whole(b" {\"a\":1}".to_vec()));
    }

    #[test]
    fn a_document_without_end_waits_for_the_deadline_only() {
        let (mut reader, mut writer) = pipe().unwrap();
        writer.write_all(b"{\"a\":").unwrap();
        assert_eq!(
            receive(&mut reader, SHORT),
            Arrived::Part(b"{\"a\":".to_vec(), "it did not arrive in time")
        );
    }

    #[test]
    fn what_ends_early_is_no_document() {
        for (sent, why) in [
            ("", "it is empty"),
            (" \n", "it is empty"),
            ("{", "it is cut off"),
            ("null", "it is no JSON object"),
        ] {
            let (mut reader, mut writer) = pipe().unwrap();
            writer.write_all(sent.as_bytes()).unwrap();
            drop(writer);
            let arrived = receive(&mut reader, SHORT);
            assert_eq!(arrived, Arrived::Part(sent.as_bytes().to_vec(), why));
        }
    }

    #[test]
    fn all_that_was_written_is_read() {
        let (mut reader, mut writer) = pipe().unwrap();
        let sender = std::thread::spawn(move || {
            let long = format!("{{\"a\":\"{}\"}}", "x".repeat(3_000_000));
            writer.write_all(long.as_bytes()).map(|()| long.len())
        });
        let Arrived::Whole(bytes) = receive(&mut reader, Duration::from_secs(60)) else {
            panic!("whole")
        };
        assert_eq!(sender.join().unwrap().unwrap(), bytes.len());
    }

    #[test]
    fn a_newline_that_comes_late_is_taken() {
        let (mut reader, mut writer) = pipe().unwrap();
        writer.write_all(b"{}").unwrap();
        assert_eq!(receive(&mut reader, SHORT), Arrived::Whole(b"{}".to_vec()));
        let (told, wait) = std::sync::mpsc::channel();
        let sender = std::thread::spawn(move || {
            told.send(()).unwrap();
            writer.write_all(b"\n")
        });
        wait.recv().unwrap();
        super::drain_from(&mut reader);
        drop(reader);
        assert!(sender.join().unwrap().is_ok());
    }

    #[test]
    fn a_file_is_read_like_a_pipe() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"{}").unwrap();
        let path = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
        let mut again = File::open(path).unwrap();
        assert_eq!(receive(&mut again, SHORT), Arrived::Whole(b"{}".to_vec()));
    }
}
