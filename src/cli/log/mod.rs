mod filter;
mod format;
mod graph;

use std::{
    cell::Cell,
    collections::{HashMap, HashSet},
};

use serde_json::Value;

use super::record;
use crate::{
    ledger::Entry,
    model::{Body, Record, RecordId},
    store::Store,
    ui::{Context, Exit, Failure, Format, Paint, printable, printable_json},
    verify::{Tie, Ties},
};

use filter::Filter;
pub(super) use filter::{commits, subject, subject_of};
use format::Template;
use graph::Graph;

/// Show the ledger, newest first
///
/// Without arguments every record is shown. REV shows the records made on a commit that REV reaches,
/// A..B those made on a commit that B reaches and A does not. Of one filter given several times any may
/// match; different filters must all match.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A revision or a range, as git log takes it
    #[arg(value_name = "REV|RANGE")]
    range: Option<String>,

    #[command(flatten)]
    filter: filter::Wanted,

    /// Show at most N records; all of them where N is negative
    #[arg(
        short = 'n',
        long,
        value_name = "N",
        overrides_with = "max_count",
        allow_negative_numbers = true
    )]
    max_count: Option<i64>,

    /// Say how each record is tied to HEAD, or to what --commit names
    #[arg(long)]
    bindings: bool,

    /// Show the records of each task together, the task spoken of last first
    #[arg(long, conflicts_with_all = ["evidence", "json", "format", "zero"])]
    graph: bool,

    /// Print the evidence and nothing else, byte for byte; that of each record begins a line
    #[arg(long, conflicts_with = "format")]
    evidence: bool,

    /// Print one JSON object for each record
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// End each record with NUL instead of a newline
    #[arg(short = 'z')]
    zero: bool,

    /// Print each record as TEMPLATE says
    ///
    /// %H id, %h its abbreviation, %k kind, %w word (outcome, kind of decision), %t task, %c criterion,
    /// %o owner, %S session, %s subject, %e evidence (long evidence: an excerpt), %a stamp, %C commit,
    /// %d date, %b what ties it to HEAD or to what --commit names, %n newline, %x00 the byte 00, %% a percent sign.
    #[arg(long, value_name = "TEMPLATE")]
    format: Option<Template>,
}

impl Args {
    /// Returns how many records to show.
    fn most(&self) -> usize {
        let most = self.max_count.and_then(|count| count.try_into().ok());
        most.unwrap_or(usize::MAX)
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let filter = Filter::new(&args.filter, args.range.as_deref(), context)?;
    let store = context.store()?;
    context.page()?;
    let view = View {
        args,
        context,
        store,
        paint: context.paint()?,
        columns: context.columns(),
        ties: ties(args, &filter, context)?,
        unended: Cell::new(false),
    };
    let mut walk = Walk::default();
    let mut graph = Graph::default();
    let mut left = args.most();
    for append in store.newest()? {
        for entry in append?.entries.iter().rev() {
            let Some(record) = walk.take(entry) else {
                continue;
            };
            if !filter.matches(record) {
                filter.finish()?;
                continue;
            }
            if left == 0 {
                return view.end_of(&graph);
            }
            left -= 1;
            if args.graph {
                graph.take(record, view.marks(record, walk.retracted_by(record)));
            } else {
                view.show(record, walk.retracted_by(record))?;
            }
        }
    }
    walk.warn(context);
    view.end_of(&graph)
}

fn ties<'a>(
    args: &Args,
    filter: &Filter<'_>,
    context: &'a Context,
) -> Result<Vec<Ties<'a>>, Failure> {
    let asked = args.bindings || args.format.as_ref().is_some_and(Template::asks_binding);
    let mut commits = filter.named().to_vec();
    if commits.is_empty() && asked && context.location()?.is_some() {
        commits.extend(context.repo()?.head()?.commit());
    }
    let store = context.store()?;
    // A commit whose tree is not here ties nothing.
    let ties = commits.into_iter().map(|commit| Ties::new(store, commit));
    Ok(ties.filter_map(Result::ok).collect())
}

/// What was met on the way from the newest record to the oldest.
#[derive(Default)]
struct Walk {
    seen: HashSet<RecordId>,
    retracts: HashMap<RecordId, Vec<Record>>,
    newer: usize,
    set_aside: usize,
}

