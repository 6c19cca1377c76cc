use super::Error;
use crate::{git::Repo, store::REMOTES};

/// Returns the remote to exchange with: the one asked for, `operator.remote`, or the only one.
pub fn choose(repo: &Repo, asked: Option<&str>) -> Result<String, Error> {
    let listed = repo.git(["remote"]).read_only().output()?;
    let names: Vec<String> = String::from_utf8_lossy(&listed)
        .lines()
        .map(str::to_owned)
        .collect();
    let wanted = asked
        .map(str::to_owned)
        .or_else(|| repo.config().ok()?.text("operator.remote"));
    match (wanted, names.as_slice()) {
        (Some(name), names) if names.contains(&name) => Ok(name),
        (Some(name), _) => Err(Error::UnknownRemote(name)),
        (None, []) => Err(Error::NoRemote),
        (None, [only]) => Ok(only.clone()),
        (None, _) => Err(Error::ManyRemotes(names)),
    }
}

/// Returns where the copy of `refs/operator/<name>` of `remote` lies.
pub fn tracking(remote: &str, name: &str) -> String {
    format!("{REMOTES}{remote}/{name}")
}
