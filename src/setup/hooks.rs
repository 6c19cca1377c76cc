//! The hooks of git that tell us of commits and rewrites. No guarantee depends on them.
//!
//! core.hooksPath is never set, a hook outside the repository is never edited, and
//! reference-transaction is never installed.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use super::{
    Error, HookPlace, block,
    plan::{Act, Plan, local, shown},
};
use crate::git::{self, Repo};

const HOOKS: [(&str, &str); 5] = [
    ("post-commit", include_str!("../../git-hooks/post-commit")),
    ("post-rewrite", include_str!("../../git-hooks/post-rewrite")),
    ("post-merge", include_str!("../../git-hooks/post-merge")),
    (
        "post-checkout",
        include_str!("../../git-hooks/post-checkout"),
    ),
    ("pre-push", include_str!("../../git-hooks/pre-push")),
];
pub(super) const MANAGERS: [&str; 8] = [
    ".husky",
    "lefthook.yml",
    "lefthook.yaml",
    ".lefthook.yml",
    ".pre-commit-config.yaml",
    "prek.toml",
    ".overcommit.yml",
    "hk.pkl",
];

/// Returns the shim of a git hook, as it is installed.
pub fn shim(name: &str) -> Option<&'static str> {
    HOOKS
        .iter()
        .find(|(hook, _)| *hook == name)
        .map(|(_, text)| *text)
}

pub(super) fn put(plan: &mut Plan<'_>, repo: &Repo, place: HookPlace) -> Result<(), Error> {
    match place {
        HookPlace::None => Ok(()),
        HookPlace::Config => put_config(plan, repo),
        HookPlace::File => put_files(plan, repo),
        HookPlace::Auto => {
            if config_hooks(repo)? {
                return put_config(plan, repo);
            }
            match manager(plan.top, repo)? {
                Some(name) => snippet(plan, repo, &name),
                None => put_files(plan, repo),
            }
        }
    }
}

/// Says whether git runs hooks that its configuration names (git 2.54).
pub(super) fn config_hooks(repo: &Repo) -> Result<bool, Error> {
    let out = repo.git(["version"]).read_only().output()?;
    let text = String::from_utf8_lossy(&out);
    let mut numbers = text
        .split_whitespace()
        .nth(2)
        .unwrap_or_default()
        .split('.');
    let mut next = || {
        numbers
            .next()
            .and_then(|number| number.parse::<u32>().ok())
            .unwrap_or(0)
    };
    Ok((next(), next()) >= (2, 54))
}

/// Returns the name of a hook manager that this project uses.
pub(super) fn manager(top: &Path, repo: &Repo) -> Result<Option<String>, Error> {
    if let Some(name) = MANAGERS.iter().find(|name| top.join(name).exists()) {
        return Ok(Some((*name).to_owned()));
    }
    let path = repo
        .git(["config", "--get", "core.hooksPath"])
        .read_only()
        .run()?;
    let path = String::from_utf8_lossy(&path.stdout).trim().to_owned();
    Ok((!path.is_empty()).then(|| format!("core.hooksPath {path}")))
}

/// Returns the hooks that are wanted: pre-push only where `operator.prePush` asks for it.
pub(super) fn wanted(repo: &Repo) -> Result<Vec<(&'static str, &'static str)>, Error> {
    let asked = repo.config()?.text("operator.prePush");
    let pushes = matches!(asked.as_deref(), Some("sync" | "verify"));
    let hooks = HOOKS.into_iter();
    Ok(hooks
        .filter(|(name, _)| pushes || *name != "pre-push")
        .collect())
}

fn snippet(plan: &mut Plan<'_>, repo: &Repo, manager: &str) -> Result<(), Error> {
    for (name, _) in wanted(repo)? {
        let line = format!(
            "add to its {name} hook: git-operator git-hook {name} \"$@\"{}",
            otherwise(name)
        );
        plan.say(
            Act::Warned,
            format!("hooks are managed by {manager}"),
            Some(&line),
        );
    }
    Ok(())
}

/// What follows a call of us: only a pre-push may say no.
fn otherwise(name: &str) -> &'static str {
    if name == "pre-push" { "" } else { " || :" }
}

/// Returns the line of shell that git's configuration names: without the program it passes.
pub(super) fn command(name: &str) -> String {
    format!("command -v git-operator >/dev/null 2>&1 || exit 0; git-operator git-hook {name}")
}

fn put_config(plan: &mut Plan<'_>, repo: &Repo) -> Result<(), Error> {
    for (name, _) in wanted(repo)? {
        let section = format!("hook.git-operator-{name}");
        plan.set(&format!("{section}.command"), &command(name))?;
        if local(repo, &format!("{section}.event"))?.is_empty() {
            plan.add(&format!("{section}.event"), name)?;
        }
    }
    Ok(())
}

/// Returns the directory git looks for hooks in; `None` where it lies outside the repository, whose
/// hooks other projects share.
fn directory(plan: &Plan<'_>, repo: &Repo) -> Result<Option<PathBuf>, Error> {
    let out = repo
        .git(["rev-parse", "--path-format=absolute", "--git-path", "hooks"])
        .read_only()
        .output()?;
    let path = PathBuf::from(String::from_utf8_lossy(&out).trim_end_matches('\n'));
    let ours = path.starts_with(repo.common_dir()) || path.starts_with(plan.top);
    Ok(ours.then_some(path))
}

