//! Ledgers that travel: clones, a bare repository between them, and what may go wrong on the way.

use std::{collections::BTreeSet, os::unix::fs::PermissionsExt as _, path::Path, time::Duration};

use git_operator::{
    git::{self, Clock, Env, locate},
    model::{Body, Decision, DecisionKind, Draft, Explain as _, Owner},
    store::{Limits, Store, Wait},
    sync::{Pushed, Report, Request, sync},
};

use crate::support::Repo;

fn store(repo: &Repo) -> Store {
    let env = Env::new(repo.env());
    let location = locate(repo.path(), &env).unwrap().unwrap();
    Store::open(git::Repo::open(&location, &env).unwrap())
}

fn clock(repo: &Repo) -> Clock {
    Clock::new(&Env::new(repo.env())).unwrap()
}

fn note(repo: &Repo, what: &str) {
    let mut draft = Draft::new(Body::Decision(Decision {
        decision: DecisionKind::Decision,
        scope: "s".to_owned(),
        what: what.to_owned(),
        why: "w".to_owned(),
        covers: Vec::new(),
        import: None,
    }));
    draft.owner = Some(Owner::new("S1").unwrap());
    let store = store(repo);
    store
        .begin(Wait::Command, clock(repo))
        .unwrap()
        .commit(&[draft], Vec::new())
        .unwrap();
}

fn exchange(repo: &Repo) -> Report {
    try_exchange(repo).unwrap()
}

fn try_exchange(repo: &Repo) -> Result<Report, git_operator::sync::Error> {
    let request = Request {
        remote: None,
        evidence: true,
        limits: Limits::USUAL,
        prompts: false,
        patience: Request::PATIENCE,
    };
    sync(&store(repo), &clock(repo), &request)
}

