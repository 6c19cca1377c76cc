use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{
    Content,
    look::Sight,
    rows::{self, trails},
    shelf::Shelf,
    vault::Vault,
};
use crate::model::{Oid, RepoPath};

/// The version of the file a state is kept in.
pub(crate) const VERSION: u32 = 2;
/// How many contents a trail remembers.
const REMEMBERED: usize = 16;

/// The dirty paths of a working tree and what lies there.
pub(crate) type Dirty = BTreeMap<RepoPath, Content>;
/// The permissions of files.
pub(crate) type Modes = BTreeMap<RepoPath, u32>;
/// What the calls of a session may change, at the time one began.
pub(crate) type Snapshot = BTreeMap<RepoPath, Held>;
/// The exact contents that other sessions of the worktree left.
pub(crate) type Others = BTreeMap<RepoPath, BTreeSet<Content>>;

/// Everything known of one session in one worktree, bytes excepted.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) v: u32,
    pub(crate) session: String,
    pub(crate) worktree: String,
    /// Counts events; claims and calls are ordered by it.
    pub(crate) step: u64,
    /// The step at which the turn began.
    #[serde(default)]
    pub(crate) turn: u64,
    /// The wall time of the last event, in ms.
    pub(crate) last: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<u64>,
    /// Repositories inside this one that a report has named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) told: Vec<RepoPath>,
    #[serde(with = "trails")]
    pub(crate) paths: BTreeMap<RepoPath, Trail>,
    /// Oldest first.
    pub(crate) calls: Vec<Call>,
    pub(crate) seen: Sight,
    pub(crate) vault: Vault,
    #[serde(default)]
    pub(crate) shelf: Shelf,
}

/// The history of one path in a session.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(crate) struct Trail {
    /// The content the session left, while the path is dirty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) claim: Option<Claim>,
    /// Contents the session left before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) earlier: Vec<Content>,
    /// Contents that were somebody else's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) foreign: Vec<Content>,
    /// Somebody else's content that a call changed into this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mixed: Option<Content>,
    /// What a call that never ended may have left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unattributed: Option<Content>,
    /// Somebody else's content that a call moved here from elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) carried: Option<Content>,
    /// The session claimed it at least once.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) touched: bool,
}

/// The exact content that a call left at a path.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) content: Content,
    pub(crate) call: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    pub(crate) step: u64,
}

/// Whose a dirty path's content is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Whose {
    Mine,
    /// The session's, but the bytes are somebody else's and lie nowhere else.
    Carried,
    Foreign,
    Unattributed,
    /// Nobody's: it is as HEAD has it. Said only of a file tool's own path.
    Clean,
}

/// A path that was dirty when a call began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) content: Content,
    pub(crate) whose: Whose,
    /// The permissions, of which git knows one bit and its owner all.
    pub(crate) mode: Option<u32>,
}

/// What a call can change.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Reach {
    /// Any path.
    Tree,
    /// Its own path.
    Path(RepoPath),
    /// Nothing here: its path is outside the working tree or in a nested repository.
    Nothing,
    /// Any path, as long as this background task runs.
    Background(String),
}

/// One use of a tool.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) tool: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    pub(crate) reach: Reach,
    pub(crate) begun: u64,
    /// The wall time of its beginning, in ms.
    pub(crate) time: u64,
    /// HEAD's commit at its beginning.
    #[serde(default, with = "hex", skip_serializing_if = "Option::is_none")]
    pub(crate) head: Option<Oid>,
    /// Repositories inside this one at its beginning; kept until it ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) not_covered: Vec<RepoPath>,
    pub(crate) phase: Phase,
}

/// How far a call has come.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Phase {
    Open {
        #[serde(with = "rows")]
        snapshot: Snapshot,
    },
    /// It never reported its end; it may yet.
    Dropped {
        #[serde(with = "rows")]
        snapshot: Snapshot,
    },
    /// It was refused and never ran.
    Denied,
    Finished {
        step: u64,
        changes: Vec<Change>,
        /// What was foreign when it began; kept for the last finished call only.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        foreign: Vec<RepoPath>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        restored: Vec<RepoPath>,
    },
}

/// Why a call's change was counted as it was.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Mine,
    Foreign,
    Mixed,
    /// The path is clean now.
    Clean,
    /// The path is clean now because the call committed it.
    Committed,
}

/// A path whose content a call changed.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) path: RepoPath,
    pub(crate) before: Before,
    pub(crate) after: Content,
    pub(crate) verdict: Verdict,
    /// The claim that the change replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) claimed: Option<Content>,
    /// What it left came out of a stash that somebody else made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) stashed: bool,
}

