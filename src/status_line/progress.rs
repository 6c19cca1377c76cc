//! How far the newest workflow of a session is, from the journal that the client keeps of it.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use crate::model::Owner;

/// How long a run that has ended, or that nobody can tell from one, is shown.
const SETTLED: Duration = Duration::from_secs(90);
/// How long a run is shown in which a seat is still out.
pub const STALLED: Duration = Duration::from_secs(900);
/// A journal beyond this is not read: the line has 10 ms.
const LIMIT: u64 = 8 << 20;

/// Seats that answered, of those sent out. How many will be is not known before the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub done: usize,
    pub started: usize,
}

/// Where and when to look.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// The client's directory, `~/.claude`.
    pub config: &'a Path,
    /// The session's transcript, beside which the client keeps its workflows.
    pub transcript: Option<&'a Path>,
    pub session: &'a Owner,
    pub now: SystemTime,
    /// How long a run with a seat out is shown; [`STALLED`] unless the user says otherwise.
    pub stalled: Duration,
}

/// Returns how far the session's newest workflow is; `None` when none is under way.
pub fn progress(look: &Look) -> Option<Progress> {
    let (run, journal) = directories(look)
        .iter()
        .flat_map(|dir| runs(dir))
        .max_by_key(|(_, journal)| *journal)?;
    let quiet = |time: SystemTime| look.now.duration_since(time).unwrap_or_default();
    let last = last_write(&run).map_or(journal, |agent| agent.max(journal));
    if quiet(last) > look.stalled.max(SETTLED) {
        return None;
    }
    let progress = count(&run.join("journal.jsonl"))?;
    let out = progress.started > progress.done;
    let shown = quiet(last) <= SETTLED || (out && quiet(last) <= look.stalled);
    (progress.started > 0 && shown).then_some(progress)
}

/// The directories that may hold the session's runs.
fn directories(look: &Look) -> Vec<PathBuf> {
    let inside = |session: PathBuf| session.join("subagents/workflows");
    let session = look.session.as_str();
    let beside = look
        .transcript
        .filter(|path| path.file_stem().is_some_and(|stem| stem == session))
        .map(|path| inside(path.with_extension("")));
    if let Some(dir) = beside.filter(|dir| dir.is_dir()) {
        return vec![dir];
    }
    let Ok(projects) = fs::read_dir(look.config.join("projects")) else {
        return Vec::new();
    };
    projects
        .filter_map(Result::ok)
        .map(|project| inside(project.path().join(session)))
        .filter(|dir| dir.is_dir())
        .collect()
}

/// The runs of a directory, each with the time its journal was written.
fn runs(dir: &Path) -> Vec<(PathBuf, SystemTime)> {
    let Ok(entries) = fs::read_dir(dir) else {
        return Vec::new();
    };
    entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("wf_"))
        .filter_map(|entry| {
            let run = entry.path();
            let written = run.join("journal.jsonl").metadata().ok()?.modified().ok()?;
            Some((run, written))
        })
        .collect()
}

/// When a seat of the run last wrote.
fn last_write(run: &Path) -> Option<SystemTime> {
    fs::read_dir(run)
        .ok()?
        .filter_map(Result::ok)
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with("agent-") && name.ends_with(".jsonl")
        })
        .filter_map(|entry| entry.metadata().ok()?.modified().ok())
        .max()
}

fn count(journal: &Path) -> Option<Progress> {
    let file = File::open(journal).ok()?;
    if file.metadata().ok()?.len() > LIMIT {
        return None;
    }
    let mut progress = Progress {
        done: 0,
        started: 0,
    };
    let mut lines = BufReader::with_capacity(1 << 16, file.take(LIMIT));
    let mut line = Vec::new();
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line).ok()? == 0 {
            break;
        }
        // Only the first member says what the line is: an answer may hold the same words.
        progress.started += usize::from(line.starts_with(br#"{"type":"started""#));
        progress.done += usize::from(line.starts_with(br#"{"type":"result""#));
    }
    progress.done = progress.done.min(progress.started);
    Some(progress)
}

/// Reads how long a run with a seat out is shown; nonsense leaves the default.
pub fn stalled(text: Option<&str>) -> Duration {
    text.and_then(|text| text.trim().parse().ok())
        .filter(|seconds| *seconds > 0)
        .map_or(STALLED, Duration::from_secs)
}

#[cfg(test)]
mod tests;
