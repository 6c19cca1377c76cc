use serde_json::json;

use super::{log, record};
use crate::{
    ledger::{Ledger, State},
    model::{Body, Oid, Opened, Prefix, Record, RecordId, Run, Verdict, time},
    store::{Store, tasks},
    ui::{Color, Context, Exit, Failure, Format, Paint, one_line, printable, printable_json},
    verify::{Tie, Ties, came_from},
};

/// Show records whole
///
/// NAME is a task, an abbreviated record id (at least 4 characters of what log prints), or a revision.
/// A task shows every record on it and what its criteria come to; a revision the records made on it, on
/// what became it, or on the same source. What ties a verdict to HEAD, or to the revision named, is said in a sentence;
/// whether it counts there is what verify decides.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[arg(required = true)]
    name: Vec<String>,

    /// Print one JSON object for each record
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let store = context.store()?;
    let ledger = store.load()?;
    let found: Result<Vec<Found<'_>>, Failure> = args
        .name
        .iter()
        .map(|name| find(name, &ledger, context))
        .collect();
    let found = found?;
    context.page()?;
    let mut view = View {
        context,
        store,
        ledger: &ledger,
        paint: context.paint()?,
        ties: None,
    };
    for (index, found) in found.iter().enumerate() {
        view.ties = ties(found, context)?;
        if index > 0 && context.ui.format() == Format::Text {
            context.ui.line("")?;
        }
        view.show(found)?;
    }
    Ok(Exit::Done)
}

enum Found<'a> {
    Task(String, Vec<&'a Record>),
    Record(&'a Record),
    OfCommit(Oid, Vec<&'a Record>),
}

/// Returns what records are tied to; a history that cannot be read ties nothing.
fn ties<'a>(found: &Found<'_>, context: &'a Context) -> Result<Option<Ties<'a>>, Failure> {
    if context.location()?.is_none() {
        return Ok(None);
    }
    let commit = match found {
        Found::OfCommit(commit, _) => Some(*commit),
        Found::Task(..) | Found::Record(_) => context.repo()?.head()?.commit(),
    };
    let store = context.store()?;
    Ok(commit.and_then(|commit| Ties::new(store, commit).ok()))
}

fn find<'a>(name: &str, ledger: &'a Ledger, context: &Context) -> Result<Found<'a>, Failure> {
    let of_task: Vec<&Record> = ledger.of_task(name).rev().collect();
    if !of_task.is_empty() {
        return Ok(Found::Task(name.to_owned(), of_task));
    }
    let by_id = Prefix::parse(name).map(|prefix| ledger.find(&prefix));
    match by_id.as_deref() {
        None | Some([]) => {}
        Some([record]) => return Ok(Found::Record(record)),
        Some(several) => return Err(ambiguous(name, several)),
    }
    let nothing = || {
        let message =
            format!("cannot show '{name}': it is no task, record or commit of this ledger");
        Failure::new(Exit::No, message)
    };
    let commit = match context.location()? {
        Some(_) => context.repo()?.rev_parse(name).map_err(|_| nothing())?,
        None => return Err(nothing()),
    };
    let subject = log::subject_of(context.repo()?, commit);
    let mut made: Vec<String> = vec![commit.to_string()];
    let olds = came_from(context.store()?, commit)?;
    made.extend(olds.iter().map(Oid::to_string));
    let made_on = |record: &&Record| {
        let commits = log::commits(record);
        let same = subject.is_some() && log::subject(record) == subject;
        same || commits
            .iter()
            .any(|found| made.iter().any(|hex| hex.starts_with(found)))
    };
    let records: Vec<&Record> = ledger.iter().rev().filter(made_on).collect();
    if records.is_empty() {
        let message = format!("cannot show '{name}': no record was made on that commit");
        return Err(Failure::new(Exit::No, message));
    }
    Ok(Found::OfCommit(commit, records))
}

fn ambiguous(name: &str, records: &[&Record]) -> Failure {
    let lines: Vec<String> = records
        .iter()
        .take(10)
        .map(|record| {
            let word = record::word(record);
            format!(
                "\n  {} {word} {}",
                record.id.hash(),
                record::subject(record)
            )
        })
        .collect();
    let message = format!(
        "cannot show '{name}': it is short for several records:{}",
        lines.concat()
    );
    Failure::new(Exit::No, message)
}

