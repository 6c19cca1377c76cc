use std::{
    ffi::OsString,
    os::unix::ffi::OsStringExt as _,
    path::{Path, PathBuf},
};

use super::{Event, policy::Rules, reply::Reply};
use crate::{
    git::{Clock, Project, Repo},
    model::Digest,
    payload::{self, Session, Value},
    policy::derive,
    rules,
    ui::Failure,
    work::{self, Call, Scope, Target, Tool},
};

/// One use of a tracked tool in a repository whose work ledger is on.
pub(super) struct ToolUse {
    pub(super) repo: Repo,
    pub(super) session: String,
    pub(super) id: String,
    tool: String,
    agent: Option<String>,
    target: Target,
    time: u64,
}

impl ToolUse {
    /// Reads the tool use of an event; `None` when it is not tracked.
    pub(super) fn of(event: &Event) -> Result<Option<Self>, Failure> {
        let payload = &event.payload;
        let Some(tool) = payload.text("tool_name") else {
            return Ok(None);
        };
        let Some(kind) = Tool::of(&tool) else {
            return Ok(None);
        };
        let Session::Known(session) = payload.session() else {
            return Ok(None);
        };
        let id = id(event, &tool);
        let Some(repo) = repo(event, (session.as_str(), &id))? else {
            return Ok(None);
        };
        let target = match (kind, file(event)) {
            (Tool::Shell, _) | (Tool::File, None) => Target::Tree,
            (Tool::File, Some(name)) => {
                let top = repo.top().map(Path::to_owned);
                let cwd = payload.cwd().or(top).unwrap_or_default();
                Target::File(work::place(&repo, &cwd, &name)?)
            }
        };
        Ok(Some(Self {
            repo,
            session: session.as_str().to_owned(),
            id,
            tool,
            agent: payload.text("agent_id"),
            target,
            time: Clock::default().wall_ms(),
        }))
    }

    pub(super) fn call(&self, scope: Scope) -> Call<'_> {
        Call {
            session: &self.session,
            tool: &self.tool,
            id: &self.id,
            agent: self.agent.as_deref(),
            target: self.target.clone(),
            scope,
            time: self.time,
        }
    }

    pub(super) fn time(&self) -> u64 {
        self.time
    }

    /// Says what a file tool that names no file is taken for.
    pub(super) fn warning(&self) -> Option<String> {
        let is_file = Tool::of(&self.tool) == Some(Tool::File);
        (is_file && self.target == Target::Tree).then(|| {
            format!(
                "git-operator: {} names no file it is to change, so the whole working tree is \
                 compared",
                self.tool
            )
        })
    }
}

/// Returns what the user is told, once, of a session whose id cannot be used: its tool uses are not
/// tracked.
pub(super) fn nameless(event: &Event) -> Option<String> {
    let Session::Unknown(why) = event.payload.session() else {
        return None;
    };
    event.payload.text("session_id")?;
    let payload::Place::Found(project) = event.place() else {
        return None;
    };
    tracked(project, event).ok()??;
    Some(format!(
        "git-operator does not keep track of this session's work: {why}"
    ))
}

/// Returns what the user is told of a tool use that cannot be tracked.
pub(super) fn untracked(failure: &Failure) -> Reply {
    match &failure.message {
        Some(message) => Reply::message(&format!(
            "git-operator could not track this tool use: {message}"
        )),
        None => Reply::Nothing,
    }
}

/// The call's id; one made of its input where an old client sends none.
fn id(event: &Event, tool: &str) -> String {
    event.payload.text("tool_use_id").unwrap_or_else(|| {
        let input = event.payload.get("tool_input").map(Value::raw);
        let input = input.unwrap_or_default();
        let digest = Digest::of(&[tool.as_bytes(), b"\0", input].concat());
        format!("input:{}", &digest.to_hex()[..16])
    })
}

fn file(event: &Event) -> Option<OsString> {
    let input = event.payload.get("tool_input")?;
    let bytes = derive::PATH_FIELDS
        .into_iter()
        .filter_map(|key| input.get(key)?.bytes())
        .find(|bytes| !bytes.is_empty() && !bytes.contains(&0))?;
    Some(OsString::from_vec(bytes.into_owned()))
}

/// The repository of the payload's directory; that of the project when the call began there: a command
/// may have gone elsewhere meanwhile.
fn repo(event: &Event, call: (&str, &str)) -> Result<Option<Repo>, Failure> {
    let here = match event.place() {
        payload::Place::Found(project) => tracked(project, event)?,
        payload::Place::Nowhere | payload::Place::Gone(_) => None,
        payload::Place::Fault(error) => return Err(Failure::of(error)),
    };
    if event.name == "PreToolUse" {
        return Ok(here);
    }
    if let Some(repo) = &here
        && work::knows(repo, call)?
    {
        return Ok(here);
    }
    let home = event.env.path("CLAUDE_PROJECT_DIR").map(PathBuf::from);
    let Some(home) = home.filter(|home| home.is_dir()) else {
        return Ok(here);
    };
    let there = match Project::find(&home, &event.env)? {
        Some(project) => tracked(&project, event)?,
        None => None,
    };
    match there {
        Some(repo) if work::knows(&repo, call)? => Ok(Some(repo)),
        Some(_) | None => Ok(here),
    }
}

fn tracked(project: &Project, event: &Event) -> Result<Option<Repo>, Failure> {
    if project.is_store() || project.location.top.is_none() {
        return Ok(None);
    }
    let policies = event.rules().map(Rules::policies);
    let repo = project.open(&event.env)?;
    Ok(rules::tracks(&repo, policies)?.then_some(repo))
}
