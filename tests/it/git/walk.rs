use git_operator::{
    git::{self, Ancestry},
    model::Oid,
};

use super::{oid, open};
use crate::support::Repo;

fn ids(text: &str) -> Vec<Oid> {
    text.lines().map(oid).collect()
}

fn sorted(mut ids: Vec<Oid>) -> Vec<Oid> {
    ids.sort_unstable();
    ids
}

/// main and topic, merged twice and apart again.
fn crossed() -> Repo {
    let repo = Repo::new();
    repo.commit("base");
    repo.branch("topic");
    repo.commit("t1");
    repo.checkout("main");
    repo.commit("m1");
    repo.merge("topic");
    repo.checkout("topic");
    repo.commit("t2");
    repo.git(["merge", "-q", "--no-ff", "-m", "back", "main~1"]);
    repo.commit("t3");
    repo.checkout("main");
    repo.commit("m2");
    repo
}

#[track_caller]
fn agrees(repo: &Repo, git: &git::Repo, left: &str, right: &str) {
    let (one, other) = (git.rev_parse(left).unwrap(), git.rev_parse(right).unwrap());
    let found = git.difference(one, other).unwrap();
    let list = |range: String| sorted(ids(&repo.git(["rev-list", &range])));
    assert_eq!(sorted(found.left), list(format!("{right}..{left}")));
    assert_eq!(sorted(found.right), list(format!("{left}..{right}")));
    let bases = repo.try_git(["merge-base", "--all", left, right]).stdout;
    assert_eq!(
        sorted(found.bases),
        sorted(ids(&String::from_utf8(bases).unwrap()))
    );
    let reached = repo.try_git(["merge-base", "--is-ancestor", left, right]);
    let expected = if reached.status.success() {
        Ancestry::Yes
    } else {
        Ancestry::No
    };
    assert_eq!(git.is_ancestor(one, other).unwrap(), expected);
}

#[test]
fn histories_differ_as_git_says() {
    let repo = crossed();
    repo.git(["checkout", "-q", "--orphan", "alone"]);
    repo.commit("o");
    let git = open(&repo);
    let revs = [
        "main", "topic", "main~1", "topic~1", "topic~2", "main~2", "alone",
    ];
    for left in revs {
        for right in revs {
            agrees(&repo, &git, left, right);
        }
    }
}

#[test]
fn histories_with_wrong_clocks_differ_as_git_says() {
    let repo = Repo::new();
    repo.commit("base");
    for (name, date) in [
        ("late", "2030-01-01T00:00:00Z"),
        ("early", "2001-01-01T00:00:00Z"),
    ] {
        repo.git(["checkout", "-q", "-B", name, "main"]);
        for n in 0..3 {
            let tree = repo.git(["rev-parse", "HEAD^{tree}"]);
            let output = std::process::Command::new("git")
                .args([
                    "commit-tree",
                    &tree,
                    "-p",
                    "HEAD",
                    "-m",
                    &format!("{name} {n}"),
                ])
                .current_dir(repo.path())
                .env_clear()
                .envs(repo.env())
                .env("GIT_COMMITTER_DATE", date)
                .output()
                .unwrap();
            let id = String::from_utf8(output.stdout).unwrap();
            repo.git(["reset", "-q", "--hard", id.trim_end()]);
        }
    }
    repo.merge("late");
    let git = open(&repo);
    let revs = ["main", "late", "late~1", "early", "early~1", "early~1^1"];
    for left in revs {
        for right in revs {
            agrees(&repo, &git, left, right);
        }
    }
}

#[test]
fn ancestors_come_newest_first_without_what_is_hidden() {
    let repo = crossed();
    let git = open(&repo);
    let main = git.rev_parse("main").unwrap();
    let all = ids(&repo.git(["rev-list", "main"]));
    assert_eq!(git.ancestors(&[main], &[]).unwrap(), all);
    let hide = git.rev_parse("topic").unwrap();
    let some = ids(&repo.git(["rev-list", "main", "^topic"]));
    assert_eq!(git.ancestors(&[main], &[hide]).unwrap(), some);
    assert_eq!(git.ancestors(&[], &[]).unwrap(), []);
}

