//! Policies at the events of a session: loaded where they can speak, judged, answered.

use std::{
    cell::OnceCell,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Value, json};

use super::{Event, reply::Reply};
use crate::{
    gate::{self, Reason, Who},
    git::{Clock, Project, Repo},
    model::{Digest, RepoPath},
    payload::{self, Session},
    policy::{self, Facts, Level, Limits, Policies, Policy, Ruling, Scope, Shared},
    rules::{self, About, Bytes, Call, Change, Decision, Hook, Log, Pauses, Places, Turns},
    ui::{Failure, printable},
    work::{self, RestoreRequest, Work},
};

/// The members of a payload that policies may see.
const MEMBERS: [&str; 17] = [
    "tool_name",
    "tool_input",
    "tool_response",
    "tool_use_id",
    "session_id",
    "prompt_id",
    "agent_id",
    "permission_mode",
    "error",
    "is_interrupt",
    "duration_ms",
    "stop_hook_active",
    "last_assistant_message",
    "background_tasks",
    "prompt",
    "reason",
    "source",
];
const DEPTH_LIMIT: usize = 24;
/// How much of a changed file is read.
const READ_LIMIT: u64 = 16 << 20;

/// The policies of an event, read once and only when asked for.
pub(super) type Cell = OnceCell<Option<Rules>>;

/// The policies of an event's project.
pub(super) struct Rules {
    policies: Arc<Policies>,
    project: Project,
    top: PathBuf,
    operator: PathBuf,
    warnings: Vec<String>,
}

/// What is known of the working tree and of what a call did there.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) work: Option<Work>,
    pub(super) changes: Vec<Change>,
    /// How often this Stop was refused in a row.
    pub(super) blocks: u64,
}

impl Event {
    /// Returns the policies that may speak; `None` where there is none, or a person paused them.
    pub(super) fn rules(&self) -> Result<Option<&Rules>, Failure> {
        if let Some(rules) = self.rules.get() {
            return Ok(rules.as_ref());
        }
        let rules = load(self)?;
        Ok(self.rules.get_or_init(|| rules).as_ref())
    }

    fn name(&self) -> String {
        self.payload.event().unwrap_or_default()
    }
}

