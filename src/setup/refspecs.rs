//! Configured refspecs that would overwrite or prune what only this clone has, or give it away.

use std::path::Path;

use super::{Error, doctor::Finding};
use crate::{git::Repo, model::shell_quoted};

/// What a fetch must not write.
const LIVE: [&str; 4] = [
    "refs/operator/ledger",
    "refs/operator/evidence",
    "refs/notes/operator",
    "refs/operator-local/ledger",
];
/// What a push must neither replace nor delete.
const SHARED: [&str; 2] = ["refs/operator/ledger", "refs/operator/evidence"];
/// What never leaves the clone, a name of each kind.
const LOCAL: [&str; 4] = [
    "refs/operator-local/ledger",
    "refs/operator-local/pins",
    "refs/operator-local/work/0",
    "refs/operator-local/rescue/0",
];

/// One line of configuration.
struct Entry<'a> {
    /// The file it stands in, as git names it from the top; `None` where a command line set it.
    file: Option<&'a str>,
    key: &'a str,
    /// `None` where the key stands alone, which means true.
    value: Option<&'a str>,
}

/// Names the lines that endanger records.
pub(super) fn check(repo: &Repo, found: &mut Vec<Finding>) -> Result<(), Error> {
    let listed = repo
        .git([
            "config",
            "--null",
            "--show-origin",
            "--get-regexp",
            r"^remote\..*\.(fetch|push|mirror)$",
        ])
        .read_only()
        .run()?;
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    let fields: Vec<&str> = text.split_terminator('\0').collect();
    for pair in fields.chunks_exact(2) {
        let (key, value) = match pair[1].split_once('\n') {
            Some((key, value)) => (key, Some(value)),
            None => (pair[1], None),
        };
        let file = pair[0].strip_prefix("file:");
        let entry = Entry { file, key, value };
        let Some(threat) = threat(&entry) else {
            continue;
        };
        let shown = value.unwrap_or("true");
        let finding = Finding::fault(format!("{key} = {shown} {threat}"));
        found.push(match unset(repo, &entry) {
            Some(fix) => finding.fix(fix),
            None => finding,
        });
    }
    Ok(())
}

fn threat(entry: &Entry<'_>) -> Option<&'static str> {
    let value = entry.value.unwrap_or("true");
    match entry.key.rsplit('.').next()? {
        "fetch" if writes(value, &LIVE) => Some("can overwrite or prune records of this clone"),
        "mirror" if is_true(value) => Some("can overwrite or prune records of this clone"),
        "push" => of_push(value),
        _ => None,
    }
}

/// The words git takes for true (git-config(1)).
fn is_true(value: &str) -> bool {
    let word = value.to_ascii_lowercase();
    matches!(word.as_str(), "true" | "yes" | "on") || word.parse::<i64>().is_ok_and(|n| n != 0)
}

fn of_push(refspec: &str) -> Option<&'static str> {
    let (forced, body) = match refspec.strip_prefix('+') {
        Some(body) => (true, body),
        None => (false, refspec),
    };
    // A negative refspec pushes nothing, and `:` alone only branches.
    if body.starts_with('^') || body == ":" {
        return None;
    }
    let (source, target) = body.split_once(':').unwrap_or((body, body));
    if covers(source, &LOCAL) {
        return Some("pushes what is to stay in this clone");
    }
    let replaces = (forced || source.is_empty()) && covers(target, &SHARED);
    replaces.then_some("can overwrite or delete records of the remote")
}

fn writes(refspec: &str, names: &[&str]) -> bool {
    refspec
        .split_once(':')
        .is_some_and(|(_, target)| covers(target, names))
}

/// Says whether one side of a refspec names any of these.
fn covers(pattern: &str, names: &[&str]) -> bool {
    names.iter().any(|name| match pattern.split_once('*') {
        None => pattern == *name,
        Some((before, after)) => name.starts_with(before) && name.ends_with(after),
    })
}

/// Returns the command that takes the line away, from the file it stands in.
fn unset(repo: &Repo, entry: &Entry<'_>) -> Option<String> {
    let file = repo.top().unwrap_or(repo.common_dir()).join(entry.file?);
    let is_own = file.canonicalize().ok() == repo.common_dir().join("config").canonicalize().ok();
    let place = match is_own {
        true => String::new(),
        false => format!("--file {} ", shown(&file)),
    };
    let key = shell_quoted(entry.key);
    Some(match entry.value {
        Some(value) => format!(
            "git config {place}--unset-all --fixed-value {key} {}",
            shell_quoted(value)
        ),
        None => format!("git config {place}--unset-all {key}"),
    })
}

fn shown(file: &Path) -> String {
    shell_quoted(&file.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::{is_true, of_push};

    #[test]
    fn a_push_that_gives_away_or_replaces_is_told_from_one_that_does_not() {
        for safe in [
            ":",
            "+:",
            "refs/heads/*:refs/heads/*",
            "+refs/heads/*:refs/heads/*",
            "refs/operator/*:refs/operator/*",
            "^refs/operator-local/*",
            "HEAD",
            ":refs/heads/old",
        ] {
            assert_eq!(of_push(safe), None, "{safe}");
        }
        for local in [
            "refs/*:refs/*",
            "+refs/*:refs/*",
            "refs/*",
            "refs/operator-local/*:refs/backup/*",
            "refs/operator-local/pins:refs/heads/pins",
            "refs/operator*:refs/operator*",
        ] {
            assert_eq!(
                of_push(local),
                Some("pushes what is to stay in this clone"),
                "{local}"
            );
        }
        for replaced in [
            ":refs/operator/ledger",
            "+refs/operator/*:refs/operator/*",
            "+main:refs/operator/evidence",
        ] {
            assert_eq!(
                of_push(replaced),
                Some("can overwrite or delete records of the remote"),
                "{replaced}"
            );
        }
    }

    #[test]
    fn true_has_many_names() {
        assert!(["true", "Yes", "ON", "1", "-2"].into_iter().all(is_true));
        assert!(
            ["false", "no", "off", "0", ""]
                .into_iter()
                .all(|word| !is_true(word))
        );
    }
}
