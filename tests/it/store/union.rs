//! Ledgers meet: of clones that share, of strangers, of somebody who means no good.

use git_operator::{
    git::Clock,
    model::{Body, Digest, Draft, Oid, Redact},
    store::{Adopted, EVIDENCE, LEDGER, Limits, Store, Wait, tasks},
};
use proptest::prelude::*;

use super::{commit, env, fsck, note, notes, open, record, store};
use crate::support::Repo;

fn clock(repo: &Repo) -> Clock {
    Clock::new(&env(repo)).unwrap()
}

/// Brings a ref of `from` here, as a fetch does, and returns its tip.
fn fetch(repo: &Repo, from: &Repo, name: &str) -> Oid {
    let spec = format!("+{name}:refs/operator-remotes/{}/x", id_of(from));
    let path = from.path().to_str().unwrap();
    repo.git(["-c", "fetch.unpackLimit=1", "fetch", "-q", path, &spec]);
    from.git(["rev-parse", name]).parse().unwrap()
}

fn id_of(repo: &Repo) -> String {
    Digest::of(repo.path().to_str().unwrap().as_bytes()).to_hex()[..8].to_owned()
}

fn adopt(repo: &Repo, tip: Oid) -> Adopted {
    let store = store(repo);
    let mut transaction = store.begin(Wait::Command, clock(repo)).unwrap();
    transaction.adopt_ledger(tip, Limits::USUAL).unwrap()
}

fn tip(repo: &Repo) -> String {
    repo.git(["rev-parse", LEDGER])
}

fn sorted(repo: &Repo) -> Vec<String> {
    let mut names = notes(&store(repo));
    names.sort();
    names
}

#[test]
fn two_clones_that_unite_the_same_tips_make_the_same_commit() {
    let (one, other) = (Repo::new(), Repo::new());
    for (repo, name) in [(&one, "a"), (&other, "b")] {
        for number in 0..3 {
            record(&store(repo), note(&format!("{name}{number}")));
        }
    }
    let theirs = fetch(&one, &other, LEDGER);
    let ours = fetch(&other, &one, LEDGER);
    assert_eq!(adopt(&one, theirs).records, 3);
    assert_eq!(adopt(&other, ours).records, 3);
    assert_eq!(tip(&one), tip(&other));
    assert_eq!(sorted(&one), ["a0", "a1", "a2", "b0", "b1", "b2"]);
    let message = one.git(["log", "-1", "--format=%B%an %ae %cI", LEDGER]);
    assert_eq!(
        message,
        "union 3\ngit-operator git-operator@localhost 2026-01-01T00:00:00Z"
    );
    assert_eq!(
        adopt(&one, tip(&other).parse().unwrap()),
        Adopted::default()
    );
    fsck(&one);
    fsck(&other);
}

#[test]
fn a_number_goes_on_from_the_larger_of_both() {
    let (one, other) = (Repo::new(), Repo::new());
    record(&store(&one), note("a"));
    for number in 0..5 {
        record(&store(&other), note(&format!("b{number}")));
    }
    adopt(&one, fetch(&one, &other, LEDGER));
    assert_eq!(record(&store(&one), note("next")).seq, 6);
    assert_eq!(store(&one).state().count, Some(7));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    /// Whatever is written and united in whatever order, clones that have seen all of it hold the
    /// same records under the same tip; nothing is lost.
    #[test]
    fn union_is_commutative_associative_and_idempotent(
        steps in prop::collection::vec((0_usize..3, 0_usize..3), 4..14)
    ) {
        let repos = [Repo::new(), Repo::new(), Repo::new()];
        let mut written = Vec::new();
        for (number, (at, from)) in steps.into_iter().enumerate() {
            if at == from || store(&repos[from]).tip().unwrap().is_none() {
                let name = format!("n{number:02}");
                record(&store(&repos[at]), note(&name));
                written.push(name);
            } else {
                adopt(&repos[at], fetch(&repos[at], &repos[from], LEDGER));
            }
        }
        // Two rounds in different orders bring all to all.
        for order in [[0, 1, 2], [2, 1, 0]] {
            for at in order {
                for from in order.iter().copied().filter(|from| *from != at) {
                    if store(&repos[from]).tip().unwrap().is_some() {
                        adopt(&repos[at], fetch(&repos[at], &repos[from], LEDGER));
                    }
                }
            }
        }
        let tips: Vec<_> = repos.iter().map(|repo| store(repo).tip().unwrap()).collect();
        prop_assert_eq!(tips[0], tips[1]);
        prop_assert_eq!(tips[1], tips[2]);
        for repo in &repos {
            prop_assert_eq!(&sorted(repo), &written);
            fsck(repo);
        }
    }
}

