//! The two views, VERDICTS.md and DECISIONS.md: taken apart, rendered, written, reconciled with the
//! ledger, and merged. A view is never a source: what counts is the records.

mod diff;
mod line;
mod merge;
pub mod notes;
mod sort;

pub use line::{Document, Kind, Line, Row, View};
pub use merge::{Merged, join, merge};
