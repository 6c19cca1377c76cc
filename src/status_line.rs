//! The status line segment.

mod progress;

pub use progress::{Look, Progress, STALLED, progress, stalled};

use std::io;

use crate::ui::Exit;

/// Prints the segment of the session whose payload is on stdin; nothing when nothing is open.
pub fn run() -> Exit {
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    Exit::Done
}
