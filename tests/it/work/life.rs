//! The life of a session's ledger: turns, its end, retention, growth.

use std::{
    fs,
    path::{Path, PathBuf},
};

use git_operator::{
    git::{self, Env},
    model::RepoPath,
    work::{
        self, Background, Call, FileChange, Finished, Known, Outcome, Place, Report,
        RestoreRequest, Scope, Target, TurnEnd, Who, Work,
    },
};

use crate::support::Repo;

const DAY: u64 = 24 * 3_600 * 1_000;

fn open(repo: &Repo) -> git::Repo {
    let env = Env::new(repo.env());
    let location = git::locate(repo.path(), &env).unwrap().unwrap();
    git::Repo::open(&location, &env).unwrap()
}

fn now() -> u64 {
    git::Clock::default().wall_ms()
}

fn call<'a>(session: &'a str, id: &'a str, target: Target) -> Call<'a> {
    Call {
        session,
        tool: "T",
        id,
        agent: None,
        target,
        scope: Scope::Target,
        time: now(),
    }
}

fn begin(repo: &git::Repo, id: &str) {
    work::begin(repo, &call("S1", id, Target::Tree)).unwrap();
}

fn end(repo: &git::Repo, id: &str) -> Report {
    end_with(repo, id, None)
}

fn end_with(repo: &git::Repo, id: &str, background: Option<&str>) -> Report {
    let finished = Finished {
        call: call("S1", id, Target::Tree),
        outcome: Outcome::Success,
        background,
    };
    work::finish(repo, &finished).unwrap()
}

fn shell(repo: &Repo, id: &str, run: impl FnOnce(&Repo)) -> Report {
    begin(&open(repo), id);
    run(repo);
    end(&open(repo), id)
}

fn of(repo: &Repo) -> Work {
    work::status(&open(repo), Who::Session("S1"), now()).unwrap()
}

fn paths(names: &[&str]) -> Vec<RepoPath> {
    names.iter().map(|name| RepoPath::from(*name)).collect()
}

fn found(repo: &Repo) -> Vec<(String, bool)> {
    let found = work::recoverable(&open(repo), now()).unwrap();
    found
        .into_iter()
        .map(|one| (one.path.quoted(), one.kept))
        .collect()
}

fn operator_refs(repo: &Repo) -> Vec<String> {
    let refs = repo.git(["for-each-ref", "--format=%(refname)", "refs/operator-local"]);
    let names = refs.lines().filter_map(|name| name.split('/').nth(2));
    names.map(str::to_owned).collect()
}

fn keeps(repo: &Repo) -> usize {
    let entries = fs::read_dir(repo.path().join(".git/objects/pack"));
    let entries = entries.unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "keep")
        })
        .count()
}

#[test]
fn a_new_turn_gives_up_on_calls_that_never_ended() {
    let repo = Repo::new();
    repo.commit("a");
    begin(&open(&repo), "u1");
    repo.write("b", "x");
    let turn = |background| TurnEnd {
        session: "S1",
        background,
        time: now(),
    };
    work::turn_end(&open(&repo), &turn(None)).unwrap();
    assert_eq!(of(&repo).unattributed, paths(&["b"]));
    assert!(
        of(&repo).call.is_none(),
        "a turn has no call before its first"
    );
    // Since then, what changes is somebody else's.
    repo.write("c", "y");
    assert_eq!(of(&repo).foreign, paths(&["c"]));
    // Its end comes late.
    repo.git(["add", "c"]);
    repo.commit_staged("c");
    assert_eq!(end(&open(&repo), "u1").known, Known::Yes);
    assert_eq!(of(&repo).mine, paths(&["b"]));
}

#[test]
fn a_subagent_in_the_background_may_still_report() {
    let repo = Repo::new();
    repo.commit("a");
    let mut inner = call("S1", "u1", Target::Tree);
    inner.agent = Some("a9");
    work::begin(&open(&repo), &inner).unwrap();
    repo.write("b", "x");
    let stop = |background| TurnEnd {
        session: "S1",
        background: Some(background),
        time: now(),
    };
    let runs = [Background {
        id: "t1",
        kind: "subagent",
    }];
    work::turn_end(&open(&repo), &stop(&runs)).unwrap();
    work::turn_end(
        &open(&repo),
        &TurnEnd {
            session: "S1",
            background: None,
            time: now(),
        },
    )
    .unwrap();
    assert_eq!(of(&repo).unattributed, paths(&["b"]));
    let finished = Finished {
        call: inner,
        outcome: Outcome::Success,
        background: None,
    };
    work::finish(&open(&repo), &finished).unwrap();
    let work = of(&repo);
    assert_eq!((work.mine, work.agents.len()), (paths(&["b"]), 1));
}

