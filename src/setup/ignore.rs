//! `.operator/.gitignore`: an allow-list, so that what a teammate needs is tracked.

use super::{
    Error,
    plan::{Act, Plan},
};
use crate::git::{Repo, files::Lies};

const TEXT: &str = include_str!("../../templates/gitignore");
const PATH: &str = ".operator/.gitignore";
const MARK: &str = "gitignore v3 (allowlist)";

pub(super) fn put(plan: &mut Plan<'_>) -> Result<(), Error> {
    match plan.text(PATH)? {
        None => plan.write(PATH, TEXT, 0o644),
        Some(text) if is_marked(&text, MARK) => complete(plan, text),
        Some(text) => migrate(plan, &text),
    }
}

/// Writes the list where there is none.
pub(super) fn put_missing(plan: &mut Plan<'_>) -> Result<(), Error> {
    match plan.text(PATH)? {
        None => plan.write(PATH, TEXT, 0o644),
        Some(_) => Ok(()),
    }
}

fn is_marked(text: &str, mark: &str) -> bool {
    text.lines()
        .any(|line| line.starts_with('#') && line.contains(mark))
}

/// Adds the rules that our own list lacks; the project's other lines stay.
fn complete(plan: &mut Plan<'_>, mut text: String) -> Result<(), Error> {
    for rule in TEXT.lines().filter(|line| line.starts_with('!')) {
        if !text.lines().any(|line| line.trim_end() == rule) {
            if !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(rule);
            text.push('\n');
        }
    }
    plan.write(PATH, &text, 0o644)
}

/// Replaces an earlier list, which is kept beside it; what the project allowed stays allowed.
fn migrate(plan: &mut Plan<'_>, text: &str) -> Result<(), Error> {
    let version = if is_marked(text, "gitignore v2 (allowlist)") {
        "v2"
    } else {
        "v1"
    };
    let first = format!(".operator/.gitignore.{version}.bak");
    let backup = free(plan, &first, text)?;
    if plan.tree.lies(&backup)? != Lies::Nothing
        && plan.tree.read(&backup, 1 << 20).ok().flatten().is_none()
    {
        let note = format!("'{backup}' cannot hold the copy of it");
        plan.say(
            Act::Warned,
            format!("'{PATH}' was not brought up to date"),
            Some(&note),
        );
        return Ok(());
    }
    let extra: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with('!') && !TEXT.lines().any(|rule| rule == *line))
        .collect();
    let mut new = TEXT.to_owned();
    for line in extra {
        new.push_str(line);
        new.push('\n');
    }
    plan.write(&backup, text, 0o644)?;
    plan.write(PATH, &new, 0o644)?;
    plan.say(
        Act::Warned,
        format!("'{PATH}' was replaced"),
        Some(&format!("the old list is '{backup}'")),
    );
    Ok(())
}

/// Returns `first`, or beside the copies of other lists the next name that is free.
fn free(plan: &Plan<'_>, first: &str, text: &str) -> Result<String, Error> {
    let mut name = first.to_owned();
    for number in 2.. {
        let there = plan.tree.lies(&name)? == Lies::File;
        let other = |bytes: Vec<u8>| bytes != text.as_bytes();
        if !there || !plan.tree.read(&name, 1 << 20)?.is_some_and(other) {
            break;
        }
        name = format!("{first}.{number}");
    }
    Ok(name)
}

/// Names a rule outside `.operator` that keeps the views from being tracked.
pub(super) fn warn_outside_rule(plan: &mut Plan<'_>, repo: &Repo) -> Result<(), Error> {
    let view = ".operator/VERDICTS.md";
    let ignored = repo
        .git(["check-ignore", "-q", "--no-index", view])
        .read_only()
        .run()?;
    if ignored.code != 0 {
        return Ok(());
    }
    let named = repo
        .git(["check-ignore", "-v", "--no-index", view])
        .read_only()
        .run()?;
    let rule = String::from_utf8_lossy(&named.stdout);
    let rule = rule.split('\t').next().unwrap_or_default();
    plan.say(
        Act::Warned,
        format!("'{view}' is ignored by the rule {rule}"),
        Some("no evidence leaves this clone"),
    );
    Ok(())
}
