use proptest::prelude::*;

use super::render;
use crate::{
    model::{
        Bar, Body, Class, Criterion, Decision, DecisionKind, Draft, Evidence, Import, Layout,
        Outcome, Owner, Record, RecordId, ReplicaId, Seal, Stamp, TaskId, Verdict,
    },
    view::{Document, Items, Kind, Line, View, What, check, line::normal},
};

fn sealed(draft: &Draft, seq: u64) -> Record {
    let seal = Seal {
        time: 1_796_070_245_123,
        seq,
        replica: ReplicaId::new([1; 8]),
    };
    draft.seal(seal).unwrap()
}

fn body(evidence: &[u8], import: Option<&str>) -> Body {
    Body::Verdict(Box::new(Verdict {
        import: import.map(|row| Import {
            view: "VERDICTS.md".to_owned(),
            row: row.to_owned(),
            n: 1,
        }),
        ..Verdict::new(
            Outcome::Pass,
            Class::Asserted,
            Evidence::of(evidence),
            Stamp::NoVcs,
        )
    }))
}

fn verdict(task: &str, criterion: &str, evidence: &[u8], seq: u64) -> Record {
    let mut draft = Draft::new(body(evidence, None));
    draft.task = Some(TaskId::new(task).unwrap());
    draft.criterion = Some(Criterion::new(criterion).unwrap());
    sealed(&draft, seq)
}

fn own(seq: u64) -> Record {
    verdict(&format!("t{seq}"), "c", b"e", seq)
}

fn imported(task: &str) -> Record {
    sealed(
        &Draft::new(body(b"", Some(&format!("| {task} | c | e | PASS |")))),
        0,
    )
}

fn bar(text: &str, seq: u64, after: &[&Record]) -> Record {
    let mut draft = Draft::new(Body::Bar(Bar {
        view: "VERDICTS.md".to_owned(),
        text: text.to_owned(),
    }));
    draft.after = after.iter().map(|record| record.id).collect();
    sealed(&draft, seq)
}

fn layout(order: &[&Record], seq: u64) -> Record {
    let order: Vec<RecordId> = order.iter().map(|record| record.id).collect();
    let view = "VERDICTS.md".to_owned();
    sealed(&Draft::new(Body::Layout(Layout { view, order })), seq)
}

