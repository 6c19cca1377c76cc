//! What the language definition of CEL says of its core, as far as expressions here may use it.

use serde_json::json;

use super::tests::value;

/// An expression and its value; `error` stands for any error.
const CASES: &[(&str, &str)] = &[
    // Literals: integers in two bases, floats, both quotes, escapes, raw texts.
    ("0x10", "16"),
    ("-0x10", "-16"),
    ("9223372036854775807", "9223372036854775807"),
    ("1e3 == 1000.0", "true"),
    (".5 == 0.5", "true"),
    ("'a' == \"a\"", "true"),
    ("'it\\'s'", "\"it's\""),
    ("size('\\u00e9')", "1"),
    ("size('\\x41\\101')", "2"),
    ("r'\\n' == '\\\\n'", "true"),
    ("size('\\n')", "1"),
    // Arithmetic: integers truncate toward zero, the remainder has the sign of the dividend, and
    // overflow and division by zero are errors.
    ("7 / 2", "3"),
    ("-7 / 2", "-3"),
    ("-7 % 3", "-1"),
    ("7 % -3", "1"),
    ("1 / 0", "error"),
    ("1 % 0", "error"),
    ("9223372036854775807 + 1", "error"),
    ("-9223372036854775807 - 2", "error"),
    ("9223372036854775807 * 2", "error"),
    ("2 + 3 * 4", "14"),
    ("(2 + 3) * 4", "20"),
    ("10 - 3 - 2", "5"),
    ("1 + 1.0", "error"),
    ("'a' + 'b'", "\"ab\""),
    ("[1] + [2, 3]", "[1, 2, 3]"),
    ("-(-5)", "5"),
    // Logic is commutative in its errors: what decides, decides.
    ("true || 1 / 0 > 0", "true"),
    ("1 / 0 > 0 || true", "true"),
    ("false && 1 / 0 > 0", "false"),
    ("1 / 0 > 0 && false", "false"),
    ("1 / 0 > 0 || false", "error"),
    ("1 / 0 > 0 && true", "error"),
    ("!true", "false"),
    ("!!true", "true"),
    ("true ? 1 : 1 / 0", "1"),
    ("false ? 1 / 0 : 2", "2"),
    ("true ? (false ? 1 : 2) : 3", "2"),
    ("false ? 1 : true ? 2 : 3", "2"),
    // Equality goes over types of numbers, and deep; unequal types are unequal, not an error.
    ("1 == 1.0", "true"),
    ("1 != 2", "true"),
    ("[1, [2]] == [1, [2]]", "true"),
    ("[1, 2] == [2, 1]", "false"),
    ("{'a': 1, 'b': 2} == {'b': 2, 'a': 1}", "true"),
    ("null == null", "true"),
    ("event.data.content == null", "true"),
    ("'1' == string(1)", "true"),
    // Order: numbers over types, texts by code point, false before true.
    ("1 < 1.5", "true"),
    ("2.5 > 2", "true"),
    ("'a' < 'b'", "true"),
    ("'Z' < 'a'", "true"),
    ("'a' < 'ab'", "true"),
    ("false < true", "true"),
    ("3 >= 3", "true"),
    // Membership and access.
    ("2 in [1, 2]", "true"),
    ("3 in [1, 2]", "false"),
    ("'a' in {'a': 1}", "true"),
    ("'b' in {'a': 1}", "false"),
    ("[1, 2, 3][0]", "1"),
    ("[1][1]", "error"),
    ("[1][-1]", "error"),
    ("{'a': 1}['a']", "1"),
    ("{'a': 1}['b']", "error"),
    ("{'a': {'b': 2}}.a.b", "2"),
    ("has({'a': 1}.a)", "true"),
    ("has({'a': 1}.b)", "false"),
    // Sizes count code points and members.
    ("size('')", "0"),
    ("size('é日')", "2"),
    ("'abc'.size()", "3"),
    ("size([1, 2])", "2"),
    ("size({'a': 1})", "1"),
    // Texts.
    ("'abc'.contains('b')", "true"),
    ("'abc'.contains('')", "true"),
    ("'abc'.startsWith('ab')", "true"),
    ("'abc'.endsWith('bc')", "true"),
    ("'abc'.endsWith('b')", "false"),
    ("'abc'.matches('b')", "true"),
    ("'abc'.matches('^b')", "false"),
    ("'a\\nb'.matches('(?s)a.b')", "true"),
    // Conversions.
    ("int('42')", "42"),
    ("int('x')", "error"),
    ("int(3.9)", "3"),
    ("int(-3.9)", "-3"),
    ("double('1.5') == 1.5", "true"),
    ("string(true)", "\"true\""),
    ("string(-1)", "\"-1\""),
    // Macros.
    ("[1, 2, 3].all(x, x > 0)", "true"),
    ("[1, 2, 3].all(x, x > 1)", "false"),
    ("[].all(x, x > 0)", "true"),
    ("[1, 2, 3].exists(x, x == 2)", "true"),
    ("[].exists(x, true)", "false"),
    ("[1, 2, 2].exists_one(x, x == 2)", "false"),
    ("[1, 2, 3].exists_one(x, x == 2)", "true"),
    ("[1, 2, 3].map(x, x * 2)", "[2, 4, 6]"),
    ("[1, 2, 3].map(x, x > 1, x * 2)", "[4, 6]"),
    ("[1, 2, 3].filter(x, x > 1)", "[2, 3]"),
    ("[1, 0].exists(x, 1 / x > 0)", "true"),
    ("[0, 1].exists(x, 1 / x > 0)", "true"),
    ("[0].exists(x, 1 / x > 0)", "error"),
    ("[[1], [2, 3]].map(l, l.map(x, x + 1))", "[[2], [3, 4]]"),
    // Optional values.
    ("{'a': 1}[?'a'].orValue(7)", "1"),
    ("{'a': 1}[?'b'].orValue(7)", "7"),
];

#[test]
fn the_core_of_the_language_is_as_its_definition_says() {
    let mut wrong = Vec::new();
    for (source, expected) in CASES {
        let found = value(source, json!({}));
        let is_error = found.starts_with("error: ");
        if found != *expected && !(is_error && *expected == "error") {
            wrong.push(format!("{source}: expected {expected}, got {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
