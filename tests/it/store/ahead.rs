//! A ledger so long that several threads read it.

use std::{
    fmt::Write as _,
    fs,
    io::Write as _,
    process::{Command, Stdio},
};

use git_operator::{
    ledger::Ledger,
    model::{ReplicaId, Seal},
    store::LEDGER,
};

use super::{note, open, record, store};
use crate::support::Repo;

/// More commits than one thread reads alone.
const COMMITS: usize = 700;

fn line(number: usize) -> String {
    let seal = Seal {
        time: 1_790_000_000_000 + number as u64,
        seq: number as u64 + 1,
        replica: ReplicaId::new([7; 8]),
    };
    let record = note(&format!("n{number}")).seal(seal).unwrap();
    record.line().to_owned()
}

/// A ledger of two lines of commits that meet, every hundredth line of which is damaged.
fn long() -> Repo {
    let repo = Repo::new();
    let mut stream = String::new();
    for at in 1..=COMMITS {
        let mut record = line(at);
        if at % 100 == 0 {
            record.insert(60, '!');
        }
        let message = format!("decision {at}\n\n{record}\n");
        let who = format!("T <t@example.invalid> {} +0000", 1_790_000_000 + at);
        let parents = match at {
            1 => String::new(),
            at if at % 50 == 0 => format!("from :{}\nmerge :{}\n", at - 1, at - 2),
            at if at % 50 == 49 => format!("from :{}\n", at - 2),
            at => format!("from :{}\n", at - 1),
        };
        write!(
            stream,
            "commit {LEDGER}\nmark :{at}\nauthor {who}\ncommitter {who}\ndata {}\n{message}\n{parents}",
            message.len()
        )
        .unwrap();
    }
    let mut import = Command::new("git")
        .args(["fast-import", "--quiet", "--force"])
        .current_dir(repo.path())
        .env_clear()
        .envs(repo.env())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = import.stdin.take().unwrap();
    stdin.write_all(stream.as_bytes()).unwrap();
    drop(stdin);
    assert!(import.wait().unwrap().success());
    repo
}

fn shown(ledger: &Ledger) -> Vec<String> {
    let lines = ledger.iter().map(|record| record.line().to_owned());
    let aside = ledger.quarantined().map(|aside| format!("{aside:?}"));
    lines.chain(aside).collect()
}

#[test]
fn a_long_ledger_reads_the_same_with_and_without_its_index() {
    let repo = long();
    let slow = store(&repo).load().unwrap();
    assert_eq!(slow.len(), COMMITS - COMMITS / 100);
    assert_eq!(slow.quarantined().count(), COMMITS / 100);
    let writer = store(&repo);
    let first = record(&writer, open("T-new"));
    assert!(writer.dir().join("index").exists());
    let second = record(&writer, note("behind the index"));
    let fast = shown(&store(&repo).load().unwrap());
    assert_eq!(fast.len(), COMMITS + 2);
    fs::remove_file(writer.dir().join("index")).unwrap();
    assert_eq!(shown(&store(&repo).load().unwrap()), fast);
    // Deltas against one another, as a repack makes them.
    repo.git(["repack", "-adfq"]);
    assert_eq!(shown(&store(&repo).load().unwrap()), fast);
    let is_new = |line: &&String| **line == first.line() || **line == second.line();
    assert_eq!(fast.iter().filter(is_new).count(), 2);
}

#[test]
fn what_an_index_of_others_names_is_not_taken_in() {
    let repo = long();
    record(&store(&repo), open("T-new"));
    let other = Repo::new();
    let ours = store(&other);
    let alone = record(&ours, note("alone"));
    other.git(["fetch", "-q", repo.path().to_str().unwrap(), LEDGER]);
    let index = repo.path().join(".git/operator/index");
    fs::copy(index, ours.dir().join("index")).unwrap();
    assert_eq!(shown(&store(&other).load().unwrap()), [alone.line()]);
}
