//! What is known of an event when policies are judged.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use thiserror::Error;

use super::{event::EventName, schema};

/// An event with everything that policies may ask about it.
#[derive(Clone, Debug)]
pub struct Facts {
    pub(super) name: EventName,
    pub(super) event: Value,
    pub(super) work: Arc<Value>,
    pub(super) gate: Arc<Value>,
    pub(super) lost: Arc<Lost>,
}

/// What could not be found out, each with the reason: policies that ask for it are not judged, they
/// follow their `on_error`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lost {
    pub work: Option<String>,
    pub gate: Option<String>,
    pub turn: Option<String>,
    pub head: Option<String>,
}

impl Lost {
    /// Says whether everything was found out.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Facts that do not fit the schema.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct FactsError(String);

/// What all the events of one hook call share.
#[derive(Clone, Debug)]
pub struct Shared {
    work: Arc<Value>,
    gate: Arc<Value>,
    lost: Arc<Lost>,
}

impl Shared {
    /// Accepts the values of `work` and `gate`; fields left out are neutral.
    pub fn new(work: Value, gate: Value) -> Result<Self, FactsError> {
        // Neither depends on the event.
        let any = EventName::ToolCall;
        Ok(Self {
            work: Arc::new(schema::complete("work", work, any).map_err(FactsError)?),
            gate: Arc::new(schema::complete("gate", gate, any).map_err(FactsError)?),
            lost: Arc::default(),
        })
    }

    /// Says what could not be found out.
    #[must_use]
    pub fn without(mut self, lost: Lost) -> Self {
        self.lost = Arc::new(lost);
        self
    }

    /// Returns the facts where there is no work ledger and no task.
    pub fn none() -> Self {
        Self {
            work: Arc::new(neutral("work")),
            gate: Arc::new(neutral("gate")),
            lost: Arc::default(),
        }
    }
}

fn neutral(name: &str) -> Value {
    schema::complete(name, Value::Null, EventName::ToolCall).unwrap_or_default()
}

impl Facts {
    /// Accepts the value of `event`, in which `name` and fields left out are filled in.
    pub fn new(name: EventName, mut event: Value, shared: &Shared) -> Result<Self, FactsError> {
        if event.is_null() {
            event = json!({});
        }
        event["name"] = name.as_str().into();
        Ok(Self {
            name,
            event: schema::complete("event", event, name).map_err(FactsError)?,
            work: Arc::clone(&shared.work),
            gate: Arc::clone(&shared.gate),
            lost: Arc::clone(&shared.lost),
        })
    }

    /// Returns the event's name.
    pub fn name(&self) -> EventName {
        self.name
    }

    /// Returns the value of `event`.
    pub fn event(&self) -> &Value {
        &self.event
    }

    /// Returns the value of `work`.
    pub fn work(&self) -> &Value {
        &self.work
    }

    /// Returns the value of `gate`.
    pub fn gate(&self) -> &Value {
        &self.gate
    }

    /// Returns what could not be found out.
    pub fn lost(&self) -> &Lost {
        &self.lost
    }

    /// Returns a field of `event.data`; null where it does not exist.
    pub(super) fn data(&self, field: &str) -> &Value {
        &self.event["data"][field]
    }

    pub(super) fn data_text(&self, field: &str) -> Option<&str> {
        self.data(field).as_str()
    }

    /// Returns the file that the event is about.
    pub fn path(&self) -> Option<&str> {
        self.data_text("path")
    }

    pub(super) fn is_applied(&self) -> bool {
        self.data("applied").as_bool().unwrap_or(false)
    }

    pub(super) fn tool(&self) -> Option<&str> {
        self.event["tool"].as_str()
    }

    /// Returns the names of what the event is about: its file's, or those of the tool call.
    pub(super) fn paths(&self) -> Vec<&str> {
        match self.path() {
            Some(path) => std::iter::once(path)
                .chain(self.data_text("named"))
                .collect(),
            None => ["paths", "redirects"]
                .into_iter()
                .flat_map(|field| texts(self.data(field)))
                .collect(),
        }
    }

    pub(super) fn work_texts(&self, field: &str) -> Vec<&str> {
        texts(&self.work[field])
    }

    pub(super) fn is_tracked(&self) -> bool {
        self.work["tracked"].as_bool().unwrap_or(false)
    }
}

/// Returns the texts of a list.
pub(super) fn texts(value: &Value) -> Vec<&str> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(Value::as_str).collect()
}
