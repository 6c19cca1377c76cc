//! The fields of `event`, `work` and `gate`: the one list that the checks, the facts, the tests and
//! the documentation go by.

use serde_json::{Map, Value};

use super::{event::EventName, near::suggestion};

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    Bool,
    Int,
    Text,
    /// Any value, its fields not known beforehand.
    Open,
    /// A map whose keys are not known beforehand.
    Map,
    List(&'static Self),
    Record(&'static [Field]),
    /// `event.data`, whose fields depend on the event.
    Data,
}

/// One field.
#[derive(Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    /// Whether it may be null.
    pub(super) nullable: bool,
    pub(super) doc: &'static str,
}

const fn field(name: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field {
        name,
        shape,
        nullable: false,
        doc,
    }
}

const fn maybe(name: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field {
        name,
        shape,
        nullable: true,
        doc,
    }
}

const TEXTS: Shape = Shape::List(&Shape::Text);

/// The variables of expressions.
pub(super) const ROOTS: &[Field] = &[
    field("event", Shape::Record(EVENT), "what happens"),
    field(
        "work",
        Shape::Record(WORK),
        "whose changes the working tree holds",
    ),
    field("gate", Shape::Record(GATE), "tasks and verdicts"),
];

const EVENT: &[Field] = &[
    field("name", Shape::Text, "the event, as in `on`"),
    maybe(
        "id",
        Shape::Text,
        "the tool use, with '#n' for events derived from it",
    ),
    maybe("session", Shape::Text, "the session"),
    maybe("prompt_id", Shape::Text, "the prompt being worked on"),
    maybe(
        "agent",
        Shape::Text,
        "the subagent, null in the main thread",
    ),
    maybe("root", Shape::Text, "the top of the working tree"),
    maybe(
        "cwd",
        Shape::Text,
        "the working directory, relative to the root",
    ),
    maybe("branch", Shape::Text, "the branch, null when detached"),
    maybe("head", Shape::Text, "the commit of HEAD, null when unborn"),
    maybe("mode", Shape::Text, "the client's permission mode"),
    maybe("tool", Shape::Text, "the tool"),
    field(
        "input",
        Shape::Map,
        "the tool's input as the client gave it",
    ),
    field("turn", Shape::Record(TURN), "what this turn did so far"),
    field("data", Shape::Data, "what belongs to this event"),
];

const TURN: &[Field] = &[
    field("calls", Shape::Int, "tools called since the prompt"),
    field("blocks", Shape::Int, "refusals since the prompt"),
    field(
        "repeats",
        Shape::Int,
        "earlier calls since the prompt that equal this one",
    ),
    field(
        "passed",
        TEXTS,
        "commands that succeeded since the session last wrote a file",
    ),
];

const CALL: &[Field] = &[CALL_PATHS, CALL_COMMAND, CALL_ARGV, CALL_REDIRECTS];

const RESULT: &[Field] = &[
    CALL_PATHS,
    CALL_COMMAND,
    CALL_ARGV,
    CALL_REDIRECTS,
    field(
        "response",
        Shape::Open,
        "what the tool answered, at most 64 KiB",
    ),
    maybe(
        "exit_code",
        Shape::Int,
        "the exit code, where the client tells it",
    ),
    maybe("duration_ms", Shape::Int, "how long it ran"),
];

const ERROR: &[Field] = &[
    CALL_PATHS,
    CALL_COMMAND,
    CALL_ARGV,
    CALL_REDIRECTS,
    field("error", Shape::Text, "what the client reports"),
    maybe(
        "exit_code",
        Shape::Int,
        "the exit code in the first line of the error",
    ),
    field(
        "interrupted",
        Shape::Bool,
        "whether the user interrupted it",
    ),
    maybe("duration_ms", Shape::Int, "how long it ran"),
];

const DENIED: &[Field] = &[
    CALL_PATHS,
    CALL_COMMAND,
    CALL_ARGV,
    CALL_REDIRECTS,
    maybe("reason", Shape::Text, "why it was denied"),
    field("by", Shape::Text, "'auto', 'policy' or 'unknown'"),
];

const CALL_PATHS: Field = field("paths", TEXTS, "the files a file tool names");
const CALL_COMMAND: Field = maybe("command", Shape::Text, "the command line of a shell tool");
const CALL_ARGV: Field = maybe(
    "argv",
    Shape::List(&TEXTS),
    "its commands, word by word; null when not understood",
);
const CALL_REDIRECTS: Field = field("redirects", TEXTS, "the files its output goes to");

const WRITE: &[Field] = &[
    field("path", Shape::Text, "the file, relative to the root"),
    maybe(
        "named",
        Shape::Text,
        "what the tool calls it, where a link leads from there to `path`",
    ),
    field("via", Shape::Text, "'tool' or 'shell'"),
    field("applied", Shape::Bool, "whether it has been written"),
    maybe(
        "content",
        Shape::Text,
        "the text it has then; null when not known or not text",
    ),
    maybe(
        "before",
        Shape::Text,
        "the text it had; null when it was not there or is not known",
    ),
    maybe("lines", Shape::Int, "how many lines it has then"),
    maybe("bytes", Shape::Int, "how many bytes it has then"),
    field("known", Shape::Bool, "whether the content is known"),
    field(
        "truncated",
        Shape::Bool,
        "whether `content` is only its beginning",
    ),
    field("binary", Shape::Bool, "whether it is not text"),
];

