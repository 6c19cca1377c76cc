//! Whether a repository's sessions are tracked: the one answer everybody goes by.

use super::{Error, Pauses, Places, Scopes, load};
use crate::{git::Repo, policy::Policies, work};

/// Says whether the work ledger keeps track: `operator.work` is on, or a policy that applies asks for
/// it.
pub fn tracks(repo: &Repo, policies: Option<&Policies>) -> Result<bool, Error> {
    Ok(policies.is_some_and(Policies::need_work) || work::is_on(repo)?)
}

/// The same for who has not read the policies yet.
pub fn is_tracked(repo: &Repo, places: &Places, now: u64) -> Result<bool, Error> {
    if work::is_on(repo)? {
        return Ok(true);
    }
    if !places.any() || Pauses::new(&repo.operator_dir()).current(now).is_some() {
        return Ok(false);
    }
    let again = || Repo::open(repo.location(), repo.env()).ok();
    let found = load(places, Scopes::All, &again);
    tracks(repo, Some(&found.policies))
}
