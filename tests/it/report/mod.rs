//! The page for people.

mod hostile;
mod html;
mod sample;

use std::{collections::BTreeMap, fs, io::Read as _, path::Path, time::Instant};

use git_operator::model::{Class, Outcome, RecordId};

use crate::{
    store::{commit, open, store, verdict},
    support::Repo,
};
use html::{check, section, text};
use sample::sample;

/// Runs `report` with these arguments and returns the page, which must be sound.
#[track_caller]
fn page(repo: &Repo, args: &[&str]) -> String {
    let output = repo.operator([&["report"], args].concat()).run();
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{args:?}");
    check(&output.stdout);
    output.stdout
}

/// A project with one flaky run, one stale criterion, one task failed and a decision to present.
fn project() -> Repo {
    let repo = Repo::new();
    let operator = |args: &[&str]| repo.operator(args).run();
    repo.write("check.sh", "test -e ../flag\n");
    repo.git(["add", "--all"]);
    repo.commit_staged("a check");
    operator(&["task", "T-1", "--owner", "S1"]);
    let check = [
        "run", "T-1", "it holds", "--owner", "S1", "--", "sh", "check.sh",
    ];
    assert_eq!(operator(&check).code, 1);
    fs::write(repo.dir().join("flag"), "").unwrap();
    assert_eq!(operator(&check).code, 0);
    operator(&["task", "T-2", "--owner", "S2"]);
    operator(&[
        "verdict",
        "T-2",
        "reads well",
        "three typos",
        "FAIL",
        "--owner",
        "S2",
    ]);
    operator(&[
        "decide",
        "DEVIATION",
        "no cache",
        "--why",
        "upstream",
        "--owner",
        "S1",
    ]);
    repo
}

#[test]
fn an_empty_ledger_is_said() {
    let repo = Repo::new();
    let shown = text(&page(&repo, &[]));
    assert!(
        shown.contains("The ledger is empty: nothing has been recorded here yet."),
        "{shown}"
    );
    assert!(
        shown.contains("Nothing: no criterion is stale, contested or flaky."),
        "{shown}"
    );
}

#[test]
fn what_is_in_doubt_is_named_with_its_reason() {
    let repo = project();
    let doubts = text(section(&page(&repo, &[]), "doubts"));
    for said in [
        "1 FAIL, 1 PASS",
        "The same command on the same source came to different ends.",
    ] {
        assert!(doubts.contains(said), "{doubts}");
    }
    assert!(doubts.contains("it holds flaky exact"), "{doubts}");
    repo.commit("later");
    let doubts = text(section(&page(&repo, &[]), "doubts"));
    assert!(
        doubts.contains("it holds stale changed since: later"),
        "{doubts}"
    );
}

#[test]
fn criteria_whose_heads_differ_are_contested() {
    let repo = Repo::new();
    let store = store(&repo);
    let opened = commit(&store, &[open("T")]).records.remove(0);
    for outcome in [Outcome::Pass, Outcome::Fail] {
        let mut draft = verdict("T", Some(opened.id), Class::Asserted, outcome);
        draft.after = Vec::<RecordId>::from([opened.id]);
        commit(&store, &[draft]);
    }
    let made = page(&repo, &[]);
    assert!(text(section(&made, "doubts")).contains("Contested criteria"));
    assert!(text(section(&made, "matrix")).contains("contested"));
}

#[test]
fn decisions_are_listed_until_a_handoff_marks_them() {
    let repo = project();
    let decisions = text(section(&page(&repo, &[]), "decisions"));
    assert!(
        decisions.contains("DEVIATION asked here - no cache upstream"),
        "{decisions}"
    );
    assert_eq!(
        repo.operator(["handoff", "--mark", "--owner", "S1"])
            .run()
            .code,
        0
    );
    let decisions = text(section(&page(&repo, &[]), "decisions"));
    assert!(decisions.contains("None: every deviation"), "{decisions}");
}

#[test]
fn each_thing_links_to_its_record_and_its_commit() {
    let repo = project();
    let made = page(&repo, &[]);
    let matrix = section(&made, "matrix");
    let head = repo.head();
    assert!(matrix.contains("href=\"#r-"), "{matrix}");
    assert!(
        matrix.contains(&format!("href=\"#c-{}\"", &head[..12])),
        "{matrix}"
    );
}

