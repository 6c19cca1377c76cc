//! What each kind of record says, and how its fields lie in a line (docs/data-model.md).

use super::{Evidence, Oid, RecordId, RepoPath, Stamp, json::Value};

type Members = Vec<(String, Value)>;

/// Adds a member unless its value is absent.
struct Fields(Members);

impl Fields {
    fn put(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.push((key.to_owned(), value.into()));
        self
    }

    fn put_some<T: Into<Value>>(self, key: &str, value: Option<T>) -> Self {
        match value {
            Some(value) => self.put(key, value),
            None => self,
        }
    }

    fn put_filled<T: Into<Value>>(self, key: &str, values: Vec<T>) -> Self {
        if values.is_empty() {
            self
        } else {
            self.put(key, values)
        }
    }
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

fn oid(value: &Value, key: &str) -> Option<Oid> {
    value.get(key)?.as_str()?.parse().ok()
}

fn strings(value: &Value, key: &str) -> Vec<String> {
    value
        .get(key)
        .and_then(Value::as_strings)
        .unwrap_or_default()
}

fn paths(value: &Value, key: &str) -> Vec<RepoPath> {
    strings(value, key)
        .iter()
        .filter_map(|text| RepoPath::from_quoted(text))
        .collect()
}

fn quoted(paths: &[RepoPath]) -> Vec<String> {
    paths.iter().map(RepoPath::quoted).collect()
}

fn ids(value: &Value, key: &str) -> Option<Vec<RecordId>> {
    value.get(key).map_or(Some(Vec::new()), |list| {
        list.as_list()?
            .iter()
            .map(|id| id.as_str()?.parse().ok())
            .collect()
    })
}

fn id_texts(ids: &[RecordId]) -> Vec<String> {
    ids.iter().map(RecordId::to_string).collect()
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// Every word, in order.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Returns the word as records and views write it.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// Reads the word; `None` for any other text.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

words! {
    /// What a verdict says.
    Outcome {
        Pass = "PASS",
        Fail = "FAIL",
        /// The criterion no longer applies.
        Moot = "MOOT",
    }
}

words! {
    /// How the evidence came about, weakest first.
    Class {
        /// A row of a view that was there before the ledger.
        Imported = "imported",
        /// Somebody's word.
        Asserted = "asserted",
        /// Output of a process that git-operator ran in the working tree.
        Captured = "captured",
        /// The same in a worktree of its own.
        Isolated = "isolated",
        /// The same, and the new tests fail on the base source.
        Controlled = "controlled",
    }
}

words! {
    /// What a `run` came to when it gave no verdict.
    AttemptResult {
        Skip = "SKIP",
        Error = "ERROR",
        Mutated = "MUTATED",
        Timeout = "TIMEOUT",
        Interrupt = "INTERRUPT",
    }
}

words! {
    /// The kind of a line in DECISIONS.md.
    DecisionKind {
        Decision = "DECISION",
        Deviation = "DEVIATION",
        Escalation = "ESCALATION",
        GateException = "GATE-EXCEPTION",
        DeferredVerdict = "DEFERRED-VERDICT",
        HandoffMark = "HANDOFF-MARK",
        SpecApproved = "SPEC-APPROVED",
    }
}

impl DecisionKind {
    /// Says whether a Stop asks that a decision of this kind be presented to the people.
    pub fn wants_presenting(self) -> bool {
        match self {
            Self::Deviation | Self::Escalation | Self::GateException => true,
            Self::Decision | Self::DeferredVerdict | Self::HandoffMark | Self::SpecApproved => {
                false
            }
        }
    }
}

words! {
    /// What befell a session that had open tasks.
    SessionEvent {
        /// It ended.
        Ended = "ended",
        /// The refusal cap let its Stop through.
        Released = "released",
    }
}

/// A task was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The worktree's name under `worktrees/`, `.` for the main one.
    pub worktree: String,
}

/// A task changed owner; the record's own owner is the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adopt {
    /// The owner before; `None` when it was unowned.
    pub from: Option<String>,
}

/// The changes from HEAD's subject to the tree a verdict speaks of, by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    Inline(Vec<DeltaEntry>),
    /// In the evidence ref.
    Stored {
        digest: super::Digest,
        count: u64,
        paths: Vec<RepoPath>,
    },
    /// Too long to keep.
    Omitted {
        count: u64,
    },
}

