//! One file per command.

mod completions;
mod install_man;
mod start;
mod usage;
