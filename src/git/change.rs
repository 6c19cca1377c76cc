//! The change a branch makes to what it is to land on, and how it is known again elsewhere.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Error, Head, Repo, Snapshot, Until, bench::Quarantine};
use crate::model::{Change, DeltaEntry, Digest, Oid, RepoPath, json::Value};

/// Beyond so many paths no patch id is asked for.
const PATCH_LIMIT: usize = 2_000;

/// How a child writes the patch whose id is taken; no setting of the user's changes it.
const PATCH: [&str; 12] = [
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--full-index",
    "--binary",
    "--diff-algorithm=myers",
    "--inter-hunk-context=0",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "-U3",
    "-p",
    "-r",
];

/// Returns the digest by which two changes of the same paths, modes and contents are known as one.
pub fn change_digest(entries: &[DeltaEntry]) -> Digest {
    let list = Value::List(entries.iter().map(DeltaEntry::to_value).collect());
    Digest::of(list.to_string().as_bytes())
}

/// Where the history of a commit is to land.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landing {
    /// It left the branch it is to land on at this commit.
    At(Oid),
    /// It is what a branch holds that others land on.
    Own,
    /// There is one line of history only, and nobody it came from.
    Nowhere,
    /// This clone was not given the branch, or nothing that both have.
    Unknown,
}

impl Repo {
    /// Returns the commit where the history of `head` left the branch it is to land on; `None` where
    /// that is not known, or `head` is what the current branch holds, and others land there.
    pub fn landing_base(&self, head: Oid) -> Result<Option<Oid>, Error> {
        match self.landing(head)? {
            Landing::At(base) => Ok(Some(base)),
            Landing::Own | Landing::Nowhere | Landing::Unknown => Ok(None),
        }
    }

    /// Returns where the history of `head` is to land.
    pub fn landing(&self, head: Oid) -> Result<Landing, Error> {
        let current = match self.head()? {
            Head::Branch { name, commit } if commit == head => Some(name),
            Head::Branch { .. } | Head::Unborn { .. } | Head::Detached { .. } => None,
        };
        let mut found = Landing::Nowhere;
        for name in self.landing_refs()? {
            if current.as_ref() == Some(&name) {
                found = Landing::Own;
                continue;
            }
            if let Some(target) = self.read_ref(&name)? {
                let base = self.merge_base(head, target)?;
                return Ok(base.map_or(Landing::Unknown, Landing::At));
            }
        }
        let comes_from_elsewhere =
            self.is_shallow() || !self.config()?.subsections("remote").is_empty();
        Ok(match found {
            Landing::Nowhere if comes_from_elsewhere => Landing::Unknown,
            found => found,
        })
    }

