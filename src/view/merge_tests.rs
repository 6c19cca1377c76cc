use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{join, merge};
use crate::view::{Document, Kind};

const HDR: &str =
    "# Engagement Verdicts\n\n| Gate | Criterion | Evidence | PASS/FAIL |\n|---|---|---|---|\n";

fn row(task: &str, outcome: &str) -> String {
    format!("| {task} | c | e @1234567 | {outcome} |\n")
}

fn view(tasks: &[&str]) -> String {
    let rows: String = tasks.iter().map(|task| row(task, "PASS")).collect();
    format!("{HDR}{rows}")
}

/// Merges both ways round, and each side into the result again; returns the result, which is clean.
#[track_caller]
fn clean(base: &str, ours: &str, theirs: &str) -> String {
    let merged = merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), 7);
    let swapped = merge(base.as_bytes(), theirs.as_bytes(), ours.as_bytes(), 7);
    let text = String::from_utf8(merged.bytes.clone()).unwrap();
    assert_eq!(merged, swapped, "swapped sides");
    assert_eq!(merged.conflicts, 0, "{text}");
    for side in [ours, theirs] {
        let again = merge(base.as_bytes(), &merged.bytes, side.as_bytes(), 7);
        assert_eq!(String::from_utf8_lossy(&again.bytes), text, "merged again");
    }
    text
}

#[test]
fn rows_in_other_neighbourhoods_stand_once() {
    let text = clean(
        &view(&["a"]),
        &view(&["a", "t1", "t2", "x"]),
        &view(&["a", "y", "t1", "t2"]),
    );
    assert_eq!(text, view(&["a", "y", "t1", "t2", "x"]));
}

#[test]
fn a_last_line_without_its_end_is_a_whole_row() {
    let (ours, theirs) = (view(&["a", "p"]), view(&["a", "q"]));
    let text = clean(&view(&["a"]), ours.trim_end(), theirs.trim_end());
    assert_eq!(text, view(&["a", "p", "q"]));
}

#[test]
fn line_ends_come_out_in_one_style() {
    let crlf = view(&["a", "p"]).replace('\n', "\r\n");
    assert_eq!(
        clean(&view(&["a"]), &crlf, &view(&["a", "q"])),
        view(&["a", "p", "q"])
    );
    let both = clean(
        &view(&["a"]),
        &crlf,
        &view(&["a", "q"]).replace('\n', "\r\n"),
    );
    assert_eq!(both, view(&["a", "p", "q"]).replace('\n', "\r\n"));
    let marked = format!("\u{feff}{}", view(&["a", "p"]));
    assert_eq!(
        clean(&view(&["a"]), &marked, &view(&["a"])),
        view(&["a", "p"])
    );
}

#[test]
fn a_contradiction_keeps_both_rows() {
    let ours = format!("{HDR}{}", row("a", "FAIL"));
    let text = clean(&view(&["a"]), &ours, &view(&["a", "z"]));
    for line in [row("a", "FAIL"), row("a", "PASS"), row("z", "PASS")] {
        assert!(text.contains(&line), "{text}");
    }
}

#[test]
fn absence_of_a_row_is_no_delete() {
    assert_eq!(
        clean(&view(&["a"]), HDR, &view(&["a", "b"])),
        view(&["a", "b"])
    );
    assert_eq!(clean("", &view(&["a"]), &view(&["b"])), view(&["a", "b"]));
    assert_eq!(clean("", &view(&["a"]), ""), view(&["a"]));
    assert_eq!(clean("", "", ""), "");
}

#[test]
fn a_realigned_table_is_the_same_table() {
    let ours = "# Engagement Verdicts\n\nGate | Criterion | Evidence    | PASS/FAIL\n:--- | ---: | --- | ---\na    | c   | e @1234567  | PASS\np | c | e @1234567 | PASS";
    let text = clean(&view(&["a"]), ours, &view(&["a", "q"]));
    assert_eq!(text, view(&["a", "p", "q"]));
}

