use std::{collections::BTreeSet, time::Duration};

use serde_json::Value;

use super::{Flaky, Ratchet, Requirements, duration, schema};
use crate::{
    model::Class,
    verify::{Grade, Rank},
};

const SMALL: &str = "version: 1\nrequire: {main: {ref: [refs/heads/main], criterion: [tests]}}\n";

fn with(criterion: &str) -> Result<Requirements, String> {
    Requirements::parse(&format!("{SMALL}criterion: {{tests: {criterion}}}\n"))
}

#[test]
fn a_criterion_without_keys_takes_exact_and_tree_of_anybodys_word() {
    let file = with("{}").unwrap();
    let tests = &file.criteria["tests"];
    assert_eq!(tests.accept, [Grade::Exact, Grade::Tree]);
    assert_eq!(tests.min_class, Rank::Of(Class::Asserted));
    assert_eq!((tests.ratchet, tests.flaky), (Ratchet::Off, Flaky::Deny));
    assert_eq!(
        tests.deny_taint,
        ["weak-command", "command-outside-subject"]
    );
}

#[test]
fn a_command_asks_for_a_captured_run() {
    let file = with("{arg: [cargo, test], timeout: 20m}").unwrap();
    let tests = &file.criteria["tests"];
    assert_eq!(tests.min_class, Rank::Of(Class::Captured));
    assert_eq!(tests.timeout, Some(Duration::from_secs(1200)));
    assert_eq!(tests.arg, ["cargo", "test"]);
}

#[test]
fn a_ref_requires_what_its_patterns_say() {
    let text = "version: 1\nrequire:\n  main: {ref: [refs/heads/main], criterion: [a]}\n  \
                release: {ref: ['refs/heads/release/*', refs/heads/main], criterion: [b, a]}\n\
                criterion: {a: {}, b: {}}\n";
    let file = Requirements::parse(text).unwrap();
    assert_eq!(file.of_ref("refs/heads/main"), ["a", "b"]);
    assert_eq!(file.of_ref("refs/heads/release/1"), ["b", "a"]);
    assert_eq!(file.of_ref("refs/heads/x"), Vec::<&str>::new());
    assert_eq!(
        file.of_ref("refs/heads/refs/heads/main"),
        Vec::<&str>::new()
    );
}

#[test]
fn an_exemption_holds_through_its_last_day() {
    let text = format!(
        "{SMALL}criterion: {{tests: {{}}}}\nexempt:\n- {{criterion: tests, reason: x, until: 2026-12-31}}\n"
    );
    let file = Requirements::parse(&text).unwrap();
    let at = |text: &str| crate::model::time::parse(text).unwrap();
    let none = BTreeSet::new();
    let holds = |when| file.exemption("tests", &none, at(when)).is_some();
    assert!(holds("2026-12-31T23:59:59Z"));
    assert!(!holds("2027-01-01T00:00:00Z"));
}

#[test]
fn an_exemption_of_a_task_covers_no_other() {
    let text = format!(
        "{SMALL}criterion: {{tests: {{}}}}\nexempt:\n\
         - {{criterion: tests, task: docs, reason: x, until: 2026-12-31}}\n\
         - {{criterion: tests, task: typo, reason: y, until: 2026-12-31}}\n"
    );
    let file = Requirements::parse(&text).unwrap();
    let now = crate::model::time::parse("2026-12-01").unwrap();
    let holds = |tasks: &[&str]| {
        let tasks = tasks.iter().copied().collect();
        file.exemption("tests", &tasks, now).is_some()
    };
    assert!(holds(&["docs"]));
    assert!(holds(&["docs", "typo"]));
    assert!(!holds(&["docs", "code"]));
    assert!(!holds(&[]));
}

#[test]
fn a_signer_is_a_whole_principal_or_a_pattern_of_one() {
    for (pattern, principal, expected) in [
        ("ann@example.org", "ann@example.org", true),
        ("ann@example.org", "joann@example.org", false),
        ("ann@example.org", "ann@example.org.evil", false),
        ("*@example.org", "ann@example.org", true),
        ("*@example.org", "ann@example.org@evil", false),
        ("a?n*", "ann@x", true),
        ("a?n*", "an", false),
        ("*a*b", "xaxbxb", true),
        ("*a*b", "xaxbx", false),
        ("*", "", true),
        ("?", "", false),
    ] {
        let file = with(&format!("{{signer: ['{pattern}']}}")).unwrap();
        let takes = file.criteria["tests"].takes(&[principal.to_owned()]);
        assert_eq!(takes, expected, "{pattern} {principal}");
    }
    let any = with("{}").unwrap();
    assert!(any.criteria["tests"].takes(&[]));
    let some = with("{signer: ['*']}").unwrap();
    assert!(!some.criteria["tests"].takes(&[]));
}

