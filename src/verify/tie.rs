//! What ties single records to a commit, for whoever reads them.

use std::collections::{BTreeSet, HashMap};

use super::{
    Binding, Error, Grade,
    binding::{self, Claim, Near},
    source::Source,
};
use crate::{
    model::{AttemptResult, Body, Digest, Oid, Record, RepoPath},
    store::Store,
};

/// How many of a record's paths a sentence names.
const PATHS: usize = 5;

/// How a record stands to a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tie {
    pub commit: Oid,
    pub binding: Binding,
    /// The commit it was made at, where that became this one by an amend or a rebase.
    pub from: Option<Oid>,
}

impl Tie {
    /// Returns the grade, else the word for what keeps it from one.
    pub fn word(&self) -> &'static str {
        match self.binding.grade() {
            Some(grade) => grade.as_str(),
            None => self.binding.as_str(),
        }
    }

    /// Returns the sentence that says what the word means.
    pub fn sentence(&self) -> String {
        let said = self.said();
        match self.from {
            Some(old) => format!("{said}; {} became {}", old.short(), self.commit.short()),
            None => said,
        }
    }

    fn said(&self) -> String {
        let at = self.commit.short();
        match &self.binding {
            Binding::Bound(grade) => graded(*grade, &at),
            Binding::Stale(paths) => format!(
                "it was made before {at}, and the source is another since{}",
                named(paths)
            ),
            Binding::DirtyUnmatched(paths) => format!(
                "it was made on uncommitted changes, and {at} is not what they were{}",
                named(paths)
            ),
            Binding::Unreachable(paths) => format!(
                "the commit it was made at is not in the history of {at}{}",
                named(paths)
            ),
            Binding::UnknownCommit => {
                "the commit it was made at is not in this repository".to_owned()
            }
            Binding::Unbound => "it names no source".to_owned(),
            Binding::Mutated => "the source changed while the command ran".to_owned(),
            Binding::Undecidable => format!("this clone lacks the history that ties it to {at}"),
        }
    }
}

fn graded(grade: Grade, at: &str) -> String {
    match grade {
        Grade::Exact => format!("it was made at {at}, with nothing changed"),
        Grade::Tree => format!("the source of {at} is the one it was made on"),
        Grade::Scope => format!("{at} differs only outside the inputs of its criterion"),
        Grade::Merge => {
            format!("{at} is its parent merged with what it was made on; that tree is untested")
        }
        Grade::Delta => {
            format!("{at} makes the change it was made on to another base; that tree is untested")
        }
        Grade::Patch => {
            format!("{at} makes the same change by its text; that tree is untested")
        }
    }
}

fn named(paths: &[RepoPath]) -> String {
    if paths.is_empty() {
        return String::new();
    }
    let first: Vec<String> = paths.iter().take(PATHS).map(RepoPath::quoted).collect();
    let more = match paths.len().saturating_sub(PATHS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(": {}{more}", first.join(", "))
}

/// A commit that records are tied to.
pub struct Ties<'a> {
    store: &'a Store,
    commit: Oid,
    source: Source<'a>,
    olds: BTreeSet<Oid>,
}

impl<'a> Ties<'a> {
    pub fn new(store: &'a Store, commit: Oid) -> Result<Self, Error> {
        Ok(Self {
            store,
            commit,
            source: Source::new(store.repo(), Some(commit))?,
            olds: came_from(store, commit)?,
        })
    }

    /// Returns how a verdict or an attempt stands by what ids alone say: exact, tree, or not.
    pub fn of(&self, record: &Record) -> Result<Option<Tie>, Error> {
        let claim = match &record.body {
            Body::Verdict(verdict) => Claim::of(verdict, &self.source),
            Body::Attempt(attempt) if attempt.result == Some(AttemptResult::Mutated) => {
                return Ok(Some(self.tie(attempt.head, Binding::Mutated)));
            }
            Body::Attempt(attempt) => match &attempt.stamp {
                Some(stamp) => Claim::new(stamp, (attempt.head, attempt.subject), &self.source),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let binding = binding::bind(&claim, &self.source)?;
        Ok(Some(self.tie(claim.head, binding)))
    }

    /// Returns the same with paths and the weaker grades.
    pub fn closely(&self, record: &Record) -> Result<Option<Tie>, Error> {
        let found = self.of(record)?;
        let (Some(tie), Body::Verdict(verdict)) = (&found, &record.body) else {
            return Ok(found);
        };
        if tie.binding.grade().is_some() {
            return Ok(found);
        }
        let stored = |digest: &Digest| self.store.evidence(digest).ok().flatten();
        let mut near = [Near {
            claim: Claim::of(verdict, &self.source),
            entries: binding::entries(verdict, &stored),
            inputs: None,
            by_text: true,
            binding: tie.binding.clone(),
        }];
        binding::deepen(&mut near, &self.source)?;
        let [near] = near;
        Ok(Some(self.tie(near.claim.head, near.binding)))
    }

    fn tie(&self, head: Option<Oid>, binding: Binding) -> Tie {
        Tie {
            commit: self.commit,
            binding,
            from: head.filter(|head| self.olds.contains(head)),
        }
    }
}

/// Returns the commits that became `commit` by amends and rebases, as the hooks recorded.
pub fn came_from(store: &Store, commit: Oid) -> Result<BTreeSet<Oid>, Error> {
    let rewrites = store.of_kinds(&["rewrite"])?;
    let mut before: HashMap<Oid, Vec<Oid>> = HashMap::new();
    for record in rewrites.iter() {
        if let Body::Rewrite(rewrite) = &record.body {
            for pair in &rewrite.pairs {
                before.entry(pair.new).or_default().push(pair.old);
            }
        }
    }
    let mut found = BTreeSet::new();
    let mut queue = vec![commit];
    while let Some(next) = queue.pop() {
        let olds = before.get(&next).into_iter().flatten();
        queue.extend(olds.filter(|old| **old != commit && found.insert(**old)));
    }
    Ok(found)
}
