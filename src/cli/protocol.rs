use std::ffi::OsString;

use clap::Subcommand;

/// Commands that another program calls; each is a front end of its own.
#[derive(Debug, Subcommand)]
pub enum Protocol {
    /// Answer a Claude Code hook
    ///
    /// Reads one JSON payload from stdin. The event is EVENT, else the payload's `hook_event_name`.
    /// Exits 0, or 2 to block; an event this program does not know is read and let pass.
    #[command(hide = true)]
    Hook {
        /// Name of the event, such as Stop
        event: Option<String>,
    },

    /// Merge two versions of a view
    ///
    /// Called by git as a merge driver with %O %A %B %L %P; writes %A. Exits 0, or 1 when both sides
    /// changed the same hand-written text.
    #[command(hide = true)]
    MergeDriver {
        /// The base, ours, theirs, the length of conflict markers, the path
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        files: Vec<OsString>,
    },

    /// Answer a git hook
    ///
    /// NAME is the hook's, ARG what git gave it; its stdin is read here. Exits 0 whatever goes wrong, but
    /// for a pre-push where `operator.prePush` is `verify`.
    #[command(hide = true)]
    GitHook {
        /// Name of the hook, such as post-commit
        name: String,
        /// What git called the hook with
        #[arg(
            value_name = "ARG",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        args: Vec<OsString>,
    },

    /// Print the status line of a Claude Code session
    ///
    /// Reads the client's JSON from stdin and prints one line, or nothing; always exits 0.
    #[command(hide = true)]
    Statusline {
        #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
        ignored: Vec<OsString>,
    },
}
