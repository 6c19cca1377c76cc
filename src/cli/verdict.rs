use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::Read,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

use super::{
    defer,
    desk::{Desk, OwnerArg, SignArg},
    reconcile,
};
use crate::{
    gate::{self, EVIDENCE_LIMIT, NewVerdict, Secrets},
    git::{Budget, StampRequest, Stamped, Trust},
    model::{Class, Criterion, Evidence, Outcome, Record, TaskId, Verdict},
    ui::{Context, Exit, Failure, read_stdin},
    verify::append_signature,
};

/// Record a verdict and close its task
///
/// With four words the third is the evidence. With three (`<task> <criterion> <outcome>`) the evidence
/// comes from --evidence-file or from stdin: any bytes, kept as they are, up to 16 MiB. An outcome of any
/// kind closes the task. A verdict for a task that was never opened is recorded together with a
/// GATE-EXCEPTION, one for a closed task amends it.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "git-operator verdict [OPTIONS] <TASK> <CRITERION> [EVIDENCE] <PASS|FAIL|MOOT>"
)]
pub struct Args {
    /// Name of the task
    #[arg(allow_hyphen_values = true)]
    task: Option<OsString>,

    /// What the verdict is on, one line of the acceptance bar
    #[arg(allow_hyphen_values = true)]
    criterion: Option<OsString>,

    /// What the verdict rests on; with three words this is the outcome
    #[arg(allow_hyphen_values = true)]
    evidence: Option<OsString>,

    /// PASS, FAIL or MOOT
    #[arg(allow_hyphen_values = true)]
    outcome: Option<OsString>,

    /// Take the evidence from FILE; - is stdin
    #[arg(long, value_name = "FILE")]
    evidence_file: Option<PathBuf>,

    /// Record evidence that looks as if it holds a secret
    #[arg(long)]
    allow_secret: bool,

    #[command(flatten)]
    sign: SignArg,

    #[command(flatten)]
    owner: OwnerArg,

    /// Print the record as JSON
    #[arg(long)]
    json: bool,

    /// Close the task without a verdict, as `defer` does
    #[arg(long, value_name = "REASON", hide = true, allow_hyphen_values = true)]
    defer: Option<String>,

    /// Say that the decisions were presented, as `handoff --mark` does
    #[arg(long, hide = true, conflicts_with = "defer")]
    mark_handoff: bool,

    /// Bring the views and the ledger together, as `reconcile` does
    #[arg(long, hide = true, conflicts_with_all = ["defer", "mark_handoff"])]
    reconcile: bool,

    /// What is handed over
    #[arg(
        long,
        value_name = "NAME",
        hide = true,
        requires = "mark_handoff",
        default_value = "handoff"
    )]
    engagement: String,
}

