//! What people wrote into the views by hand, and what lay there before the ledger, taken in.

use std::path::Path;

use super::{Error, Gate};
use crate::{
    git::files::Tree,
    model::{Body, DecisionKind, RecordId, row::DecisionRow},
    store::decisions,
    view::{self, Reconciled},
};

const DECISIONS: &str = ".operator/DECISIONS.md";
const LIMIT: u64 = 64 << 20;

/// Brings the views of the working tree and the ledger together. A decision that a later handoff mark
/// of the same file presents asks nobody any more.
pub fn take_in(gate: &Gate<'_>, top: &Path) -> Result<Vec<Reconciled>, Error> {
    let done = view::take_in(gate.store, *gate.clock, top)?;
    forget_presented(gate, top)?;
    match view::refresh(gate.store, top) {
        // What was taken in says so.
        Ok(()) | Err(view::Error::Conflict { .. }) => Ok(done),
        Err(error) => Err(error.into()),
    }
}

/// Rows of before the ledger name nothing: there a mark covers what stands above it, its owner's rows
/// and nobody's.
fn forget_presented(gate: &Gate<'_>, top: &Path) -> Result<(), Error> {
    let operator = &gate.place.operator;
    let waiting = decisions::unpresented(operator)?;
    if waiting.is_empty() {
        return Ok(());
    }
    let bytes = Tree::open(top)?.read(DECISIONS, LIMIT)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let lines: Vec<(String, DecisionRow)> = text
        .lines()
        .filter_map(|line| Some((line.trim().to_owned(), DecisionRow::parse(line)?)))
        .collect();
    for decision in waiting {
        if let Some((row, owner)) = imported(gate, decision.id)?
            && is_marked(&lines, &row, owner.as_deref())
        {
            decisions::remove(operator, &decision.id)?;
        }
    }
    Ok(())
}

/// Returns the row and the owner of an imported decision.
fn imported(gate: &Gate<'_>, id: RecordId) -> Result<Option<(String, Option<String>)>, Error> {
    let Some(record) = gate.store.get(&id)? else {
        return Ok(None);
    };
    let Body::Decision(decision) = record.body else {
        return Ok(None);
    };
    Ok(decision.import.map(|import| (import.row, record.owner)))
}

fn is_marked(lines: &[(String, DecisionRow)], row: &str, owner: Option<&str>) -> bool {
    let Some(at) = lines.iter().rposition(|(line, _)| line == row) else {
        return false;
    };
    lines[at..].iter().any(|(_, later)| {
        later.kind == DecisionKind::HandoffMark
            && (owner.is_none() || later.owner.is_none() || later.owner.as_deref() == owner)
    })
}
