//! One policy at one event.

use std::{cell::OnceCell, sync::Arc, time::Instant};

use cel::Context;
use serde_json::Value;

use super::{
    builtin::{Answer, is_policy_file},
    cel::{self as expression, Content, Expression, Patterns, Roots, json_value, meter, to_json},
    event::{Action, EventName, Level},
    facts::Facts,
    load::Policies,
    message,
    policy::{Broken, Condition, Mode, Policy, Scope, Step},
    ruling::{Outcome, Verdict, error_level},
    shell::{
        self, Argv, Redirection, Shell,
        git::Invocation,
        options::{Order, Syntax},
    },
    trace,
};

/// Tools that change nothing; an error of ours never keeps them from running.
const READ_ONLY: [&str; 18] = [
    "Read",
    "Grep",
    "Glob",
    "LS",
    "NotebookRead",
    "WebFetch",
    "WebSearch",
    "TodoRead",
    "TodoWrite",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "BashOutput",
    "ToolSearch",
    "AskUserQuestion",
    "EnterPlanMode",
    "ExitPlanMode",
    "ListMcpResources",
];

/// How much is said about a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    Outcome,
    Parts,
}

/// An event being judged.
pub(super) struct Judge<'f> {
    pub(super) facts: &'f Facts,
    patterns: &'f Arc<Patterns>,
    /// The value of `work`, with what has been put back so far.
    work: Arc<Value>,
    content: Content<'f>,
    context: OnceCell<Context<'static, 'static>>,
    detail: Detail,
}

/// What a condition came to.
pub(super) enum State {
    /// It holds; a built-in says why.
    Holds(Option<String>),
    Fails(String),
    Unknown(String),
}

impl<'f> Judge<'f> {
    pub(super) fn new(facts: &'f Facts, patterns: &'f Arc<Patterns>, detail: Detail) -> Self {
        Self {
            facts,
            patterns,
            work: Arc::clone(&facts.work),
            content: Content::new(facts.data_text("content").unwrap_or_default()),
            context: OnceCell::new(),
            detail,
        }
    }

    /// Returns what expressions see, made where one is evaluated by the crate.
    pub(super) fn context(&self) -> &Context<'static, 'static> {
        self.context.get_or_init(|| {
            let roots = [
                ("event", json_value(&self.facts.event)),
                ("work", json_value(&self.work)),
                ("gate", json_value(&self.facts.gate)),
            ];
            expression::context(self.patterns, roots)
        })
    }

    /// Returns whether a condition holds.
    pub(super) fn is_true(&self, expression: &Expression) -> Result<bool, String> {
        let roots = Roots {
            event: &self.facts.event,
            work: &self.work,
            gate: &self.facts.gate,
            patterns: self.patterns,
            content: &self.content,
        };
        let quick = expression.quick(&roots);
        quick.map_or_else(|| expression.holds(self.context()), Ok)
    }

    /// Shows later expressions what has been put back so far.
    pub(super) fn set_restored(&mut self, restored: &[String]) {
        let mut work = Value::clone(&self.facts.work);
        if work["call"].is_object() {
            work["call"]["restored"] = restored.into();
            self.work = Arc::new(work);
            self.context = OnceCell::new();
        }
    }

    /// Judges one policy; what it restores is added to `restored`.
    pub(super) fn policy(&mut self, policy: &Policy, restored: &mut Vec<String>) -> Outcome {
        let started = Instant::now();
        let mut outcome = self.outcome(policy);
        if self.detail == Detail::Parts && self.skipped(policy).is_none() {
            // What it puts back is not put back yet.
            outcome.detail = trace::condition(&policy.when, self);
        }
        meter::begin();
        match self.skipped(policy) {
            Some(reason) => outcome.verdict = Verdict::Skip(reason),
            None => match self
                .found(policy)
                .and_then(|()| self.condition(&policy.when))
            {
                Ok(State::Fails(reason)) => outcome.verdict = Verdict::Pass(reason),
                Ok(State::Unknown(reason)) => outcome.verdict = Verdict::Unknown(reason),
                Ok(State::Holds(why)) => {
                    outcome.verdict = Verdict::Match;
                    self.act(policy, why.as_deref(), &mut outcome);
                }
                Err(error) => self.fail(policy, &error, &mut outcome),
            },
        }
        if let Some(paths) = outcome.restore.as_ref().filter(|paths| !paths.is_empty()) {
            restored.extend(paths.iter().cloned());
            self.set_restored(restored);
        }
        outcome.micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        outcome
    }

