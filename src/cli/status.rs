use serde_json::json;

use super::desk::{Desk, OwnerArg};
use crate::{
    gate::{self, Open, Survey, Who},
    ledger::{Ledger, State},
    model::time,
    setup::{self, Finding},
    ui::{Align, Color, Context, Exit, Failure, Format, Paint, Table, one_line},
};

/// Show what is open: tasks, decisions nobody was shown, and what does not add up
///
/// Tasks of this session and of nobody are the ones that hold its Stop back. The session is --owner,
/// else the one that runs the command.
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
    let ledger = desk.store.load()?;
    let drift = drift(&desk, context)?;
    if context.ui.format() == Format::Json {
        print_json(&survey, &ledger, context)?;
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
            let title = format!("Open tasks of session {owner}:");
            self.open(&title, Color::Red, &parts.mine)?;
        }
        let title = "Open tasks of nobody, which hold every session back:";
        self.open(title, Color::Red, &parts.unowned)?;
        self.list(
            "Entries that cannot be read and hold every session back:",
            &parts.unreadable,
        )?;
        self.open("Open tasks of other sessions:", Color::Dim, &parts.foreign)
    }

    fn open(&self, title: &str, color: Color, tasks: &[Open]) -> Result<(), Failure> {
        if tasks.is_empty() {
            return Ok(());
        }
        self.context.ui.line(title)?;
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
        for mut cells in table.rows_in_columns(self.columns.map(|columns| columns - 2)) {
            let task = self.paint.paint(color, &cells.remove(0));
            let rest = cells.join("  ");
            self.context
                .ui
                .line(format!("  {task}  {rest}").trim_end())?;
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
        self.list("Decisions nobody was shown (git operator handoff):", &lines)
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

    fn list(&self, title: &str, lines: &[String]) -> Result<(), Failure> {
        if lines.is_empty() {
            return Ok(());
        }
        self.context.ui.line(title)?;
        for line in lines {
            let line = one_line(line);
            let line = self.columns.map_or(line.clone(), |columns| {
                crate::ui::cut(&line, columns.saturating_sub(2).max(20))
            });
            self.context.ui.line(format_args!("  {line}"))?;
        }
        Ok(())
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
