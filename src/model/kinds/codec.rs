//! How the fields of each kind lie in a line, in the order of docs/data-model.md.

use super::{
    Adopt, Attempt, AttemptResult, Bar, Body, Change, Class, Decision, DecisionKind, Defer, Delta,
    DeltaEntry, Import, Layout, Outcome, Redact, Retract, Rewrite, RewritePair, Run, SessionEvent,
    SessionNote, Signature, Task, TestCounts, Verdict, Work,
    fields::{Fields, id_texts, ids, oid, paths, quoted, strings, text, word},
};
use crate::model::{
    Evidence, Oid, RepoPath, Stamp,
    json::{Members, Value},
};

impl DeltaEntry {
    fn side(side: Option<(u32, Oid)>) -> [Value<'static>; 2] {
        match side {
            Some((mode, oid)) => [format!("{mode:06o}").into(), oid.to_hex().into()],
            None => [Value::Null, Value::Null],
        }
    }

    /// Returns `[path, old mode, old id, new mode, new id]`.
    pub fn to_value(&self) -> Value<'static> {
        let mut values = vec![Value::from(self.path.quoted())];
        values.extend(Self::side(self.old));
        values.extend(Self::side(self.new));
        Value::List(values)
    }

    /// Reads what [`Self::to_value`] made.
    pub fn from_value(value: &Value<'_>) -> Option<Self> {
        let [path, old_mode, old, new_mode, new] = value.as_list()? else {
            return None;
        };
        let side = |mode: &Value<'_>, oid: &Value<'_>| match (mode, oid) {
            (Value::Null, Value::Null) => Some(None),
            (mode, oid) => {
                let mode = u32::from_str_radix(mode.as_str()?, 8).ok()?;
                Some(Some((mode, oid.as_str()?.parse().ok()?)))
            }
        };
        Some(Self {
            path: RepoPath::from_quoted(path.as_str()?)?,
            old: side(old_mode, old)?,
            new: side(new_mode, new)?,
        })
    }
}

impl Change {
    fn to_value(&self) -> Value<'_> {
        Value::Map(
            Fields(Vec::new())
                .put("base", self.base.to_hex())
                .put("blake3", self.digest.to_hex())
                .put_some("patch", self.patch.map(|oid| oid.to_hex()))
                .0,
        )
    }

    fn from_value(value: &Value<'_>) -> Option<Self> {
        Some(Self {
            base: oid(value, "base")?,
            digest: word(value, "blake3")?.parse().ok()?,
            patch: oid(value, "patch"),
        })
    }
}

impl Run {
    fn to_value(&self) -> Value<'_> {
        let tests = self.tests.map(|tests| {
            Value::Map(
                Fields(Vec::new())
                    .put("passed", tests.passed)
                    .put("failed", tests.failed)
                    .put("skipped", tests.skipped)
                    .0,
            )
        });
        Value::Map(
            Fields(Vec::new())
                .put("argv", self.argv.clone())
                .put("cwd", self.cwd.as_str())
                .put_some("exit", self.exit)
                .put_some("signal", self.signal)
                .put_some("timed_out", self.timed_out.then_some(true))
                .put("started", self.started)
                .put("duration", self.duration)
                .put_some("tests", tests)
                .put_some("after", self.after.map(|oid| oid.to_hex()))
                .put_some("control", self.control)
                .0,
        )
    }

    fn from_value(value: &Value<'_>) -> Option<Self> {
        let number = |key: &str| value.get(key).and_then(Value::as_u64);
        let tests = value.get("tests").and_then(|tests| {
            Some(TestCounts {
                passed: tests.get("passed")?.as_u64()?,
                failed: tests.get("failed")?.as_u64()?,
                skipped: tests.get("skipped")?.as_u64()?,
            })
        });
        Some(Self {
            argv: value.get("argv")?.as_strings()?,
            cwd: text(value, "cwd").unwrap_or_default(),
            exit: number("exit"),
            signal: number("signal"),
            timed_out: value.get("timed_out") == Some(&Value::Bool(true)),
            started: number("started").unwrap_or(0),
            duration: number("duration").unwrap_or(0),
            tests,
            after: oid(value, "after"),
            control: number("control"),
        })
    }
}

