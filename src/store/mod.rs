//! The ledger at rest: one ref whose commits carry records, a journal that outlives every kill, a
//! lock, and the local files that say which tasks are open.
//!
//! Readers take no lock and write nothing. Writers work in a [`Transaction`]; what it answers for is
//! on the disk. Nothing here says what a record means beyond which task it opens or closes.

mod adopt;
mod ahead;
mod append;
mod backlog;
mod cut;
pub mod decisions;
mod error;
mod evidence;
mod files;
mod heal;
mod history;
mod index;
mod journal;
mod lock;
mod mend;
mod message;
mod object;
mod pins;
mod query;
mod read;
mod redact;
mod settle;
mod state;
pub mod tasks;
mod tidy;
mod union;
mod warning;

use std::{
    cell::{Cell, RefCell},
    fmt, io,
    path::{Path, PathBuf},
    rc::Rc,
};

pub use adopt::{Adopted, Limits};
pub use append::{Committed, Transaction};
pub use backlog::Backlog;
pub use error::Error;
pub use evidence::Held;
pub(crate) use files::{remove as remove_file, replace as replace_file};
pub use history::{Append, Newest};
pub use lock::Wait;
pub use mend::TakenOver;
pub use pins::{PINS, Reach};
pub use state::State;
pub use warning::Warning;

use journal::Journal;
use object::Object;

use crate::{git::Repo, model::Digest};

/// The ref whose history is the ledger.
pub const LEDGER: &str = "refs/operator/ledger";
/// The ref whose tree holds long evidence.
pub const EVIDENCE: &str = "refs/operator/evidence";
/// The ledger's tip when the journal was last cut; never shared.
pub const SHADOW: &str = "refs/operator-local/ledger";
/// Where tracking copies of other clones' refs lie.
pub const REMOTES: &str = "refs/operator-remotes/";

/// A point of a write at which a test may stop it or make it fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Locked,
    PackWritten,
    JournalWrite,
    JournalSync,
    Promised,
    Object,
    RefMoved,
    ReadBack,
    Effects,
    CutPacked,
    CutJournal,
    CutReleased,
}

/// What a test does at each step; its error is that of the system call that would have come next.
pub type Hook = Rc<dyn Fn(Step) -> io::Result<()>>;

/// A ledger. Opening it reads nothing.
pub struct Store {
    repo: Repo,
    dir: PathBuf,
    journal: Journal,
    /// How long the journal was when its objects were laid over the repository's.
    overlaid: Cell<Option<u64>>,
    warnings: RefCell<Vec<Warning>>,
    /// Evidence that was not kept, since it was redacted before.
    left_out: RefCell<Vec<Digest>>,
    hook: Option<Hook>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("dir", &self.dir).finish()
    }
}

impl Store {
    /// Returns the ledger of `repo`, which need not have one yet.
    pub fn open(repo: Repo) -> Self {
        let dir = repo.operator_dir();
        Self {
            journal: Journal::new(dir.clone(), repo.hash_kind()),
            repo,
            dir,
            overlaid: Cell::new(None),
            warnings: RefCell::new(Vec::new()),
            left_out: RefCell::new(Vec::new()),
            hook: None,
        }
    }

    /// Calls `hook` at each step of each write; for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn hooked(mut self, hook: Hook) -> Self {
        self.journal.hook = Some(Rc::clone(&hook));
        self.hook = Some(hook);
        self
    }

    /// Returns the repository that holds the ledger.
    pub fn repo(&self) -> &Repo {
        &self.repo
    }

    /// Returns the directory of our local files, `<git-common-dir>/operator`.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns what this clone remembers of the ledger.
    pub fn state(&self) -> State {
        State::read(&self.dir)
    }

    /// Returns the warnings so far, each once, and forgets them.
    pub fn take_warnings(&self) -> Vec<Warning> {
        self.warnings.take()
    }

    /// Returns the digests of evidence that was not kept, since it was redacted before, and forgets
    /// them.
    pub fn take_left_out(&self) -> Vec<Digest> {
        self.left_out.take()
    }

    fn warn(&self, warning: Warning) {
        let mut warnings = self.warnings.borrow_mut();
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    fn step(&self, step: Step) -> io::Result<()> {
        self.hook.as_ref().map_or(Ok(()), |hook| hook(step))
    }

    /// Runs `read`; when it misses something, once more with the journal's objects at hand.
    fn overlaid<T>(&self, read: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
        match read() {
            Err(Error::Git(_)) if self.overlaid.get() != Some(self.journal.len()) => {
                self.lay_over()?;
                read()
            }
            other => other,
        }
    }

    fn lay_over(&self) -> Result<(), Error> {
        self.overlaid.set(Some(self.journal.len()));
        let lines = self.journal.read()?;
        let objects = lines.into_iter().flat_map(|line| line.objects);
        self.repo
            .lay_over(objects.map(|object| (object.kind, object.bytes)));
        Ok(())
    }
}
