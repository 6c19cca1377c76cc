use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::{Checks, Expression, Patterns, Purpose, context, json_value, shown};
use crate::policy::{
    event::EventName::{self, FileWrite, ToolCall, TurnEnd},
    schema,
};

fn compile(
    source: &str,
    events: &[EventName],
    purpose: Purpose,
) -> (Option<Expression>, Vec<String>, Patterns) {
    let mut patterns = Patterns::default();
    let checks = Checks { events, purpose };
    let (expression, faults) = Expression::new(source, checks, &mut patterns);
    let shown = faults
        .into_iter()
        .map(|fault| format!("{} {}: {}", fault.code, fault.at, fault.message))
        .collect();
    (expression, shown, patterns)
}

fn faults(source: &str, events: &[EventName]) -> Vec<String> {
    compile(source, events, Purpose::Condition).1
}

fn root(name: &str, value: Json, event: EventName) -> cel::Value {
    json_value(&schema::complete(name, value, event).unwrap())
}

pub(super) fn value(source: &str, data: Json) -> String {
    let (expression, faults, patterns) = compile(source, &[FileWrite], Purpose::Text);
    let Some(expression) = expression else {
        return faults.join("; ");
    };
    let work = json!({"foreign": ["a", "b"], "call": {"written": ["w"]}});
    let roots = [
        (
            "event",
            root(
                "event",
                json!({"name": "file.write", "data": data}),
                FileWrite,
            ),
        ),
        ("work", root("work", work, FileWrite)),
        ("gate", root("gate", json!({}), FileWrite)),
    ];
    let context = context(&Arc::new(patterns), roots);
    match expression.evaluate(&context) {
        Ok(value) => shown(&value),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn expressions_have_values() {
    for (source, expected) in [
        (
            "event.data.via != 'shell' && size(work.foreign) > 0",
            "true",
        ),
        ("work.call != null && size(work.call.written) > 0", "true"),
        ("event.data.lines + 1", "401"),
        ("event.data.path.matches('^src/.*[.]rs$')", "true"),
        ("matches(event.data.path, '^x')", "false"),
        ("glob(event.data.path, 'src/**')", "true"),
        ("event.data.path.glob('*.md')", "false"),
        ("under(event.data.path, 'src')", "true"),
        ("under(event.data.path, 'sr')", "false"),
        ("added('a\\nb', 'b\\nc\\nb')", "[\"c\", \"b\"]"),
        ("lines('a\\nb')", "[\"a\", \"b\"]"),
        (
            "plural(1, 'file') + ', ' + plural(2, 'file')",
            "\"1 file, 2 files\"",
        ),
        ("work.foreign.exists(p, p == 'b')", "true"),
        ("work.foreign.map(p, p + '!')", "[\"a!\", \"b!\"]"),
        (
            "event.?data.?nothing.orValue('x')",
            "E06 13: unknown field 'event.data.nothing' at file.write",
        ),
        ("has(event.data.content)", "true"),
        ("event.data.content == null", "true"),
        ("'a,b'.split(',').join('-')", "\"a-b\""),
        ("event.input.x.y", "error: there is no field 'x'"),
        (
            "event.data.content.contains('x')",
            "error: found no matching overload for 'contains' applied to 'null_type.(string)'",
        ),
        (
            "1 + 'a'",
            "error: 'add' does not apply to an integer and a text",
        ),
    ] {
        let data = json!({"path": "src/a.rs", "via": "tool", "lines": 400});
        let found = value(source, data);
        assert!(
            found == expected || found.starts_with(&format!("{expected}; ")),
            "{source}: {found}"
        );
    }
}

const FAULTS: &[(&str, &[EventName], &str)] = &[
    (
        "size(work.foregin) > 0",
        &[TurnEnd],
        "E06 10: unknown field 'work.foregin', did you mean 'foreign'?",
    ),
    (
        "wrok.mine == []",
        &[TurnEnd],
        "E06 0: unknown variable 'wrok', did you mean 'work'?",
    ),
    (
        "event.data.path == 'a'",
        &[TurnEnd],
        "E06 11: unknown field 'event.data.path' at turn.end",
    ),
    (
        "event.data.path == 'a'",
        &[TurnEnd, FileWrite],
        "W01 11: 'event.data.path' is absent at some of the events; test it with has() or event.name",
    ),
    (
        "work.tracked.x",
        &[TurnEnd],
        "E06 13: 'work.tracked' has no fields",
    ),
    (
        "siez(work.mine) > 0",
        &[TurnEnd],
        "E04 0: unknown function 'siez', did you mean 'size'?",
    ),
    (
        "work.mine",
        &[TurnEnd],
        "E05 0: this is a list, not true or false",
    ),
    (
        "work.mine > 0",
        &[TurnEnd],
        "E05 0: a list is compared with a number; use size()",
    ),
    (
        "work.mine == 0",
        &[TurnEnd],
        "E05 0: a list never equals a number",
    ),
    (
        "work.mine && true",
        &[TurnEnd],
        "E05 0: a list stands where true or false is needed",
    ),
    (
        "'true'",
        &[TurnEnd],
        "E05 0: this is a text, not true or false",
    ),
    (
        "event.data.content.contains('x')",
        &[FileWrite],
        "W01 11: 'event.data.content' may be null; test 'event.data.content != null' first",
    ),
    (
        "size(work.call.written) > 0",
        &[ToolCall],
        "W01 10: 'work.call' may be null; test 'work.call != null' first",
    ),
    (
        "event.data.path.matches('(')",
        &[FileWrite],
        "E08 16: '(' is not a regular expression: unclosed group",
    ),
    (
        "event.data.path.matches(event.data.via)",
        &[FileWrite],
        "E08 16: the pattern of 'matches' must be written out as a text",
    ),
    (
        "glob(event.data.path, '{a,b}')",
        &[FileWrite],
        "E08 0: '{a,b}' holds braces, which git patterns do not have; write one pattern for each",
    ),
    (
        "event.data.path.matches('(?=a)')",
        &[FileWrite],
        "E08 16: '(?=a)' is not a regular expression: look-around, including look-ahead and look-behind, is not supported",
    ),
    (
        "lists.range(100000) == []",
        &[TurnEnd],
        "E09 6: 'lists.range' takes a number written out, up to 10000",
    ),
    (
        "timestamp('x') == null",
        &[TurnEnd],
        "E04 0: there is no 'timestamp': expressions see no time",
    ),
    (
        "'a\tb' == event.name",
        &[TurnEnd],
        "W07 2: a raw tab stands in the text; write '\\t'",
    ),
    (
        "'a\nb' == event.name",
        &[TurnEnd],
        "E04 2: the expression holds the control character U+000A",
    ),
    (
        "true\u{b}",
        &[TurnEnd],
        "E04 4: the expression holds the control character U+000B",
    ),
    (
        "event.input.exists(k, k == 'a')",
        &[ToolCall],
        "W02 19: a map is gone through in no fixed order",
    ),
    ("event.input.a.exists(k, k == 'a')", &[ToolCall], ""),
    (
        "{'a': 1}.exists(k, k == 'a')",
        &[ToolCall],
        "W02 16: a map is gone through in no fixed order",
    ),
    ("", &[ToolCall], "E11 0: the expression is empty"),
];

#[test]
fn faults_name_their_place() {
    for (source, events, expected) in FAULTS {
        assert_eq!(faults(source, events).join("; "), *expected, "{source}");
    }
    let syntax = faults("size(work.mine > 0", &[TurnEnd]).join("; ");
    assert!(syntax.starts_with("E04 18: not an expression"), "{syntax}");
}

#[test]
fn tested_fields_are_no_fault() {
    for (source, events) in [
        (
            "event.data.content != null && event.data.content.contains('x')",
            &[FileWrite][..],
        ),
        (
            "work.call != null && size(work.call.written) > 0",
            &[ToolCall],
        ),
        (
            "has(event.data.path) && event.data.path == 'a'",
            &[TurnEnd, FileWrite],
        ),
        (
            "event.name == 'file.write' && event.data.path == 'a'",
            &[TurnEnd, FileWrite],
        ),
        ("event.data.?path.orValue('') == 'a'", &[TurnEnd, FileWrite]),
        ("event.branch == 'main'", &[TurnEnd]),
        ("event.tool in ['Write', 'Edit']", &[ToolCall]),
        (
            "event.data.argv != null && event.data.argv.exists(a, a[0] == 'rm')",
            &[ToolCall],
        ),
        ("gate.mine.exists(t, t.id == 'x')", &[TurnEnd]),
    ] {
        assert_eq!(faults(source, events), Vec::<String>::new(), "{source}");
    }
}

#[test]
fn limits_hold_on_a_small_stack() {
    let sources = [
        "1+".repeat(2_000) + "1 == 1",
        "!".repeat(4_000) + "true",
        "-".repeat(4_000) + "1 == 1",
        "(".repeat(4_000),
        "(".repeat(2_000) + "true" + &")".repeat(2_000),
        "(".repeat(40) + "true" + &")".repeat(4),
        "[".repeat(2_000) + &"]".repeat(2_000),
        "x".to_owned() + &"[0]".repeat(1_300),
        "x".to_owned() + &".f()".repeat(1_000),
        "true ? ".repeat(500) + "true" + &" : true".repeat(500),
        "{1:".repeat(1_000) + "1" + &"}".repeat(1_000),
        "a.b".to_owned() + &".c".repeat(2_000),
        "work.mine".to_owned() + &".map(x, x)".repeat(300),
        "work.mine.all(a, work.mine.all(b, work.mine.all(c, a == b)))".to_owned(),
        "x".repeat(5_000),
    ];
    for source in sources {
        let head: String = source.chars().take(40).collect();
        let (expression, faults, _) = compile(&source, &[TurnEnd], Purpose::Condition);
        // The parser takes pairs of signs and of parentheses away.
        let is_plain = source.starts_with(['!', '-']) || source.ends_with("))))");
        if !is_plain {
            assert!(expression.is_none(), "{head}");
            let refused = faults.iter().any(|fault| fault.starts_with("E0"));
            assert!(refused, "{head} {faults:?}");
        }
    }
}

#[test]
fn expressions_are_written_back_as_they_mean() {
    for source in [
        "event.data.via != 'shell' && size(work.foreign) > 0",
        "a || b && !(c || d)",
        "(1 + 2) * 3 - -4 == 5 % 6",
        "x ? y : z ? 1 : 2",
        "work.mine.all(p, p.startsWith('a'))",
        "work.mine.exists(p, p in ['x', 'y'])",
        "work.mine.exists_one(p, p == 'x')",
        "work.mine.map(p, p + '/')",
        "work.mine.map(p, p != '', p + '/')",
        "work.mine.filter(p, p.size() > 1)",
        "has(event.data.x) && event.?data['k'] == {'a': [1, 2.5, null, true]}[?0]",
        "'it\\'s\\n\\\\'",
        "1 - (2 - 3)",
    ] {
        let tree = super::parser().parse(source).unwrap();
        assert_eq!(super::text::unparse(&tree), source);
    }
}

#[test]
fn mutants_change_one_thing_each() {
    let (expression, ..) = compile(
        "work.mine.exists(p, p == 'a') && !(size(work.foreign) > 0) || event.data.path.matches('^a')",
        &[FileWrite],
        Purpose::Condition,
    );
    let mutants: Vec<String> = expression
        .unwrap()
        .mutants()
        .into_iter()
        .map(|m| m.source)
        .collect();
    assert_eq!(
        mutants,
        [
            "work.mine.exists(p, p == 'a') && !(size(work.foreign) > 0) && event.data.path.matches('^a')",
            "work.mine.exists(p, p == 'a') || !(size(work.foreign) > 0) || event.data.path.matches('^a')",
            "work.mine.exists(p, p != 'a') && !(size(work.foreign) > 0) || event.data.path.matches('^a')",
            "work.mine.exists(p, p == 'a~') && !(size(work.foreign) > 0) || event.data.path.matches('^a')",
            "work.mine.exists(p, p == 'a') && size(work.foreign) > 0 || event.data.path.matches('^a')",
            "work.mine.exists(p, p == 'a') && !(size(work.foreign) >= 0) || event.data.path.matches('^a')",
            "work.mine.exists(p, p == 'a') && !(size(work.foreign) > 1) || event.data.path.matches('^a')",
        ]
    );
}

#[test]
fn both_parsers_agree() {
    let env = super::environment();
    for source in [
        "event.data.via != 'shell' && size(work.foreign) > 0",
        "work.call != null && size(work.call.written) > 0",
        "work.mine.exists(p, glob(p, '*.rs')) ? 1 : 2",
        "[1, 2].map(x, x * 2).filter(y, y > 1) == [2, 4]",
        "{'a': 1}['a'] == 1 && !(false || true)",
        "event.?data.?x.orValue('') in ['', \"b\", r'\\d']",
        "-1 - -2 < 3u",
        "1 +",
        "a.b(",
        "'",
    ] {
        let ours = super::parser().parse(source).ok();
        let theirs = env.compile(source).ok();
        let ours = ours.map(|tree| super::text::unparse(&tree));
        let theirs = theirs.map(|program| super::text::unparse(program.expression()));
        assert_eq!(ours, theirs, "{source}");
    }
}

#[test]
fn every_part_is_traced() {
    let (expression, _, patterns) = compile(
        "event.data.via != 'shell' && size(work.foreign) > 0",
        &[FileWrite],
        Purpose::Condition,
    );
    let roots = [
        (
            "event",
            root("event", json!({"data": {"via": "shell"}}), FileWrite),
        ),
        ("work", root("work", json!({}), FileWrite)),
        ("gate", root("gate", json!({}), FileWrite)),
    ];
    let traced = expression
        .unwrap()
        .trace(&context(&Arc::new(patterns), roots));
    assert_eq!(format!("{:?}", traced.outcome), "Value(Bool(false))");
    assert_eq!(traced.parts.len(), 2);
    assert_eq!(traced.parts[0].text, "event.data.via != 'shell'");
    assert_eq!(traced.parts[0].parts[0].text, "event.data.via");
    assert!(matches!(
        traced.parts[1].outcome,
        super::trace::Outcome::Unused
    ));
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { failure_persistence: None, ..Default::default() })]

    #[test]
    fn no_expression_makes_it_panic(
        source in r#"((event|work|gate|size|x|map|all|matches|glob|in|true|null|1|'a'|"b"|[.()\[\]{},?:!&|=<>+*/% -])){1,40}"#
    ) {
        let _ = value(&source, json!({"path": "a"}));
    }

    #[test]
    fn no_bytes_make_it_panic(source in "\\PC{0,80}") {
        let _ = value(&source, json!({"path": "a"}));
    }
}