impl Body {
    pub(in crate::model) fn members(&self) -> Members<'_> {
        let fields = Fields(Vec::new());
        match self {
            Self::Task(task) => fields.put("worktree", task.worktree.as_str()).0,
            Self::Adopt(adopt) => fields.put("from", adopt.from.clone()).0,
            Self::Verdict(verdict) => verdict_members(verdict),
            Self::Attempt(attempt) => attempt_members(attempt),
            Self::Defer(defer) => fields.put("reason", defer.reason.as_str()).0,
            Self::Decision(decision) => decision_members(decision),
            Self::Bar(bar) => {
                fields
                    .put("view", bar.view.as_str())
                    .put("text", bar.text.as_str())
                    .0
            }
            Self::Layout(layout) => {
                fields
                    .put("view", layout.view.as_str())
                    .put("order", id_texts(&layout.order))
                    .0
            }
            Self::Signature(signature) => {
                fields
                    .put("of", signature.of.as_str())
                    .put("format", signature.format.as_str())
                    .put("armor", signature.armor.as_str())
                    .0
            }
            Self::Rewrite(rewrite) => rewrite_members(rewrite),
            Self::Work(work) => work_members(work),
            Self::Session(note) => {
                fields
                    .put("event", note.event.as_str())
                    .put("open", note.open.clone())
                    .put("reason", note.reason.as_str())
                    .0
            }
            Self::Retract(retract) => {
                fields
                    .put("of", retract.of.as_str())
                    .put("why", retract.why.as_str())
                    .0
            }
            Self::Redact(redact) => {
                fields
                    .put("blake3", redact.digest.to_hex())
                    .put("why", redact.why.as_str())
                    .0
            }
            Self::Other(_) => Vec::new(),
        }
    }

    /// Reads the fields of `kind`; `None` when one is missing or of the wrong type.
    pub(in crate::model) fn read(kind: &str, value: &Value<'_>) -> Option<Self> {
        Some(match kind {
            "task" => Self::Task(Task {
                worktree: text(value, "worktree")?,
            }),
            "adopt" => Self::Adopt(Adopt {
                from: text(value, "from"),
            }),
            "verdict" => Self::Verdict(Box::new(read_verdict(value)?)),
            "attempt" => Self::Attempt(Box::new(read_attempt(value)?)),
            "defer" => Self::Defer(Defer {
                reason: text(value, "reason")?,
            }),
            "decision" => Self::Decision(read_decision(value)?),
            "bar" => Self::Bar(Bar {
                view: text(value, "view")?,
                text: text(value, "text")?,
            }),
            "layout" => Self::Layout(Layout {
                view: text(value, "view")?,
                order: ids(value, "order")?,
            }),
            "signature" => Self::Signature(Signature {
                of: word(value, "of")?.parse().ok()?,
                format: text(value, "format")?,
                armor: text(value, "armor")?,
            }),
            "rewrite" => Self::Rewrite(read_rewrite(value)?),
            "work" => Self::Work(read_work(value)?),
            "session" => Self::Session(SessionNote {
                event: SessionEvent::parse(word(value, "event")?)?,
                open: strings(value, "open"),
                reason: text(value, "reason").unwrap_or_default(),
            }),
            "retract" => Self::Retract(Retract {
                of: word(value, "of")?.parse().ok()?,
                why: text(value, "why")?,
            }),
            "redact" => Self::Redact(Redact {
                digest: word(value, "blake3")?.parse().ok()?,
                why: text(value, "why")?,
            }),
            other => Self::Other(other.to_owned()),
        })
    }
}

