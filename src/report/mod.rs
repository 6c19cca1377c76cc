//! One HTML page that shows a ledger to people: what was proved, what is in doubt and why, what it cost.
//!
//! The page stands by itself: no script, no request, and nothing of a record reaches it unescaped. It
//! judges nothing by itself; what it says is what `verify` and the gate say. Nothing is written here.

mod commits;
mod cost;
mod decisions;
mod doubts;
mod error;
mod facts;
mod links;
mod matrix;
mod page;
mod records;
mod sessions;
mod summary;
mod timeline;

pub use error::Error;

use crate::{
    gate::{self, Place},
    git::Range,
    model::Oid,
    store::Store,
    verify,
};

/// What somebody asks of a report.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// A revision or a range, as `log` takes it; everything when absent.
    pub spec: Option<String>,
    /// ms since 1970, by the real clock.
    pub now: u64,
}

/// A page, and how much it tells of.
#[derive(Clone, Debug)]
pub struct Page {
    pub html: String,
    pub records: usize,
}

/// Makes the page of a ledger.
pub fn page(store: &Store, place: &Place, ask: &Ask) -> Result<Page, Error> {
    let ledger = store.load()?;
    let commits = match &ask.spec {
        Some(spec) => Some(in_range(store, spec)?),
        None => None,
    };
    let judgement = verify::verify(
        store,
        &verify::Ask {
            spec: ask.spec.clone(),
            now: ask.now,
            ..verify::Ask::default()
        },
    )
    .map_err(|error| error.to_string());
    let local = facts::Local {
        open: gate::partition(&place.operator, place.top.as_deref(), &gate::Who::Nobody)?,
        waiting: crate::store::decisions::unpresented(&place.operator)?,
        sessions: place.sessions().all(),
        name: name(place),
    };
    let facts = facts::Facts::new(facts::Sources {
        store,
        ledger: &ledger,
        judgement: &judgement,
        local: &local,
        commits,
        ask,
    });
    Ok(Page {
        html: page::html(&facts).into_string(),
        records: facts.records.len(),
    })
}

/// Returns the commits that a range names: what REV reaches, or B and not A.
fn in_range(store: &Store, spec: &str) -> Result<Vec<Oid>, Error> {
    let repo = store.repo();
    Ok(match repo.rev_range(spec)? {
        Range::One(tip) => repo.ancestors(&[tip], &[])?,
        Range::Between { from, to } => repo.ancestors(&[to], &[from])?,
        Range::Symmetric { left, right } => {
            let mut difference = repo.difference(left, right)?;
            difference.left.append(&mut difference.right);
            difference.left
        }
    })
}

/// Returns what people call the project: the directory it lies in.
fn name(place: &Place) -> String {
    let dir = place.top.as_ref().unwrap_or(&place.git_dir);
    let name = dir.file_name().unwrap_or(dir.as_os_str());
    name.to_string_lossy().into_owned()
}
