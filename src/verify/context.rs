//! What lies around the records: the target's own directory, its policy, the guarded paths.

use std::collections::HashSet;

use super::{
    Error, Finding,
    judge::Request,
    report::Severity,
    requirements,
    source::{Source, Target},
};
use crate::{
    git::Repo,
    model::{Oid, RepoPath},
    view::{Document, Kind, View},
};

const OWN: &str = ".operator";

/// Returns what is found in the target's tree.
pub(super) fn findings(source: &Source<'_>, request: &Request<'_>) -> Result<Vec<Finding>, Error> {
    let Some(target) = &source.target else {
        return Ok(Vec::new());
    };
    let mut found = outside(source.repo, target)?;
    found.extend(modified(source.repo, target, request)?);
    found.extend(guarded(source, target, request)?);
    Ok(found)
}

/// Returns what is wrong with a view: rows no record backs, lines that are no rows, markers a merge
/// left.
pub(super) fn of_view(view: View, bytes: &[u8], backed: Option<&HashSet<String>>) -> Vec<Finding> {
    let path = RepoPath::new(format!("{OWN}/{}", view.file_name()));
    let document = Document::parse(bytes);
    let mut found = Vec::new();
    for (number, line) in document.body() {
        let (word, message) = match &line.kind {
            Kind::Malformed(why) => ("malformed", format!("the line is no row: {why}")),
            Kind::Marker => ("marker", "a merge left this line".to_owned()),
            Kind::Row(row) if row.view == View::Verdicts => {
                match backed.is_none_or(|backed| backed.contains(&row.key)) {
                    true => continue,
                    false => ("unbacked", "no record backs this row".to_owned()),
                }
            }
            _ => continue,
        };
        found.push(Finding::new(word, Severity::Unmet, message).at(path.clone(), number));
    }
    found
}

/// Returns the canonical rows of a view of verdicts.
pub(super) fn row_keys(bytes: &[u8]) -> HashSet<String> {
    let document = Document::parse(bytes);
    let rows = document.lines.iter().filter_map(|line| line.row());
    rows.filter(|row| row.view == View::Verdicts)
        .map(|row| row.key.clone())
        .collect()
}

/// Says whether a file may lie at this path under `.operator/`: elsewhere the subject would not see
/// it.
fn is_listed(path: &str) -> bool {
    const FILES: [&str; 7] = [
        ".gitignore",
        ".gitattributes",
        "VERDICTS.md",
        "DECISIONS.md",
        "tiers.env",
        "requirements.yaml",
        "allowed_signers",
    ];
    if FILES.contains(&path) {
        return true;
    }
    match path.split_once('/') {
        Some(("policies", _)) => true,
        Some(("specs" | "verdicts.d", name)) => name.ends_with(".md") && !name.contains('/'),
        Some(_) => false,
        None => path.starts_with("handoff-") && path.ends_with(".md"),
    }
}

fn outside(repo: &Repo, target: &Target) -> Result<Vec<Finding>, Error> {
    let Some((mode, id)) = place(repo, target.trees.root, OWN)? else {
        return Ok(Vec::new());
    };
    let mut files = Vec::new();
    match mode {
        0o40000 => walk(repo, id, String::new(), &mut files)?,
        mode => files.push((String::new(), mode)),
    }
    let wrong = files
        .into_iter()
        .filter(|(path, mode)| *mode != 0o100_644 || !is_listed(path));
    Ok(wrong
        .map(|(path, mode)| {
            let path = format!("{OWN}/{path}");
            let why = match mode {
                0o100_644 => "it is no file that belongs there",
                0o100_755 => "it is executable",
                0o120_000 => "it is a link",
                _ => "it is no file",
            };
            let message = format!("'{path}' lies outside the subject: {why}");
            Finding::new("outside-subject", Severity::Unmet, message)
                .at(RepoPath::new(path.trim_end_matches('/')), 0)
        })
        .collect())
}

fn walk(
    repo: &Repo,
    tree: Oid,
    prefix: String,
    files: &mut Vec<(String, u32)>,
) -> Result<(), Error> {
    let entries = match repo.tree(tree) {
        Ok(entries) => entries,
        Err(error) if error.is_absence() => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    for entry in entries {
        let name = String::from_utf8_lossy(&entry.name);
        let path = format!("{prefix}{name}");
        match entry.is_tree() {
            true => walk(repo, entry.id, format!("{path}/"), files)?,
            false => files.push((path, entry.mode)),
        }
    }
    Ok(())
}

pub(super) fn place(repo: &Repo, root: Oid, path: &str) -> Result<Option<(u32, Oid)>, Error> {
    match repo.place(root, &RepoPath::from(path)) {
        Ok(place) => Ok(place),
        Err(error) if error.is_absence() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Reports that the target changes what it is judged by; the base's rules hold all the same.
fn modified(repo: &Repo, target: &Target, request: &Request<'_>) -> Result<Vec<Finding>, Error> {
    let Some(from) = request.policy.from.filter(|from| *from != target.commit) else {
        return Ok(Vec::new());
    };
    let base = repo.commit(from)?.tree;
    let mut found = Vec::new();
    for path in [requirements::PATH, requirements::SIGNERS] {
        if place(repo, base, path)? != place(repo, target.trees.root, path)? {
            let message = format!("'{path}' differs from the base; the base's applies");
            let finding = Finding::new("policy-modified", Severity::Warning, message);
            found.push(finding.at(RepoPath::from(path), 0));
        }
    }
    Ok(found)
}

fn guarded(
    source: &Source<'_>,
    target: &Target,
    request: &Request<'_>,
) -> Result<Vec<Finding>, Error> {
    let (Some(file), Some(from)) = (request.requirements, request.policy.from) else {
        return Ok(Vec::new());
    };
    if file.guards.is_empty() || from == target.commit {
        return Ok(Vec::new());
    }
    let base = match source.repo.merge_base(from, target.commit) {
        Ok(base) => base.unwrap_or(from),
        Err(error) if error.is_absence() => from,
        Err(error) => return Err(error.into()),
    };
    let base = source.repo.commit(base)?.tree;
    let mut found = Vec::new();
    for path in source.paths(base, target.trees.root)? {
        let text = String::from_utf8_lossy(path.as_bytes()).into_owned();
        for guard in file
            .guards
            .iter()
            .filter(|guard| guard.paths.matches(&text))
        {
            let message = match &guard.criterion {
                Some(criterion) => format!("'{path}' is guarded: '{criterion}' must be met"),
                None => format!("'{path}' is guarded"),
            };
            let mut finding = Finding::new("guarded-path-changed", Severity::Unmet, message);
            finding.criterion.clone_from(&guard.criterion);
            found.push(finding.at(path.clone(), 0));
        }
    }
    Ok(found)
}