/// What lay at a path when a call began.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Before {
    Dirty(Held),
    /// The version of HEAD.
    Clean(HeadFile),
    /// Something, or maybe nothing, that was not looked at: git ignored it, or it lay in a repository of
    /// its own.
    Unseen,
}

/// A path in the tree of HEAD.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HeadFile {
    /// Not looked up yet, or not to be had.
    Unread,
    Absent,
    Entry {
        #[serde(with = "hex_id")]
        id: Oid,
        mode: u32,
    },
}

/// The mode of a symbolic link in a tree.
pub(super) const LINK: u32 = 0o120_000;

impl HeadFile {
    /// Returns the content of a file of HEAD whatever its mode, where no filter changes it.
    pub(crate) fn content(id: Oid, mode: u32) -> Content {
        match mode {
            LINK => Content::Link(id),
            _ => Content::File(id),
        }
    }
}

impl State {
    pub(crate) fn new(session: &str, worktree: &str) -> Self {
        Self {
            v: VERSION,
            session: session.to_owned(),
            worktree: worktree.to_owned(),
            step: 0,
            turn: 0,
            last: 0,
            ended: None,
            told: Vec::new(),
            paths: BTreeMap::new(),
            calls: Vec::new(),
            seen: Sight::default(),
            vault: Vault::default(),
            shelf: Shelf::default(),
        }
    }

    pub(crate) fn call(&self, id: &str) -> Option<&Call> {
        self.calls.iter().find(|call| call.id == id)
    }

    pub(crate) fn call_mut(&mut self, id: &str) -> Option<&mut Call> {
        self.calls.iter_mut().find(|call| call.id == id)
    }

    /// Returns the paths the session claims now, and their contents.
    pub(crate) fn claims(&self) -> impl Iterator<Item = (&RepoPath, &Claim)> {
        self.paths
            .iter()
            .filter_map(|(path, trail)| trail.claim.as_ref().map(|claim| (path, claim)))
    }

    /// Returns the snapshots of calls that have not reported their end.
    pub(crate) fn open(&self) -> impl Iterator<Item = (&Call, &Snapshot)> {
        self.calls.iter().filter_map(|call| match &call.phase {
            Phase::Open { snapshot } => Some((call, snapshot)),
            Phase::Dropped { .. } | Phase::Denied | Phase::Finished { .. } => None,
        })
    }
}

impl Trail {
    /// Says whether the session left exactly this here, now or before.
    pub(crate) fn left(&self, content: &Content) -> bool {
        self.claims(content) || self.earlier.contains(content)
    }

    /// Says whether the session's claim is exactly this.
    pub(crate) fn claims(&self, content: &Content) -> bool {
        self.claim
            .as_ref()
            .is_some_and(|claim| claim.content == *content)
    }

    /// Replaces the claim; the old one is remembered.
    pub(crate) fn set_claim(&mut self, claim: Claim) {
        self.park();
        self.earlier.retain(|content| *content != claim.content);
        self.foreign.retain(|content| *content != claim.content);
        self.mixed = None;
        self.unattributed = None;
        self.carried = None;
        self.touched = true;
        self.claim = Some(claim);
    }

    /// Ends the claim, remembering its content: it may come back.
    pub(crate) fn park(&mut self) {
        if let Some(claim) = self.claim.take() {
            remember(&mut self.earlier, claim.content);
        }
    }

    pub(crate) fn saw_foreign(&mut self, content: &Content) {
        if !self.foreign.contains(content) {
            remember(&mut self.foreign, content.clone());
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn remember(contents: &mut Vec<Content>, content: Content) {
    contents.retain(|known| *known != content);
    contents.push(content);
    if contents.len() > REMEMBERED {
        contents.remove(0);
    }
}

impl Change {
    /// Says whether the path was left dirty.
    pub(crate) fn is_written(&self) -> bool {
        match self.verdict {
            Verdict::Mine | Verdict::Foreign | Verdict::Mixed => true,
            Verdict::Clean | Verdict::Committed => false,
        }
    }
}

impl Call {
    pub(crate) fn is_background(&self) -> bool {
        matches!(self.reach, Reach::Background(_))
    }

    /// Says whether the call has not reported its end and may have changed `path`.
    pub(crate) fn reaches(&self, path: &RepoPath) -> bool {
        match &self.reach {
            Reach::Tree | Reach::Background(_) => true,
            Reach::Path(own) => own == path,
            Reach::Nothing => false,
        }
    }
}

pub(crate) mod hex_id {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::model::Oid;

    pub(crate) fn serialize<S: Serializer>(id: &Oid, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&id.to_hex())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Oid, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

mod hex {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::model::Oid;

    pub(super) fn serialize<S: Serializer>(
        id: &Option<Oid>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match id {
            Some(id) => serializer.serialize_str(&id.to_hex()),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Oid>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(D::Error::custom))
            .transpose()
    }
}
