//! The one test target.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod agent_hook;
mod cli;
mod compress;
mod docs;
mod fixtures;
mod gate;
mod git;
mod layers;
mod plugin;
mod setup;
mod store;
mod support;
mod support_test;
mod verify;
