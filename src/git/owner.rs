use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::Path,
};

use gix::bstr::{BStr, ByteSlice};

use super::{Config, Env, Error};

/// Refuses a repository of another user, as git does, unless `safe.directory` names `top`.
pub(crate) fn check(parts: &[&Path], top: &Path, env: &Env) -> Result<(), Error> {
    let foreign =
        env.flag("GIT_TEST_ASSUME_DIFFERENT_OWNER") || !parts.iter().all(|part| is_own(part, env));
    if !foreign || is_trusted(top, env)? {
        return Ok(());
    }
    Err(Error::DubiousOwnership {
        path: top.to_owned(),
    })
}

/// Refuses a bare repository that nobody named, where `safe.bareRepository` asks for that: it may
/// lie in what a checkout brought. A git directory of a working tree is none.
pub(crate) fn check_bare(dir: &Path, env: &Env) -> Result<(), Error> {
    let inside = dir.components().any(|part| part.as_os_str() == ".git");
    if inside {
        return Ok(());
    }
    let setting = Config::load_protected(env)?.text("safe.bareRepository");
    match setting.as_deref() {
        Some("explicit") => Err(Error::Invalid {
            path: dir.to_owned(),
            reason: "safe.bareRepository is 'explicit' and GIT_DIR does not name it".to_owned(),
        }),
        Some(_) | None => Ok(()),
    }
}

fn is_own(path: &Path, env: &Env) -> bool {
    let Ok(meta) = fs::symlink_metadata(path) else {
        return false;
    };
    let user = nix::unistd::geteuid().as_raw();
    if user == meta.uid() {
        return true;
    }
    // Under sudo, root also trusts what belongs to who called it.
    let caller = env.text("SUDO_UID").and_then(|uid| uid.parse().ok());
    user == 0 && caller == Some(meta.uid())
}

fn is_trusted(top: &Path, env: &Env) -> Result<bool, Error> {
    let values = Config::load_protected(env)?.strings("safe.directory");
    let mut trusted = false;
    for value in &values {
        trusted = match value.as_bstr() {
            value if value.is_empty() => false,
            value => trusted || names(value, top, env),
        };
    }
    Ok(trusted)
}

fn names(value: &BStr, top: &Path, env: &Env) -> bool {
    if value == "*" {
        return true;
    }
    let (value, below) = match value.strip_suffix(b"/*") {
        Some(dir) => (dir.as_bstr(), true),
        None => (value, false),
    };
    let path = Path::new(OsStr::from_bytes(value));
    let path = match (path.strip_prefix("~"), env.home()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    };
    if !path.is_absolute() {
        return false;
    }
    let path = path.canonicalize().unwrap_or(path);
    match below {
        true => top.starts_with(&path) && top != path,
        false => top == path,
    }
}