fn whats(repo: &Repo) -> BTreeSet<String> {
    let ledger = store(repo).load().unwrap();
    let what = ledger.iter().filter_map(|record| match &record.body {
        Body::Decision(decision) => Some(decision.what.clone()),
        _ => None,
    });
    what.collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Returns a bare repository and a clone of it that has one commit.
fn hub() -> (Repo, Repo) {
    let first = Repo::new();
    first.commit("a");
    let bare = first.dir().join("hub.git");
    first.git(["init", "-q", "--bare", bare.to_str().unwrap()]);
    first.git(["remote", "add", "origin", bare.to_str().unwrap()]);
    first.git(["push", "-q", "origin", "main"]);
    let hub = first.at(&bare);
    (hub, first)
}

fn clone(hub: &Repo, name: &str) -> Repo {
    let there = hub.dir().join(name);
    hub.git([
        "clone",
        "-q",
        hub.path().to_str().unwrap(),
        there.to_str().unwrap(),
    ]);
    hub.at(there)
}

fn tip(repo: &Repo) -> String {
    repo.git(["rev-parse", "refs/operator/ledger"])
}

#[test]
fn two_clones_end_on_one_tip_with_every_record() {
    let (hub, one) = hub();
    let two = clone(&hub, "two");
    note(&one, "a");
    note(&two, "b");
    assert_eq!(
        exchange(&one).pushed,
        Pushed::New(vec!["refs/operator/ledger".to_owned()])
    );
    let report = exchange(&two);
    assert_eq!(
        (report.received, report.pushed),
        (1, Pushed::New(vec!["refs/operator/ledger".to_owned()]))
    );
    assert_eq!(exchange(&one).received, 1);
    assert_eq!(whats(&one), set(&["a", "b"]));
    assert_eq!((tip(&one), tip(&two)), (tip(&hub), tip(&hub)));
    assert_eq!(exchange(&one).pushed, Pushed::Nothing);
}

const TRACK: &str = "+refs/operator/*:refs/operator-remotes/origin/*";

#[test]
fn what_a_clone_writes_comes_after_what_it_fetched() {
    let (hub, one) = hub();
    note(&one, "a");
    exchange(&one);
    let two = clone(&hub, "two");
    two.git(["fetch", "-q", "--no-tags", "origin", TRACK]);
    note(&two, "b");
    assert_eq!(whats(&two), set(&["a", "b"]));
    let theirs = tip(&one);
    two.git([
        "merge-base",
        "--is-ancestor",
        &theirs,
        "refs/operator/ledger",
    ]);
    assert!(store(&two).take_warnings().is_empty());
    assert_eq!(exchange(&two).received, 0);
    assert_eq!(tip(&two), tip(&hub));
}

#[test]
fn what_a_clone_fetched_and_cannot_take_over_is_named() {
    let (hub, one) = hub();
    note(&one, "a");
    exchange(&one);
    let parent = "refs/operator/ledger";
    let bad = one.git(["commit-tree", "HEAD^{tree}", "-p", parent, "-m", "x"]);
    one.git([
        "push",
        "-q",
        "origin",
        &format!("{bad}:refs/operator/ledger"),
    ]);
    let two = clone(&hub, "two");
    two.git(["fetch", "-q", "--no-tags", "origin", TRACK]);
    let store = store(&two);
    let tx = store.begin(Wait::Command, clock(&two)).unwrap();
    drop(tx);
    assert_eq!(whats(&two), set(&["a"]));
    let warnings: Vec<String> = store
        .take_warnings()
        .iter()
        .map(ToString::to_string)
        .collect();
    let expected = format!(
        "a part of the ledger that was fetched is left out: commit {}: its tree is not empty",
        &bad[..12]
    );
    assert_eq!(warnings, [expected]);
}

#[test]
fn twenty_clones_at_once_all_succeed() {
    let (hub, first) = hub();
    note(&first, "first");
    exchange(&first);
    let clones: Vec<Repo> = (0..20)
        .map(|number| clone(&hub, &format!("c{number}")))
        .collect();
    let paths: Vec<_> = clones
        .iter()
        .map(|repo| (repo.path().to_owned(), repo.env()))
        .collect();
    for (number, repo) in clones.iter().enumerate() {
        note(repo, &format!("n{number}"));
    }
    std::thread::scope(|scope| {
        for (path, env) in &paths {
            scope.spawn(move || sync_alone(path, env.clone()));
        }
    });
    let mut want: BTreeSet<String> = (0..20).map(|number| format!("n{number}")).collect();
    want.insert("first".to_owned());
    assert_eq!(whats(&hub), want);
    for repo in &clones {
        exchange(repo);
        assert_eq!(tip(repo), tip(&hub));
    }
}

fn sync_alone(path: &Path, env: Vec<(std::ffi::OsString, std::ffi::OsString)>) {
    let env = Env::new(env);
    let location = locate(path, &env).unwrap().unwrap();
    let store = Store::open(git::Repo::open(&location, &env).unwrap());
    let request = Request {
        remote: None,
        evidence: false,
        limits: Limits::USUAL,
        prompts: false,
        patience: Request::PATIENCE,
    };
    sync(&store, &Clock::new(&env).unwrap(), &request).unwrap();
}

#[test]
fn a_remote_that_went_back_takes_nothing_and_is_named() {
    let (hub, one) = hub();
    note(&one, "a");
    exchange(&one);
    let old = tip(&one);
    note(&one, "b");
    exchange(&one);
    hub.git(["update-ref", "refs/operator/ledger", old.trim()]);
    let report = exchange(&one);
    assert_eq!(report.lost.len(), 1);
    assert_eq!(report.lost[0].now.unwrap().to_hex(), old.trim());
    assert_eq!(whats(&hub), set(&["a", "b"]));
    hub.git(["update-ref", "-d", "refs/operator/ledger"]);
    let report = exchange(&one);
    assert_eq!(report.lost[0].now, None);
    assert_eq!(whats(&hub), set(&["a", "b"]));
}

#[test]
fn a_remote_that_is_pushed_to_elsewhere_does_not_seem_to_go_back() {
    let (hub, one) = hub();
    let push = one.dir().join("push.git");
    one.git(["init", "-q", "--bare", push.to_str().unwrap()]);
    one.git(["config", "remote.origin.pushurl", push.to_str().unwrap()]);
    for what in ["a", "b"] {
        note(&one, what);
        let report = exchange(&one);
        assert_eq!(report.lost, Vec::new());
        assert_ne!(report.pushed, Pushed::Nothing);
    }
    assert_eq!(tip(&one.at(&push)), tip(&one));
    let is_there = hub.try_git(["rev-parse", "-q", "--verify", "refs/operator/ledger"]);
    assert!(!is_there.status.success());
}

#[test]
fn the_users_refspecs_and_config_stay_as_they_are() {
    let (_hub, one) = hub();
    let before = one.read(".git/config");
    note(&one, "a");
    exchange(&one);
    assert_eq!(one.read(".git/config"), before);
    assert_eq!(
        one.git([
            "for-each-ref",
            "refs/heads",
            "refs/tags",
            "--format=%(refname)"
        ]),
        "refs/heads/main"
    );
    one.git(["fetch", "-q", "--prune", "origin"]);
    one.git(["fetch", "-q", "--prune", "--prune-tags", "origin"]);
    assert_eq!(whats(&one), set(&["a"]));
    assert!(
        !one.path().join(".git/FETCH_HEAD").exists()
            || !one.read(".git/FETCH_HEAD").contains("operator")
    );
}

#[test]
fn several_remotes_are_not_chosen_among_silently() {
    let (hub, one) = hub();
    one.git(["remote", "add", "other", hub.path().to_str().unwrap()]);
    let error = try_exchange(&one).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot sync: there are several remotes (origin, other)"
    );
    one.git(["config", "operator.remote", "origin"]);
    note(&one, "a");
    assert_eq!(exchange(&one).remote, "origin");
}

