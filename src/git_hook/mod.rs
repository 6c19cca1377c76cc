//! Git hooks: argv and stdin to one operation.
//!
//! A hook exits 0 whatever goes wrong, but for a pre-push that was asked to verify. It writes neither
//! the index nor the working tree, and does nothing below a git that we started ourselves.

mod hint;
mod post_checkout;
mod post_commit;
mod post_merge;
mod post_rewrite;
mod pre_push;

use std::ffi::OsString;

use crate::{
    git::HOOK_GUARD,
    setup::{PROBE, probe_answer},
    store::{Store, Wait},
    ui::{self, Context, Exit, Failure, Options, one_line},
};

/// Answers the git hook `name`, which git called with `args`.
pub fn run(name: &str, args: &[OsString], options: Options) -> Exit {
    let context = Context::new(options);
    let is_set = |name| context.env().var(name).is_some();
    let is_probe = is_set(PROBE);
    if is_set(HOOK_GUARD) && !is_probe {
        return Exit::Done;
    }
    let outcome = ui::caught(|| match is_probe {
        true => context.ui.line(probe_answer(name)).map(|()| Exit::Done),
        false => answer(name, args, &context),
    });
    // Nobody reads the stdout of a hook; what the ledger had to say goes to stderr.
    let finished = context.finish();
    outcome
        .and_then(|exit| finished.map(|()| exit))
        .unwrap_or_else(|failure| fault(name, &failure, &context))
}

fn answer(name: &str, args: &[OsString], context: &Context) -> Result<Exit, Failure> {
    let args: Vec<&str> = args.iter().filter_map(|arg| arg.to_str()).collect();
    if name == "pre-push" {
        return pre_push::answer(&args, context);
    }
    let Some(store) = ledger(context)? else {
        return Ok(Exit::Done);
    };
    match name {
        "post-commit" => post_commit::answer(store, context)?,
        "post-rewrite" => post_rewrite::answer(&args, store, context)?,
        "post-merge" => post_merge::answer(store, context)?,
        "post-checkout" => post_checkout::answer(&args, store, context)?,
        // A hook that a later version installed.
        _ => {}
    }
    Ok(Exit::Done)
}

/// Returns the ledger, where anything was ever recorded or tracked in this clone.
fn ledger(context: &Context) -> Result<Option<&Store>, Failure> {
    if context.location()?.is_none() {
        return Ok(None);
    }
    let store = context.store()?;
    let used = ["journal", "work"].map(|name| store.dir().join(name).exists());
    Ok(used.contains(&true).then_some(store))
}

/// Brings the refs to what the journal promised; a ledger that another process holds is left to it.
fn drain(store: &Store, context: &Context) -> Result<(), Failure> {
    match store.begin(Wait::SessionEnd, context.clock()?) {
        Ok(_) => Ok(()),
        Err(error) if error.is_busy() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Says in one line what failed; what git did stands.
fn fault(name: &str, failure: &Failure, context: &Context) -> Exit {
    if let Some(message) = &failure.message {
        context
            .ui
            .warn(one_line(&format!("git-operator, in {name}: {message}")));
    }
    Exit::Done
}