struct View<'a> {
    context: &'a Context,
    store: &'a Store,
    ledger: &'a Ledger,
    paint: Paint,
    ties: Option<Ties<'a>>,
}

impl View<'_> {
    fn show(&self, found: &Found<'_>) -> Result<(), Failure> {
        let records = match found {
            Found::Task(task, records) => {
                self.task(task)?;
                records.as_slice()
            }
            Found::Record(record) => std::slice::from_ref(record),
            Found::OfCommit(_, records) => records,
        };
        let text = self.context.ui.format() == Format::Text;
        for (index, record) in records.iter().enumerate() {
            if text && (index > 0 || matches!(found, Found::Task(..))) {
                self.context.ui.line("")?;
            }
            match text {
                true => self.record(record)?,
                false => self.object(record)?,
            }
        }
        Ok(())
    }

    /// Says whether the task is open here, and what its criteria come to.
    fn task(&self, task: &str) -> Result<(), Failure> {
        let tasks = tasks::list(self.store.dir())?;
        let open = tasks.open.iter().find(|open| open.task.as_str() == task);
        let standings = self.ledger.standings(task);
        if self.context.ui.format() == Format::Json {
            let criteria: Vec<_> = standings
                .iter()
                .map(|standing| {
                    let heads = standing.heads.iter().map(|head| head.id.to_string());
                    json!({
                        "criterion": standing.criterion,
                        "state": state(standing.state),
                        "heads": heads.collect::<Vec<_>>(),
                    })
                })
                .collect();
            let owner = open.and_then(|open| open.owner.as_ref().map(|owner| owner.as_str()));
            let members = json!({
                "task": task,
                "open": open.is_some(),
                "owner": owner,
                "criteria": criteria,
            });
            return self.context.ui.json("task", members);
        }
        let status = match open {
            None => "not open here".to_owned(),
            Some(open) => match &open.owner {
                None => "open, unowned".to_owned(),
                Some(owner) => format!("open, owned by {owner}"),
            },
        };
        let name = self
            .paint
            .paint(Color::Yellow, &format!("task {}", one_line(task)));
        self.context.ui.line(format_args!("{name} ({status})"))?;
        for standing in &standings {
            let (word, color) = match standing.state {
                State::Agreed(outcome) => (outcome.as_str(), outcome_color(standing.state)),
                State::Contested => ("contested", Color::Red),
            };
            let word = self.paint.paint(color, &format!("{word:<9}"));
            let criterion = one_line(standing.criterion);
            self.context.ui.line(format_args!("  {word} {criterion}"))?;
        }
        Ok(())
    }

    /// A history that cannot be read ties nothing, and is no reason to show nothing.
    fn tie(&self, record: &Record) -> Option<Tie> {
        self.ties.as_ref()?.closely(record).ok().flatten()
    }

    fn object(&self, record: &Record) -> Result<(), Failure> {
        let mut more = Vec::new();
        if let Some(by) = self.ledger.retracted_by(record) {
            more.push(("retracted_by", by.id.to_string().into()));
        }
        if let Some(bytes) = record::whole(self.store, record)? {
            more.push(("evidence_whole", record::json_bytes(&bytes)));
        }
        if let Some(tie) = self.tie(record) {
            more.push(("binding", record::binding(&tie)));
        }
        let line = printable_json(&record::json(record, &more)).into_owned();
        self.context.ui.line(line)
    }

    fn record(&self, record: &Record) -> Result<(), Failure> {
        let ui = &self.context.ui;
        let id = self
            .paint
            .paint(Color::Yellow, &format!("record {}", record.id));
        let word = self
            .paint
            .paint(record::color(record), record::word(record));
        ui.line(format_args!("{id} {word}"))?;
        if let Some(by) = self.ledger.retracted_by(record) {
            ui.line(format_args!("Retracted: by {}", by.id.short()))?;
        }
        let mut fields = fields(record);
        fields.extend(
            self.tie(record)
                .map(|tie| ("Binding:", format!("{}: {}", tie.word(), tie.sentence()))),
        );
        for (name, value) in fields {
            ui.line(format_args!("{name:<10} {}", one_line(&value)))?;
        }
        let body = match record::whole(self.store, record) {
            Ok(bytes) => bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
            Err(failure) => Some(format!("({})", failure.message.unwrap_or_default())),
        };
        if let Some(text) = body.or_else(|| text(record)) {
            ui.line("")?;
            for line in printable(&text).lines() {
                ui.line(format_args!("    {line}").to_string().trim_end())?;
            }
        }
        Ok(())
    }
}

