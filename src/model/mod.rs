//! Values: ids, names, records, stamps, rows; parsing and validation of each, once.
//!
//! Nothing here does input or output. What a type accepts, every caller accepts: there is no second
//! validator, parser or escape for any of these.

mod blank;
mod id;
mod name;
mod oid;
mod stamp;

pub use blank::is_blank;
pub use id::{ParseIdError, Prefix, RecordId};
pub use name::{Criterion, NameError, Owner, TaskId, Text};
pub use oid::{Oid, ParseOidError};
pub use stamp::{ParseStampError, Stamp, TreeState};
