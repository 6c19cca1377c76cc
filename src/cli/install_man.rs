use std::{fs, io, path::PathBuf};

use super::manual;
use crate::ui::{Context, Exit, Failure};

/// Install the manual pages, so that `git operator --help` works
///
/// Writes one page for each command into DIR/man1. Without DIR that is the first of
/// `$XDG_DATA_HOME/man` and `~/.local/share/man`, where `man` looks by itself on most systems.
#[derive(Debug, clap::Args)]
pub struct Args {
    dir: Option<PathBuf>,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let dir = match &args.dir {
        Some(dir) => context.cwd()?.join(dir),
        None => default_dir(context)?,
    };
    let dir = dir.join("man1");
    let wrong = |error: &io::Error| {
        let shown = dir.display();
        Failure::io(format!("cannot write manual pages to '{shown}'"), error)
    };
    fs::create_dir_all(&dir).map_err(|error| wrong(&error))?;
    let pages = manual::pages();
    for (name, text) in &pages {
        fs::write(dir.join(name), text).map_err(|error| wrong(&error))?;
    }
    let count = pages.len();
    context.ui.line(format_args!(
        "wrote {count} manual pages to {}",
        dir.display()
    ))?;
    Ok(Exit::Done)
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