fn state(state: State) -> &'static str {
    match state {
        State::Agreed(outcome) => outcome.as_str(),
        State::Contested => "contested",
    }
}

fn outcome_color(state: State) -> Color {
    use crate::model::Outcome;
    match state {
        State::Agreed(Outcome::Pass) => Color::Green,
        State::Agreed(Outcome::Moot) => Color::Dim,
        State::Agreed(Outcome::Fail) | State::Contested => Color::Red,
    }
}

/// What a record says beside its text, as pairs of a name and a value.
fn fields(record: &Record) -> Vec<(&'static str, String)> {
    let mut fields = Vec::new();
    let mut add = |name, value: Option<String>| {
        fields.extend(value.map(|value| (name, value)));
    };
    add("Task:", record.task.clone());
    add("Criterion:", record.criterion.clone());
    add(
        "Date:",
        (record.time > 0).then(|| time::format_time(record.time)),
    );
    add("Owner:", record.owner.clone());
    let by_other = record
        .session
        .clone()
        .filter(|_| record.session != record.owner);
    add("Session:", by_other);
    add(
        "Opened:",
        match record.opened {
            Opened::By(id) => Some(id.short().to_owned()),
            Opened::Never => Some("never".to_owned()),
            Opened::NotAsked => None,
        },
    );
    let after: Vec<&str> = record.after.iter().map(RecordId::short).collect();
    add("After:", (!after.is_empty()).then(|| after.join(" ")));
    add(
        "Replica:",
        record.replica.map(|replica| replica.to_string()),
    );
    match &record.body {
        Body::Verdict(verdict) => fields.extend(of_verdict(verdict)),
        Body::Attempt(attempt) => {
            fields.extend(attempt.of.map(|id| ("Of:", id.to_string())));
            fields.extend(
                attempt
                    .stamp
                    .as_ref()
                    .map(|stamp| ("Stamp:", stamp.to_string())),
            );
            let run = attempt.run.as_ref().map(of_run).unwrap_or_default();
            // A beginning has no end to tell of; the record that does names it.
            let told = if attempt.result.is_some() { 2 } else { 1 };
            fields.extend(run.into_iter().take(told));
        }
        Body::Decision(decision) => {
            fields.push(("Scope:", decision.scope.clone()));
            let covers: Vec<&str> = decision.covers.iter().map(RecordId::short).collect();
            fields.extend((!covers.is_empty()).then(|| ("Covers:", covers.join(" "))));
        }
        _ => fields.push(("Says:", record::subject(record))),
    }
    fields
}

fn of_verdict(verdict: &Verdict) -> Vec<(&'static str, String)> {
    let mut fields = vec![
        ("Class:", verdict.class.to_string()),
        ("Stamp:", verdict.stamp.to_string()),
    ];
    fields.extend(verdict.subject.map(|tree| ("Subject:", tree.to_string())));
    let of = verdict.of.map(|id| id.short().to_owned());
    fields.extend(of.map(|id| ("Repeats:", id)));
    let taints = verdict.taints.join(", ");
    fields.extend((!taints.is_empty()).then_some(("Taints:", taints)));
    fields.extend(verdict.run.as_ref().map(of_run).unwrap_or_default());
    fields
}

fn of_run(run: &Run) -> Vec<(&'static str, String)> {
    let end = match (run.exit, run.signal) {
        (_, Some(signal)) => format!("signal {signal}"),
        (Some(code), None) => format!("exit {code}"),
        (None, None) => "no exit status".to_owned(),
    };
    let late = if run.timed_out { ", timed out" } else { "" };
    let took = run.duration as f64 / 1000.0;
    vec![
        ("Command:", run.argv.join(" ")),
        ("Ended:", format!("{end}{late} after {took:.1} s")),
    ]
}

/// The text of a record that carries no evidence.
fn text(record: &Record) -> Option<String> {
    match &record.body {
        Body::Defer(defer) => Some(defer.reason.clone()),
        Body::Decision(decision) => Some(format!("{}\n\n{}", decision.what, decision.why)),
        Body::Bar(bar) => Some(bar.text.clone()),
        Body::Session(note) => Some(format!("{}\nopen: {}", note.reason, note.open.join(", "))),
        Body::Retract(retract) => Some(retract.why.clone()),
        Body::Redact(redact) => Some(redact.why.clone()),
        _ => None,
    }
}
