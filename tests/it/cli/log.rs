use git_operator::model::{
    Body, Class, Criterion, Decision, DecisionKind, Draft, Evidence, Outcome, Owner, Record,
    RecordId, Retract, Stamp, TreeState,
};

use crate::{
    store::{commit, defer, on, open, record, store, verdict},
    support::Repo,
};

/// 50 records on two commits: ten tasks of two owners, each opened, failed, passed, deferred and decided
/// upon, a minute apart.
struct Fifty {
    repo: Repo,
    records: Vec<Record>,
    commits: [String; 2],
}

fn stamped(repo: &Repo, task: &str, owner: &str, outcome: Outcome) -> Draft {
    let head = repo.head();
    let mut draft = verdict(task, None, Class::Asserted, outcome);
    if let Body::Verdict(verdict) = &mut draft.body {
        verdict.head = head.parse().ok();
        verdict.stamp = Stamp::Commit {
            id: head,
            tree: TreeState::Clean,
        };
        verdict.evidence = Evidence::of(format!("{task} says {outcome}\nline two").as_bytes());
    }
    draft.owner = Some(Owner::new(owner).unwrap());
    draft.criterion = Some(Criterion::new(&format!("criterion of {task}")).unwrap());
    draft
}

fn fifty() -> Fifty {
    let repo = Repo::new();
    let mut records = Vec::new();
    let mut commits = Vec::new();
    for half in 0..2 {
        commits.push(repo.commit(&format!("c{half}")));
        for number in 0..5 {
            let task = format!("T-{half}{number}");
            let owner = ["S1", "S2"][half];
            let decision = Body::Decision(Decision {
                decision: DecisionKind::Deviation,
                scope: task.clone(),
                what: format!("skipped {task}"),
                why: "flaky upstream".to_owned(),
                covers: Vec::new(),
                import: None,
            });
            repo.tick();
            let store = store(&repo);
            let opening = record(&store, open(&task));
            records.push(opening.clone());
            let rest = [
                stamped(&repo, &task, owner, Outcome::Fail),
                stamped(&repo, &task, owner, Outcome::Pass),
                defer(&task, opening.id),
                on(&task, owner, decision),
            ];
            records.extend(commit(&store, &rest).records);
        }
    }
    Fifty {
        repo,
        records,
        commits: commits.try_into().unwrap(),
    }
}

impl Fifty {
    /// The ids that `log` with these arguments prints.
    #[track_caller]
    fn ids(&self, args: &[&str]) -> Vec<String> {
        let args = [&["log", "--format", "%H"], args].concat();
        let output = self.repo.operator(&args).run();
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{args:?}");
        output.stdout.lines().map(str::to_owned).collect()
    }

    /// Checks that the arguments select the records that `wanted` does, newest first.
    #[track_caller]
    fn selects(&self, args: &[&str], wanted: impl Fn(&Record) -> bool) {
        let wanted: Vec<String> = self
            .records
            .iter()
            .rev()
            .filter(|record| wanted(record))
            .map(|record| record.id.to_string())
            .collect();
        assert!(
            !wanted.is_empty() && wanted.len() < 50,
            "{args:?} proves nothing"
        );
        assert_eq!(self.ids(args), wanted, "{args:?}");
    }
}

fn outcome(record: &Record) -> Option<Outcome> {
    match &record.body {
        Body::Verdict(verdict) => Some(verdict.outcome),
        _ => None,
    }
}

fn head(record: &Record) -> Option<String> {
    match &record.body {
        Body::Verdict(verdict) => verdict.head.map(|head| head.to_string()),
        _ => None,
    }
}

