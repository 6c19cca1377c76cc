//! The two views, VERDICTS.md and DECISIONS.md: taken apart, rendered, written, reconciled with the
//! ledger, and merged. A view is never a source: what counts is the records.

mod blocks;
mod check;
mod classify;
mod diff;
mod error;
mod files;
mod items;
mod line;
mod merge;
pub mod notes;
mod reconcile;
mod refresh;
mod render;
mod sort;
mod stood;

pub use check::{Checked, Finding, check, misread};
pub use error::Error;
pub use items::{Item, Items, What, row_key};
pub use line::{Document, Kind, Line, Row, View};
pub use merge::{Merged, join, merge};
pub use reconcile::{History, Reconciled, reconcile, take_in};
pub use refresh::{checked, is_own, is_touched, refresh, rendered, rewrite};
pub use render::{Rendered, render};