fn load(event: &Event) -> Result<Option<Rules>, Failure> {
    let payload::Place::Found(project) = payload::Place::find(&event.payload, &event.env) else {
        return Ok(None);
    };
    let Some(top) = project.top.clone() else {
        return Ok(None);
    };
    let env = &event.env;
    let config = env
        .path("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| env.home().map(|home| home.join(".config")));
    let places = Places::new(Some(&top), config.as_deref());
    if !places.any() {
        return Ok(None);
    }
    let operator = project.location.common_dir.join("operator");
    if Pauses::new(&operator)
        .current(Clock::default().wall_ms())
        .is_some()
    {
        return Ok(None);
    }
    let repo = || project.open(env).ok();
    let found = rules::load(&places, rules::Scopes::All, &repo)?;
    if found.policies.is_empty() {
        return Ok(None);
    }
    let stale = found
        .policies
        .list()
        .iter()
        .filter(|policy| policy.is_stale);
    let warnings = stale
        .map(|policy| {
            format!(
                "git-operator: the policy file {} is broken, its version at HEAD is used",
                policy.place.source.path
            )
        })
        .collect();
    Ok(Some(Rules {
        policies: Arc::new(found.policies),
        project,
        top,
        operator,
        warnings,
    }))
}

impl Rules {
    /// Says whether the work ledger is to be kept for the sake of a policy.
    pub(super) fn need_work(&self) -> bool {
        self.policies.need_work()
    }

    /// Returns how much of the working tree the policies on this event want looked at.
    pub(super) fn scope(&self, event: &Event) -> work::Scope {
        let reads = self
            .on(&event.name())
            .iter()
            .any(|policy| policy.reads_work());
        match reads {
            true => work::Scope::Tree,
            false => work::Scope::Target,
        }
    }

    fn on(&self, name: &str) -> Vec<&Policy> {
        self.policies.on(rules::kinds(name)).collect()
    }

    /// Says whether anything is to be judged at this event.
    fn concern(&self, name: &str) -> bool {
        !self.policies.broken().is_empty() || !self.on(name).is_empty()
    }

    /// Judges an event, counts and records what came of it.
    pub(super) fn judge(&self, event: &Event, seen: Seen) -> Result<Option<Ruling>, Failure> {
        let name = event.name();
        if !self.concern(&name) {
            return Ok(None);
        }
        let facts = self.facts(event, &name, seen)?;
        let ruling = policy::judge(&self.policies, facts, Limits::default());
        Ok(Some(ruling))
    }

    fn facts(&self, event: &Event, name: &str, seen: Seen) -> Result<Vec<Facts>, Failure> {
        let payload = payload_json(event);
        let hook = Hook {
            name,
            payload: &payload,
            around: self.around(event, name),
            shared: self.shared(event, name, seen.work.as_ref())?,
            changes: seen.changes,
            blocks: seen.blocks,
        };
        let cwd = event.payload.cwd().unwrap_or_else(|| self.top.clone());
        let place = |named: &str| rules::below(Some(&self.top), &cwd, named);
        let read = |path: &str| -> Bytes { rules::bytes(&self.top, path) };
        Ok(rules::events(&hook, &place, &read)?)
    }

    fn shared(&self, event: &Event, name: &str, seen: Option<&Work>) -> Result<Shared, Failure> {
        let work = seen.map_or_else(|| json!({}), work_json);
        let gate = if self.on(name).iter().any(|policy| policy.needs_gate()) {
            self.gate(event)?
        } else {
            json!({})
        };
        Ok(Shared::new(work, gate).map_err(rules::Error::from)?)
    }

    fn gate(&self, event: &Event) -> Result<Value, Failure> {
        let place = gate::Place::of_project(&self.project);
        let who = match event.payload.session() {
            Session::Known(owner) => Who::Session(owner),
            Session::Unknown(_) => Who::Unknown {
                worktree: place.worktree.clone(),
            },
        };
        let parts = gate::survey(&place, &who)?.parts;
        let task = |open: &gate::Open| json!({ "id": open.task });
        let mine: Vec<Value> = parts.mine.iter().chain(&parts.unowned).map(task).collect();
        let foreign: Vec<Value> = parts.foreign.iter().map(task).collect();
        // Whether a verdict is fresh is told by `verify`; here it counts as not known.
        Ok(json!({
            "open": mine.len() + foreign.len(),
            "mine": mine,
            "foreign": foreign,
            "last": { "id": "", "result": "", "fresh": null },
        }))
    }

    fn around(&self, event: &Event, name: &str) -> Value {
        let cwd = event.payload.cwd().unwrap_or_default();
        let below = cwd.strip_prefix(&self.top).unwrap_or(Path::new(""));
        let mut around = json!({ "root": self.top, "cwd": below });
        let own = |policy: &&Policy| policy.scope != Scope::BuiltIn;
        let policies = self.on(name);
        if policies.iter().copied().any(|policy| own(&policy))
            && let Ok(repo) = self.project.open(&event.env)
            && let Ok(head) = repo.head()
        {
            around["head"] = head.commit().map(|id| id.to_hex()).into();
            around["branch"] = branch(&head).into();
        }
        if policies.iter().any(|policy| policy.needs_turn()) {
            around["turn"] = self.turn(event, name).unwrap_or_else(|_| json!({}));
        }
        around
    }

    fn turn(&self, event: &Event, name: &str) -> Result<Value, Failure> {
        let Some(session) = event.payload.text("session_id") else {
            return Ok(json!({}));
        };
        let prompt = event.payload.text("prompt_id");
        let tool = event.payload.text("tool_name").unwrap_or_default();
        let input = event.payload.get("tool_input").map(payload::Value::raw);
        let turns = Turns::new(&self.operator);
        Ok(turns.update(&session, |turn| match name {
            "PreToolUse" => turn.call(Call {
                prompt: prompt.as_deref(),
                tool: &tool,
                input: input.unwrap_or_default(),
            }),
            _ => {
                turn.prompt(prompt.as_deref());
                turn.value(0)
            }
        })?)
    }

    /// Remembers what a call that ended says about tests: what succeeded, what was written.
    pub(super) fn note_end(&self, event: &Event, wrote: Wrote) -> Result<(), Failure> {
        let needed = self
            .policies
            .list()
            .iter()
            .any(|policy| policy.needs_turn());
        let Some(session) = event.payload.text("session_id").filter(|_| needed) else {
            return Ok(());
        };
        let command = event
            .payload
            .get("tool_input")
            .and_then(|input| input.get("command"))
            .and_then(payload::Value::text);
        Turns::new(&self.operator).update(&session, |turn| {
            if wrote == Wrote::Files {
                turn.wrote();
            } else if let Some(command) = command.filter(|_| event.name() == "PostToolUse") {
                turn.pass(&command);
            }
        })?;
        Ok(())
    }

    /// Puts back what a ruling asks for.
    pub(super) fn restore(&self, ruling: &mut Ruling, repo: &Repo, call: (&str, &str)) {
        let wanted = ruling.restores();
        if wanted.is_empty() {
            return;
        }
        let paths: Vec<RepoPath> = wanted
            .iter()
            .filter_map(|path| RepoPath::from_quoted(path))
            .collect();
        let request = RestoreRequest {
            session: call.0,
            call: Some(call.1),
            paths: &paths,
            time: Clock::default().wall_ms(),
        };
        let (mut done, mut failed) = (Vec::new(), Vec::new());
        match work::restore(repo, &request) {
            Ok(lines) => {
                for line in lines {
                    let path = line.path.quoted();
                    match line.done {
                        work::Done::Restored | work::Done::Removed => done.push(path),
                        work::Done::NotCovered => {
                            failed.push((path, "it is in a repository of its own".to_owned()));
                        }
                        work::Done::Skipped(reason) => failed.push((path, reason)),
                    }
                }
            }
            Err(error) => {
                failed.extend(wanted.into_iter().map(|path| (path, error.to_string())));
            }
        }
        ruling.record_restore(done, failed);
    }

    /// Records a ruling that says something, and counts a refusal.
    pub(super) fn record(&self, event: &Event, ruling: &Ruling) {
        let session = event.payload.text("session_id");
        let tool = event.payload.text("tool_name");
        let about = About {
            time: Clock::default().wall_ms(),
            session: session.as_deref(),
            tool: tool.as_deref(),
        };
        // The answer counts, not the record of it.
        if let Some(decision) = Decision::of(ruling, about, &ruling.restores()) {
            let _ = Log::new(&self.operator).add(&decision);
        }
        if ruling.level() == Level::Block
            && self
                .policies
                .list()
                .iter()
                .any(|policy| policy.needs_turn())
            && let Some(session) = session
        {
            let _ = Turns::new(&self.operator).update(&session, rules::Turn::block);
        }
    }
}

/// Whether a call wrote files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrote {
    Files,
    Nothing,
}