#[test]
fn each_filter_selects_by_itself() {
    let fifty = fifty();
    let [first, second] = &fifty.commits;
    let task = |record: &Record, task: &str| record.task.as_deref() == Some(task);
    fifty.selects(&["--task", "T-03"], |r| task(r, "T-03"));
    fifty.selects(&["--task", "T-03", "--task", "T-10"], |r| {
        task(r, "T-03") || task(r, "T-10")
    });
    fifty.selects(&["--owner", "S2"], |r| r.owner.as_deref() == Some("S2"));
    fifty.selects(&["--criterion", "criterion of T-11"], |r| {
        r.criterion.as_deref() == Some("criterion of T-11")
    });
    fifty.selects(&["--outcome", "fail"], |r| {
        outcome(r) == Some(Outcome::Fail)
    });
    fifty.selects(&["--kind", "defer"], |r| r.body.kind() == "defer");
    fifty.selects(&["--kind", "DEVIATION"], |r| r.body.kind() == "decision");
    fifty.selects(&["--kind", "task", "--kind", "defer"], |r| {
        ["task", "defer"].contains(&r.body.kind())
    });
    fifty.selects(&["--commit", "HEAD~1"], |r| head(r).as_ref() == Some(first));
    fifty.selects(&["HEAD~1..HEAD"], |r| head(r).as_ref() == Some(second));
    fifty.selects(&["HEAD~1"], |r| head(r).as_ref() == Some(first));
    fifty.selects(&["main"], |r| head(r).is_some());
    fifty.selects(&["--grep", "says (FAIL|MOOT)$"], |r| {
        outcome(r) == Some(Outcome::Fail)
    });
    fifty.selects(&["--grep", "FLAKY", "-i"], |r| r.body.kind() == "decision");
    let time = fifty.records[25].time;
    let date = git_operator::model::time::format_time(time);
    fifty.selects(&["--since", &date], |r| r.time >= time);
    fifty.selects(&["--until", &date], |r| r.time <= time);
    assert_eq!(fifty.ids(&["-n", "7"]), fifty.ids(&[])[..7]);
    for all in [&["-n", "-1"][..], &["-n-1"], &["--max-count=-2"]] {
        assert_eq!(fifty.ids(all), fifty.ids(&[]));
    }
    assert_eq!(fifty.ids(&[]).len(), 50);
}

#[test]
fn filters_combine() {
    let fifty = fifty();
    let [_, second] = &fifty.commits;
    fifty.selects(&["--task", "T-12", "--outcome", "PASS"], |r| {
        r.task.as_deref() == Some("T-12") && outcome(r) == Some(Outcome::Pass)
    });
    fifty.selects(
        &[
            "--owner",
            "S2",
            "--outcome",
            "FAIL",
            "--grep",
            "T-1[34]",
            "--kind",
            "verdict",
            "main",
        ],
        |r| {
            let text = r.task.as_deref().unwrap_or_default();
            outcome(r) == Some(Outcome::Fail) && ["T-13", "T-14"].contains(&text)
        },
    );
    fifty.selects(
        &[
            "--commit",
            second,
            "--task",
            "T-10",
            "--until",
            "2026-01-01",
        ],
        |r| r.task.as_deref() == Some("T-10") && head(r).is_some(),
    );
    for nothing in [
        &["--outcome", "PASS", "--kind", "task"][..],
        &["--task", "no such"],
        &["--since", "2030-01-01"],
        &["--until", "2025-12-31"],
        &["-n", "0"],
        &["--commit", "HEAD~1", "HEAD~1..HEAD"],
    ] {
        assert!(fifty.ids(nothing).is_empty(), "{nothing:?}");
    }
}

#[test]
fn relative_dates_are_those_of_git() {
    let fifty = fifty();
    let all = fifty.ids(&[]);
    assert_eq!(fifty.ids(&["--since", "2 days ago"]), all);
    assert_eq!(fifty.ids(&["--until", "2 days ago"]).len(), 0);
    fifty
        .repo
        .operator(["log", "--since", "some day"])
        .stderr("error: cannot read date 'some day': it is in no form git knows\n")
        .exit(128)
        .check();
}