#[test]
fn changes_beside_a_background_shell_are_unattributed_while_it_runs() {
    let repo = Repo::new();
    repo.commit("a");
    begin(&open(&repo), "u1");
    end_with(&open(&repo), "u1", Some("b1"));
    repo.write("built", "1");
    assert_eq!(of(&repo).unattributed, paths(&["built"]));
    let stop = |background| TurnEnd {
        session: "S1",
        background: Some(background),
        time: now(),
    };
    let runs = [Background {
        id: "b1",
        kind: "shell",
    }];
    work::turn_end(&open(&repo), &stop(&runs)).unwrap();
    repo.write("more", "1");
    assert_eq!(of(&repo).unattributed, paths(&["built", "more"]));
    work::turn_end(&open(&repo), &stop(&[])).unwrap();
    repo.write("user", "1");
    assert_eq!(of(&repo).unattributed, paths(&["built", "more"]));
    assert_eq!(of(&repo).foreign, paths(&["user"]));
}

#[test]
fn the_end_of_a_session_keeps_claims_and_rescues_what_is_nowhere_else() {
    let repo = Repo::new();
    repo.commit("a");
    repo.write("u", "user\n");
    repo.write("v", "other\n");
    shell(&repo, "u1", |repo| repo.write("b", "agent\n"));
    begin(&open(&repo), "u2");
    repo.write("u", "changed by nobody knows whom\n");
    work::session_end(&open(&repo), "S1", now()).unwrap();
    assert_eq!(operator_refs(&repo), ["rescue"]);
    assert_eq!(keeps(&repo), 1);
    repo.git(["gc", "-q", "--prune=now"]);
    assert_eq!(found(&repo), [("u".to_owned(), true)]);
    let work = of(&repo);
    assert_eq!(work.mine, paths(&["b"]));
    assert_eq!(work.unattributed, paths(&["u"]));
    // Resumed, the session has its claims again; another sees whose they are.
    shell(&repo, "u3", |repo| repo.write("b", "agent again\n"));
    assert_eq!(of(&repo).mine, paths(&["b"]));
    let other = work::status(&open(&repo), Who::Session("S2"), now()).unwrap();
    assert_eq!(other.foreign, paths(&["b", "u", "v"]));
    assert_eq!(
        other.reasons[&RepoPath::from("b")].as_str(),
        "other-session"
    );
}

#[test]
fn claims_can_be_taken_over() {
    let repo = Repo::new();
    repo.commit("a");
    shell(&repo, "u1", |repo| repo.write("b", "x"));
    let handle = open(&repo);
    assert_eq!(work::adopt(&handle, "S1", "S2").unwrap(), 1);
    assert_eq!(work::adopt(&handle, "S1", "S2").unwrap(), 0);
    let taken = work::status(&handle, Who::Session("S2"), now()).unwrap();
    assert_eq!((taken.mine, taken.touched), (paths(&["b"]), paths(&["b"])));
    let given = of(&repo);
    assert_eq!((given.foreign, given.touched), (paths(&["b"]), paths(&[])));
    assert_eq!(
        work::uncommitted(&handle, "S2", now()).unwrap(),
        paths(&["b"])
    );
}

#[test]
fn a_killed_session_is_let_go_only_when_it_is_old_and_its_bytes_are_safe() {
    let repo = Repo::new();
    repo.commit("a");
    repo.write("u", "user\n");
    begin(&open(&repo), "u1");
    let sessions = work::sessions(&open(&repo));
    assert_eq!(
        (sessions.len(), sessions[0].open_calls, sessions[0].kept),
        (1, 1, 5)
    );
    fs::remove_file(repo.path().join("u")).unwrap();
    let later = now() + 13 * DAY;
    assert!(work::sweep(&open(&repo), later).unwrap().is_empty());
    assert_eq!(work::sessions(&open(&repo))[0].open_calls, 1);
    let later = now() + 15 * DAY;
    assert!(work::sweep(&open(&repo), later).unwrap().is_empty());
    repo.git(["gc", "-q", "--prune=now"]);
    assert_eq!(found(&repo), [("u".to_owned(), true)]);
    assert_eq!(operator_refs(&repo), ["rescue"]);
    let later = now() + 30 * DAY;
    assert_eq!(work::sweep(&open(&repo), later).unwrap(), ["S1"]);
    assert!(work::sessions(&open(&repo)).is_empty());
    assert!(operator_refs(&repo).is_empty());
    assert_eq!(keeps(&repo), 0);
    assert_eq!(repo.git(["fsck", "--full", "--no-dangling"]), "");
}

/// Makes calls that each write, and returns how large what is kept was after each of `marks`.
fn grown(repo: &Repo, marks: [usize; 2]) -> [Kept; 2] {
    repo.commit("a");
    for number in 0..20 {
        let name = format!("dirty{number}");
        repo.write(&name, name.repeat(50));
    }
    let handle = open(repo);
    let state = state_file(repo);
    let mut number = 0;
    marks.map(|mark| {
        while number < mark {
            let id = format!("u{number}");
            begin(&handle, &id);
            repo.write("work", format!("{number}\n").repeat(20));
            end(&handle, &id);
            number += 1;
        }
        let packs = fs::read_dir(repo.path().join(".git/objects/pack")).unwrap();
        Kept {
            state: fs::metadata(&state).unwrap().len(),
            packs: packs
                .map(|entry| entry.unwrap().metadata().unwrap().len())
                .sum(),
            keeps: keeps(repo),
            stale: stale(&state),
        }
    })
}

