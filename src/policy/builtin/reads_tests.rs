//! What a built-in says it reads is what its answer hangs on.

use serde_json::{Value, json};

use super::{Answer, Builtin, NAMES, Reader, Spec};
use crate::policy::{
    EventName, Facts, Part, Shared, derive, diagnostic::Source, shell::Shell, yaml,
};

const PARTS: [Part; 6] = [
    Part::Work,
    Part::Gate,
    Part::Verdict,
    Part::Turn,
    Part::Head,
    Part::Content,
];

/// Which of the parts hold the other of two values.
type Other = [bool; PARTS.len()];

/// Returns the built-in with a value for each of its parameters.
fn built(spec: &'static Spec) -> Builtin {
    let text: String = spec
        .own
        .iter()
        .map(|param| format!("{}: {}\n", param.name, param.kind.sample()))
        .collect();
    let source = Source {
        path: String::new(),
        text,
    };
    let documents = yaml::documents(&source.into()).unwrap();
    let mut reader = Reader { faults: Vec::new() };
    let params = reader.read(spec, 0, documents.first());
    assert!(reader.faults.is_empty(), "{}", spec.name);
    Builtin { spec, params }
}

fn facts(event: EventName, command: &str, other: Other) -> Facts {
    let [work, gate, verdict, turn, head, content] = other;
    let changed = json!(["src/a"]);
    let work = match work {
        true => json!({"tracked": true, "touched": changed, "uncommitted": changed}),
        false => json!({"tracked": true}),
    };
    let mine = if gate {
        json!([{"id": "t"}])
    } else {
        json!([])
    };
    let last = json!({"id": "r", "result": "PASS", "fresh": verdict});
    let turn = match turn {
        true => json!({"calls": 900, "blocks": 900, "repeats": 900, "passed": ["cargo test"]}),
        false => json!({}),
    };
    let text = if content {
        "<<<<<<< TODO\n=======\n>>>>>>> b\n".repeat(200)
    } else {
        String::new()
    };
    let data = match event {
        EventName::ToolCall => derive::command_data(Shell::Posix, command),
        EventName::FileWrite => json!({
            "path": "b", "via": "tool", "content": text, "lines": text.lines().count(),
            "bytes": text.len(), "known": true,
        }),
        _ => Value::Null,
    };
    let branch = if head { "src/main" } else { "other" };
    let event_value = json!({"tool": "Bash", "turn": turn, "branch": branch, "root": "/r", "cwd": "", "data": data});
    let shared = Shared::new(work, json!({"mine": mine, "last": last})).unwrap();
    Facts::new(event, event_value, &shared).unwrap()
}

/// Returns the parts that change the answer where nothing else does.
fn found(builtin: &Builtin) -> Vec<Part> {
    let all = 1 << PARTS.len();
    let is_matched = |event, command, bits: usize| {
        let other = std::array::from_fn(|at| bits & (1 << at) != 0);
        matches!(
            builtin.check(&facts(event, command, other)),
            Answer::Match(_)
        )
    };
    let hangs_on = |at: usize| {
        builtin.spec.events.iter().any(|event| {
            ["git push", "git push origin HEAD"].iter().any(|command| {
                (0..all).any(|bits| {
                    is_matched(*event, command, bits)
                        != is_matched(*event, command, bits ^ (1 << at))
                })
            })
        })
    };
    let parts = PARTS.iter().enumerate().filter(|(at, _)| hangs_on(*at));
    parts.map(|(_, part)| *part).collect()
}

#[test]
fn every_built_in_declares_what_it_reads() {
    for spec in NAMES {
        assert_eq!(found(&built(spec)), spec.reads, "{}", spec.name);
    }
}
