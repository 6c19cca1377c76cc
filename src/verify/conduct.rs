//! A run from end to end: snapshot, attempt, command, snapshot, verdict.

use super::{
    Error, Screen,
    run::{Conclusion, Plan, Report, prepare},
    sign::Signer,
};
use crate::{
    gate::{self, Gate, Kept, Purpose, Recorded, Secrets},
    git::{Repo, Stamped},
    model::{
        Attempt, AttemptResult, Body, Draft, Evidence, Outcome, Record, RecordId, Run, Verdict,
        secret,
    },
    store::{LEDGER, Wait},
};

/// How many changed paths an attempt names.
const PATHS: usize = 200;

/// What is to be run, for what, and how it is recorded.
pub struct NewRun<'a> {
    pub purpose: Purpose,
    pub plan: Plan<'a>,
    pub secrets: Secrets,
    /// The digest of the criterion's definition, where it has one.
    pub definition: Option<String>,
    pub signer: Option<Signer>,
    /// The record a rerun repeats.
    pub of: Option<RecordId>,
}

/// A run that is over and recorded.
#[derive(Debug)]
pub struct Conducted {
    pub record: Record,
    pub report: Report,
    /// What it did to its task; `None` for an attempt that gave no verdict.
    pub recorded: Option<Recorded>,
    /// Why it is not signed, though it should be.
    pub unsigned: Option<String>,
}

/// Runs a command and records what it proves.
pub fn conduct(
    gate: &Gate<'_>,
    repo: &Repo,
    new: NewRun<'_>,
    screen: Screen<'_>,
) -> Result<Conducted, Error> {
    let NewRun {
        purpose,
        plan,
        secrets,
        definition,
        signer,
        of,
    } = new;
    // What the requirements name, or a record has already, is known to whoever reads this one.
    if definition.is_none() && purpose.repeats.is_none() {
        check_line(&plan, secrets)?;
    }
    let prepared = prepare(repo, plan)?;
    adopt_tracked(gate)?;
    let begun = attempt(prepared.stamped(), prepared.planned());
    let begun = gate::begin_attempt(gate, &purpose, begun)?;
    let (stamped, report) = prepared.execute(screen)?;
    let output = report.captured.blob.as_deref();
    let output = output
        .or(report.captured.evidence.inline())
        .unwrap_or_default();
    let open = Open {
        gate,
        purpose: &purpose,
        begun: begun.id,
    };
    let checked = gate::check_output(&purpose, output, secrets)
        .and_then(|()| check_environment(&purpose, (repo, output), secrets));
    if let Err(error) = checked {
        open.end(&stamped, &report, Ending::Silent)?;
        return Err(error.into());
    }
    let (record, recorded) = match report.conclusion {
        Conclusion::Attempt(_) => (open.end(&stamped, &report, Ending::Told)?, None),
        Conclusion::Verdict(outcome) => {
            let mut verdict = verdict(&stamped, &report, outcome);
            verdict.definition = definition;
            verdict.of = of;
            let blobs = report.captured.blob.iter().chain(&stamped.blobs).cloned();
            let kept = Kept {
                blobs: blobs.collect(),
            };
            let recorded = gate::record_run(gate, &purpose, verdict, kept)?;
            (recorded.record.clone(), Some(recorded))
        }
    };
    let unsigned = match (signer, &recorded) {
        (Some(signer), Some(_)) => append_signature(gate, &signer, &record).err(),
        _ => None,
    };
    Ok(Conducted {
        record,
        report,
        recorded,
        unsigned: unsigned.map(|error| error.to_string()),
    })
}

/// Refuses a command line that looks like it holds a secret: the record keeps the line, and travels.
fn check_line(plan: &Plan<'_>, secrets: Secrets) -> Result<(), Error> {
    let words: Vec<_> = plan.argv.iter().map(|arg| arg.to_string_lossy()).collect();
    let line = words.join(" ");
    match secret::secrets(line.as_bytes()).first() {
        Some(found) if secrets == Secrets::Refuse => Err(Error::Secret(found.kind.to_string())),
        Some(_) | None => Ok(()),
    }
}

