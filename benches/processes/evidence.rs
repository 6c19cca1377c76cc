//! What evidence costs: the snapshot behind a verdict, and the judging of a long history.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use git_operator::{
    git::{Budget, Env, Repo, StampRequest, Trust, locate},
    model::{
        Body, Class, Criterion, Draft, Evidence, Oid, Outcome, Run, Stamp, TreeState, Verdict,
    },
};

use super::{
    data::{OURS, environment, git, repository, root, sealed},
    pair::{By, Process, Row},
};

/// The argument that makes this program take one snapshot where it is run.
pub(crate) const SNAPSHOT: &str = "--snapshot";
const COMMITS: usize = 100_000;
const VERDICTS: usize = 10_000;

fn row(
    name: &'static str,
    rounds: usize,
    ours: impl Fn(usize) -> Process + 'static,
    base: impl Fn(usize) -> Process + 'static,
) -> Row {
    Row {
        name,
        bar: 2.0,
        slack: 0.0,
        rounds,
        by: By::Ratio,
        ours: Box::new(ours),
        base: Box::new(base),
    }
}

/// Stamps the working tree as a verdict does.
pub(crate) fn take_snapshot() {
    let env = Env::new(std::env::vars_os());
    let dir = std::env::current_dir().expect("there is a directory");
    let location = locate(&dir, &env)
        .expect("a repository can be looked for")
        .expect("there is one");
    let repo = Repo::open(&location, &env).expect("it opens");
    // Found once and kept, as in a clone that recorded before.
    let root = repo.head().ok().and_then(|head| head.commit());
    let roots: Vec<Oid> = root.into_iter().collect();
    let request = StampRequest {
        budget: Budget::Verdict,
        trust: Trust::Stat,
        roots: &roots,
    };
    let stamped = repo.stamp(request);
    assert!(stamped.subject.is_some(), "{:?}", stamped.shortfall);
}

/// A working tree of 20,000 files with one edit and one new file, its index warm.
fn edited() -> PathBuf {
    let dir = repository(20_000, 0);
    let edit = dir.join("d000/e00/f1.txt");
    if !dir.join("new.txt").exists() {
        fs::write(&edit, "another text\n").expect("a file");
        fs::write(dir.join("new.txt"), "new\n").expect("a file");
        git(&dir, &["status"], b"");
    }
    dir
}

fn snapshot() -> Vec<Row> {
    let shell = |line: &str, dir: PathBuf| Process::new(&["sh", "-c", line], dir);
    let ours = |dir: PathBuf| {
        let own = std::env::current_exe().expect("this program has a path");
        Process::new(&[&own.to_string_lossy(), SNAPSHOT], dir)
    };
    vec![
        row(
            "snapshot, 20,000 files, clean / git status",
            15,
            move |_| ours(repository(20_001, 0)),
            move |_| shell("git status >/dev/null", repository(20_001, 0)),
        ),
        row(
            "snapshot, 20,000 files, edited / git status",
            15,
            move |_| ours(edited()),
            move |_| shell("git status >/dev/null", edited()),
        ),
        row(
            "the same / git add -A, write-tree apart",
            15,
            move |_| ours(edited()),
            move |_| {
                let line = "cp .git/index .git/apart && GIT_INDEX_FILE=.git/apart git add -A && \
                            GIT_INDEX_FILE=.git/apart git write-tree";
                shell(line, edited())
            },
        ),
    ]
}

/// A history of 100,000 commits, every tenth with a verdict made on it; with the ledger's index or not.
fn long(index: Index) -> PathBuf {
    let dir = root().join(match index {
        Index::Warm => "long-warm",
        Index::Cold => "long-cold",
    });
    if dir.join("ready").exists() {
        return dir;
    }
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).expect("the data directory can be written");
    git(&dir, &["init", "-q", "-b", "main"], b"");
    git(&dir, &["fast-import", "--quiet"], &commits());
    let made = made(&dir);
    git(&dir, &["fast-import", "--quiet"], &verdicts(&made));
    git(&dir, &["repack", "-q", "-a", "-d"], b"");
    git(&dir, &["pack-refs", "--all"], b"");
    git(&dir, &["reset", "-q", "--hard"], b"");
    if index == Index::Warm {
        let say = ["operator", "-q", "task", "warm", "--owner", "S1"];
        git(&dir, &say, b"");
        git(
            &dir,
            &["operator", "-q", "defer", "warm", "done", "--owner", "S1"],
            b"",
        );
    }
    fs::write(dir.join("ready"), "").expect("a mark");
    dir
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Index {
    Warm,
    Cold,
}

