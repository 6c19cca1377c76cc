//! Repositories to measure in, made once under `target/bench-data`.

use std::{
    fmt::Write as _,
    fs,
    io::Write as _,
    ops::Range,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use git_operator::model::{
    Body, Class, Criterion, Draft, Evidence, Opened, Outcome, Owner, ReplicaId, Seal, Stamp,
    TaskId, TreeState, Verdict,
};

pub(crate) const OURS: &str = env!("CARGO_BIN_EXE_git-operator");

/// The environment of every measured process.
pub(crate) fn environment() -> Vec<(String, String)> {
    let home = root().join("home");
    fs::create_dir_all(&home).expect("the data directory can be written");
    let path = std::env::var("PATH").expect("there is a PATH");
    let mine = Path::new(OURS)
        .parent()
        .expect("the binary lies in a directory")
        .display()
        .to_string();
    [
        ("HOME", home.display().to_string()),
        ("PATH", format!("{mine}:{path}")),
        ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ("GIT_AUTHOR_NAME", "T".to_owned()),
        ("GIT_AUTHOR_EMAIL", "t@example.invalid".to_owned()),
        ("GIT_COMMITTER_NAME", "T".to_owned()),
        ("GIT_COMMITTER_EMAIL", "t@example.invalid".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench-data")
}

pub(crate) fn git(dir: &Path, args: &[&str], stdin: &[u8]) {
    let mut child = Command::new("git")
        .args(args)
        .current_dir(dir)
        .env_clear()
        .envs(environment())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("git starts");
    child
        .stdin
        .take()
        .expect("stdin is piped")
        .write_all(stdin)
        .expect("git reads");
    assert!(child.wait().expect("git ends").success(), "git {args:?}");
}

/// Returns a started repository of `files` files whose ledger holds `records` records.
pub(crate) fn repository(files: usize, records: usize) -> PathBuf {
    let dir = root().join(format!("r{files}-{records}"));
    if dir.join("ready").exists() {
        return dir;
    }
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).expect("the data directory can be written");
    git(&dir, &["init", "-q", "-b", "main"], b"");
    for number in 0..files {
        let folder = dir.join(format!("d{:03}/e{:02}", number / 400, number / 20 % 20));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(
            folder.join(format!("f{number}.txt")),
            format!("file {number}\n").repeat(20),
        )
        .expect("a file");
    }
    fs::write(dir.join(".git/info/exclude"), "ready\n").expect("excludes");
    fs::create_dir_all(dir.join(".operator")).expect("a started project");
    fs::write(dir.join(".operator/.gitignore"), "*\n").expect("an ignore list");
    git(&dir, &["add", "-A"], b"");
    git(&dir, &["commit", "-q", "--allow-empty", "-m", "c1"], b"");
    if records > 0 {
        git(&dir, &["fast-import", "--quiet"], &stream(records));
        git(&dir, &["pack-refs", "--all"], b"");
        // As in every clone that recorded so much, an index lies beside it.
        git(&dir, &["operator", "-q", "gc"], b"");
    }
    fs::write(dir.join("ready"), "").expect("a mark");
    dir
}

/// Returns a fast-import stream of a ledger with one record a commit.
pub(crate) fn stream(records: usize) -> Vec<u8> {
    commits(0..records, None)
}

/// Returns a fast-import stream of a ledger that holds the records of these numbers, a record a commit,
/// and what `from` holds.
pub(crate) fn commits(numbers: Range<usize>, mut from: Option<&str>) -> Vec<u8> {
    let mut out = String::new();
    for number in numbers {
        let message = format!(
            "verdict PASS T-{}: suite passes\n\n{}\n",
            number / 5,
            line(number)
        );
        let time = 1_790_000_000 + number;
        let who = format!("T <t@example.invalid> {time} +0000");
        let from = from.take().map(|name| format!("from {name}^0\n"));
        let from = from.unwrap_or_default();
        write!(
            out,
            "commit refs/operator/ledger\nauthor {who}\ncommitter {who}\ndata {}\n{message}\n{from}",
            message.len()
        )
        .expect("a string grows");
    }
    out.into_bytes()
}

fn line(number: usize) -> String {
    let mut draft = Draft::new(Body::Verdict(Box::new(Verdict {
        head: "3f786850e387550fdab836ed7e6dc881de23001b".parse().ok(),
        subject: "4b825dc642cb6eb9a060e54bf8d69288fbee4904".parse().ok(),
        ..Verdict::new(
            if number.is_multiple_of(7) {
                Outcome::Fail
            } else {
                Outcome::Pass
            },
            Class::Asserted,
            Evidence::of(format!("12 passed in run {number}").as_bytes()),
            Stamp::Commit {
                id: "3f786850e387550fdab836ed7e6dc881de23001b".to_owned(),
                tree: TreeState::Clean,
            },
        )
    })));
    draft.criterion = Criterion::new("suite passes").ok();
    sealed(draft, number)
}

/// Returns the line of the record of this number: the fifth part of them are on one task.
pub(crate) fn sealed(mut draft: Draft, number: usize) -> String {
    draft.task = TaskId::new(&format!("T-{}", number / 5)).ok();
    draft.owner = Owner::new("S1").ok();
    draft.opened = Opened::Never;
    let seal = Seal {
        time: (1_790_000_000 + number as u64) * 1000,
        seq: number as u64 + 1,
        replica: ReplicaId::new([9; 8]),
    };
    draft.seal(seal).expect("a record seals").line().to_owned()
}
