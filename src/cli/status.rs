use std::collections::BTreeMap;

use serde_json::json;

use super::desk::{Desk, OwnerArg};
use crate::{
    gate::{self, Open, Survey, Who},
    ledger::{Ledger, State},
    model::{Outcome, Record, RecordId, time},
    setup::{self, Finding},
    store::Store,
    ui::{Align, Color, Context, Exit, Failure, Format, Paint, Table, one_line},
    verify::Ties,
};

/// Show what is open and what does not add up
///
/// Tasks of this session and of nobody are the ones that hold its Stop back. The session is --owner,
/// else the one that runs the command. What is contested or stale is looked for among the newest 500
/// records and those of open tasks; `git operator verify` looks at all of them.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    owner: OwnerArg,

    /// Print one JSON object for each thing shown
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let desk = Desk::open(context, args.owner.owner.as_deref())?;
    let who = desk.owner.clone().map_or(Who::Nobody, Who::Session);
    let survey = gate::survey(&desk.place, &who)?;
    let ledger = recent(desk.store, &survey)?;
    let stale = stale(&ledger, desk.store)?;
    let drift = drift(&desk, context)?;
    if context.ui.format() == Format::Json {
        print_json(&survey, &ledger, context)?;
        for one in &stale {
            let members = json!({"criterion": one.criterion, "id": one.id.to_string(), "task": one.task, "binding": one.word});
            context.ui.json("stale", members)?;
        }
        for finding in &drift {
            let members = json!({"what": finding.what, "fix": finding.fix});
            context.ui.json("drift", members)?;
        }
        return Ok(Exit::Done);
    }
    context.page()?;
    let view = View {
        context,
        paint: context.paint()?,
        columns: context.columns(),
    };
    view.tasks(&survey, &desk)?;
    view.decisions(&survey)?;
    view.doubts(&ledger)?;
    view.stale(&stale)?;
    let drift: Vec<String> = drift.into_iter().map(|finding| finding.what).collect();
    view.list("Drift (git operator doctor names what mends it):", &drift)?;
    Ok(Exit::Done)
}

/// What of the set-up is not as `start` left it.
fn drift(desk: &Desk<'_>, context: &Context) -> Result<Vec<Finding>, Failure> {
    let project = context.project()?;
    match project.is_started() && !project.is_store() && project.top.is_some() {
        true => Ok(setup::drift(desk.store.repo())?),
        false => Ok(Vec::new()),
    }
}

/// How many of the newest commits of the ledger are read.
const RECENT: usize = 500;
/// How many open tasks are looked up, wherever their records lie.
const TASKS: usize = 50;
/// How many stale criteria are named.
const STALE: usize = 5;

/// Returns what was recorded last and what was recorded on open tasks; nothing else is read.
fn recent(store: &Store, survey: &Survey) -> Result<Ledger, Failure> {
    let mut ledger = store.unread()?;
    for append in store.newest()?.take(RECENT) {
        append?
            .entries
            .into_iter()
            .for_each(|entry| ledger.insert(entry));
    }
    let parts = &survey.parts;
    let open = parts
        .mine
        .iter()
        .chain(&parts.unowned)
        .chain(&parts.foreign);
    for open in open.take(TASKS) {
        ledger.union(store.of_task(&open.task)?);
    }
    Ok(ledger)
}

/// A criterion that passed, and not on the source that HEAD has.
struct Stale {
    criterion: String,
    task: String,
    id: RecordId,
    commit: Option<String>,
    word: &'static str,
}

/// Returns the criteria of which no PASS that stands is tied to HEAD, each by its newest.
fn stale(ledger: &Ledger, store: &Store) -> Result<Vec<Stale>, Failure> {
    let Some(head) = store.repo().head()?.commit() else {
        return Ok(Vec::new());
    };
    let Ok(ties) = Ties::new(store, head) else {
        return Ok(Vec::new());
    };
    let mut passed: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
    for task in ledger.tasks() {
        for standing in ledger.standings(task) {
            if standing.state == State::Agreed(Outcome::Pass) {
                passed
                    .entry(standing.criterion)
                    .or_default()
                    .extend(standing.heads);
            }
        }
    }
    let mut found = Vec::new();
    for (criterion, mut heads) in passed {
        heads.sort_by_key(|record| std::cmp::Reverse(record.order()));
        let mut words = heads
            .iter()
            .filter_map(|record| ties.of(record).ok().flatten());
        let Some(newest) = words.next() else { continue };
        if newest.binding.grade().is_some() || words.any(|tie| tie.binding.grade().is_some()) {
            continue;
        }
        found.push(Stale {
            criterion: criterion.to_owned(),
            task: heads[0].task.clone().unwrap_or_default(),
            id: heads[0].id,
            commit: heads[0]
                .commits()
                .first()
                .map(|commit| commit.chars().take(12).collect()),
            word: newest.word(),
        });
    }
    Ok(found)
}

