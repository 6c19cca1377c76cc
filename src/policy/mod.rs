//! Policies and facts in, a ruling out. Pure: no clock, environment, network or files.
//!
//! `Policies::load` reads the text of policy files, `Facts` describe an event, `judge` gives the
//! ruling. What a ruling asks for (refusing, restoring, telling) is done by whoever called.

mod builtin;
mod case;
mod cel;
pub mod derive;
mod diagnostic;
mod effort;
mod event;
mod facts;
mod glob;
mod judge;
mod load;
pub mod manual;
mod message;
mod near;
mod part;
#[expect(
    clippy::module_inception,
    reason = "the module is named after its type"
)]
mod policy;
mod regex;
mod ruling;
mod schema;
pub mod shell;
mod template;
pub mod testing;
mod trace;
mod watch;
mod yaml;

pub use case::{CallStep, Case, Deed, Expect, Given, Scenario, Step};
pub use diagnostic::{Code, Diagnostic, Place, Source};
pub use event::{Action, EventName, Level};
pub use facts::{Facts, FactsError, Lost, Shared};
pub use glob::Globs;
pub use judge::{unjudged, unreadable};
pub use load::{File, Policies};
pub use part::Part;
pub use policy::{Broken, Mode, OnError, Policy, Scope};
pub use ruling::{Outcome, Ruling, Verdict};
pub use watch::{Limits, judge, on_deep_stack, trace};
