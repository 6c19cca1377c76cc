//! The edge: standard output and error, `error:` and `hint:`, colour, pager, tables, progress, exit
//! codes.
//!
//! Results go to stdout, talk to stderr. Text that comes from records passes through [`printable()`] or
//! [`one_line`] before anybody sees it. A reader that goes away ends the program, and that is success.

mod context;
mod exit;
mod failure;
mod options;
mod pager;
mod paint;
mod panic;
mod printable;
mod progress;
pub mod record;
mod stdin;
mod streams;
mod table;

pub use context::Context;
pub use exit::Exit;
pub use failure::{Failure, worded};
pub use options::{Codes, ColorChoice, Format, Options, Paging, Talk};
pub use paint::{Color, Paint};
pub use panic::caught;
pub use printable::{one_line, printable, printable_json, width};
pub use stdin::read_stdin;
pub use streams::Ui;
pub use table::{Align, Table, cut, wrap};
