//! The repository: discovery, HEAD, refs with compare-and-swap, objects, packs, history, status,
//! notes, configuration, child `git` processes and the clock.
//!
//! The only module that names gix or starts git; types of gix do not leave it. Objects are read and
//! written through gix's object database, refs by our own code or, where their format is not plain
//! files, by git itself.

mod bases;
mod bench;
mod change;
mod child;
mod clock;
mod commit;
mod config;
mod diff;
mod env;
mod error;
pub mod files;
mod filtered;
mod graph;
mod head;
mod identity;
mod index;
mod isolate;
mod keep;
mod lay;
mod locate;
mod lock;
mod made;
mod notes;
mod object;
mod owner;
mod pack;
mod project;
mod reader;
mod refs;
mod repo;
mod rev;
mod shared;
mod snapshot;
mod stamp;
mod stash;
mod status;
mod store;
mod streams;
mod survey;
mod tidy;
mod tree;
mod until;
mod walk;
mod worktrees;

pub use change::{Landing, change_digest, change_paths};
pub use child::{Finished, Git, Running};
pub use clock::Clock;
pub use commit::NewCommit;
pub use config::Config;
pub use env::{Env, HOOK_GUARD};
pub use error::Error;
pub use head::Head;
pub use identity::{Identity, Role};
pub use isolate::{Isolated, Layout};
pub use keep::Mark;
pub use lay::{Lay, Near, Stat};
pub use locate::{Location, locate, nearest_dir};
pub use lock::{FileLock, NoLock, retry};
pub use notes::Notes;
pub use object::{Commit, Object, ObjectKind, Verify};
pub use pack::Kept;
pub use project::Project;
pub use reader::{Reader, Source};
pub use refs::{Expected, Swap, Swapped};
pub use repo::{HashKind, RefStorage, Repo};
pub use rev::Range;
pub use snapshot::{Snapshot, Subject, Trust};
pub use stamp::{Budget, Measured, Shortfall, StampRequest, Stamped};
pub use stash::Entry;
pub use status::{Change, Status, StatusEntry, Submodule};
pub use survey::{Survey, Taint};
pub use tree::{Place, TreeEntry, Trees, tree_bytes};
pub use until::Until;
pub use walk::{Ancestry, Difference, Reached, Walk};
