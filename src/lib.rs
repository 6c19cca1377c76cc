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

pub mod rules;

pub mod verify;

pub mod sync;

pub mod setup;

// 4: edge
pub mod payload;
pub mod ui;

pub mod report;

// 5: front ends
pub mod agent_hook;
pub mod cli;
pub mod git_hook;
pub mod merge_driver;
pub mod status_line;

use std::{ffi::OsString, process::ExitCode};

use cli::{Parsed, Protocol};
use ui::{Codes, Context, Exit, Failure, Options};

/// Runs the program named by `args` (the first is the program itself) and returns its exit code.
pub fn run(args: impl Iterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.collect();
    match cli::parse(&args) {
        Parsed::Own(options, command) => {
            let context = Context::new(options);
            settle(&context, ui::caught(|| cli::run(&command, &context)))
        }
        Parsed::Protocol(options, protocol) => answer(&protocol, options).into(),
        Parsed::Text(text) => {
            let context = Context::new(Options::default());
            settle(&context, context.ui.print(text).map(|()| Exit::Done))
        }
        Parsed::Wrong(text, exit) => {
            let context = Context::new(Options::default());
            context.ui.misuse(&text);
            exit.into()
        }
    }
}

/// Each protocol decides by itself what a failure looks like.
fn answer(protocol: &Protocol, options: Options) -> Exit {
    match protocol {
        Protocol::Hook { event } => agent_hook::run(event.as_deref()),
        Protocol::MergeDriver { files } => merge_driver::run(files),
        Protocol::GitHook { name, args } => git_hook::run(name, args, options),
        Protocol::Statusline { .. } => status_line::run(),
    }
}

/// Says what failed and chooses the exit code.
fn settle(context: &Context, result: Result<Exit, Failure>) -> ExitCode {
    // The pager ends first, so that its screen does not cover what failed.
    let finished = context.finish();
    let result = result.and_then(|exit| finished.map(|()| exit));
    let exit = result.unwrap_or_else(|failure| {
        context.ui.failure(&failure);
        failure.exit
    });
    match (context.codes(), exit) {
        (Codes::Predecessors, Exit::No | Exit::Usage) => Exit::Block.into(),
        (Codes::Predecessors | Codes::Ours, exit) => exit.into(),
    }
}
