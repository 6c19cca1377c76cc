//! What `show`, `log` and the notes say of the tie between a record and a commit.

use serde_json::Value;

use super::scene::Scene;

fn shown(scene: &Scene, name: &str) -> String {
    let output = scene.operator(["show", name]).run();
    let line = output
        .stdout
        .lines()
        .find(|line| line.starts_with("Binding:"));
    line.unwrap_or_else(|| panic!("{output:?}")).to_owned()
}

#[test]
fn show_says_in_a_sentence_what_ties_a_verdict_to_a_commit() {
    let scene = Scene::new();
    scene.run();
    let id = scene.verdict().id;
    let head = |scene: &Scene| scene.head()[..12].to_owned();
    assert_eq!(
        shown(&scene, id.short()),
        format!(
            "Binding:   exact: it was made at {}, with nothing changed",
            head(&scene)
        )
    );
    let tested = head(&scene);
    scene.edit("other", "more");
    assert_eq!(
        shown(&scene, id.short()),
        format!(
            "Binding:   stale: it was made before {}, and the source is another since: other",
            head(&scene)
        )
    );
    // A revision is what its records are tied to.
    assert_eq!(
        shown(&scene, "HEAD~1"),
        format!("Binding:   exact: it was made at {tested}, with nothing changed")
    );
    scene.tick();
    scene.git(["revert", "--no-edit", "HEAD"]);
    assert_eq!(
        shown(&scene, id.short()),
        format!(
            "Binding:   tree: the source of {} is the one it was made on",
            head(&scene)
        )
    );
    let output = scene.operator(["show", "--json", id.short()]).run();
    let value: Value = serde_json::from_str(&output.stdout).unwrap();
    let expected = serde_json::json!({"commit": scene.head(), "state": "fresh", "grade": "tree", "paths": [], "from": null});
    assert_eq!(value["binding"], expected);
}

#[test]
fn log_of_a_commit_holds_what_was_made_on_its_source_and_says_how() {
    let scene = Scene::new();
    scene.dirty("src/lib");
    scene.run();
    scene.commit_all("all");
    scene.run();
    let lines = |args: &[&str]| -> Vec<String> {
        let all = [&["log", "--kind=verdict"], args].concat();
        let output = scene.operator(all).run();
        assert_eq!((output.code, output.stderr.as_str()), (0, ""));
        output.stdout.lines().map(str::to_owned).collect()
    };
    let bindings = ["--format=%b"];
    assert_eq!(
        lines(&[&bindings[..], &["--commit=HEAD"]].concat()),
        ["exact", "tree"]
    );
    assert_eq!(
        lines(&[&bindings[..], &["--commit=HEAD~1"]].concat()),
        ["dirty-unmatched"]
    );
    let said = lines(&["--commit=HEAD"]);
    assert!(said[0].contains(" PASS     (exact) T: tests"), "{said:?}");
    assert!(said[1].contains(" PASS     (tree) T: tests"), "{said:?}");
    assert!(!lines(&[])[0].contains("(exact)"));
    assert!(lines(&["--bindings"])[0].contains("(exact)"));
    let json: Value = serde_json::from_str(&lines(&["--json", "--bindings"])[1]).unwrap();
    assert_eq!(json["binding"]["grade"], "tree");
}

#[test]
fn a_record_is_found_at_the_commit_that_its_own_became() {
    let scene = Scene::new();
    assert_eq!(scene.operator(["start"]).run().code, 0);
    scene.commit_all("started");
    scene.run();
    let old = scene.head();
    scene.dirty("other");
    scene.tick();
    scene.git(["commit", "-qa", "--amend", "-m", "amended"]);
    let output = scene
        .operator(["log", "--commit=HEAD", "--kind=verdict"])
        .run();
    let mark = format!("(unreachable, carried from {}) T: tests", &old[..12]);
    assert!(output.stdout.contains(&mark), "{output:?}");
    let became = format!("; {} became {}", &old[..12], &scene.head()[..12]);
    let said = shown(&scene, "HEAD");
    assert!(said.ends_with(&became), "{said}");
}

#[test]
fn notes_tell_a_reader_of_git_log_what_was_shown_of_each_commit() {
    let scene = Scene::new();
    scene.dirty("src/lib");
    scene.run();
    let first = scene.verdict().id;
    let dirty = scene.head();
    scene.commit_all("all");
    scene.run();
    let second = scene.verdict().id;
    assert_eq!(scene.operator(["gc", "--notes"]).run().code, 0);
    let note = |commit: &str| {
        let text = scene.git([
            "log",
            "-1",
            "--notes=operator",
            "--no-notes",
            "--notes=operator",
            "--format=%N",
            commit,
        ]);
        text.trim().to_owned()
    };
    let mut both = [
        format!("{first} PASS tree T"),
        format!("{second} PASS exact T"),
    ];
    both.sort();
    assert_eq!(note("HEAD"), both.join("\n"));
    assert_eq!(note(&dirty), format!("{first} PASS dirty T"));
}
