use crate::{git::files::Tree, store::Store, ui::Context};

const VIEWS: [&str; 2] = [".operator/VERDICTS.md", ".operator/DECISIONS.md"];
const LIMIT: u64 = 64 << 20;

/// Names, in one line, the first view that a merge left with conflict markers. One that cannot be read
/// is the business of the commands that use it.
pub(super) fn give(store: &Store, context: &Context) {
    let Some(Ok(tree)) = store.repo().top().map(Tree::open) else {
        return;
    };
    let marked = VIEWS.iter().find(|view| {
        let text = tree.read(view, LIMIT);
        text.is_ok_and(|text| has_markers(&text.unwrap_or_default()))
    });
    if let Some(view) = marked {
        context.ui.note(format!(
            "hint: '{view}' has conflict markers: git operator reconcile"
        ));
    }
}

fn has_markers(text: &[u8]) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n');
    lines.any(|line| line.starts_with(b"<<<<<<<") || line.starts_with(b">>>>>>>"))
}
