//! Bringing a view and the ledger together: rows no record backs are imported, hand-written text is
//! captured, and the file is written as the records say. Nothing foreign is ever removed.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
    rc::Rc,
};

use super::{
    Document, Error, Items, Kind, View, What,
    blocks::{Block, blocks, heading},
    files::{self, Files},
    refresh::{Mark, held, is_off, lock, remember},
    render::{Rendered, render_document},
    stood::{self, removed},
};
use crate::{
    git::{Clock, Repo},
    ledger::Ledger,
    model::{
        Bar, Body, Class, Decision, Draft, Evidence, Import, Layout, Record, RecordId, ReplicaId,
        RepoPath, Seal, Verdict,
        row::{DecisionRow, VerdictRow},
    },
    store::{Store, Wait},
};

/// How many ids one layout holds.
const LAYOUT_LIMIT: usize = 1000;

/// Where rows are looked for besides the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    Leave,
    /// Every version of the views in the history of HEAD.
    Search,
}

/// What reconciling one view did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reconciled {
    pub view: View,
    /// Rows that became records.
    pub imported: usize,
    /// Blocks that became records.
    pub captured: usize,
    /// Blocks that are out of the view for good: somebody took them out of the file.
    pub taken_out: usize,
    /// Rows and blocks that the file lacked.
    pub added: usize,
    /// Conflict markers taken out, by line.
    pub markers: Vec<usize>,
    /// What could not be taken in, for people; it stays where it is.
    pub refused: Vec<String>,
    pub written: bool,
}

/// Brings both views of the working tree at `top` and the ledger together.
pub fn reconcile(
    store: &Store,
    clock: Clock,
    top: &Path,
    history: History,
) -> Result<Vec<Reconciled>, Error> {
    Files::open(top)?.create()?;
    unite(store, clock, (top, history), Write::Files)
}

/// Takes what the views of the working tree hold into the ledger; writes them, too, unless
/// `operator.view` is `off`. A view with the markers of a conflict stays as it is: its rows are taken,
/// its text is not.
pub fn take_in(store: &Store, clock: Clock, top: &Path) -> Result<Vec<Reconciled>, Error> {
    if is_off(store)? {
        return unite(store, clock, (top, History::Leave), Write::Nothing);
    }
    Files::open(top)?.create()?;
    unite(store, clock, (top, History::Leave), Write::Unmarked)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Write {
    Files,
    /// Files without markers of a conflict.
    Unmarked,
    Nothing,
}

fn unite(
    store: &Store,
    clock: Clock,
    (top, history): (&Path, History),
    write: Write,
) -> Result<Vec<Reconciled>, Error> {
    let files = Files::open(top)?;
    let mut tx = store.begin(Wait::Command, clock)?;
    let _lock = lock(store).map_err(Error::State)?;
    let ledger = tx.load()?;
    let mut sheets = Vec::new();
    let read = |view| Ok((view, files.read(view)?));
    let there = View::ALL
        .map(read)
        .into_iter()
        .collect::<Result<Vec<_>, Error>>()?;
    for (view, file) in &there {
        let mut sheet = Sheet::of(*view, file.as_deref(), &ledger);
        sheet.import_file();
        sheet.import_fragments(&files)?;
        if history == History::Search {
            for version in versions(store.repo(), sheet.view)? {
                sheet.import_other(&version, None);
            }
        }
        match held(*view, &sheet.document).filter(|_| write == Write::Unmarked) {
            Some(error) => sheet.hold(&error),
            None => {
                sheet.take_out(store)?;
                sheet.capture(store)?;
            }
        }
        sheets.push(sheet);
    }
    let drafts: Vec<Draft> = sheets
        .iter()
        .flat_map(|sheet| sheet.drafts.clone())
        .collect();
    let mut new = HashSet::new();
    let mut ledger = ledger;
    let tip = tx.tip();
    if !drafts.is_empty() {
        let records = tx.commit(&drafts, Vec::new())?.records;
        new.extend(records.iter().map(|record| record.id));
        ledger = tx.load()?;
    }
    let layouts: Vec<Draft> = sheets
        .iter()
        .flat_map(|sheet| sheet.layouts(&ledger, &new))
        .collect();
    if !layouts.is_empty() {
        tx.commit(&layouts, Vec::new())?;
        ledger = tx.load()?;
    }
    if write == Write::Nothing {
        return Ok(sheets.into_iter().map(|sheet| sheet.done).collect());
    }
    let mut done = Vec::new();
    for sheet in sheets {
        if sheet.is_held {
            done.push(sheet.done);
            continue;
        }
        let view = sheet.view;
        let items = match tip == tx.tip() {
            true => Rc::clone(&sheet.items),
            false => Rc::new(Items::of(view, records(&ledger))),
        };
        let (reconciled, rendered) = sheet.write(&files, &items)?;
        remember(store, top, view, &Mark::of(tx.tip(), &ledger, &rendered))?;
        stood::remember(store, view, &items)?;
        done.push(reconciled);
    }
    ledger.abandon();
    Ok(done)
}

/// One view while it is reconciled.
struct Sheet<'f> {
    view: View,
    file: Option<&'f [u8]>,
    /// The file taken apart; empty where there is none.
    document: Rc<Document<'f>>,
    items: Rc<Items>,
    drafts: Vec<Draft>,
    /// What rows say that are backed, or will be.
    backed: HashSet<String>,
    /// The records of rows that stand in no file, in order.
    elsewhere: Vec<RecordId>,
    /// The file is not written.
    is_held: bool,
    done: Reconciled,
}

