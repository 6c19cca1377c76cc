use crate::{
    model::{Body, Prefix, Record},
    ui::{Context, Exit, Failure},
    verify::{export, sign},
};

/// Print records for other tools
///
/// One JSON object a line: `dsse` is an envelope around the record's own bytes with the signatures it
/// has, `in-toto` a statement of test results about its source tree. A commit is named as a subject
/// only where nothing differed from it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Abbreviated record ids; every verdict when absent
    id: Vec<String>,

    /// What to print
    #[arg(long, value_name = "FORMAT", value_parser = ["dsse", "in-toto"], default_value = "dsse")]
    format: String,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let ledger = context.store()?.load()?;
    let signatures = sign::signatures(&ledger);
    let mut records: Vec<&Record> = Vec::new();
    for text in &args.id {
        let prefix = Prefix::parse(text)
            .ok_or_else(|| Failure::usage(format!("cannot export '{text}': it is no record id")))?;
        match ledger.find(&prefix)[..] {
            [record] => records.push(record),
            [] => return Err(none(text, "there is no such record")),
            _ => return Err(none(text, "several records begin with it")),
        }
    }
    if args.id.is_empty() {
        let verdicts = ledger
            .iter()
            .filter(|record| matches!(record.body, Body::Verdict(_)));
        records.extend(verdicts);
    }
    let mut printed = 0;
    for record in records {
        let value = match args.format.as_str() {
            "in-toto" => export::in_toto(record),
            _ => {
                let own = signatures.get(&record.id).map_or(&[][..], Vec::as_slice);
                Some(export::dsse(record, own))
            }
        };
        if let Some(value) = value {
            context.ui.raw_json(&value.to_string())?;
            printed += 1;
        }
    }
    Ok(match printed {
        0 => Exit::No,
        _ => Exit::Done,
    })
}

fn none(text: &str, why: &str) -> Failure {
    Failure::new(Exit::No, format!("cannot export '{text}': {why}")).hint("git operator log")
}
