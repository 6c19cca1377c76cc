use std::{path::Path, time::Duration};

use super::{Error, Repo, Snapshot, Survey, Taint, Trust, Until};
use crate::model::{Change, Delta, DeltaEntry, Digest, Oid, Stamp, TreeState, json::Value};

const DELTA_INLINE: usize = 200;
const DELTA_BYTES: usize = 24 * 1024;
const DELTA_STORED: usize = 2_000;
const DELTA_PATHS: usize = 50;
const VERDICT_BUDGET: Duration = Duration::from_secs(2);

/// How long a stamp may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// Two seconds: past them the verdict has its stamp and no more.
    Verdict,
    /// As long as it needs.
    Run,
}

/// How a stamp is made.
#[derive(Clone, Copy, Debug)]
pub struct StampRequest<'a> {
    pub budget: Budget,
    pub trust: Trust,
    /// The repository's root commits where they are known already; else they are looked for.
    pub roots: &'a [Oid],
}

/// Why a stamp names no subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shortfall {
    NoRepository,
    OutOfTime,
    Failed(String),
}

impl std::fmt::Display for Shortfall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoRepository => f.write_str("there is no repository"),
            Self::OutOfTime => f.write_str("the working tree could not be read in 2 s"),
            Self::Failed(reason) => f.write_str(reason),
        }
    }
}

/// What a verdict says of the source it speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamped {
    pub stamp: Stamp,
    pub head: Option<Oid>,
    pub subject: Option<Oid>,
    /// `None` where the subject is HEAD's, or is not known.
    pub delta: Option<Delta>,
    pub change: Option<Change>,
    pub taints: Vec<String>,
    /// The root commits; `None` in a shallow or unborn repository.
    pub repo: Option<Vec<Oid>>,
    /// What goes into the evidence ref beside the record: a delta too long for it.
    pub blobs: Vec<Vec<u8>>,
    /// Why the subject is missing, if it is.
    pub shortfall: Option<Shortfall>,
}

impl Stamped {
    /// Returns the stamp where there is no repository.
    pub fn no_vcs() -> Self {
        Self::bare(Stamp::NoVcs, None, Shortfall::NoRepository)
    }

    fn bare(stamp: Stamp, head: Option<Oid>, shortfall: Shortfall) -> Self {
        Self {
            stamp,
            head,
            subject: None,
            delta: None,
            change: None,
            taints: Vec::new(),
            repo: None,
            blobs: Vec::new(),
            shortfall: Some(shortfall),
        }
    }
}

/// A stamp and the snapshot behind it.
pub struct Measured {
    pub stamped: Stamped,
    pub snapshot: Option<Snapshot>,
}

impl Repo {
    /// Stamps the working tree as it is now. A repository that cannot be read is no refusal: the
    /// stamp says so.
    pub fn stamp(&self, request: StampRequest<'_>) -> Stamped {
        self.measure(request).stamped
    }

    /// Stamps the working tree and keeps the snapshot.
    pub fn measure(&self, request: StampRequest<'_>) -> Measured {
        let until = match request.budget {
            Budget::Verdict => Until::after(VERDICT_BUDGET),
            Budget::Run => Until::done(),
        };
        if self.is_store() {
            return Measured::without(Stamped::no_vcs());
        }
        let survey = match self.survey(request.trust, until) {
            Ok(survey) => survey,
            Err(error) => return Measured::without(self.unknown(&error)),
        };
        let stamp = stamp_of(&survey);
        let (head, taints) = (survey.head, survey.taints.clone());
        match self.snapshot(survey, until) {
            Ok(snapshot) => self.stamped(
                Found {
                    stamp,
                    head,
                    taints,
                    snapshot,
                },
                request,
                until,
            ),
            Err(error) => Measured::without(Stamped {
                taints: texts(&taints),
                repo: self.roots(head, request.roots, until),
                ..Stamped::bare(stamp, head, shortfall(&error))
            }),
        }
    }

    /// Stamps what an index would commit.
    pub fn measure_index(
        &self,
        index: &Path,
        request: StampRequest<'_>,
    ) -> Result<Measured, Error> {
        let head = self.head()?.commit();
        let snapshot = self.snapshot_of_index(index, Until::done())?;
        let stamp = match (head, snapshot.delta.is_empty()) {
            (None, _) => Stamp::NoCommit,
            (Some(head), true) => commit_stamp(head, TreeState::Clean),
            (Some(head), false) => commit_stamp(head, TreeState::Dirty),
        };
        let found = Found {
            stamp,
            head,
            taints: Vec::new(),
            snapshot,
        };
        Ok(self.stamped(found, request, Until::done()))
    }

    /// Stamps a commit, whatever lies in the working tree.
    pub fn measure_commit(
        &self,
        commit: Oid,
        request: StampRequest<'_>,
    ) -> Result<Measured, Error> {
        let found = Found {
            stamp: commit_stamp(commit, TreeState::Clean),
            head: Some(commit),
            taints: Vec::new(),
            snapshot: self.snapshot_of_commit(Some(commit))?,
        };
        Ok(self.stamped(found, request, Until::done()))
    }