#[test]
fn a_ledger_without_its_commits_is_told_all_the_same() {
    let theirs = project();
    let repo = Repo::new();
    let from = theirs.path().to_str().unwrap().to_owned();
    repo.git(["pull", "-q", &from, "main"]);
    theirs.commit("theirs alone");
    for args in [
        &["task", "T-3", "--owner", "S1"][..],
        &["verdict", "T-3", "seen", "ok", "PASS", "--owner", "S1"],
    ] {
        assert_eq!(theirs.operator(args).run().code, 0);
    }
    let spec = "+refs/operator/*:refs/operator-remotes/origin/*";
    repo.git(["fetch", "-q", &from, spec]);
    let made = page(&repo, &[]);
    assert!(text(section(&made, "commits")).contains("not in this clone"));
    let doubts = text(section(&made, "doubts"));
    assert!(doubts.contains("unknown-commit"), "{doubts}");
    assert!(text(section(&made, "records")).contains("three typos"));
}

#[test]
fn a_range_narrows_the_page_to_its_commits() {
    let repo = project();
    let before = repo.head();
    repo.commit("next");
    for args in [
        &["task", "T-9", "--owner", "S1"][..],
        &["verdict", "T-9", "later", "seen", "PASS", "--owner", "S1"],
    ] {
        assert_eq!(repo.operator(args).run().code, 0);
    }
    let range = format!("{before}..HEAD");
    let records = text(section(&page(&repo, &[&range]), "records"));
    assert!(
        records.contains("T-9: later: seen") && records.contains("T-9 for S1"),
        "{records}"
    );
    assert!(!records.contains("three typos"), "{records}");
    repo.operator(["report", "nowhere"])
        .stderr("error: cannot resolve revision 'nowhere': there is no such commit\n")
        .exit(128)
        .check();
}

#[test]
fn a_file_gets_the_page_and_stderr_a_line() {
    let repo = project();
    let output = repo.operator(["report", "-o", "page.html"]).run();
    let path = repo.path().join("page.html");
    let said = format!("wrote 8 records to {}\n", path.display());
    assert_eq!((output.stdout.as_str(), output.stderr), ("", said));
    check(&fs::read_to_string(path).unwrap());
    repo.operator(["report", "-o", "absent/page.html"])
        .stderr(format!(
            "error: cannot write '{}': no such file or directory\n",
            repo.path().join("absent/page.html").display()
        ))
        .exit(128)
        .check();
}

#[test]
fn a_reader_that_goes_away_is_success() {
    let repo = project();
    let mut child = repo.operator(["report"]).command().spawn().unwrap();
    let mut some = [0; 16];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

fn files(dir: &Path, found: &mut BTreeMap<std::path::PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}

#[test]
fn nothing_is_written() {
    let repo = project();
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    files(repo.path(), &mut before);
    page(&repo, &[]);
    files(repo.path(), &mut after);
    assert!(before == after);
}

#[test]
fn outside_git_there_is_a_page_too() {
    let repo = Repo::outside();
    assert_eq!(repo.operator(["start"]).run().code, 0);
    let verdict = ["verdict", "T", "c", "seen", "PASS", "--owner", "S1"];
    assert_eq!(repo.operator(verdict).run().code, 0);
    let records = text(section(&page(&repo, &[]), "records"));
    assert!(records.contains("T: c: seen"), "{records}");
}

#[test]
fn a_year_is_paged_by_month() {
    let made = sample(400);
    let shown = page(&made.repo, &[]);
    let records = section(&shown, "records");
    assert!(records.matches("class=\"month\"").count() >= 3);
    assert_eq!(records.matches("<li id=\"r-").count(), made.records);
    assert_eq!(section(&shown, "timeline").matches("<svg").count(), 1);
}

/// Keeps pages of made-up ledgers for who wants to look at them: tests/browser/run for one.
#[test]
#[ignore = "makes files for a person: REPORT_DIR=/tmp/x REPORT_SIZE=10000"]
fn samples_to_look_at() {
    #[expect(clippy::disallowed_methods, reason = "a person asks for it")]
    let var = |name: &str| std::env::var(name).ok();
    let Some(dir) = var("REPORT_DIR") else { return };
    fs::create_dir_all(&dir).unwrap();
    let size = var("REPORT_SIZE").and_then(|size| size.parse().ok());
    let made = sample(size.unwrap_or(10_000));
    let begun = Instant::now();
    let shown = page(&made.repo, &[]);
    let (count, bytes) = (made.records, shown.len());
    eprintln!("{count} records, {bytes} bytes in {:?}", begun.elapsed());
    let keep = |name: &str, page: String| fs::write(format!("{dir}/{name}.html"), page).unwrap();
    keep("report", shown);
    if var("REPORT_MORE").is_some() {
        keep("few", page(&sample(400).repo, &[]));
        keep("doubts", page(&project(), &[]));
        keep("empty", page(&Repo::new(), &[]));
        keep("hostile", page(&hostile::ledger().0, &[]));
    }
}