/// One path of a delta; a side is its mode (octal) and object id, `None` where the path is absent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeltaEntry {
    pub path: RepoPath,
    pub old: Option<(u32, Oid)>,
    pub new: Option<(u32, Oid)>,
}

impl DeltaEntry {
    fn side(side: Option<(u32, Oid)>) -> [Value; 2] {
        match side {
            Some((mode, oid)) => [format!("{mode:06o}").into(), oid.to_hex().into()],
            None => [Value::Null, Value::Null],
        }
    }

    /// Returns `[path, old mode, old id, new mode, new id]`.
    pub fn to_value(&self) -> Value {
        let mut values = vec![Value::from(self.path.quoted())];
        values.extend(Self::side(self.old));
        values.extend(Self::side(self.new));
        Value::List(values)
    }

    /// Reads what [`Self::to_value`] made.
    pub fn from_value(value: &Value) -> Option<Self> {
        let [path, old_mode, old, new_mode, new] = value.as_list()? else {
            return None;
        };
        let side = |mode: &Value, oid: &Value| match (mode, oid) {
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

/// The change a verdict's subject makes to the base it was built on, for when the commits are gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The commit where the branch left the one it is to land on.
    pub base: Oid,
    /// The digest of the paths, modes and ids that differ between the subjects of base and verdict.
    pub digest: super::Digest,
    /// git's verbatim patch id of the same change.
    pub patch: Option<Oid>,
}

impl Change {
    fn to_value(&self) -> Value {
        Value::Map(
            Fields(Vec::new())
                .put("base", self.base.to_hex())
                .put("blake3", self.digest.to_hex())
                .put_some("patch", self.patch.map(|oid| oid.to_hex()))
                .0,
        )
    }

    fn from_value(value: &Value) -> Option<Self> {
        Some(Self {
            base: oid(value, "base")?,
            digest: text(value, "blake3")?.parse().ok()?,
            patch: oid(value, "patch"),
        })
    }
}

/// Test counts read from a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestCounts {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
}

/// Facts of a process that git-operator ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The exact vector.
    pub argv: Vec<String>,
    /// The directory, relative to the top level.
    pub cwd: String,
    /// The exit status; `None` when a signal ended it.
    pub exit: Option<u64>,
    pub signal: Option<u64>,
    pub timed_out: bool,
    /// Wall clock, ms since 1970.
    pub started: u64,
    /// How long it took, ms.
    pub duration: u64,
    pub tests: Option<TestCounts>,
    /// The subject tree after the run.
    pub after: Option<Oid>,
    /// What the control run on the base source exited with.
    pub control: Option<u64>,
}

impl Run {
    fn to_value(&self) -> Value {
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

    fn from_value(value: &Value) -> Option<Self> {
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

/// Where an imported row stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The file's name.
    pub view: String,
    /// The row's trimmed text.
    pub row: String,
    /// It is the n-th equal row of that file, from 1.
    pub n: u64,
}

/// A verdict on one criterion of one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub outcome: Outcome,
    pub class: Class,
    pub evidence: Evidence,
    pub stamp: Stamp,
    /// The commit HEAD named.
    pub head: Option<Oid>,
    /// The subject tree it speaks of.
    pub subject: Option<Oid>,
    pub delta: Option<Delta>,
    pub change: Option<Change>,
    pub taints: Vec<String>,
    /// The repository's root commits; `None` in a shallow or unborn one.
    pub repo: Option<Vec<Oid>>,
    pub run: Option<Run>,
    /// The digest of the criterion's definition it answers.
    pub definition: Option<String>,
    /// The record a rerun repeats.
    pub of: Option<RecordId>,
    /// Set for imported rows, which have nothing else of their own.
    pub import: Option<Import>,
}

/// A `run` began, or ended without a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The attempt this ends; `None` for one that begins.
    pub of: Option<RecordId>,
    pub result: Option<AttemptResult>,
    pub run: Option<Run>,
    pub stamp: Option<Stamp>,
    pub head: Option<Oid>,
    pub subject: Option<Oid>,
    /// What changed while it ran.
    pub paths: Vec<RepoPath>,
    pub evidence: Option<Evidence>,
}

