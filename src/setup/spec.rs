//! Specs: made from a template, checked, approved. The record of an approval names the text that was
//! approved, so that a later edit shows.

use std::path::PathBuf;

use thiserror::Error;

use crate::{
    gate::{self, Gate, NewDecision},
    git::files::{FileError, Lies, Tree},
    ledger::Ledger,
    model::{
        Body, DecisionKind, Explain, Fault, NameError, Record, Stamp, Text,
        spec::{self, Slug, Spec, Status},
    },
    store,
};

const LIMIT: u64 = 1 << 20;

/// Why a spec was not made, read or approved.
#[derive(Debug, Error)]
pub enum Error {
    #[error("cannot write the spec '{0}': the project was not started")]
    NotStarted(Slug),
    #[error("cannot read the spec '{}': there is no '{}'", .0, .0.path())]
    Missing(Slug),
    #[error("cannot read the spec '{0}': it is not UTF-8 text")]
    NotText(Slug),
    #[error("cannot approve the spec '{slug}': {}", list(.problems))]
    Unfinished { slug: Slug, problems: Vec<String> },
    #[error(transparent)]
    Name(#[from] NameError),
    #[error("cannot reach the specs: {0}")]
    File(#[from] FileError),
    #[error(transparent)]
    Gate(#[from] gate::Error),
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Explain for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::NotStarted(_) | Self::Missing(_) | Self::NotText(_) | Self::Unfinished { .. } => {
                Fault::Refused
            }
            Self::Name(error) => error.fault(),
            Self::File(_) => Fault::Fatal,
            Self::Gate(error) => error.fault(),
            Self::Store(error) => error.fault(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::NotStarted(_) => Some("git operator start".to_owned()),
            Self::Missing(slug) => Some(format!("git operator spec new {slug}")),
            Self::Unfinished { slug, .. } => Some(format!("git operator spec check {slug}")),
            Self::NotText(_) | Self::Name(_) | Self::File(_) => None,
            Self::Gate(error) => error.hint(),
            Self::Store(error) => error.hint(),
        }
    }
}

fn list(problems: &[String]) -> String {
    match problems {
        [one] => one.clone(),
        many => format!("it is not finished\n  {}", many.join("\n  ")),
    }
}

/// What became of a new spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Made {
    Created(PathBuf),
    /// It was there before and is unchanged.
    Kept(PathBuf),
}

/// Writes the template of a spec, unless there is one.
pub fn new(tree: &Tree, slug: &Slug) -> Result<Made, Error> {
    if tree.lies(".operator")? != Lies::Directory {
        return Err(Error::NotStarted(slug.clone()));
    }
    let path = slug.path();
    if tree.lies(&path)? != Lies::Nothing {
        return Ok(Made::Kept(path.into()));
    }
    tree.write(&path, spec::template(slug).as_bytes(), 0o644)?;
    Ok(Made::Created(path.into()))
}

/// How a spec stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// What is missing, in the order of its sections.
    Unfinished(Vec<String>),
    /// Whole, and not approved.
    Draft,
    /// Its text is the one that was approved, on the source of this stamp.
    Approved(String),
    /// Its status line says that it is approved, and no record says so of this text.
    Changed,
}

/// Judges a spec against the ledger.
pub fn check(tree: &Tree, slug: &Slug, ledger: &Ledger) -> Result<Standing, Error> {
    let text = text(tree, slug)?;
    let spec = Spec::parse(&text);
    let problems = spec.problems();
    if !problems.is_empty() {
        return Ok(Standing::Unfinished(problems));
    }
    Ok(match spec.status {
        Status::Draft | Status::Unknown => Standing::Draft,
        Status::Approved(stamp) => match approval(ledger, slug, &spec::digest(&text)) {
            Some(_) => Standing::Approved(stamp),
            None => Standing::Changed,
        },
    })
}

/// What an approval did.
#[derive(Clone, Debug)]
pub struct Approval {
    /// The SPEC-APPROVED record.
    pub record: Record,
    /// The stamp in the status line.
    pub stamp: String,
    /// Whether the record was there before: a first try did not get to the end.
    pub repeated: bool,
}

/// Approves a spec: the record, then the acceptance bar, then the status line. Whatever a try that was
/// cut short left out, the next one adds.
pub fn approve(
    gate: &Gate<'_>,
    tree: &Tree,
    slug: &Slug,
    stamp: impl FnOnce() -> Stamp,
) -> Result<Approval, Error> {
    let text = text(tree, slug)?;
    let spec = Spec::parse(&text);
    let problems = spec.problems();
    if !problems.is_empty() {
        return Err(Error::Unfinished {
            slug: slug.clone(),
            problems,
        });
    }
    let ledger = gate.store.load()?;
    let digest = spec::digest(&text);
    let known = approval(&ledger, slug, &digest);
    let repeated = known.is_some();
    let (record, stamp) = match known {
        Some((record, stamp)) => (record.clone(), stamp),
        None => {
            let stamp = stamp().short().trim_start_matches('@').to_owned();
            (record(gate, slug, &stamp, &digest)?, stamp)
        }
    };
    let title = format!("spec {slug} ({digest})");
    if !has_bar(&ledger, &title) {
        gate::bar(gate, &Text::new("title", &title)?, &spec.bar())?;
    }
    let approved = spec::approved(&text, &stamp);
    if approved != text {
        tree.write(&slug.path(), approved.as_bytes(), 0o644)?;
    }
    Ok(Approval {
        record,
        stamp,
        repeated,
    })
}

fn record(gate: &Gate<'_>, slug: &Slug, stamp: &str, digest: &str) -> Result<Record, Error> {
    let what = format!("spec {slug} approved @{stamp} text {digest}");
    Ok(gate::decide(
        gate,
        NewDecision {
            kind: DecisionKind::SpecApproved,
            scope: slug.as_str().to_owned(),
            what: Text::new("decision", &what)?,
            why: Text::new("reason", &format!("its criteria are the bar 'spec {slug}'"))?,
            owner: gate.session.cloned(),
        },
    )?)
}

fn text(tree: &Tree, slug: &Slug) -> Result<String, Error> {
    let bytes = tree
        .read(&slug.path(), LIMIT)?
        .ok_or_else(|| Error::Missing(slug.clone()))?;
    String::from_utf8(bytes).map_err(|_| Error::NotText(slug.clone()))
}

/// The record that approved this text, and its stamp.
fn approval<'a>(ledger: &'a Ledger, slug: &Slug, digest: &str) -> Option<(&'a Record, String)> {
    ledger.iter().rev().find_map(|record| {
        let Body::Decision(decision) = &record.body else {
            return None;
        };
        let approves = decision.decision == DecisionKind::SpecApproved
            && decision.scope == slug.as_str()
            && ledger.retracted_by(record).is_none();
        let start = format!("spec {slug} approved @");
        let (stamp, text) = decision.what.strip_prefix(&start)?.split_once(" text ")?;
        (approves && text == digest).then(|| (record, stamp.to_owned()))
    })
}

fn has_bar(ledger: &Ledger, title: &str) -> bool {
    let start = format!("## BAR — {title}\n");
    ledger.iter().any(|record| match &record.body {
        Body::Bar(bar) => bar.text.starts_with(&start),
        _ => false,
    })
}
