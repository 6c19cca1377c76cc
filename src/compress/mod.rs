//! Shortens what a tool printed before the model reads it again and again: drops a repetition of the
//! last output, scrubs what shows nothing, elides the middle. What was elided lies whole in a spill
//! file that the text cites. Never touches what a file holds, or what the gate prints.

mod elide;
mod failing;
mod filter;
mod pieces;
mod scope;
mod scrub;
mod settings;
mod shape;
mod spill;

pub use filter::filter;
pub use scope::{Treatment, may_change, treatment};
pub use settings::Settings;
pub use shape::{Call, forget, reply};
pub use spill::{Place, wipe};