#[test]
fn a_record_that_came_from_elsewhere_opens_nothing() {
    let (one, other) = (Repo::new(), Repo::new());
    record(&store(&other), open("T-1"));
    adopt(&one, fetch(&one, &other, LEDGER));
    assert_eq!(tasks::list(store(&one).dir()).unwrap().open, []);
    record(&store(&one), note("next"));
    assert_eq!(tasks::list(store(&one).dir()).unwrap().open, []);
}

#[test]
fn an_open_task_learns_what_others_recorded_on_it() {
    let (one, other) = (Repo::new(), Repo::new());
    record(&store(&one), open("T-1"));
    let theirs = record(&store(&other), open("T-1"));
    adopt(&one, fetch(&one, &other, LEDGER));
    let tasks = tasks::list(store(&one).dir()).unwrap().open;
    assert!(tasks[0].heads.task.contains(&theirs.id));
    assert_eq!(tasks[0].heads.task.len(), 2);
}

#[test]
fn a_copy_of_the_repository_does_not_act_for_the_original() {
    let repo = Repo::new();
    record(&store(&repo), note("one"));
    let copy = Repo::outside();
    std::fs::remove_dir(copy.path()).unwrap();
    let done = std::process::Command::new("cp")
        .arg("-r")
        .args([repo.path(), copy.path()])
        .status();
    assert!(done.unwrap().success());
    // It bears the same name, and records an opening under it.
    let opened = record(&store(&copy), open("T-1"));
    assert_eq!(opened.replica, store(&repo).state().replica);
    adopt(&repo, fetch(&repo, &copy, LEDGER));
    record(&store(&repo), note("next"));
    assert_eq!(tasks::list(store(&repo).dir()).unwrap().open, []);
}

/// Writes a commit as anybody can, and returns its id.
fn forge(repo: &Repo, tree: &str, parents: &[&str], message: &str) -> Oid {
    repo.write(".git/message", message);
    let mut args = vec!["commit-tree", tree, "-F", ".git/message"];
    for parent in parents {
        args.extend(["-p", parent]);
    }
    repo.git(args).parse().unwrap()
}

/// A stranger's ledger of two good records.
fn stranger() -> (Repo, String) {
    let repo = Repo::new();
    record(&store(&repo), note("good1"));
    record(&store(&repo), note("good2"));
    let tree = repo.git(["rev-parse", &format!("{LEDGER}^{{tree}}")]);
    (repo, tree)
}

#[track_caller]
fn check_refused(theirs: &Repo, tip: Oid, why: &str) {
    let ours = Repo::new();
    record(&store(&ours), note("ours"));
    theirs.git(["update-ref", LEDGER, &tip.to_hex()]);
    fetch(&ours, theirs, LEDGER);
    let adopted = adopt(&ours, tip);
    assert_eq!(adopted.refused, [format!("commit {}: {why}", tip.short())]);
    assert_eq!(adopted.records, 2);
    assert_eq!(sorted(&ours), ["good1", "good2", "ours"]);
    let contains = ours.try_git(["merge-base", "--is-ancestor", &tip.to_hex(), LEDGER]);
    assert_eq!(contains.status.code(), Some(1));
    // Again: everything good is here.
    assert_eq!(adopt(&ours, tip).records, 0);
    fsck(&ours);
}

#[test]
fn a_tree_that_is_not_empty_is_refused() {
    let (repo, _) = stranger();
    repo.commit("a");
    let tree = repo.git(["rev-parse", "HEAD^{tree}"]);
    let tip = forge(&repo, &tree, &[LEDGER], "x\n\n");
    check_refused(&repo, tip, "its tree is not empty");
}

#[test]
fn more_than_two_parents_are_refused() {
    let (repo, tree) = stranger();
    let side: Vec<String> = ["s1", "s2"]
        .iter()
        .map(|name| forge(&repo, &tree, &[], name).to_hex())
        .collect();
    let tip = forge(&repo, &tree, &[LEDGER, &side[0], &side[1]], "x\n\n");
    check_refused(&repo, tip, "it has more than two parents");
}

#[test]
fn a_commit_of_too_many_records_is_refused() {
    let (repo, tree) = stranger();
    let message = format!("x\n\n{}", "y\n".repeat(1_001));
    let tip = forge(&repo, &tree, &[LEDGER], &message);
    check_refused(&repo, tip, "it holds more than 1,000 records");
}

#[test]
fn a_line_that_is_too_long_is_refused() {
    let (repo, tree) = stranger();
    let message = format!("x\n\n{}\n", "y".repeat(65_537));
    let tip = forge(&repo, &tree, &[LEDGER], &message);
    check_refused(&repo, tip, "it holds a line of more than 64 KiB");
}

