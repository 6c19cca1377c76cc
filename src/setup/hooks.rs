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
const PATH: &str = "core.hooksPath";
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
        HookPlace::Config => {
            if !config_hooks(repo)? {
                plan.say(
                    Act::Warned,
                    "this git runs no hooks that its configuration names: that takes git 2.54",
                    Some("git operator start --hooks file"),
                );
            }
            put_config(plan, repo)
        }
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
    let path = repo.config()?.text(PATH).filter(|path| !path.is_empty());
    Ok(path.map(|path| format!("{PATH} {path}")))
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
        let line = format!("add to its {name} hook: {}", line(name));
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

/// Returns the directory git looks for hooks in. git itself does not say where a file lies in its way.
pub(super) fn directory(top: &Path, repo: &Repo) -> Result<PathBuf, Error> {
    let Some(set) = repo.config()?.text(PATH) else {
        return Ok(repo.common_dir().join("hooks"));
    };
    if !set.starts_with(['~', '%']) {
        return Ok(top.join(set));
    }
    let asked = repo.git(["config", "--type=path", "--get", PATH]);
    let out = asked.read_only().output()?;
    Ok(top.join(String::from_utf8_lossy(&out).trim_end_matches('\n')))
}

/// Says whether hooks of the directory are the repository's alone, wherever links lead.
fn is_own(top: &Path, repo: &Repo, dir: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let there = dir.ancestors().find(|path| path.exists()).unwrap_or(dir);
    [repo.common_dir(), top]
        .iter()
        .any(|home| real(there).starts_with(real(home)))
}

fn put_files(plan: &mut Plan<'_>, repo: &Repo) -> Result<(), Error> {
    let dir = directory(plan.top, repo)?;
    if !is_own(plan.top, repo, &dir) {
        let note = "hooks that other projects share are not edited";
        let what = match repo.config()?.text(PATH) {
            Some(_) => format!("{PATH} leads out of this repository"),
            None => format!("'{}' leads out of this repository", shown(plan.top, &dir)),
        };
        plan.say(Act::Warned, what, Some(note));
        return Ok(());
    }
    let lies = |path: &&Path| path.symlink_metadata().is_ok();
    let file = dir.ancestors().find(lies).filter(|path| !path.is_dir());
    if let Some(file) = file {
        let what = format!(
            "git looks for hooks in '{}', where none can be",
            shown(plan.top, &dir)
        );
        let note = format!("'{}' is no directory", shown(plan.top, file));
        plan.say(Act::Warned, what, Some(&note));
        return Ok(());
    }
    for (name, text) in wanted(repo)? {
        put_file(plan, &dir.join(name), name, text)?;
    }
    Ok(())
}

/// Returns why a hook that does not call us is left as it is.
pub(super) fn untouched(path: &Path) -> Option<&'static str> {
    if path.is_symlink() {
        return Some("is a symbolic link");
    }
    let before = fs::read(path).ok()?;
    (!is_shell(&before)).then_some("is no shell script")
}

/// Returns what its owner adds to such a hook.
pub(super) fn line(name: &str) -> String {
    format!("git-operator git-hook {name} \"$@\"{}", otherwise(name))
}

fn put_file(plan: &mut Plan<'_>, path: &Path, name: &str, text: &str) -> Result<(), Error> {
    let what = shown(plan.top, path);
    if let Some(why) = untouched(path) {
        let is_called = fs::read(path).is_ok_and(|text| calls(&text, name));
        if !is_called {
            let note = format!("add a call of: {}", line(name));
            plan.say(Act::Warned, format!("'{what}' {why}"), Some(&note));
        }
        return Ok(());
    }
    let before = match fs::read(path) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(git::Error::read(path)(error).into()),
    };
    let Some(after) = merged(before.as_deref(), name, text) else {
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
    let text = std::str::from_utf8(before).ok()?;
    is_shell(before).then(|| block::put(text, &call(name), block::At::SecondLine))
}

fn is_shell(text: &[u8]) -> bool {
    let text = std::str::from_utf8(text).unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    let shell = ["sh", "bash", "dash", "ksh", "zsh"];
    first.starts_with("#!") && first.split(['/', ' ']).any(|word| shell.contains(&word))
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
    let dir = directory(plan.top, repo)?;
    let is_below = [repo.common_dir(), plan.top]
        .iter()
        .any(|home| dir.starts_with(home));
    if !is_below && !is_own(plan.top, repo, &dir) {
        return Ok(());
    }
    for (name, text) in HOOKS {
        take_file(plan, &dir.join(name), text)?;
    }
    Ok(())
}

fn take_file(plan: &mut Plan<'_>, path: &Path, text: &str) -> Result<(), Error> {
    if path.is_symlink() {
        return Ok(());
    }
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

/// Says whether a hook has a line that calls us.
pub(super) fn calls(text: &[u8], name: &str) -> bool {
    String::from_utf8_lossy(text).contains(&format!("git-operator git-hook {name}"))
}

pub(super) fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
