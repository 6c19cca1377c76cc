use proptest::prelude::*;

use super::{End, Value, first};

fn text(json: &[u8], name: &str) -> Option<String> {
    Some(first(json)?.get(name)?.text()?.into_owned())
}

fn session(json: &[u8]) -> Option<String> {
    text(json, "session_id")
}

#[test]
fn what_stands_elsewhere_loses_nothing() {
    let deep = format!("{}1{}", "[".repeat(300), "]".repeat(300));
    for value in [
        &b"{\"stdout\":\"\\ud83d\"}"[..],
        b"{\"stdout\":\"\xff\xfe\"}",
        b"{\"stdout\":\"\x01\"}",
        b"{\"stdout\":\"\\u0000\"}",
        b"{\"n\":1e999}",
        b"\"text with \\\" and } and ]\"",
        b"[{\"type\":\"text\"},null,7]",
        b"-0.5e+3",
        deep.as_bytes(),
    ] {
        let mut json = b"{\"a\":".to_vec();
        json.extend_from_slice(value);
        json.extend_from_slice(b" , \"session_id\" : \"S1\"}");
        assert_eq!(
            session(&json).unwrap(),
            "S1",
            "{}",
            String::from_utf8_lossy(value)
        );
        assert_eq!(first(&json).unwrap().get("a").unwrap().raw(), value);
        assert_eq!(End::default().find(&json), Some(json.len()));
    }
}

#[test]
fn a_byte_order_mark_and_a_second_document_are_stepped_over() {
    let json = b"\xef\xbb\xbf \n{\"session_id\":\"S1\"}\n{\"session_id\":\"S2\"}";
    assert_eq!(session(json).unwrap(), "S1");
    assert_eq!(End::default().find(json), Some(3 + 2 + 19));
}

#[test]
fn the_last_of_two_members_with_one_name_counts() {
    let json = br#"{"session_id":"A","session\u005fid":"B"}"#;
    assert_eq!(session(json).unwrap(), "B");
}

#[test]
fn other_values_are_no_text() {
    for value in ["5", "null", "true", "[]", "{}", "[\"S1\"]"] {
        let json = format!("{{\"session_id\":{value}}}");
        assert_eq!(session(json.as_bytes()), None, "{value}");
    }
    for json in ["", "{", "[]", "null", "{}", "5", "{\"session_id\"", "x"] {
        assert_eq!(session(json.as_bytes()), None, "{json}");
    }
}

#[test]
fn escapes_are_decoded() {
    let json = br#"{"a":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00 \ud83d \ud83dx \u12 \x"}"#;
    assert_eq!(
        text(json, "a").unwrap(),
        "\"\\/\u{8}\u{c}\n\r\té😀 \u{fffd} \u{fffd}x \u{fffd}12 x"
    );
}

#[test]
fn bytes_that_are_not_utf8_come_as_they_are() {
    let value = Value(b"\"a\\n\xff\xfe\"");
    assert_eq!(&*value.bytes().unwrap(), b"a\n\xff\xfe");
    assert_eq!(value.text().unwrap(), "a\n\u{fffd}\u{fffd}");
}

#[test]
fn truth_may_be_spelled_as_a_string() {
    for (value, truth) in [
        ("true", true),
        ("\"true\"", true),
        ("\"True\"", true),
        ("false", false),
        ("\"false\"", false),
        ("1", false),
        ("null", false),
    ] {
        assert_eq!(Value(value.as_bytes()).truth(), truth, "{value}");
    }
}

#[test]
fn a_document_that_arrives_in_pieces_ends_where_it_ends() {
    let json = br#" {"a":"}\"]","b":[{}]} x"#;
    let mut end = End::default();
    for arrived in 0..json.len() - 2 {
        assert_eq!(end.find(&json[..arrived]), None, "{arrived}");
    }
    assert_eq!(end.find(json), Some(json.len() - 2));
}

#[test]
fn the_values_of_an_array_come_in_order() {
    let value = first(br#"[1, "a" ,{"b":[2]},[]]"#).unwrap();
    let items: Vec<&[u8]> = value.items().map(Value::raw).collect();
    assert_eq!(items, [&b"1"[..], b"\"a\"", b"{\"b\":[2]}", b"[]"]);
    assert_eq!(first(b"{}").unwrap().items().count(), 0);
}

fn value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        ".*".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(".*", inner, 0..6)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

/// The same tree, read with our reader alone.
fn read(value: Value<'_>) -> serde_json::Value {
    match value.raw().first() {
        Some(b'{') => serde_json::Value::Object(
            value
                .members()
                .map(|(key, value)| (key.text().unwrap().into_owned(), read(value)))
                .collect(),
        ),
        Some(b'[') => serde_json::Value::Array(value.items().map(read).collect()),
        Some(b'"') => value.text().unwrap().into(),
        _ => serde_json::from_slice(value.raw()).unwrap(),
    }
}

proptest! {
    #[test]
    fn every_document_is_read_as_it_is(value in value()) {
        for json in [serde_json::to_string(&value), serde_json::to_string_pretty(&value)] {
            let json = json.unwrap();
            prop_assert_eq!(&read(first(json.as_bytes()).unwrap()), &value);
        }
    }

    #[test]
    fn no_bytes_break_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        crate::payload::fuzz(&bytes);
    }

    #[test]
    fn nothing_cut_or_changed_breaks_the_reader(value in value(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut json = serde_json::to_vec(&value).unwrap();
        let at = at.index(json.len());
        crate::payload::fuzz(&json[..at]);
        json[at] = byte;
        crate::payload::fuzz(&json);
    }
}

#[test]
fn any_value_is_written_as_json_that_every_reader_takes() {
    let read = |json: &[u8]| -> serde_json::Value {
        serde_json::from_str(&first(json).unwrap().json()).unwrap()
    };
    for (json, wanted) in [
        (
            &br#"{"a": "b\n\u00e9\ud83d\ude00\"", "c": [1.50, null]}"#[..],
            "{\"a\":\"b\\né😀\\\"\",\"c\":[1.5,null]}",
        ),
        (b"{\"a\":\"x\\ud800y\"}", "{\"a\":\"x\u{fffd}y\"}"),
        (b"{\"a\":\"x\x01\ty\"}", "{\"a\":\"x\\u0001\\ty\"}"),
        (b"[\"x\xff\xfe\", \"\\q\"]", "[\"x\u{fffd}\u{fffd}\",\"q\"]"),
        (b"\"\\ufffd\"", "\"\u{fffd}\""),
        (b"{\n \"a\": 1}", "{\"a\":1}"),
    ] {
        assert_eq!(read(json).to_string(), wanted);
    }
    let plain = b"{\"a\": 1.50}";
    assert_eq!(first(plain).unwrap().json(), "{\"a\": 1.50}");
}