#[test]
fn a_line_says_id_time_word_and_subject() {
    let fifty = fifty();
    let stamp = &fifty.commits[1][..12];
    let id = |index: usize| fifty.records[index].id.short();
    fifty
        .repo
        .operator(["log", "--task", "T-14"])
        .stdout(format!(
            "{} 2026-01-01 00:12 DEVIATION T-14: skipped T-14: flaky upstream\n\
             {} 2026-01-01 00:12 defer    T-14: later\n\
             {} 2026-01-01 00:12 PASS     T-14: criterion of T-14: T-14 says PASS line two @{stamp}\n\
             {} 2026-01-01 00:12 FAIL     T-14: criterion of T-14: T-14 says FAIL line two @{stamp}\n\
             {} 2026-01-01 00:12 open     T-14 for S1\n",
            id(49),
            id(48),
            id(47),
            id(46),
            id(45)
        ))
        .check();
}

#[test]
fn json_is_one_object_a_line_with_the_records_own_members() {
    let fifty = fifty();
    let output = fifty.repo.operator(["log", "-n", "5", "--json"]).run();
    let lines: Vec<serde_json::Value> = output
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 5);
    for (line, record) in lines.iter().zip(fifty.records.iter().rev()) {
        let own: serde_json::Value = serde_json::from_str(record.line()).unwrap();
        assert_eq!((&line["v"], &line["type"]), (&1.into(), &"record".into()));
        for (name, value) in own.as_object().unwrap() {
            assert_eq!(&line[name], value);
        }
    }
    assert!(
        output
            .stdout
            .starts_with("{\"v\":1,\"type\":\"record\",\"id\":\"")
    );
}

#[test]
fn nul_ends_each_record_where_asked() {
    let fifty = fifty();
    let output = fifty
        .repo
        .operator(["log", "-z", "-n", "2", "--format", "%t%n%w"])
        .run();
    assert_eq!(output.stdout, "T-14\nDEVIATION\0T-14\ndefer\0");
}

#[test]
fn a_template_names_every_field() {
    let fifty = fifty();
    let record = &fifty.records[47];
    let commit = &fifty.commits[1];
    fifty
        .repo
        .operator(["log", "--outcome", "PASS", "-n", "1", "--format"])
        .args(["%H|%h|%k|%w|%t|%c|%o|%S|%e|%a|%C|%d|%%|%x41"])
        .stdout(format!(
            "{}|{}|verdict|PASS|T-14|criterion of T-14|S2||T-14 says PASS\nline two|@{commit}|{commit}\
             |2026-01-01T00:12:00Z|%|A\n",
            record.id,
            record.id.short()
        ))
        .check();
    let output = fifty.repo.operator(["log", "--format", "%q"]).run();
    assert_eq!(output.code, 129);
}

#[test]
fn the_evidence_of_each_record_begins_a_line() {
    let repo = Repo::new();
    repo.commit("a");
    for (criterion, evidence) in [("a", "one"), ("b", "two\n"), ("c", "three")] {
        let words = ["verdict", "T", criterion, evidence, "PASS", "--owner", "S1"];
        repo.operator(words).run();
    }
    let all = repo.operator(["log", "--evidence"]).run().stdout;
    assert_eq!(all, "three\ntwo\none");
    let parted = repo.operator(["log", "--evidence", "-z"]).run().stdout;
    assert_eq!(parted, "three\0two\n\0one\0");
}

#[test]
fn evidence_comes_out_byte_for_byte() {
    let repo = Repo::new();
    let store = store(&repo);
    let long: Vec<u8> = (0..3_000_000_u32).map(|n| (n * 7 % 251) as u8).collect();
    let mut draft = verdict("T", None, Class::Asserted, Outcome::Pass);
    if let Body::Verdict(verdict) = &mut draft.body {
        verdict.evidence = Evidence::of(&long);
    }
    let clock = git_operator::git::Clock::new(store.repo().env()).unwrap();
    let mut transaction = store
        .begin(git_operator::store::Wait::Command, clock)
        .unwrap();
    transaction.commit(&[draft], vec![long.clone()]).unwrap();
    drop(transaction);
    let output = repo
        .operator(["log", "--evidence"])
        .command()
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout == long);

    repo.git(["update-ref", "-d", "refs/operator/evidence"]);
    std::fs::remove_dir_all(repo.path().join(".git/operator")).unwrap();
    let output = repo.operator(["log", "--evidence"]).run();
    assert_eq!((output.code, output.stdout.as_str()), (1, ""));
    assert!(
        output
            .stderr
            .ends_with("hint: git operator sync --evidence\n")
    );
}