/// The criteria whose heads differ, as pairs of a task and a criterion.
fn contested(ledger: &Ledger) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for task in ledger.tasks() {
        for standing in ledger.standings(task) {
            if standing.state == State::Contested {
                found.push((task.to_owned(), standing.criterion.to_owned()));
            }
        }
    }
    found
}

const RUN: &str = "use \"git operator run <task> <criterion> -- <command>\" to earn a PASS, \
                   \"git operator defer <task> <reason>\" to close one without";
const ADOPT: &str = "use \"git operator adopt --owner <session> <task>\" to take one over";

struct View<'a> {
    context: &'a Context,
    paint: Paint,
    columns: Option<usize>,
}

impl View<'_> {
    fn tasks(&self, survey: &Survey, desk: &Desk<'_>) -> Result<(), Failure> {
        let parts = &survey.parts;
        if parts.blocking() == 0 && parts.foreign.is_empty() {
            return self.context.ui.line("no task is open");
        }
        if let Some(owner) = &desk.owner {
            let title = format!("Open tasks of session {owner}, which hold its Stop back:");
            self.open((&title, RUN), Color::Red, &parts.mine)?;
        }
        let title = "Open tasks of nobody, which hold every session back:";
        self.open((title, ADOPT), Color::Red, &parts.unowned)?;
        self.list(
            "Entries that cannot be read and hold every session back:",
            &parts.unreadable,
        )?;
        let title = "Open tasks of other sessions, which hold only those back:";
        self.open((title, ADOPT), Color::Dim, &parts.foreign)
    }

    fn open(
        &self,
        (title, advice): (&str, &str),
        color: Color,
        tasks: &[Open],
    ) -> Result<(), Failure> {
        if tasks.is_empty() {
            return Ok(());
        }
        self.said(title, advice)?;
        let mut table = Table::new(&[Align::Left]);
        for open in tasks {
            let owner = open.owner.as_ref().map_or("-", |owner| owner.as_str());
            let since = match open.time {
                0 => "-".to_owned(),
                time => time::format_time(time)[..16].replace('T', " "),
            };
            let place = match open.worktree.as_str() {
                "." => String::new(),
                name => format!("in worktree {name}"),
            };
            table.row([
                one_line(&open.task),
                one_line(owner),
                since,
                one_line(&place),
            ]);
        }
        let within = self.columns.map(|columns| columns.saturating_sub(2));
        for cells in table.rows_in_columns(within) {
            let row = cells.join("  ");
            let row = within.map_or_else(
                || row.clone(),
                |within| crate::ui::cut(row.trim_end(), within),
            );
            // Only the first column has a color.
            let rest = row.strip_prefix(cells[0].as_str()).unwrap_or_default();
            let task = &row[..row.len() - rest.len()];
            let task = self.paint.paint(color, task);
            self.context.ui.line(format!("  {task}{rest}").trim_end())?;
        }
        Ok(())
    }

    fn decisions(&self, survey: &Survey) -> Result<(), Failure> {
        let lines: Vec<String> = survey
            .decisions
            .iter()
            .map(|decision| {
                let id = decision.id.short();
                format!(
                    "{id} {} {}: {}",
                    decision.kind, decision.scope, decision.what
                )
            })
            .collect();
        let title = "Decisions nobody was shown, which hold a Stop back:";
        self.listed(
            title,
            "use \"git operator handoff --mark\" once people have read them",
            &lines,
        )
    }

    fn doubts(&self, ledger: &Ledger) -> Result<(), Failure> {
        let contested: Vec<String> = contested(ledger)
            .into_iter()
            .map(|(task, criterion)| format!("{task}: {criterion}"))
            .collect();
        self.list("Contested criteria, which count as not passed:", &contested)?;
        let newer: Vec<String> = ledger
            .newer()
            .map(|newer| {
                let task = newer.task.as_deref().unwrap_or("-");
                format!("{} on {task}, version {}", newer.id.short(), newer.version)
            })
            .collect();
        self.list(
            "Newer records, which this program cannot read: upgrade git-operator",
            &newer,
        )?;
        let aside: Vec<String> = ledger
            .quarantined()
            .map(|line| format!("{}: {}", line.place, line.reason))
            .collect();
        self.list("Lines of the ledger that are set aside:", &aside)
    }

    fn stale(&self, stale: &[Stale]) -> Result<(), Failure> {
        let mut lines: Vec<String> = stale
            .iter()
            .take(STALE)
            .map(|one| {
                let made = one
                    .commit
                    .as_ref()
                    .map_or_else(String::new, |commit| format!(" made at {commit}"));
                format!(
                    "{}: {} of {}{made}: {}",
                    one.criterion,
                    one.id.short(),
                    one.task,
                    one.word
                )
            })
            .collect();
        if stale.len() > STALE {
            lines.push(format!("and {} more", stale.len() - STALE));
        }
        let title = "Criteria that passed on another source than HEAD's:";
        self.listed(
            title,
            "use \"git operator verify\" to see what changed",
            &lines,
        )
    }

    fn listed(&self, title: &str, advice: &str, lines: &[String]) -> Result<(), Failure> {
        if lines.is_empty() {
            return Ok(());
        }
        self.said(title, advice)?;
        lines.iter().try_for_each(|line| self.item(line))
    }

    /// Writes a title and, as git does, what can be done about it.
    fn said(&self, title: &str, advice: &str) -> Result<(), Failure> {
        self.wrapped(title, "")?;
        self.wrapped(&format!("({advice})"), "  ")
    }

    fn wrapped(&self, text: &str, indent: &str) -> Result<(), Failure> {
        let within = self
            .columns
            .map(|columns| columns.saturating_sub(indent.len()));
        for line in crate::ui::wrap(text, within) {
            self.context.ui.line(format_args!("{indent}{line}"))?;
        }
        Ok(())
    }

    fn item(&self, line: &str) -> Result<(), Failure> {
        let line = one_line(line);
        let line = self.columns.map_or(line.clone(), |columns| {
            crate::ui::cut(&line, columns.saturating_sub(2).max(1))
        });
        self.context.ui.line(format_args!("  {line}"))
    }

    fn list(&self, title: &str, lines: &[String]) -> Result<(), Failure> {
        if lines.is_empty() {
            return Ok(());
        }
        self.wrapped(title, "")?;
        lines.iter().try_for_each(|line| self.item(line))
    }
}

