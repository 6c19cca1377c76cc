//! Whether the hooks of git reach us: those that hold nothing in front of our lines are run, with a
//! variable that makes ours answer and end. What somebody else wrote is read, never run.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    Error, block,
    doctor::{Finding, START},
    hooks::{
        MANAGERS, call, calls, command, config_hooks, directory, is_executable, line, manager,
        untouched, wanted,
    },
    plan::local,
};
use crate::{
    git::{self, Git, Repo},
    model::shell_quoted,
};

/// Set for a hook that is run to see whether it reaches us.
pub const PROBE: &str = "GIT_OPERATOR_PROBE";
const PATIENCE: Duration = Duration::from_secs(10);

/// Returns what the hook `name` answers a probe.
pub fn answer(name: &str) -> String {
    format!("git-operator {} hears {name}", env!("CARGO_PKG_VERSION"))
}

/// What is to be said of a hook.
enum State {
    Fine,
    /// Nothing there calls us.
    Silent,
    Faulty {
        what: String,
        fix: Option<String>,
    },
}

fn faulty(what: impl Into<String>, fix: Option<&str>) -> State {
    State::Faulty {
        what: what.into(),
        fix: fix.map(str::to_owned),
    }
}

/// Names hooks that are not there, cannot run, lie where git does not look, or do not reach us.
pub(super) fn check(top: &Path, repo: &Repo, found: &mut Vec<Finding>) -> Result<(), Error> {
    if config_hooks(repo)? && !local(repo, "hook.git-operator-post-commit.command")?.is_empty() {
        return configured(repo, found);
    }
    let dir = directory(top, repo)?;
    if !dir.is_dir() {
        found.push(nowhere(&dir));
        return Ok(());
    }
    let mut silent = Vec::new();
    let mut faults = Faults::default();
    for (name, text) in wanted(repo)? {
        match look(repo, (top, &dir), (name, text)) {
            State::Fine => {}
            State::Silent => silent.push(name),
            State::Faulty { what, fix } => faults.add(name, what, fix),
        }
    }
    faults.report(&format!(" in '{}'", dir.display()), found);
    unheard((top, repo), (&dir, &silent), found)
}

/// Names hooks that are not there, cannot run or do not call us, by reading them. Settings of hooks are
/// taken for what they say.
pub(super) fn read(top: &Path, repo: &Repo, found: &mut Vec<Finding>) -> Result<(), Error> {
    let config = repo.config()?;
    if config
        .text("hook.git-operator-post-commit.command")
        .is_some()
    {
        return Ok(());
    }
    let dir = directory(top, repo)?;
    if !dir.is_dir() {
        found.push(nowhere(&dir));
        return Ok(());
    }
    let mut silent = Vec::new();
    for (name, _) in wanted(repo)? {
        let path = dir.join(name);
        let hears = is_executable(&path)
            && (fs::read(&path).is_ok_and(|text| calls(&text, name))
                || is_managed(top, &dir, name));
        if !hears {
            silent.push(name);
        }
    }
    unheard((top, repo), (&dir, &silent), found)?;
    let by_hand = silent
        .iter()
        .any(|name| untouched(&dir.join(name)).is_some());
    if let Some(finding) = found.last_mut()
        && by_hand
        && finding.fix.as_deref() == Some(START)
    {
        finding.fix = Some("git operator doctor".to_owned());
    }
    Ok(())
}

fn nowhere(dir: &Path) -> Finding {
    Finding::fault(format!(
        "git looks for hooks in '{}', which is not there: none runs",
        dir.display()
    ))
}

/// Names hooks that do not call us.
fn unheard(
    (top, repo): (&Path, &Repo),
    (dir, names): (&Path, &[&str]),
    found: &mut Vec<Finding>,
) -> Result<(), Error> {
    if names.is_empty() {
        return Ok(());
    }
    let what = format!(
        "the hooks {} in '{}' do not call git-operator",
        names.join(", "),
        dir.display()
    );
    let finding = Finding::fault(what);
    found.push(match manager(top, repo)? {
        Some(name) => finding.fix(format!(
            "add 'git-operator git-hook <name> \"$@\" || :' to the hooks of {name}"
        )),
        None => finding.fix(START),
    });
    Ok(())
}

