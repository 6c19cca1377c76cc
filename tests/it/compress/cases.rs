use std::{fmt::Write, fs, os::unix::fs::PermissionsExt};

use git_operator::compress::{Settings, Treatment, filter};

use super::Project;

fn test_run() -> String {
    let mut out = String::new();
    (1..=3000).for_each(|i| writeln!(out, "test mod::case_{i} ... ok").unwrap());
    out.push_str("test mod::bad ... FAILED\n");
    (1..=3000).for_each(|i| writeln!(out, "   Compiling dep{i} v1.0.0").unwrap());
    out.push_str("thread 'main' panicked at src/lib.rs:9:5:\nleft: 1\nright: 2\n");
    out.push_str("error: test failed, to rerun pass `--lib`\n");
    out
}

#[test]
fn the_failing_lines_stay_in_order_and_each_gap_names_its_size_and_the_spill() {
    let project = Project::started();
    let out = test_run();
    let small = project.filter(&out);
    assert!(small.len() < 12_000, "{}", small.len());
    let wanted = [
        "test mod::case_1 ... ok",
        "test mod::bad ... FAILED",
        "thread 'main' panicked at src/lib.rs:9:5:",
        "left: 1",
        "right: 2",
        "error: test failed, to rerun pass `--lib`",
    ];
    let found: Vec<&str> = small.lines().filter(|line| wanted.contains(line)).collect();
    assert_eq!(found, wanted);
    let spill = project.cited(&small);
    assert_eq!(fs::read_to_string(&spill).unwrap(), out);
    assert_eq!(
        fs::metadata(&spill).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let gaps: Vec<&str> = small
        .lines()
        .filter(|line| line.starts_with("[git-operator: "))
        .collect();
    assert_eq!(gaps.len(), 2, "{gaps:?}");
    let mut lines = small.lines().count() - gaps.len();
    for gap in gaps {
        assert!(gap.contains(" elided; whole output: "), "{gap}");
        let count = gap
            .strip_prefix("[git-operator: ")
            .unwrap()
            .split(' ')
            .next()
            .unwrap();
        lines += count.parse::<usize>().unwrap();
    }
    assert_eq!(lines, out.lines().count());
}

#[test]
fn compressing_twice_is_compressing_once() {
    let project = Project::started();
    let red = "\u{1b}[31mred\u{1b}[0m\n".repeat(40);
    for text in [test_run(), red, "short\n".to_owned()] {
        let once = project.filter(&text);
        assert_eq!(project.filter(&once), once);
    }
}

#[test]
fn json_is_valid_or_unchanged() {
    let project = Project::started();
    let item = |i: usize| format!("{{\"i\":{i},\"s\":\"{}\"}}", "x".repeat(200));
    let items: Vec<String> = (0..400).map(item).collect();
    let document = format!("{{\"items\":[{}],\"next\":\"tok\"}}\n", items.join(","));
    let pretty = document.replace("},{", "},\n{");
    for text in [
        document.clone(),
        document.repeat(2),
        pretty.clone(),
        items.join("\n"),
        document[..50_000].to_owned(),
        format!("HTTP/1.1 200 OK\n\n{pretty}done\n"),
    ] {
        assert_eq!(project.filter(&text), text);
    }
    let secret = format!("{{\"key\":\"{}\",\"n\":[1,2]}}", "AKIAEXAMPLEEXAMPLE00");
    let masked = project.filter(&secret);
    assert_eq!(masked, "{\"key\":\"[masked:aws-key]\",\"n\":[1,2]}");
    assert_eq!(project.spills(), [secret.into_bytes()]);
}

#[test]
fn a_document_inside_a_log_is_kept_or_elided_whole() {
    let project = Project::started();
    let mut log = String::new();
    for i in 0..900 {
        writeln!(log, "12:00:{i:04} request served in {i} ms").unwrap();
        if i % 90 == 0 {
            writeln!(
                log,
                "{{\n  \"id\": {i},\n  \"tags\": [\n    1,\n    2\n  ]\n}}"
            )
            .unwrap();
        }
    }
    let small = project.filter(&log);
    assert!(small.len() < log.len() / 2);
    let opened = small.lines().filter(|line| *line == "{").count();
    assert!(opened > 0);
    assert_eq!(opened, small.lines().filter(|line| *line == "}").count());
}

#[test]
fn no_character_is_cut() {
    let project = Project::started();
    for n in 0..8 {
        let text = "x".repeat(n) + &"日本語é👩‍👩‍👧".repeat(20_000);
        let small = project.filter(&text);
        assert!(small.len() < 4_000, "{}", small.len());
        assert!(!small.contains('\u{fffd}'));
        assert_eq!(fs::read_to_string(project.cited(&small)).unwrap(), text);
    }
}

#[test]
fn plain_text_is_a_fixed_point_and_a_real_secret_is_masked() {
    let project = Project::started();
    let plain = "HEAD is 3f786850e387550fdab836ed7e6dc881de23001b\n\
                 arr[0]=1; ]8;; [31m not an escape\n\
                 sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n\
                 key_id = 12; token count 88; password_hash_fn()\na+b/c==dGVzdA==\n";
    assert_eq!(project.filter(plain), plain);
    assert_eq!(project.spills(), Vec::<Vec<u8>>::new());
    let real = "AWS_SECRET_ACCESS_KEY=AKIAEXAMPLEEXAMPLE00\n\
                \u{1b}]8;;http://e.invalid\u{1b}\\link\u{1b}]8;;\u{1b}\\\n\u{1b}[1;31mred\u{1b}[0m\n";
    assert_eq!(
        project.filter(real),
        "AWS_SECRET_ACCESS_KEY=[masked:aws-key]\nlink\nred\n"
    );
    assert_eq!(project.spills(), [real.as_bytes()]);
}

#[test]
fn one_line_of_three_megabytes_keeps_its_ends_and_the_places_of_failure() {
    let project = Project::started();
    let mut line = "y".repeat(1_500_000) + " error: the cause ";
    line += &"z".repeat(1_500_000);
    let small = project.filter(&line);
    assert!(small.len() < 4_000, "{}", small.len());
    assert!(small.starts_with("yyyy") && small.ends_with("zzzz"));
    assert!(small.contains(" error: the cause "));
    assert_eq!(fs::read_to_string(project.cited(&small)).unwrap(), line);
}

#[test]
fn every_step_that_failed_stays_where_returns_part_them() {
    let project = Project::started();
    let steps: String = (0..600)
        .map(|i| {
            let error = if i % 20 == 0 {
                format!(" error: unit {i} broke")
            } else {
                String::new()
            };
            format!("\rstep {i} compile some thing or other at length{error}")
        })
        .collect();
    let small = project.filter(&steps);
    assert!(small.len() < steps.len() / 2, "{}", small.len());
    for i in (0..600).step_by(20) {
        assert!(small.contains(&format!(" error: unit {i} broke")), "{i}");
    }
    assert_eq!(project.filter(&small), small);
}

#[test]
fn what_a_test_that_passed_said_is_elided() {
    let project = Project::started();
    let block = |end: &str| {
        let said: String = (0..300)
            .map(|i| format!("    add_test.go:{i}: {end} {i}\n"))
            .collect();
        format!("=== RUN   Test{end}\n{said}--- {end}: Test{end} (0.00s)\n")
    };
    let small = project.filter(&format!(
        "{}{}{}",
        block("PASS"),
        block("FAIL"),
        block("SKIP")
    ));
    for i in 0..300 {
        assert!(
            small.contains(&format!("    add_test.go:{i}: FAIL {i}\n")),
            "{i}"
        );
    }
    assert!(!small.contains("add_test.go:299: PASS") && !small.contains("add_test.go:1: SKIP"));
}

#[test]
fn a_thousand_failing_lines_all_stay() {
    let project = Project::started();
    let mut out = String::new();
    for i in 0..1000 {
        writeln!(
            out,
            "FAILED tests/test_a.py::test_{i} - AssertionError: {i}"
        )
        .unwrap();
        (0..20).for_each(|n| writeln!(out, "    captured line {n} of the run number {i}").unwrap());
    }
    let small = project.filter(&out);
    assert!(small.len() < out.len());
    assert_eq!(
        small
            .lines()
            .filter(|line| line.starts_with("FAILED "))
            .count(),
        1000
    );
}

#[test]
fn what_cannot_be_spilled_is_not_elided() {
    let project = Project::started();
    fs::write(project.top().join(".operator/.compress-spill"), "a file").unwrap();
    let out = test_run();
    assert_eq!(project.filter(&out), out);
}

#[test]
fn an_output_is_never_longer_than_the_input() {
    let project = Project::started();
    let settings = Settings {
        max: 40,
        head: 20,
        tail: 20,
        line: 30,
        scrub_min: 0,
        min_shrink: 0,
        ..Settings::default()
    };
    for text in [
        "a\nb\nc\n".repeat(20),
        "error: x\nok\n".repeat(30),
        "word ".repeat(50),
        "\n\n\n\n".to_owned(),
        "PASSWORD=hunter2hunter2\n".repeat(3),
    ] {
        let small = filter(&text, Treatment::Full, &settings, &project.place).into_owned();
        assert!(small.len() <= text.len(), "{small}");
        let again = filter(&small, Treatment::Full, &settings, &project.place);
        assert_eq!(again, small);
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_compressed_to_a_fixed_point(
        text in "(error: [a-z]{0,9}\n|[a-zé日]{0,50}\n|\n\n\n|\u{1b}\\[3[0-9]m|same\n{3,6}|\\{\"a\": [0-9]\\}\n|TOKEN=[a-f0-9]{9,12}\n){0,60}",
        tail in 0usize..200,
    ) {
        let project = Project::started();
        let settings = Settings { max: 300, head: 100, tail, line: 40, scrub_min: 20, min_shrink: 0, ..Settings::default() };
        let once = filter(&text, Treatment::Full, &settings, &project.place).into_owned();
        proptest::prop_assert!(once.len() <= text.len());
        for line in text.lines().filter(|line| line.starts_with("error: ")) {
            proptest::prop_assert!(once.contains(line), "{} lost", line);
        }
        if once.contains("whole output: ") {
            proptest::prop_assert_eq!(std::fs::read_to_string(project.cited(&once)).unwrap(), text);
        }
        let twice = filter(&once, Treatment::Full, &settings, &project.place).into_owned();
        proptest::prop_assert_eq!(twice, once);
    }
}