impl Walk {
    /// Returns the record of an entry, the first time it is met.
    fn take<'a>(&mut self, entry: &'a Entry) -> Option<&'a Record> {
        match entry {
            Entry::Record(record) => {
                if !self.seen.insert(record.id) {
                    return None;
                }
                if let Body::Retract(retract) = &record.body {
                    let of = self.retracts.entry(retract.of).or_default();
                    of.push((**record).clone());
                }
                Some(record)
            }
            Entry::Newer(_) => {
                self.newer += 1;
                None
            }
            Entry::Quarantined(_) => {
                self.set_aside += 1;
                None
            }
        }
    }

    /// Returns the record that takes `record` back, which stands after it and was met before it.
    fn retracted_by(&self, record: &Record) -> Option<RecordId> {
        let candidates = self.retracts.get(&record.id)?;
        let by = candidates.iter().find(|retract| {
            retract.replica.is_some()
                && retract.replica == record.replica
                && retract.owner == record.owner
        });
        by.map(|retract| retract.id)
    }

    fn warn(&self, context: &Context) {
        if self.set_aside > 0 {
            let count = self.set_aside;
            context.ui.warn(format_args!(
                "{count} lines of the ledger are set aside; 'git operator status' says why"
            ));
        }
        if self.newer > 0 {
            let count = self.newer;
            context.ui.warn(format_args!(
                "{count} records are of a later version and not shown: upgrade git-operator"
            ));
        }
    }
}

/// How the records are shown.
struct View<'a> {
    args: &'a Args,
    context: &'a Context,
    store: &'a Store,
    paint: Paint,
    columns: Option<usize>,
    /// What records are tied to; empty where nobody asks.
    ties: Vec<Ties<'a>>,
    /// Whether the last evidence did not end its line.
    unended: Cell<bool>,
}

impl View<'_> {
    fn show(&self, record: &Record, retracted_by: Option<RecordId>) -> Result<(), Failure> {
        let ui = &self.context.ui;
        let tie = self.tie(record);
        if ui.format() == Format::Json {
            let mut more = self.more(record, retracted_by)?;
            more.extend(tie.map(|tie| ("binding", record::binding(&tie))));
            return self.end(printable_json(&record::json(record, &more)).as_bytes());
        }
        if self.args.evidence {
            return self.show_evidence(record);
        }
        let line = match &self.args.format {
            Some(template) => template.fill(record, tie.as_ref().map_or("", Tie::word)),
            None => {
                let marks = self.marks(record, retracted_by);
                format::line(record, &marks, self.paint, self.columns).into()
            }
        };
        self.end(&line)
    }

    /// Returns what stands before the subject of a record.
    fn marks(&self, record: &Record, retracted_by: Option<RecordId>) -> String {
        let tie = self.tie(record);
        let mut marks = tie.map_or_else(String::new, |tie| {
            let from = tie
                .from
                .map(|old| format!(", carried from {}", old.short()));
            format!("({}{}) ", tie.word(), from.unwrap_or_default())
        });
        if retracted_by.is_some() {
            marks.push_str("(retracted) ");
        }
        marks
    }

    fn end_of(&self, graph: &Graph) -> Result<Exit, Failure> {
        graph.show((self.paint, self.columns), |line| {
            self.context.ui.line(line)
        })?;
        Ok(Exit::Done)
    }

    /// Returns what ties a record to one of the commits asked about, the best of them.
    fn tie(&self, record: &Record) -> Option<Tie> {
        let ties = self.ties.iter();
        let found = ties.filter_map(|ties| ties.of(record).ok().flatten());
        found.min_by_key(|tie| tie.binding.grade().map_or(u8::MAX, |grade| grade as u8))
    }

    fn end(&self, bytes: &[u8]) -> Result<(), Failure> {
        self.context.ui.bytes(bytes)?;
        let end: &[u8] = if self.args.zero { b"\0" } else { b"\n" };
        self.context.ui.bytes(end)
    }

    fn more(
        &self,
        record: &Record,
        retracted_by: Option<RecordId>,
    ) -> Result<Vec<(&'static str, Value)>, Failure> {
        let mut more = Vec::new();
        if let Some(id) = retracted_by {
            more.push(("retracted_by", Value::from(id.to_string())));
        }
        if self.args.evidence
            && let Some(bytes) = record::whole(self.store, record)?
        {
            more.push(("evidence_whole", record::json_bytes(&bytes)));
        }
        Ok(more)
    }

    fn show_evidence(&self, record: &Record) -> Result<(), Failure> {
        let Some(bytes) = record::whole(self.store, record)? else {
            return Ok(());
        };
        let ui = &self.context.ui;
        if self
            .unended
            .replace(!self.args.zero && !bytes.ends_with(b"\n"))
        {
            ui.bytes(b"\n")?;
        }
        if ui.is_watched() {
            ui.print(printable(&String::from_utf8_lossy(&bytes)))?;
        } else {
            ui.bytes(&bytes)?;
        }
        match self.args.zero {
            true => ui.bytes(b"\0"),
            false => Ok(()),
        }
    }
}
