use proptest::strategy::Strategy;

use super::{
    OPENINGS, PASSED_END, PASSED_START, WORDS, counts_none, is_counted_none, is_failing, is_make,
    is_numbered, is_placed, next, position, tells_code,
};

#[test]
fn reports_of_failure_are_seen() {
    for line in [
        "test mod::bad ... FAILED",
        "thread 'main' panicked at src/lib.rs:9:5:",
        "  left: 1",
        " right: 2",
        "error: test failed, to rerun pass `--lib`",
        "error[E0308]: mismatched types",
        "not ok 3 - closes the task",
        "npm ERR! missing script: test",
        "npm error code ENOENT",
        "E       assert 1 == 2",
        "FAILED tests/test_a.py::test_ok - TypeError: x",
        "ValueError: bad",
        "--- FAIL: TestX (0.00s)",
        "fatal: not a git repository",
        "CONFLICT (content): Merge conflict in a",
        "bash: foo: command not found",
        "3 failed, 12 passed, 0 errors",
        "    ✕ renders (3 ms)",
        "Traceback (most recent call last):",
        "test result: FAILED. 1 passed; 1 failed; 0 ignored",
        "    Expected: 3",
        "    Received: 4",
        "  Actual: false",
        "Value of: x",
        "    Which is: 3",
        "✖ adds two numbers (1.3ms)",
        "❌ lint",
        "  1) should return -1",
        "    add_test.go:12: Add(1,2) = 4, want 3",
        "\tcalc_test.rb:7: got nil",
        "OSError: [Errno 28] No space left on device",
        "java.io.IOException: Broken pipe",
        "EOFError: EOF when reading a line",
        "SSLError(1)",
        "S3Exception: x",
        "java.lang.Error: x",
        "subprocess.TimeoutExpired: Command 'x'",
        "write: no space left on device",
        "make: *** No rule to make target 'x'.  Stop.",
        "make[2]: *** [Makefile:3: all] Terminated",
        "Bail out!",
        "WARNING: DATA RACE",
        "exit status 2",
        "Process exited with code 101.",
        "exit code: -1",
        "SIGKILL",
        "Err: x",
        "VIOLATION: x",
        "Unable to connect",
        "CRITICAL disk full",
        "error: 0 arguments were given",
        "Failures: 1, Errors: 0",
        "Failures: 0, Errors: 2",
    ] {
        assert!(is_failing(line), "{line}");
    }
}

#[test]
fn ordinary_lines_are_not() {
    for line in [
        "test mod::error_case ... ok",
        "test fails_well ... ok",
        "tests/test_error.py::test_fail PASSED  [ 10%]",
        "ok 4 - a failing command is refused",
        "   Compiling thiserror v2.0.21",
        "src/error.rs src/errors.rs tests/fail-fast.rs",
        "test result: ok. 12 passed; 0 failed; 0 ignored",
        "found 0 errors and no failures",
        "PASS src/error.test.ts",
        "drwxr-xr-x 2 root root 4096 error_kind",
        "No errors, no warnings",
        "built without errors",
        "Tests run: 3, Failures: 0, Errors: 0, Skipped: 0",
        "host : ok=3 changed=1 unreachable=0 failed=0 skipped=1",
        "Process exited with code 0.",
        "exit status 0",
        "exit code: 0",
        "the exit code is documented",
        "DEFAULTS and TERRORS",
        "Actually nothing",
        "    src/a.rs and more",
        "src/a.rs:12: let x = 1;",
        "(a) first 1) second",
        "12 files changed)",
        "make all",
        "",
        "plain",
    ] {
        assert!(!is_failing(line), "{line}");
    }
}

/// Looks at every byte, and first at what the line begins and ends with.
mod plainly {
    use super::{
        OPENINGS, PASSED_END, PASSED_START, WORDS, counts_none, is_counted_none, is_make,
        is_numbered, is_placed, tells_code,
    };

