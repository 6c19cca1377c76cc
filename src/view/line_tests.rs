use super::{Document, Kind, View};

fn letters(text: &str) -> String {
    Document::parse(text.as_bytes())
        .lines
        .iter()
        .map(|line| match &line.kind {
            Kind::Title => '#',
            Kind::Columns => 'c',
            Kind::Delimiter => '-',
            Kind::Row(row) if row.view == View::Verdicts => 'v',
            Kind::Row(_) => 'd',
            Kind::Malformed(_) => '!',
            Kind::Marker => 'm',
            Kind::Text => '.',
        })
        .collect()
}

const HEAD: &str = "# V\n| Gate | Criterion | Evidence | PASS/FAIL |\n|---|---|---|---|\n";

#[test]
fn own_headers_read_as_headers() {
    assert_eq!(letters(View::Verdicts.header()), "#c-");
    assert_eq!(letters(View::Decisions.header()), "##");
    for view in View::ALL {
        let document = Document::parse(view.header().as_bytes());
        assert_eq!(document.header, document.lines.len());
        assert!(document.has_own_header(view));
    }
}

#[test]
fn a_header_is_known_by_its_place_and_shape() {
    let translated = "# Urteile\n\nErklärung\n| Tor | Kriterium | Beleg | Urteil |\n|---|---|---|---|\n| t | c | e | PASS |\n";
    assert_eq!(letters(translated), "#..c-v");
    let document = Document::parse(translated.as_bytes());
    assert_eq!(document.header, 5);
    assert!(!document.has_own_header(View::Verdicts));
    assert_eq!(letters(&format!("{HEAD}| Gate | c | e | PASS |\n")), "#c-v");
    assert_eq!(
        letters("| Gate | c | e | PASS |\n|---|---|---|---|\n"),
        "v!"
    );
}

#[test]
fn a_view_without_a_header_is_read_as_rows() {
    let document = Document::parse(b"| t | c | e | PASS |");
    assert_eq!(document.header, 0);
    assert!(!document.terminated);
    assert!(document.lines[0].row().is_some());
}

#[test]
fn a_realigned_table_keeps_its_rows() {
    let text = "#  V\n| Gate      | Criterion | Evidence    | PASS/FAIL |\n| :----- | ---: | :---: | --- |\n| t    | c   | e @1234567   | PASS   |";
    assert_eq!(letters(text), "#c-v");
    let document = Document::parse(text.as_bytes());
    let row = document.lines[3].row().unwrap();
    assert_eq!(row.key, "| t | c | e @1234567 | PASS |");
    let bare = "# V\nGate | Criterion | Evidence | PASS/FAIL\n--- | :---: | --- | ---\nt | c | e | PASS\nt | c | e | pass\n\n- not a row\n";
    assert_eq!(letters(bare), "#c-v!..");
    let own = View::Verdicts
        .header()
        .replace("---", ":---:")
        .replace(" | ", "   |   ");
    assert!(Document::parse(own.as_bytes()).has_own_header(View::Verdicts));
}