#[test]
fn a_commit_that_is_too_long_is_refused() {
    let (repo, tree) = stranger();
    let message = "y".repeat(5 << 20);
    let tip = forge(&repo, &tree, &[LEDGER], &message);
    check_refused(&repo, tip, "it is no commit of at most 4 MiB");
}

#[test]
fn a_number_far_beyond_is_refused() {
    let (repo, tree) = stranger();
    let tip = forge(&repo, &tree, &[LEDGER], "union 4000000000\n");
    check_refused(&repo, tip, "it numbers a record far beyond what is known");
}

#[test]
fn garbage_lines_are_set_aside_and_named() {
    let (repo, tree) = stranger();
    let good = repo.git(["log", "-1", "--format=%b", LEDGER]);
    let flipped = good.replace("good2", "evil2");
    let message = format!("x\n\n{flipped}not json\n{{\"id\":\"short\"}}\n");
    let tip = forge(&repo, &tree, &[LEDGER], &message);
    repo.git(["update-ref", LEDGER, &tip.to_hex()]);
    let ours = Repo::new();
    adopt(&ours, fetch(&ours, &repo, LEDGER));
    let ledger = store(&ours).load().unwrap();
    assert_eq!(ledger.len(), 2);
    let reasons: Vec<(String, String)> = ledger
        .quarantined()
        .map(|line| (line.place.clone(), line.reason.clone()))
        .collect();
    let place = |number: usize| format!("commit {}, record {number}", tip.short());
    assert_eq!(
        reasons,
        [
            (
                place(1),
                "the id does not match the line's bytes".to_owned()
            ),
            (
                place(2),
                "the line does not begin with a record id".to_owned()
            ),
            (
                place(3),
                "the line does not begin with a record id".to_owned()
            ),
        ]
    );
    assert_eq!(store(&ours).unread().unwrap().quarantined().count(), 3);
}

#[test]
fn a_ledger_with_a_hole_is_not_taken() {
    let (_, tree) = stranger();
    let missing = "12".repeat(20);
    let raw = format!(
        "tree {tree}\nparent {missing}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nunion 3\n"
    );
    let ours = Repo::new();
    record(&store(&ours), note("ours"));
    ours.write(".git/raw", raw);
    let tip = ours.git(["hash-object", "-t", "commit", "-w", ".git/raw"]);
    let ours_store = store(&ours);
    let mut transaction = ours_store.begin(Wait::Command, clock(&ours)).unwrap();
    let error = transaction
        .adopt_ledger(tip.parse().unwrap(), Limits::USUAL)
        .unwrap_err();
    assert!(error.to_string().contains(&missing), "{error}");
    drop(transaction);
    assert_eq!(sorted(&ours), ["ours"]);
}

fn with_evidence(repo: &Repo, bytes: &[u8]) -> Digest {
    let store = store(repo);
    let mut transaction = store.begin(Wait::Command, clock(repo)).unwrap();
    transaction
        .commit(&[note("with evidence")], vec![bytes.to_vec()])
        .unwrap();
    Digest::of(bytes)
}

fn adopt_evidence(repo: &Repo, tip: Oid) -> Adopted {
    let store = store(repo);
    let mut transaction = store.begin(Wait::Command, clock(repo)).unwrap();
    transaction.adopt_evidence(tip).unwrap()
}

#[test]
fn evidence_of_two_clones_is_united_entry_by_entry() {
    let (one, other) = (Repo::new(), Repo::new());
    let first = with_evidence(&one, &[b'a'; 9_000]);
    let second = with_evidence(&other, &[b'b'; 9_000]);
    let theirs = fetch(&one, &other, EVIDENCE);
    let ours = fetch(&other, &one, EVIDENCE);
    adopt_evidence(&one, theirs);
    adopt_evidence(&other, ours);
    assert_eq!(
        one.git(["rev-parse", EVIDENCE]),
        other.git(["rev-parse", EVIDENCE])
    );
    for digest in [first, second] {
        assert!(store(&one).evidence(&digest).unwrap().is_some());
    }
    fsck(&one);
}

#[test]
fn somebody_elses_bytes_under_a_digest_do_not_hide_the_right_ones() {
    let (one, other) = (Repo::new(), Repo::new());
    let bytes = [b'a'; 9_000];
    let digest = with_evidence(&one, &bytes);
    let hex = digest.to_hex();
    for forged in ["zzz", "yyy", "xxx"] {
        other.write("forged", forged);
        let blob = other.git(["hash-object", "-w", "forged"]);
        other.write(".git/tree", format!("100644 blob {blob}\t{hex}\n"));
        let tree = mktree(&other);
        other.write(".git/tree", format!("040000 tree {tree}\t{}\n", &hex[..2]));
        let root = mktree(&other);
        let tip = forge(&other, &root, &[], "evidence");
        other.git(["update-ref", EVIDENCE, &tip.to_hex()]);
        adopt_evidence(&one, fetch(&one, &other, EVIDENCE));
        assert_eq!(store(&one).evidence(&digest).unwrap(), Some(bytes.to_vec()));
    }
}

