//! Policies at the events of a session: loaded where they can speak, judged, answered.

mod answer;
mod facts;
mod members;

use std::{cell::OnceCell, path::PathBuf, sync::Arc};

pub(super) use answer::answer;
pub(super) use facts::Seen;
pub(super) use members::payload_json;

use super::{Event, post_tool_use::background, reply::Reply};
use crate::{
    gate::Reason,
    git::{Clock, Project},
    model::Digest,
    payload,
    policy::{
        self, EventName, Facts, Level, Limits, Outcome, Part, Policies, Policy, Ruling, Scope,
        Shared,
    },
    rules::{
        self, About, Decision, Log, Moment, Moments, Pauses, Places, Seen as Known, Turns, Wrote,
    },
    ui::printable,
    work,
};

/// The policies of an event, read once and only when asked for.
pub(super) type Cell = OnceCell<Option<Rules>>;

/// The policies of an event's project.
pub(super) struct Rules {
    policies: Arc<Policies>,
    /// `None` outside any project, where only the user's own policies speak.
    project: Option<Project>,
    /// Where local state is kept.
    operator: PathBuf,
    warnings: Vec<String>,
}

impl Event {
    /// Returns the policies that may speak; `None` where there is none, or a person paused them.
    pub(super) fn rules(&self) -> Option<&Rules> {
        self.rules.get_or_init(|| load(self)).as_ref()
    }
}

fn load(event: &Event) -> Option<Rules> {
    let env = &event.env;
    let project = match event.place() {
        payload::Place::Found(project) => Some(project.clone()),
        payload::Place::Nowhere | payload::Place::Gone(_) | payload::Place::Fault(_) => None,
    };
    let below_home = |name: &str, default: &str| {
        let own = env.path(name).map(PathBuf::from);
        own.or_else(|| env.home().map(|home| home.join(default)))
    };
    let config = below_home("XDG_CONFIG_HOME", ".config");
    let top = project.as_ref().and_then(|project| project.top.as_deref());
    let seen = project.as_ref().map(|project| {
        let worktree = project.location.worktree_name();
        Known::new(&project.operator_dir(), &worktree)
    });
    let before = seen.as_ref().map(Known::read).unwrap_or_default();
    let places = Places::new(top, config.as_deref()).with_seen(before);
    if !places.any() {
        return None;
    }
    let operator = match &project {
        Some(project) => project.operator_dir(),
        None => below_home("XDG_STATE_HOME", ".local/state")?.join("git-operator"),
    };
    let now = Clock::default().wall_ms();
    if Pauses::new(&operator).current(now).is_some() {
        return None;
    }
    let repo = || project.as_ref().and_then(|project| project.open(env).ok());
    let found = rules::load(&places, rules::Scopes::All, &repo);
    if let Some(seen) = seen.filter(|_| found.project != places.seen) {
        // What is not kept is not missed when it is gone; nothing else hangs on it.
        let _ = seen.write(&found.project);
    }
    let policies = found.policies;
    if policies.is_empty() {
        return None;
    }
    let stale = policies.list().iter().filter(|policy| policy.is_stale);
    let warnings = stale
        .map(|policy| {
            format!(
                "git-operator: the policy file {} is broken or gone, its version at HEAD is used",
                policy.place.source.path
            )
        })
        .collect();
    Some(Rules {
        policies: Arc::new(policies),
        project,
        operator,
        warnings,
    })
}

impl Rules {
    /// Returns the policies themselves.
    pub(super) fn policies(&self) -> &Policies {
        &self.policies
    }

    /// Returns how much of the working tree the policies on this event want looked at.
    pub(super) fn scope(&self, event: &Event) -> work::Scope {
        match self.on(event).iter().any(|policy| policy.reads(Part::Work)) {
            true => work::Scope::Tree,
            false => work::Scope::Target,
        }
    }

    /// Returns the policies that stand on what this event can make.
    fn on(&self, event: &Event) -> Vec<&Policy> {
        let tool = event.payload.text("tool_name").unwrap_or_default();
        let here = self.policies.on(rules::kinds(&event.name));
        here.filter(|policy| policy.admits(&tool)).collect()
    }

    /// Says whether a policy on this event asks what a file holds that is written.
    pub(super) fn reads_content(&self, event: &Event) -> bool {
        let writes = |policy: &&Policy| policy.on.contains(&EventName::FileWrite);
        let mut policies = self.on(event).into_iter().filter(writes);
        policies.any(|policy| policy.reads(Part::Content))
    }

    fn need_turn(&self) -> bool {
        let mut policies = self.policies.list().iter();
        policies.any(|policy| policy.enabled && policy.reads(Part::Turn))
    }

    /// Judges an event; `None` where nothing is to be judged.
    pub(super) fn judge(&self, event: &Event, seen: Seen) -> Option<Ruling> {
        let unreadable = self.unreadable(event);
        if unreadable.is_empty() && self.policies.broken().is_empty() && self.on(event).is_empty() {
            return None;
        }
        let lost = seen.changes_lost.clone();
        let facts = match self.facts(event, seen) {
            Ok(facts) => facts,
            Err(error) => return self.unjudged(event, &error.to_string()),
        };
        let unjudged = match (facts.first(), lost) {
            (Some(first), Some(reason)) => {
                let files = &rules::kinds(&event.name)[1..];
                policy::unjudged(&self.policies, first, files, &reason)
            }
            _ => Vec::new(),
        };
        let own = |policy: &&Policy| policy.scope != Scope::BuiltIn;
        let now = Clock::default().wall_ms();
        let moment = self
            .on(event)
            .iter()
            .any(own)
            .then(|| Moment::of(&event.name, &facts, now));
        let mut ruling = policy::judge(&self.policies, facts, Limits::default());
        ruling.outcomes.extend(unjudged);
        let said: Vec<String> = rules::speaking(&ruling);
        let silent = |outcome: &Outcome| !said.contains(&outcome.policy);
        ruling
            .outcomes
            .extend(unreadable.into_iter().filter(silent));
        if let Some(mut moment) = moment {
            moment.answer(&ruling);
            // What is not kept cannot be judged again; the answer stands.
            let _ = Moments::new(&self.operator).add(&moment);
        }
        Some(ruling)
    }

