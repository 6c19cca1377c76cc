use std::{fs, io::Read, path::Path};

use serde::{Deserialize, Serialize};

use super::{Error, files};
use crate::model::{Oid, ReplicaId};

const VERSION: u32 = 1;
/// A state file is a few lines; anything longer is not ours.
const LIMIT: u64 = 4 * 1024;

/// What this clone remembers of the ledger between commands. All of it but the replica's name can be
/// made anew, and none of it is believed before it was compared with the ref.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The tip that `seq` and `count` speak of.
    pub tip: Option<Oid>,
    /// The tip of the evidence ref at that time.
    pub evidence: Option<Oid>,
    /// The largest `seq` reachable from the tip.
    pub seq: u64,
    /// How many records are reachable from the tip; `None` when nobody counted.
    pub count: Option<u64>,
    /// This clone's name.
    pub replica: Option<ReplicaId>,
    /// The commits without parents of the project's history, when they were looked up.
    pub roots: Vec<Oid>,
    /// The tip whose effects on task files are done.
    pub settled: Option<Oid>,
}

#[derive(Serialize, Deserialize)]
struct RawState {
    v: u32,
    tip: Option<String>,
    #[serde(default)]
    evidence: Option<String>,
    seq: u64,
    count: Option<u64>,
    replica: Option<String>,
    roots: Vec<String>,
    settled: Option<String>,
}

impl State {
    /// Reads the state; what is absent or unreadable is empty.
    pub(super) fn read(dir: &Path) -> Self {
        let mut text = String::new();
        let read = fs::File::open(dir.join("state"))
            .and_then(|file| file.take(LIMIT).read_to_string(&mut text));
        if read.is_err() {
            return Self::default();
        }
        serde_json::from_str::<RawState>(&text)
            .ok()
            .filter(|raw| raw.v == VERSION)
            .map_or_else(Self::default, |raw| {
                let oid = |text: Option<String>| text.and_then(|text| text.parse().ok());
                Self {
                    tip: oid(raw.tip),
                    evidence: oid(raw.evidence),
                    seq: raw.seq,
                    count: raw.count,
                    replica: raw.replica.and_then(|name| name.parse().ok()),
                    roots: raw.roots.iter().filter_map(|id| id.parse().ok()).collect(),
                    settled: oid(raw.settled),
                }
            })
    }

    /// Writes the state in place of the one before; call it under the lock.
    pub(super) fn write(&self, dir: &Path) -> Result<(), Error> {
        let oid = |id: Option<Oid>| id.map(|id| id.to_hex());
        let raw = RawState {
            v: VERSION,
            tip: oid(self.tip),
            evidence: oid(self.evidence),
            seq: self.seq,
            count: self.count,
            replica: self.replica.map(|replica| replica.to_string()),
            roots: self.roots.iter().take(16).map(Oid::to_hex).collect(),
            settled: oid(self.settled),
        };
        let text = serde_json::to_string(&raw).expect("strings and numbers always serialise");
        files::replace(dir, "state", format!("{text}\n").as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::State;

    #[test]
    fn the_state_round_trips_and_damage_is_an_empty_state() {
        let temp = assert_fs::TempDir::new().unwrap();
        let dir = temp.path().join("operator");
        let state = State {
            tip: "3f786850e387550fdab836ed7e6dc881de23001b".parse().ok(),
            evidence: None,
            seq: 7,
            count: Some(9),
            replica: "0123456789abcdef".parse().ok(),
            roots: vec!["3f786850e387550fdab836ed7e6dc881de23001b".parse().unwrap()],
            settled: None,
        };
        state.write(&dir).unwrap();
        assert_eq!(State::read(&dir), state);
        assert_eq!(fs::read_dir(dir.join("tmp")).unwrap().count(), 0);
        let text = fs::read_to_string(dir.join("state")).unwrap();
        for broken in ["", "{", &text[..text.len() / 2], "[1]", "\0\0\0\0"] {
            fs::write(dir.join("state"), broken).unwrap();
            assert_eq!(State::read(&dir), State::default(), "{broken:?}");
        }
    }
}
