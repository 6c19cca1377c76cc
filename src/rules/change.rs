//! What a call changed, as policies see it.

use serde_json::Value;

use super::{Bytes, bytes};
use crate::{
    git::{Repo, files::Tree},
    policy::derive::{self, Content},
    work,
};

/// A file that a call changed.
#[derive(Clone, Debug)]
pub struct Change {
    /// Relative to the top.
    pub path: String,
    pub before: Bytes,
    pub after: Bytes,
}

/// Returns what a shell command changed.
pub fn changes(repo: &Repo, changes: &[work::FileChange]) -> Vec<Change> {
    let before = before(repo, changes);
    let after = after(repo, changes);
    let whole = changes.iter().zip(before.into_iter().zip(after));
    whole
        .map(|(change, (before, after))| Change {
            path: change.path.quoted(),
            before,
            after,
        })
        .collect()
}

/// Returns those files that a file tool left otherwise than its input let foresee; `payload` is what
/// the client told when the tool had run.
pub fn unforeseen(repo: &Repo, changed: &[work::FileChange], payload: &Value) -> Vec<Change> {
    let tool = payload["tool_name"].as_str().unwrap_or_default();
    let input = &payload["tool_input"];
    let foreseen = |before: Content<'_>, after: &Bytes| match after {
        Bytes::Known(after) => {
            let text = derive::proposed(tool, input, before);
            text.is_some_and(|text| text.as_bytes() == after)
        }
        Bytes::Large { .. } | Bytes::Absent | Bytes::Unknown => false,
    };
    // The client tells what it read, which spares asking git.
    let told = payload["tool_response"]["originalFile"].as_str();
    let told = told.map_or(Content::Unknown, |text| Content::Known(text.as_bytes()));
    let after = after(repo, changed);
    if after.iter().all(|after| foreseen(told, after)) {
        return Vec::new();
    }
    let mut changes = changes(repo, changed);
    changes.retain(|change| !foreseen(change.before.content(), &change.after));
    changes
}

fn before(repo: &Repo, changes: &[work::FileChange]) -> Vec<Bytes> {
    let known = |bytes: Option<Vec<u8>>| bytes.map_or(Bytes::Unknown, Bytes::Known);
    match work::FileChange::bytes_before(repo, changes) {
        Ok(before) => before.into_iter().map(known).collect(),
        Err(_) => vec![Bytes::Unknown; changes.len()],
    }
}

fn after(repo: &Repo, changes: &[work::FileChange]) -> Vec<Bytes> {
    let tree = repo.top().and_then(|top| Tree::open(top).ok());
    let after = |change: &work::FileChange| match (&change.after, &tree) {
        (work::Content::Absent, _) => Bytes::Absent,
        (_, None) => Bytes::Unknown,
        (_, Some(tree)) => match bytes::at(tree, &change.path) {
            // It was there when the call ended.
            Bytes::Absent => Bytes::Unknown,
            bytes => bytes,
        },
    };
    changes.iter().map(after).collect()
}