    /// Returns the names a landing branch may have, best first, those that are there.
    pub fn landing_branches(&self) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        for name in self.landing_refs()? {
            let branch = match name.strip_prefix("refs/remotes/origin/") {
                Some("HEAD") => continue,
                Some(branch) => format!("refs/heads/{branch}"),
                None => name.clone(),
            };
            if self.read_ref(&name)?.is_some() && !found.contains(&branch) {
                found.push(branch);
            }
        }
        Ok(found)
    }

    fn landing_refs(&self) -> Result<Vec<String>, Error> {
        let default = self.config()?.text("init.defaultBranch");
        let names = default.into_iter().chain(["main".into(), "master".into()]);
        let names: Vec<String> = names.collect();
        let mut refs = vec!["refs/remotes/origin/HEAD".to_owned()];
        refs.extend(
            names
                .iter()
                .map(|name| format!("refs/remotes/origin/{name}")),
        );
        refs.extend(names.iter().map(|name| format!("refs/heads/{name}")));
        Ok(refs)
    }

    /// Returns the change from the landing base to a snapshot taken at `head`.
    pub fn change(
        &self,
        head: Oid,
        snapshot: &Snapshot,
        until: Until,
    ) -> Result<Option<Change>, Error> {
        let Some(base) = self.landing_base(head)? else {
            return Ok(None);
        };
        let base_root = self.commit(base)?.tree;
        let entries = self.diff_from(base_root, snapshot)?;
        if entries.is_empty() {
            return Ok(None);
        }
        let patch = match entries.len() <= PATCH_LIMIT && !until.is_bounded() {
            true => self.patch_id(base_root, snapshot)?,
            false => None,
        };
        Ok(Some(Change {
            base,
            digest: change_digest(&entries),
            patch,
        }))
    }

    /// Returns what differs from the subject of a root to that of a snapshot.
    pub fn diff_from(&self, root: Oid, snapshot: &Snapshot) -> Result<Vec<DeltaEntry>, Error> {
        let reader = match snapshot.objects() {
            Some(objects) => &self.over(objects),
            None => self,
        };
        reader.diff_subjects(Some(root), Some(snapshot.root))
    }

    fn patch_id(&self, base_root: Oid, snapshot: &Snapshot) -> Result<Option<Oid>, Error> {
        let (old, new) = (base_root.to_hex(), snapshot.root.to_hex());
        let mut args = vec!["diff-tree"];
        args.extend(PATCH);
        args.extend([
            old.as_str(),
            new.as_str(),
            "--",
            ".",
            ":(exclude,top).operator",
        ]);
        let git = self.forced(&args);
        let git = match snapshot.objects() {
            Some(objects) => git.env("GIT_OBJECT_DIRECTORY", objects),
            None => git,
        };
        let header = format!("{new}\n").into_bytes();
        let patch = [header, git.output()?].concat();
        Ok(self.patch_ids(patch)?.into_iter().map(|(id, _)| id).next())
    }

    /// Returns git's verbatim patch ids of a stream of patches, each with the id its header named.
    fn patch_ids(&self, patches: Vec<u8>) -> Result<Vec<(Oid, Oid)>, Error> {
        let git = self.forced(&["patch-id", "--verbatim"]).stdin(patches);
        let output = String::from_utf8_lossy(&git.output()?).into_owned();
        let pair = |line: &str| {
            let (id, of) = line.split_once(' ')?;
            Some((id.parse().ok()?, of.trim().parse().ok()?))
        };
        Ok(output.lines().filter_map(pair).collect())
    }

    /// Returns the verbatim patch ids between pairs of root trees, by two children whatever their
    /// number; a pair without a difference has none.
    pub fn patch_ids_of(&self, pairs: &[(Oid, Oid)]) -> Result<HashMap<(Oid, Oid), Oid>, Error> {
        let mut args = vec!["diff-tree", "--stdin"];
        args.extend(PATCH);
        args.extend(["--", ".", ":(exclude,top).operator"]);
        let line = |(old, new): &(Oid, Oid)| format!("{old} {new}");
        let lines: Vec<String> = pairs.iter().map(line).collect();
        let stdin = lines
            .iter()
            .map(|line| format!("{line}\n"))
            .collect::<String>();
        let output = self.forced(&args).stdin(stdin).output()?;
        // patch-id names a patch by the first id of its header, which pairs may share.
        let places: HashMap<&[u8], usize> = lines
            .iter()
            .enumerate()
            .map(|(at, line)| (line.as_bytes(), at))
            .collect();
        let mut patches = Vec::with_capacity(output.len());
        for text in output.split_inclusive(|c| *c == b'\n') {
            match places.get(text.trim_ascii_end()) {
                Some(at) => patches.extend_from_slice(self.numbered(*at).as_bytes()),
                None => patches.extend_from_slice(text),
            }
        }
        let ids = self.patch_ids(patches)?;
        let by_name: HashMap<String, Oid> = ids.iter().map(|(id, of)| (of.to_hex(), *id)).collect();
        let found = pairs.iter().enumerate().filter_map(|(at, pair)| {
            let id = by_name.get(self.numbered(at).trim_end())?;
            Some((*pair, *id))
        });
        Ok(found.collect())
    }

    /// Returns a header line that names no object and only this number.
    fn numbered(&self, at: usize) -> String {
        format!("{:0width$x}\n", at + 1, width = self.hash_kind().hex_len())
    }

    /// Returns what merging each of `heads` into `onto` makes of the subject; `None` where they
    /// conflict. One child for all; nothing of the repository is written.
    pub fn merged_subjects(&self, onto: Oid, heads: &[Oid]) -> Result<Vec<Option<Oid>>, Error> {
        let quarantine = Quarantine::apart(self)?;
        let args = [
            "merge-tree",
            "--write-tree",
            "--stdin",
            "--no-messages",
            "--name-only",
            // Without it one head of another history would end the child for all.
            "--allow-unrelated-histories",
        ];
        let lines: String = heads
            .iter()
            .map(|head| format!("{onto} {head}\n"))
            .collect();
        let git = self.forced(&args).stdin(lines);
        let output = git
            .env("GIT_OBJECT_DIRECTORY", quarantine.objects())
            .output()?;
        let reader = self.over(quarantine.objects());
        let mut items = output.split(|c| *c == 0);
        let mut subjects = Vec::new();
        for _ in heads {
            let (Some(status), Some(tree)) = (items.next(), items.next()) else {
                break;
            };
            while items.next().is_some_and(|item| !item.is_empty()) {}
            let clean = status == b"1";
            let tree = super::refs::oid_of("the tree merged", tree)?;
            subjects.push(clean.then(|| reader.subject_tree(tree)).transpose()?);
        }
        subjects.resize(heads.len(), None);
        Ok(subjects)
    }
}

/// Returns the paths that differ between two trees, each given by its delta from one base.
pub fn change_paths(one: &[DeltaEntry], other: &[DeltaEntry]) -> Vec<RepoPath> {
    let sides = |entries: &[DeltaEntry]| -> BTreeMap<RepoPath, DeltaEntry> {
        let named = entries
            .iter()
            .map(|entry| (entry.path.clone(), entry.clone()));
        named.collect()
    };
    let (one, other) = (sides(one), sides(other));
    let paths: BTreeSet<&RepoPath> = one.keys().chain(other.keys()).collect();
    let differs = |path: &&RepoPath| match (one.get(*path), other.get(*path)) {
        (Some(one), Some(other)) => one.new != other.new,
        (Some(only), None) | (None, Some(only)) => only.old != only.new,
        (None, None) => false,
    };
    paths.into_iter().filter(differs).cloned().collect()
}
