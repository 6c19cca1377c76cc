use super::start::{mode, print};
use crate::{
    setup,
    ui::{Context, Exit, Failure},
};

/// Take down what `start` set up
///
/// Hooks and attributes get their own bytes back, and files of ours that nobody changed go. The views
/// and the refs of the ledger stay.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let cwd = context.cwd()?;
    let mode = mode(args.dry_run);
    let steps = match context.location()? {
        None => setup::uninstall(cwd, None, mode)?,
        Some(_) => {
            let repo = context.repo()?;
            setup::uninstall(repo.top().unwrap_or(cwd), Some(repo), mode)?
        }
    };
    print(context, &steps, mode)?;
    Ok(Exit::Done)
}