    pub(super) fn position(line: &str) -> Option<usize> {
        let text = line.trim();
        let start = line.len() - line.trim_start().len();
        let begins = |mark: &str| {
            let lower = text.to_ascii_lowercase();
            lower
                .strip_prefix(&mark.to_ascii_lowercase())
                .is_some_and(|rest| {
                    !(mark.ends_with(|c: char| c.is_ascii_alphabetic())
                        && rest.starts_with(|c: char| c.is_ascii_alphabetic()))
                })
        };
        if OPENINGS.iter().any(|mark| begins(mark))
            || is_numbered(text.as_bytes())
            || is_make(text)
            || is_placed(line)
        {
            return Some(start);
        }
        if has_passed(text) {
            return None;
        }
        next(line, 0)
    }

    pub(super) fn next(line: &str, from: usize) -> Option<usize> {
        let bytes = line.as_bytes();
        (from..bytes.len()).find(|at| begins_word(bytes, *at) && names_failure(bytes, *at))
    }

    fn has_passed(text: &str) -> bool {
        if text.contains("FAIL") || text.contains("ERROR") {
            return false;
        }
        PASSED_START.iter().any(|mark| text.starts_with(mark))
            || PASSED_END.iter().any(|mark| text.ends_with(mark))
            || text.contains(" PASSED ")
    }

    fn begins_word(bytes: &[u8], at: usize) -> bool {
        let Some(before) = at.checked_sub(1).map(|before| bytes[before]) else {
            return true;
        };
        let small_follows = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        let joined = before.is_ascii_uppercase() || before.is_ascii_digit() || before == b'.';
        let camel = (before.is_ascii_lowercase() || joined && small_follows)
            && bytes[at].is_ascii_uppercase();
        camel || !(before.is_ascii_alphanumeric() || matches!(before, b'_' | b'/' | b'-' | b'.'))
    }

    fn names_failure(bytes: &[u8], at: usize) -> bool {
        let Some(word) = WORDS.iter().find(|word| {
            bytes
                .get(at..at + word.len())
                .is_some_and(|text| text.eq_ignore_ascii_case(word.as_bytes()))
        }) else {
            return false;
        };
        let end = at + word.len();
        let name = matches!(bytes.get(end), Some(b'_' | b'-' | b'/'))
            || bytes.get(end) == Some(&b'.')
                && bytes.get(end + 1).is_some_and(u8::is_ascii_lowercase);
        let rest = &bytes[end..];
        let none = if word.starts_with("exit") {
            !tells_code(rest)
        } else {
            counts_none(bytes, at) || is_counted_none(rest)
        };
        !name && !none
    }
}

/// Returns a line of up to seven parts: words, marks, separators and anything else, in any case.
fn line() -> impl Strategy<Value = String> {
    let marks = WORDS
        .iter()
        .chain(&OPENINGS)
        .chain(&PASSED_START)
        .chain(&PASSED_END);
    let marks: Vec<String> = marks
        .map(|mark| (*mark).to_owned())
        .chain(
            [
                " PASSED ",
                "FAIL",
                "ERROR",
                "no ",
                "0 ",
                ": 0,",
                "=0 ",
                " 1",
                "1) ",
                "make: *** ",
                "    a.go:1: ",
                "OS",
                "S3",
                "x.",
            ]
            .map(str::to_owned),
        )
        .collect();
    let mark = proptest::sample::select(marks);
    let part = proptest::prop_oneof![
        3 => mark.clone(),
        1 => mark.prop_map(|mark| mark.to_uppercase()),
        2 => "[ _/.:a-zA-Z0-9-]{0,3}",
        1 => "\\PC{0,6}|\t|\r",
    ];
    proptest::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

proptest::proptest! {
    #[test]
    fn a_failure_is_found_where_a_look_at_every_byte_finds_it(line in line(), from in 0usize..40) {
        proptest::prop_assert_eq!(position(&line), plainly::position(&line));
        proptest::prop_assert_eq!(next(&line, from), plainly::next(&line, from));
    }
}