fn branch(head: &crate::git::Head) -> Option<String> {
    let name = match head {
        crate::git::Head::Unborn { branch } => branch,
        crate::git::Head::Branch { name, .. } => name,
        crate::git::Head::Detached { .. } => return None,
    };
    Some(name.strip_prefix("refs/heads/").unwrap_or(name).to_owned())
}

fn payload_json(event: &Event) -> Value {
    MEMBERS
        .iter()
        .filter_map(|name| {
            let value = event.payload.get(name)?;
            Some(((*name).to_owned(), to_json(value, 0)))
        })
        .collect()
}

fn to_json(value: payload::Value<'_>, depth: usize) -> Value {
    if depth > DEPTH_LIMIT {
        return Value::Null;
    }
    match value.raw().first() {
        Some(b'{') => value
            .members()
            .filter_map(|(key, value)| Some((key.text()?.into_owned(), to_json(value, depth + 1))))
            .collect(),
        Some(b'[') => value.items().map(|item| to_json(item, depth + 1)).collect(),
        Some(b'"') => value
            .text()
            .map_or(Value::Null, |text| text.into_owned().into()),
        _ => serde_json::from_slice(value.raw()).unwrap_or(Value::Null),
    }
}

fn quoted(paths: &[RepoPath]) -> Vec<String> {
    paths.iter().map(RepoPath::quoted).collect()
}

fn work_json(work: &Work) -> Value {
    let reasons: Value = work
        .reasons
        .iter()
        .map(|(path, reason)| (path.quoted(), Value::from(reason.as_str())))
        .collect();
    json!({
        "tracked": work.tracked,
        "touched": quoted(&work.touched),
        "mine": quoted(&work.mine),
        "foreign": quoted(&work.foreign),
        "uncommitted": quoted(&work.uncommitted),
        "unattributed": quoted(&work.unattributed),
        "reasons": reasons,
        "call": work.call.as_ref().map(|call| json!({
            "tool": call.tool,
            "id": call.id,
            "agent": call.agent,
            "foreign": quoted(&call.foreign),
            "changed": quoted(&call.changed),
            "written": quoted(&call.written),
            "restored": quoted(&call.restored),
        })),
    })
}

/// Returns what a call changed, as policies see it.
pub(super) fn changes(repo: &Repo, changes: &[work::FileChange]) -> Vec<Change> {
    changes
        .iter()
        .map(|change| {
            let after = change.bytes_after(repo, READ_LIMIT).ok().flatten();
            Change {
                path: change.path.quoted(),
                before: change.bytes_before(repo).ok().flatten(),
                is_gone: matches!(change.after, work::Content::Absent),
                after,
            }
        })
        .collect()
}