#[test]
fn the_definition_changes_with_what_decides_the_outcome_only() {
    let of = |text: &str| with(text).unwrap().criteria["tests"].definition.clone();
    let plain = of("{arg: [cargo, test]}");
    assert_eq!(
        plain,
        of("{arg: [cargo, test], accept: [patch], max-age: 1d, min-class: isolated}")
    );
    assert_ne!(plain, of("{arg: [cargo, test, --all]}"));
    assert_ne!(plain, of("{arg: [cargo, test], ok-exit: [1]}"));
}

#[test]
fn a_file_that_requires_nothing_or_says_what_is_unknown_is_wrong() {
    for (text, why) in [
        ("", "unexpected end"),
        ("version: 1\n", "missing field"),
        (
            "version: 2\nrequire: {}\ncriterion: {}\n",
            "its version is 2, not 1",
        ),
        (
            "version: 1\nrequire: {}\ncriterion: {}\n",
            "it has no criterion",
        ),
        (
            "version: 1\nrequire: {}\ncriterion: {a: {}}\n",
            "it requires nothing",
        ),
        (
            "version: 1\nrequire: {m: {ref: [x], criterion: [b]}}\ncriterion: {a: {}}\n",
            "'b' is no criterion of it",
        ),
        (
            "version: 1\nrequire: {m: {ref: [x], criterion: []}}\ncriterion: {a: {}}\n",
            "names no ref or no criterion",
        ),
    ] {
        let error = Requirements::parse(text).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
    for (criterion, why) in [
        ("{argv: [x]}", "unknown field"),
        ("{accept: [sometimes]}", "'sometimes' is no binding"),
        ("{min-class: imported}", "'imported' is no class"),
        ("{max-age: soon}", "'soon' is no duration"),
        ("{input: ['{a,b}']}", "braces"),
        ("{arg: [a], arg: [b]}", "duplicate"),
        ("{signer: ['']}", "'signer' has an empty entry"),
        ("{input: [a, ' ']}", "'input' has an empty entry"),
    ] {
        let error = with(criterion).unwrap_err();
        assert!(error.contains(why), "{criterion}: {error}");
    }
}

#[test]
fn durations_are_read() {
    for (text, seconds) in [
        ("90", 90),
        ("90s", 90),
        ("20m", 1200),
        ("1h30m", 5400),
        ("2d", 172_800),
        ("1w", 604_800),
    ] {
        assert_eq!(duration(text), Ok(Duration::from_secs(seconds)));
    }
    for text in ["", "0", "m", "1x", "1h30", "-1s", "99999999999999999999s"] {
        assert!(duration(text).is_err(), "{text}");
    }
}

/// The names serde says it expects where a name is unknown.
fn expected(text: &str) -> Vec<String> {
    let error = Requirements::parse(text).unwrap_err();
    let (_, list) = error
        .split_once("expected ")
        .unwrap_or_else(|| panic!("{error}"));
    let list = list.trim_start_matches("one of ");
    let mut names: Vec<String> = list.split([',', ' ']).map(str::to_owned).collect();
    names.retain(|name| !name.is_empty() && name != "or");
    names.sort();
    names
}

fn properties(schema: &Value) -> Vec<String> {
    let mut names: Vec<String> = schema["properties"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    names.sort();
    names
}

#[test]
fn the_schema_and_the_reader_know_the_same_keys() {
    let schema = schema();
    let at = &schema["properties"];
    let file = format!("{SMALL}criterion: {{tests: {{}}}}\n");
    for (schema, text) in [
        (&schema, format!("{file}zzz: 1\n")),
        (
            &at["criterion"]["additionalProperties"],
            format!("{SMALL}criterion: {{tests: {{zzz: 1}}}}\n"),
        ),
        (
            &at["require"]["additionalProperties"],
            "version: 1\ncriterion: {a: {}}\nrequire: {m: {zzz: 1}}\n".to_owned(),
        ),
        (
            &at["guard"]["items"],
            format!("{file}guard: [{{zzz: 1}}]\n"),
        ),
        (&at["sign"], format!("{file}sign: {{zzz: 1}}\n")),
        (
            &at["exempt"]["items"],
            format!("{file}exempt: [{{zzz: 1}}]\n"),
        ),
    ] {
        assert_eq!(properties(schema), expected(&text), "{text}");
    }
}
