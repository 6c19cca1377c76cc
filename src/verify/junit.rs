//! Test counts of a JUnit report. The report is the command's, so nothing in it is believed beyond
//! its numbers.

use roxmltree::{Document, Node, ParsingOptions};

use crate::model::TestCounts;

/// The largest report that is read.
pub(super) const LIMIT: u64 = 64 * 1024 * 1024;

/// Counts the test cases of a report; the error says why it is none.
pub(super) fn counts(text: &str) -> Result<TestCounts, String> {
    // A document type is where entities come from; no report needs one.
    let options = ParsingOptions {
        allow_dtd: false,
        ..ParsingOptions::default()
    };
    let document =
        Document::parse_with_options(text, options).map_err(|error| error.to_string())?;
    let root = document.root_element();
    if !matches!(root.tag_name().name(), "testsuites" | "testsuite") {
        return Err(format!("its root is '{}'", root.tag_name().name()));
    }
    let cases = root
        .descendants()
        .filter(|node| node.tag_name().name() == "testcase");
    let mut counts = TestCounts {
        passed: 0,
        failed: 0,
        skipped: 0,
    };
    for case in cases {
        if has(case, &["failure", "error"]) {
            counts.failed += 1;
        } else if has(case, &["skipped"]) {
            counts.skipped += 1;
        } else {
            counts.passed += 1;
        }
    }
    Ok(counts)
}

fn has(case: Node<'_, '_>, names: &[&str]) -> bool {
    case.children()
        .any(|child| names.contains(&child.tag_name().name()))
}

#[cfg(test)]
mod tests {
    use super::counts;
    use crate::model::TestCounts;

    #[test]
    fn cases_are_counted_not_claims() {
        let text = r#"<?xml version="1.0"?>
            <testsuites tests="999" failures="0"><testsuite name="a" tests="999">
            <testcase name="one"/><testcase name="two"><failure message="&lt;x&gt;">no</failure></testcase>
            <testcase name="three"><skipped/></testcase><testcase name="four"><system-out>x</system-out></testcase>
            <testcase name="five"><error/></testcase></testsuite></testsuites>"#;
        let expected = TestCounts {
            passed: 2,
            failed: 2,
            skipped: 1,
        };
        assert_eq!(counts(text), Ok(expected));
    }

    #[test]
    fn what_is_no_report_is_refused() {
        for text in [
            "",
            "<html/>",
            "<testsuite>",
            "not xml",
            r#"<!DOCTYPE t [<!ENTITY a "x">]><testsuite>&a;</testsuite>"#,
        ] {
            assert!(counts(text).is_err(), "{text}");
        }
    }
}
