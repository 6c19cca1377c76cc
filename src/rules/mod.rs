//! Policies at rest: where their files lie, what stands in for a broken one, pauses, the record of
//! what was decided, what a turn did so far, and the events a hook's payload makes.

mod around;
mod bytes;
mod change;
mod error;
mod events;
mod files;
mod lines;
mod log;
mod moment;
mod near;
mod pause;
mod restore;
mod scenario;
mod seen;
mod texts;
mod tracking;
mod turn;

pub use around::{gate, head, last, tasks, work};
pub use bytes::{Bytes, bytes};
pub use change::{Change, changes, unforeseen};
pub use error::Error;
pub use events::{Hook, events, kinds, lost};
pub use files::{Found, Ignored, Places, Scopes, load};
pub use log::{About, Decision, Log, Said, Stat};
pub use moment::{Moment, Moments, speaking};
pub use near::{Spot, below};
pub use pause::{LONGEST, Pause, Pauses};
pub use restore::restore;
pub use scenario::play;
pub use seen::Seen;
pub use tracking::{is_tracked, tracks};
pub use turn::{Call, Turn, Turns, Wrote};
