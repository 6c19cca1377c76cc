use super::Error;
use crate::{git::Repo, store::REMOTES};

/// Returns the remote to exchange with: the one asked for, `operator.remote`, or the only one.
pub fn choose(repo: &Repo, asked: Option<&str>) -> Result<String, Error> {
    if repo.is_store() {
        return Err(Error::NoGit);
    }
    let listed = repo.git(["remote"]).read_only().output()?;
    let names: Vec<String> = String::from_utf8_lossy(&listed)
        .lines()
        .map(str::to_owned)
        .collect();
    let wanted = asked
        .map(str::to_owned)
        .or_else(|| repo.config().ok()?.text("operator.remote"));
    let name = match (wanted, names.as_slice()) {
        (Some(name), names) if names.contains(&name) => name,
        (Some(name), _) => return Err(Error::UnknownRemote(name)),
        (None, []) => return Err(Error::NoRemote),
        (None, [only]) => only.clone(),
        (None, _) => return Err(Error::ManyRemotes(names)),
    };
    match names.into_iter().find(|other| are_nested(&name, other)) {
        Some(other) => Err(Error::NestedRemotes { name, other }),
        None => Ok(name),
    }
}

/// Says whether the tracking refs of one of these remotes lie among those of the other: a fetch from
/// `x` would take those of `x/y` for refs that `x` has no more.
fn are_nested(one: &str, other: &str) -> bool {
    let holds = |outer: &str, inner: &str| {
        let rest = inner.strip_prefix(outer);
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    holds(one, other) || holds(other, one)
}

/// Returns where the copy of `refs/operator/<name>` of `remote` lies.
pub fn tracking(remote: &str, name: &str) -> String {
    format!("{REMOTES}{remote}/{name}")
}
