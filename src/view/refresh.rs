//! Writing the views after something was recorded: new rows are appended where nothing else happened,
//! else the file is rendered whole. Only where `.operator/` is; never staged.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::{
    Document, Error, Items, View, What,
    check::{Checked, check},
    files::{self, Files},
    render::{Rendered, render_document},
    stood::{self, removed},
};
use crate::{
    git::FileLock,
    ledger::Ledger,
    model::{Body, Oid, Record, RecordId, ReplicaId},
    store::Store,
};

/// How many commits are read to catch up with the ledger before the file is rendered whole.
const CATCH_UP: usize = 200;
const STATE_LIMIT: u64 = 4 * 1024;
/// A process that was stopped while it writes the views holds nobody up for longer than this.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a view was when we wrote it last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    tip: String,
    size: u64,
    /// In ns since 1970.
    modified: i128,
    inode: u64,
    /// The order of the last row.
    seq: u64,
    id: String,
    /// It shows rows that no record backs.
    #[serde(default = "unknown")]
    foreign: bool,
}

/// What was written before the field was there may hold anything.
fn unknown() -> bool {
    true
}

/// Brings the views of the working tree at `top` up to date with the ledger, where it has views.
pub fn refresh(store: &Store, top: &Path) -> Result<(), Error> {
    let files = Files::open(top)?;
    if !files.is_started()? {
        return Ok(());
    }
    if is_off(store)? {
        return Ok(());
    }
    let _lock = lock(store).map_err(Error::State)?;
    let Some(tip) = store.tip()? else {
        return Ok(());
    };
    let mut whole = Vec::new();
    for view in View::ALL {
        let state = state_path(store, view);
        let known = known(&state).filter(|known| unchanged(known, top, view));
        match known {
            Some(known) if known.tip == tip.to_hex() => {}
            Some(known) if append(store, &files, view, &known)? => {
                let newest = store.newest()?.next().transpose()?;
                let last = newest.and_then(|append| append.records().map(Record::order).max());
                let mark = Mark {
                    tip: Some(tip),
                    last,
                    foreign: known.foreign,
                };
                remember(store, top, view, &mark)?;
            }
            _ => whole.push(view),
        }
    }
    if whole.is_empty() {
        return Ok(());
    }
    write_whole(store, top, &whole).map(|_| ())
}

/// Says whether somebody switched the views off.
pub(super) fn is_off(store: &Store) -> Result<bool, Error> {
    Ok(store.repo().config()?.text("operator.view").as_deref() == Some("off"))
}

/// Writes views as the records say; returns those that changed. One with the markers of a conflict is
/// left as it is, and named when it lacks something.
fn write_whole(store: &Store, top: &Path, views: &[View]) -> Result<Vec<View>, Error> {
    let files = Files::open(top)?;
    let tip = store.tip()?;
    let ledger = store.load()?;
    let records: Vec<&Record> = ledger.iter().collect();
    let (mut written, mut conflict) = (Vec::new(), None);
    for view in views {
        let items = Items::of(*view, records.iter().copied());
        let file = files.read(*view)?;
        let document = file.as_deref().map(Document::parse);
        let gone = removed(store, *view, &items, document.as_ref())?;
        let rendered = render_document(*view, &items.without(&gone), document.as_ref());
        if let Some(error) = document.as_ref().and_then(|document| held(*view, document)) {
            conflict = conflict.or((rendered.added > 0).then_some(error));
            continue;
        }
        if file.as_ref() != Some(&rendered.bytes) {
            files.write(*view, &rendered.bytes)?;
            written.push(*view);
        }
        remember(store, top, *view, &Mark::of(tip, &ledger, &rendered))?;
        stood::remember(store, *view, &items)?;
    }
    ledger.abandon();
    conflict.map_or(Ok(written), Err)
}

/// Returns why a view is not written: only `reconcile` takes markers out, and names them.
pub(super) fn held(view: View, document: &Document) -> Option<Error> {
    let path = files::path(view);
    document.marker().map(|line| Error::Conflict { path, line })
}

/// Lets one process at a time write the views of this clone: the lock goes with the file.
pub(super) fn lock(store: &Store) -> io::Result<FileLock> {
    let dir = store.dir().join("views");
    fs::create_dir_all(&dir)?;
    Ok(FileLock::take(&dir.join("lock"), PATIENCE)?)
}

/// Renders one view as `render` shows it, without writing it.
pub fn rendered(store: &Store, top: &Path, view: View) -> Result<Vec<u8>, Error> {
    let file = Files::open(top)?.read(view)?;
    let ledger = store.load()?;
    let records: Vec<&Record> = ledger.iter().collect();
    let items = Items::of(view, records.into_iter());
    let document = file.as_deref().map(Document::parse);
    let gone = removed(store, view, &items, document.as_ref())?;
    Ok(render_document(view, &items.without(&gone), document.as_ref()).bytes)
}

/// Writes both views as the records say; returns those that changed. Writes none where one holds the
/// markers of a conflict.
pub fn rewrite(store: &Store, top: &Path) -> Result<Vec<View>, Error> {
    let files = Files::open(top)?;
    files.create()?;
    let _lock = lock(store).map_err(Error::State)?;
    for view in View::ALL {
        let file = files.read(view)?.unwrap_or_default();
        if let Some(error) = held(view, &Document::parse(&file)) {
            return Err(error);
        }
    }
    write_whole(store, top, &View::ALL)
}

/// Checks both views of the working tree against the ledger.
pub fn checked(store: &Store, top: &Path) -> Result<Vec<(View, Checked)>, Error> {
    let files = Files::open(top)?;
    let ledger = store.load()?;
    let records: Vec<&Record> = ledger.iter().collect();
    let mut found = Vec::new();
    for view in View::ALL {
        let items = Items::of(view, records.iter().copied());
        let file = files.read(view)?;
        found.push((view, check(view, &items, file.as_deref())));
    }
    ledger.abandon();
    Ok(found)
}