fn put_files(plan: &mut Plan<'_>, repo: &Repo) -> Result<(), Error> {
    let Some(dir) = directory(plan, repo)? else {
        let note = "hooks that other projects share are not edited";
        plan.say(
            Act::Warned,
            "core.hooksPath leads out of this repository",
            Some(note),
        );
        return Ok(());
    };
    for (name, text) in wanted(repo)? {
        put_file(plan, &dir.join(name), name, text)?;
    }
    Ok(())
}

fn put_file(plan: &mut Plan<'_>, path: &Path, name: &str, text: &str) -> Result<(), Error> {
    let what = shown(plan.top, path);
    let before = match fs::read(path) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(git::Error::read(path)(error).into()),
    };
    let Some(after) = merged(before.as_deref(), name, text) else {
        let line = format!("add a call of: git-operator git-hook {name} \"$@\"");
        plan.say(
            Act::Warned,
            format!("'{what}' is no shell script"),
            Some(&line),
        );
        return Ok(());
    };
    let own = after == text;
    let act = match &before {
        None => Act::Created,
        Some(_) if own && !is_executable(path) => Act::Updated,
        Some(bytes) if *bytes == after.as_bytes() => Act::Kept,
        Some(_) => Act::Updated,
    };
    if act != Act::Kept && plan.applies() {
        write(path, &after)?;
        if own {
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(path, mode).map_err(git::Error::write(path))?;
        }
    }
    plan.say(act, what, None);
    Ok(())
}

/// Returns the hook with our block behind its first line; `None` for what is no shell script.
fn merged(before: Option<&[u8]>, name: &str, text: &str) -> Option<String> {
    let Some(before) = before else {
        return Some(text.to_owned());
    };
    if before == text.as_bytes() {
        return Some(text.to_owned());
    }
    let before = std::str::from_utf8(before).ok()?;
    let first = before.lines().next().unwrap_or_default();
    let shell = ["sh", "bash", "dash", "ksh", "zsh"];
    let is_shell =
        first.starts_with("#!") && first.split(['/', ' ']).any(|word| shell.contains(&word));
    is_shell.then(|| block::put(before, &call(name), block::At::SecondLine))
}

/// A probe ends behind our lines: what follows is somebody else's and is not run for it.
const ENOUGH: &str = "[ -z \"${GIT_OPERATOR_PROBE:-}\" ] || exit 0\n";

/// Returns the lines that call us in front of somebody's hook and hand the hook its standard input.
pub(super) fn call(name: &str) -> String {
    if !matches!(name, "post-rewrite" | "pre-push") {
        return format!(
            "if command -v git-operator >/dev/null 2>&1; then git-operator git-hook {name} \"$@\" </dev/null || :; fi\n\
             {ENOUGH}"
        );
    }
    let failed = match name {
        "pre-push" => "{ rm -f \"$operator_stdin\"; exit 1; }",
        _ => ":",
    };
    format!(
        "if [ -n \"${{GIT_OPERATOR_PROBE:-}}\" ]; then git-operator git-hook {name} </dev/null; fi\n\
         {ENOUGH}\
         if command -v git-operator >/dev/null 2>&1 && operator_stdin=$(mktemp); then\n\
         cat >\"$operator_stdin\"\n\
         git-operator git-hook {name} \"$@\" <\"$operator_stdin\" || {failed}\n\
         exec <\"$operator_stdin\"\n\
         rm -f \"$operator_stdin\"\n\
         fi\n"
    )
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let dir = path.parent().unwrap_or(path);
    let mode = fs::metadata(path).map_or(0o755, |meta| meta.permissions().mode());
    let written = fs::create_dir_all(dir).and_then(|()| {
        let file = tempfile::Builder::new()
            .prefix(".operator-")
            .tempfile_in(dir)?;
        fs::write(file.path(), text)?;
        fs::set_permissions(file.path(), fs::Permissions::from_mode(mode))?;
        file.persist(path)?;
        Ok(())
    });
    written.map_err(|error| git::Error::write(path)(error).into())
}

pub(super) fn take(plan: &mut Plan<'_>, repo: &Repo) -> Result<(), Error> {
    for (name, _) in HOOKS {
        let section = format!("hook.git-operator-{name}");
        plan.unset(&format!("{section}.command"), &command(name))?;
        plan.unset(&format!("{section}.event"), name)?;
    }
    let Some(dir) = directory(plan, repo)? else {
        return Ok(());
    };
    for (name, text) in HOOKS {
        take_file(plan, &dir.join(name), text)?;
    }
    Ok(())
}

fn take_file(plan: &mut Plan<'_>, path: &Path, text: &str) -> Result<(), Error> {
    let Ok(before) = fs::read_to_string(path) else {
        return Ok(());
    };
    let left = if before == text {
        Some(String::new())
    } else {
        block::take(&before)
    };
    let Some(left) = left else { return Ok(()) };
    if plan.applies() {
        if left.is_empty() {
            fs::remove_file(path).map_err(git::Error::write(path))?;
        } else {
            write(path, &left)?;
        }
    }
    let what = shown(plan.top, path);
    plan.say(Act::Removed, what, None);
    Ok(())
}

pub(super) fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