/// A task was closed without a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defer {
    pub reason: String,
}

/// A line of DECISIONS.md.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub decision: DecisionKind,
    pub scope: String,
    pub what: String,
    pub why: String,
    /// The decisions a HANDOFF-MARK presents.
    pub covers: Vec<RecordId>,
    pub import: Option<Import>,
}

/// A block of hand-written text of a view, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    pub view: String,
    pub text: String,
}

/// The order of imported rows and blocks in a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub view: String,
    pub order: Vec<RecordId>,
}

/// A signature over the line of another record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub of: RecordId,
    /// `ssh` or `openpgp`.
    pub format: String,
    pub armor: String,
}

/// One rewritten commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewritePair {
    pub old: Oid,
    pub new: Oid,
    /// Whether the subject trees are equal.
    pub same: bool,
}

/// Commits were rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// `amend`, `rebase` or `relink`.
    pub cause: String,
    pub pairs: Vec<RewritePair>,
}

/// Whose the paths of a commit were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    pub commit: Oid,
    /// Paths a session wrote, per session.
    pub mine: Vec<(String, Vec<RepoPath>)>,
    /// Paths no session claimed.
    pub other: Vec<RepoPath>,
    /// How many paths were left out to keep the record small.
    pub omitted: u64,
}

/// A session ended, or was let go, with open tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionNote {
    pub event: SessionEvent,
    pub open: Vec<String>,
    pub reason: String,
}

/// A record no longer counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retract {
    pub of: RecordId,
    pub why: String,
}

/// An evidence object is to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redact {
    pub digest: super::Digest,
    pub why: String,
}

/// The fields of a record's own kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    Task(Task),
    Adopt(Adopt),
    Verdict(Box<Verdict>),
    Attempt(Box<Attempt>),
    Defer(Defer),
    Decision(Decision),
    Bar(Bar),
    Layout(Layout),
    Signature(Signature),
    Rewrite(Rewrite),
    Work(Work),
    Session(SessionNote),
    Retract(Retract),
    Redact(Redact),
    /// A kind of version 1 that this program does not know: cargo without effect.
    Other(String),
}

impl Body {
    /// Returns the word of the `kind` member.
    pub fn kind(&self) -> &str {
        match self {
            Self::Task(_) => "task",
            Self::Adopt(_) => "adopt",
            Self::Verdict(_) => "verdict",
            Self::Attempt(_) => "attempt",
            Self::Defer(_) => "defer",
            Self::Decision(_) => "decision",
            Self::Bar(_) => "bar",
            Self::Layout(_) => "layout",
            Self::Signature(_) => "signature",
            Self::Rewrite(_) => "rewrite",
            Self::Work(_) => "work",
            Self::Session(_) => "session",
            Self::Retract(_) => "retract",
            Self::Redact(_) => "redact",
            Self::Other(kind) => kind,
        }
    }

    /// Says whether the body is a row that a view held before the ledger.
    pub fn is_imported(&self) -> bool {
        match self {
            Self::Verdict(verdict) => verdict.import.is_some(),
            Self::Decision(decision) => decision.import.is_some(),
            _ => false,
        }
    }

    pub(super) fn members(&self) -> Members {
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
    pub(super) fn read(kind: &str, value: &Value) -> Option<Self> {
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
                of: text(value, "of")?.parse().ok()?,
                format: text(value, "format")?,
                armor: text(value, "armor")?,
            }),
            "rewrite" => Self::Rewrite(read_rewrite(value)?),
            "work" => Self::Work(read_work(value)?),
            "session" => Self::Session(SessionNote {
                event: SessionEvent::parse(&text(value, "event")?)?,
                open: strings(value, "open"),
                reason: text(value, "reason").unwrap_or_default(),
            }),
            "retract" => Self::Retract(Retract {
                of: text(value, "of")?.parse().ok()?,
                why: text(value, "why")?,
            }),
            "redact" => Self::Redact(Redact {
                digest: text(value, "blake3")?.parse().ok()?,
                why: text(value, "why")?,
            }),
            other => Self::Other(other.to_owned()),
        })
    }
}