/// The view's own lines, each by its first cell or its text.
fn shown(records: &[&Record]) -> String {
    let mut records = records.to_vec();
    records.sort_by_key(|record| record.order());
    let items = Items::of(View::Verdicts, records.into_iter());
    let bytes = render(View::Verdicts, &items, None).bytes;
    let text = String::from_utf8(bytes).unwrap();
    let rest = text.strip_prefix(View::Verdicts.header()).unwrap();
    let lines = rest.lines().map(|line| line.trim_start_matches("| "));
    lines
        .map(|line| line.split(" |").next().unwrap())
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn rows_stand_by_their_order_and_imported_ones_before() {
    let (one, two, old) = (own(1), own(2), imported("i1"));
    assert_eq!(shown(&[&two, &old, &one]), "i1 t1 t2");
}

#[test]
fn a_layout_moves_what_does_not_stand_by_itself() {
    let (one, two, three) = (own(1), own(2), own(3));
    let block = bar("BAR\n", 4, &[]);
    let all = [&one, &two, &three, &block];
    assert_eq!(shown(&all), "t1 t2 t3 BAR");
    for (order, want) in [
        (vec![&one, &block], "t1 BAR t2 t3"),
        (vec![&block, &one], "BAR t1 t2 t3"),
        (vec![&three, &block, &one], "t1 t2 t3 BAR"),
    ] {
        let place = layout(&order, 5);
        assert_eq!(shown(&[&all[..], &[&place]].concat()), want);
    }
    let late = own(6);
    let place = layout(&[&two, &block], 5);
    assert_eq!(
        shown(&[&one, &two, &three, &block, &place, &late]),
        "t1 t2 BAR t3 t6"
    );
}

#[test]
fn a_long_layout_goes_on_in_the_next_record() {
    let rows: Vec<Record> = (0..6).map(|at| imported(&format!("i{at}"))).collect();
    let refs: Vec<&Record> = rows.iter().collect();
    let (first, second) = (layout(&refs[..3], 1), layout(&refs[2..], 2));
    let mut all = refs.clone();
    all.extend([&first, &second]);
    assert_eq!(shown(&all), "i0 i1 i2 i3 i4 i5");
}

#[test]
fn a_later_block_takes_the_place_of_the_one_it_names() {
    let (one, block) = (own(1), bar("BAR [ ]\n", 2, &[]));
    let ticked = bar("BAR [x]\n", 3, &[&block]);
    assert_eq!(shown(&[&one, &block, &ticked]), "t1 BAR [x]");
}

#[test]
fn records_that_say_the_same_make_one_row() {
    let (one, again) = (verdict("t", "c", b"e", 1), verdict("t", "c", b"e", 2));
    assert_eq!(shown(&[&one, &again, &own(3)]), "t t3");
}

#[test]
fn long_evidence_is_an_excerpt_with_its_digest() {
    let record = verdict("t", "c", &b"x".repeat(9000), 1);
    let items = Items::of(View::Verdicts, std::iter::once(&record));
    let What::Row { shown, .. } = &items.items[0].what else {
        panic!("a row")
    };
    assert!(
        shown.len() < 1200 && shown.contains("[9000 bytes, blake3:"),
        "{shown}"
    );
}

#[test]
fn two_decisions_render_as_the_page_says() {
    let mut draft = Draft::new(Body::Decision(Decision {
        decision: DecisionKind::Deviation,
        scope: "T-12".to_owned(),
        what: "skipped the cache | test".to_owned(),
        why: "flaky\nupstream".to_owned(),
        covers: Vec::new(),
        import: None,
    }));
    draft.owner = Some(Owner::new("S1").unwrap());
    let record = sealed(&draft, 1);
    let items = Items::of(View::Decisions, std::iter::once(&record));
    let text = String::from_utf8(render(View::Decisions, &items, None).bytes).unwrap();
    assert_eq!(
        text.strip_prefix(View::Decisions.header()).unwrap(),
        "2026-11-30 | T-12 | DEVIATION | [sid:S1] skipped the cache &#124; test | flaky<br>upstream\n"
    );
}

proptest! {
    #[test]
    fn what_is_rendered_reads_back(rows in prop::collection::vec(("[a-z|&; ]{1,9}[a-z]", any::<Vec<u8>>()), 0..8)) {
        let records: Vec<Record> = rows
            .iter()
            .enumerate()
            .map(|(at, (criterion, evidence))| verdict("t", criterion, evidence, at as u64 + 1))
            .collect();
        let items = Items::of(View::Verdicts, records.iter());
        let bytes = render(View::Verdicts, &items, None).bytes;
        let document = Document::parse(&bytes);
        let keys: Vec<&str> = document.lines.iter().filter_map(|line| line.row()).map(|row| row.key.as_str()).collect();
        let want: Vec<&str> = items.items.iter().filter_map(|item| match &item.what {
            What::Row { key, .. } => Some(key.as_str()),
            What::Block(_) => None,
        }).collect();
        prop_assert_eq!(keys, want);
        prop_assert!(document.body().all(|(_, line)| matches!(line.kind, Kind::Row(_))));
        let checked = check(View::Verdicts, &items, Some(&bytes));
        prop_assert_eq!(checked.findings, []);
        prop_assert_eq!(render(View::Verdicts, &items, Some(&bytes)).bytes, bytes);
    }

    #[test]
    fn foreign_lines_survive_any_render(text in "[a-z|#<=>\n\r-]{0,80}", header: bool) {
        let record = own(1);
        let items = Items::of(View::Verdicts, std::iter::once(&record));
        let text = format!("{}{text}", if header { View::Verdicts.header() } else { "" });
        let once = render(View::Verdicts, &items, Some(text.as_bytes())).bytes;
        prop_assert_eq!(&render(View::Verdicts, &items, Some(&once)).bytes, &once);
        let document = Document::parse(text.as_bytes());
        let after = Document::parse(&once);
        for line in document.lines.iter().filter(|line| line.kind != Kind::Marker) {
            let kept = after.lines.iter().any(|other| normal_of(other) == normal_of(line));
            prop_assert!(kept, "{:?}\n{}", line, String::from_utf8_lossy(&once));
        }
    }

    #[test]
    fn a_table_of_somebody_else_survives_any_render(
        view in prop_oneof![Just(View::Verdicts), Just(View::Decisions)],
        rows in 0u64..3,
        put in prop::collection::vec((table(), 0usize..8), 1..4),
    ) {
        let records: Vec<Record> = (1..=rows).map(|seq| managed(view, seq)).collect();
        let items = Items::of(view, records.iter());
        let fresh = String::from_utf8(render(view, &items, None).bytes).unwrap();
        let mut lines: Vec<String> = fresh.lines().map(str::to_owned).collect();
        for (at, (table, place)) in put.iter().enumerate() {
            let table = table.replace("{n}", &at.to_string());
            lines.insert(place % (lines.len() + 1), table.trim_end().to_owned());
        }
        let text = lines.join("\n") + "\n";
        let later = managed(view, rows + 1);
        let items = Items::of(view, records.iter().chain([&later]));
        let rendered = render(view, &items, Some(text.as_bytes())).bytes;
        let after = String::from_utf8(rendered).unwrap();
        let ours: Vec<&str> = view.header().lines().collect();
        for line in text.lines().filter(|line| !ours.contains(line)) {
            let count = |of: &str| of.lines().filter(|other| *other == line).count();
            prop_assert!(count(&after) >= count(&text), "{line:?} of\n{text}\n---\n{after}");
        }
    }
}

fn normal_of(line: &Line) -> String {
    normal(&String::from_utf8_lossy(line.bytes))
}

fn managed(view: View, seq: u64) -> Record {
    if view == View::Verdicts {
        return own(seq);
    }
    let mut draft = Draft::new(Body::Decision(Decision {
        decision: DecisionKind::Decision,
        scope: "s".to_owned(),
        what: format!("d{seq}"),
        why: "y".to_owned(),
        covers: Vec::new(),
        import: None,
    }));
    draft.owner = Some(Owner::new("S1").unwrap());
    sealed(&draft, seq)
}

/// A table of two to five columns, as hands write them; `{n}` stands for a number.
fn table() -> impl Strategy<Value = String> {
    let rule = prop_oneof![Just("---"), Just(" :---: "), Just(" - "), Just("-----")];
    let around = prop_oneof![
        Just(""),
        Just("\n"),
        Just("\n## BAR — {n}\n\n"),
        Just("text {n}\n")
    ];
    (2usize..6, rule, around, any::<bool>(), any::<bool>()).prop_map(
        |(columns, rule, around, bare, gate)| {
            let line = |cell: &dyn Fn(usize) -> String| {
                let cells: Vec<String> = (0..columns).map(cell).collect();
                match bare {
                    true => cells.join("|"),
                    false => format!("|{}|", cells.join("|")),
                }
            };
            let ours = ["Gate", "Criterion", "Evidence", "PASS/FAIL"];
            let name = |at: usize| match gate && columns == 4 && around.contains("BAR") {
                true => format!(" {} ", ours[at]),
                false => format!(" h{{n}}{at} "),
            };
            format!(
                "{around}{}\n{}\n{}\n",
                line(&name),
                line(&|_| rule.to_owned()),
                line(&|at| format!(" c{{n}}{at} "))
            )
        },
    )
}

/// Records of runs that printed nothing were made before such runs were described.
#[test]
fn a_row_without_evidence_holds_the_stamp_alone() {
    let records = [verdict("t1", "c", b"", 1)];
    let items = Items::of(View::Verdicts, records.iter());
    let rendered = render(View::Verdicts, &items, None);
    let text = String::from_utf8(rendered.bytes).unwrap();
    assert!(text.ends_with("| t1 | c | @no-vcs | PASS |\n"), "{text}");
    // As it stood in views until now.
    let old = text.replace("| @no-vcs", "| &#x20;@no-vcs");
    let again = render(View::Verdicts, &items, Some(old.as_bytes()));
    assert_eq!(String::from_utf8(again.bytes).unwrap(), text);
    assert_eq!((again.added, again.foreign), (0, 0));
}
