//! Auto-arm: a session that changed files and opened no task gets one.

use std::collections::BTreeSet;

use super::{Event, policy::Rules, session::Site};
use crate::{gate, git::Repo, model::Owner, rules, store::Store, ui::Failure, work};

/// How many changed paths ask for a task.
const PATHS: usize = 2;
/// A baseline that is longer is not kept, and then only the work ledger can tell.
const BASELINE: usize = 20_000;

/// Opens a task where the session changed two or more paths since it started and opened none; says
/// whether it did. What cannot be measured is not armed. At most one `git status`.
pub(super) fn arm(event: &Event, site: &Site, session: &Owner) -> Result<bool, Failure> {
    if !site.project.is_started() {
        return Ok(false);
    }
    let known = site
        .place
        .sessions()
        .read(&site.place.git_dir, session.as_str());
    if known.opened {
        return Ok(false);
    }
    let store = site.store(event)?;
    if store.repo().is_store() || store.repo().config()?.bool("operator.autoArm")? == Some(false) {
        return Ok(false);
    }
    if changed(event, (site, &store), (session, known.baseline)).is_none_or(|count| count < PATHS) {
        return Ok(false);
    }
    Ok(gate::arm(&site.gate(&store, Some(session)), session)?.is_some())
}

/// Returns how many uncommitted paths the session changed: as the work ledger knows where it keeps
/// track, else those that were clean when the session began.
fn changed(
    event: &Event,
    (site, store): (&Site, &Store),
    (session, baseline): (&Owner, Option<Vec<String>>),
) -> Option<usize> {
    let repo = store.repo();
    let policies = event.rules().map(Rules::policies);
    if rules::tracks(repo, policies).ok()? {
        let paths = work::uncommitted(repo, session.as_str(), site.clock.wall_ms());
        return Some(paths.ok()?.len());
    }
    let baseline: BTreeSet<String> = baseline?.into_iter().collect();
    Some(dirty(repo)?.difference(&baseline).count())
}

/// Returns the paths that differ from HEAD, tracked or not, each with what is known of its content;
/// `None` when git could not say.
fn dirty(repo: &Repo) -> Option<BTreeSet<String>> {
    let entries = repo.status().ok()?;
    Some(
        entries
            .iter()
            .filter(|entry| !entry.is_operator())
            .map(|entry| entry.path.quoted())
            .collect(),
    )
}

/// Returns what was dirty when the session began; `None` when that is not measured.
pub(super) fn baseline(repo: &Repo) -> Option<Vec<String>> {
    if repo.is_store() || repo.config().ok()?.bool("operator.autoArm").ok()? == Some(false) {
        return None;
    }
    Some(dirty(repo)?.into_iter().collect()).filter(|paths: &Vec<String>| paths.len() <= BASELINE)
}