fn verdict_members(verdict: &Verdict) -> Members<'_> {
    if let Some(import) = &verdict.import {
        return import_members(import);
    }
    let mut fields = Fields(Vec::new())
        .put("outcome", verdict.outcome.as_str())
        .put("class", verdict.class.as_str())
        .put("evidence", verdict.evidence.to_value())
        .put("stamp", verdict.stamp.to_string())
        .put_some("head", verdict.head.map(|oid| oid.to_hex()))
        .put_some("subject", verdict.subject.map(|oid| oid.to_hex()));
    fields = match &verdict.delta {
        None => fields,
        Some(Delta::Inline(entries)) => fields.put(
            "delta",
            Value::List(entries.iter().map(DeltaEntry::to_value).collect()),
        ),
        Some(Delta::Stored {
            digest,
            count,
            paths,
        }) => {
            let stored = Fields(Vec::new())
                .put("blake3", digest.to_hex())
                .put("count", *count)
                .put("paths", quoted(paths));
            fields.put("delta_stored", Value::Map(stored.0))
        }
        Some(Delta::Omitted { count }) => fields.put("delta_omitted", *count),
    };
    fields
        .put_some("change", verdict.change.as_ref().map(Change::to_value))
        .put_filled("taints", verdict.taints.clone())
        .put(
            "repo",
            verdict
                .repo
                .as_ref()
                .map(|roots| roots.iter().map(Oid::to_hex).collect::<Vec<_>>()),
        )
        .put_some("run", verdict.run.as_ref().map(Run::to_value))
        .put_some("definition", verdict.definition.clone())
        .put_some("of", verdict.of.map(|id| id.to_string()))
        .0
}

fn import_members(import: &Import) -> Members<'_> {
    Fields(Vec::new())
        .put("class", Class::Imported.as_str())
        .put("view", import.view.as_str())
        .put("row", import.row.as_str())
        .put("n", import.n)
        .0
}

fn read_import(value: &Value<'_>) -> Option<Import> {
    (value.get("class")?.as_str()? == Class::Imported.as_str()).then_some(())?;
    Some(Import {
        view: text(value, "view")?,
        row: text(value, "row")?,
        n: value.get("n")?.as_u64()?,
    })
}

fn read_verdict(value: &Value<'_>) -> Option<Verdict> {
    if let Some(import) = read_import(value) {
        let row = crate::model::row::VerdictRow::parse(&import.row)?;
        return Some(Verdict {
            import: Some(import),
            ..Verdict::new(
                row.outcome,
                Class::Imported,
                Evidence::Text(row.evidence().to_owned()),
                row.stamp().unwrap_or(Stamp::NoVcs),
            )
        });
    }
    Some(Verdict {
        outcome: Outcome::parse(word(value, "outcome")?)?,
        class: Class::parse(word(value, "class")?).filter(|class| *class != Class::Imported)?,
        evidence: Evidence::from_value(value.get("evidence")?)?,
        stamp: word(value, "stamp")?.parse().ok()?,
        head: oid(value, "head"),
        subject: oid(value, "subject"),
        delta: read_delta(value)?,
        change: match value.get("change") {
            None => None,
            Some(change) => Some(Change::from_value(change)?),
        },
        taints: strings(value, "taints"),
        repo: value
            .get("repo")
            .and_then(Value::as_strings)
            .map(|roots| roots.iter().filter_map(|root| root.parse().ok()).collect()),
        run: match value.get("run") {
            None => None,
            Some(run) => Some(Run::from_value(run)?),
        },
        definition: text(value, "definition"),
        of: word(value, "of").and_then(|id| id.parse().ok()),
        import: None,
    })
}

fn read_delta(value: &Value<'_>) -> Option<Option<Delta>> {
    if let Some(entries) = value.get("delta") {
        let entries: Option<Vec<_>> = entries
            .as_list()?
            .iter()
            .map(DeltaEntry::from_value)
            .collect();
        return Some(Some(Delta::Inline(entries?)));
    }
    if let Some(stored) = value.get("delta_stored") {
        return Some(Some(Delta::Stored {
            digest: word(stored, "blake3")?.parse().ok()?,
            count: stored.get("count")?.as_u64()?,
            paths: paths(stored, "paths"),
        }));
    }
    Some(
        value
            .get("delta_omitted")
            .and_then(Value::as_u64)
            .map(|count| Delta::Omitted { count }),
    )
}

fn attempt_members(attempt: &Attempt) -> Members<'_> {
    Fields(Vec::new())
        .put_some("of", attempt.of.map(|id| id.to_string()))
        .put_some("result", attempt.result.map(AttemptResult::as_str))
        .put_some("run", attempt.run.as_ref().map(Run::to_value))
        .put_some("stamp", attempt.stamp.as_ref().map(Stamp::to_string))
        .put_some("head", attempt.head.map(|oid| oid.to_hex()))
        .put_some("subject", attempt.subject.map(|oid| oid.to_hex()))
        .put_filled("paths", quoted(&attempt.paths))
        .put_some(
            "evidence",
            attempt.evidence.as_ref().map(Evidence::to_value),
        )
        .0
}