#[test]
fn a_translated_header_wins_over_ours() {
    let translated = view(&["a"]).replace("| Gate | Criterion |", "| Tor | Kriterium |");
    let text = clean(&view(&["a"]), &translated, &view(&["a", "b"]));
    assert!(
        text.contains("| Tor |") && !text.contains("| Gate |"),
        "{text}"
    );
    assert!(clean("", &translated, &view(&["b"])).contains("| Tor |"));
}

#[test]
fn blocks_of_both_sides_stay_whole_and_where_they_were() {
    let base = view(&["a"]);
    let ours = format!("{base}\n## BAR — one\n- z\n\n{}", row("b", "PASS"));
    let theirs = format!("{base}\n## BAR — two\n- z\n\n{}", row("c", "PASS"));
    let text = clean(&base, &ours, &theirs);
    assert_eq!(
        text,
        format!(
            "{base}\n## BAR — one\n- z\n\n\n## BAR — two\n- z\n\n{}{}",
            row("b", "PASS"),
            row("c", "PASS")
        )
    );
}

#[test]
fn a_block_both_sides_added_stands_once() {
    let base = view(&["a"]);
    let block = "\n## BAR — x\n- one\n";
    let ours = format!("{base}{}{block}", row("b", "PASS"));
    let theirs = format!("{base}{}{block}{}", row("c", "PASS"), row("d", "PASS"));
    let text = clean(&base, &ours, &theirs);
    assert_eq!(
        text,
        format!(
            "{base}{}{}{block}{}",
            row("b", "PASS"),
            row("c", "PASS"),
            row("d", "PASS")
        )
    );
}

#[test]
fn a_change_of_text_stands_and_a_deleted_line_stays_away() {
    let base = format!(
        "{HDR}\n## BAR\n- [ ] one\n- [ ] two\n- old\n- end\n\n{}",
        row("a", "PASS")
    );
    let ours = base.replace("- [ ] one", "- [x] one");
    let theirs = format!("{}{}", base.replace("- old\n", ""), row("b", "PASS"));
    let text = clean(&base, &ours, &theirs);
    let want = base
        .replace("- [ ] one", "- [x] one")
        .replace("- old\n", "");
    assert_eq!(text, format!("{want}{}", row("b", "PASS")));
}

#[test]
fn text_changed_on_one_side_keeps_the_new_rows_around_it() {
    let base = format!("{HDR}{}\n## BAR\n- [ ] one\n", row("a", "PASS"));
    let ours = base.replace("[ ]", "[x]");
    let theirs = format!("{base}{}\n## BAR two\n", row("b", "PASS"));
    assert_eq!(clean(&base, &ours, &theirs), theirs.replace("[ ]", "[x]"));
}

#[test]
fn a_real_conflict_stands_between_markers() {
    let base = format!("{HDR}{}\n## BAR\n- one\n", row("a", "PASS"));
    let ours = base.replace("- one", "- uno") + &row("b", "PASS");
    let theirs = base.replace("- one", "- eins") + &row("c", "PASS");
    for marker in [7, 12] {
        let merged = merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), marker);
        let swapped = merge(base.as_bytes(), theirs.as_bytes(), ours.as_bytes(), marker);
        assert_eq!(merged, swapped);
        assert_eq!(merged.conflicts, 1);
        let runs = ["<", "=", ">"].map(|c| c.repeat(marker));
        let want = format!(
            "{}{} one side\n- eins\n{}\n- uno\n{} other side\n{}{}",
            base.replace("- one\n", ""),
            runs[0],
            runs[1],
            runs[2],
            row("b", "PASS"),
            row("c", "PASS")
        );
        assert_eq!(String::from_utf8(merged.bytes).unwrap(), want);
    }
}