/// Refuses output that holds a secret of the environment, which no form gives away.
fn check_environment(
    purpose: &Purpose,
    (repo, output): (&Repo, &[u8]),
    secrets: Secrets,
) -> Result<(), gate::Error> {
    if secrets == Secrets::Allow {
        return Ok(());
    }
    for (name, value) in repo.env().clone().pairs() {
        let value = value.as_encoded_bytes();
        if secret::is_exported(name.as_encoded_bytes(), value) && holds(output, value) {
            return Err(gate::Error::Secret {
                task: purpose.task.clone(),
                what: format!("the value of {}", name.to_string_lossy()),
            });
        }
    }
    Ok(())
}

/// Says whether `part` stands somewhere in `whole`, which may be long.
fn holds(whole: &[u8], part: &[u8]) -> bool {
    let escaped: String = part.iter().map(|byte| format!("\\x{byte:02x}")).collect();
    match regex::bytes::Regex::new(&format!("(?-u:{escaped})")) {
        Ok(pattern) => pattern.is_match(whole),
        // It is too long for a pattern.
        Err(_) => whole.windows(part.len()).any(|piece| piece == part),
    }
}

/// In a job that fetched the ledger, the first record goes on from there: a history of its own would
/// hide it from every reader.
fn adopt_tracked(gate: &Gate<'_>) -> Result<(), Error> {
    let live = gate.store.repo().read_ref(LEDGER);
    if !matches!(live, Ok(None)) {
        return Ok(());
    }
    let mut tx = gate.store.begin_apart(Wait::Command, *gate.clock)?;
    let refused = tx.adopt_tracked()?;
    match refused.into_iter().next() {
        Some(reason) => Err(Error::Fetched(reason)),
        None => Ok(()),
    }
}

/// Signs a record and appends the signature.
pub fn append_signature(
    gate: &Gate<'_>,
    signer: &Signer,
    record: &Record,
) -> Result<Record, Error> {
    let signature = signer.sign(record)?;
    let mut draft = Draft::new(Body::Signature(signature));
    draft.session = gate.session.cloned();
    let mut tx = gate.store.begin(Wait::Command, *gate.clock)?;
    let mut committed = tx.commit(&[draft], Vec::new())?;
    Ok(committed.records.swap_remove(0))
}

/// What an attempt keeps of its output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Told,
    /// It may hold a secret.
    Silent,
}

struct Open<'a> {
    gate: &'a Gate<'a>,
    purpose: &'a Purpose,
    begun: RecordId,
}

impl Open<'_> {
    fn end(&self, stamped: &Stamped, report: &Report, ending: Ending) -> Result<Record, Error> {
        let result = match report.conclusion {
            Conclusion::Attempt(result) => result,
            Conclusion::Verdict(_) => AttemptResult::Error,
        };
        let told = ending == Ending::Told;
        let blob = report.captured.blob.clone().filter(|_| told);
        let ended = Attempt {
            of: Some(self.begun),
            result: Some(result),
            paths: report.paths.iter().take(PATHS).cloned().collect(),
            evidence: told.then(|| report.captured.evidence.clone()),
            ..attempt(stamped, report.run.clone())
        };
        let kept = Kept {
            blobs: blob.into_iter().collect(),
        };
        Ok(gate::end_attempt(self.gate, self.purpose, ended, kept)?)
    }
}

fn attempt(stamped: &Stamped, run: Run) -> Attempt {
    Attempt {
        of: None,
        result: None,
        run: Some(run),
        stamp: Some(stamped.stamp.clone()),
        head: stamped.head,
        subject: stamped.subject,
        paths: Vec::new(),
        evidence: None,
    }
}

fn verdict(stamped: &Stamped, report: &Report, outcome: Outcome) -> Verdict {
    Verdict {
        outcome,
        class: report.class,
        evidence: report.captured.evidence.clone(),
        run: Some(report.run.clone()),
        ..of_stamp(stamped)
    }
}

/// Returns a verdict that says nothing but what its source is.
pub fn of_stamp(stamped: &Stamped) -> Verdict {
    Verdict {
        head: stamped.head,
        subject: stamped.subject,
        delta: stamped.delta.clone(),
        change: stamped.change.clone(),
        taints: stamped.taints.clone(),
        repo: stamped.repo.clone(),
        ..Verdict::new(
            Outcome::Moot,
            crate::model::Class::Asserted,
            Evidence::Text(String::new()),
            stamped.stamp.clone(),
        )
    }
}

/// Returns the words of a command's end, for its last line.
pub fn concluded(conducted: &Conducted) -> &'static str {
    match conducted.report.conclusion {
        Conclusion::Verdict(outcome) => outcome.as_str(),
        Conclusion::Attempt(result) => result.as_str(),
    }
}
