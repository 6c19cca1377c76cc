use crate::{
    model::{Body, Draft, Oid, Owner},
    store::{Reach, Store, Wait},
    ui::{Context, Failure},
    view::notes::{self, Projection},
    work,
};

/// Projects the verdicts that bind to the new commit, and pins what records are stamped with.
pub(super) fn answer(store: &Store, context: &Context) -> Result<(), Failure> {
    let repo = store.repo();
    let mut commits: Vec<Oid> = repo.head()?.commit().into_iter().collect();
    // What was recorded on the commits before this one gets its note now, too.
    let parents = commits.first().map(|head| repo.commit(*head)).transpose()?;
    commits.extend(parents.into_iter().flat_map(|head| head.parents));
    let recorded = record(store, context, commits.first().copied());
    let noted = note(store, context, &commits);
    store.pin(&context.clock()?, Reach::New)?;
    recorded?;
    noted
}

/// Records which paths of the commit sessions wrote, where the work ledger keeps track.
fn record(store: &Store, context: &Context, commit: Option<Oid>) -> Result<(), Failure> {
    let Some(commit) = commit.filter(|_| store.dir().join("work").is_dir()) else {
        return Ok(());
    };
    let clock = context.clock()?;
    let session = context.env().text("CLAUDE_CODE_SESSION_ID");
    let made = work::Committed {
        commit,
        session,
        time: clock.wall_ms(),
    };
    let Some(work) = work::commit_record(store.repo(), &made)? else {
        return Ok(());
    };
    let mut draft = Draft::new(Body::Work(work));
    draft.session = session.and_then(|name| Owner::new(name).ok());
    store
        .begin(Wait::SessionEnd, clock)?
        .commit(&[draft], Vec::new())?;
    Ok(())
}

/// Writes notes for `commits`, unless `operator.notes` is off.
pub(super) fn note(store: &Store, context: &Context, commits: &[Oid]) -> Result<(), Failure> {
    if store.repo().config()?.bool("operator.notes")? == Some(false) {
        return Ok(());
    }
    notes::project(store, &context.clock()?, Projection::Of(commits))?;
    Ok(())
}