    /// Returns whether the policy applies; `None` where that is not known or is an error.
    pub(super) fn holds(&self, policy: &Policy) -> Option<bool> {
        if self.skipped(policy).is_some() {
            return Some(false);
        }
        meter::begin();
        match self.condition(&policy.when) {
            Ok(State::Holds(_)) => Some(true),
            Ok(State::Fails(_) | State::Unknown(_)) => Some(false),
            Err(_) => None,
        }
    }

    fn outcome(&self, policy: &Policy) -> Outcome {
        blank(self.facts, policy)
    }

    fn skipped(&self, policy: &Policy) -> Option<String> {
        if !policy.enabled {
            return Some("it is switched off".to_owned());
        }
        let tool = self.facts.tool().unwrap_or_default();
        if !policy.admits(tool) {
            return Some(format!("the tool '{tool}' is not among `tools`"));
        }
        if let Some(globs) = &policy.paths {
            let paths = self.facts.paths();
            if !paths.iter().any(|path| globs.matches(path)) {
                return Some(match paths.as_slice() {
                    [] => "the event names no file".to_owned(),
                    paths => format!("{} is not among `paths`", paths.join(", ")),
                });
            }
        }
        None
    }

    /// Fails where something the policy asks for could not be found out.
    fn found(&self, policy: &Policy) -> Result<(), String> {
        let lost = &*self.facts.lost;
        if lost.is_empty() {
            return Ok(());
        }
        let asked = [
            (&lost.work, policy.reads_work()),
            (&lost.gate, policy.needs_gate()),
            (&lost.turn, policy.needs_turn()),
        ];
        let reason = asked
            .into_iter()
            .find_map(|(lost, asks)| lost.as_ref().filter(|_| asks));
        reason.map_or(Ok(()), |reason| Err(reason.clone()))
    }

    pub(super) fn condition(&self, condition: &Condition) -> Result<State, String> {
        match condition {
            Condition::Always => Ok(State::Holds(None)),
            Condition::Cel(expression) => Ok(if self.is_true(expression)? {
                State::Holds(None)
            } else {
                State::Fails(format!("{} is false", expression.source))
            }),
            Condition::Builtin(builtin) => Ok(match builtin.check(self.facts) {
                Answer::Match(why) => State::Holds(Some(why)),
                Answer::NoMatch(why) => State::Fails(why),
                Answer::Unknown(why) => State::Unknown(why),
            }),
            Condition::All(parts) => self.all(parts),
            Condition::Any(parts) => self.any(parts),
            Condition::Not(part) => Ok(match self.condition(part)? {
                State::Holds(why) => State::Fails(
                    why.unwrap_or_else(|| "the condition under `not` holds".to_owned()),
                ),
                State::Fails(why) => State::Holds(Some(why)),
                State::Unknown(why) => State::Unknown(why),
            }),
        }
    }

    fn all(&self, parts: &[Condition]) -> Result<State, String> {
        let mut why = Vec::new();
        let mut unknown = None;
        for part in parts {
            match self.condition(part)? {
                State::Holds(reason) => why.extend(reason),
                State::Fails(reason) => return Ok(State::Fails(reason)),
                State::Unknown(reason) => unknown = Some(reason),
            }
        }
        let why = (!why.is_empty()).then(|| why.join("; "));
        Ok(unknown.map_or(State::Holds(why), State::Unknown))
    }

    fn any(&self, parts: &[Condition]) -> Result<State, String> {
        let mut why = Vec::new();
        let mut unknown = None;
        for part in parts {
            match self.condition(part)? {
                State::Holds(reason) => return Ok(State::Holds(reason)),
                State::Fails(reason) => why.push(reason),
                State::Unknown(reason) => unknown = Some(reason),
            }
        }
        Ok(unknown.map_or_else(|| State::Fails(why.join("; ")), State::Unknown))
    }

