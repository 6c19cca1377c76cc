use git_operator::model::{Body, Class, Evidence, Outcome};

use crate::{
    store::{commit, note, open, record, store, verdict},
    support::Repo,
};

#[test]
fn a_record_is_found_by_a_prefix_in_any_case() {
    let repo = Repo::new();
    let store = store(&repo);
    let opened = record(&store, open("T-1"));
    let passed = record(
        &store,
        verdict("T-1", Some(opened.id), Class::Asserted, Outcome::Pass),
    );
    let text = format!(
        "record {} PASS\n\
         Task:      T-1\n\
         Criterion: suite passes\n\
         Date:      2026-01-01T00:00:00Z\n\
         Owner:     S1\n\
         Opened:    {}\n\
         Replica:   {}\n\
         Class:     asserted\n\
         Stamp:     @no-vcs\n\
         \n    ran the suite\n",
        passed.id,
        opened.id.short(),
        passed.replica.unwrap()
    );
    for name in [
        passed.id.short().to_owned(),
        passed.id.short().to_lowercase(),
        passed.id.to_string(),
        passed.id.hash()[..6].to_owned(),
    ] {
        repo.operator(["show", &name]).stdout(text.clone()).check();
    }
}

#[test]
fn a_task_shows_where_it_stands_and_every_record_on_it() {
    let repo = Repo::new();
    let store = store(&repo);
    let opened = record(&store, open("a b"));
    record(
        &store,
        verdict("a b", Some(opened.id), Class::Captured, Outcome::Fail),
    );
    let output = repo.operator(["show", "a b"]).run();
    assert!(
        output
            .stdout
            .starts_with("task a b (open, owned by S1)\n  FAIL      suite passes\n\nrecord "),
        "{}",
        output.stdout
    );
    assert_eq!(output.stdout.matches("\nrecord ").count(), 2);
    let output = repo.operator(["show", "--json", "a b"]).run();
    let lines: Vec<serde_json::Value> = output
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let head = &lines[1]["id"];
    assert_eq!(
        lines[0],
        serde_json::json!({"v": 1, "type": "task", "task": "a b", "open": true, "owner": "S1",
            "criteria": [{"criterion": "suite passes", "state": "FAIL", "heads": [head]}]})
    );
    assert_eq!(lines[1]["evidence_whole"], "ran the suite");
}

#[test]
fn a_revision_shows_what_was_recorded_on_it() {
    let repo = Repo::new();
    let first = repo.commit("a");
    let mut draft = verdict("T-1", None, Class::Asserted, Outcome::Pass);
    if let Body::Verdict(verdict) = &mut draft.body {
        verdict.head = first.parse().ok();
    }
    let made = record(&store(&repo), draft);
    repo.commit("b");
    for name in ["HEAD~1", "main~1", &first[..12]] {
        let output = repo.operator(["show", name]).run();
        assert!(
            output
                .stdout
                .starts_with(&format!("record {} PASS\n", made.id)),
            "{name}"
        );
    }
    repo.operator(["show", "HEAD"])
        .stderr("error: cannot show 'HEAD': no record was made on that commit\n")
        .exit(1)
        .check();
}

#[test]
fn a_name_that_means_nothing_is_refused() {
    let repo = Repo::new();
    for name in ["ZZZZZZ", "no such", "zzzz"] {
        repo.operator(["show", name])
            .stderr(format!(
                "error: cannot show '{name}': it is no task, record or commit of this ledger\n"
            ))
            .exit(1)
            .check();
    }
}

#[test]
fn a_prefix_of_several_records_lists_them() {
    let repo = Repo::new();
    let store = store(&repo);
    // Four characters are 20 bits: among 6,000 records two share them, but for one run in 30,000.
    let drafts: Vec<_> = (0..6_000).map(|n| note(&format!("note {n}"))).collect();
    let mut ids: Vec<String> = drafts
        .chunks(1_000)
        .flat_map(|chunk| commit(&store, chunk).records)
        .map(|record| record.id.hash().to_owned())
        .collect();
    ids.sort();
    let shared = ids
        .windows(2)
        .find(|pair| pair[0][..4] == pair[1][..4])
        .unwrap();
    let prefix = &shared[0][..4];
    let output = repo.operator(["show", prefix]).run();
    let first = format!("error: cannot show '{prefix}': it is short for several records:\n  ");
    assert_eq!((output.code, output.stdout.as_str()), (1, ""));
    assert!(output.stderr.starts_with(&first), "{}", output.stderr);
    assert!(shared.iter().all(|id| output.stderr.contains(id)));
    assert_eq!(repo.operator(["show", &shared[0]]).run().code, 0);
}

#[test]
fn missing_long_evidence_is_said_in_its_place() {
    let repo = Repo::new();
    let mut draft = verdict("T", None, Class::Asserted, Outcome::Pass);
    if let Body::Verdict(verdict) = &mut draft.body {
        verdict.evidence = Evidence::of(&vec![b'x'; 100_000]);
    }
    let made = record(&store(&repo), draft);
    let output = repo.operator(["show", made.id.short()]).run();
    let line = format!(
        "    (cannot show the evidence of '{}': its bytes are not in this clone)\n",
        made.id.short()
    );
    assert!(output.stdout.ends_with(&line), "{}", output.stdout);
    assert_eq!(output.code, 0);
}