fn read_attempt(value: &Value<'_>) -> Option<Attempt> {
    Some(Attempt {
        of: word(value, "of").and_then(|id| id.parse().ok()),
        result: word(value, "result").and_then(AttemptResult::parse),
        run: match value.get("run") {
            None => None,
            Some(run) => Some(Run::from_value(run)?),
        },
        stamp: word(value, "stamp").and_then(|stamp| stamp.parse().ok()),
        head: oid(value, "head"),
        subject: oid(value, "subject"),
        paths: paths(value, "paths"),
        evidence: match value.get("evidence") {
            None => None,
            Some(evidence) => Some(Evidence::from_value(evidence)?),
        },
    })
}

fn decision_members(decision: &Decision) -> Members<'_> {
    if let Some(import) = &decision.import {
        return import_members(import);
    }
    Fields(Vec::new())
        .put("decision", decision.decision.as_str())
        .put("scope", decision.scope.as_str())
        .put("what", decision.what.as_str())
        .put("why", decision.why.as_str())
        .put_filled("covers", id_texts(&decision.covers))
        .0
}

fn read_decision(value: &Value<'_>) -> Option<Decision> {
    if let Some(import) = read_import(value) {
        let row = crate::model::row::DecisionRow::parse(&import.row)?;
        return Some(Decision {
            decision: row.kind,
            scope: row.scope,
            what: row.what,
            why: row.why,
            covers: Vec::new(),
            import: Some(import),
        });
    }
    Some(Decision {
        decision: DecisionKind::parse(word(value, "decision")?)?,
        scope: text(value, "scope")?,
        what: text(value, "what")?,
        why: text(value, "why")?,
        covers: ids(value, "covers")?,
        import: None,
    })
}

fn rewrite_members(rewrite: &Rewrite) -> Members<'_> {
    let pairs = rewrite
        .pairs
        .iter()
        .map(|pair| {
            Value::List(vec![
                pair.old.to_hex().into(),
                pair.new.to_hex().into(),
                pair.same.into(),
            ])
        })
        .collect();
    Fields(Vec::new())
        .put("cause", rewrite.cause.as_str())
        .put("pairs", Value::List(pairs))
        .0
}

fn read_rewrite(value: &Value<'_>) -> Option<Rewrite> {
    let pair = |value: &Value| {
        let [old, new, same] = value.as_list()? else {
            return None;
        };
        Some(RewritePair {
            old: old.as_str()?.parse().ok()?,
            new: new.as_str()?.parse().ok()?,
            same: *same == Value::Bool(true),
        })
    };
    let pairs: Option<Vec<_>> = value.get("pairs")?.as_list()?.iter().map(pair).collect();
    Some(Rewrite {
        cause: text(value, "cause")?,
        pairs: pairs?,
    })
}

fn work_members(work: &Work) -> Members<'_> {
    let mine = work
        .mine
        .iter()
        .map(|(session, paths)| (session.into(), Value::from(quoted(paths))))
        .collect();
    Fields(Vec::new())
        .put("commit", work.commit.to_hex())
        .put("mine", Value::Map(mine))
        .put("other", quoted(&work.other))
        .put_some("omitted", (work.omitted > 0).then_some(work.omitted))
        .0
}

fn read_work(value: &Value<'_>) -> Option<Work> {
    let Value::Map(members) = value.get("mine")? else {
        return None;
    };
    let mine = members.iter().map(|(session, paths)| {
        let paths = paths
            .as_strings()?
            .iter()
            .filter_map(|path| RepoPath::from_quoted(path))
            .collect();
        Some((session.clone().into_owned(), paths))
    });
    Some(Work {
        commit: oid(value, "commit")?,
        mine: mine.collect::<Option<_>>()?,
        other: paths(value, "other"),
        omitted: value.get("omitted").and_then(Value::as_u64).unwrap_or(0),
    })
}