    fn fail(&self, policy: &Policy, error: &str, outcome: &mut Outcome) {
        let text = format!("policy {} could not be evaluated: {error}", policy.place);
        outcome.verdict = Verdict::Error(error.to_owned());
        let level = match policy.mode {
            Mode::Enforce if self.is_exempt() => Level::Warn,
            Mode::Enforce => error_level(policy.on_error, self.facts.name),
            Mode::Warn => Level::Warn,
            Mode::Audit => Level::Log,
        };
        outcome.level = level;
        outcome.texts.push((level, text));
    }

    /// Says whether an error of ours may not block this: it reads only, or it repairs a policy.
    fn is_exempt(&self) -> bool {
        is_exempt(self.facts)
    }

    fn act(&mut self, policy: &Policy, why: Option<&str>, outcome: &mut Outcome) {
        for step in &policy.then {
            if step.action == Action::Restore {
                if policy.mode == Mode::Enforce {
                    self.restore(policy, step, outcome);
                }
                continue;
            }
            let level = self.level(policy.mode, step.action);
            outcome.level = outcome.level.max(level);
            let text = message::reason(self, policy, step, why);
            outcome.texts.push((level, text));
        }
        if outcome.texts.is_empty() && outcome.restore.as_ref().is_some_and(|p| !p.is_empty()) {
            let text = message::reason(self, policy, &policy.then[0], why);
            outcome.level = outcome.level.max(Level::Warn);
            outcome.texts.push((Level::Warn, text));
        }
    }

    fn level(&self, mode: Mode, action: Action) -> Level {
        let asked = action.level().unwrap_or(Level::Nothing);
        let level = match mode {
            Mode::Enforce => asked,
            Mode::Warn => asked.min(Level::Warn),
            Mode::Audit => Level::Log,
        };
        match level {
            // What has happened can be asked about no more.
            Level::Ask if self.facts.is_applied() => Level::Block,
            Level::Block if !self.facts.name.can_block() => Level::Warn,
            level => level,
        }
    }

    fn restore(&mut self, policy: &Policy, step: &Step, outcome: &mut Outcome) {
        match self.restore_paths(step) {
            Ok(paths) => {
                let before: Vec<String> = outcome.restore.take().unwrap_or_default();
                outcome.restore = Some(before.into_iter().chain(paths).collect());
                if let Some(paths) = &outcome.restore {
                    let paths = paths.clone();
                    self.set_restored(&paths);
                }
            }
            Err(reason) => {
                outcome.level = Level::Block;
                let text = format!("policy {} could not put files back: {reason}", policy.place);
                outcome.texts.push((Level::Block, text));
            }
        }
    }

    fn restore_paths(&self, step: &Step) -> Result<Vec<String>, String> {
        if let Some(reason) = self.facts.name.refuses(Action::Restore) {
            return Err(reason.to_owned());
        }
        let is_write = self.facts.name == EventName::FileWrite;
        if is_write && !self.facts.is_applied() {
            return Ok(Vec::new());
        }
        if let Some(paths) = &step.paths {
            let value = to_json(&paths.evaluate(self.context())?);
            let items = value.as_array().ok_or("`paths` is no list")?;
            let text = |item: &Value| item.as_str().map(str::to_owned);
            let texts: Option<Vec<String>> = items.iter().map(text).collect();
            return texts.ok_or_else(|| "`paths` is no list of texts".to_owned());
        }
        if is_write {
            return Ok(self.facts.path().map(str::to_owned).into_iter().collect());
        }
        let written = super::facts::texts(&self.facts.work["call"]["written"]);
        Ok(written.into_iter().map(str::to_owned).collect())
    }
}

/// Returns the outcome of a policy that says nothing.
pub(super) fn blank(facts: &Facts, policy: &Policy) -> Outcome {
    Outcome {
        policy: policy.id.clone(),
        scope: policy.scope,
        place: policy.place.to_string(),
        event: facts.name,
        path: facts.path().map(str::to_owned),
        verdict: Verdict::Pass(String::new()),
        level: Level::Nothing,
        texts: Vec::new(),
        restore: None,
        micros: 0,
        detail: Vec::new(),
    }
}

