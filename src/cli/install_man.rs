use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::manual;
use crate::{
    git::Env,
    ui::{Context, Exit, Failure},
};

/// Install the manual pages, so that `git operator --help` works
///
/// Writes one page for each command into DIR/man1. Without DIR that is the first of
/// `$XDG_DATA_HOME/man` and `~/.local/share/man`. `man` looks there by itself when `~/.local/bin` is in
/// PATH; where it does not, the line that makes it look is printed.
#[derive(Debug, clap::Args)]
pub struct Args {
    dir: Option<PathBuf>,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let dir = match &args.dir {
        Some(dir) => context.cwd()?.join(dir),
        None => default_dir(context)?,
    };
    let pages_dir = dir.join("man1");
    let wrong = |error: &io::Error| {
        let shown = pages_dir.display();
        Failure::io(format!("cannot write manual pages to '{shown}'"), error)
    };
    fs::create_dir_all(&pages_dir).map_err(|error| wrong(&error))?;
    let pages = manual::pages();
    for (name, text) in &pages {
        fs::write(pages_dir.join(name), text).map_err(|error| wrong(&error))?;
    }
    let count = pages.len();
    context.ui.line(format_args!(
        "wrote {count} manual pages to {}",
        pages_dir.display()
    ))?;
    if args.dir.is_none() && !is_searched(&dir, context.env()) {
        let dir = dir.display();
        context.ui.note("man does not look there yet");
        context
            .ui
            .note(format_args!("hint: export MANPATH=\"{dir}:$MANPATH\""));
    }
    Ok(Exit::Done)
}

/// Says whether `man` looks in `dir`: manpath(1) takes MANPATH, and where that has an empty part or is
/// not set, the directories beside those of PATH.
fn is_searched(dir: &Path, env: &Env) -> bool {
    let parts = |name| {
        let value = env.var(name).unwrap_or_default();
        std::env::split_paths(value).collect::<Vec<_>>()
    };
    let given = parts("MANPATH");
    if given.iter().any(|part| part == dir) {
        return true;
    }
    if !given.is_empty() && given.iter().all(|part| !part.as_os_str().is_empty()) {
        return false;
    }
    parts("PATH")
        .iter()
        .filter_map(|bin| bin.parent())
        .any(|prefix| dir == prefix.join("share/man") || dir == prefix.join("man"))
}

fn default_dir(context: &Context) -> Result<PathBuf, Failure> {
    let env = context.env();
    if let Some(data) = env.path("XDG_DATA_HOME") {
        return Ok(data.join("man"));
    }
    let home = env.home().ok_or_else(|| {
        Failure::usage("cannot choose a directory for manual pages: HOME is not set")
            .hint("git-operator install-man <dir>")
    })?;
    Ok(home.join(".local/share/man"))
}
