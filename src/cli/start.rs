use std::path::Path;

use crate::{
    gate::{self, Gate, Place},
    git::{Project, Repo},
    setup::{self, Act, Charter, Ci, HookPlace, Mode, Start, Step},
    store::{Store, Wait},
    ui::{Context, Exit, Failure, Talk, one_line},
};

/// Set a project up for evidence
///
/// Writes the charter OPERATOR.md and a stanza of CLAUDE.md that loads it, `.operator/` with its
/// ignore list and attributes, the merge driver of the views, and the git hooks. Prints each change;
/// a second run makes only those that a newer version needs. `uninstall` takes it all down again.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Put the whole charter into CLAUDE.md instead of a line that imports it
    #[arg(long)]
    inline: bool,
    /// Where the git hooks go: git's configuration, hook files, or nowhere
    #[arg(long, value_name = "place", value_parser = ["auto", "config", "file", "none"], default_value = "auto")]
    hooks: String,
    /// Add a job that verifies: github or gitlab
    #[arg(long, value_name = "host", value_parser = ["github", "gitlab"])]
    ci: Option<String>,
    /// Print what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let request = Start {
        charter: if args.inline {
            Charter::Inline
        } else {
            Charter::Import
        },
        hooks: match args.hooks.as_str() {
            "config" => HookPlace::Config,
            "file" => HookPlace::File,
            "none" => HookPlace::None,
            _ => HookPlace::Auto,
        },
        ci: args.ci.as_deref().map(|host| match host {
            "gitlab" => Ci::Gitlab,
            _ => Ci::Github,
        }),
        mode: mode(args.dry_run),
    };
    let cwd = context.cwd()?;
    let steps = match context.location()? {
        None => setup::start(cwd, None, request)?,
        Some(_) => {
            let repo = context.repo()?;
            let top = repo.top().unwrap_or(cwd);
            say_where(context, top, cwd);
            setup::start(top, Some(repo), request)?
        }
    };
    print(context, &steps, request.mode)?;
    if !args.dry_run {
        take_in(context, cwd)?;
    }
    Ok(Exit::Done)
}

/// Takes in what was there before: a ledger kept outside git, the predecessor's open tasks, its rows.
fn take_in(context: &Context, cwd: &Path) -> Result<(), Failure> {
    let project = Project::find(cwd, context.env())?.ok_or_else(|| {
        Failure::new(
            Exit::Fatal,
            format!("cannot find the project in '{}' again", cwd.display()),
        )
    })?;
    let Some(top) = project.top.clone() else {
        return Ok(());
    };
    let store = Store::open(project.open(context.env())?);
    let (clock, place) = (context.clock()?, Place::of_project(&project));
    let gate = Gate {
        store: &store,
        clock: &clock,
        place: &place,
        session: None,
    };
    if !project.is_store() {
        move_in(context, &gate, &top)?;
    }
    for task in gate::import_pending(&gate)? {
        context
            .ui
            .line(format!("imported open task '{}'", one_line(task.as_str())))?;
    }
    let taken = context
        .ui
        .busy("importing", || gate::take_in(&gate, &top))?;
    for done in taken {
        for refused in &done.refused {
            context.ui.warn(one_line(refused));
        }
        if done.imported + done.captured > 0 {
            let path = format!(".operator/{}", done.view.file_name());
            context.ui.line(format!(
                "imported {path}: {} rows, {} blocks",
                done.imported, done.captured
            ))?;
        }
    }
    Ok(())
}

fn move_in(context: &Context, gate: &Gate<'_>, top: &Path) -> Result<(), Failure> {
    let path = top.join(".operator/store.git");
    let tracked = gate
        .store
        .repo()
        .git(["ls-files", "--", ".operator/store.git"])
        .read_only()
        .output()?;
    if !path.is_dir() || !tracked.is_empty() {
        return Ok(());
    }
    let outside = Store::open(Repo::open_bare_store(&path)?);
    let taken = gate
        .store
        .begin(Wait::Command, *gate.clock)?
        .take_over(&outside)?;
    if taken.records > 0 || !taken.tasks.is_empty() {
        let open = taken.tasks.len();
        context.ui.line(format!(
            "moved in .operator/store.git: {} records, {open} open tasks",
            taken.records
        ))?;
    }
    Ok(())
}

pub(super) fn mode(dry_run: bool) -> Mode {
    if dry_run { Mode::DryRun } else { Mode::Apply }
}

fn word(act: Act, mode: Mode) -> &'static str {
    match (mode, act) {
        (Mode::DryRun, Act::Created) => "would create",
        (Mode::DryRun, Act::Updated) => "would update",
        (Mode::DryRun, Act::Removed) => "would remove",
        _ => act.as_str(),
    }
}

/// Says that the project's top is not where the command was given.
fn say_where(context: &Context, top: &Path, cwd: &Path) {
    let same = cwd.canonicalize().ok() == top.canonicalize().ok();
    if !same {
        context
            .ui
            .note(format!("the project's top is '{}'", top.display()));
    }
}

/// Prints a line for each step, unless `--quiet`: changes to stdout, warnings to stderr.
///
/// A dry run says what would be done, as git's do.
pub(super) fn print(context: &Context, steps: &[Step], mode: Mode) -> Result<(), Failure> {
    for step in steps {
        let note = step
            .note
            .as_ref()
            .map(|note| format!(": {note}"))
            .unwrap_or_default();
        let line = one_line(&format!("{}{note}", step.what));
        match step.act {
            Act::Warned => context.ui.warn(line),
            _ if context.ui.talk() == Talk::Quiet => {}
            act => context.ui.line(format!("{} {line}", word(act, mode)))?,
        }
    }
    Ok(())
}
