//! Which lines tell of a failure. They are never elided.

/// Words that tell of a failure when they begin a word; lower case.
const WORDS: [&str; 30] = [
    "error",
    "err!",
    "fail",
    "fatal",
    "panic",
    "exception",
    "traceback",
    "assert",
    "abort",
    "denied",
    "refused",
    "cannot",
    "could not",
    "can't",
    "undefined",
    "unresolved",
    "not found",
    "no such",
    "segmentation",
    "sigsegv",
    "sigabrt",
    "killed",
    "timed out",
    "timeout",
    "overflow",
    "mismatch",
    "conflict",
    "unexpected",
    "rejected",
    "invalid",
];

/// Marks that begin a line of a failure report.
const OPENINGS: [&str; 14] = [
    "not ok",
    "✗",
    "✘",
    "✕",
    "×",
    "●",
    "left:",
    "right:",
    "expected",
    "received:",
    "actual",
    "got:",
    "want:",
    "E  ",
];

/// Marks that begin or end the line of a test that passed.
const PASSED_START: [&str; 4] = ["ok ", "✓", "✔", "PASS "];
const PASSED_END: [&str; 3] = ["... ok", "... ignored", " PASSED"];

/// Says whether `line` tells of a failure.
pub(super) fn is_failing(line: &str) -> bool {
    position(line).is_some()
}

/// Returns where in `line` the failure is named.
pub(super) fn position(line: &str) -> Option<usize> {
    let text = line.trim();
    let start = line.len() - line.trim_start().len();
    if OPENINGS.iter().any(|mark| text.starts_with(mark)) {
        return Some(start);
    }
    if has_passed(text) {
        return None;
    }
    next(line, 0)
}

/// Returns the next place in `line`, from `from` on, that names a failure.
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

/// A word begins after anything but a letter, a digit or `_`; also inside `TypeError`.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| bytes[before]) else {
        return true;
    };
    let camel = before.is_ascii_lowercase() && bytes[at].is_ascii_uppercase();
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
    // `error.rs`, `fail-fast`, `error_kind` are names, not reports.
    let name = matches!(bytes.get(end), Some(b'_' | b'-' | b'/'))
        || bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_lowercase);
    !name && !counts_none(bytes, at)
}

/// `0 failed`, `no errors`
fn counts_none(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at].trim_ascii_end();
    let Some(before) = before
        .strip_suffix(b"0")
        .or_else(|| before.strip_suffix(b"no"))
    else {
        return false;
    };
    before
        .last()
        .is_none_or(|byte| !byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::is_failing;

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
            "",
            "plain",
        ] {
            assert!(!is_failing(line), "{line}");
        }
    }
}
