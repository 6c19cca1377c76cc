//! `start` and `uninstall`.

use std::path::Path;

use super::{
    Charter, Error, HookPlace, Mode, Step, block, charter, hooks, ignore,
    plan::{Act, Plan},
};
use crate::git::Repo;

const ATTRIBUTES: &str = include_str!("../../templates/gitattributes");
const ATTRIBUTES_PATH: &str = ".operator/.gitattributes";
const DRIVER: &str = "if command -v git-operator >/dev/null 2>&1; then git-operator merge-driver %O %A %B %L %P; \
                      else git merge-file --union -q %A %O %B; fi";
pub(super) const DRIVER_BLOCK: &str = "/.operator/VERDICTS.md merge=git-operator
/.operator/DECISIONS.md merge=git-operator
/.operator/verdicts.d/*.md merge=git-operator
";
pub(super) const CONFIG: [(&str, &str); 3] = [
    (
        "merge.git-operator.name",
        "union of two views of the ledger",
    ),
    ("merge.git-operator.driver", DRIVER),
    ("notes.operator.mergeStrategy", "cat_sort_uniq"),
];
pub(super) const HIDE: (&str, &str) = ("transfer.hideRefs", "refs/operator-local");
const SHIMS: [&str; 3] = ["task", "verdict", "adopt"];

/// What `start` is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    pub charter: Charter,
    pub hooks: HookPlace,
    /// Whose CI gets a job that verifies.
    pub ci: Option<Ci>,
    pub mode: Mode,
}

/// A host whose jobs can verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ci {
    Github,
    Gitlab,
}

impl Ci {
    /// Returns where the job's file lies, and its text.
    pub fn file(self) -> (&'static str, &'static str) {
        match self {
            Self::Github => (
                ".github/workflows/git-operator.yml",
                include_str!("../../templates/ci-github.yml"),
            ),
            Self::Gitlab => (
                ".gitlab/git-operator.yml",
                include_str!("../../templates/ci-gitlab.yml"),
            ),
        }
    }
}

/// Sets up the project at `top`, which is `repo`'s working tree or lies outside any repository, and
/// returns what was done. Doing it again changes only what a newer version does otherwise.
pub fn start(top: &Path, repo: Option<&Repo>, request: Start) -> Result<Vec<Step>, Error> {
    if let Some(repo) = repo.filter(|repo| repo.is_bare()) {
        return Err(Error::Bare(repo.git_dir().to_owned()));
    }
    let mut plan = Plan::new(top, repo, request.mode)?;
    charter::put(&mut plan, request.charter)?;
    ignore::put(&mut plan)?;
    attributes(&mut plan)?;
    if let Some(ci) = request.ci {
        let (path, text) = ci.file();
        plan.create(path, text)?;
    }
    for name in SHIMS {
        plan.write(&format!(".operator/bin/ops-{name}.sh"), &shim(name), 0o755)?;
    }
    if let Some(repo) = repo {
        driver(&mut plan, repo)?;
        hooks::put(&mut plan, repo, request.hooks)?;
        ignore::warn_outside_rule(&mut plan, repo)?;
    } else {
        store(&mut plan)?;
    }
    nested(&mut plan)?;
    Ok(plan.steps)
}

/// Takes down what `start` set up and returns what was done. Refs and views stay.
pub fn uninstall(top: &Path, repo: Option<&Repo>, mode: Mode) -> Result<Vec<Step>, Error> {
    let mut plan = Plan::new(top, repo, mode)?;
    charter::take(&mut plan)?;
    for name in SHIMS {
        plan.remove_own(&format!(".operator/bin/ops-{name}.sh"), &shim(name))?;
    }
    if plan.applies() {
        plan.tree.remove_directory(".operator/bin")?;
    }
    if let Some(repo) = repo {
        hooks::take(&mut plan, repo)?;
        take_block(&mut plan, repo)?;
        for (key, value) in CONFIG {
            plan.unset(key, value)?;
        }
        plan.unset(HIDE.0, HIDE.1)?;
    }
    plan.say(
        Act::Kept,
        ".operator",
        Some("the views and the refs of the ledger stay"),
    );
    Ok(plan.steps)
}

fn shim(name: &str) -> String {
    format!(
        "#!/bin/sh\n# Kept for callers of the predecessor; written by `git operator start`.\n\
         exec git-operator --compat {name} \"$@\"\n"
    )
}

fn rules() -> impl Iterator<Item = &'static str> {
    ATTRIBUTES.lines().filter(|line| !line.starts_with('#'))
}

fn lacks(text: &str, rule: &str) -> bool {
    !text.lines().any(|line| line.trim_end() == rule)
}

/// Says whether `.operator/.gitattributes` lacks a rule of ours.
pub(super) fn lacks_attributes(plan: &Plan<'_>) -> Result<bool, Error> {
    let text = plan.text(ATTRIBUTES_PATH)?.unwrap_or_default();
    Ok(rules().any(|rule| lacks(&text, rule)))
}

/// Adds each rule that no real line of the file gives yet.
fn attributes(plan: &mut Plan<'_>) -> Result<(), Error> {
    let Some(mut text) = plan.text(ATTRIBUTES_PATH)? else {
        return plan.write(ATTRIBUTES_PATH, ATTRIBUTES, 0o644);
    };
    for rule in rules() {
        if lacks(&text, rule) {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(rule);
            text.push('\n');
        }
    }
    plan.write(ATTRIBUTES_PATH, &text, 0o644)
}

/// Registers what `doctor --fix` may register again.
pub(super) fn mend(plan: &mut Plan<'_>, repo: &Repo) -> Result<(), Error> {
    attributes(plan)?;
    ignore::put_missing(plan)?;
    driver(plan, repo)?;
    hooks::put(plan, repo, HookPlace::Auto)
}

fn driver(plan: &mut Plan<'_>, repo: &Repo) -> Result<(), Error> {
    for (key, value) in CONFIG {
        plan.set(key, value)?;
    }
    plan.add(HIDE.0, HIDE.1)?;
    let common = Plan::new(repo.common_dir(), None, plan.mode)?;
    let before = common.text("info/attributes")?;
    let after = block::put(
        before.as_deref().unwrap_or_default(),
        DRIVER_BLOCK,
        block::At::End,
    );
    let act = match &before {
        None => Act::Created,
        Some(text) if *text == after => Act::Kept,
        Some(_) => Act::Updated,
    };
    if act != Act::Kept && plan.applies() {
        common
            .tree
            .write("info/attributes", after.as_bytes(), 0o644)?;
    }
    plan.say(
        act,
        "info/attributes",
        Some("the merge driver of the views"),
    );
    Ok(())
}

fn take_block(plan: &mut Plan<'_>, repo: &Repo) -> Result<(), Error> {
    let common = Plan::new(repo.common_dir(), None, plan.mode)?;
    let Some(left) = common
        .text("info/attributes")?
        .as_deref()
        .and_then(block::take)
    else {
        return Ok(());
    };
    if plan.applies() {
        if left.is_empty() {
            common.tree.remove("info/attributes")?;
        } else {
            common
                .tree
                .write("info/attributes", left.as_bytes(), 0o644)?;
        }
    }
    plan.say(
        Act::Removed,
        "info/attributes",
        Some("the merge driver of the views"),
    );
    Ok(())
}

fn store(plan: &mut Plan<'_>) -> Result<(), Error> {
    let path = plan.top.join(".operator/store.git");
    plan.say(
        Act::Warned,
        "there is no git repository here",
        Some("verdicts will carry the stamp @no-vcs"),
    );
    if path.exists() {
        plan.say(Act::Kept, ".operator/store.git", None);
        return Ok(());
    }
    if plan.applies() {
        Repo::create_bare_store(&path)?;
    }
    plan.say(Act::Created, ".operator/store.git", None);
    Ok(())
}

/// Names `.operator` directories below the top, which no command would use.
pub(super) fn nested(plan: &mut Plan<'_>) -> Result<(), Error> {
    let Some(repo) = plan.repo else { return Ok(()) };
    let listed = repo
        .git([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--",
            ":(glob)*/**/.operator/*.md",
        ])
        .read_only()
        .output()?;
    let mut dirs: Vec<String> = listed
        .split(|byte| *byte == 0)
        .filter_map(|path| {
            std::str::from_utf8(path)
                .ok()?
                .rsplit_once('/')
                .map(|(dir, _)| dir.to_owned())
        })
        .collect();
    dirs.dedup();
    for dir in dirs {
        let note = "the ledger lies at the top; `git operator reconcile` imports its rows";
        plan.say(
            Act::Warned,
            format!("'{dir}' is a second '.operator'"),
            Some(note),
        );
    }
    Ok(())
}
