//! `policy` and its commands.

mod check;
mod facts;
mod list;
mod new;
mod pause;
mod replay;
mod report;
mod schema;
mod shown;
mod test;
mod trace;
mod why;

use std::{path::PathBuf, sync::Arc};

use clap::Subcommand;

use crate::{
    git::Repo,
    policy::{File, Policies, Scope},
    rules::{self, Found, Log, Pauses, Places, Scopes, Seen},
    ui::{Context, Exit, Failure},
};

/// Check, try and explain the rules over what an agent does
///
/// Policies lie in `.operator/policies/` (committed), `.operator/policies.local/` (this checkout) and
/// `git-operator/policies/` in the user's configuration directory. docs/policy.md has the language.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Args),
    List(list::Args),
    Trace(trace::Args),
    Explain(list::ExplainArgs),
    Why(why::Args),
    Test(test::Args),
    New(new::Args),
    Schema(schema::Args),
    Pause(pause::Args),
    Stats(why::StatsArgs),
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    match &args.command {
        Command::Check(args) => check::run(args, context),
        Command::List(args) => list::run(args, context),
        Command::Trace(args) => trace::run(args, context),
        Command::Explain(args) => list::explain(args, context),
        Command::Why(args) => why::run(args, context),
        Command::Test(args) => test::run(args, context),
        Command::New(args) => new::run(args, context),
        Command::Schema(args) => schema::run(args, context),
        Command::Pause(args) => pause::run(args, context),
        Command::Stats(args) => why::stats(args, context),
    }
}

/// Returns where policies lie for this process.
pub(super) fn places(context: &Context) -> Result<Places, Failure> {
    let env = context.env();
    let location = context.location()?;
    let top = location.and_then(|location| location.top.as_deref());
    let seen = location.map(|location| {
        let operator = location.common_dir.join("operator");
        Seen::new(&operator, &location.worktree_name()).read()
    });
    let config = env
        .path("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| env.home().map(|home| home.join(".config")));
    let places = Places::new(top, config.as_deref());
    Ok(places.with_seen(seen.unwrap_or_default()))
}

/// Reads the policies that hold for this process.
fn found(context: &Context) -> Result<Found, Failure> {
    Ok(loaded(&places(context)?, context))
}

fn loaded(places: &Places, context: &Context) -> Found {
    let repo = || {
        let location = context.location().ok()??;
        Repo::open(location, context.env()).ok()
    };
    rules::load(places, Scopes::All, &repo)
}

/// Reads the files named, or all there are when none is named.
fn chosen(paths: &[PathBuf], context: &Context) -> Result<Found, Failure> {
    if paths.is_empty() {
        // A file that is gone is not asked for: there is nothing in it to mend.
        let places = places(context)?.with_seen(Vec::new());
        return Ok(loaded(&places, context));
    }
    let cwd = context.cwd()?;
    let files: Vec<File> = paths
        .iter()
        .map(|path| File {
            scope: Scope::Project,
            path: path.display().to_string(),
            text: std::fs::read_to_string(cwd.join(path)).map_err(|error| error.to_string()),
        })
        .collect();
    Ok(Found {
        policies: Policies::load(&files, &|_| None),
        ignored: Vec::new(),
        files: files.len(),
        project: Vec::new(),
    })
}

/// Returns the directory of this clone's local state.
fn operator(context: &Context) -> Result<PathBuf, Failure> {
    Ok(context.project()?.location.common_dir.join("operator"))
}

fn log(context: &Context) -> Result<Log, Failure> {
    Ok(Log::new(&operator(context)?))
}

fn pauses(context: &Context) -> Result<Pauses, Failure> {
    Ok(Pauses::new(&operator(context)?))
}

fn shared(found: Found) -> Arc<Policies> {
    Arc::new(found.policies)
}
