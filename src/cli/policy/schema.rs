use crate::{
    policy::manual,
    ui::{Context, Exit, Failure},
};

/// Describe events, fields, actions and built-ins
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What to describe, such as `file.write`, `work` or `builtin/max-lines`; all names without it
    #[arg(value_name = "ITEM")]
    item: Option<String>,
    /// Print the JSON Schema of policy files
    #[arg(long, conflicts_with = "item")]
    json: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    if args.json {
        let schema = manual::json_schema();
        let text = serde_json::to_string_pretty(&schema).unwrap_or_default();
        context.ui.line(text)?;
        return Ok(Exit::Done);
    }
    match &args.item {
        None => {
            for (group, names) in manual::items() {
                context.ui.line(format!("{group}:"))?;
                for name in names {
                    context.ui.line(format!("  {name}"))?;
                }
            }
            Ok(Exit::Done)
        }
        Some(item) => match manual::describe(item) {
            Ok(text) => {
                context.ui.print(text)?;
                Ok(Exit::Done)
            }
            Err(reason) => Err(Failure::new(
                Exit::No,
                format!("cannot describe '{item}': {reason}"),
            )
            .hint("git operator policy schema")),
        },
    }
}
