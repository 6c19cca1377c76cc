//! What real tools printed (tests/corpus): what is saved, and that no line of a failure is lost.

use std::{fs, path::Path};

use super::Project;

/// The file, and what marks its lines that tell of a failure; each was read by a person.
const OUTPUTS: [(&str, &[&str]); 6] = [
    (
        "cargo-test",
        &[
            "... FAILED",
            "panicked at",
            "assertion",
            "  left:",
            " right:",
            "index out of",
            "error: test failed",
            "test result: FAILED",
        ],
    ),
    (
        "pytest",
        &[
            "FAILED",
            "E   ",
            "AssertionError",
            "ValueError",
            " failed, ",
        ],
    ),
    (
        "node-tap",
        &[
            "not ok",
            "error: ",
            "expected: ",
            "actual: ",
            "ERR_ASSERTION",
        ],
    ),
    (
        "rustc-errors-color",
        &["error[E", "error: could not compile"],
    ),
    ("npm", &["npm error", "Error: "]),
    ("grep", &[]),
];

fn output(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/corpus/{name}.txt"));
    fs::read_to_string(path).unwrap()
}

/// `text` without its colors, for the lines of a marked output.
fn plain(text: &str) -> String {
    text.split('\u{1b}')
        .enumerate()
        .map(|(at, part)| match (at, part.split_once('m')) {
            (0, _) | (_, None) => part,
            (_, Some((_, rest))) => rest,
        })
        .collect()
}

#[test]
fn no_failing_line_of_a_real_output_is_lost_and_the_spill_is_equal() {
    for (name, marks) in OUTPUTS {
        let project = Project::started();
        let text = output(name);
        let small = project.filter(&text);
        assert!(small.len() <= text.len());
        let failing = |text: &str| -> Vec<String> {
            plain(text)
                .lines()
                .filter(|line| marks.iter().any(|mark| line.contains(mark)))
                .map(str::to_owned)
                .collect()
        };
        let wanted = failing(&text);
        assert_eq!(wanted.is_empty(), marks.is_empty(), "{name}");
        assert_eq!(failing(&small), wanted, "{name}");
        if small != text && small.contains(" elided; ") {
            assert_eq!(
                fs::read_to_string(project.cited(&small)).unwrap(),
                text,
                "{name}"
            );
        }
        assert_eq!(project.filter(&small), small, "{name}");
    }
}

#[test]
fn long_outputs_are_shortened_by_a_third_at_least() {
    for (name, share) in [
        ("cargo-test", 66),
        ("pytest", 66),
        ("node-tap", 50),
        ("rustc-errors-color", 66),
        ("grep", 66),
        ("git-log-stat", 66),
    ] {
        let project = Project::started();
        let text = output(name);
        let small = project.filter(&text);
        let kept = small.len() * 100 / text.len();
        assert!(kept <= share, "{name}: {kept} percent kept");
    }
}

#[test]
fn json_of_real_tools_is_unchanged() {
    for name in ["json-lines", "one-document"] {
        let project = Project::started();
        let text = output(name);
        assert_eq!(project.filter(&text), text, "{name}");
        assert_eq!(project.filter(&text.repeat(3)), text.repeat(3), "{name}");
    }
}
