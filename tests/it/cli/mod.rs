//! One file per command.

mod agents;
mod completions;
mod compress;
mod handoff;
mod install_man;
mod log;
mod show;
mod spec;
mod start;
mod tiers;
mod usage;