#[test]
fn what_a_terminal_acts_on_is_shown_not_sent() {
    let repo = Repo::new();
    let store = store(&repo);
    let mut draft = verdict("T", None, Class::Asserted, Outcome::Pass);
    if let Body::Verdict(verdict) = &mut draft.body {
        verdict.evidence = Evidence::of("a\x1b[2J\u{9b}31mb\u{202e}c\rd".as_bytes());
    }
    record(&store, draft);
    for args in [
        &["log"][..],
        &["log", "--format", "%e"],
        &["log", "--json"],
        &["show", "T"],
        &["show", "--json", "T"],
    ] {
        let output = repo.operator(args).run();
        let raw = output
            .stdout
            .chars()
            .find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
        assert_eq!((output.code, raw), (0, None), "{args:?}");
    }
}

#[test]
fn a_record_taken_back_says_so() {
    let repo = Repo::new();
    let store = store(&repo);
    let taken = record(&store, verdict("T", None, Class::Asserted, Outcome::Pass));
    let retract = |of: RecordId| {
        Body::Retract(Retract {
            of,
            why: "wrong tree".to_owned(),
        })
    };
    let by = record(&store, on("T", "S1", retract(taken.id)));
    record(&store, on("T", "S2", retract(taken.id)));
    let output = repo.operator(["log", "--kind", "verdict"]).run();
    assert!(
        output
            .stdout
            .contains(" PASS     (retracted) T: suite passes"),
        "{}",
        output.stdout
    );
    let output = repo.operator(["log", "--kind", "verdict", "--json"]).run();
    assert!(
        output
            .stdout
            .contains(&format!("\"retracted_by\":\"{}\"", by.id))
    );
}

#[test]
fn an_empty_ledger_has_nothing_to_show() {
    let repo = Repo::new();
    repo.operator(["log"]).check();
    repo.operator(["log", "--json"]).check();
    let bare = Repo::bare();
    bare.operator(["log"]).check();
}

#[test]
fn outside_a_repository_there_is_no_ledger() {
    let repo = Repo::outside();
    repo.operator(["log"])
        .stderr(format!(
            "error: cannot open a repository in '{}': there is none here or above\n\
             hint: git init && git operator start\n",
            repo.path().display()
        ))
        .exit(128)
        .check();
}

#[test]
fn a_pattern_or_revision_that_says_nothing_is_named() {
    let repo = Repo::new();
    let output = repo.operator(["log", "--grep", "a("]).run();
    assert_eq!(output.code, 129);
    assert!(output.stderr.starts_with("error: cannot search for 'a(': "));
    repo.operator(["log", "no-such"])
        .stderr("error: cannot resolve revision 'no-such': there is no such commit\n")
        .exit(128)
        .check();
}

#[test]
fn the_same_is_seen_from_every_place() {
    let fifty = fifty();
    let here = fifty.ids(&[]);
    let linked = fifty.repo.worktree("linked");
    let bare = fifty.repo.dir().join("bare.git");
    fifty
        .repo
        .git(["clone", "-q", "--mirror", ".", bare.to_str().unwrap()]);
    for place in [
        linked.path(),
        bare.as_path(),
        &fifty.repo.path().join(".git"),
    ] {
        let output = fifty
            .repo
            .operator(["log", "--format", "%H"])
            .cwd(place)
            .run();
        assert_eq!(
            output.stdout.lines().collect::<Vec<_>>(),
            here,
            "{}",
            place.display()
        );
    }
    let git_dir = fifty.repo.path().join(".git");
    let output = Repo::outside()
        .operator(["--git-dir"])
        .args([git_dir])
        .args(["log", "--format=%H"])
        .run();
    assert_eq!(output.stdout.lines().collect::<Vec<_>>(), here);
}

