use super::{Error, Head, ObjectKind, Repo};
use crate::model::Oid;

/// A set of commits as a person names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// One revision: the commit alone.
    One(Oid),
    /// `A..B`: what `to` reaches and `from` does not.
    Between { from: Oid, to: Oid },
    /// `A...B`: what one of the two reaches and the other does not.
    Symmetric { left: Oid, right: Oid },
}

impl Repo {
    /// Returns the commit that a revision names, tags peeled.
    pub fn rev_parse(&self, spec: &str) -> Result<Oid, Error> {
        let wrong = |reason: &str| Error::Revision {
            spec: spec.to_owned(),
            reason: reason.to_owned(),
        };
        if spec.len() == self.hash_kind().hex_len()
            && let Ok(id) = spec.parse()
            && matches!(self.header(id), Ok((ObjectKind::Commit, _)))
        {
            return Ok(id);
        }
        if spec == "HEAD" {
            return match self.head()? {
                Head::Unborn { .. } => Err(wrong("there is no commit yet")),
                Head::Branch { commit, .. } | Head::Detached { commit } => Ok(commit),
            };
        }
        if self.is_store() {
            return self
                .read_ref(spec)?
                .ok_or_else(|| wrong("there is no such ref"));
        }
        let finished = self
            .git(["rev-parse", "-q", "--verify", "--end-of-options", spec])
            .read_only()
            .run()?;
        let text = String::from_utf8_lossy(&finished.stdout);
        // Some gits print the `--end-of-options` they were given.
        let last = text.lines().last().unwrap_or_default();
        match (finished.code, last.parse()) {
            (0, Ok(id)) => self.peel(id)?.ok_or_else(|| wrong("it names no commit")),
            _ => Err(wrong("there is no such commit")),
        }
    }

    /// Returns the commit whose id begins with these hex digits; `None` when none or several do. No
    /// child, no replace refs.
    pub fn find_commit(&self, digits: &str) -> Option<Oid> {
        let id = match digits.parse() {
            Ok(id) if digits.len() == self.hash_kind().hex_len() => id,
            _ => {
                let prefix = gix::hash::Prefix::from_hex(digits).ok()?;
                let found = self.odb().ok()?.lookup_prefix(prefix, None).ok()??.ok()?;
                super::object::oid_of(&found)
            }
        };
        matches!(self.header(id), Ok((ObjectKind::Commit, _))).then_some(id)
    }

    /// Follows tags to a commit; `None` when they end elsewhere.
    fn peel(&self, mut id: Oid) -> Result<Option<Oid>, Error> {
        loop {
            let (kind, _) = self.header(id)?;
            match kind {
                ObjectKind::Commit => return Ok(Some(id)),
                ObjectKind::Tree | ObjectKind::Blob => return Ok(None),
                ObjectKind::Tag => {
                    let bytes = self.read(id)?.bytes;
                    let target = bytes.split(|c| *c == b'\n').next().unwrap_or_default();
                    let target = target.strip_prefix(b"object ").unwrap_or_default();
                    id = String::from_utf8_lossy(target)
                        .parse()
                        .map_err(|_| Error::Object {
                            id,
                            reason: "it is no tag".to_owned(),
                        })?;
                }
            }
        }
    }

    /// Returns the commits that a revision or a range names; an empty side is HEAD.
    pub fn rev_range(&self, spec: &str) -> Result<Range, Error> {
        let side = |text: &str| match text {
            "" => self.rev_parse("HEAD"),
            text => self.rev_parse(text),
        };
        if let Some((left, right)) = spec.split_once("...") {
            let (left, right) = (side(left)?, side(right)?);
            return Ok(Range::Symmetric { left, right });
        }
        if let Some((from, to)) = spec.split_once("..") {
            let (from, to) = (side(from)?, side(to)?);
            return Ok(Range::Between { from, to });
        }
        self.rev_parse(spec).map(Range::One)
    }
}
