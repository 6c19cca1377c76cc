use std::{fs, path::PathBuf};

use super::desk::{Desk, configured_signer};
use crate::{
    ui::{Context, Exit, Failure, one_line},
    verify::{
        Again, Ask, Event, Report, Which,
        format::{Format, summary},
        rerun, verify,
    },
};

/// Judge records against a commit
///
/// Each record is judged on separate axes: whether it is what it says (integrity), who stands behind it,
/// whether it answers what the requirements ask, and whether the source it was made on is the source of
/// the commit. What is required is read from `.operator/requirements.yaml` of the base, never of the
/// commit judged; without one, each criterion that occurs is required once.
///
/// Exits 0 when everything required is met, 1 when something is not, 3 when a record is forged or the
/// ledger has a hole, 4 when this clone cannot decide, 5 when there was nothing to check. Writes
/// nothing without --rerun, and needs no network.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A revision, or BASE..REVISION [default: the head of the pull request in a job, else HEAD]
    revision: Option<String>,

    /// Read the requirements and the allowed signers from this revision
    #[arg(long, value_name = "REV")]
    policy_from: Option<String>,

    /// The ref whose requirements apply
    #[arg(long = "ref", value_name = "REF")]
    name: Option<String>,

    /// Only this criterion; may be repeated
    #[arg(long, value_name = "NAME")]
    criterion: Vec<String>,

    /// Run what is required again on the commit, in isolation, and record what that comes to
    ///
    /// WHICH is all, untrusted (what no trusted signature stands behind) or sample:PERCENT. The command is
    /// that of the requirements; without any, the one recorded. Its output is kept and not printed.
    /// Never give secrets to a job that does this.
    #[arg(
        long,
        value_name = "WHICH",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all"
    )]
    rerun: Option<String>,

    /// What to print: human, json, github, sarif or junit; several with commas
    #[arg(
        long,
        value_name = "FORMAT",
        value_delimiter = ',',
        default_value = "human"
    )]
    format: Vec<String>,

    /// Write the report to a file as well, as FORMAT=FILE; may be repeated
    #[arg(long, value_name = "FORMAT=FILE")]
    output: Vec<String>,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let formats: Vec<Format> = args
        .format
        .iter()
        .map(|word| format(word))
        .collect::<Result<_, _>>()?;
    let outputs: Vec<(Format, PathBuf)> = args
        .output
        .iter()
        .map(|text| output(text, context))
        .collect::<Result<_, _>>()?;
    let ask = Ask {
        spec: args.revision.clone(),
        policy_from: args.policy_from.clone(),
        name: args.name.clone(),
        only: args.criterion.clone(),
        event: event(context),
        now: context.clock()?.wall_ms(),
    };
    let report = match &args.rerun {
        Some(which) => again(which, &ask, context)?,
        None => {
            let store = context.store()?;
            context.ui.busy("verifying", || verify(store, &ask))?
        }
    };
    for format in formats {
        context.ui.print(format.render(&report))?;
    }
    for (format, path) in outputs {
        fs::write(&path, format.render(&report))
            .map_err(|error| Failure::io(format!("cannot write '{}'", path.display()), &error))?;
    }
    write_summary(&report, args, context)?;
    hint(&report, context);
    Ok(match report.exit() {
        0 => Exit::Done,
        1 => Exit::No,
        3 => Exit::Integrity,
        4 => Exit::Undecided,
        _ => Exit::Unchecked,
    })
}

fn again(which: &str, ask: &Ask, context: &Context) -> Result<Report, Failure> {
    let env = context.env();
    let run = ["GITHUB_RUN_ID", "CI_PIPELINE_ID"]
        .into_iter()
        .find_map(|name| env.text(name));
    let seed = run.map_or_else(|| ask.now.to_string(), str::to_owned);
    let which = Which::parse(which, &seed).ok_or_else(|| {
        let known = "all, untrusted, sample:1 to sample:100";
        Failure::usage(format!("cannot run '{which}' again: expected {known}"))
    })?;
    let desk = Desk::open(context, None)?;
    let again = Again {
        which,
        signer: configured_signer(context)?,
        tell: &|line| context.ui.note(one_line(line)),
    };
    let report = rerun(&desk.gate(), ask, &again)?;
    desk.show();
    Ok(report)
}

fn format(word: &str) -> Result<Format, Failure> {
    Format::parse(word).ok_or_else(|| {
        let known: Vec<&str> = Format::ALL.iter().map(|format| format.as_str()).collect();
        Failure::usage(format!(
            "cannot print the report as '{word}': expected {}",
            known.join(", ")
        ))
    })
}

fn output(text: &str, context: &Context) -> Result<(Format, PathBuf), Failure> {
    let (word, path) = text.split_once('=').ok_or_else(|| {
        Failure::usage(format!(
            "cannot write the report to '{text}': expected FORMAT=FILE"
        ))
    })?;
    Ok((format(word)?, context.cwd()?.join(path)))
}

/// Reads what a job says of itself; a file that is not there says nothing.
fn event(context: &Context) -> Event {
    let path = context.env().path("GITHUB_EVENT_PATH");
    let text = path.and_then(|path| fs::read_to_string(path).ok());
    text.map_or_else(Event::default, |text| Event::of_github(&text))
}

/// Adds the whole report to the summary page of a GitHub job.
fn write_summary(report: &Report, args: &Args, context: &Context) -> Result<(), Failure> {
    let Some(path) = context.env().path("GITHUB_STEP_SUMMARY") else {
        return Ok(());
    };
    if !args.format.iter().any(|word| word == "github") {
        return Ok(());
    }
    let mut text = fs::read_to_string(path).unwrap_or_default();
    text.push_str(&summary(report));
    fs::write(path, text)
        .map_err(|error| Failure::io(format!("cannot write '{}'", path.display()), &error))
}

/// Names the one command that would help most.
fn hint(report: &Report, context: &Context) {
    let finding = report
        .findings
        .iter()
        .find_map(|finding| finding.remedy.as_ref());
    let unmet = report.requirements.iter().find(|one| !one.state.is_met());
    let requirement = unmet.and_then(|one| one.remedy.as_ref());
    if let Some(command) = finding.or(requirement) {
        context.ui.note(format!("hint: {command}"));
    }
}
