//! What is judged by what: the target, the base whose rules apply, the ref they are asked of.

use std::collections::HashSet;

use super::{
    Error, Finding, Report,
    context::{of_view, place, row_keys},
    judge::{self, Request},
    report::{Policy, Severity},
    requirements::{self, Requirements},
    sign::{Programs, Trust},
};
use crate::{
    git::{
        self, Head, Landing, Range, Repo,
        files::{FileError, Tree},
    },
    ledger::Ledger,
    model::{Oid, Record, RecordId, RepoPath},
    store::{LEDGER, Store, Warning},
    view::{View, row_key},
};

/// A view longer than this is not read.
const VIEW_LIMIT: u64 = 256 << 20;

/// What somebody asks of `verify`.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// A revision or a range; HEAD when absent.
    pub spec: Option<String>,
    /// Where the requirements are read; the base when absent.
    pub policy_from: Option<String>,
    /// The ref whose requirements apply.
    pub name: Option<String>,
    /// Only these criteria; empty for all.
    pub only: Vec<String>,
    /// What a job says of itself.
    pub event: Event,
    /// ms since 1970, by the real clock.
    pub now: u64,
}

/// What a job says of the change it runs for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    pub head: Option<String>,
    pub base: Option<String>,
    /// The full name of the ref the change is to land on.
    pub name: Option<String>,
    /// What a branch was before the push the job runs for.
    pub before: Option<String>,
}

