use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    Checks, Content, Expression, Patterns, Purpose, Roots, context, json_value, meter, quick::holds,
};
use crate::policy::{effort, event::EventName, schema};

fn facts() -> [Value; 3] {
    let event = json!({"tool": "Write", "session": "S1", "branch": null,
        "input": {"long": {"a key of more than sixty-four bytes, so that its length is a step by itself": 1},
        "a-b": "x", "n": 1.5, "deep": {"k": [1, "two", null, true]}, "big": u64::MAX},
        "data": {"path": "src/a.rs", "content": "one\ntwo tó\n\nthree\n", "lines": 4,
            "bytes": 19, "known": true}});
    let work = json!({"foreign": ["b", "c/d.rs"], "mine": [], "reasons": {"b": "why"},
        "call": {"written": ["a"]}});
    let fill = |name: &str, value| schema::complete(name, value, EventName::FileWrite).unwrap();
    [
        fill("event", event),
        fill("work", work),
        fill("gate", json!({"open": 2, "mine": [{"id": "T-1"}]})),
    ]
}

fn accepted(source: &str) -> Option<(Expression, Patterns)> {
    effort::begin();
    let mut patterns = Patterns::default();
    let checks = Checks {
        events: &[EventName::FileWrite],
        purpose: Purpose::Condition,
    };
    let (expression, _) = Expression::new(source, checks, &mut patterns);
    Some((expression?, patterns))
}

/// Evaluates with the crate and here; returns what each came to and the steps it took.
fn both(source: &str, allowed: u64) -> [(Option<bool>, u64); 2] {
    let (expression, patterns) = accepted(source).unwrap_or_else(|| panic!("{source}"));
    let [event, work, gate] = facts();
    let patterns = Arc::new(patterns);
    let roots = Roots {
        event: &event,
        work: &work,
        gate: &gate,
        patterns: &patterns,
        content: &Content::new(event["data"]["content"].as_str().unwrap_or_default()),
    };
    let values = [("event", &event), ("work", &work), ("gate", &gate)];
    let context = context(
        &patterns,
        values.map(|(name, value)| (name, json_value(value))),
    );
    meter::allow(allowed);
    let slow = expression.holds(&context).ok();
    let slow = (slow, allowed - meter::left());
    meter::allow(allowed);
    let quick = holds(&expression.metered, &roots);
    [slow, (quick, allowed - meter::left())]
}

/// Conditions that are answered without the crate.
const ANSWERED: [&str; 35] = [
    "work.call != null && size(work.call.written) > 0",
    "size(event.input.long) == 1 && event.input.long != null",
    "event.input['a-b'] == 'x'",
    "event.data.path.endsWith('.rs') && size(event.data.content) > 9",
    "event.data.path.matches('^src/.*[.]rs$') || event.data.lines >= 400",
    "lines(event.data.content).exists(l, l.contains('tó'))",
    "lines(event.data.content).exists(l, l.contains('never'))",
    "lines(event.data.content).all(l, size(l) < 80 && l != 'x')",
    "lines(event.data.content).all(l, !l.startsWith('t'))",
    "work.foreign.exists(f, f == event.data.path || f.startsWith('c/'))",
    "work.foreign.exists(f, work.mine.all(m, m != f))",
    "work.mine.exists(f, f == 'a')",
    "size(work.foreign) > 0 && size(work.reasons) == 1",
    "size(work.call.written) > 0 && size(work.mine) == 0",
    "event.tool in ['Write', 'Edit']",
    "'b' in work.foreign",
    "!('x' in work.foreign)",
    "event.branch == null",
    "null != event.branch",
    "event.tool != null && event.tool == 'Write'",
    "event.data.content == 'x' ? true : event.data.known",
    "has(event.input.nothing) || has(event.input.deep)",
    "has(event.input.deep.k)",
    "has(event.data.before)",
    "event.input.deep.k.size() == 4",
    "'two' in event.input.deep.k",
    "event.input.deep.k.exists(x, x == 1)",
    "event.input.deep.k.exists(x, x == null)",
    "event.input.deep.k.all(x, x != 'three')",
    "under(event.data.path, 'src') && glob(event.data.path, '*.rs')",
    "gate.open < 3 && gate.open <= 2 && !(gate.open > 2)",
    "event.data.content.size() == 18",
    "true",
    "[true, false].exists(x, x)",
    "[1, 2, 3].exists(x, [3, 4].exists(y, x == y))",
];

