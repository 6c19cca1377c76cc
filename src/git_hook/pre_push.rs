use std::{
    os::unix::process::CommandExt as _,
    process::{Command, Stdio},
};

use crate::{
    git::{HOOK_GUARD, Repo},
    model::Oid,
    sync,
    ui::{Context, Exit, Failure, read_stdin},
    verify::{Ask, format::Format, verify},
};

/// Does what `operator.prePush` asks for: nothing, a sync beside the push, or a check before it.
pub(super) fn answer(args: &[&str], context: &Context) -> Result<Exit, Failure> {
    let asked = context.config()?.text("operator.prePush");
    match asked.as_deref() {
        None | Some("off") => {}
        Some("sync") => sync_beside(args, context)?,
        Some("verify") => return Ok(gate(context)),
        Some(other) => context.ui.warn(format!(
            "operator.prePush is '{other}', which is none of off, sync, verify"
        )),
    }
    Ok(Exit::Done)
}

/// Lets a push through when what it sends to branches is verified, or when there is nothing that could
/// be. The one hook that may say no: somebody asked for it, so a fault is no pass.
fn gate(context: &Context) -> Exit {
    match checked(context) {
        Ok(exit) => exit,
        Err(failure) => {
            context.ui.failure(&failure);
            Exit::No
        }
    }
}

fn checked(context: &Context) -> Result<Exit, Failure> {
    let pushed = parse(&read_stdin("the refs that are pushed", LIMIT)?);
    let Some(store) = super::ledger(context)? else {
        context
            .ui
            .warn("nothing was verified: this clone has no ledger");
        return Ok(Exit::Done);
    };
    let mut exit = Exit::Done;
    for push in pushed {
        let ask = Ask {
            spec: Some(push.spec(store.repo())),
            name: Some(push.target.clone()),
            now: context.clock()?.wall_ms(),
            ..Ask::default()
        };
        let report = verify(store, &ask)?;
        match report.exit() {
            0 => {}
            5 => context
                .ui
                .warn(format!("nothing was verified for '{}'", push.target)),
            _ => {
                context.ui.note(Format::Human.render(&report).trim_end());
                let message = format!("cannot push to '{}': it is not verified", push.target);
                context.ui.failure(&Failure::new(Exit::No, message));
                exit = Exit::No;
            }
        }
    }
    Ok(exit)
}

const LIMIT: usize = 16 << 20;

/// A branch that is pushed.
struct Push {
    new: Oid,
    target: String,
    old: Oid,
}

impl Push {
    /// Returns what is new of it, as far as this clone knows what the remote has.
    fn spec(&self, repo: &Repo) -> String {
        if !self.old.is_null() && repo.commit(self.old).is_ok() {
            return format!("{}..{}", self.old, self.new);
        }
        self.new.to_hex()
    }
}

/// Reads the lines of githooks(5); tags and deletions carry no source that could be verified.
fn parse(text: &[u8]) -> Vec<Push> {
    let text = String::from_utf8_lossy(text);
    text.lines()
        .filter_map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let [_, new, target, old] = words.as_slice() else {
                return None;
            };
            let (new, old): (Oid, Oid) = (new.parse().ok()?, old.parse().ok()?);
            let is_branch = target.starts_with("refs/heads/") && !new.is_null();
            is_branch.then(|| Push {
                new,
                target: (*target).to_owned(),
                old,
            })
        })
        .collect()
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