fn print_json(survey: &Survey, ledger: &Ledger, context: &Context) -> Result<(), Failure> {
    let ui = &context.ui;
    let parts = &survey.parts;
    for (whose, tasks) in [
        ("mine", &parts.mine),
        ("unowned", &parts.unowned),
        ("foreign", &parts.foreign),
    ] {
        for open in tasks {
            let members = json!({
                "task": open.task,
                "whose": whose,
                "owner": open.owner.as_ref().map(|owner| owner.as_str()),
                "worktree": open.worktree,
                "time": open.time,
            });
            ui.json("task", members)?;
        }
    }
    for text in &parts.unreadable {
        ui.json("unreadable", json!({"what": text}))?;
    }
    for decision in &survey.decisions {
        let members = json!({
            "id": decision.id.to_string(),
            "decision": decision.kind.as_str(),
            "scope": decision.scope,
            "what": decision.what,
            "owner": decision.owner,
        });
        ui.json("decision", members)?;
    }
    for (task, criterion) in contested(ledger) {
        ui.json("contested", json!({"task": task, "criterion": criterion}))?;
    }
    for newer in ledger.newer() {
        let members = json!({
            "id": newer.id.to_string(),
            "version": newer.version,
            "task": newer.task,
        });
        ui.json("newer", members)?;
    }
    for line in ledger.quarantined() {
        ui.json(
            "set_aside",
            json!({"place": line.place, "reason": line.reason}),
        )?;
    }
    Ok(())
}