/// Conditions that are left to the crate, which may fail at them.
const LEFT: [&str; 17] = [
    "event.input['n'] > 1",
    "event.input.nothing == 'x'",
    "event.data.before.contains('x') || true",
    "event.input.deep.k.exists(x, x.contains('two'))",
    "event.input.big > 3",
    "event.input.deep.k[0] == 1",
    "event.data.path + 'x' == 'src/a.rsx'",
    "work.foreign == ['b', 'c/d.rs']",
    "work.foreign.filter(f, f == 'b').size() == 1",
    "work.foreign.map(f, f + 'x').exists(f, f == 'bx')",
    "work.reasons.exists(r, r == 'b')",
    "event.data.lines + 1 == 5",
    "event.data.content.split('o').size() > 2",
    "event.?input.hasValue()",
    "event.data.path > 'a'",
    "lists.range(3).exists(x, x == 2)",
    "gate.mine.exists(t, t.id == 'T-1' && t == {'id': 'T-1', 'since': null})",
];

#[test]
fn what_is_answered_is_what_the_crate_answers_for_as_many_steps() {
    for source in ANSWERED {
        let [slow, quick] = both(source, 100_000);
        assert!(slow.0.is_some(), "{source}");
        assert_eq!(quick, slow, "{source}");
    }
}

#[test]
fn what_is_not_certain_is_left_to_the_crate_and_costs_no_step() {
    for source in LEFT {
        let [_, quick] = both(source, 100_000);
        assert_eq!(quick, (None, 0), "{source}");
    }
}

#[test]
fn where_the_steps_do_not_suffice_nothing_is_answered() {
    for source in ANSWERED {
        let [(_, steps), _] = both(source, 100_000);
        if steps > 0 {
            let [slow, quick] = both(source, steps - 1);
            assert_eq!((slow.0, quick), (None, (None, 0)), "{source}");
            assert_eq!(
                both(source, steps)[1].0,
                both(source, steps)[0].0,
                "{source}"
            );
        }
    }
}

/// Makes a condition of what these numbers choose.
fn made(choices: &mut impl Iterator<Item = usize>, depth: usize) -> String {
    const ATOMS: [&str; 22] = [
        "event.tool",
        "event.branch",
        "event.data.path",
        "event.data.content",
        "event.data.lines",
        "event.data.known",
        "event.input.n",
        "event.input.big",
        "event.input.nothing",
        "event.input.deep.k",
        "work.foreign",
        "work.mine",
        "work.reasons",
        "work.call",
        "gate.mine",
        "gate.open",
        "'b'",
        "3",
        "null",
        "true",
        "x",
        "y",
    ];
    let choice = choices.next().unwrap_or(0);
    if depth == 0 {
        return ATOMS[choice % ATOMS.len()].to_owned();
    }
    let mut part = || made(choices, depth - 1);
    let (one, two) = (part(), part());
    match choice % 20 {
        0 => format!("({one} && {two})"),
        1 => format!("({one} || {two})"),
        2 => format!("!({one})"),
        3 => format!("({one} == {two})"),
        4 => format!("({one} != {two})"),
        5 => format!("({one} < {two})"),
        6 => format!("({one} >= {two})"),
        7 => format!("({one} in {two})"),
        8 => format!("size({one})"),
        9 => format!("{one}.size()"),
        10 => format!("{one}.contains({two})"),
        11 => format!("{one}.startsWith({two})"),
        12 | 13 => format!("{one}.exists(x, {two})"),
        14 | 15 => format!("{one}.all(y, {two})"),
        16 => format!("({one} ? {two} : {})", part()),
        17 => format!("lines({one})"),
        18 => format!("[{one}, {two}]"),
        _ => format!("{one}.matches('^[a-c]')"),
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config {
        failure_persistence: None, cases: 2_000, ..Default::default()
    })]

    #[test]
    fn whatever_is_answered_is_what_the_crate_answers(
        choices in proptest::collection::vec(0_usize..1_000, 40),
    ) {
        let mut choices = choices.into_iter();
        let depth = 1 + choices.next().unwrap_or(0) % 4;
        let source = made(&mut choices, depth);
        if accepted(&source).is_some() {
            let [slow, quick] = both(&source, 10_000);
            proptest::prop_assert!(quick.0.is_none() || quick == slow, "{source} {slow:?} {quick:?}");
        }
    }
}
