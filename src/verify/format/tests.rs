use super::{Format, summary};
use crate::{
    model::{Class, RepoPath},
    verify::{
        Finding, Grade, Rank, Report,
        report::{Policy, Requirement, Severity, State},
        state::Headline,
    },
};

const HOSTILE: &str = "x\n::error::owned\u{1b}[31m\u{202e}<script>|`%0A]]>\"'";

fn requirement(criterion: &str, state: State, paths: usize) -> Requirement {
    Requirement {
        criterion: criterion.to_owned(),
        state,
        record: None,
        task: Some(HOSTILE.to_owned()),
        class: Some(Rank::Of(Class::Captured)),
        tested_at: None,
        paths: (0..paths)
            .map(|at| RepoPath::new(format!("src/{at} a,b:c.rs")))
            .collect(),
        details: vec![HOSTILE.to_owned()],
        remedy: None,
    }
}

fn headline(word: &'static str, grade: Option<Grade>) -> Headline {
    Headline { word, grade }
}

fn report(requirements: Vec<Requirement>) -> Report {
    Report {
        target: None,
        policy: Policy::default(),
        requirements,
        records: Vec::new(),
        findings: vec![Finding::new("policy-modified", Severity::Warning, HOSTILE)],
    }
}

fn stale() -> Report {
    report(vec![
        requirement(HOSTILE, State::Unmet(headline("stale", None)), 60),
        requirement(
            "review",
            State::Met(headline("fresh", Some(Grade::Exact))),
            0,
        ),
    ])
}

#[test]
fn at_most_ten_annotations_of_a_level_and_all_paths_on_the_summary() {
    let report = stale();
    let text = Format::Github.render(&report);
    let errors = text
        .lines()
        .filter(|line| line.starts_with("::error "))
        .count();
    assert_eq!(errors, 10);
    assert_eq!(
        text.lines().filter(|line| line.starts_with("::")).count(),
        11
    );
    assert!(text.contains("file=src/0 a%2Cb%3Ac.rs::"), "{text}");
    assert!(text.contains("::51 more are on the summary page"), "{text}");
    assert!(text.ends_with("git-operator: unmet (exit 1)\n"), "{text}");
    let summary = summary(&report);
    assert_eq!(
        summary
            .lines()
            .filter(|line| line.starts_with("- src/"))
            .count(),
        60
    );
}

#[test]
fn hostile_text_stays_text_in_every_form() {
    let report = stale();
    for format in Format::ALL {
        let text = format.render(&report);
        assert!(
            !text.contains('\u{1b}') && !text.contains('\u{202e}'),
            "{text}"
        );
        let owned = text
            .lines()
            .filter(|line| line.starts_with("::error::"))
            .count();
        assert_eq!(owned, 0, "{text}");
    }
    let summary = summary(&report);
    assert!(
        !summary.contains("<script>") && !summary.contains('`'),
        "{summary}"
    );
    for format in [Format::Json, Format::Sarif] {
        let value: serde_json::Value = serde_json::from_str(&format.render(&report)).unwrap();
        assert!(value.is_object());
    }
    let junit = Format::Junit.render(&report);
    let document = roxmltree::Document::parse(&junit).unwrap();
    let suite = document.root_element().first_element_child().unwrap();
    assert_eq!(suite.attribute("tests"), Some("2"));
    assert_eq!(suite.attribute("failures"), Some("1"));
}

#[test]
fn the_exit_code_is_that_of_the_heaviest() {
    let mut report = report(Vec::new());
    assert_eq!((report.exit(), report.verdict()), (0, "satisfied"));
    for (severity, exit) in [
        (Severity::Unmet, 1),
        (Severity::Undecided, 4),
        (Severity::Unchecked, 5),
        (Severity::Integrity, 3),
    ] {
        report.findings.push(Finding::new("x", severity, "x"));
        assert_eq!(report.exit(), exit);
    }
}

#[test]
fn people_read_a_line_for_each_criterion_and_one_for_all() {
    let mut report = report(vec![
        Requirement {
            task: Some("T-1".to_owned()),
            details: Vec::new(),
            ..requirement(
                "tests",
                State::Unmet(headline("weak-binding", Some(Grade::Merge))),
                2,
            )
        },
        Requirement {
            task: None,
            details: Vec::new(),
            ..requirement("review", State::Missing, 0)
        },
    ]);
    report.findings.clear();
    let expected = "tests: weak-binding merge: src/0 a,b:c.rs, src/1 a,b:c.rs (task 'T-1')\n\
                    review: missing\nno commit yet: unmet, 0 of 2 criteria met\n";
    assert_eq!(Format::Human.render(&report), expected);
}
