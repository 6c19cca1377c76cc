//! Whether what makes the views merge, and stay what they are, is in force.

use std::path::Path;

use super::{
    Error, Mode,
    doctor::{Finding, START},
    plan::{Plan, local},
    start::{CONFIG, DRIVER_BLOCK, HIDE, lacks_attributes},
};
use crate::{git::Repo, model::shell_quoted, view::View};

const LOCAL_REFS: &str = "refs/operator-local/";

/// Reads the two files that register the driver.
pub(super) fn read(repo: &Repo, found: &mut Vec<Finding>) -> Result<(), Error> {
    let (key, ours) = CONFIG[1];
    let driver = repo.config()?.text(key);
    let common = Plan::new(repo.common_dir(), None, Mode::DryRun)?;
    let attributes = common.text("info/attributes")?.unwrap_or_default();
    if driver.is_none() || !attributes.contains(DRIVER_BLOCK) {
        let what = "the merge driver of the views is not registered in this clone";
        found.push(Finding::fault(what).fix(START));
    } else if let Some(other) = driver.filter(|driver| driver != ours) {
        let what = format!("the merge driver of the views is another command here: '{other}'");
        found.push(Finding::fault(what).fix(START));
    }
    if !local(repo, HIDE.0)?.iter().any(|value| value == HIDE.1) {
        let what = "refs/operator-local is not hidden from those who fetch from this clone";
        found.push(Finding::fault(what).fix(START));
    }
    Ok(())
}

/// Looks at the same with git's eyes.
pub(super) fn check(repo: &Repo, found: &mut Vec<Finding>) -> Result<(), Error> {
    let before = found.len();
    read(repo, found)?;
    if found.len() > before {
        return Ok(());
    }
    let views = View::ALL.map(|view| format!(".operator/{}", view.file_name()));
    let asked = repo.git(["check-attr", "-z", "merge", "--"]).args(&views);
    let answer = asked.read_only().output()?;
    let fields: Vec<&[u8]> = answer.split(|byte| *byte == 0).collect();
    for answer in fields.chunks_exact(3) {
        let [path, value] = [answer[0], answer[2]].map(String::from_utf8_lossy);
        if value != "git-operator" {
            let what = format!(
                "'{path}' is merged by '{value}' and not by the driver: a line behind ours in \
                 'info/attributes' says so"
            );
            found.push(Finding::fault(what));
        }
    }
    Ok(())
}

/// Looks at the tracked files that speak to clones without this program.
pub(super) fn check_tracked(
    top: &Path,
    repo: &Repo,
    found: &mut Vec<Finding>,
) -> Result<(), Error> {
    let plan = Plan::new(top, Some(repo), Mode::DryRun)?;
    if lacks_attributes(&plan)? {
        let what = "'.operator/.gitattributes' lacks a rule: clones without git-operator merge the \
                    views as any text";
        found.push(Finding::fault(what).fix(START));
    }
    if plan.text(".operator/.gitignore")?.is_none() {
        let what =
            "'.operator/.gitignore' is missing: what is to stay in this clone can be committed";
        found.push(Finding::fault(what).fix(START));
    }
    Ok(())
}

/// A bare repository is not started, and can hold refs that are nobody else's.
pub(super) fn check_bare(repo: &Repo, found: &mut Vec<Finding>) -> Result<(), Error> {
    let (key, value) = HIDE;
    let hidden = repo
        .config()?
        .strings(key)
        .iter()
        .any(|hidden| *hidden == value);
    if !hidden && !repo.list_refs(LOCAL_REFS)?.is_empty() {
        let what = "refs/operator-local is not hidden from those who fetch from this repository";
        let fix = format!("git config --add {key} {}", shell_quoted(value));
        found.push(Finding::fault(what).fix(fix));
    }
    Ok(())
}
