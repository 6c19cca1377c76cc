//! What a session did since its last prompt: how many calls, which of them equal, what succeeded.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Error, lines::lock};
use crate::{model::Digest, policy::Policies, work::FileChange};

const SIZE_LIMIT: u64 = 1 << 20;
/// The most commands that are remembered as having succeeded.
const PASSED_LIMIT: usize = 100;

/// A turn, as far as policies may ask about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Turn {
    prompt: Option<String>,
    calls: u64,
    blocks: u64,
    /// How often each call was made, by the digest of tool and input.
    equal: BTreeMap<String, u64>,
    passed: Vec<String>,
}

/// A tool call, to count it.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub prompt: Option<&'a str>,
    pub tool: &'a str,
    /// The input as it came.
    pub input: &'a [u8],
}

impl Call<'_> {
    fn digest(&self) -> String {
        let bytes = [self.tool.as_bytes(), b"\0", self.input].concat();
        Digest::of(&bytes).to_hex()[..16].to_owned()
    }
}

impl Turn {
    /// Begins anew when the prompt is another one.
    pub fn prompt(&mut self, prompt: Option<&str>) {
        if prompt.is_some() && self.prompt.as_deref() != prompt {
            self.prompt = prompt.map(str::to_owned);
            self.calls = 0;
            self.blocks = 0;
            self.equal.clear();
        }
    }

    /// Counts a call; returns the turn as that call sees it.
    pub fn call(&mut self, call: Call<'_>) -> Value {
        self.prompt(call.prompt);
        self.calls += 1;
        let before = self.equal.entry(call.digest()).or_insert(0);
        let repeats = *before;
        *before += 1;
        self.value(repeats)
    }

    /// Returns the turn for an event that is no call.
    pub fn value(&self, repeats: u64) -> Value {
        json!({
            "calls": self.calls,
            "blocks": self.blocks,
            "repeats": repeats,
            "passed": self.passed,
        })
    }

    /// Counts a refusal.
    pub fn block(&mut self) {
        self.blocks += 1;
    }

    /// Remembers that a command succeeded.
    pub fn pass(&mut self, command: &str) {
        if self.passed.len() < PASSED_LIMIT && !self.passed.iter().any(|known| known == command) {
            self.passed.push(command.to_owned());
        }
    }

    /// Forgets what succeeded before a file was written.
    pub fn wrote(&mut self) {
        self.passed.clear();
    }
}

/// Whether a call wrote files that are to be tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrote {
    Files,
    Nothing,
}

impl Wrote {
    /// Returns whether a call wrote files that a policy wants tested.
    pub fn of(policies: &Policies, changes: &[FileChange]) -> Self {
        let outdates = |change: &FileChange| {
            let path = change.path.quoted();
            let mut enabled = policies.list().iter().filter(|policy| policy.enabled);
            enabled.any(|policy| policy.outdates_tests(&path))
        };
        match changes.iter().any(outdates) {
            true => Self::Files,
            false => Self::Nothing,
        }
    }
}

/// The turns of a clone's sessions.
#[derive(Clone, Debug)]
pub struct Turns {
    dir: PathBuf,
}

impl Turns {
    /// Returns the turns kept under `operator`, the directory of local state.
    pub fn new(operator: &Path) -> Self {
        Self {
            dir: operator.join("turns"),
        }
    }

    fn path(&self, session: &str) -> PathBuf {
        let name = Digest::of(session.as_bytes()).to_hex()[..16].to_owned();
        self.dir.join(name)
    }

    /// Changes a session's turn, nobody else in between. A file that cannot be read is as good as none.
    pub fn update<T>(
        &self,
        session: &str,
        change: impl FnOnce(&mut Turn) -> T,
    ) -> Result<T, Error> {
        fs::create_dir_all(&self.dir).map_err(Error::write(&self.dir))?;
        let path = self.path(session);
        let _lock = lock(&path)?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(Error::write(&path))?;
        let mut turn = read(&file);
        let result = change(&mut turn);
        let text = serde_json::to_vec(&turn).unwrap_or_default();
        file.rewind()
            .and_then(|()| file.set_len(0))
            .and_then(|()| file.write_all(&text))
            .map_err(Error::write(&path))?;
        Ok(result)
    }

    /// Returns a session's turn as an event that is no call would see it; counts nothing.
    pub fn look(&self, session: &str) -> Value {
        let file = File::open(self.path(session)).ok();
        file.map(|file| read(&file)).unwrap_or_default().value(0)
    }

    /// Counts a call where the hook is about one; returns the turn as the event sees it.
    pub fn count(&self, session: &str, hook: &str, call: Call<'_>) -> Result<Value, Error> {
        self.update(session, |turn| match hook {
            "PreToolUse" => turn.call(call),
            _ => {
                turn.prompt(call.prompt);
                turn.value(0)
            }
        })
    }

    /// Remembers what a call that ended says about tests: what it wrote, or what succeeded.
    pub fn end(&self, session: &str, wrote: Wrote, passed: Option<&str>) -> Result<(), Error> {
        self.update(session, |turn| match (wrote, passed) {
            (Wrote::Files, _) => turn.wrote(),
            (Wrote::Nothing, Some(command)) => turn.pass(command),
            (Wrote::Nothing, None) => {}
        })
    }

    /// Forgets a session.
    pub fn forget(&self, session: &str) {
        // A file that stays is overwritten by the next turn.
        let _ = fs::remove_file(self.path(session));
    }
}

fn read(file: &File) -> Turn {
    let mut text = Vec::new();
    match file.take(SIZE_LIMIT).read_to_end(&mut text) {
        Ok(_) => serde_json::from_slice(&text).unwrap_or_default(),
        Err(_) => Turn::default(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Call, Turns};

    #[test]
    fn a_turn_counts_calls_and_what_succeeded() {
        let dir = assert_fs::TempDir::new().unwrap();
        let turns = Turns::new(dir.path());
        let call = |prompt, input: &'static [u8]| Call {
            prompt: Some(prompt),
            tool: "Bash",
            input,
        };
        let counted = |prompt, input| {
            turns
                .update("S", |turn| turn.call(call(prompt, input)))
                .unwrap()
        };
        assert_eq!(counted("p1", b"a")["repeats"], json!(0));
        assert_eq!(counted("p1", b"b")["repeats"], json!(0));
        turns.update("S", |turn| turn.pass("cargo test")).unwrap();
        assert_eq!(
            counted("p1", b"a"),
            json!({"calls": 3, "blocks": 0, "repeats": 1, "passed": ["cargo test"]})
        );
        turns.update("S", super::Turn::block).unwrap();
        assert_eq!(
            counted("p2", b"a"),
            json!({"calls": 1, "blocks": 0, "repeats": 0, "passed": ["cargo test"]})
        );
        turns.update("S", super::Turn::wrote).unwrap();
        assert_eq!(counted("p2", b"c")["passed"], json!([]));
        turns.forget("S");
        assert_eq!(counted("p2", b"c")["calls"], json!(1));
    }
}