impl<'f> Sheet<'f> {
    fn of(view: View, file: Option<&'f [u8]>, ledger: &Ledger) -> Self {
        let items = Items::of(view, records(ledger));
        Self {
            view,
            file,
            document: Rc::new(Document::parse(file.unwrap_or_default())),
            backed: items.rows().keys().map(|key| (*key).to_owned()).collect(),
            items: Rc::new(items),
            drafts: Vec::new(),
            elsewhere: Vec::new(),
            is_held: false,
            done: Reconciled {
                view,
                imported: 0,
                captured: 0,
                taken_out: 0,
                added: 0,
                markers: Vec::new(),
                refused: Vec::new(),
                written: false,
            },
        }
    }

    /// Imports the rows of the file that nothing backs, equal ones each.
    fn import_file(&mut self) {
        let document = Rc::clone(&self.document);
        let mut counts: HashMap<String, u64> = HashMap::new();
        let mut imported = HashSet::new();
        for (at, line) in document.lines.iter().enumerate() {
            match &line.kind {
                Kind::Marker => self.done.markers.push(at + 1),
                Kind::Malformed(reason) => {
                    self.refuse(files::path(self.view), at + 1, reason);
                }
                Kind::Row(row) if row.view == self.view && !self.backed.contains(&row.key) => {
                    let text = String::from_utf8_lossy(line.bytes).trim().to_owned();
                    let n = counts.entry(text.clone()).or_insert(0);
                    *n += 1;
                    let n = *n;
                    if self.import(&text, n).is_some() {
                        imported.insert(row.key.clone());
                    } else {
                        self.refuse(files::path(self.view), at + 1, "it is too long to import");
                    }
                }
                Kind::Title | Kind::Columns | Kind::Delimiter | Kind::Row(_) | Kind::Text => {}
            }
        }
        self.backed.extend(imported);
    }

    fn import_fragments(&mut self, files: &Files) -> Result<(), Error> {
        if self.view != View::Verdicts {
            return Ok(());
        }
        let fragments = files.fragments()?;
        self.done.refused.extend(fragments.refused);
        for (path, bytes) in fragments.read {
            self.import_other(&bytes, Some(&path));
        }
        Ok(())
    }

    /// Imports the rows of another file or version that nothing backs, each once. What is malformed
    /// there is named where `path` says whose it is.
    fn import_other(&mut self, bytes: &[u8], path: Option<&str>) {
        for (at, line) in Document::parse(bytes).lines.iter().enumerate() {
            match (&line.kind, path) {
                (Kind::Malformed(reason), Some(path)) => {
                    self.refuse(path.to_owned(), at + 1, reason);
                }
                (Kind::Row(row), _) if row.view == self.view && !self.backed.contains(&row.key) => {
                    let text = String::from_utf8_lossy(line.bytes).trim().to_owned();
                    if let Some(id) = self.import(&text, 1) {
                        self.elsewhere.push(id);
                        self.backed.insert(row.key.clone());
                    }
                }
                _ => {}
            }
        }
    }

    /// Leaves the file as it is.
    fn hold(&mut self, error: &Error) {
        self.is_held = true;
        self.done.markers.clear();
        self.done.refused.push(error.to_string());
    }

    fn refuse(&mut self, path: String, line: usize, reason: &str) {
        self.done.refused.push(format!("{path}:{line}: {reason}"));
    }

