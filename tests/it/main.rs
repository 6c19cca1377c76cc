//! The one test target.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod agent_hook;
mod cli;
mod compress;
mod docs;
mod doctor;
mod doctor_faults;
mod fixtures;
mod fuzz;
mod gate;
mod git;
mod git_hook;
mod handoff;
mod hostile;
mod layers;
mod merge_driver;
mod peers;
mod places;
mod plugin;
mod policy;
mod release;
mod report;
mod setup;
mod spec;
mod status_line;
mod store;
mod support;
mod support_test;
mod sync;
mod transport;
mod trouble;
mod verify;
mod view;
mod view_fixtures;
mod view_text;
mod work;
