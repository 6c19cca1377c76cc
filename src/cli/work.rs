use serde_json::{Map, Value, json};

use super::policy::places;
use crate::{
    git::Repo,
    model::RepoPath,
    rules,
    ui::{Context, Exit, Failure, printable},
    work::{self, Who, Work},
};

/// Show whose the changes in the working tree are
///
/// Prints one line for each path that differs from HEAD or that git does not track: `mine` when its
/// content is exactly what the session left, `foreign` when it is somebody else's, `unattributed` when
/// it changed during a call that never reported its end. Repositories inside this one are `not
/// covered`.
///
/// The session is the one --owner names, else CLAUDE_CODE_SESSION_ID, else the one whose hook ran last
/// in this worktree. The work ledger keeps track when `operator.work` is true or a policy asks for it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The session
    #[arg(long, value_name = "SESSION")]
    owner: Option<String>,
    /// Print one JSON object
    ///
    /// Its paths are quoted as git quotes them where they hold control characters, quotes, backslashes
    /// or bytes that are not UTF-8.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let work = match context.location()? {
        None => Work::default(),
        Some(location) if location.top.is_none() => Work::default(),
        Some(_) => of_repo(args, context, context.repo()?)?,
    };
    match args.json {
        true => context.ui.json("work", members(&work))?,
        false => print(&work, context)?,
    }
    Ok(Exit::Done)
}

fn of_repo(args: &Args, context: &Context, repo: &Repo) -> Result<Work, Failure> {
    let session = session(args.owner.as_deref(), context);
    let who = session.as_deref().map_or(Who::Last, Who::Session);
    let mut work = work::status(repo, who, context.clock()?.wall_ms())?;
    work.tracked = rules::is_tracked(repo, &places(context)?, context.clock()?.wall_ms())?;
    Ok(work)
}

/// Returns the session that is asked about, when anything says so.
pub(super) fn session(owner: Option<&str>, context: &Context) -> Option<String> {
    let named = owner.or_else(|| context.env().text("CLAUDE_CODE_SESSION_ID"));
    named.map(str::to_owned)
}

fn print(work: &Work, context: &Context) -> Result<(), Failure> {
    let line = |word: &str, path: &RepoPath| {
        let reason = work.reasons.get(path).map(|reason| reason.as_str());
        let reason = reason.filter(|reason| *reason != word);
        let reason = reason.map(|reason| format!(" ({reason})"));
        let quoted = path.quoted();
        context.ui.line(format!(
            "{word} {}{}",
            printable(&quoted),
            reason.unwrap_or_default()
        ))
    };
    for (word, paths) in [
        ("mine", &work.mine),
        ("foreign", &work.foreign),
        ("unattributed", &work.unattributed),
        ("not covered", &work.not_covered),
    ] {
        paths.iter().try_for_each(|path| line(word, path))?;
    }
    if !work.tracked {
        context
            .ui
            .note("the work ledger is off, and no policy asks for it");
        context.ui.note("hint: git config operator.work true");
    }
    Ok(())
}

/// Returns what policies see of the work, and what concerns people only.
fn members(work: &Work) -> Value {
    let agents: Map<String, Value> = work
        .agents
        .iter()
        .map(|(path, agent)| (path.quoted(), agent.as_str().into()))
        .collect();
    let mut members = rules::work(work);
    members["session"] = json!(work.session);
    members["agents"] = agents.into();
    members["not_covered"] = json!(
        work.not_covered
            .iter()
            .map(RepoPath::quoted)
            .collect::<Vec<_>>()
    );
    members
}
