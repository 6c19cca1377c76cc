//! git-operator: a ledger of evidence kept in git refs, the gate that asks for it, and the checks that
//! read it.
//!
//! The modules stand in layers, lowest first; a module uses only modules above it in this list
//! (`tests/it/layers.rs` enforces it). Front ends never use each other. docs/architecture.md says what
//! each one owns.

// 0: values, pure
pub mod model;

// 1: logic, pure
pub mod ledger;

pub mod policy;

// 2: input and output
pub mod git;

pub mod store;

// 3: operations
pub mod compress;

pub mod view;

pub mod work;

pub mod gate;

pub mod verify;

pub mod sync;

pub mod setup;

// 4: edge
pub mod ui;

// 5: front ends
pub mod agent_hook;
pub mod cli;
pub mod git_hook;
pub mod merge_driver;
pub mod status_line;

use std::{ffi::OsString, process::ExitCode};

/// Runs the program named by `args` (the first is the program itself) and returns its exit code.
pub fn run(args: impl Iterator<Item = OsString>) -> ExitCode {
    cli::run(args.collect())
}
