use std::path::Path;

use crate::{
    git::files::Tree,
    store::Store,
    ui::Context,
    view::{self, View},
};

const LIMIT: u64 = 64 << 20;
/// A ledger of more records is not read to see whether a view still shows it.
const RECORDS: u64 = 20_000;

/// Where a hint is given, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// Another branch shows other rows; that is as it should be.
    Checkout,
    Merge,
}

/// Names, in one line, the first view with conflict markers, or that came out of a merge with lines
/// the ledger does not know. One that cannot be read is the business of the commands that use it.
pub(super) fn give(after: After, store: &Store, context: &Context) {
    let Some(top) = store.repo().top() else {
        return;
    };
    let found = marked(top).or_else(|| match after {
        After::Checkout => None,
        After::Merge => drifted(store, top),
    });
    if let Some((view, what)) = found {
        let name = view.file_name();
        context.ui.note(format!(
            "hint: '.operator/{name}' {what}: git operator reconcile"
        ));
    }
}

fn marked(top: &Path) -> Option<(View, String)> {
    let tree = Tree::open(top).ok()?;
    let mut views = View::ALL.into_iter();
    let view = views.find(|view| {
        let text = tree.read(&format!(".operator/{}", view.file_name()), LIMIT);
        text.is_ok_and(|text| has_markers(&text.unwrap_or_default()))
    })?;
    Some((view, "has conflict markers".to_owned()))
}

/// A view as we wrote it last drifts from nothing; one that others wrote is compared with the ledger.
fn drifted(store: &Store, top: &Path) -> Option<(View, String)> {
    let (operator, git_dir) = (store.dir(), store.repo().git_dir());
    let touched = |view: &View| view::is_touched(operator, git_dir, (top, *view));
    if store.state().seq > RECORDS || !View::ALL.iter().any(touched) {
        return None;
    }
    let checked = view::checked(store, top).ok()?;
    checked.into_iter().find_map(|(view, checked)| {
        let findings = checked.findings.iter().filter(|finding| finding.line > 0);
        let lines: std::collections::BTreeSet<usize> =
            findings.map(|finding| finding.line).collect();
        match lines.len() {
            0 => None,
            1 => Some((view, "has a line that the ledger has otherwise".to_owned())),
            lines => Some((
                view,
                format!("has {lines} lines that the ledger has otherwise"),
            )),
        }
    })
}

fn has_markers(text: &[u8]) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n');
    lines.any(|line| line.starts_with(b"<<<<<<<") || line.starts_with(b">>>>>>>"))
}