const DELETE: &[Field] = &[
    field("path", Shape::Text, "the file, relative to the root"),
    field("via", Shape::Text, "'tool' or 'shell'"),
    field("applied", Shape::Bool, "whether it is gone"),
    maybe("before", Shape::Text, "the text it had"),
];

const TURN_END: &[Field] = &[
    field(
        "active",
        Shape::Bool,
        "whether a Stop hook made the agent go on before",
    ),
    field("blocks", Shape::Int, "refusals of this Stop in a row"),
    maybe("message", Shape::Text, "the agent's last message"),
    field(
        "background",
        Shape::List(&Shape::Open),
        "what runs in the background",
    ),
];

const SESSION_START: &[Field] = &[field(
    "source",
    Shape::Text,
    "'startup', 'resume', 'clear', 'compact' or 'fork'",
)];
const SESSION_END: &[Field] = &[field("reason", Shape::Text, "why the session ended")];
const PROMPT: &[Field] = &[field("prompt", Shape::Text, "what the user sent")];

const WORK: &[Field] = &[
    field(
        "tracked",
        Shape::Bool,
        "whether the work ledger is active here",
    ),
    field("touched", TEXTS, "every path the session claimed"),
    field(
        "mine",
        TEXTS,
        "dirty paths that hold exactly what the session left",
    ),
    field("foreign", TEXTS, "dirty paths that are somebody else's"),
    field("uncommitted", TEXTS, "dirty paths the session changed"),
    field(
        "unattributed",
        TEXTS,
        "changed during a call that never reported its end",
    ),
    field("reasons", Shape::Map, "why a path is foreign, by path"),
    maybe(
        "call",
        Shape::Record(WORK_CALL),
        "the tracked tool use; null outside one",
    ),
];

const WORK_CALL: &[Field] = &[
    field("tool", Shape::Text, "the tool"),
    field("id", Shape::Text, "the tool use"),
    maybe("agent", Shape::Text, "the subagent"),
    field("foreign", TEXTS, "what was foreign when the call began"),
    field("changed", TEXTS, "what the call changed"),
    field("written", TEXTS, "what the call changed and left dirty"),
    field("restored", TEXTS, "what was put back"),
];

const GATE: &[Field] = &[
    field("open", Shape::Int, "open tasks"),
    field(
        "mine",
        Shape::List(&Shape::Record(TASK)),
        "open tasks of this session",
    ),
    field(
        "foreign",
        Shape::List(&Shape::Record(TASK)),
        "open tasks of other sessions",
    ),
    maybe(
        "last",
        Shape::Record(VERDICT),
        "the newest verdict of this session",
    ),
];

const TASK: &[Field] = &[
    field("id", Shape::Text, "the task"),
    maybe("since", Shape::Text, "when it was opened"),
];

const VERDICT: &[Field] = &[
    field("id", Shape::Text, "the record"),
    field("result", Shape::Text, "'PASS', 'FAIL' or 'MOOT'"),
    maybe("stamp", Shape::Text, "the source state it was given for"),
    maybe(
        "fresh",
        Shape::Bool,
        "whether the source is still in that state",
    ),
];

/// Returns the fields of `event.data` at an event.
pub(super) fn data(event: EventName) -> &'static [Field] {
    match event {
        EventName::ToolCall => CALL,
        EventName::ToolResult => RESULT,
        EventName::ToolError => ERROR,
        EventName::ToolDenied => DENIED,
        EventName::FileWrite => WRITE,
        EventName::FileDelete => DELETE,
        EventName::TurnEnd => TURN_END,
        EventName::SessionStart => SESSION_START,
        EventName::SessionEnd => SESSION_END,
        EventName::PromptSubmit => PROMPT,
    }
}

/// What a path of fields leads to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Found {
    /// A field; `nullable` tells whether it or one on the way to it may be null.
    Field { shape: Shape, nullable: bool },
    /// Somewhere inside a value whose fields are not known.
    Open,
    /// No such field: how many names of the path are known, and the names possible there.
    Missing {
        depth: usize,
        known: &'static [Field],
    },
}

/// Looks up a path that begins with `event`, `work` or `gate`, at one event.
pub(super) fn find(path: &[&str], event: EventName) -> Found {
    let mut fields = ROOTS;
    let mut nullable = false;
    let mut shape = Shape::Open;
    for (depth, name) in path.iter().enumerate() {
        let Some(field) = fields.iter().find(|field| field.name == *name) else {
            return Found::Missing {
                depth,
                known: fields,
            };
        };
        nullable = field.nullable;
        shape = field.shape;
        fields = match field.shape {
            Shape::Record(fields) => fields,
            Shape::Data => data(event),
            Shape::Map if depth + 1 < path.len() => return Found::Open,
            Shape::Open => return Found::Open,
            _ if depth + 1 < path.len() => {
                return Found::Missing {
                    depth: depth + 1,
                    known: &[],
                };
            }
            _ => &[],
        };
    }
    Found::Field { shape, nullable }
}