#[test]
fn tables_of_both_sides_stay_whole() {
    let table = |name: &str| {
        format!("\n| {name} | cost | risk | note |\n|---|:--|---|---|\n| x | 1 | 2 | y |\n")
    };
    let line = "2026-01-02 | s | DECISION | a | b\n";
    let decisions = crate::view::View::Decisions.header();
    for (base, other) in [
        (view(&["a"]), row("b", "PASS")),
        (HDR.to_owned(), row("b", "PASS")),
        (format!("{decisions}{line}"), line.replace("| a |", "| b |")),
        (decisions.to_owned(), line.to_owned()),
    ] {
        let ours = format!("{base}{}", table("opt"));
        assert_eq!(clean(&base, &ours, &base), ours);
        let text = clean(&base, &ours, &format!("{base}{other}"));
        assert!(text.contains(&table("opt")), "{text}");
        let text = clean(&base, &ours, &format!("{base}{}", table("way")));
        assert!(
            text.contains(&table("opt")) && text.contains(&table("way")),
            "{text}"
        );
    }
    // A file that has a title alone, and a table on each side.
    let text = clean(
        "# D\n",
        &format!("# D\n{}", table("opt")),
        &format!("# D\n{}", table("way")),
    );
    for name in ["| opt |", "| way |"] {
        assert_eq!(text.matches(name).count(), 1, "{text}");
    }
    assert_eq!(text.matches("|---|:--|---|---|").count(), 2, "{text}");
}

#[test]
fn leftover_markers_are_dropped() {
    let base = view(&["a"]);
    let ours = format!(
        "{base}<<<<<<< HEAD\n{}=======\n{}>>>>>>> x\n",
        row("b", "PASS"),
        row("c", "PASS")
    );
    assert_eq!(
        clean(&base, &ours, &view(&["a", "d"])),
        view(&["a", "b", "c", "d"])
    );
}

#[test]
fn decisions_keep_their_bytes() {
    let line = "2026-01-02 | scope | DEVIATION | text with | pipes — and → | why\n";
    let other = "2026-01-01 | scope | DECISION | x | y\n";
    let head = "# DECISIONS\n# kinds\n";
    let text = clean(head, &format!("{head}{line}"), &format!("{head}{other}"));
    assert_eq!(text, format!("{head}{other}{line}"));
}

#[test]
fn what_is_no_view_keeps_both_sides() {
    let merged = merge(
        b"not a ledger\0",
        b"not a ledger\0",
        view(&["b"]).as_bytes(),
        7,
    );
    assert_eq!(merged.conflicts, 1);
    let text = String::from_utf8_lossy(&merged.bytes).into_owned();
    assert!(
        text.contains("not a ledger\0") && text.contains(&row("b", "PASS")),
        "{text}"
    );
    assert_eq!(merge(b"\0", b"", view(&["b"]).as_bytes(), 7).conflicts, 0);
}

#[test]
fn the_plain_join_holds_every_line_of_both() {
    assert_eq!(join(b"a\nb", b"b\r\nc\n"), b"a\nb\nc\n");
    assert_eq!(join(b"", b"c"), b"c\n");
}

#[test]
fn a_line_that_both_sides_added_keeps_its_place_among_those_of_one() {
    let table = "| need | weight |\n|---|---|\n| speed | 0 |\n";
    let base = format!("{HDR}{table}");
    let ours = format!("{HDR}{table}- text 4\n{}", row("t0", "PASS"));
    let theirs = format!("{HDR}- text 0\n- text 4\n## BAR\n");
    let merged = merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), 7);
    let text = String::from_utf8(merged.bytes.clone()).unwrap();
    let place = |line: &str| text.find(line).unwrap();
    assert!(
        place("text 0") < place("text 4") && place("text 4") < place("## BAR"),
        "{text}"
    );
    for side in [ours.as_bytes(), theirs.as_bytes(), &merged.bytes] {
        assert_eq!(merge(base.as_bytes(), &merged.bytes, side, 7), merged);
    }
}