    /// Returns what the policies say of a payload that does not tell what they would be judged at.
    fn unreadable(&self, event: &Event) -> Vec<Outcome> {
        let kinds = rules::kinds(&event.name);
        let tool = event.payload.text("tool_name");
        let names = |field: &str| {
            let input = event.payload.get("tool_input");
            let named = input.and_then(|input| input.get(field)?.text());
            named.is_some_and(|name| !name.is_empty())
        };
        let lost = match (event.payload.trouble(), kinds) {
            // Without a payload a turn ends and a session begins just the same.
            (Some(_), [EventName::TurnEnd | EventName::SessionStart | EventName::SessionEnd]) => {
                None
            }
            (Some(why), kinds) => Some((format!("the payload is unreadable: {why}"), kinds)),
            (None, _) => rules::lost(&event.name, tool.as_deref(), names),
        };
        let Some((reason, events)) = lost else {
            return Vec::new();
        };
        let facts = kinds.first().and_then(|kind| {
            let facts = serde_json::json!({ "tool": tool });
            Facts::new(*kind, facts, &Shared::none()).ok()
        });
        facts.map_or_else(Vec::new, |facts| {
            policy::unreadable(&self.policies, &facts, events, &reason)
        })
    }

    /// Returns what the policies say of an event that cannot be described: each follows its `on_error`.
    fn unjudged(&self, event: &Event, reason: &str) -> Option<Ruling> {
        let kinds = rules::kinds(&event.name);
        let tool = serde_json::json!({ "tool": event.payload.text("tool_name") });
        let facts = Facts::new(*kinds.first()?, tool, &Shared::none()).ok()?;
        let outcomes = policy::unjudged(&self.policies, &facts, kinds, reason);
        Some(Ruling::new(outcomes))
    }

    /// Remembers what a call that ended says about tests: what succeeded, what was written.
    pub(super) fn note_end(&self, event: &Event, changes: &[work::FileChange]) {
        let session = event.payload.text("session_id");
        let Some(session) = session.filter(|_| self.need_turn()) else {
            return;
        };
        let command = event
            .payload
            .get("tool_input")
            .and_then(|input| input.get("command"))
            .and_then(payload::Value::text)
            .filter(|_| event.name == "PostToolUse" && background(event).is_none());
        let wrote = Wrote::of(&self.policies, changes);
        // A success that was not noted is missed later, and says so; the call is not held up by it.
        let _ = Turns::new(&self.operator).end(&session, wrote, command.as_deref());
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
            && self.need_turn()
            && let Some(session) = session
        {
            let _ = Turns::new(&self.operator).update(&session, rules::Turn::block);
        }
    }
}

/// Judges an event that is no tracked tool use and no Stop, and answers it.
pub(super) fn plain(event: &Event, beside: Reply) -> Reply {
    let Some(rules) = event.rules() else {
        return beside;
    };
    let Some(ruling) = rules.judge(event, Seen::default()) else {
        return beside;
    };
    rules.record(event, &ruling);
    answer(&event.name, rules, &ruling, beside)
}

/// Judges the end of a session: it is recorded, the client hears nothing any more.
pub(super) fn session_end(event: &Event) {
    let Some(rules) = event.rules() else { return };
    if let Some(ruling) = rules.judge(event, Seen::default()) {
        rules.record(event, &ruling);
    }
    if let Some(session) = event
        .payload
        .text("session_id")
        .filter(|_| rules.need_turn())
    {
        Turns::new(&rules.operator).forget(&session);
    }
}

/// Returns what policies have against a Stop that was refused `blocks` times, and a line for the user
/// where they only warn.
pub(super) fn stop(event: &Event, blocks: u64) -> (Vec<Reason>, Option<String>) {
    let Some(rules) = event.rules() else {
        return (Vec::new(), None);
    };
    let seen = Seen {
        blocks,
        ..Seen::default()
    };
    let Some(ruling) = rules.judge(event, seen) else {
        return (Vec::new(), None);
    };
    rules.record(event, &ruling);
    let text = [rules.warnings.join("\n"), ruling.reason(), ruling.context()].join("\n");
    let text = printable(text.trim()).into_owned();
    if ruling.level() < Level::Context {
        let stale = rules.warnings.join("\n");
        return (Vec::new(), Some(stale).filter(|stale| !stale.is_empty()));
    }
    if ruling.level() == Level::Warn {
        let line = format!("{}\n{text}", ruling.user_line());
        return (Vec::new(), Some(line.trim().to_owned()));
    }
    let ids: Vec<&str> = ruling.speaking().map(|said| said.policy.as_str()).collect();
    let key = format!(
        "policy {} {}",
        ids.join(","),
        &Digest::of(text.as_bytes()).to_hex()[..16]
    );
    (vec![Reason { key, text }], None)
}
