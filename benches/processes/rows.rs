use std::{fs, path::PathBuf};

use super::{
    compress,
    data::{OURS, repository},
    pair::{By, Process, Row},
    policy,
};

fn payload(event: &str, dir: &std::path::Path) -> String {
    format!(
        r#"{{"session_id":"S1","transcript_path":"/tmp/t","cwd":"{}","hook_event_name":"{event}","stop_hook_active":false}}"#,
        dir.display()
    )
}

pub(crate) fn hook(event: &'static str, dir: PathBuf) -> Process {
    let text = payload(event, &dir);
    Process::new(&[OURS, "hook", event], dir).stdin(text)
}

fn truth() -> Process {
    Process::new(&["/bin/true"], "/")
}

pub(crate) fn row(
    name: &'static str,
    bar: f64,
    ours: impl Fn(usize) -> Process + 'static,
    base: impl Fn(usize) -> Process + 'static,
) -> Row {
    Row {
        name,
        bar,
        slack: 0.0,
        rounds: 41,
        by: By::Ratio,
        ours: Box::new(ours),
        base: Box::new(base),
    }
}

/// Returns a repository with 500 tasks of another session open.
fn crowded() -> PathBuf {
    let dir = repository(11, 0);
    let mark = dir.join(".git/operator/crowded");
    if !mark.exists() {
        for number in 0..500 {
            let name = format!("c{number}");
            super::data::git(
                &dir,
                &["operator", "-q", "task", &name, "--owner", "S2"],
                b"",
            );
        }
        fs::write(mark, "").expect("a mark");
    }
    dir
}

/// Returns processes that each record a verdict on a task of its own, opened before.
pub(crate) fn verdict(dir: PathBuf) -> impl Fn(usize) -> Process {
    move |round| {
        let task = format!("t{}-{round}", std::process::id());
        super::data::git(
            &dir,
            &["operator", "-q", "task", &task, "--owner", "S1"],
            b"",
        );
        Process::new(
            &[
                OURS, "-q", "verdict", &task, "c", "ok", "PASS", "--owner", "S1",
            ],
            dir.clone(),
        )
    }
}

fn hooks() -> Vec<Row> {
    vec![
        row(
            "Stop, nothing open / true",
            3.0,
            |_| hook("Stop", repository(10, 0)),
            |_| truth(),
        ),
        row(
            "Stop, 100,000 records / none",
            1.3,
            |_| hook("Stop", repository(10, 100_000)),
            |_| hook("Stop", repository(10, 0)),
        ),
        row(
            "Stop, 500 open / none",
            3.0,
            |_| hook("Stop", crowded()),
            |_| hook("Stop", repository(10, 0)),
        ),
        row(
            "PreToolUse, no policy, no work / Stop",
            1.3,
            |_| hook("PreToolUse", repository(10, 0)),
            |_| hook("Stop", repository(10, 0)),
        ),
        row(
            "status line / true",
            3.0,
            |_| {
                Process::new(&[OURS, "statusline"], repository(10, 0))
                    .stdin(payload("Status", &repository(10, 0)))
            },
            |_| truth(),
        ),
    ]
}

fn ledger() -> Vec<Row> {
    let plain = |dir: PathBuf| {
        Process::new(
            &[
                "sh",
                "-c",
                "for i in 1 2 3 4 5; do git rev-parse HEAD; done; \
                 for i in 1 2 3; do git status; done",
            ],
            dir,
        )
    };
    vec![
        row(
            // 5 and 1.2 for the verdict, 2 for the snapshot that it takes.
            "verdict, snapshot / 5 rev-parse, 3 status",
            1.0,
            verdict(repository(12, 0)),
            move |_| plain(repository(12, 0)),
        ),
        row(
            "verdict, 100,000 records / none",
            1.3,
            verdict(repository(12, 100_000)),
            verdict(repository(12, 0)),
        ),
        row(
            "log -n 20, 100,000 records / git log -20",
            2.0,
            |_| Process::new(&[OURS, "log", "-n", "20"], repository(10, 100_000)),
            |_| {
                Process::new(
                    &["git", "log", "-20", "refs/operator/ledger"],
                    repository(10, 100_000),
                )
            },
        ),
    ]
}

/// Returns every row of the table.
pub(crate) fn all() -> Vec<Row> {
    hooks()
        .into_iter()
        .chain(ledger())
        .chain(policy::all())
        .chain(compress::all())
        .collect()
}
