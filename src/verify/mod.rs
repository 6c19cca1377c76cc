//! Evidence: the capture of a command's run, and the judging of records against commits.

mod ask;
mod binding;
mod child;
mod conduct;
mod context;
mod error;
pub mod export;
pub mod format;
mod grade;
mod integrity;
pub mod judge;
mod junit;
mod lint;
mod rank;
mod relink;
pub mod report;
pub mod requirements;
mod rerun;
pub mod run;
pub mod sign;
mod source;
mod spool;
pub mod state;
mod tie;

pub use ask::{Ask, Event, verify};
pub use binding::Binding;
pub use child::Screen;
pub use conduct::{Conducted, NewRun, append_signature, concluded, conduct, of_stamp};
pub use error::Error;
pub use grade::Grade;
pub use rank::Rank;
pub use relink::{Link, links, relink};
pub use report::{Finding, Report};
pub use rerun::{Again, Which, rerun};
pub use spool::Captured;
pub use tie::{Tie, Ties, came_from};
