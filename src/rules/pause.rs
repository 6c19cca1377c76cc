//! Policies switched off for a while by a person.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::Error;

/// The longest pause: a day.
pub const LONGEST: u64 = 24 * 60 * 60 * 1_000;

/// A pause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// When it began, ms of wall clock.
    pub since: u64,
    /// When it ends.
    pub until: u64,
    pub reason: String,
}

/// The pause of a clone.
#[derive(Clone, Debug)]
pub struct Pauses {
    path: PathBuf,
}

impl Pauses {
    /// Returns the pause kept under `operator`, the directory of local state.
    pub fn new(operator: &Path) -> Self {
        Self {
            path: operator.join("policy-pause"),
        }
    }

    /// Returns the pause that lasts at `now`. One that cannot be read, or is longer than any may be, is
    /// none.
    pub fn current(&self, now: u64) -> Option<Pause> {
        let text = fs::read_to_string(&self.path).ok()?;
        let pause: Pause = serde_json::from_str(&text).ok()?;
        let whole = pause.until.saturating_sub(pause.since) <= LONGEST;
        (whole && (pause.since..pause.until).contains(&now)).then_some(pause)
    }

    /// Begins a pause.
    pub fn begin(&self, pause: &Pause) -> Result<(), Error> {
        let text = serde_json::to_string(pause).unwrap_or_default();
        if let Some(dir) = self.path.parent() {
            fs::create_dir_all(dir).map_err(Error::write(dir))?;
        }
        fs::write(&self.path, text).map_err(Error::write(&self.path))
    }

    /// Ends the pause; says whether there was one.
    pub fn end(&self) -> Result<bool, Error> {
        match fs::remove_file(&self.path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::write(&self.path)(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, Pause, Pauses};

    #[test]
    fn a_pause_lasts_until_its_end() {
        let dir = assert_fs::TempDir::new().unwrap();
        let pauses = Pauses::new(dir.path());
        assert_eq!(pauses.current(5), None);
        let pause = Pause {
            since: 10,
            until: 20,
            reason: "x".to_owned(),
        };
        pauses.begin(&pause).unwrap();
        assert_eq!(pauses.current(9), None);
        assert_eq!(pauses.current(19), Some(pause));
        assert_eq!(pauses.current(20), None);
        assert!(pauses.end().unwrap());
        assert!(!pauses.end().unwrap());
    }

    #[test]
    fn a_pause_longer_than_any_may_be_is_none() {
        let dir = assert_fs::TempDir::new().unwrap();
        let pauses = Pauses::new(dir.path());
        let pause = Pause {
            since: 0,
            until: LONGEST + 1,
            reason: String::new(),
        };
        pauses.begin(&pause).unwrap();
        assert_eq!(pauses.current(1), None);
    }
}