/// Returns `value` with every field that the record `name` lacks set to its neutral value.
///
/// A field that does not exist, or a value of another type than its field's, is an error.
pub(super) fn complete(name: &str, value: Value, event: EventName) -> Result<Value, String> {
    let root = ROOTS.iter().find(|field| field.name == name);
    let shape = root.map_or(Shape::Open, |field| field.shape);
    fill(value, shape, event, name)
}

fn fill(value: Value, shape: Shape, event: EventName, at: &str) -> Result<Value, String> {
    let fields = match shape {
        Shape::Record(fields) => fields,
        Shape::Data => data(event),
        Shape::List(inner) => {
            let Value::Array(items) = value else {
                return Err(format!("'{at}' must be a list"));
            };
            return items
                .into_iter()
                .map(|item| fill(item, *inner, event, at))
                .collect();
        }
        Shape::Bool if !value.is_boolean() => return Err(format!("'{at}' must be true or false")),
        Shape::Int if !value.is_i64() => return Err(format!("'{at}' must be an integer")),
        Shape::Text if !value.is_string() => return Err(format!("'{at}' must be a text")),
        Shape::Map if !value.is_object() => return Err(format!("'{at}' must be a map")),
        Shape::Bool | Shape::Int | Shape::Text | Shape::Open | Shape::Map => return Ok(value),
    };
    let mut given = match value {
        Value::Object(given) => given,
        Value::Null => Map::new(),
        _ => return Err(format!("'{at}' must be a map")),
    };
    let mut whole = Map::new();
    for field in fields {
        let path = format!("{at}.{}", field.name);
        let value = match given.shift_remove(field.name) {
            Some(Value::Null) if field.nullable => Value::Null,
            Some(value) => fill(value, field.shape, event, &path)?,
            None if field.nullable => Value::Null,
            None => neutral(field.shape, event),
        };
        whole.insert(field.name.to_owned(), value);
    }
    match given.keys().next() {
        None => Ok(Value::Object(whole)),
        Some(unknown) => Err(format!(
            "unknown field '{at}.{unknown}'{}",
            suggestion(unknown, fields.iter().map(|field| field.name))
        )),
    }
}

fn neutral(shape: Shape, event: EventName) -> Value {
    match shape {
        Shape::Bool => Value::Bool(false),
        Shape::Int => 0.into(),
        Shape::Text => String::new().into(),
        Shape::Open | Shape::Map => Value::Object(Map::new()),
        Shape::List(_) => Value::Array(Vec::new()),
        Shape::Record(fields) => record(fields, event),
        Shape::Data => record(data(event), event),
    }
}

fn record(fields: &[Field], event: EventName) -> Value {
    fields
        .iter()
        .map(|field| {
            let value = if field.nullable {
                Value::Null
            } else {
                neutral(field.shape, event)
            };
            (field.name.to_owned(), value)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Found, Shape, complete, find};
    use crate::policy::event::EventName;

    #[test]
    fn every_path_has_one_meaning_at_one_event() {
        let at = EventName::FileWrite;
        let text = |nullable| Found::Field {
            shape: Shape::Text,
            nullable,
        };
        assert_eq!(find(&["event", "data", "path"], at), text(false));
        assert_eq!(find(&["event", "data", "content"], at), text(true));
        assert_eq!(find(&["event", "input", "x", "y"], at), Found::Open);
        let missing = |path: &[&str], event| match find(path, event) {
            Found::Missing { depth, .. } => Some(depth),
            _ => None,
        };
        assert_eq!(
            missing(&["event", "data", "path"], EventName::TurnEnd),
            Some(2)
        );
        assert_eq!(missing(&["work", "foregin"], at), Some(1));
        assert_eq!(missing(&["work", "tracked", "x"], at), Some(2));
        assert_eq!(missing(&["wrok"], at), Some(0));
    }

    #[test]
    fn fields_left_out_are_neutral() {
        let whole = complete("work", json!({"foreign": ["a"]}), EventName::ToolCall).unwrap();
        assert_eq!(
            whole,
            json!({"tracked": false, "touched": [], "mine": [], "foreign": ["a"],
                "uncommitted": [], "unattributed": [], "reasons": {}, "call": null})
        );
        let whole = complete("work", json!({"call": {}}), EventName::ToolCall).unwrap();
        assert_eq!(whole["call"]["written"], json!([]));
    }

    #[test]
    fn a_field_that_does_not_exist_is_an_error() {
        let error = |value| complete("work", value, EventName::ToolCall).unwrap_err();
        assert_eq!(
            error(json!({"foregin": []})),
            "unknown field 'work.foregin', did you mean 'foreign'?"
        );
        assert_eq!(
            error(json!({"foreign": "a"})),
            "'work.foreign' must be a list"
        );
        assert_eq!(
            error(json!({"tracked": null})),
            "'work.tracked' must be true or false"
        );
    }
}