#[test]
fn remotes_whose_refs_would_mix_are_refused() {
    let (hub, one) = hub();
    // Newer versions of git refuse to add it themselves.
    one.git([
        "config",
        "remote.origin/fork.url",
        hub.path().to_str().unwrap(),
    ]);
    one.git([
        "config",
        "remote.original.url",
        hub.path().to_str().unwrap(),
    ]);
    note(&one, "a");
    for (name, other) in [("origin", "origin/fork"), ("origin/fork", "origin")] {
        one.operator(["sync", name])
            .stderr(format!(
                "error: cannot sync with '{name}': what it holds would mix with that of the remote '{other}'\n\
                 hint: git remote rename origin/fork origin-fork\n"
            ))
            .exit(1)
            .check();
    }
    assert_eq!(one.git(["for-each-ref", "refs/operator-remotes"]), "");
    assert_eq!(one.operator(["sync", "original"]).run().code, 0);
}

#[test]
fn a_dead_remote_is_an_error_and_loses_nothing() {
    let (_hub, one) = hub();
    one.git(["remote", "set-url", "origin", "../nowhere.git"]);
    note(&one, "a");
    let error = try_exchange(&one).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("cannot fetch from 'origin': "),
        "{error}"
    );
    assert_eq!(whats(&one), set(&["a"]));
}

/// Takes the commit of a ref away, as a `git gc --prune=now` beside its writer does.
fn lose(repo: &Repo, name: &str) {
    let id = repo.git(["rev-parse", name]);
    let (fan, rest) = id.split_at(2);
    std::fs::remove_file(repo.path().join(".git/objects").join(fan).join(rest)).unwrap();
}

#[test]
fn a_broken_branch_keeps_no_records_apart() {
    let (hub, one) = hub();
    let two = clone(&hub, "two");
    note(&two, "b");
    exchange(&two);
    one.git(["checkout", "-q", "-b", "side"]);
    one.commit("never pushed");
    one.git(["checkout", "-q", "main"]);
    lose(&one, "side");
    note(&one, "a");
    assert_eq!(exchange(&one).received, 1);
    assert_eq!(whats(&one), set(&["a", "b"]));
    exchange(&two);
    assert_eq!(whats(&two), set(&["a", "b"]));
}

