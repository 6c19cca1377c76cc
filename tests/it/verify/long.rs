//! A history of some length: verdicts along branches, and what becomes of them when the branches land.

use std::{
    fmt::Write as _,
    io::Write as _,
    process::{Command, Stdio},
};

use super::{
    history::children,
    scene::{Found, Scene, found},
};

const COMMITS: usize = 220;
const FILES: usize = 40;

/// Puts a history of `COMMITS` commits over `FILES` files on main, every twentieth a merge.
fn grown() -> Scene {
    let scene = Scene::new();
    let mut stream = String::new();
    let mut line = |at: usize, from: &[usize]| {
        let name = format!("part{}/file{}", at % 7, at % FILES);
        let text: String = (0..20).map(|row| format!("{name} {row} {at}\n")).collect();
        let parents: Vec<String> = match from {
            [] => vec![scene.head()],
            from => from.iter().map(|mark| format!(":{mark}")).collect(),
        };
        let message = format!("commit {at}");
        write!(
            stream,
            "commit refs/heads/main\nmark :{at}\ncommitter T <t@example.invalid> {} +0000\n\
             data {}\n{message}\n",
            1_700_000_000 + at * 60,
            message.len()
        )
        .unwrap();
        for (number, parent) in parents.iter().enumerate() {
            let word = if number == 0 { "from" } else { "merge" };
            writeln!(stream, "{word} {parent}").unwrap();
        }
        write!(
            stream,
            "M 100644 inline {name}\ndata {}\n{text}\n",
            text.len()
        )
        .unwrap();
    };
    line(1, &[]);
    for at in 2..=COMMITS {
        match at % 20 {
            0 => line(at, &[at - 1, at - 6]),
            _ => line(at, &[at - 1]),
        }
    }
    let mut import = Command::new("git")
        .args(["fast-import", "--quiet", "--force"])
        .current_dir(scene.path())
        .env_clear()
        .envs(scene.env())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    import
        .stdin
        .take()
        .unwrap()
        .write_all(stream.as_bytes())
        .unwrap();
    assert!(import.wait().unwrap().success());
    scene.git(["reset", "-q", "--hard"]);
    // A view in the tree would be in the way of every checkout.
    scene.git(["config", "operator.view", "off"]);
    scene
}

#[track_caller]
fn run(scene: &Scene, criterion: &str) {
    let args = ["run", "T", criterion, "--owner", "S1"];
    let command = ["--", "test", "-e", "src/lib"];
    let output = scene.operator([&args[..], &command].concat()).run();
    assert_eq!(output.code, 0, "{output:?}");
    scene.tick();
}

/// What one criterion came to, judged alone; by two children of git at most.
#[track_caller]
fn judged(scene: &Scene, criterion: &str, args: &[&str]) -> Found {
    let only = format!("--criterion={criterion}");
    let args = [&[only.as_str()][..], args].concat();
    assert!(children(scene, &args) <= 2);
    let report = scene.report(&args);
    Found::of(&report, &report["requirements"][0])
}

fn exact() -> Found {
    found("fresh exact", &[], 0)
}

fn tree() -> Found {
    found("fresh tree", &[], 0)
}

fn merge() -> Found {
    found("weak-binding merge", &[], 1)
}

fn delta() -> Found {
    found("weak-binding delta", &[], 1)
}

/// Three commits on a branch of main, each tested.
fn work(scene: &Scene, name: &str) {
    scene.git(["checkout", "-q", "-b", name, "main"]);
    for (number, path) in ["part1/file1", "part2/file2", "part3/new"]
        .iter()
        .enumerate()
    {
        scene.edit(path, &format!("{name} {number}"));
        run(scene, name);
    }
}

/// Lets main move in a file of its own, and leaves HEAD there.
fn move_main(scene: &Scene) -> String {
    scene.git(["checkout", "-q", "--detach", "main"]);
    scene.edit("part5/file5", "main moved");
    scene.head()
}

fn squash(scene: &Scene, branch: &str) {
    scene.git(["merge", "-q", "--squash", branch]);
    scene.commit_staged("squashed");
}

