//! Writing the views after something was recorded: new rows are appended where nothing else happened,
//! else the file is rendered whole. Only where `.operator/` is; never staged.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use fs4::{FileExt, TryLockError};
use serde::{Deserialize, Serialize};

use super::{
    Error, Items, View, What,
    check::{Checked, check},
    files::{self, Files},
    render::render,
};
use crate::{
    ledger::Ledger,
    model::{Body, Oid, Record, RecordId},
    store::Store,
};

/// How many commits are read to catch up with the ledger before the file is rendered whole.
const CATCH_UP: usize = 200;
const STATE_LIMIT: u64 = 4 * 1024;
/// A process that was stopped while it writes the views holds nobody up for longer than this.
const LOCK_TRIES: u32 = 200;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

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
}

/// Brings the views of the working tree at `top` up to date with the ledger, where it has views.
pub fn refresh(store: &Store, top: &Path) -> Result<(), Error> {
    let files = Files::open(top)?;
    if !files.is_started()? {
        return Ok(());
    }
    if store.repo().config()?.text("operator.view").as_deref() == Some("off") {
        return Ok(());
    }
    let _lock = lock(store).map_err(Error::State)?;
    let Some(tip) = store.tip()? else {
        return Ok(());
    };
    let mut whole = Vec::new();
    for view in View::ALL {
        let state = state_path(store.dir(), store.repo().git_dir(), view);
        let known = known(&state).filter(|known| unchanged(known, top, view));
        match known {
            Some(known) if known.tip == tip.to_hex() => {}
            Some(known) if append(store, &files, view, &known)? => {
                let newest = store.newest()?.next().transpose()?;
                let last = newest.and_then(|append| append.records().map(Record::order).max());
                remember(
                    store,
                    top,
                    view,
                    &Mark {
                        tip: Some(tip),
                        last,
                    },
                )?;
            }
            _ => whole.push(view),
        }
    }
    if whole.is_empty() {
        return Ok(());
    }
    write_whole(store, top, &whole).map(|_| ())
}

/// Writes views as the records say; returns those that changed.
fn write_whole(store: &Store, top: &Path, views: &[View]) -> Result<Vec<View>, Error> {
    let files = Files::open(top)?;
    let tip = store.tip()?;
    let ledger = store.load()?;
    let records: Vec<&Record> = ledger.iter().collect();
    let mut written = Vec::new();
    for view in views {
        let items = Items::of(*view, records.iter().copied());
        let file = files.read(*view)?;
        let rendered = render(*view, &items, file.as_deref());
        if file.as_ref() != Some(&rendered.bytes) {
            files.write(*view, &rendered.bytes)?;
            written.push(*view);
        }
        remember(store, top, *view, &Mark::of(tip, &ledger))?;
    }
    Ok(written)
}

/// Lets one process at a time write the views of this clone: the lock goes with the file.
pub(super) fn lock(store: &Store) -> io::Result<fs::File> {
    let dir = store.dir().join("views");
    fs::create_dir_all(&dir)?;
    let file = fs::File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(dir.join("lock"))?;
    for _ in 0..LOCK_TRIES {
        match FileExt::try_lock(&file) {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::new(
        io::ErrorKind::TimedOut,
        "another process holds them",
    ))
}

/// Renders one view as `render` shows it, without writing it.
pub fn rendered(store: &Store, top: &Path, view: View) -> Result<Vec<u8>, Error> {
    let file = Files::open(top)?.read(view)?;
    let ledger = store.load()?;
    let records: Vec<&Record> = ledger.iter().collect();
    let items = Items::of(view, records.into_iter());
    Ok(render(view, &items, file.as_deref()).bytes)
}

/// Writes both views as the records say; returns those that changed.
pub fn rewrite(store: &Store, top: &Path) -> Result<Vec<View>, Error> {
    Files::open(top)?.create()?;
    let _lock = lock(store).map_err(Error::State)?;
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
    let items = Items::of(view, records.into_iter());
    if items.items.is_empty() {
        return Ok(true);
    }
    let Some(file) = files.read(view)? else {
        return Ok(false);
    };
    let Ok(text) = String::from_utf8(file) else {
        return Ok(false);
    };
    let mut rows = String::new();
    for item in &items.items {
        let What::Row { shown, .. } = &item.what else {
            return Ok(false);
        };
        let line = format!("{shown}\n");
        if !text.contains(&format!("\n{line}")) && !rows.contains(&line) {
            rows.push_str(&line);
        }
    }
    if !text.ends_with('\n') {
        return Ok(false);
    }
    files.append(view, rows.as_bytes())?;
    Ok(true)
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

fn state_path(operator: &Path, git_dir: &Path, view: View) -> PathBuf {
    let worktree = git_dir.as_os_str().as_encoded_bytes();
    let name = [worktree, b"\0", view.file_name().as_bytes()].concat();
    let hash = blake3::hash(&name).to_hex();
    operator.join("views").join(&hash[..16])
}

/// Says whether a view holds what we wrote last and nothing else. Two looks at the file system.
pub fn is_own(operator: &Path, git_dir: &Path, (top, view): (&Path, View)) -> bool {
    known(&state_path(operator, git_dir, view)).is_some_and(|known| unchanged(&known, top, view))
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
}

impl Mark {
    pub(super) fn of(tip: Option<Oid>, ledger: &Ledger) -> Self {
        Self {
            tip,
            last: ledger.iter().next_back().map(Record::order),
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
    };
    let path = state_path(store.dir(), store.repo().git_dir(), view);
    save(&path, &known).map_err(Error::State)
}

fn save(path: &Path, known: &Known) -> io::Result<()> {
    let dir = path.parent().unwrap_or(path);
    fs::create_dir_all(dir)?;
    let mut temporary = tempfile::NamedTempFile::new_in(dir)?;
    serde_json::to_writer(&mut temporary, known)?;
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}