    /// Drafts the record of a row; `None` when no record can hold it.
    fn import(&mut self, text: &str, n: u64) -> Option<RecordId> {
        let import = Import {
            view: self.view.file_name().to_owned(),
            row: text.to_owned(),
            n,
        };
        let draft = Draft::new(imported(self.view, import)?);
        let id = sealed(&draft)?;
        self.drafts.push(draft);
        self.done.imported += 1;
        Some(id)
    }

    /// Drafts a record that takes out the blocks that somebody took out of the file.
    fn take_out(&mut self, store: &Store) -> Result<(), Error> {
        let document = self.file.map(|_| &*self.document);
        let gone = removed(store, self.view, &self.items, document)?;
        if gone.is_empty() {
            return Ok(());
        }
        self.items = Rc::new(self.items.without(&gone).into_owned());
        let mut draft = Draft::new(Body::Bar(Bar {
            view: self.view.file_name().to_owned(),
            text: String::new(),
        }));
        self.done.taken_out = gone.len();
        draft.after = gone.into_iter().collect();
        draft.after.sort_unstable();
        self.drafts.push(draft);
        Ok(())
    }

    /// Drafts the records of text that no record holds; a block with the first line of one that is
    /// gone takes its place.
    fn capture(&mut self, store: &Store) -> Result<(), Error> {
        let document = Rc::clone(&self.document);
        let mut found = blocks(self.view, &self.items, &document);
        stood::typed_again(store, self.view, &self.items, &mut found)?;
        if let Some(header) = self.own_header(&document) {
            found.insert(0, header);
        }
        let here: HashSet<RecordId> = found.iter().filter_map(|block| block.known).collect();
        for block in found.into_iter().filter(|block| block.known.is_none()) {
            let mut draft = Draft::new(Body::Bar(Bar {
                view: self.view.file_name().to_owned(),
                text: block.text.clone(),
            }));
            draft.after = self.replaced(&block.text, &here);
            if sealed(&draft).is_some() {
                self.drafts.push(draft);
                self.done.captured += 1;
            } else {
                self.refuse(
                    files::path(self.view),
                    block.line,
                    "it is too long to capture",
                );
            }
        }
        Ok(())
    }

    /// Returns the header when it is the project's own and no record holds it.
    fn own_header(&self, document: &Document) -> Option<Block> {
        if document.header == 0 || document.has_own_header(self.view) {
            return None;
        }
        let lines = document.lines[..document.header].iter();
        let text: Vec<u8> = lines
            .flat_map(|line| [line.bytes, b"\n"].concat())
            .collect();
        let text = String::from_utf8(text).ok()?;
        let known = self.items.known.iter().any(|(_, known)| *known == text);
        (!known).then_some(Block {
            line: 1,
            text,
            known: None,
        })
    }

    fn replaced(&self, text: &str, here: &HashSet<RecordId>) -> Vec<RecordId> {
        let Some(first) = heading(text) else {
            return Vec::new();
        };
        let blocks = self.items.items.iter().filter_map(|item| match &item.what {
            What::Block(text) => Some((item.id, text)),
            What::Row { .. } => None,
        });
        blocks
            .filter(|(id, text)| !here.contains(id) && heading(text) == Some(first))
            .map(|(id, _)| id)
            .collect()
    }

    /// Drafts what puts new records where they stand in the file.
    fn layouts(&self, ledger: &Ledger, new: &HashSet<RecordId>) -> Vec<Draft> {
        if new.is_empty() {
            return Vec::new();
        }
        let items = Items::of(self.view, records(ledger));
        let order = self.order(&items);
        let places: HashSet<RecordId> = order.iter().copied().collect();
        let now: HashMap<RecordId, usize> = items
            .items
            .iter()
            .filter(|item| places.contains(&item.id))
            .enumerate()
            .map(|(at, item)| (item.id, at))
            .collect();
        let stays =
            |pair: &[RecordId]| now.get(&pair[0]).map(|at| at + 1) == now.get(&pair[1]).copied();
        chains(&order, new)
            .into_iter()
            .filter(|chain| !chain.windows(2).all(stays))
            .flat_map(|chain| self.layout(&chain))
            .collect()
    }

