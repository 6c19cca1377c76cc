use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{
    data::{OURS, commits, git, root},
    pair::{By, Process, Row},
};

const NEW: usize = 1_000;
const ROUNDS: usize = 11;

/// Returns a directory with a bare repository and a clone whose ledgers share `records` records and
/// have a thousand more each.
fn template(records: usize) -> PathBuf {
    let dir = root().join(format!("sync-{records}"));
    if dir.join("ready").exists() {
        return dir;
    }
    let _ = fs::remove_dir_all(&dir);
    let (hub, clone) = (dir.join("hub.git"), dir.join("clone"));
    for (place, first) in [(&hub, records), (&clone, records + NEW)] {
        fs::create_dir_all(place).expect("the data directory can be written");
        git(place, &["init", "-q", "-b", "main"], b"");
        git(
            place,
            &["fast-import", "--quiet"],
            &commits(0..records, None),
        );
        let from = Some("refs/operator/ledger");
        let more = commits(first..first + NEW, from);
        git(place, &["fast-import", "--quiet"], &more);
        git(place, &["repack", "-adq"], b"");
        // The records speak of an empty tree: of no commit here.
        fs::write(place.join("a"), "a\n").expect("a file");
        git(place, &["add", "a"], b"");
        git(place, &["commit", "-q", "-m", "c1"], b"");
    }
    git(&hub, &["config", "core.bare", "true"], b"");
    git(&clone, &["remote", "add", "origin", "../hub.git"], b"");
    git(&clone, &["operator", "-q", "gc"], b"");
    fs::write(dir.join("ready"), "").expect("a mark");
    dir
}

/// Copies the template anew, so that each round has everything before it.
pub(super) fn fresh(records: usize, name: &str) -> PathBuf {
    let dir = root().join(name);
    let _ = fs::remove_dir_all(&dir);
    let copied = Command::new("cp")
        .args([Path::new("-a"), &template(records), &dir])
        .status()
        .expect("cp starts");
    assert!(copied.success());
    dir.join("clone")
}

fn sync(records: usize) -> impl Fn(usize) -> Process {
    move |_| {
        let dir = fresh(records, &format!("sync-ours-{records}"));
        Process::new(&[OURS, "-q", "sync"], dir)
    }
}

pub(crate) fn all() -> Vec<Row> {
    let fetch = |_| {
        let dir = fresh(100_000, "sync-base");
        let refspec = "+refs/operator/*:refs/operator-remotes/origin/*";
        Process::new(&["git", "fetch", "-q", "origin", refspec], dir)
    };
    vec![
        Row {
            name: "sync, 100,000 + 1,000 each / git fetch",
            bar: 5.0,
            slack: 0.0,
            rounds: ROUNDS,
            by: By::Ratio,
            ours: Box::new(sync(100_000)),
            base: Box::new(fetch),
        },
        Row {
            name: "sync, 100,000 + 1,000 each / 1,000 + 1,000",
            bar: 2.0,
            slack: 0.0,
            rounds: ROUNDS,
            by: By::Ratio,
            ours: Box::new(sync(100_000)),
            base: Box::new(sync(1_000)),
        },
    ]
}
