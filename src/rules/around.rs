//! What is known around an event: HEAD, whose changes the working tree holds, tasks, the newest
//! verdict.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::Error;
use crate::{
    gate::{self, Open, Partition},
    git::{Head, Repo, Trust, Until},
    model::{Body, Oid, Owner, Record, RecordId, RepoPath, time},
    store::Store,
    work::Work,
};

/// How far back the newest verdict of a session is looked for.
const LOOKED_AT: usize = 1_000;

/// Returns `work` as policies see it.
pub fn work(work: &Work) -> Value {
    let reasons: Value = work
        .reasons
        .iter()
        .map(|(path, reason)| (path.quoted(), Value::from(reason.as_str())))
        .collect();
    json!({
        "tracked": work.tracked,
        "touched": quoted(&work.touched),
        "mine": quoted(&work.mine),
        "foreign": quoted(&work.foreign),
        "uncommitted": quoted(&work.uncommitted),
        "unattributed": quoted(&work.unattributed),
        "reasons": reasons,
        "call": work.call.as_ref().map(|call| json!({
            "tool": call.tool,
            "id": call.id,
            "agent": call.agent,
            "foreign": quoted(&call.foreign),
            "changed": quoted(&call.changed),
            "written": quoted(&call.written),
            "restored": quoted(&call.restored),
        })),
    })
}

fn quoted(paths: &[RepoPath]) -> Vec<String> {
    paths.iter().map(RepoPath::quoted).collect()
}

/// Returns `gate` as policies see it, without `last`.
pub fn gate(parts: &Partition) -> Value {
    let task = |open: &Open| {
        let since = (open.time > 0).then(|| time::format_time(open.time));
        json!({ "id": open.task, "since": since })
    };
    let mine: Vec<Value> = parts.mine.iter().chain(&parts.unowned).map(task).collect();
    let foreign: Vec<Value> = parts.foreign.iter().map(task).collect();
    json!({ "open": mine.len() + foreign.len(), "mine": mine, "foreign": foreign })
}

/// Returns the tasks that are open, by what they mean to a session.
pub fn tasks(place: &gate::Place, who: &gate::Who) -> Result<Partition, Error> {
    Ok(gate::partition(&place.operator, place.top.as_deref(), who)?)
}

/// Returns `gate.last`: the newest verdict of a session that was not retracted, and whether the source
/// is still what it speaks of. Null where there is none among the newest records.
pub fn last(store: &Store, session: &Owner, until: Until) -> Result<Value, Error> {
    let Some(record) = newest(store, session)? else {
        return Ok(Value::Null);
    };
    let Body::Verdict(verdict) = &record.body else {
        return Ok(Value::Null);
    };
    let fresh = verdict
        .subject
        .and_then(|subject| is_fresh(store.repo(), subject, until));
    Ok(json!({
        "id": record.id.short(),
        "result": verdict.outcome.as_str(),
        "stamp": verdict.stamp.to_string(),
        "fresh": fresh,
    }))
}

fn newest(store: &Store, session: &Owner) -> Result<Option<Record>, Error> {
    let session = Some(session.as_str());
    let mut retracted: HashSet<RecordId> = HashSet::new();
    for append in store.newest()?.take(LOOKED_AT) {
        for record in append?.records().rev() {
            match &record.body {
                Body::Retract(retract) => drop(retracted.insert(retract.of)),
                Body::Verdict(_)
                    if (record.session.as_deref() == session
                        || record.owner.as_deref() == session)
                        && !retracted.contains(&record.id) =>
                {
                    return Ok(Some(record.clone()));
                }
                _ => {}
            }
        }
    }
    Ok(None)
}

/// Says whether the working tree is still the subject tree; `None` where that cannot be found out.
fn is_fresh(repo: &Repo, subject: Oid, until: Until) -> Option<bool> {
    if repo.is_store() {
        return None;
    }
    let survey = repo.survey(Trust::Stat, until).ok()?;
    let snapshot = repo.snapshot(survey, until).ok()?;
    Some(snapshot.subject == subject)
}

/// Returns the commit of HEAD and the branch, each null where there is none.
pub fn head(repo: &Repo) -> Result<(Value, Value), Error> {
    let head = repo.head()?;
    let commit = head.commit().map(|id| id.to_hex());
    let branch = match &head {
        Head::Unborn { branch } => Some(branch),
        Head::Branch { name, .. } => Some(name),
        Head::Detached { .. } => None,
    };
    let branch = branch.map(|name| name.strip_prefix("refs/heads/").unwrap_or(name));
    Ok((commit.into(), branch.into()))
}
