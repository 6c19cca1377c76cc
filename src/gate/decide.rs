//! Decisions, bars, the handoff mark, retractions.

use super::{
    Error, Gate,
    close::append,
    failing::{self, Fate},
    open::one,
};
use crate::{
    model::{
        Bar, Body, Decision, DecisionKind, Draft, Owner, Record, RecordId, Retract, Text, time,
    },
    store::decisions::{self, Unpresented},
    view::{self, Finding},
};

/// A decision to record.
#[derive(Clone, Debug)]
pub struct NewDecision {
    pub kind: DecisionKind,
    pub scope: String,
    pub what: Text,
    pub why: Text,
    pub owner: Option<Owner>,
}

/// Records a decision.
pub fn decide(gate: &Gate<'_>, new: NewDecision) -> Result<Record, Error> {
    let mut draft = Draft::new(Body::Decision(Decision {
        decision: new.kind,
        scope: new.scope,
        what: new.what.as_str().to_owned(),
        why: new.why.as_str().to_owned(),
        covers: Vec::new(),
        import: None,
    }));
    draft.owner = new.owner;
    draft.session = gate.session.cloned();
    append(gate, draft)
}

/// A recorded handoff mark, and the decisions it presents.
#[derive(Clone, Debug)]
pub struct Mark {
    pub record: Record,
    pub presented: Vec<Unpresented>,
}

/// Records that the decisions of `owner`, and those of nobody, were presented to the people. The mark
/// names what it covers; what comes later is not covered.
pub fn mark_handoff(gate: &Gate<'_>, owner: Option<&Owner>, scope: &str) -> Result<Mark, Error> {
    let owner = owner.ok_or(Error::NoSession)?;
    let mut tx = gate.begin()?;
    let presented: Vec<Unpresented> = decisions::unpresented(&gate.place.operator)?
        .into_iter()
        .filter(|decision| concerns(decision, Some(owner)))
        .collect();
    let mut draft = Draft::new(Body::Decision(Decision {
        decision: DecisionKind::HandoffMark,
        scope: scope.to_owned(),
        what: time::format_time(gate.clock.now_ms()),
        why: "handoff presented".to_owned(),
        covers: presented.iter().map(|decision| decision.id).collect(),
        import: None,
    }));
    draft.owner = Some(owner.clone());
    draft.session = gate.session.cloned();
    let record = one(tx.commit(&[draft], Vec::new())?.records);
    Ok(Mark { record, presented })
}

/// Says whether a Stop of `session` asks for `decision`: it is the session's, or nobody's.
pub(super) fn concerns(decision: &Unpresented, session: Option<&Owner>) -> bool {
    match (&decision.owner, session) {
        (None, _) => true,
        (Some(owner), Some(session)) => owner == session.as_str(),
        (Some(_), None) => false,
    }
}

/// Records an acceptance bar: `## BAR — <title>` and `body`, which VERDICTS.md shows as they are.
pub fn bar(gate: &Gate<'_>, title: &Text, body: &str) -> Result<Record, Error> {
    let title = title.as_str().lines().collect::<Vec<_>>().join(" ");
    let mut text = format!("## BAR — {title}\n{}", body.trim_end_matches(['\n', '\r']));
    text.push('\n');
    if let Some(Finding { line, what }) = view::misread(&text) {
        return Err(Error::Bar {
            title,
            line: line - 1,
            what,
        });
    }
    let mut draft = Draft::new(Body::Bar(Bar {
        view: "VERDICTS.md".to_owned(),
        text,
    }));
    draft.owner = gate.session.cloned();
    draft.session = gate.session.cloned();
    append(gate, draft)
}

/// Takes a record of this clone and owner back; the record stays, and counts no more.
pub fn retract(
    gate: &Gate<'_>,
    of: &Record,
    why: &Text,
    owner: Option<&Owner>,
) -> Result<Record, Error> {
    let id: RecordId = of.id;
    if of.replica != gate.store.state().replica {
        return Err(Error::Retract {
            id,
            reason: "another clone recorded it",
        });
    }
    if of.owner.as_deref() != owner.map(Owner::as_str) {
        return Err(Error::Retract {
            id,
            reason: "another session owns it",
        });
    }
    let mut draft = Draft::new(Body::Retract(Retract {
        of: id,
        why: why.as_str().to_owned(),
    }));
    draft.owner = owner.cloned();
    draft.session = gate.session.cloned();
    let mut tx = gate.begin()?;
    let record = one(tx.commit(&[draft], Vec::new())?.records);
    failing::note(&tx, &gate.place.operator, (of, Fate::Retracted));
    Ok(record)
}