#[test]
fn a_broken_ledger_is_mended_by_the_sync() {
    let (hub, one) = hub();
    let two = clone(&hub, "two");
    note(&two, "b");
    exchange(&two);
    note(&one, "a");
    lose(&one, "refs/operator/ledger");
    assert_eq!(exchange(&one).received, 1);
    assert_eq!(whats(&one), set(&["a", "b"]));
}

#[test]
fn a_broken_head_is_named_with_what_looks_closer() {
    let (hub, one) = hub();
    let two = clone(&hub, "two");
    note(&two, "b");
    exchange(&two);
    one.commit("never pushed");
    lose(&one, "main");
    note(&one, "a");
    let error = try_exchange(&one).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot fetch from 'origin': bad object HEAD"
    );
    assert_eq!(error.hint().as_deref(), Some("git fsck"));
    assert_eq!(whats(&one), set(&["a"]));
}

#[test]
fn a_hostile_ledger_is_not_united_and_its_valid_records_are_taken() {
    let (hub, one) = hub();
    let two = clone(&hub, "two");
    note(&two, "good");
    exchange(&two);
    // A commit whose tree is not empty breaks the form of a ledger.
    let tree = two.git(["rev-parse", "HEAD^{tree}"]);
    let bad = two.git([
        "commit-tree",
        tree.trim(),
        "-p",
        "refs/operator/ledger",
        "-m",
        "x",
    ]);
    hub.git(["fetch", "-q", two.path().to_str().unwrap(), bad.trim()]);
    hub.git(["update-ref", "refs/operator/ledger", bad.trim()]);
    note(&one, "mine");
    let report = exchange(&one);
    assert_eq!(report.received, 1);
    assert_eq!(
        report.refused,
        [format!("commit {}: its tree is not empty", &bad[..12])]
    );
    assert_eq!(whats(&one), set(&["good", "mine"]));
    let held = one.try_git([
        "merge-base",
        "--is-ancestor",
        bad.trim(),
        "refs/operator/ledger",
    ]);
    assert!(!held.status.success());
}

#[test]
fn an_evidence_tree_with_other_things_is_named_and_not_taken() {
    let (hub, one) = hub();
    let blob = hub.git(["hash-object", "-w", "--stdin"]);
    hub.write("entry", format!("100644 blob {}\t..evil\n", blob.trim()));
    let made = std::process::Command::new("git")
        .args(["mktree"])
        .current_dir(hub.path())
        .env_clear()
        .envs(hub.env())
        .stdin(std::fs::File::open(hub.path().join("entry")).unwrap())
        .output()
        .unwrap();
    let tree = String::from_utf8(made.stdout).unwrap();
    let commit = hub.git(["commit-tree", tree.trim(), "-m", "evidence"]);
    hub.git(["update-ref", "refs/operator/evidence", commit.trim()]);
    note(&one, "a");
    let report = exchange(&one);
    assert_eq!(
        report.refused,
        [format!(
            "evidence {}: '..evil' is no piece of evidence",
            &commit[..12]
        )]
    );
    assert!(
        !one.try_git(["rev-parse", "-q", "--verify", "refs/operator/evidence"])
            .status
            .success()
    );
}

/// Servers that take a connection and never say a word.
#[test]
fn a_remote_that_never_answers_is_given_up_and_named() {
    let (_hub, one) = hub();
    note(&one, "a");
    let silent = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("git://{}/hub", silent.local_addr().unwrap());
    one.git(["remote", "set-url", "origin", &url]);
    let request = Request {
        remote: None,
        evidence: false,
        limits: Limits::USUAL,
        prompts: false,
        patience: Duration::from_millis(200),
    };
    let error = sync(&store(&one), &clock(&one), &request).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot fetch from 'origin': it was not done within 200ms"
    );
    assert_eq!(whats(&one), set(&["a"]));
}

