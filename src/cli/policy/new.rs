use std::path::Path;

use super::places;
use crate::{
    git::files::{Lies, Tree},
    policy::manual,
    ui::{Context, Exit, Failure},
};

/// Write a policy to begin with, its test beside it
///
/// It lies in `.operator/policies/ID.yaml` and is in mode `warn` until you change that.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The policy's id: a-z, 0-9 and '-'
    #[arg(value_name = "ID")]
    id: String,
    /// The built-in it uses; a condition in CEL without it
    #[arg(long, value_name = "NAME")]
    builtin: Option<String>,
    /// Print it and write nothing
    #[arg(long)]
    dry_run: bool,
}

const MODE: u32 = 0o644;

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if args.id.is_empty() || args.id.starts_with('-') || !args.id.chars().all(fits) {
        let message = format!("cannot name a policy '{}': use a-z, 0-9 and '-'", args.id);
        return Err(Failure::new(Exit::No, message));
    }
    let text = manual::template(&args.id, args.builtin.as_deref())
        .map_err(|reason| Failure::new(Exit::No, format!("cannot begin a policy: {reason}")))?;
    if args.dry_run {
        context.ui.print(text)?;
        return Ok(Exit::Done);
    }
    let path = format!(".operator/policies/{}.yaml", args.id);
    let places = places(context)?;
    let Some(top) = places.top.as_deref().filter(|_| places.is_started()) else {
        let message = format!("cannot write '{path}': the project was not started");
        return Err(Failure::new(Exit::No, message).hint("git operator start"));
    };
    write(top, &path, &text)?;
    context.ui.line(format!("wrote {path}"))?;
    Ok(Exit::Done)
}

fn write(top: &Path, path: &str, text: &str) -> Result<(), Failure> {
    let fault = |error| Failure::new(Exit::Fatal, format!("cannot write '{path}': {error}"));
    let tree = Tree::open(top).map_err(fault)?;
    if tree.lies(path).map_err(fault)? != Lies::Nothing {
        let message = format!("cannot write '{path}': it is there already");
        return Err(Failure::new(Exit::No, message));
    }
    tree.write(path, text.as_bytes(), MODE).map_err(fault)
}