fn mktree(repo: &Repo) -> String {
    let done = std::process::Command::new("git")
        .arg("mktree")
        .current_dir(repo.path())
        .env_clear()
        .envs(repo.env())
        .stdin(std::fs::File::open(repo.path().join(".git/tree")).unwrap())
        .output()
        .unwrap();
    assert!(done.status.success());
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

fn redact(digest: Digest) -> Draft {
    let why = "a password".to_owned();
    Draft::new(Body::Redact(Redact { digest, why }))
}

fn holds(repo: &Repo, bytes: &[u8]) -> bool {
    repo.write(".git/probe", bytes);
    let blob = repo.git(["hash-object", ".git/probe"]);
    repo.git(["gc", "-q", "--prune=now"]);
    repo.try_git(["cat-file", "-e", &blob]).status.success()
}

#[test]
fn redacted_evidence_leaves_the_ref_its_history_and_the_journals() {
    for size in [9_000, 100_000] {
        let repo = Repo::new();
        let secret = vec![b's'; size];
        let kept = with_evidence(&repo, &[b'k'; 9_000]);
        let gone = with_evidence(&repo, &secret);
        let store = store(&repo);
        let mut transaction = store.begin(Wait::Command, clock(&repo)).unwrap();
        let committed = transaction.redact(&redact(gone)).unwrap();
        assert_eq!(committed.unfinished, None);
        drop(transaction);
        assert_eq!(store.evidence(&gone).unwrap(), None);
        assert!(store.evidence(&kept).unwrap().is_some());
        assert_eq!(repo.git(["rev-list", "--count", EVIDENCE]), "1");
        for name in ["journal", "journal.1"] {
            let text = std::fs::read_to_string(store.dir().join(name)).unwrap();
            assert!(!text.contains("ssssssss"), "{name}");
        }
        fsck(&repo);
        assert!(!holds(&repo, &secret));
        record(&store, note("next"));
        assert!(!holds(&repo, &secret));
        assert_eq!(notes(&store).len(), 3);
    }
}

#[test]
fn a_redaction_that_arrives_is_obeyed_and_never_undone() {
    let (one, other) = (Repo::new(), Repo::new());
    let secret = vec![b's'; 9_000];
    let gone = with_evidence(&one, &secret);
    let kept = with_evidence(&one, &[b'k'; 9_000]);
    adopt(&other, fetch(&other, &one, LEDGER));
    adopt_evidence(&other, fetch(&other, &one, EVIDENCE));
    assert!(store(&other).evidence(&gone).unwrap().is_some());
    let first = store(&one);
    let mut transaction = first.begin(Wait::Command, clock(&one)).unwrap();
    transaction.redact(&redact(gone)).unwrap();
    drop(transaction);
    // The evidence of the one who has not heard of it does not bring it back.
    adopt_evidence(&one, fetch(&one, &other, EVIDENCE));
    assert_eq!(first.evidence(&gone).unwrap(), None);
    adopt(&other, fetch(&other, &one, LEDGER));
    adopt_evidence(&other, fetch(&other, &one, EVIDENCE));
    assert_eq!(store(&other).evidence(&gone).unwrap(), None);
    assert!(store(&other).evidence(&kept).unwrap().is_some());
    for repo in [&one, &other] {
        repo.git([
            "for-each-ref",
            "refs/operator-remotes",
            "--format=delete %(refname)",
        ])
        .lines()
        .for_each(|line| {
            repo.git(["update-ref", "-d", line.strip_prefix("delete ").unwrap()]);
        });
        assert!(!holds(repo, &secret));
        fsck(repo);
    }
}

#[test]
fn a_foreign_ledger_that_is_too_large_is_not_taken_by_accident() {
    let (repo, _) = stranger();
    let ours = Repo::new();
    record(&store(&ours), note("ours"));
    let tip = fetch(&ours, &repo, LEDGER);
    let own: Store = store(&ours);
    let mut transaction = own.begin(Wait::Command, clock(&ours)).unwrap();
    let adopted = transaction
        .adopt_ledger(tip, Limits { records: 1 })
        .unwrap();
    assert_eq!(
        adopted.refused,
        ["2 new records, more than 1: sync with --large"]
    );
    assert_eq!(
        transaction
            .adopt_ledger(tip, Limits::LARGE)
            .unwrap()
            .records,
        2
    );
    drop(transaction);
    commit(&own, &[note("next")]);
    assert_eq!(sorted(&ours), ["good1", "good2", "next", "ours"]);
}