/// Returns the ruling as the client is told at `name`, beside what is told anyhow.
pub(super) fn answer(name: &str, rules: &Rules, ruling: &Ruling, beside: Reply) -> Reply {
    let mut answer = match beside {
        Reply::Nothing => json!({}),
        Reply::Json(answer) => answer,
        reply @ (Reply::Talk(_) | Reply::Block(_)) => return reply,
    };
    let reason = printable(&ruling.reason()).into_owned();
    let context = printable(&ruling.context()).into_owned();
    let whole = [reason.as_str(), context.as_str()]
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join("\n");
    match (ruling.level(), name) {
        (Level::Nothing | Level::Log, _) => {}
        (Level::Block | Level::Ask, "PreToolUse") => {
            let word = if ruling.level() == Level::Block {
                "deny"
            } else {
                "ask"
            };
            let own = &mut answer["hookSpecificOutput"];
            own["hookEventName"] = name.into();
            own["permissionDecision"] = word.into();
            own["permissionDecisionReason"] = whole.into();
        }
        (Level::Block, _) => {
            answer["decision"] = "block".into();
            answer["reason"] = whole.clone().into();
            if name == "PostToolUseFailure" {
                add_context(&mut answer, name, &whole);
            }
        }
        (Level::Ask | Level::Warn | Level::Context, "PermissionDenied") => {}
        (Level::Ask | Level::Warn | Level::Context, _) => add_context(&mut answer, name, &whole),
    }
    let mut lines = rules.warnings.clone();
    lines.push(ruling.user_line());
    for line in lines.iter().filter(|line| !line.is_empty()) {
        add_line(&mut answer, "systemMessage", &printable(line));
    }
    if answer.as_object().is_some_and(serde_json::Map::is_empty) {
        return Reply::Nothing;
    }
    Reply::Json(answer)
}

fn add_context(answer: &mut Value, name: &str, text: &str) {
    answer["hookSpecificOutput"]["hookEventName"] = name.into();
    add_line(&mut answer["hookSpecificOutput"], "additionalContext", text);
}

fn add_line(answer: &mut Value, key: &str, text: &str) {
    let joined = match answer[key].as_str() {
        Some(before) => format!("{before}\n{text}"),
        None => text.to_owned(),
    };
    answer[key] = joined.into();
}

/// Judges an event that is no tool use and no Stop, and answers it.
pub(super) fn plain(event: &Event, beside: Reply) -> Result<Reply, Failure> {
    let Some(rules) = event.rules()? else {
        return Ok(beside);
    };
    let Some(ruling) = rules.judge(event, Seen::default())? else {
        return Ok(beside);
    };
    rules.record(event, &ruling);
    Ok(answer(&event.name(), rules, &ruling, beside))
}

/// Returns what policies have against a Stop, and a line for the user where they only warn.
pub(super) fn stop(event: &Event) -> Result<(Vec<Reason>, Option<String>), Failure> {
    let Some(rules) = event.rules()? else {
        return Ok((Vec::new(), None));
    };
    let name = "Stop";
    let needs_work = rules.on(name).iter().any(|policy| policy.reads_work());
    let work = match (event.payload.text("session_id"), needs_work) {
        (Some(session), true) => {
            let repo = rules.project.open(&event.env)?;
            let who = work::Who::Session(&session);
            Some(work::status(&repo, who, Clock::default().wall_ms())?)
        }
        _ => None,
    };
    let again = event.payload.get("stop_hook_active");
    let seen = Seen {
        work,
        blocks: u64::from(again.is_some_and(payload::Value::truth)),
        ..Seen::default()
    };
    let Some(ruling) = rules.judge(event, seen)? else {
        return Ok((Vec::new(), None));
    };
    rules.record(event, &ruling);
    if ruling.level() < Level::Block {
        let line = [ruling.user_line(), ruling.reason()].join("\n");
        let says = ruling.level() >= Level::Warn;
        return Ok((Vec::new(), says.then(|| line.trim().to_owned())));
    }
    let text = [ruling.reason(), ruling.context()].join("\n");
    let ids: Vec<&str> = ruling.speaking().map(|said| said.policy.as_str()).collect();
    let key = format!(
        "policy {} {}",
        ids.join(","),
        &Digest::of(text.as_bytes()).to_hex()[..16]
    );
    Ok((
        vec![Reason {
            key,
            text: printable(text.trim_end()).into_owned(),
        }],
        None,
    ))
}
