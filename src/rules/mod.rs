//! Policies at rest: where their files lie, what stands in for a broken one, pauses, the record of
//! what was decided, what a turn did so far, and the events a hook's payload makes.

mod error;
mod events;
mod files;
mod log;
mod near;
mod pause;
mod turn;

pub use error::Error;
pub use events::{Bytes, Change, Hook, events, kinds};
pub use files::{Found, Ignored, Places, Scopes, load};
pub use log::{About, Decision, Log, Said, Stat};
pub use near::{below, bytes};
pub use pause::{LONGEST, Pause, Pauses};
pub use turn::{Call, Turn, Turns};