#[test]
fn malformed_rows_are_told_from_text() {
    let text = format!(
        "{HEAD}| t3 | c | e @1234567 | PASS | extra |\n| t4 | c | PASS |\n|t5|c|e|pass|\n| t6 |  | e | PASS |\n- keep me | as is | x | PASS\n2026-01-02 | s | note | x\n2026-01-02 we met\n2026-01-03|s|DEVIATION|a|b\n2026-05-05  | - | DEVIATION | a\n2026-05-05 | - | DEVIATION\n"
    );
    assert_eq!(letters(&text), "#c-!!!!.!.!!!");
    let document = Document::parse(text.as_bytes());
    let reasons: Vec<&str> = document
        .lines
        .iter()
        .filter_map(|line| match &line.kind {
            Kind::Malformed(reason) => Some(reason.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        reasons,
        [
            "it has 5 cells, not 4",
            "it has 3 cells, not 4",
            "its last cell is no verdict",
            "it has an empty cell",
            "it has no kind of decision in its third field",
            "its fields are not parted by one space, a pipe and one space",
            "its fields are not parted by one space, a pipe and one space",
            "it says not what was decided, in a fourth field",
        ]
    );
}

#[test]
fn a_table_of_somebody_else_is_text() {
    let text = format!(
        "{HEAD}| t | c | e | PASS |\n\n## BAR\n| need | weight |\n|---|---|\n| speed | 5 |\n\n| t2 | c | PASS |\n"
    );
    assert_eq!(letters(&text), "#c-v......!");
}

#[test]
fn a_table_with_our_shape_is_text_where_it_is_not_ours() {
    let four = "| opt | cost | risk | note |\n|:--|---|---|---|\n| A | 1 | 2 | x |\n";
    let row = "| t | c | e | PASS |\n";
    assert_eq!(letters(&format!("{HEAD}\n## BAR\n\n{four}")), "#c-......");
    assert_eq!(
        letters(&format!("{HEAD}{four}{row}{row}| x |\n")),
        "#c-...vv."
    );
    let decisions = View::Decisions.header();
    assert_eq!(letters(&format!("{decisions}{four}")), "##...");
    let line = "2026-01-02 | s | DECISION | a | b\n";
    assert_eq!(
        letters(&format!("# D\n{line}{four}{line}{line}| x |\n")),
        "#d...dd!"
    );
    assert_eq!(letters(&format!("# V\n{row}{four}")), "#v...");
    let ours = "| Gate | Criterion | Evidence | PASS/FAIL |\n|---|---|---|---|\n| t |  |  |  |\n";
    assert_eq!(
        letters(&format!("{HEAD}{row}\n## BAR\n\n{ours}")),
        "#c-v......"
    );
    assert_eq!(letters(&format!("## BAR\n{four}")), "....");
    let bare = "a | b | c | d\n--- | --- | --- | ---\n1 | 2 | 3 | 4\n";
    assert_eq!(
        letters(&format!("{HEAD}{row}{bare}{row}| x |\n")),
        "#c-v...v!"
    );
}

#[test]
fn a_title_that_comes_again_is_text_where_no_header_stands_beside_it() {
    let head = "# V\n| Tor | Kriterium | Beleg | Urteil |\n|---|---|---|---|\n";
    let row = "| t | c | e | PASS |\n";
    assert_eq!(letters(&format!("{head}{row}# V\n- x\n")), "#c-v..");
    assert_eq!(letters(&format!("{head}{row}{head}{row}")), "#c-v#c-v");
    assert_eq!(
        letters(&format!("{head}{row}{}{row}", View::Verdicts.header())),
        "#c-v#c-v"
    );
}

#[test]
fn markers_stand_at_the_first_column() {
    let text = "<<<<<<< HEAD\na\n||||||| 1234567\nb\n=======\nc\n>>>>>>> x\n <<<<<<< no\n<<<<<< no\nHeading\n=======\n\n=======\n";
    assert_eq!(letters(text), "m.m.m.m.....m");
    assert_eq!(letters("<<<<<<<<< x\na\n=========\n>>>>>>>>> y\n"), "m.mm");
    assert_eq!(letters("| t | c | <<<<<<< HEAD<br>======= | FAIL |\n"), "v");
}

#[test]
fn line_ends_and_marks_are_set_aside() {
    let document = Document::parse(b"\xef\xbb\xbf# V\r\n| t | c | e | PASS |\r\r\n\r\nx");
    assert!(document.bom && document.crlf && !document.terminated);
    let bytes: Vec<&[u8]> = document.lines.iter().map(|line| line.bytes).collect();
    assert_eq!(bytes, [&b"# V"[..], b"| t | c | e | PASS |", b"", b"x"]);
    assert_eq!(Document::parse(b"").lines, []);
    assert_eq!(letters("a\0b\n"), "!");
    assert!(matches!(
        Document::parse(b"\xff\n").lines[0].kind,
        Kind::Malformed(_)
    ));
}

#[test]
fn a_header_that_came_twice_is_a_header_twice() {
    let text = format!("{HEAD}| a | c | e | PASS |\n{HEAD}| b | c | e | PASS |\n");
    assert_eq!(letters(&text), "#c-v#c-v");
}

#[test]
fn decisions_keep_their_pipes() {
    let text = "# D\n# kinds: DEVIATION\n2026-01-02 | scope | DEVIATION | text with | pipes — and → | why\n## BAR\n";
    assert_eq!(letters(text), "##d.");
}
