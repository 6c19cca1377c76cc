//! Exchange of ledgers with remotes, through git's own transport.
//!
//! What arrives lies in tracking refs until it was checked; the union is made here; nothing is ever
//! pushed with force, except where a redaction drops an object from the evidence ref.

mod beside;
mod error;
mod exchange;
mod refusal;
mod remote;

pub use beside::{last_failure, note_outcome};
pub use error::Error;
pub use exchange::{Lost, Pushed, Report, Request, sync};
pub use remote::{choose, tracking};