#[test]
fn sides_that_hold_each_other_in_another_order_swap() {
    let table = "| need | weight |\n|---|---|\n| speed | 4 |\n";
    let [base, ours, theirs] = ["- x\n", &format!("- x\n{table}"), &format!("{table}- x\n")]
        .map(|text| format!("{HDR}{text}{}", row("a", "PASS")));
    assert_eq!(clean(&base, &ours, &theirs), clean(&base, &theirs, &ours));
}

#[test]
fn ten_thousand_rows_merge_at_once() {
    let tasks = |prefix: &str, count: usize| -> String {
        (0..count)
            .map(|at| row(&format!("{prefix}{at}"), "PASS"))
            .collect()
    };
    let base = format!("{HDR}{}", tasks("o", 5000));
    let ours = format!("{base}{}\n## BAR\n- x\n", tasks("a", 5000));
    let theirs = format!("{base}{}\n## BAR\n- y\n", tasks("b", 5000));
    let text = clean(&base, &ours, &theirs);
    assert_eq!(
        text.lines().filter(|line| line.starts_with("| ")).count(),
        15_001
    );
}

/// One thing in a generated view.
#[derive(Clone, Debug)]
enum Part {
    Row(u8),
    Decision(u8),
    Text(u8),
    Blank,
    Heading(u8),
    Table(u8),
    Malformed(u8),
}

impl Part {
    fn text(&self) -> String {
        match self {
            Self::Row(n) => row(&format!("t{n}"), "PASS"),
            Self::Decision(n) => format!("2026-01-{:02} | s | DECISION | what | why\n", n + 1),
            Self::Text(n) => format!("- text {n}\n"),
            Self::Blank => "\n".to_owned(),
            Self::Heading(n) => format!("## BAR — {n}\n"),
            Self::Table(n) if n % 2 == 0 => {
                format!("| need | weight |\n|---|---|\n| speed | {n} |\n")
            }
            Self::Table(n) => {
                format!(
                    "\n| o{n} | a | b | c |\n|---|---|---|:{}|\n| A | 1 | 2 | {n} |\n",
                    "-".repeat(*n as usize)
                )
            }
            Self::Malformed(n) => format!("| m{n} | c | PASS |\n"),
        }
    }
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        4 => (0u8..12).prop_map(Part::Row),
        1 => (0u8..5).prop_map(Part::Decision),
        3 => (0u8..8).prop_map(Part::Text),
        2 => Just(Part::Blank),
        1 => (0u8..4).prop_map(Part::Heading),
        1 => (0u8..6).prop_map(Part::Table),
        1 => (0u8..3).prop_map(Part::Malformed),
    ]
}

#[derive(Clone, Debug)]
enum Edit {
    Insert(usize, Part),
    Remove(usize),
    Replace(usize, Part),
    Append(Part),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        1 => (0usize..20, part()).prop_map(|(at, part)| Edit::Insert(at, part)),
        1 => (0usize..20).prop_map(Edit::Remove),
        1 => (0usize..20, part()).prop_map(|(at, part)| Edit::Replace(at, part)),
        3 => part().prop_map(Edit::Append),
    ]
}

fn edited(base: &[Part], edits: &[Edit]) -> Vec<Part> {
    let mut parts = base.to_vec();
    for edit in edits {
        match edit {
            Edit::Insert(at, part) => parts.insert(at % (parts.len() + 1), part.clone()),
            Edit::Append(part) => parts.push(part.clone()),
            Edit::Remove(_) | Edit::Replace(..) if parts.is_empty() => {}
            Edit::Remove(at) => {
                parts.remove(at % parts.len());
            }
            Edit::Replace(at, part) => {
                let at = at % parts.len();
                parts[at] = part.clone();
            }
        }
    }
    parts
}

