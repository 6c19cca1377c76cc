//! Evidence: the capture of a command's run, and the judging of records against commits.

mod child;
mod error;
mod junit;
mod lint;
pub mod run;
mod spool;

pub use child::Screen;
pub use error::Error;
pub use spool::Captured;