#[test]
fn below_a_cut_off_history_nothing_is_certain() {
    let repo = Repo::new();
    let first = oid(&repo.commit("a"));
    repo.commit("b");
    let last = oid(&repo.commit("c"));
    let clone = repo.at("../clone");
    let url = format!("file://{}", repo.path().display());
    repo.git(["clone", "-q", "--depth=2", &url, "../clone"]);
    let git = open(&clone);
    assert!(git.is_shallow());
    assert!(!open(&repo).is_shallow());
    assert_eq!(git.is_ancestor(first, last).unwrap(), Ancestry::Undecidable);
    assert_eq!(open(&repo).is_ancestor(first, last).unwrap(), Ancestry::Yes);
    assert_eq!(git.ancestors(&[last], &[]).unwrap().len(), 2);
    let other = oid(&clone.commit("d"));
    assert_eq!(git.is_ancestor(last, other).unwrap(), Ancestry::Yes);
    assert_eq!(git.difference(other, last).unwrap().left, [other]);
}

#[test]
fn revisions_are_resolved_as_git_does() {
    let repo = crossed();
    repo.git(["tag", "-a", "-m", "x", "v1", "main~1"]);
    let git = open(&repo);
    for spec in [
        "HEAD",
        "main",
        "main~2",
        "v1",
        "topic^",
        "@{0}",
        "refs/heads/topic",
        ":/t1",
    ] {
        let id = repo.git(["log", "-1", "--format=%H", spec, "--"]);
        assert_eq!(git.rev_parse(spec).unwrap().to_hex(), id, "{spec}");
        assert_eq!(git.rev_parse(&id).unwrap().to_hex(), id);
        assert_eq!(git.rev_parse(&id[..10]).unwrap().to_hex(), id);
    }
    let error = git.rev_parse("main:base").unwrap_err().to_string();
    assert_eq!(
        error,
        "cannot resolve revision 'main:base': it names no commit"
    );
    for spec in ["nope", "--all", "", "-h"] {
        let error = git.rev_parse(spec).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("cannot resolve revision '{spec}': there is no such commit")
        );
    }
}

#[test]
fn ranges_have_two_sides_and_an_empty_one_is_head() {
    use git_operator::git::Range;
    let repo = crossed();
    let git = open(&repo);
    let [main, topic] = ["main", "topic"].map(|spec| git.rev_parse(spec).unwrap());
    assert_eq!(git.rev_range("topic").unwrap(), Range::One(topic));
    let between = Range::Between {
        from: topic,
        to: main,
    };
    assert_eq!(git.rev_range("topic..main").unwrap(), between);
    assert_eq!(git.rev_range("topic..").unwrap(), between);
    let both = Range::Symmetric {
        left: main,
        right: topic,
    };
    assert_eq!(git.rev_range("...topic").unwrap(), both);
}

#[test]
fn a_commit_graph_changes_nothing_but_the_time_it_takes() {
    let repo = crossed();
    repo.git(["commit-graph", "write", "--reachable"]);
    repo.commit("after");
    let git = open(&repo);
    let revs = ["main", "topic", "main~1", "main~2", "topic~1", "topic~2"];
    for left in revs {
        for right in revs {
            agrees(&repo, &git, left, right);
        }
    }
    let graph = repo.path().join(".git/objects/info/commit-graph");
    std::fs::remove_file(&graph).unwrap();
    repo.write(&graph, "damaged");
    let (main, topic) = (
        git.rev_parse("main").unwrap(),
        git.rev_parse("topic").unwrap(),
    );
    assert_eq!(git.is_ancestor(topic, main).unwrap(), Ancestry::No);
}

#[test]
fn a_walk_stops_where_its_reader_stops() {
    let repo = Repo::new();
    let first = oid(&repo.commit("a"));
    let second = oid(&repo.commit("b"));
    let third = oid(&repo.commit("c"));
    std::fs::remove_file(open(&repo).loose_path(first)).unwrap();
    let git = open(&repo);
    let mut walk = git.walk(&[third]).unwrap();
    assert_eq!(walk.next().unwrap().unwrap().0, third);
    let error = walk.next().unwrap().unwrap_err().to_string();
    assert_eq!(
        error,
        format!("cannot read object '{first}': it is missing")
    );
    assert!(walk.next().is_none());
    assert!(git.has(second));
}