fn verdict_members(verdict: &Verdict) -> Members {
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

fn import_members(import: &Import) -> Members {
    Fields(Vec::new())
        .put("class", Class::Imported.as_str())
        .put("view", import.view.as_str())
        .put("row", import.row.as_str())
        .put("n", import.n)
        .0
}

fn read_import(value: &Value) -> Option<Import> {
    (value.get("class")?.as_str()? == Class::Imported.as_str()).then_some(())?;
    Some(Import {
        view: text(value, "view")?,
        row: text(value, "row")?,
        n: value.get("n")?.as_u64()?,
    })
}

fn read_verdict(value: &Value) -> Option<Verdict> {
    if let Some(import) = read_import(value) {
        let row = super::row::VerdictRow::parse(&import.row)?;
        return Some(Verdict {
            outcome: row.outcome,
            class: Class::Imported,
            evidence: Evidence::Text(row.evidence().to_owned()),
            stamp: row.stamp().unwrap_or(Stamp::NoVcs),
            head: None,
            subject: None,
            delta: None,
            change: None,
            taints: Vec::new(),
            repo: None,
            run: None,
            definition: None,
            of: None,
            import: Some(import),
        });
    }
    Some(Verdict {
        outcome: Outcome::parse(&text(value, "outcome")?)?,
        class: Class::parse(&text(value, "class")?).filter(|class| *class != Class::Imported)?,
        evidence: Evidence::from_value(value.get("evidence")?)?,
        stamp: text(value, "stamp")?.parse().ok()?,
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
        of: text(value, "of").and_then(|id| id.parse().ok()),
        import: None,
    })
}

fn read_delta(value: &Value) -> Option<Option<Delta>> {
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
            digest: text(stored, "blake3")?.parse().ok()?,
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

fn attempt_members(attempt: &Attempt) -> Members {
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

fn read_attempt(value: &Value) -> Option<Attempt> {
    Some(Attempt {
        of: text(value, "of").and_then(|id| id.parse().ok()),
        result: text(value, "result").and_then(|word| AttemptResult::parse(&word)),
        run: match value.get("run") {
            None => None,
            Some(run) => Some(Run::from_value(run)?),
        },
        stamp: text(value, "stamp").and_then(|stamp| stamp.parse().ok()),
        head: oid(value, "head"),
        subject: oid(value, "subject"),
        paths: paths(value, "paths"),
        evidence: match value.get("evidence") {
            None => None,
            Some(evidence) => Some(Evidence::from_value(evidence)?),
        },
    })
}

fn decision_members(decision: &Decision) -> Members {
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

fn read_decision(value: &Value) -> Option<Decision> {
    if let Some(import) = read_import(value) {
        let row = super::row::DecisionRow::parse(&import.row)?;
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
        decision: DecisionKind::parse(&text(value, "decision")?)?,
        scope: text(value, "scope")?,
        what: text(value, "what")?,
        why: text(value, "why")?,
        covers: ids(value, "covers")?,
        import: None,
    })
}

fn rewrite_members(rewrite: &Rewrite) -> Members {
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

fn read_rewrite(value: &Value) -> Option<Rewrite> {
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

fn work_members(work: &Work) -> Members {
    let mine = work
        .mine
        .iter()
        .map(|(session, paths)| (session.clone(), Value::from(quoted(paths))))
        .collect();
    Fields(Vec::new())
        .put("commit", work.commit.to_hex())
        .put("mine", Value::Map(mine))
        .put("other", quoted(&work.other))
        .put_some("omitted", (work.omitted > 0).then_some(work.omitted))
        .0
}

fn read_work(value: &Value) -> Option<Work> {
    let Value::Map(members) = value.get("mine")? else {
        return None;
    };
    let mine = members.iter().map(|(session, paths)| {
        let paths = paths
            .as_strings()?
            .iter()
            .filter_map(|path| RepoPath::from_quoted(path))
            .collect();
        Some((session.clone(), paths))
    });
    Some(Work {
        commit: oid(value, "commit")?,
        mine: mine.collect::<Option<_>>()?,
        other: paths(value, "other"),
        omitted: value.get("omitted").and_then(Value::as_u64).unwrap_or(0),
    })
}