/// How many packs that are gone a state still names.
fn stale(state: &Path) -> usize {
    let text = fs::read_to_string(state).unwrap();
    let state: serde_json::Value = serde_json::from_str(&text).unwrap();
    state["vault"]["stale"].as_array().unwrap().len()
}

#[derive(Debug)]
struct Kept {
    state: u64,
    packs: u64,
    keeps: usize,
    stale: usize,
}

#[track_caller]
fn has_not_grown([early, late]: &[Kept; 2]) {
    assert!(
        late.state < early.state + early.state / 10,
        "{early:?} {late:?}"
    );
    assert!(late.packs < early.packs + 40_000, "{early:?} {late:?}");
    assert!(late.state < 300_000 && late.packs < 300_000, "{late:?}");
    assert!(early.keeps <= 21 && late.keeps <= 21, "{early:?} {late:?}");
    // Those of one merge: the next event removes them and names them no more.
    assert!(early.stale <= 21 && late.stale <= 21, "{early:?} {late:?}");
}

#[test]
fn many_calls_do_not_grow_the_repository() {
    let repo = Repo::new();
    has_not_grown(&grown(&repo, [280, 340]));
    assert_eq!(repo.git(["fsck", "--full", "--no-dangling"]), "");
    let request = RestoreRequest {
        session: "S1",
        call: Some("u339"),
        paths: &[],
        time: now(),
    };
    assert!(
        work::restore(&open(&repo), &request).unwrap()[0]
            .done
            .is_done()
    );
    assert_eq!(repo.read("work"), "338\n".repeat(20));
}

#[test]
#[ignore = "it takes a while; `cargo test -- --ignored` runs it"]
fn a_thousand_calls_do_not_grow_the_repository() {
    has_not_grown(&grown(&Repo::new(), [300, 1_000]));
}

fn state_file(repo: &Repo) -> PathBuf {
    let home = repo.path().join(".git/operator/work");
    begin(&open(repo), "first");
    end(&open(repo), "first");
    let entry = fs::read_dir(home).unwrap().next().unwrap().unwrap();
    entry.path().join("state")
}

#[test]
fn a_damaged_state_is_put_aside_and_said_by_nobody_to_be_a_claim() {
    let repo = Repo::new();
    repo.commit("a");
    shell(&repo, "u1", |repo| repo.write("b", "x"));
    let state = state_file(&repo);
    for damaged in ["", "{", r#"{"v":99}"#] {
        fs::write(&state, damaged).unwrap();
        shell(&repo, "u2", |repo| repo.write("c", damaged));
        assert_eq!(
            fs::read_to_string(state.with_extension("unreadable")).unwrap(),
            damaged
        );
    }
    let work = of(&repo);
    assert_eq!((work.mine, work.foreign), (paths(&[]), paths(&["b", "c"])));
}

#[test]
fn the_change_of_a_call_is_told_with_its_bytes() {
    let repo = Repo::new();
    repo.write(".gitattributes", "*.txt text eol=crlf\n");
    repo.git(["add", "."]);
    repo.commit("k.txt");
    repo.write("u", "one\n");
    let report = shell(&repo, "u1", |repo| {
        repo.write("k.txt", "new\r\n");
        repo.write("u", "two\n");
        repo.write("n", "three\n");
    });
    let handle = open(&repo);
    let before = FileChange::bytes_before(&handle, &report.changes).unwrap();
    let told: Vec<_> = report
        .changes
        .iter()
        .zip(before)
        .map(|(change, before)| {
            let after = change.bytes_after(&handle, 1_000).unwrap();
            let text =
                |bytes: Option<Vec<u8>>| bytes.map(|bytes| String::from_utf8(bytes).unwrap());
            (
                change.path.quoted(),
                change.written,
                text(before),
                text(after),
            )
        })
        .collect();
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        told,
        [
            ("k.txt".to_owned(), true, some("k.txt\r\n"), some("new\r\n")),
            ("n".to_owned(), true, None, some("three\n")),
            ("u".to_owned(), true, some("one\n"), some("two\n")),
        ]
    );
    assert_eq!(report.mixed, paths(&["u"]));
    assert_eq!(of(&repo).call.unwrap().written, paths(&["k.txt", "n", "u"]));
}

#[test]
fn a_file_tool_needs_no_look_at_the_whole_tree() {
    let repo = Repo::new();
    repo.commit("a");
    repo.write("u", "user");
    let handle = open(&repo);
    let target = Target::File(Place::Inside("b".into()));
    let begun = work::begin(&handle, &call("S1", "w1", target.clone())).unwrap();
    assert!(begun.work.is_none());
    let mut asked = call("S1", "w2", target);
    asked.scope = Scope::Tree;
    let begun = work::begin(&handle, &asked).unwrap().work.unwrap();
    assert_eq!(begun.call.unwrap().foreign, paths(&["u"]));
}
