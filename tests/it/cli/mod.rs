//! One file per command.

mod agents;
mod completions;
mod compress;
mod install_man;
mod log;
mod show;
mod start;
mod tiers;
mod usage;