/// The faults of hooks, those that share one in one line.
#[derive(Default)]
struct Faults(BTreeMap<(String, Option<String>), Vec<&'static str>>);

impl Faults {
    fn add(&mut self, name: &'static str, what: String, fix: Option<String>) {
        self.0.entry((what, fix)).or_default().push(name);
    }

    fn report(self, place: &str, found: &mut Vec<Finding>) {
        for ((what, fix), names) in self.0 {
            let hooks = if names.len() == 1 { "hook" } else { "hooks" };
            let names = names.join(", ");
            let finding = Finding::fault(format!("{hooks} {names}{place}: {what}"));
            found.push(match fix {
                Some(fix) => finding.fix(fix),
                None => finding,
            });
        }
    }
}

fn look(repo: &Repo, (top, dir): (&Path, &Path), (name, shim): (&str, &str)) -> State {
    let path = dir.join(name);
    let Ok(bytes) = fs::read(&path) else {
        return State::Silent;
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let is_call = text.contains("git-operator git-hook");
    if !is_executable(&path) {
        return match is_call {
            true if text == shim => faulty("it is not executable: git passes it by", Some(START)),
            true => {
                let fix = format!("chmod +x {}", shell_quoted(&path.to_string_lossy()));
                faulty("it is not executable: git passes it by", Some(&fix))
            }
            false => State::Silent,
        };
    }
    if !is_call {
        if is_managed(top, dir, name) {
            return State::Fine;
        }
        return match (untouched(&path), manager(top, repo)) {
            (Some(why), Ok(None)) => faulty(
                format!("it does not call git-operator, and {why}"),
                Some(&format!("add to it: {}", line(name))),
            ),
            _ => State::Silent,
        };
    }
    if text == shim {
        return run(repo.program(&path), name);
    }
    match block::parts(&text) {
        Some((front, _)) if front.lines().count() > 1 => in_front(front),
        Some((_, body)) if body != call(name) => {
            faulty("our lines are those of another version", Some(START))
        }
        Some(_) => run(repo.program(&path), name),
        None => {
            let at = text.find("git-operator git-hook").unwrap_or(text.len());
            in_front(&text[..at])
        }
    }
}

/// Lines of somebody else are not run to see where they lead.
fn in_front(front: &str) -> State {
    let ends = |line: &str| {
        let word = line.split([' ', '\t', ';']).next().unwrap_or_default();
        ["exit", "exec", "return"].contains(&word)
    };
    match front.lines().position(ends) {
        Some(at) => faulty(
            format!("it ends in line {} before it calls git-operator", at + 1),
            None,
        ),
        None => State::Fine,
    }
}

/// Runs what git would run and waits for our answer.
fn run(hook: Git<'_>, name: &str) -> State {
    let finished = hook
        .env(PROBE, "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .deadline(PATIENCE)
        .run();
    let finished = match finished {
        Ok(finished) => finished,
        Err(error) => return faulty(format!("it cannot be run: {}", reason(error)), None),
    };
    let said = String::from_utf8_lossy(&finished.stdout).into_owned();
    if said.lines().any(|line| line == answer(name)) {
        return State::Fine;
    }
    let hears = format!(" hears {name}");
    if let Some(other) = said.lines().find_map(|line| line.strip_suffix(&hears)) {
        let own = env!("CARGO_PKG_VERSION");
        return faulty(format!("it calls {other}, and this is {own}"), None);
    }
    if finished.code != 0 {
        return faulty(format!("it fails: {}", reason(finished.error())), None);
    }
    faulty(
        "it ran and did not reach git-operator: is that on the PATH?",
        None,
    )
}

fn reason(error: git::Error) -> String {
    match error {
        git::Error::Git { reason, .. } => reason,
        git::Error::Deadline { deadline, .. } => format!("it was not done after {deadline:?}"),
        other => other.to_string(),
    }
}

/// Looks at the hooks that git's configuration names.
fn configured(repo: &Repo, found: &mut Vec<Finding>) -> Result<(), Error> {
    let mut faults = Faults::default();
    for (name, _) in wanted(repo)? {
        let section = format!("hook.git-operator-{name}");
        let state = match set(repo, &section, name)? {
            Some(state) => state,
            None => {
                let line = format!("{} \"$@\"", command(name));
                run(repo.program("/bin/sh").args(["-c", &line, name]), name)
            }
        };
        if let State::Faulty { what, fix } = state {
            faults.add(name, what, fix);
        }
    }
    faults.report(" of the configuration", found);
    Ok(())
}

/// Says what keeps git from running a hook of the configuration.
fn set(repo: &Repo, section: &str, name: &str) -> Result<Option<State>, Error> {
    let config = repo.config()?;
    for of in [section.to_owned(), format!("hook.{name}")] {
        let key = format!("{of}.enabled");
        if config.bool(&key)? == Some(false) {
            let fix = format!("git config --unset-all {key}");
            return Ok(Some(faulty(format!("{key} switches it off"), Some(&fix))));
        }
    }
    let is_whole = local(repo, &format!("{section}.command"))? == [command(name)]
        && local(repo, &format!("{section}.event"))?
            .iter()
            .any(|event| event == name);
    Ok((!is_whole).then(|| faulty("its settings are not those of start", Some(START))))
}

/// Says whether what a manager reads calls us: husky 9 keeps its hooks beside the directory git looks
/// in, others in a file of the project, as a line of shell or as a list of words.
fn is_managed(top: &Path, dir: &Path, name: &str) -> bool {
    let says = |path: PathBuf| fs::read(path).is_ok_and(|text| names_us(&text, name));
    let beside = dir.ends_with(".husky/_") && says(top.join(".husky").join(name));
    let files = MANAGERS.iter().filter(|manager| **manager != ".husky");
    beside || files.into_iter().any(|manager| says(top.join(manager)))
}

/// Says whether a line that is no comment has the words `git-operator git-hook <name>` in a row,
/// whatever quotes and commas stand between them.
fn names_us(text: &[u8], name: &str) -> bool {
    let text = String::from_utf8_lossy(text);
    let lines = text.lines().map(str::trim_start);
    let said: Vec<&str> = lines
        .filter(|line| !line.starts_with('#') && !line.starts_with("//"))
        .flat_map(|line| line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '/')))
        .filter(|word| !matches!(*word, "" | "-"))
        .collect();
    said.windows(3).any(|words| {
        (words[0] == "git-operator" || words[0].ends_with("/git-operator"))
            && words[1] == "git-hook"
            && words[2] == name
    })
}

#[cfg(test)]
mod tests {
    use super::names_us;

    #[test]
    fn words_in_a_row_are_a_call_and_a_comment_is_none() {
        for text in [
            "run: git-operator git-hook post-commit \"$@\" || :",
            "command: ['git-operator', 'git-hook', 'post-commit']",
            "- git-operator\n- git-hook\n- post-commit\n",
            "check = \"/usr/bin/git-operator git-hook post-commit\"",
        ] {
            assert!(names_us(text.as_bytes(), "post-commit"), "{text}");
            assert!(!names_us(text.as_bytes(), "post-merge"), "{text}");
        }
        for text in [
            "# git-operator git-hook post-commit",
            "  // git-operator git-hook post-commit",
            "git-operator git-hook post-commit-x",
            "git-operator post-commit",
        ] {
            assert!(!names_us(text.as_bytes(), "post-commit"), "{text}");
        }
    }
}