#[test]
fn a_branch_of_a_long_history_is_bound_as_it_landed() {
    let scene = grown();
    let commits = scene.git(["rev-list", "--count", "main"]);
    assert!(commits.parse::<usize>().unwrap() > 200);

    // Along the branch each commit has its own verdict.
    work(&scene, "topic");
    for commit in ["topic", "topic~1", "topic~2"] {
        assert_eq!(judged(&scene, "topic", &[commit]), exact(), "{commit}");
    }
    let paths = ["part1/file1", "part2/file2", "part3/new"];
    assert_eq!(
        judged(&scene, "topic", &["main"]),
        found("unreachable", &paths, 1)
    );

    // Squashed, then merged, where main stood still.
    scene.git(["checkout", "-q", "--detach", "main"]);
    squash(&scene, "topic");
    assert_eq!(judged(&scene, "topic", &[]), tree());
    scene.git(["checkout", "-q", "--detach", "main"]);
    scene.merge("topic");
    assert_eq!(judged(&scene, "topic", &[]), tree());

    // The same where it moved: of a merge the branch's own head is what was tested.
    let moved = move_main(&scene);
    squash(&scene, "topic");
    assert_eq!(judged(&scene, "topic", &[]), merge());
    scene.git(["checkout", "-q", "--detach", &moved]);
    scene.merge("topic");
    assert_eq!(judged(&scene, "topic", &[]), delta());
    assert_eq!(judged(&scene, "topic", &["HEAD^2"]), exact());

    // What a host keeps: the squash alone. Its change is known, and what was thrown away is not.
    work(&scene, "gone");
    scene.git(["checkout", "-q", "--detach", &moved]);
    squash(&scene, "topic");
    for branch in ["topic", "gone"] {
        scene.git(["branch", "-qD", branch]);
    }
    scene.git(["reflog", "expire", "--expire=now", "--all"]);
    scene.git(["gc", "-q", "--prune=now"]);
    assert_eq!(judged(&scene, "topic", &[]), delta());
    assert_eq!(
        judged(&scene, "gone", &["main"]),
        found("unknown-commit", &[], 1)
    );
}

#[test]
fn commits_of_a_long_history_that_are_made_anew_are_bound_by_what_they_are() {
    let scene = grown();
    let moved = move_main(&scene);

    // Rebased onto where main moved; tested again, it is exact again.
    work(&scene, "rebased");
    scene.git(["rebase", "-q", &moved]);
    assert_eq!(judged(&scene, "rebased", &[]), merge());
    run(&scene, "rebased");
    assert_eq!(judged(&scene, "rebased", &[]), exact());

    // Amended: the message alone, and more.
    scene.git(["checkout", "-q", "-b", "amended", "main"]);
    scene.edit("part4/file4", "amended");
    run(&scene, "amended");
    scene.git(["commit", "-q", "--amend", "-m", "reworded"]);
    assert_eq!(judged(&scene, "amended", &[]), tree());
    scene.dirty("other");
    scene.git(["commit", "-qa", "--amend", "-m", "more"]);
    assert_eq!(
        judged(&scene, "amended", &[]),
        found("unreachable", &["other"], 1)
    );

    // One commit picked for a release that left main here, and for one that left it long ago: merging
    // would bring along what main did since.
    work(&scene, "picked");
    for (start, expected) in [("main", merge()), ("main~30", delta())] {
        scene.git(["checkout", "-q", "--detach", start]);
        scene.edit("part6/release", "release");
        scene.git(["cherry-pick", "picked~2"]);
        assert_eq!(judged(&scene, "picked", &[]), expected, "{start}");
    }

    // Reverted: the source of before is here again.
    work(&scene, "reverted");
    scene.edit("other", "bad");
    assert_eq!(
        judged(&scene, "reverted", &[]),
        found("stale", &["other"], 1)
    );
    scene.git(["revert", "--no-edit", "HEAD"]);
    assert_eq!(judged(&scene, "reverted", &[]), tree());
}