fn commits() -> Vec<u8> {
    let mut out = String::new();
    for number in 0..COMMITS {
        let time = 1_700_000_000 + number * 60;
        let who = format!("T <t@example.invalid> {time} +0000");
        let (message, text) = (format!("c{number}\n"), format!("text {number}\n"));
        let file = format!("src/d{}/f{}.txt", number % 50, number % 1_000);
        write!(
            out,
            "commit refs/heads/main\nauthor {who}\ncommitter {who}\ndata {}\n{message}\
             M 100644 inline {file}\ndata {}\n{text}\n",
            message.len(),
            text.len()
        )
        .expect("a string grows");
    }
    out.into_bytes()
}

/// Returns the commits with their root trees, oldest first.
fn made(dir: &Path) -> Vec<(Oid, Oid)> {
    let output = Command::new("git")
        .args(["log", "--reverse", "--format=%H %T", "main"])
        .current_dir(dir)
        .env_clear()
        .envs(environment())
        .output()
        .expect("git starts");
    let text = String::from_utf8(output.stdout).expect("ids are ASCII");
    let pair = |line: &str| {
        let (commit, tree) = line.split_once(' ')?;
        Some((commit.parse().ok()?, tree.parse().ok()?))
    };
    text.lines().filter_map(pair).collect()
}

fn verdicts(made: &[(Oid, Oid)]) -> Vec<u8> {
    let mut out = String::new();
    let each = COMMITS / VERDICTS;
    for number in 0..VERDICTS {
        let (commit, tree) = made[(number + 1) * each - 1];
        let line = line(number, commit, tree);
        let message = format!("verdict PASS T-{}: tests\n\n{line}\n", number / 5);
        let who = format!("T <t@example.invalid> {} +0000", 1_790_000_000 + number);
        write!(
            out,
            "commit refs/operator/ledger\nauthor {who}\ncommitter {who}\ndata {}\n{message}\n",
            message.len()
        )
        .expect("a string grows");
    }
    out.into_bytes()
}

fn line(number: usize, commit: Oid, tree: Oid) -> String {
    let evidence = Evidence::of(format!("12 passed in run {number}").as_bytes());
    let stamp = Stamp::Commit {
        id: commit.to_hex(),
        tree: TreeState::Clean,
    };
    let run = Run {
        argv: vec!["make".to_owned(), "test".to_owned()],
        exit: Some(0),
        after: Some(tree),
        ..Run::default()
    };
    let mut draft = Draft::new(Body::Verdict(Box::new(Verdict {
        head: Some(commit),
        subject: Some(tree),
        run: Some(run),
        ..Verdict::new(Outcome::Pass, Class::Captured, evidence, stamp)
    })));
    draft.criterion = Criterion::new("tests").ok();
    sealed(draft, number)
}

fn history() -> Vec<Row> {
    let verify = |index| move |_| Process::new(&[OURS, "verify"], long(index));
    vec![
        row(
            "verify, 10,000 of 100,000, warm / rev-list",
            9,
            verify(Index::Warm),
            |_| Process::new(&["git", "rev-list", "main"], long(Index::Warm)),
        ),
        row(
            "verify, 10,000 of 100,000, cold / trees",
            9,
            verify(Index::Cold),
            |_| {
                let line = "git log --format=%T main | git cat-file --batch";
                Process::new(&["sh", "-c", line], long(Index::Cold))
            },
        ),
    ]
}

/// Returns the rows about evidence.
pub(crate) fn all() -> Vec<Row> {
    snapshot().into_iter().chain(history()).collect()
}
