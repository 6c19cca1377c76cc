use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use assert_fs::TempDir;

use super::{Look, Progress, STALLED, progress, stalled};
use crate::model::Owner;

const STARTED: &str = r#"{"type":"started","key":"v2:5","agentId":"a","label":"x"}"#;
const RESULT: &str = r#"{"type":"result","key":"v2:5","agentId":"a","result":{"type":"started"}}"#;

struct Client {
    dir: TempDir,
    now: SystemTime,
}

impl Client {
    fn new() -> Self {
        Self {
            dir: TempDir::new().unwrap(),
            now: SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000),
        }
    }

    /// Writes a run whose journal was written `quiet` seconds ago.
    fn run(&self, run: &str, lines: &[&str], quiet: u64) -> PathBuf {
        let (session, name) = run.split_once('/').unwrap();
        let run = self
            .dir
            .path()
            .join("projects/-home-dev-proj")
            .join(session)
            .join("subagents/workflows")
            .join(name);
        fs::create_dir_all(&run).unwrap();
        self.file(
            &run.join("journal.jsonl"),
            &(lines.join("\n") + "\n"),
            quiet,
        );
        run
    }

    fn file(&self, path: &Path, text: &str, quiet: u64) {
        fs::write(path, text).unwrap();
        let file = File::options().append(true).open(path).unwrap();
        file.set_modified(self.now - Duration::from_secs(quiet))
            .unwrap();
    }

    fn progress(&self, transcript: Option<&Path>) -> Option<Progress> {
        progress(&Look {
            config: self.dir.path(),
            transcript,
            session: &Owner::new("s1").unwrap(),
            now: self.now,
            stalled: STALLED,
        })
    }
}

fn some(done: usize, started: usize) -> Option<Progress> {
    Some(Progress { done, started })
}

#[test]
fn answers_are_counted_against_the_seats_sent_out() {
    let client = Client::new();
    assert_eq!(client.progress(None), None);
    client.run(
        "s1/wf_1",
        &[r#"{"type":"launched"}"#, STARTED, STARTED, RESULT, STARTED],
        1,
    );
    assert_eq!(client.progress(None), some(1, 3));
}

#[test]
fn only_the_newest_run_of_this_session_counts() {
    let client = Client::new();
    client.run("s1/wf_1", &[STARTED, STARTED], 50);
    client.run("s1/wf_2", &[STARTED], 40);
    client.run("s1/other", &[STARTED, STARTED, STARTED], 1);
    client.run("s2/wf_3", &[STARTED, STARTED, STARTED, STARTED], 1);
    assert_eq!(client.progress(None), some(0, 1));
}

#[test]
fn a_finished_run_leaves_after_ninety_seconds_and_one_with_a_seat_out_after_fifteen_minutes() {
    for (lines, quiet, shown) in [
        (&[STARTED, RESULT][..], 90, some(1, 1)),
        (&[STARTED, RESULT], 91, None),
        (&[STARTED, STARTED, RESULT], 900, some(1, 2)),
        (&[STARTED, STARTED, RESULT], 901, None),
        (&[r#"{"type":"launched"}"#], 1, None),
        (&["garbage", "{}"], 1, None),
        (&[RESULT, RESULT, STARTED], 1, some(1, 1)),
    ] {
        let client = Client::new();
        client.run("s1/wf_1", lines, quiet);
        assert_eq!(client.progress(None), shown, "{lines:?} {quiet}");
    }
}

#[test]
fn a_seat_that_writes_keeps_a_quiet_journal_alive() {
    let client = Client::new();
    let run = client.run("s1/wf_1", &[STARTED], 5_000);
    assert_eq!(client.progress(None), None);
    client.file(&run.join("agent-a.jsonl"), "{}\n", 10);
    assert_eq!(client.progress(None), some(0, 1));
}

#[test]
fn the_transcript_says_where_the_session_keeps_its_runs() {
    let client = Client::new();
    client.run("s1/wf_1", &[STARTED], 5);
    let elsewhere = client
        .dir
        .path()
        .join("elsewhere/s1/subagents/workflows/wf_9");
    fs::create_dir_all(&elsewhere).unwrap();
    client.file(&elsewhere.join("journal.jsonl"), STARTED, 5_000);
    let transcript = client.dir.path().join("elsewhere/s1.jsonl");
    assert_eq!(client.progress(Some(&transcript)), None);
    let foreign = client.dir.path().join("elsewhere/s2.jsonl");
    assert_eq!(client.progress(Some(&foreign)), some(0, 1));
}

#[test]
fn a_journal_in_the_future_is_live_and_a_huge_one_is_not_read() {
    let client = Client::new();
    let run = client.run("s1/wf_1", &[STARTED], 0);
    let file = File::options()
        .append(true)
        .open(run.join("journal.jsonl"))
        .unwrap();
    file.set_modified(client.now + Duration::from_secs(60))
        .unwrap();
    assert_eq!(client.progress(None), some(0, 1));
    file.set_len(9 << 20).unwrap();
    assert_eq!(client.progress(None), None);
}

#[test]
fn nonsense_leaves_the_default_patience() {
    for text in [
        None,
        Some("abc"),
        Some(""),
        Some("0"),
        Some("-5"),
        Some("1.5"),
    ] {
        assert_eq!(stalled(text), STALLED, "{text:?}");
    }
    assert_eq!(stalled(Some(" 60 ")), Duration::from_secs(60));
}