/// Returns the outcome of a policy that did not come to an end.
pub(super) fn stopped(facts: &Facts, policy: &Policy, reason: &str) -> Outcome {
    let mut outcome = blank(facts, policy);
    outcome.verdict = Verdict::Error(reason.to_owned());
    outcome.level = match policy.mode {
        Mode::Enforce if is_exempt(facts) => Level::Warn,
        Mode::Enforce => error_level(policy.on_error, facts.name),
        Mode::Warn => Level::Warn,
        Mode::Audit => Level::Log,
    };
    let text = format!("policy {} could not be evaluated: {reason}", policy.place);
    outcome.texts.push((outcome.level, text));
    outcome
}

/// Returns what the policies that stand on `events` say where those events could not be made out.
pub fn unjudged(
    policies: &Policies,
    facts: &Facts,
    events: &[EventName],
    reason: &str,
) -> Vec<Outcome> {
    let tool = facts.tool().unwrap_or_default();
    policies
        .on(events)
        .filter(|policy| policy.admits(tool))
        .map(|policy| stopped(facts, policy, reason))
        .collect()
}

/// Returns what the policies say that stand on `events`, whatever tool they are about, where it is not
/// known which those events are. What is on by default keeps still: it must not lock anybody out.
pub fn unreadable(
    policies: &Policies,
    facts: &Facts,
    events: &[EventName],
    reason: &str,
) -> Vec<Outcome> {
    policies
        .on(events)
        .filter(|policy| policy.scope != Scope::BuiltIn)
        .map(|policy| stopped(facts, policy, reason))
        .collect()
}

/// Returns what a file that cannot be used says of an event; `None` where it must not speak.
pub(super) fn broken(broken: &Broken, facts: &Facts) -> Option<Outcome> {
    let blocks = match facts.name {
        EventName::ToolCall => !is_exempt(facts),
        EventName::TurnEnd => facts.data("blocks").as_i64().unwrap_or(0) == 0,
        _ => false,
    };
    if !blocks {
        return None;
    }
    let level = error_level(broken.on_error, facts.name);
    let text = format!(
        "the policy file cannot be used: {}; repair it, then run 'git operator policy check'",
        broken.fault
    );
    Some(Outcome {
        policy: broken.fault.place.source.path.clone(),
        scope: broken.scope,
        place: broken.fault.place.to_string(),
        event: facts.name,
        path: None,
        verdict: Verdict::Error(broken.fault.message.clone()),
        level,
        texts: vec![(level, text)],
        restore: None,
        micros: 0,
        detail: Vec::new(),
    })
}

fn is_exempt(facts: &Facts) -> bool {
    if facts.tool().is_some_and(|tool| READ_ONLY.contains(&tool)) {
        return true;
    }
    if facts.data("command").is_string() {
        // What else a command does than write the files it names is not known.
        return is_own_command(facts);
    }
    let paths = facts.paths();
    !paths.is_empty() && paths.iter().all(|path| is_policy_file(path))
}

/// Says whether a shell call runs nothing but our own commands, such as `git operator policy check`,
/// and none that runs a command in turn.
fn is_own_command(facts: &Facts) -> bool {
    let line = facts.data_text("command");
    let Some((shell, line)) = facts.tool().and_then(Shell::of_tool).zip(line) else {
        return false;
    };
    shell::commands(shell, line)
        .is_ok_and(|commands| !commands.is_empty() && commands.iter().all(is_own))
}

/// Says whether a command is one of our own, run as it is installed, whose output stays with the tool.
fn is_own(argv: &Argv) -> bool {
    let is_installed = argv
        .words
        .first()
        .is_some_and(|word| matches!(word.text.as_str(), "git" | "git-operator"));
    let Some(git) = Invocation::new(argv).filter(|_| is_installed) else {
        return false;
    };
    let is_plain = argv.assignments.is_empty()
        && argv.redirects.iter().all(|redirect| {
            redirect.kind == Redirection::Read || redirect.target.text == "/dev/null"
        })
        && git.settings.is_empty()
        && !git.exec_path
        && git.name == Some("operator");
    let options = Syntax {
        letters: "C",
        glued: "",
        longs: &["git-dir"],
    };
    let arguments = options.read(git.arguments, Order::Stop).rest;
    let Some((verb, arguments)) = arguments.split_first() else {
        return is_plain;
    };
    let runs = match verb.text.as_str() {
        "run" => true,
        "verify" => arguments
            .iter()
            .any(|word| !word.known || word.text.starts_with("--re")),
        _ => !verb.known,
    };
    is_plain && !runs
}