impl Args {
    fn words(&self) -> Vec<&OsStr> {
        [&self.task, &self.criterion, &self.evidence, &self.outcome]
            .into_iter()
            .filter_map(Option::as_deref)
            .collect()
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    if let Some(reason) = &args.defer {
        let [task] = args.words()[..] else {
            return Err(Failure::usage("cannot defer: --defer takes one task"));
        };
        let desk = Desk::open(context, args.owner.owner.as_deref())?;
        return defer::defer(text("task id", task)?, reason, &desk);
    }
    if args.reconcile {
        if !args.words().is_empty() {
            return Err(Failure::usage(
                "cannot reconcile: --reconcile takes no task",
            ));
        }
        return reconcile::run(&reconcile::Args::default(), context);
    }
    if args.mark_handoff {
        if !args.words().is_empty() {
            return Err(Failure::usage(
                "cannot mark a handoff: --mark-handoff takes no task",
            ));
        }
        return mark(args, context);
    }
    let given = Given::read(args)?;
    let desk = Desk::open(context, args.owner.owner.as_deref())?;
    let signer = args.sign.signer(context)?;
    let bytes = given.evidence.bytes(context)?;
    let mut stamped = desk.store.repo().stamp(StampRequest {
        budget: Budget::Verdict,
        trust: Trust::Stat,
        roots: &desk.store.state().roots,
    });
    if let (Some(shortfall), false) = (&stamped.shortfall, desk.store.repo().is_store()) {
        context.ui.warn(format_args!(
            "the verdict names no source tree: {shortfall}"
        ));
    }
    let blobs = std::mem::take(&mut stamped.blobs);
    let new = NewVerdict {
        task: given.task,
        criterion: given.criterion,
        owner: desk.owner.clone(),
        verdict: verdict(given.outcome, stamped),
        bytes,
        blobs,
        secrets: match args.allow_secret {
            true => Secrets::Allow,
            false => Secrets::Refuse,
        },
    };
    let recorded = gate::record(&desk.gate(), new)?;
    desk.caution(&recorded);
    if let Some(signer) = signer
        && let Err(error) = append_signature(&desk.gate(), &signer, &recorded.record)
    {
        context.ui.warn(error);
    }
    desk.report(&recorded.record, &line(&recorded.record))?;
    Ok(Exit::Done)
}

fn line(record: &Record) -> String {
    let crate::model::Body::Verdict(verdict) = &record.body else {
        return String::new();
    };
    let task = record.task.as_deref().unwrap_or_default();
    let criterion = record.criterion.as_deref().unwrap_or_default();
    format!(
        "{} '{task}': {criterion} {}",
        verdict.outcome,
        verdict.stamp.short()
    )
}

fn verdict(outcome: Outcome, stamped: Stamped) -> Verdict {
    Verdict {
        head: stamped.head,
        subject: stamped.subject,
        delta: stamped.delta,
        change: stamped.change,
        taints: stamped.taints,
        repo: stamped.repo,
        ..Verdict::new(
            outcome,
            Class::Asserted,
            Evidence::Text(String::new()),
            stamped.stamp,
        )
    }
}

fn mark(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let desk = Desk::open(context, args.owner.owner.as_deref())?;
    let mark = gate::mark_handoff(&desk.gate(), desk.owner.as_ref(), &args.engagement)?;
    let count = mark.presented.len();
    desk.report(
        &mark.record,
        &format!("marked {count} decisions as presented"),
    )?;
    Ok(Exit::Done)
}

/// What the words of the command line say.
struct Given {
    task: TaskId,
    criterion: Criterion,
    outcome: Outcome,
    evidence: Source,
}

enum Source {
    Word(OsString),
    File(PathBuf),
    Stdin,
}

impl Given {
    fn read(args: &Args) -> Result<Self, Failure> {
        let (task, criterion, evidence, outcome) = match args.words()[..] {
            [task, criterion, outcome] => {
                let source = match args.evidence_file.as_deref() {
                    None => Source::Stdin,
                    Some(path) if path == Path::new("-") => Source::Stdin,
                    Some(path) => Source::File(path.to_owned()),
                };
                (task, criterion, source, outcome)
            }
            [_, _, _, _] if args.evidence_file.is_some() => {
                return Err(Failure::usage(
                    "cannot record a verdict: the evidence is given twice, as a word and as a file",
                ));
            }
            [task, criterion, word, outcome] => {
                (task, criterion, Source::Word(word.to_owned()), outcome)
            }
            _ => {
                return Err(Failure::usage(
                    "cannot record a verdict: a task, a criterion and an outcome are needed",
                )
                .hint("git operator verdict <task> <criterion> <evidence> <PASS|FAIL|MOOT>"));
            }
        };
        let outcome = text("outcome", outcome)?;
        Ok(Self {
            task: TaskId::new(text("task id", task)?)?,
            criterion: Criterion::new(text("criterion", criterion)?)?,
            outcome: Outcome::parse(outcome).ok_or_else(|| {
                Failure::usage(format!(
                    "cannot record the outcome '{outcome}': expected PASS, FAIL or MOOT"
                ))
            })?,
            evidence,
        })
    }
}

impl Source {
    fn bytes(self, context: &Context) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Word(word) => Ok(word.into_vec()),
            Self::File(path) => read_file(&context.cwd()?.join(path)),
            Self::Stdin => read_stdin("the evidence", limit()),
        }
    }
}

fn limit() -> usize {
    usize::try_from(EVIDENCE_LIMIT).unwrap_or(usize::MAX)
}

/// Reads evidence; one byte too many is enough for the gate to refuse it.
fn read_file(path: &Path) -> Result<Vec<u8>, Failure> {
    let wrong = |error| {
        Failure::io(
            format_args!("cannot read evidence '{}'", path.display()),
            &error,
        )
    };
    let mut bytes = Vec::new();
    File::open(path)
        .map_err(wrong)?
        .take(EVIDENCE_LIMIT + 1)
        .read_to_end(&mut bytes)
        .map_err(wrong)?;
    Ok(bytes)
}

fn text<'a>(what: &str, word: &'a OsStr) -> Result<&'a str, Failure> {
    word.to_str().ok_or_else(|| {
        Failure::new(
            Exit::No,
            format!("cannot record a verdict: the {what} is not UTF-8"),
        )
    })
}
