use super::{Node, Yaml, general, plain::documents, tests::source};

/// Returns a node with the places of all in it.
fn shown(node: &Node) -> String {
    let value = match &node.value {
        Yaml::List(items) => {
            let items: Vec<_> = items.iter().map(shown).collect();
            format!("[{}]", items.join(", "))
        }
        Yaml::Map(entries) => {
            let entries = entries.iter();
            let entries: Vec<_> = entries
                .map(|(key, value)| format!("{}: {}", shown(key), shown(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        other => format!("{other:?}"),
    };
    format!("{}-{} {value}", node.at, node.end)
}

/// Reads both ways; returns whether the plain one answers, having compared them.
fn agrees(text: &str) -> bool {
    let Some(plain) = documents(text) else {
        return false;
    };
    let plain: Vec<_> = plain.iter().map(shown).collect();
    let general = general(&source(text)).map_err(|fault| fault.to_string());
    let general: Vec<_> = general.unwrap_or_else(|error| panic!("{text:?}: {error}"));
    let general: Vec<_> = general.iter().map(shown).collect();
    assert_eq!(plain, general, "{text}");
    true
}

const PLAIN: [&str; 18] = [
    "on: [file.write]\n---\non: [turn.end]\nwhen: { cel: 'a' }\n---\n- a\n",
    "# one\na:\n  b: c\n\n---\n# two\nd: e",
    "id: p0\non: [file.write]\nwhen: { builtin: max-lines, with: { max: 400 } }\n",
    "# head\n\non: [tool.call, turn.end] # tail\nmessage: Keep it short, please (#1)\n",
    "when: { cel: \"event.data.path.endsWith('.x2') && size(event.data.content) > 9\" }\n",
    "when:\n  all:\n    - cel: 'a == ''b'''\n    - not: { builtin: x }\n    - any:\n        - cel: \"c\"\n",
    "tests:\n  - name: one\n    event: file.write\n    data: { path: a.rs, n: 0 }\n\n  - name: two\n",
    "then:\n  - restore\n  - block: { message: \"no \\\"x\\\" and \\\\ here\" }\n",
    "a: yes\nb: on\nc: off\nd: no\nenabled: true\nother: false\n",
    "a: 12\nb: 0\nc: 999999999999999999\nd: a:b\ne: x#y\n",
    "  id: p\n  on: [file.write]\n",
    "a: []\nb: {}\nc: [[a], {b: c}]\n",
    "a: [b]",
    "a: 'x' # c\nb: \"y\"    \nc: z   \n",
    "a:\n  # comment\n  b: c\n # other\nd: e\n",
    "a:   b\nc:    [ d ,  e ]\n",
    "- a\n- b: c\n  d: e\n-   f\n",
    "a: b c, d [e] {f} \"g\" 'h' * & ! | > % @ `\n",
];

#[test]
fn plain_files_read_as_the_general_parser_reads_them() {
    for text in PLAIN {
        assert!(agrees(text), "{text}");
    }
}

#[test]
fn everything_else_is_left_to_the_general_parser() {
    for text in [
        "",
        "# nothing\n",
        "a: 1\n--- b\n",
        "---\na: 1\n",
        "a: 1\n---\n",
        "a: 1\n---\n---\nb: 2\n",
        "a: 1\n---",
        "a: 1\n---\n# b\n",
        "a:\n---\nb: 2\n",
        "a:\n  - ---\n",
        "a: 1\n...\nb: 2\n",
        "a: &x 1\n",
        "a: *x\n",
        "a: !t x\n",
        "a: |\n  x\n",
        "a: >\n  x\n",
        "a: b\n  c\n",
        "a: \"b\n  c\"\n",
        "a: [b,\n  c]\n",
        "a:\n",
        "a: ~\n",
        "a: null\n",
        "a: 1.5\n",
        "a: 0x1\n",
        "a: 01\n",
        "a: -1\n",
        "a: .x\n",
        "a: 1a\n",
        "a: 1\na: 2\n",
        "{a: 1, a: 2}\n",
        "<<: {a: 1}\n",
        "\"a\": 1\n",
        "? a\n: b\n",
        "a: b: c\n",
        "a: b:\n",
        "a:\tb\n",
        "a: b\r\n",
        "a: é\n",
        "a: \"\\n\"\n",
        "a: [b: c]\n",
        "a: [b, ]\n",
        "a: {b}\n",
        "a: {b:c}\n",
        "a: [b\n",
        "a: \"b\n",
        "a: 'b\n",
        "a: \"b\" c\n",
        "a: [b] c\n",
        "a:\n- b\n",
        "a:\n    b: c\n  d: e\n",
        "a: b\n c: d\n",
        "True: a\n",
        "a: TRUE\n",
        "a: Null\n",
        "- a\nb: c\n",
        "a: b\n- c\n",
        "- - a\n",
        "-a\n",
        "%YAML 1.2\n",
        "...\n",
        "a: \"b\"# c\n",
        "a: 1000000000000000000\n",
        "a: {b: c}#d\n",
        "a: #b\n",
        "a b: c\n",
        "a: [-]\n",
        "a: .nan\n",
    ] {
        assert!(documents(text).is_none(), "{text:?}");
    }
}

/// Each plain file with one byte taken out, doubled or put in the place of another.
#[test]
fn a_changed_file_reads_alike_where_it_is_read() {
    let mut read = 0;
    for text in PLAIN {
        for at in 0..text.len() {
            let (before, after) = (&text[..at], &text[at + 1..]);
            read += usize::from(agrees(&format!("{before}{after}")));
            for put in ["\n", "-", ":", "#", "\"", "}", ",", "1"] {
                read += usize::from(agrees(&format!("{before}{put}{}", &text[at..])));
                read += usize::from(agrees(&format!("{before}{put}{after}")));
            }
        }
    }
    assert!(read > 2_000, "{read}");
}

#[test]
fn a_large_file_is_left_to_the_general_parser() {
    let keys = |count: usize| -> String { (0..count).map(|n| format!("k{n}: 1\n")).collect() };
    assert!(agrees(&keys(64)) && documents(&keys(65)).is_none());
    let items = |count: usize| format!("a: [{}]\n", vec!["b"; count].join(", "));
    assert!(agrees(&items(4_900)) && documents(&items(5_000)).is_none());
    let deep = |depth: usize| format!("a: {}{}\n", "[".repeat(depth), "]".repeat(depth));
    assert!(agrees(&deep(16)) && documents(&deep(17)).is_none());
}