fn file(parts: &[Part], style: u8) -> Vec<u8> {
    let mut text = if style & 1 == 0 {
        HDR.to_owned()
    } else {
        String::new()
    };
    // Without a header the first table would be the view's own.
    let parts = parts
        .iter()
        .filter(|part| style & 1 == 0 || !matches!(part, Part::Table(_)));
    text.extend(parts.map(Part::text));
    if style & 2 != 0 {
        text = text.replace('\n', "\r\n");
    }
    if style & 4 != 0 {
        text = text.trim_end_matches(['\r', '\n']).to_owned();
    }
    if style & 8 != 0 {
        text.insert(0, '\u{feff}');
    }
    text.into_bytes()
}

#[derive(Clone)]
struct Three([Vec<u8>; 3]);

impl std::fmt::Debug for Three {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (name, bytes) in ["O", "A", "B"].iter().zip(&self.0) {
            write!(f, "\n--- {name}\n{}", String::from_utf8_lossy(bytes))?;
        }
        Ok(())
    }
}

/// Three files in which no line of text stands twice: of a line that does, nobody can say which one a
/// side took away.
fn distinct() -> impl Strategy<Value = Three> {
    three().prop_map(|Three(files)| {
        Three(files.map(|bytes| {
            let mut seen = BTreeSet::new();
            let lines = bytes.split_inclusive(|byte| *byte == b'\n');
            let kept = lines.filter(|line| {
                let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
                seen.insert(line.trim_ascii().to_vec())
            });
            kept.flatten().copied().collect()
        }))
    })
}

fn three() -> impl Strategy<Value = Three> {
    let edits = || prop::collection::vec(edit(), 0..6);
    let style = || prop_oneof![4 => Just(0u8), 1 => 0u8..16];
    (
        prop::collection::vec(part(), 0..12),
        edits(),
        edits(),
        [style(), style(), style()],
    )
        .prop_map(|(base, ours, theirs, styles)| {
            Three([
                file(&base, styles[0]),
                file(&edited(&base, &ours), styles[1]),
                file(&edited(&base, &theirs), styles[2]),
            ])
        })
}

fn rows(bytes: &[u8]) -> BTreeSet<String> {
    let document = Document::parse(bytes);
    document
        .lines
        .iter()
        .filter_map(|line| line.row())
        .map(|row| row.key.clone())
        .collect()
}

/// Each line of text with how often it stands.
fn texts(bytes: &[u8]) -> BTreeMap<Vec<u8>, usize> {
    let mut found = BTreeMap::new();
    for (_, line) in Document::parse(bytes).body() {
        if !line.bytes.starts_with(b"# ") && matches!(line.kind, Kind::Text | Kind::Malformed(_)) {
            *found.entry(line.bytes.to_vec()).or_insert(0) += 1;
        }
    }
    found
}

fn order(bytes: &[u8]) -> Vec<String> {
    let document = Document::parse(bytes);
    let mut seen = BTreeSet::new();
    let keys = document
        .lines
        .iter()
        .filter_map(|line| line.row())
        .map(|row| row.key.clone());
    keys.filter(|key| seen.insert(key.clone())).collect()
}

/// Says whether two of the files hold two lines in two orders: then a line moved, and a move is a
/// removal and an addition.
fn cross(Three(files): &Three) -> bool {
    let orders = files.each_ref().map(|bytes| {
        let document = Document::parse(bytes);
        let lines = document.lines.iter().map(|line| match line.row() {
            Some(row) => row.key.clone().into_bytes(),
            None => line.bytes.to_vec(),
        });
        let mut seen = BTreeSet::new();
        lines
            .filter(|line| seen.insert(line.clone()))
            .collect::<Vec<_>>()
    });
    [(0, 1), (0, 2), (1, 2)].into_iter().any(|(left, right)| {
        let common = |of: usize, other: usize| -> Vec<&Vec<u8>> {
            let lines = orders[of].iter();
            lines.filter(|line| orders[other].contains(line)).collect()
        };
        common(left, right) != common(right, left)
    })
}

fn shown(result: &[u8]) -> String {
    format!("--- M\n{}", String::from_utf8_lossy(result))
}

