use crate::{
    model::Oid,
    store::{Reach, Store},
    ui::{Context, Failure},
    view::notes::{self, Projection},
};

/// Projects the verdicts that bind to the new commit, and pins what records are stamped with.
pub(super) fn answer(store: &Store, context: &Context) -> Result<(), Failure> {
    let repo = store.repo();
    let mut commits: Vec<Oid> = repo.head()?.commit().into_iter().collect();
    // What was recorded on the commits before this one gets its note now, too.
    let parents = commits.first().map(|head| repo.commit(*head)).transpose()?;
    commits.extend(parents.into_iter().flat_map(|head| head.parents));
    let noted = note(store, context, &commits);
    store.pin(&context.clock()?, Reach::New)?;
    noted
}

/// Writes notes for `commits`, unless `operator.notes` is off.
pub(super) fn note(store: &Store, context: &Context, commits: &[Oid]) -> Result<(), Failure> {
    if store.repo().config()?.bool("operator.notes")? == Some(false) {
        return Ok(());
    }
    notes::project(store, &context.clock()?, Projection::Of(commits))?;
    Ok(())
}