#[test]
fn errors_of_a_json_command_are_json() {
    let repo = Repo::outside();
    let output = repo.operator(["log", "--json"]).run();
    let error: serde_json::Value = serde_json::from_str(&output.stderr).unwrap();
    assert_eq!(
        (&error["v"], &error["type"], &error["exit"]),
        (&1.into(), &"error".into(), &128.into())
    );
    assert_eq!(error["hint"], "git init && git operator start");
}

#[test]
fn the_graph_keeps_the_records_of_a_task_together() {
    let fifty = fifty();
    let shown = super::lines(
        &fifty.repo,
        &["log", "--graph", "--task", "T-03", "--task", "T-10"],
    );
    let id = |at: usize| fifty.records[at].id.short();
    assert_eq!(
        shown,
        [
            "* T-10  PASS criterion of T-10".to_owned(),
            format!(
                "| {} 2026-01-01 00:08 DEVIATION skipped T-10: flaky upstream",
                id(29)
            ),
            format!("| {} 2026-01-01 00:08 defer    later", id(28)),
            format!(
                "| {} 2026-01-01 00:08 PASS     criterion of T-10: T-10 says PASS line two @{}",
                id(27),
                &fifty.commits[1][..12]
            ),
            format!(
                "| {} 2026-01-01 00:08 FAIL     criterion of T-10: T-10 says FAIL line two @{}",
                id(26),
                &fifty.commits[1][..12]
            ),
            format!("| {} 2026-01-01 00:08 open     T-10 for S1", id(25)),
            String::new(),
            "* T-03  PASS criterion of T-03".to_owned(),
            format!(
                "| {} 2026-01-01 00:05 DEVIATION skipped T-03: flaky upstream",
                id(19)
            ),
            format!("| {} 2026-01-01 00:05 defer    later", id(18)),
            format!(
                "| {} 2026-01-01 00:05 PASS     criterion of T-03: T-03 says PASS line two @{}",
                id(17),
                &fifty.commits[0][..12]
            ),
            format!(
                "| {} 2026-01-01 00:05 FAIL     criterion of T-03: T-03 says FAIL line two @{}",
                id(16),
                &fifty.commits[0][..12]
            ),
            format!("| {} 2026-01-01 00:05 open     T-03 for S1", id(15)),
        ]
    );
}

#[test]
fn a_range_is_read_no_further_than_its_records_need() {
    let repo = Repo::new();
    let first = repo.commit("first");
    repo.commit("second");
    repo.commit("third");
    repo.operator(["task", "T", "--owner", "S1"]).run();
    repo.operator(["verdict", "T", "c", "seen", "PASS", "--owner", "S1"])
        .run();
    let object = repo
        .path()
        .join(".git/objects")
        .join(&first[..2])
        .join(&first[2..]);
    std::fs::remove_file(&object).unwrap();
    let args = ["log", "-n", "1", "--format", "%t", "HEAD"];
    assert_eq!(super::lines(&repo, &args), ["T"]);
    // One record more has to look for its commit in what is gone.
    let output = repo.operator(["log", "--commit", "HEAD", "HEAD~1"]).run();
    assert_eq!(output.code, 128, "{}", output.stdout);
}

#[test]
fn a_pager_that_quits_is_success() {
    let fifty = fifty();
    if !std::path::Path::new("/usr/bin/script").exists() {
        return crate::support::skipped("script(1) is not installed");
    }
    let program = env!("CARGO_BIN_EXE_git-operator");
    let output = std::process::Command::new("script")
        .args(["-qec", &format!("{program} log --graph"), "/dev/null"])
        .current_dir(fifty.repo.path())
        .env_clear()
        .envs(fifty.repo.env())
        .env("PAGER", "head -n 1")
        .env("TERM", "xterm")
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert_eq!(shown.matches('\n').count(), 1, "{shown}");
    assert!(shown.contains("\x1b[36m*\x1b[m"), "{shown}");
}