proptest! {
    #![proptest_config(ProptestConfig {
        max_global_rejects: 1 << 20,
        ..ProptestConfig::default()
    })]

    #[test]
    fn swapped_sides_give_the_same_bytes(files in three()) {
        let Three([base, ours, theirs]) = &files;
        let merged = merge(base, ours, theirs, 7);
        let swapped = merge(base, theirs, ours, 7);
        prop_assert_eq!(String::from_utf8_lossy(&merged.bytes), String::from_utf8_lossy(&swapped.bytes), "{}", shown(&merged.bytes));
    }

    #[test]
    fn every_row_of_both_sides_stands_once(files in three()) {
        let Three([base, ours, theirs]) = &files;
        let merged = merge(base, ours, theirs, 7);
        let want: BTreeSet<String> = rows(ours).union(&rows(theirs)).cloned().collect();
        prop_assert_eq!(rows(&merged.bytes), want.clone(), "{}", shown(&merged.bytes));
        let document = Document::parse(&merged.bytes);
        let count = document.lines.iter().filter(|line| line.row().is_some()).count();
        prop_assert_eq!(count, want.len());
        prop_assert!(document.terminated || merged.bytes.is_empty());
    }

    #[test]
    fn no_added_line_is_lost_and_none_made_up(files in three()) {
        let [base, ours, theirs] = files.0.each_ref().map(|bytes| texts(bytes));
        let merged = merge(&files.0[0], &files.0[1], &files.0[2], 7);
        let text = texts(&merged.bytes);
        let count = |of: &BTreeMap<Vec<u8>, usize>, line| of.get(line).copied().unwrap_or(0);
        for line in base.keys().chain(ours.keys()).chain(theirs.keys()) {
            let [o, a, b] = [&base, &ours, &theirs].map(|of| count(of, line));
            let once = o.max(a).max(b) <= 1;
            let least = if once && (a > o || b > o || a + b > 1) { 1 } else { 0 };
            let bounds = least..=(a + b);
            prop_assert!(
                bounds.contains(&count(&text, line)),
                "{:?} {:?}\n{}", String::from_utf8_lossy(line), bounds, shown(&merged.bytes)
            );
        }
        let extra: Vec<_> = text.keys().filter(|line| count(&ours, line) + count(&theirs, line) == 0).collect();
        prop_assert!(extra.is_empty(), "{:?}\n{}", extra, shown(&merged.bytes));
    }

    #[test]
    fn merging_rows_again_changes_nothing(files in three()) {
        let rows_only = files.0.each_ref().map(|bytes| order(bytes).join("\n").into_bytes());
        let [base, ours, theirs] = &rows_only;
        let merged = merge(base, ours, theirs, 7);
        prop_assert_eq!(merged.conflicts, 0);
        for side in [ours, theirs, &merged.bytes] {
            prop_assert_eq!(&merge(base, &merged.bytes, side, 7), &merged);
        }
    }

    #[test]
    fn any_bytes_merge(base in any::<Vec<u8>>(), ours in any::<Vec<u8>>(), theirs in any::<Vec<u8>>()) {
        let merged = merge(&base, &ours, &theirs, 7);
        prop_assert_eq!(&merge(&base, &theirs, &ours, 7), &merged);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        max_global_rejects: 1 << 20,
        ..ProptestConfig::default()
    })]

    #[test]
    fn merging_again_changes_nothing(files in distinct()) {
        prop_assume!(!cross(&files));
        let Three([base, ours, theirs]) = &files;
        let merged = merge(base, ours, theirs, 7);
        prop_assume!(merged.conflicts == 0);
        for side in [ours, theirs, &merged.bytes] {
            let again = merge(base, &merged.bytes, side, 7);
            prop_assert_eq!(String::from_utf8_lossy(&again.bytes), String::from_utf8_lossy(&merged.bytes), "{}", shown(&merged.bytes));
        }
    }
}
