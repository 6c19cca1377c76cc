use super::{Done, Slug, Spec, Status, approved, digest, template};

const WHOLE: &str = "# x\n\nStatus: DRAFT\n\n## North star\n\nA Stop without evidence is impossible.\n\n\
    Missed if: a session ends with an open task\n\n## Done criteria\n\n\
    | criterion | decided by |\n|---|---|\n| it blocks | `cargo test gate` |\n| it is fast | bench |\n\n\
    ## In scope\n\n- the hook\n\n## Out of scope\n\nnone\n\n## Open questions\n\n- none\n\n\
    ## Constraints\n\n- git 2.30\n";

#[test]
fn a_slug_is_a_plain_file_name() {
    for name in [
        "",
        "A",
        "a b",
        "../x",
        ".x",
        "a/b",
        "-x",
        "é",
        "a.md",
        &"x".repeat(81),
    ] {
        assert!(Slug::new(name).is_err(), "{name}");
    }
    assert_eq!(
        Slug::new("stop-2").unwrap().path(),
        ".operator/specs/stop-2.md"
    );
}

#[test]
fn a_whole_spec_has_no_problem() {
    let spec = Spec::parse(WHOLE);
    assert_eq!(spec.problems(), Vec::<String>::new());
    assert_eq!(spec.status, Status::Draft);
    assert_eq!(
        spec.bar(),
        "- it blocks: `cargo test gate`\n- it is fast: bench\n\
         - Missed if: a session ends with an open task\n"
    );
    assert_eq!(Spec::parse(&WHOLE.replace('\n', "\r\n")), spec);
}

#[test]
fn the_template_names_everything_that_is_to_be_filled() {
    let slug = Slug::new("x").unwrap();
    let spec = Spec::parse(&template(&slug));
    assert_eq!(
        spec.problems(),
        [
            "the north star is not said",
            "the north star has no line 'Missed if: …'",
            "there is no done criterion",
            "'In scope' is empty; write 'none' where there is nothing",
            "'Out of scope' is empty; write 'none' where there is nothing",
            "'Constraints' is empty; write 'none' where there is nothing",
        ]
    );
}

#[test]
fn each_missing_part_is_named() {
    for (from, to, problem) in [
        ("Status: DRAFT", "", "there is no line 'Status: DRAFT'"),
        (
            "Status: DRAFT",
            "Status: fine",
            "there is no line 'Status: DRAFT'",
        ),
        (
            "## In scope",
            "## Scope",
            "there is no section '## In scope'",
        ),
        (
            "Missed if: a session ends with an open task",
            "Missed if:",
            "the north star has no line 'Missed if: …'",
        ),
        (
            "A Stop without evidence is impossible.",
            "",
            "the north star is not said",
        ),
        (
            "| it is fast | bench |",
            "| it is fast | |",
            "nothing decides the criterion 'it is fast'",
        ),
        ("- none\n", "- who pays?\n", "a question is open: who pays?"),
        (
            "- git 2.30",
            "",
            "'Constraints' is empty; write 'none' where there is nothing",
        ),
    ] {
        assert_eq!(
            Spec::parse(&WHOLE.replace(from, to)).problems(),
            [problem],
            "{to}"
        );
    }
    assert_eq!(Spec::parse("").problems().len(), 7);
}

#[test]
fn the_status_is_read_from_its_line_alone() {
    for (text, status) in [
        ("Status: DRAFT\n", Status::Draft),
        ("\u{feff}Status:DRAFT \r\n", Status::Draft),
        (
            "Status: APPROVED @0123456789ab+dirty\n",
            Status::Approved("0123456789ab+dirty".to_owned()),
        ),
        ("Status: APPROVED\n", Status::Unknown),
        ("Status: APPROVED @\n", Status::Unknown),
        ("Status: APPROVED @a b\n", Status::Unknown),
        ("the Status: DRAFT\n", Status::Unknown),
        ("", Status::Unknown),
    ] {
        assert_eq!(Status::of(text), status, "{text:?}");
    }
}

#[test]
fn an_approval_changes_the_status_line_and_nothing_else() {
    let text = approved(WHOLE, "0123456789ab");
    assert_eq!(text, WHOLE.replace("DRAFT", "APPROVED @0123456789ab"));
    assert_eq!(Spec::parse(&text).problems(), Vec::<String>::new());
    assert_eq!(digest(&text), digest(WHOLE));
    assert_eq!(digest(&WHOLE.replace('\n', "\r\n")), digest(WHOLE));
    assert_ne!(digest(&WHOLE.replace("bench", "a bench")), digest(WHOLE));
}

#[test]
fn an_escaped_pipe_stays_in_its_cell() {
    let row = r"| tests \| docs pass | `cargo test 2>&1 \| grep -c ok` |";
    let spec = Spec::parse(&format!(
        "## Done criteria\n|Criterion|by|\n|:--|--|\n{row}\n"
    ));
    let done = Done {
        criterion: "tests | docs pass".to_owned(),
        decided_by: "`cargo test 2>&1 | grep -c ok`".to_owned(),
    };
    assert_eq!(spec.done, [done]);
    assert_eq!(
        spec.bar(),
        "- tests | docs pass: `cargo test 2>&1 | grep -c ok`\n"
    );
}

#[test]
fn what_stands_in_a_third_cell_is_a_problem_and_an_empty_one_is_none() {
    let row = "| it is fast | bench |";
    let with = |cells: &str| Spec::parse(&WHOLE.replace(row, &format!("{row} {cells}"))).problems();
    assert_eq!(with("  |"), Vec::<String>::new());
    assert_eq!(
        with("grep -c ok |"),
        [
            r"the row of 'it is fast' has more than two cells: 'grep -c ok'; write '\|' for a pipe in a cell"
        ]
    );
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_without_a_panic_and_approved_once(text in "(Status: (DRAFT|APPROVED @x|y)\r?\n|## [A-Z][a-z ]{0,8}\n|Missed if: ?é?\n|\\|[a-z|-]{0,12}\n|- ?<?[a-zé]{0,5}>?\n){0,20}") {
        let _ = Spec::parse(&text).problems();
        let once = approved(&text, "0123456789ab");
        proptest::prop_assert_eq!(approved(&once, "0123456789ab"), once.as_str());
        proptest::prop_assert_eq!(digest(&once), digest(&text));
    }
}
