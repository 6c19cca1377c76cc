use crate::{
    store::{Limits, Store},
    sync::{self, Pushed, Report, Request},
    ui::{Context, Exit, Failure, Talk, one_line},
    view::notes::{self, Projection},
};

/// Exchange the ledger with a remote
///
/// Fetches the remote's ledger into tracking refs, unites both, and pushes the union. Where somebody else
/// was faster that is done again, for 20 seconds and 20 times at least. Nothing is pushed with force, and
/// no refspec of the repository is changed. Without REMOTE: `operator.remote`, or the only remote there is.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the remote
    remote: Option<String>,
    /// Exchange long evidence too
    #[arg(long)]
    evidence: bool,
    /// Take more than 100,000 new records at once
    #[arg(long)]
    large: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Nobody waits for this sync: keep why it failed for doctor
    #[arg(long, hide = true)]
    beside: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    if context.env().var("GIT_QUARANTINE_PATH").is_some() {
        return Err(sync::Error::Quarantine.into());
    }
    let request = Request {
        remote: args.remote.as_deref(),
        evidence: args.evidence,
        limits: if args.large {
            Limits::LARGE
        } else {
            Limits::USUAL
        },
        prompts: context.ui.is_watched(),
        patience: Request::PATIENCE,
    };
    let store = context.store()?;
    let clock = context.clock()?;
    let outcome = context
        .ui
        .announced("exchanging records", || sync::sync(store, &clock, &request));
    if args.beside {
        sync::note_outcome(store, outcome.as_ref().err())?;
    }
    let report = outcome?;
    if report.received > 0 {
        note(store, context)?;
    }
    for lost in &report.lost {
        let now = lost.now.map_or_else(
            || "is gone there".to_owned(),
            |now| format!("is at {} there", now.short()),
        );
        context.ui.warn(format!(
            "'{}' went back: {} had {} before, and it {now}; nothing is lost here",
            report.remote,
            lost.name,
            lost.before.short()
        ));
    }
    for refused in &report.refused {
        context.ui.warn(format!(
            "not taken from '{}': {}",
            report.remote,
            one_line(refused)
        ));
    }
    print(args, context, &report)?;
    Ok(if report.refused.is_empty() {
        Exit::Done
    } else {
        Exit::Integrity
    })
}

/// Projects what came onto HEAD; `gc --notes` does it for every commit.
fn note(store: &Store, context: &Context) -> Result<(), Failure> {
    let repo = store.repo();
    if repo.is_store() || repo.config()?.bool("operator.notes")? == Some(false) {
        return Ok(());
    }
    let head = repo.head()?.commit();
    notes::project(store, &context.clock()?, Projection::Of(head.as_slice()))?;
    Ok(())
}

fn print(args: &Args, context: &Context, report: &Report) -> Result<(), Failure> {
    if args.json {
        let pushed = report.pushed != Pushed::Nothing;
        let lost: Vec<&str> = report.lost.iter().map(|lost| lost.name.as_str()).collect();
        return context.ui.json(
            "sync",
            serde_json::json!({
                "remote": report.remote, "received": report.received, "pushed": pushed,
                "lost": lost, "refused": report.refused,
            }),
        );
    }
    if context.ui.talk() == Talk::Quiet {
        return Ok(());
    }
    let sent = match &report.pushed {
        Pushed::New(refs) => {
            let places = format!("pushed {}", refs.join(" and "));
            match report.first {
                true => format!("{places} (new there; no host shows it)"),
                false => places,
            }
        }
        Pushed::Nothing if report.refused.is_empty() => "nothing to push".to_owned(),
        Pushed::Nothing => "nothing pushed over what was not taken".to_owned(),
    };
    context.ui.line(format!(
        "synced with {}: {} new here, {sent}",
        report.remote, report.received
    ))
}
