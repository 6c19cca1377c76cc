use super::{Decoded, MAX_LINE, Quarantine, Seal, decode};
use crate::model::{Body, Defer, Draft, Opened, Owner, Record, ReplicaId, TaskId};

fn seal() -> Seal {
    Seal {
        time: 1_796_070_245_123,
        seq: 7,
        replica: ReplicaId::new([1; 8]),
    }
}

fn sample() -> Record {
    let mut draft = Draft::new(Body::Defer(Defer {
        reason: "flaky \"upstream\"".to_owned(),
    }));
    draft.owner = Some(Owner::new("S1").unwrap());
    draft.task = Some(TaskId::new("T-7").unwrap());
    draft.opened = Opened::Never;
    draft.seal(seal()).unwrap()
}

fn with_id(rest: &str) -> String {
    let time = serde_json::from_str::<serde_json::Value>(&format!("{{{rest}"))
        .ok()
        .and_then(|value| value["time"].as_u64())
        .unwrap_or(0);
    format!("{{\"id\":\"{}\",{rest}", super::hash_id(time, rest))
}

#[test]
fn a_sealed_draft_reads_back() {
    let record = sample();
    assert_eq!(
        decode(record.line().as_bytes()),
        Ok(Decoded::Record(Box::new(record.clone())))
    );
    assert_eq!(record.id.time(), record.time);
    assert!(record.line().contains(r#""opened":null"#));
}

#[test]
fn the_keys_stand_in_the_order_of_the_format() {
    let line = sample().line().to_owned();
    let at = |key: &str| line.find(&format!("\"{key}\":")).unwrap();
    let keys = [
        "id", "v", "kind", "time", "seq", "replica", "owner", "task", "opened", "reason",
    ];
    assert!(
        keys.windows(2).all(|pair| at(pair[0]) < at(pair[1])),
        "{line}"
    );
}

#[test]
fn any_changed_byte_is_noticed() {
    let line = sample().line().to_owned();
    for at in 0..line.len() {
        let mut bytes = line.clone().into_bytes();
        bytes[at] ^= 1;
        assert!(decode(&bytes).is_err(), "byte {at}");
    }
}

#[test]
fn unknown_members_and_kinds_survive() {
    let rest = r#""v":1,"kind":"omen","time":5,"seq":1,"zeta":[1,{"x":null}]}"#;
    let line = with_id(rest);
    let Ok(Decoded::Record(record)) = decode(line.as_bytes()) else {
        panic!("{line}")
    };
    assert_eq!(record.line(), line);
    assert_eq!(record.body, Body::Other("omen".to_owned()));
}

#[test]
fn a_newer_version_is_cargo() {
    let line = with_id(r#""v":2,"time":5,"task":"T-7","outcome":{"of":"another format"}}"#);
    assert!(
        matches!(decode(line.as_bytes()), Ok(Decoded::Newer { version: 2, task: Some(task), .. }) if task == "T-7")
    );
}

#[test]
fn hostile_lines_are_set_aside() {
    let long = with_id(&format!(
        r#""v":1,"kind":"x","time":5,"seq":1,"pad":"{}"}}"#,
        "x".repeat(MAX_LINE)
    ));
    assert!(matches!(
        decode(long.as_bytes()),
        Err(Quarantine::TooLong(_))
    ));
    assert_eq!(decode(b"\xff\xfe"), Err(Quarantine::NotUtf8));
    assert_eq!(decode(b""), Err(Quarantine::NoId));
    assert_eq!(decode(b"{\"v\":1}"), Err(Quarantine::NoId));
    for rest in [
        r#""v":1,"kind":"defer","kind":"task","time":5,"seq":1,"reason":"x"}"#,
        r#""v":1,"kind":"defer","time":5,"seq":1.5,"reason":"x"}"#,
        r#""v":1,"kind":"defer","time":5,"seq":1,"reason":"x"} trailing"#,
    ] {
        assert!(
            matches!(
                decode(with_id(rest).as_bytes()),
                Err(Quarantine::NotJson(_))
            ),
            "{rest}"
        );
    }
    for rest in [
        r#""v":1,"kind":"defer","time":5,"seq":1}"#,
        r#""v":1,"kind":"defer","time":5,"seq":1,"reason":"x","task":7}"#,
        r#""v":1,"kind":"defer","time":5,"seq":1,"reason":"x","opened":"short"}"#,
        r#""kind":"defer","time":5,"seq":1,"reason":"x"}"#,
    ] {
        assert!(
            matches!(decode(with_id(rest).as_bytes()), Err(Quarantine::Field(_))),
            "{rest}"
        );
    }
}

#[test]
fn the_ids_time_is_the_records() {
    let rest = r#""v":1,"kind":"defer","time":5,"seq":1,"reason":"x"}"#;
    let line = format!("{{\"id\":\"{}\",{rest}", super::hash_id(6, rest));
    assert_eq!(decode(line.as_bytes()), Err(Quarantine::WrongTime));
}
