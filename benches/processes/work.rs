//! The work ledger: each hook against one `git status` in the same repository.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    data::{OURS, git, repository, root},
    pair::{By, Process, Row},
    rows::hook,
};

/// What lies uncommitted in a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lies {
    Nothing,
    /// 500 changed files and 500 that git does not track.
    Thousand,
}

/// Returns a repository of its own whose work ledger is on.
fn tracked(name: &str, files: usize, lies: Lies) -> PathBuf {
    let dir = root().join(format!("work-{name}-{files}-{lies:?}"));
    if dir.join("ready").exists() {
        return dir;
    }
    let _ = fs::remove_dir_all(&dir);
    let from = repository(files, 0);
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .args([&from, &dir])
        .status();
    assert!(copied.expect("cp starts").success(), "cp {}", dir.display());
    git(&dir, &["config", "operator.work", "true"], b"");
    for number in (0..500).filter(|_| lies == Lies::Thousand) {
        let place = number * files / 500;
        let folder = dir.join(format!("d{:03}/e{:02}", place / 400, place / 20 % 20));
        fs::write(folder.join(format!("f{place}.txt")), "changed\n").expect("a file");
        fs::write(folder.join(format!("new{number}.txt")), "new\n").expect("a file");
    }
    // The index learns what the copy looks like.
    git(&dir, &["status"], b"");
    dir
}

fn event(dir: &Path, name: &str, tool: (&str, String)) -> Process {
    let (tool, more) = tool;
    let text = format!(
        r#"{{"session_id":"S1","transcript_path":"/tmp/t","cwd":"{}","hook_event_name":"{name}","tool_name":"{tool}",{more}}}"#,
        dir.display()
    );
    Process::new(&[OURS, "hook", name], dir).stdin(text)
}

fn bash(dir: &Path, name: &str, id: &str) -> Process {
    let more =
        format!(r#""tool_use_id":"{id}","tool_input":{{"command":"true"}},"tool_response":{{}}"#);
    event(dir, name, ("Bash", more))
}

fn file(dir: &Path, name: &str, id: &str) -> Process {
    let path = dir.join("d000/e00/f1.txt");
    let more = format!(
        r#""tool_use_id":"{id}","tool_input":{{"file_path":"{}","content":"x"}},"tool_response":{{}}"#,
        path.display()
    );
    event(dir, name, ("Write", more))
}

fn status(dir: PathBuf) -> impl Fn(usize) -> Process {
    move |_| Process::new(&["git", "status", "--porcelain", "-uall"], dir.clone())
}

/// Returns an id that no other row's call has: a call told twice is one.
fn id(row: &str, round: usize) -> String {
    format!("{}-{row}-{round}", std::process::id())
}

/// The beginning of a call; the one before has ended.
fn begins(dir: PathBuf) -> impl Fn(usize) -> Process {
    move |round| {
        if round > 0 {
            bash(&dir, "PostToolUse", &id("begins", round - 1)).run();
        }
        bash(&dir, "PreToolUse", &id("begins", round))
    }
}

/// The end of a call that has begun.
fn ends(dir: PathBuf) -> impl Fn(usize) -> Process {
    move |round| {
        bash(&dir, "PreToolUse", &id("ends", round)).run();
        bash(&dir, "PostToolUse", &id("ends", round))
    }
}

/// The end of a call in a session that has made `calls` of them.
fn ends_after(calls: usize) -> impl Fn(usize) -> Process {
    let end = move || {
        let dir = tracked(&format!("after{calls}"), 1_000, Lies::Thousand);
        let mark = dir.join(".git/operator/made");
        if !mark.exists() {
            for number in 0..calls {
                let id = format!("made{number}");
                bash(&dir, "PreToolUse", &id).run();
                fs::write(dir.join("new.txt"), &id).expect("a file");
                bash(&dir, "PostToolUse", &id).run();
            }
            fs::write(mark, "").expect("a mark");
        }
        dir
    };
    move |round| ends(end())(round)
}

fn row(
    name: &'static str,
    (bar, slack): (f64, f64),
    ours: impl Fn(usize) -> Process + 'static,
    base: impl Fn(usize) -> Process + 'static,
) -> Row {
    Row {
        name,
        bar,
        slack,
        rounds: 21,
        by: By::Ratio,
        ours: Box::new(ours),
        base: Box::new(base),
    }
}

fn hooks(names: [&'static str; 2], files: usize, lies: Lies) -> [Row; 2] {
    let dir = move || tracked("hooks", files, lies);
    let [begin, end] = names;
    [
        row(
            begin,
            (1.2, 4.0),
            move |round| begins(dir())(round),
            move |round| status(dir())(round),
        ),
        row(
            end,
            (1.2, 4.0),
            move |round| ends(dir())(round),
            move |round| status(dir())(round),
        ),
    ]
}

/// A Stop that measures whether a task is to be opened.
fn arming(files: usize) -> impl Fn(usize) -> Process {
    move |round| {
        let dir = tracked("arm", files, Lies::Nothing);
        if round == 0 {
            let text = format!(
                r#"{{"session_id":"S1","cwd":"{}","hook_event_name":"SessionStart","source":"startup"}}"#,
                dir.display()
            );
            Process::new(&[OURS, "hook", "SessionStart"], &dir)
                .stdin(text)
                .run();
        }
        hook("Stop", dir)
    }
}

/// Returns the rows of the work ledger.
pub(crate) fn all() -> Vec<Row> {
    let mut rows = Vec::new();
    for (files, clean, dirty) in [
        (
            1_000,
            [
                "Pre Bash, 1,000 files clean / status",
                "Post Bash, 1,000 files clean / status",
            ],
            [
                "Pre Bash, 1,000 files + 1,000 / status",
                "Post Bash, 1,000 files + 1,000 / status",
            ],
        ),
        (
            20_000,
            [
                "Pre Bash, 20,000 files clean / status",
                "Post Bash, 20,000 files clean / status",
            ],
            [
                "Pre Bash, 20,000 files + 1,000 / status",
                "Post Bash, 20,000 files + 1,000 / status",
            ],
        ),
        (
            90_000,
            [
                "Pre Bash, 90,000 files clean / status",
                "Post Bash, 90,000 files clean / status",
            ],
            [
                "Pre Bash, 90,000 files + 1,000 / status",
                "Post Bash, 90,000 files + 1,000 / status",
            ],
        ),
    ] {
        rows.extend(hooks(clean, files, Lies::Nothing));
        rows.extend(hooks(dirty, files, Lies::Thousand));
    }
    let large = || tracked("hooks", 90_000, Lies::Nothing);
    rows.push(row(
        "Pre Write, 90,000 files / status",
        (0.5, 0.0),
        move |round| file(&large(), "PreToolUse", &id("writes", round)),
        move |round| status(large())(round),
    ));
    rows.push(row(
        "Pre Read, work ledger on / Stop",
        (1.3, 0.0),
        move |_| {
            event(
                &large(),
                "PreToolUse",
                ("Read", r#""tool_input":{}"#.to_owned()),
            )
        },
        |_| hook("Stop", repository(10, 0)),
    ));
    rows.push(row(
        "Stop that measures, 20,000 files / status",
        (1.2, 4.0),
        arming(20_000),
        |round| status(tracked("arm", 20_000, Lies::Nothing))(round),
    ));
    rows.push(row(
        "Post Bash, after 1,000 calls / after 100",
        (1.3, 0.0),
        ends_after(1_000),
        ends_after(100),
    ));
    rows
}