    /// Returns the records of the file's rows and blocks as they stand, then those found elsewhere.
    fn order(&self, items: &Items) -> Vec<RecordId> {
        let document = &self.document;
        let rows = items.rows();
        let mut order: Vec<(usize, RecordId)> = Vec::new();
        for (number, line) in document.body() {
            if let Some(row) = line.row().filter(|row| row.view == self.view)
                && let Some(at) = rows.get(row.key.as_str())
            {
                order.push((number, items.items[*at].id));
            }
        }
        let blocks = blocks(self.view, items, document).into_iter();
        order.extend(blocks.filter_map(|block| Some((block.line, block.known?))));
        order.sort_by_key(|(number, _)| *number);
        let mut seen = HashSet::new();
        let ids = order.into_iter().map(|(_, id)| id);
        ids.chain(self.elsewhere.iter().copied())
            .filter(|id| seen.insert(*id))
            .collect()
    }

    fn layout(&self, chain: &[RecordId]) -> Vec<Draft> {
        let mut drafts = Vec::new();
        let mut from = 0;
        while from + 1 < chain.len() {
            let to = (from + LAYOUT_LIMIT).min(chain.len());
            drafts.push(Draft::new(Body::Layout(Layout {
                view: self.view.file_name().to_owned(),
                order: chain[from..to].to_vec(),
            })));
            // Each part goes on from the last one's end.
            from = to - 1;
        }
        drafts
    }

    fn write(mut self, files: &Files, items: &Items) -> Result<(Reconciled, Rendered), Error> {
        let document = self.file.map(|_| &*self.document);
        let rendered = render_document(self.view, items, document);
        self.done.added = rendered.added;
        if self.file != Some(&rendered.bytes) {
            files.write(self.view, &rendered.bytes)?;
            self.done.written = true;
        }
        Ok((self.done, rendered))
    }
}

/// Returns the runs of new records, each behind the record it stands behind, or before the next one
/// where it is the first.
fn chains(order: &[RecordId], new: &HashSet<RecordId>) -> Vec<Vec<RecordId>> {
    let mut chains: Vec<Vec<RecordId>> = Vec::new();
    for (at, id) in order.iter().enumerate().filter(|(_, id)| new.contains(id)) {
        let before = at.checked_sub(1).map(|before| order[before]);
        match (chains.last_mut(), before) {
            (Some(chain), Some(before)) if chain.last() == Some(&before) => chain.push(*id),
            (_, Some(before)) => chains.push(vec![before, *id]),
            (_, None) => chains.push(vec![*id]),
        }
    }
    if let Some(first) = chains.first_mut()
        && first.first() == order.first()
        && let Some(next) = order.get(first.len())
    {
        first.push(*next);
    }
    chains
}

fn records(ledger: &Ledger) -> impl Iterator<Item = &Record> + Clone {
    let records: Vec<&Record> = ledger.iter().collect();
    records.into_iter()
}

/// Returns the id the draft would have here; `None` when it is too long for a record.
fn sealed(draft: &Draft) -> Option<RecordId> {
    let seal = Seal {
        time: 0,
        seq: 1 << 40,
        replica: ReplicaId::new([0; 8]),
    };
    draft.seal(seal).ok().map(|record| record.id)
}

fn imported(view: View, import: Import) -> Option<Body> {
    Some(match view {
        View::Verdicts => {
            let row = VerdictRow::parse(&import.row)?;
            Body::Verdict(Box::new(Verdict {
                import: Some(import),
                ..Verdict::new(
                    row.outcome,
                    Class::Imported,
                    Evidence::Text(String::new()),
                    crate::model::Stamp::NoVcs,
                )
            }))
        }
        View::Decisions => {
            let row = DecisionRow::parse(&import.row)?;
            Body::Decision(Decision {
                decision: row.kind,
                scope: row.scope,
                what: row.what,
                why: row.why,
                covers: Vec::new(),
                import: Some(import),
            })
        }
    })
}

/// Returns every version of a view in the history of HEAD, oldest first, each once.
fn versions(repo: &Repo, view: View) -> Result<Vec<Vec<u8>>, Error> {
    let Ok(head) = repo.rev_parse("HEAD") else {
        return Ok(Vec::new());
    };
    let path = RepoPath::new(files::path(view).into_bytes());
    let mut seen = HashSet::new();
    let mut versions = Vec::new();
    let mut commits = repo.ancestors(&[head], &[])?;
    commits.reverse();
    for commit in commits {
        let tree = repo.commit(commit)?.tree;
        if let Some((mode, blob)) = repo.place(tree, &path)?
            && mode & 0o170_000 == 0o100_000
            && seen.insert(blob)
        {
            versions.push(repo.blob(blob)?);
        }
    }
    Ok(versions)
}