/// A fetch that breaks off leaves a pack of its own size behind, which git keeps for two weeks.
#[test]
fn what_fetches_that_died_left_behind_does_not_grow() {
    let (_hub, one) = hub();
    note(&one, "a");
    let packs = one.path().join(".git/objects/pack");
    for number in 0..10 {
        let path = packs.join(format!("tmp_pack_{number:06}"));
        let file = std::fs::File::create(path).unwrap();
        let made = file.metadata().unwrap().modified().unwrap();
        file.set_modified(made - Duration::from_secs(25 * 3_600))
            .unwrap();
    }
    std::fs::write(packs.join("tmp_pack_living"), "").unwrap();
    exchange(&one);
    let left = std::fs::read_dir(&packs).unwrap();
    let left: Vec<String> = left
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("tmp_"))
        .collect();
    assert_eq!(left, ["tmp_pack_living"]);
}

/// What git says decides whether a push is tried again.
#[test]
fn git_speaks_one_language_in_a_transfer() {
    let (_hub, one) = hub();
    note(&one, "a");
    let ssh = one.dir().join("ssh");
    let said = one.dir().join("said");
    std::fs::write(
        &ssh,
        format!(
            "#!/bin/sh\necho \"$LC_ALL\" > '{}'\nexit 1\n",
            said.display()
        ),
    )
    .unwrap();
    std::fs::set_permissions(&ssh, std::fs::Permissions::from_mode(0o755)).unwrap();
    one.git(["config", "core.sshCommand", ssh.to_str().unwrap()]);
    one.git(["remote", "set-url", "origin", "ssh://nobody@localhost/hub"]);
    one.operator(["sync"]).env("LC_ALL", "de_DE.UTF-8").run();
    assert_eq!(std::fs::read_to_string(said).unwrap(), "C\n");
}

/// A remote that says no says it once, and its reason is told.
#[test]
fn a_push_that_is_declined_is_not_tried_again() {
    let (hub, one) = hub();
    note(&one, "a");
    let asked = hub.dir().join("asked");
    let hook = hub.path().join("hooks/pre-receive");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let script = format!(
        "#!/bin/sh\necho >> '{}'\necho only branches here >&2\nexit 1\n",
        asked.display()
    );
    std::fs::write(&hook, script).unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    one.operator(["sync"])
        .stderr("error: cannot push to 'origin': pre-receive hook declined: only branches here\n")
        .exit(128)
        .check();
    assert_eq!(std::fs::read_to_string(asked).unwrap(), "\n");
    std::fs::remove_file(hook).unwrap();
    hub.git(["update-ref", "refs/operator/ledger/x", "HEAD"]);
    let error = try_exchange(&one).unwrap_err().to_string();
    assert!(error.contains("'refs/operator/ledger/x' exists"), "{error}");
}

/// The reader of a ref that no page of a host shows is told where it went.
#[test]
fn a_sync_says_which_refs_it_moved() {
    let (_hub, one) = hub();
    note(&one, "a");
    let said = "synced with origin: 0 new here, pushed refs/operator/ledger";
    one.operator(["sync"])
        .stdout(format!("{said} (new there; no host shows it)\n"))
        .check();
    note(&one, "b");
    one.operator(["sync"]).stdout(format!("{said}\n")).check();
}

#[test]
fn a_remote_whose_name_looks_like_an_option_is_a_remote() {
    let (hub, one) = hub();
    note(&one, "a");
    let url = hub.path().to_str().unwrap();
    one.git(["config", "remote.--all.url", url]);
    let output = one.operator(["sync", "--", "--all"]).run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!(tip(&hub), tip(&one));
}

#[test]
fn a_shallow_clone_gets_the_whole_ledger() {
    let (hub, one) = hub();
    one.commit("b");
    one.git(["push", "-q", "origin", "main"]);
    for what in ["a", "b", "c"] {
        note(&one, what);
    }
    exchange(&one);
    let there = hub.dir().join("shallow");
    let url = format!("file://{}", hub.path().display());
    hub.git(["clone", "-q", "--depth", "1", &url, there.to_str().unwrap()]);
    let shallow = hub.at(there);
    exchange(&shallow);
    assert_eq!(whats(&shallow), set(&["a", "b", "c"]));
    assert_eq!(shallow.git(["rev-list", "--count", "HEAD"]).trim(), "1");
    note(&shallow, "d");
    exchange(&shallow);
    assert_eq!(whats(&hub).len(), 4);
}
