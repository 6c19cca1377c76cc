//! Tests of policies: what is given, what must come of it.

use serde_json::{Map, Value, json};

use super::{
    derive,
    diagnostic::Place,
    event::{EventName, Level},
    facts::{Facts, Shared},
    shell::Shell,
};

/// A test of a policy.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    pub place: Place,
    pub given: Given,
    pub expect: Expect,
}

/// What a test begins with.
#[derive(Clone, Debug)]
pub enum Given {
    /// One event, made up.
    Event {
        name: EventName,
        event: Value,
        work: Value,
        gate: Value,
    },
    /// A repository, and what is done in it.
    Scenario(Scenario),
}

/// What happens in a repository of a test's own.
#[derive(Clone, Debug, Default)]
pub struct Scenario {
    /// The files of its first commit.
    pub files: Vec<(String, String)>,
    pub steps: Vec<Step>,
}

/// One thing that happens in a scenario.
#[derive(Clone, Debug)]
pub enum Step {
    /// Somebody else changes something.
    User(Vec<Deed>),
    /// A tool is called.
    Call(CallStep),
    /// The agent wants to end its turn.
    Stop,
    /// The user sends a prompt.
    Prompt(String),
    /// What must have come of the step before.
    Expect(Expect),
}

/// A tool call in a scenario.
#[derive(Clone, Debug)]
pub struct CallStep {
    pub tool: String,
    pub session: String,
    pub input: Value,
    /// What it does when it runs; a file tool without it writes what its input says.
    pub does: Vec<Deed>,
    /// Whether the client reports it as failed.
    pub fails: bool,
}

/// Something done to a repository.
#[derive(Clone, Debug)]
pub enum Deed {
    Write(String, String),
    Delete(String),
    /// Everything, with this message.
    Commit(String),
    Stash,
    /// Paths as they are in the index.
    Checkout(Vec<String>),
}

/// What must come of it; what is not said is not looked at.
#[derive(Clone, Debug, Default)]
pub struct Expect {
    pub decision: Option<Level>,
    /// The bytes of the file where the decision stands.
    pub decision_at: Option<(usize, usize)>,
    /// The policies that match.
    pub policies: Option<Vec<String>>,
    /// The paths put back.
    pub restore: Option<Vec<String>>,
    /// Texts that the message to the agent holds.
    pub message: Vec<String>,
    /// A text in the error of evaluation.
    pub error: Option<String>,
    /// What files hold in the end, in a scenario.
    pub file: Value,
}

impl Given {
    /// Returns the facts of a made-up event.
    pub fn facts(&self) -> Result<Facts, String> {
        match self {
            Self::Event {
                name,
                event,
                work,
                gate,
            } => {
                let shared = Shared::new(tracked(work), gate.clone()).map_err(|e| e.to_string())?;
                Facts::new(*name, event.clone(), &shared).map_err(|error| error.to_string())
            }
            Self::Scenario(_) => Err("a scenario has no single event".to_owned()),
        }
    }
}

/// A test that says anything of `work` means a ledger that is active.
fn tracked(work: &Value) -> Value {
    let mut work = work.clone();
    if let Some(fields) = work.as_object_mut()
        && !fields.contains_key("tracked")
    {
        fields.insert("tracked".to_owned(), true.into());
    }
    work
}

/// Returns an event with the short forms of a test written out: `content: { lines: 401 }`, and what
/// follows from the content.
pub(super) fn expanded(name: EventName, mut event: Value) -> Value {
    command(&mut event);
    if name != EventName::FileWrite && name != EventName::FileDelete {
        return event;
    }
    let Some(data) = event.get_mut("data").and_then(Value::as_object_mut) else {
        return event;
    };
    for field in ["content", "before"] {
        if let Some(value) = data.get_mut(field) {
            *value = text(value);
        }
    }
    if name == EventName::FileWrite {
        sizes(data);
    }
    event
}

/// Fills in what a command line tells; the tool is Bash where none is given.
fn command(event: &mut Value) {
    let Some(line) = event["data"]["command"].as_str().map(str::to_owned) else {
        return;
    };
    if event["tool"].is_null() {
        event["tool"] = "Bash".into();
    }
    let shell = event["tool"].as_str().and_then(Shell::of_tool);
    let told = derive::command_data(shell.unwrap_or(Shell::Posix), &line);
    add(event["data"].as_object_mut(), &told);
}

/// Adds the fields that are not given.
fn add(data: Option<&mut Map<String, Value>>, told: &Value) {
    let Some(data) = data else { return };
    for (key, value) in told.as_object().into_iter().flatten() {
        if !data.contains_key(key) {
            data.insert(key.clone(), value.clone());
        }
    }
}

fn text(value: &Value) -> Value {
    let Some(form) = value.as_object() else {
        return value.clone();
    };
    let count = |key: &str| {
        let count = form.get(key).and_then(Value::as_u64)?;
        usize::try_from(count)
            .ok()
            .filter(|count| *count <= 1 << 20)
    };
    match (count("lines"), count("bytes")) {
        (Some(lines), _) if form.len() == 1 => "x\n".repeat(lines).into(),
        (_, Some(bytes)) if form.len() == 1 => "x".repeat(bytes).into(),
        _ => value.clone(),
    }
}

/// Fills in what the content tells.
fn sizes(data: &mut Map<String, Value>) {
    let Some(content) = data.get("content").and_then(Value::as_str) else {
        return;
    };
    let told = json!({
        "lines": content.lines().count(),
        "bytes": content.len(),
        "known": true,
    });
    add(Some(data), &told);
}
