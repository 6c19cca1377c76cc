use std::sync::Arc;

use serde_json::json;

use super::{
    Checks, Expression, Patterns, Purpose, context, json_value,
    meter::{self, STEPS},
    shown,
};
use crate::policy::{event::EventName::FileWrite, schema};

/// Less than a policy may take, so that the tests are quick.
const FEW: u64 = 50_000;

/// Evaluates with a content of so many lines; returns the value and the steps it took.
fn run(source: &str, (lines, allowed): (usize, u64)) -> (String, u64) {
    let mut patterns = Patterns::default();
    let checks = Checks {
        events: &[FileWrite],
        purpose: Purpose::Text,
    };
    let (expression, faults) = Expression::new(source, checks, &mut patterns);
    let expression = expression.unwrap_or_else(|| panic!("{source}: {faults:?}"));
    let event = json!({"data": {"path": "a", "content": "abc\n".repeat(lines), "before": ""}});
    let root = |name: &str, value| json_value(&schema::complete(name, value, FileWrite).unwrap());
    let roots = [
        ("event", root("event", event)),
        ("work", root("work", json!({"foreign": ["a", "b"]}))),
        ("gate", root("gate", json!({}))),
    ];
    let context = context(&Arc::new(patterns), roots);
    meter::allow(allowed);
    let value = expression.evaluate(&context).map(|value| shown(&value));
    let value = value.unwrap_or_else(|error| error);
    (value, allowed - meter::left())
}

fn exhausted() -> String {
    format!("it takes more than {STEPS} steps")
}

#[test]
fn what_grows_beyond_the_budget_is_stopped_before_it_is_made() {
    let sums = vec!["event.data.content"; 60].join(" + ");
    let texts = vec!["event.data.content"; 200].join(", ");
    for source in [
        "event.data.content.replace('', event.data.content)",
        "event.data.content.replace('abc', event.data.content, 100000)",
        "lines(event.data.content).join(event.data.content)",
        "lines(event.data.content).map(l, event.data.content).join('')",
        "lines(event.data.content).map(l, l + event.data.content)",
        "lines(event.data.content).filter(l, event.data.content.contains(l + 'x'))",
        "lines(event.data.content).all(l, !event.data.content.contains(l + 'x'))",
        "lines(event.data.content).exists(l, event.data.content.matches(r'x\\d+y'))",
        "lines(event.data.content).exists_one(l, event.data.content.endsWith(l))",
        "lines(event.data.content).all(a, lines(event.data.content).all(b, a == b))",
        "lines(event.data.content).map(l, event.data.content == l, l)",
        "lines(event.data.content).map(a, lines(event.data.content))",
        "lists.range(10000).map(a, event.data.content.split(''))",
        "lists.range(10000).all(a, lists.range(10000).all(b, true))",
        "lists.range(10000).distinct()",
        "lists.range(9000).exists(a, event.data.content.lowerAscii() == '')",
        "lists.range(9000).map(a, [event.data.content, event.data.content])",
        "lists.range(9000).map(a, {'a': event.data.content})",
        "lists.range(9000).exists(a, '%s'.format([event.data.content]) == '')",
        "lists.range(9000).exists(a, added(event.data.before, event.data.content) == [])",
        "lists.range(9000).exists(a, strings.quote(event.data.content) == '')",
        "lists.range(9000).exists(a, event.data.content.reverse() == '')",
        "lists.range(9000).exists(a, 'abc' in lines(event.data.content) && false)",
        &sums,
        &format!("[{texts}]"),
    ] {
        let (value, taken) = run(source, (25_000, FEW));
        assert_eq!(value, exhausted(), "{source}");
        assert_eq!(taken, FEW, "{source}");
    }
}

#[test]
fn what_a_policy_asks_of_a_large_file_fits() {
    for (source, value) in [
        ("size(event.data.content) == 120000", "true"),
        (
            "lines(event.data.content).exists(l, l.contains('x'))",
            "false",
        ),
        ("lines(event.data.content).all(l, l.size() < 80)", "true"),
        (
            "lines(event.data.content).filter(l, l.matches(r'^\\s*x')).size()",
            "0",
        ),
        (
            "added(event.data.before, event.data.content).exists(l, l == 'x')",
            "false",
        ),
        (
            "event.data.content.replace('a', 'b').contains('bbc')",
            "true",
        ),
        ("event.data.content.split('x').size()", "1"),
    ] {
        let (found, taken) = run(source, (30_000, STEPS));
        assert_eq!(found, value, "{source} took {taken}");
    }
}

#[test]
fn steps_are_the_same_on_every_run() {
    let source = "lines(event.data.content).map(l, l + 'x').join(',').size()";
    let first = run(source, (1_000, STEPS));
    assert_eq!(first.0, "4999");
    assert_eq!(run(source, (1_000, STEPS)), first);
    assert!(run(source, (2_000, STEPS)).1 > first.1);
}

#[test]
fn nothing_absorbs_what_is_exhausted() {
    let long = "lists.range(10000).distinct() == []";
    for source in [
        format!("{long} || true"),
        format!("!({long}) && false"),
        format!("[1, 2].exists(x, x == 2 || {long})"),
        format!("[1, 2].all(x, {long} && x == 1)"),
        format!("optional.of({long}).orValue(true)"),
    ] {
        let (value, _) = run(&source, (1, FEW));
        assert_eq!(value, exhausted(), "{source}");
    }
}
