use std::path::PathBuf;

use crate::{
    setup::{
        proxy,
        tiers::{Model, Places, Tier, Tiers, load},
    },
    ui::{Align, Context, Exit, Failure, Table},
};

/// Show which model each tier of seats resolves to
///
/// A tier is bound by the built-in aliases, then `~/.claude/cc-operator/tiers.env`, then
/// `.operator/tiers.env`, then `--set`; the last one wins. The files hold `TIER=model` and `seat=TIER`
/// lines and are data: nothing is expanded, and a file with one bad line is refused whole. Workflows
/// take the object of `--json` as `args.tiers`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Bind a tier for this run, as JUDGMENT=model; may be repeated
    #[arg(long, value_name = "TIER=MODEL")]
    set: Vec<String>,
    /// Print the table (the default)
    #[arg(long, conflicts_with_all = ["json", "check"])]
    show: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Ask cc-proxy whether it routes what the client does not reach by itself
    ///
    /// The proxy is looked for on port CC_PROXY_PORT of this machine, else 4000. What it does not list
    /// is a warning: a list may lag behind what can be routed.
    #[arg(long, conflicts_with = "json")]
    check: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let tiers = load(&places(context)?, &args.set)?;
    if args.json {
        context.ui.raw_json(&tiers.json().to_string())?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&[Align::Left, Align::Left, Align::Left]);
    for tier in Tier::ALL {
        let (model, source) = tiers.model(tier);
        table.row([tier.name(), model.as_str(), &source.to_string()]);
    }
    for line in table.lines(None) {
        context.ui.line(line)?;
    }
    if args.check {
        check(&tiers, context)?;
    }
    Ok(Exit::Done)
}

/// Returns where the layers lie for this process.
pub(super) fn places(context: &Context) -> Result<Places, Failure> {
    let env = context.env();
    let file = |dir: &std::path::Path| dir.join("cc-operator/tiers.env");
    let config = env.path("CLAUDE_CONFIG_DIR").map(file);
    let home = env.home().map(|home| file(&home.join(".claude")));
    Ok(Places {
        user: env
            .path("CC_OPERATOR_TIERS_USER")
            .map(PathBuf::from)
            .or(config)
            .or(home),
        top: Some(top(context)?),
        project: env.path("CC_OPERATOR_TIERS_PROJECT").map(PathBuf::from),
    })
}

/// Returns the top of the project: of the working tree, else the directory itself.
pub(super) fn top(context: &Context) -> Result<PathBuf, Failure> {
    let top = match context.location()? {
        None => None,
        Some(_) => context.repo()?.top(),
    };
    Ok(top.map_or(context.cwd()?, |top| top).to_owned())
}

fn check(tiers: &Tiers, context: &Context) -> Result<(), Failure> {
    let foreign: Vec<(Tier, &Model)> = Tier::ALL
        .into_iter()
        .map(|tier| (tier, tiers.model(tier).0))
        .filter(|(_, model)| !model.is_native())
        .collect();
    if foreign.is_empty() {
        context.ui.note("every tier is a model of the client's own");
        return Ok(());
    }
    let port = port(context)?;
    let listed = match proxy::models(port) {
        Ok(listed) => listed,
        Err(error) => {
            for (tier, model) in foreign {
                let model = model.as_str();
                context
                    .ui
                    .warn(format!("{tier}: '{model}' needs cc-proxy: {error}"));
            }
            return Ok(());
        }
    };
    for (tier, model) in foreign {
        let model = model.as_str();
        if listed.iter().any(|id| id == model) {
            context
                .ui
                .note(format!("{tier}: cc-proxy on port {port} lists '{model}'"));
        } else {
            context.ui.warn(format!(
                "{tier}: cc-proxy on port {port} does not list '{model}'"
            ));
        }
    }
    Ok(())
}

fn port(context: &Context) -> Result<u16, Failure> {
    let Some(text) = context.env().text("CC_PROXY_PORT") else {
        return Ok(proxy::DEFAULT_PORT);
    };
    text.trim()
        .parse()
        .map_err(|_| Failure::usage(format!("cannot use CC_PROXY_PORT '{text}': it is no port")))
}
