//! The one test target.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod agent_hook;
mod cli;
mod compress;
mod docs;
mod doctor;
mod fixtures;
mod fuzz;
mod gate;
mod git;
mod git_hook;
mod handoff;
mod layers;
mod merge_driver;
mod plugin;
mod policy;
mod setup;
mod spec;
mod status_line;
mod store;
mod support;
mod support_test;
mod sync;
mod transport;
mod verify;
mod view;
mod work;