    /// Returns HEAD and the snapshot of the working tree, and nothing a record needs besides.
    pub fn measure_plain(&self, trust: Trust) -> Result<(Option<Oid>, Snapshot), Error> {
        let survey = self.survey(trust, Until::done())?;
        let head = survey.head;
        Ok((head, self.snapshot(survey, Until::done())?))
    }

    fn stamped(&self, found: Found, request: StampRequest<'_>, until: Until) -> Measured {
        let Found {
            stamp,
            head,
            mut taints,
            snapshot,
        } = found;
        let looking = match request.budget {
            Budget::Verdict => Until::after(Duration::from_millis(50)),
            Budget::Run => until,
        };
        // A repository whose blobs cannot be sized has no say on filters.
        if self.has_filtered(looking).unwrap_or(false) {
            taints.push(Taint::Filters);
            taints.sort();
        }
        let change = head.and_then(|head| self.change(head, &snapshot, until).ok().flatten());
        let (delta, blob) = delta_of(&snapshot.delta);
        let stamped = Stamped {
            stamp,
            head,
            subject: Some(snapshot.subject),
            delta,
            change,
            taints: texts(&taints),
            repo: self.roots(head, request.roots, until),
            blobs: blob.into_iter().collect(),
            shortfall: None,
        };
        Measured {
            stamped,
            snapshot: Some(snapshot),
        }
    }

    /// HEAD can often be read when the working tree cannot.
    fn unknown(&self, error: &Error) -> Stamped {
        let head = match self.head() {
            Ok(head) => head.commit(),
            Err(_) => return Stamped::bare(Stamp::NoVcs, None, shortfall(error)),
        };
        let stamp = match head {
            Some(head) => commit_stamp(head, TreeState::Unknown),
            None => Stamp::NoCommit,
        };
        Stamped::bare(stamp, head, shortfall(error))
    }

    /// Returns the root commits of HEAD and the branches; `None` where history is cut off, or they
    /// could not be found in time.
    fn roots(&self, head: Option<Oid>, known: &[Oid], until: Until) -> Option<Vec<Oid>> {
        let head = head?;
        if self.is_shallow() {
            return None;
        }
        if self.still_begins(head, known) {
            return Some(known.to_vec());
        }
        self.root_commits(until)
            .ok()
            .filter(|roots| !roots.is_empty())
    }

    /// Says whether `known` may still be the root commits: they are there, and the history of `head`
    /// does not begin with itself.
    fn still_begins(&self, head: Oid, known: &[Oid]) -> bool {
        let has_parents = || {
            self.commit(head)
                .is_ok_and(|commit| !commit.parents.is_empty())
        };
        !known.is_empty()
            && known.iter().all(|root| self.has(*root))
            && (known.contains(&head) || has_parents())
    }

    /// Looks for the root commits of HEAD and the branches.
    pub fn root_commits(&self, until: Until) -> Result<Vec<Oid>, Error> {
        let args = ["rev-list", "--max-parents=0", "HEAD", "--branches"];
        let output = until.bound(self.forced(&args)).output()?;
        let text = String::from_utf8_lossy(&output);
        let mut roots: Vec<Oid> = text.lines().filter_map(|line| line.parse().ok()).collect();
        roots.sort();
        roots.truncate(16);
        Ok(roots)
    }
}

struct Found {
    stamp: Stamp,
    head: Option<Oid>,
    taints: Vec<Taint>,
    snapshot: Snapshot,
}

impl Measured {
    fn without(stamped: Stamped) -> Self {
        Self {
            stamped,
            snapshot: None,
        }
    }
}

fn stamp_of(survey: &Survey) -> Stamp {
    match (survey.head, survey.is_dirty()) {
        (None, _) => Stamp::NoCommit,
        (Some(head), true) => commit_stamp(head, TreeState::Dirty),
        (Some(head), false) => commit_stamp(head, TreeState::Clean),
    }
}

fn commit_stamp(head: Oid, tree: TreeState) -> Stamp {
    Stamp::Commit {
        id: head.to_hex(),
        tree,
    }
}

fn texts(taints: &[Taint]) -> Vec<String> {
    taints.iter().map(Taint::to_string).collect()
}

fn shortfall(error: &Error) -> Shortfall {
    match error {
        Error::Deadline { .. } => Shortfall::OutOfTime,
        other => Shortfall::Failed(other.to_string()),
    }
}

/// Returns what a record says of a delta, and the bytes to store beside it when it is long.
pub(crate) fn delta_of(entries: &[DeltaEntry]) -> (Option<Delta>, Option<Vec<u8>>) {
    let count = entries.len() as u64;
    if entries.is_empty() {
        return (None, None);
    }
    if entries.len() > DELTA_STORED {
        return (Some(Delta::Omitted { count }), None);
    }
    let list = Value::List(entries.iter().map(DeltaEntry::to_value).collect()).to_string();
    if entries.len() <= DELTA_INLINE && list.len() <= DELTA_BYTES {
        return (Some(Delta::Inline(entries.to_vec())), None);
    }
    let paths = entries
        .iter()
        .take(DELTA_PATHS)
        .map(|entry| entry.path.clone());
    let stored = Delta::Stored {
        digest: Digest::of(list.as_bytes()),
        count,
        paths: paths.collect(),
    };
    (Some(stored), Some(list.into_bytes()))
}
