use std::{
    os::unix::process::CommandExt as _,
    process::{Command, Stdio},
};

use crate::{
    git::HOOK_GUARD,
    sync,
    ui::{Context, Exit, Failure},
};

/// Does what `operator.prePush` asks for: nothing, a sync beside the push, or a check before it.
pub(super) fn answer(args: &[&str], context: &Context) -> Result<Exit, Failure> {
    let asked = context.config()?.text("operator.prePush");
    match asked.as_deref() {
        None | Some("off") => {}
        Some("sync") => sync_beside(args, context)?,
        Some(other) => context.ui.warn(format!(
            "operator.prePush is '{other}', which is none of off, sync"
        )),
    }
    Ok(Exit::Done)
}

/// Starts a sync that the push does not wait for. It asks nobody anything, and its end changes nothing
/// of the push.
///
/// Only the remote that `sync` without an argument would choose is synced with: the ledger goes
/// nowhere because somebody pushed code there.
fn sync_beside(args: &[&str], context: &Context) -> Result<(), Failure> {
    let Some(store) = super::ledger(context)? else {
        return Ok(());
    };
    let remote = sync::choose(store.repo(), None)?;
    if args.first() != Some(&remote.as_str()) {
        return Ok(());
    }
    let failed = |error| Failure::io("cannot start a sync beside the push", &error);
    let program = std::env::current_exe().map_err(failed)?;
    let location = store.repo().location();
    Command::new(program)
        .args(["--quiet", "sync", "--beside", &remote])
        .current_dir(location.top.as_ref().unwrap_or(&location.common_dir))
        .env("GIT_DIR", &location.git_dir)
        .env_remove("GIT_INDEX_FILE")
        .env_remove("GIT_PREFIX")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env(HOOK_GUARD, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    Ok(())
}