/// Appends the rows recorded since; `false` when the file must be rendered whole.
fn append(store: &Store, files: &Files, view: View, known: &Known) -> Result<bool, Error> {
    let Some(new) = since(store, known)? else {
        return Ok(false);
    };
    let records: Vec<&Record> = new.iter().collect();
    let plain = records.iter().all(|record| {
        let moves = matches!(&record.body, Body::Bar(bar) if bar.view == view.file_name())
            || matches!(&record.body, Body::Layout(layout) if layout.view == view.file_name());
        !moves
            && !record.body.is_imported()
            && (record.seq, record.id.to_string()) > (known.seq, known.id.clone())
    });
    if !plain {
        return Ok(false);
    }
    let items = Items::of(view, records.iter().copied());
    let mut rows = Vec::new();
    for item in &items.items {
        let What::Row { shown, .. } = &item.what else {
            return Ok(false);
        };
        rows.push(format!("{shown}\n"));
    }
    let own = store.state().replica;
    let says_first = |id: &RecordId| {
        let mut found = records.iter().filter(|record| record.id == *id);
        found.all(|record| is_first(record, own))
    };
    if known.foreign || !items.items.iter().all(|item| says_first(&item.id)) {
        let there = files.find(view, &rows)?;
        let mut there = there.iter();
        rows.retain(|_| there.next() == Some(&false));
    }
    if !rows.is_empty() {
        files.append(view, rows.concat().as_bytes())?;
    }
    Ok(true)
}

/// Says whether nothing was recorded here on the criterion before, so that no row can say the same.
fn is_first(record: &Record, own: Option<ReplicaId>) -> bool {
    matches!(record.body, Body::Verdict(_))
        && record.criterion.is_some()
        && record.after.is_empty()
        && record.replica == own
}

/// Returns the records that came after the state's tip, oldest first; `None` when that is not a plain
/// line of commits.
fn since(store: &Store, known: &Known) -> Result<Option<Vec<Record>>, Error> {
    let mut found = Vec::new();
    for append in store.newest()?.take(CATCH_UP) {
        let append = append?;
        if append.commit.to_hex() == known.tip {
            found.sort_by_key(Record::order);
            return Ok(Some(found));
        }
        if append.parents.len() != 1 {
            return Ok(None);
        }
        found.extend(append.records().cloned());
    }
    Ok(None)
}

pub(super) fn state_path(store: &Store, view: View) -> PathBuf {
    path_of_state(store.dir(), store.repo().git_dir(), view)
}

fn path_of_state(operator: &Path, git_dir: &Path, view: View) -> PathBuf {
    let worktree = git_dir.as_os_str().as_encoded_bytes();
    let name = [worktree, b"\0", view.file_name().as_bytes()].concat();
    let hash = blake3::hash(&name).to_hex();
    operator.join("views").join(&hash[..16])
}

/// Says whether a view holds what we wrote last and nothing else. Two looks at the file system.
pub fn is_own(operator: &Path, git_dir: &Path, (top, view): (&Path, View)) -> bool {
    known(&path_of_state(operator, git_dir, view)).is_some_and(|known| unchanged(&known, top, view))
}

/// Says whether a view is there and somebody else wrote it since we did. Two looks at the file system.
pub fn is_touched(operator: &Path, git_dir: &Path, (top, view): (&Path, View)) -> bool {
    let there = fs::symlink_metadata(top.join(files::path(view))).is_ok_and(|meta| meta.is_file());
    there && !is_own(operator, git_dir, (top, view))
}

fn known(path: &Path) -> Option<Known> {
    let size = fs::metadata(path).ok()?.len();
    (size <= STATE_LIMIT).then_some(())?;
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn unchanged(known: &Known, top: &Path, view: View) -> bool {
    fs::symlink_metadata(top.join(files::path(view))).is_ok_and(|meta| {
        meta.is_file()
            && meta.len() == known.size
            && meta.ino() == known.inode
            && modified(&meta) == known.modified
    })
}

fn modified(meta: &fs::Metadata) -> i128 {
    i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec())
}

/// How far a written view goes.
pub(super) struct Mark {
    tip: Option<Oid>,
    last: Option<(u64, RecordId)>,
    foreign: bool,
}

impl Mark {
    pub(super) fn of(tip: Option<Oid>, ledger: &Ledger, rendered: &Rendered) -> Self {
        Self {
            tip,
            last: ledger.iter().next_back().map(Record::order),
            foreign: rendered.foreign > 0,
        }
    }
}

pub(super) fn remember(store: &Store, top: &Path, view: View, mark: &Mark) -> Result<(), Error> {
    let Ok(meta) = fs::symlink_metadata(top.join(files::path(view))) else {
        return Ok(());
    };
    let known = Known {
        tip: mark.tip.map(|tip| tip.to_hex()).unwrap_or_default(),
        size: meta.len(),
        modified: modified(&meta),
        inode: meta.ino(),
        seq: mark.last.map_or(0, |(seq, _)| seq),
        id: mark.last.map(|(_, id)| id.to_string()).unwrap_or_default(),
        foreign: mark.foreign,
    };
    let path = state_path(store, view);
    save(&path, &known).map_err(Error::State)
}

pub(super) fn save(path: &Path, known: &impl Serialize) -> io::Result<()> {
    let dir = path.parent().unwrap_or(path);
    fs::create_dir_all(dir)?;
    let mut temporary = tempfile::NamedTempFile::new_in(dir)?;
    temporary.write_all(&serde_json::to_vec(known)?)?;
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}
