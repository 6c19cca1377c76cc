use std::{fs, path::PathBuf};

use crate::{
    ui::{Context, Exit, Failure},
    verify::{
        Ask, Event, Report,
        format::{Format, summary},
        verify,
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
/// nothing and needs no network.
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
    let report = verify(context.store()?, &ask)?;
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

fn format(word: &str) -> Result<Format, Failure> {
    Format::parse(word).ok_or_else(|| {
        let known: Vec<&str> = Format::ALL.iter().map(|format| format.as_str()).collect();
        Failure::usage(format!("'{word}' is no format: {}", known.join(", ")))
    })
}

fn output(text: &str, context: &Context) -> Result<(Format, PathBuf), Failure> {
    let (word, path) = text
        .split_once('=')
        .ok_or_else(|| Failure::usage(format!("'{text}' is not FORMAT=FILE")))?;
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