impl Event {
    /// Reads the event of a GitHub job; one that is of another kind says nothing.
    pub fn of_github(text: &str) -> Self {
        let Ok(event) = serde_json::from_str::<serde_json::Value>(text) else {
            return Self::default();
        };
        let text = |pointer: &str| {
            let value = event.pointer(pointer).and_then(serde_json::Value::as_str);
            value.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let branch = |name: String| match name.starts_with("refs/") {
            true => name,
            false => format!("refs/heads/{name}"),
        };
        if event.get("pull_request").is_some() {
            return Self {
                head: text("/pull_request/head/sha"),
                base: text("/pull_request/base/sha"),
                name: text("/pull_request/base/ref").map(branch),
                before: None,
            };
        }
        let is_branch = |name: String| name.starts_with("refs/heads/");
        let pushed = text("/after").is_some() && text("/ref").is_some_and(is_branch);
        let was = |id: &String| pushed && id.bytes().any(|digit| digit != b'0');
        let to_default = match (text("/repository/default_branch"), text("/ref")) {
            (Some(default), Some(name)) => name == branch(default),
            (None, _) | (_, None) => true,
        };
        Self {
            head: text("/merge_group/head_sha"),
            base: text("/merge_group/base_sha"),
            name: text("/merge_group/base_ref").map(branch),
            before: text("/before").filter(was).filter(|_| to_default),
        }
    }
}

/// Judges the ledger as asked. Nothing is written.
pub fn verify(store: &Store, ask: &Ask) -> Result<Report, Error> {
    Ok(judged(store, ask)?.0)
}

/// Judges the ledger as asked, and returns by which requirements.
pub(super) fn judged(store: &Store, ask: &Ask) -> Result<(Report, Option<Requirements>), Error> {
    let repo = store.repo();
    let Resolved {
        target,
        from,
        is_proven,
    } = resolve(repo, ask).map_err(|error| not_given(repo, error))?;
    let mut policy = Policy {
        from,
        blob: None,
        name: None,
    };
    let requirements = match from {
        Some(from) => read_requirements(repo, from, &mut policy)?,
        None => None,
    };
    policy.name = ref_name(repo, ask, requirements.as_ref())?;
    let trust = trust(repo, from, requirements.as_ref())?;
    let tip = store.tip()?;
    let ledger = store.load()?;
    let roots = || roots(store);
    let accepted = accepted(repo, from, &ledger)?;
    let request = Request {
        target,
        policy,
        requirements: requirements.as_ref(),
        only: &ask.only,
        now: ask.now,
        trust: &trust,
        roots: &roots,
        accepted: &accepted,
    };
    let mut report = judge::judge(store, &ledger, &request)?;
    let keys = ledger
        .iter()
        .filter_map(|record| row_key(View::Verdicts, record))
        .collect();
    let backed = tip.is_some().then_some(&keys);
    let mut rows = false;
    for view in View::ALL {
        let bytes = match view_bytes(repo, ask, target, view) {
            Ok(bytes) => bytes,
            // A link, say, or a directory: no rows, and worth no less than a tree that holds one.
            Err(Error::View(error)) => {
                report.findings.push(unreadable(view, &error));
                continue;
            }
            Err(error) => return Err(error),
        };
        rows |= !row_keys(&bytes).is_empty();
        report.findings.extend(of_view(view, &bytes, backed));
    }
    if tip.is_none() && rows {
        let message = format!("there is no '{LEDGER}' here, and VERDICTS.md has rows");
        report.findings.retain(|finding| finding.word != "vacuous");
        let finding = Finding::new("no-ledger", Severity::Undecided, message);
        report.findings.push(finding.remedy(fetch(repo, "")?));
    }
    if !is_proven {
        report.findings.push(unproven(repo)?);
    }
    for warning in store.take_warnings() {
        let severity = match warning {
            Warning::Shallow { .. } => Severity::Undecided,
            Warning::Moved { .. }
            | Warning::Missing { .. }
            | Warning::Unreadable { .. }
            | Warning::Refused { .. } => Severity::Warning,
        };
        if severity == Severity::Undecided {
            report.findings.retain(|finding| finding.word != "gap");
        }
        let remedy = match warning {
            Warning::Shallow { .. } => fetch(repo, "--unshallow ")?,
            _ => fetch(repo, "")?,
        };
        report
            .findings
            .push(Finding::new("ledger", severity, warning.to_string()).remedy(remedy));
    }
    Ok((report, requirements))
}

fn unreadable(view: View, error: &FileError) -> Finding {
    let path = format!(".operator/{}", view.file_name());
    let message = format!("'{path}' cannot be judged: {error}");
    Finding::new("outside-subject", Severity::Unmet, message).at(RepoPath::from(path.as_str()), 0)
}

/// What is judged, and by whose requirements.
struct Resolved {
    target: Option<Oid>,
    from: Option<Oid>,
    /// Whether the requirements are those of the branch the target is to land on.
    is_proven: bool,
}

/// Returns the target and the base.
fn resolve(repo: &Repo, ask: &Ask) -> Result<Resolved, git::Error> {
    let given = match &ask.policy_from {
        Some(spec) => Some(repo.rev_parse(spec)?),
        None => None,
    };
    let spec = ask.spec.as_deref();
    let (target, base) = match spec {
        Some(spec) => match repo.rev_range(spec)? {
            Range::One(commit) => (Some(commit), None),
            Range::Between { from, to } => (Some(to), Some(from)),
            Range::Symmetric { left, right } => (Some(right), repo.merge_base(left, right)?),
        },
        None => match &ask.event.head {
            Some(head) => (Some(repo.rev_parse(head)?), None),
            None => (repo.head()?.commit(), None),
        },
    };
    // What a job says of the base holds for whatever revision it names; a range has its own.
    let event = match (&ask.event.base, given.or(base)) {
        (Some(base), None) => Some(repo.rev_parse(base)?),
        _ => None,
    };
    let (from, is_proven) = match (target, given.or(base).or(event)) {
        (_, Some(from)) => (Some(from), true),
        (Some(target), None) => {
            let (from, is_proven) = landed(repo, ask, target)?;
            (Some(from), is_proven)
        }
        (None, None) => (None, true),
    };
    Ok(Resolved {
        target,
        from,
        is_proven,
    })
}

/// Returns where the target left the branch it is to land on, and whether that is known. What was pushed to
/// that branch itself left it at what it was before, and would be its own base.
fn landed(repo: &Repo, ask: &Ask, target: Oid) -> Result<(Oid, bool), git::Error> {
    let landing = match repo.landing(target) {
        Ok(landing) => landing,
        Err(error) if error.is_absence() => Landing::Unknown,
        Err(error) => return Err(error),
    };
    let left = match landing {
        Landing::At(base) => base,
        Landing::Own | Landing::Nowhere | Landing::Unknown => target,
    };
    match &ask.event.before {
        Some(before) if left == target => Ok((repo.rev_parse(before)?, true)),
        Some(_) | None => {
            let is_known = landing != Landing::Unknown || !may_have_rules(repo, target)?;
            Ok((left, is_known))
        }
    }
}

/// Says whether the history of `target` knows requirements or signers, or is cut off, so that nobody can say.
fn may_have_rules(repo: &Repo, target: Oid) -> Result<bool, git::Error> {
    if repo.is_shallow() {
        return Ok(true);
    }
    let target = target.to_hex();
    let args = ["rev-list", "-n1", &target, "--"];
    let found = repo
        .git(args)
        .args([requirements::PATH, requirements::SIGNERS])
        .read_only()
        .output()?;
    Ok(!found.is_empty())
}

fn unproven(repo: &Repo) -> Result<Finding, Error> {
    let message = "what this is to land on is not in this clone: its requirements are not known";
    let finding = Finding::new("policy-unproven", Severity::Undecided, message);
    let Some(remote) = remote(repo)? else {
        return Ok(finding);
    };
    let depth = match repo.is_shallow() {
        true => "--unshallow ",
        false => "",
    };
    Ok(finding.remedy(format!(
        "git fetch {depth}--no-tags {remote} '+refs/heads/*:refs/remotes/{remote}/*' && git remote set-head {remote} --auto"
    )))
}

/// Returns the remote that a job fetches from: `origin`, or the only one.
fn remote(repo: &Repo) -> Result<Option<String>, Error> {
    let mut names = repo.config()?.subsections("remote");
    let origin = names.iter().position(|name| name == "origin");
    Ok(match (origin, names.len()) {
        (Some(at), _) => Some(names.swap_remove(at)),
        (None, 1) => names.pop(),
        (None, _) => None,
    })
}

/// Returns the fetch of the ledger, with more options.
fn fetch(repo: &Repo, options: &str) -> Result<String, Error> {
    let remote = remote(repo)?.unwrap_or_else(|| "origin".to_owned());
    Ok(format!(
        "git fetch {options}--no-tags {remote} '+refs/operator/*:refs/operator-remotes/{remote}/*'"
    ))
}

/// Tells what this clone was not given from what is broken.
fn not_given(repo: &Repo, error: git::Error) -> Error {
    let Ok(Some(remote)) = remote(repo) else {
        return error.into();
    };
    match error {
        git::Error::MissingObject { id } => Error::NotGiven {
            what: id.to_hex(),
            remedy: format!("git fetch --no-tags --depth=1 {remote} {id}"),
        },
        git::Error::Revision { spec, .. } if repo.is_shallow() => Error::NotGiven {
            what: spec,
            remedy: format!("git fetch --unshallow {remote}"),
        },
        error => error.into(),
    }
}

fn read_requirements(
    repo: &Repo,
    from: Oid,
    policy: &mut Policy,
) -> Result<Option<Requirements>, Error> {
    let wrong = |reason: String| Error::Requirements {
        at: format!("{}:{}", from.short(), requirements::PATH),
        reason,
    };
    let Some(bytes) = file(repo, from, requirements::PATH, policy)? else {
        // Rules that lie there and cannot be read as such are no absence of rules.
        return match place(repo, repo.commit(from)?.tree, requirements::PATH)? {
            Some(_) => Err(wrong("it is no plain file".to_owned())),
            None => Ok(None),
        };
    };
    let text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8".to_owned()))?;
    Requirements::parse(&text).map(Some).map_err(wrong)
}

fn file(
    repo: &Repo,
    commit: Oid,
    path: &str,
    policy: &mut Policy,
) -> Result<Option<Vec<u8>>, Error> {
    let root = repo.commit(commit)?.tree;
    let Some((0o100_644, blob)) = place(repo, root, path)? else {
        return Ok(None);
    };
    if path == requirements::PATH {
        policy.blob = Some(blob);
    }
    Ok(Some(repo.blob(blob)?))
}

fn trust(
    repo: &Repo,
    from: Option<Oid>,
    requirements: Option<&Requirements>,
) -> Result<Trust, Error> {
    let signers = match from {
        Some(from) => file(repo, from, requirements::SIGNERS, &mut Policy::default())?,
        None => None,
    };
    let revoked = requirements.map(|file| file.sign.revoked.clone());
    let programs = Programs::of(repo.config()?, repo.env());
    Ok(Trust::new(programs, signers, revoked.unwrap_or_default()))
}

/// Returns the ref whose requirements apply: the one asked for, the one a job names, the current
/// branch where it has any, else the one branches land on.
fn ref_name(
    repo: &Repo,
    ask: &Ask,
    requirements: Option<&Requirements>,
) -> Result<Option<String>, Error> {
    let full = |name: &String| match name.starts_with("refs/") {
        true => name.clone(),
        false => format!("refs/heads/{name}"),
    };
    if let Some(name) = ask.name.as_ref().map(full).or(ask.event.name.clone()) {
        return Ok(Some(name));
    }
    let branch = match repo.head()? {
        Head::Branch { name, .. } | Head::Unborn { branch: name } => Some(name),
        Head::Detached { .. } => None,
    };
    let landing = repo.landing_branches()?;
    let names: Vec<String> = branch.into_iter().chain(landing).collect();
    let asked = |name: &&String| requirements.is_some_and(|file| !file.of_ref(name).is_empty());
    Ok(names.iter().find(asked).or(names.first()).cloned())
}

/// Returns the root commits of HEAD and the branches, where they are known or history is whole.
fn roots(store: &Store) -> Vec<Oid> {
    let known = store.state().roots;
    let repo = store.repo();
    match known.is_empty() && !repo.is_shallow() {
        true => repo.roots_reached().unwrap_or_default(),
        false => known,
    }
}

/// Reads a view: of the working tree when what lies there is judged, else of the target.
fn view_bytes(repo: &Repo, ask: &Ask, target: Option<Oid>, view: View) -> Result<Vec<u8>, Error> {
    let path = format!(".operator/{}", view.file_name());
    let here = ask.spec.is_none() && ask.event.head.is_none();
    if let (true, Some(top)) = (here, repo.top()) {
        let read = Tree::open(top).and_then(|tree| tree.read(&path, VIEW_LIMIT));
        return Ok(read.map_err(Error::View)?.unwrap_or_default());
    }
    let Some(target) = target else {
        return Ok(Vec::new());
    };
    let bytes = file(repo, target, &path, &mut Policy::default())?;
    Ok(bytes.unwrap_or_default())
}

/// Returns the records whose rows the base has already: it took them in when they were made.
fn accepted(repo: &Repo, from: Option<Oid>, ledger: &Ledger) -> Result<HashSet<RecordId>, Error> {
    let Some(from) = from else {
        return Ok(HashSet::new());
    };
    let path = format!(".operator/{}", View::Verdicts.file_name());
    let bytes = file(repo, from, &path, &mut Policy::default())?.unwrap_or_default();
    let rows = row_keys(&bytes);
    if rows.is_empty() {
        return Ok(HashSet::new());
    }
    let known =
        |record: &&Record| row_key(View::Verdicts, record).is_some_and(|key| rows.contains(&key));
    Ok(ledger
        .iter()
        .filter(known)
        .map(|record| record.id)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::Event;

    #[test]
    fn a_job_names_head_base_and_branch() {
        let text = r#"{"pull_request":{"head":{"sha":"a"},"base":{"sha":"b","ref":"main"}}}"#;
        let expected = Event {
            head: Some("a".to_owned()),
            base: Some("b".to_owned()),
            name: Some("refs/heads/main".to_owned()),
            before: None,
        };
        assert_eq!(Event::of_github(text), expected);
        let text =
            r#"{"merge_group":{"head_sha":"a","base_sha":"b","base_ref":"refs/heads/main"}}"#;
        assert_eq!(Event::of_github(text), expected);
        for text in ["", "[]", "{}", r#"{"ref":"refs/heads/x"}"#] {
            assert_eq!(Event::of_github(text), Event::default());
        }
    }

    #[test]
    fn a_push_to_a_branch_names_what_it_was() {
        let push = |name: &str, before: &str| {
            Event::of_github(&format!(
                r#"{{"ref":"{name}","before":"{before}","after":"a"}}"#
            ))
        };
        let expected = Event {
            before: Some("0b".to_owned()),
            ..Event::default()
        };
        assert_eq!(push("refs/heads/main", "0b"), expected);
        assert_eq!(push("refs/heads/new", "0000"), Event::default());
        assert_eq!(push("refs/tags/v1", "0b"), Event::default());
    }
}
