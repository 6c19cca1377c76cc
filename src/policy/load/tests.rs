use super::{File, Policies};
use crate::policy::{Action, Code, EventName, OnError, Scope};

pub(crate) fn file(scope: Scope, name: &str, text: &str) -> File {
    File {
        scope,
        path: format!(".operator/policies/{name}"),
        text: Ok(text.to_owned()),
    }
}

pub(crate) fn load(text: &str) -> Policies {
    Policies::load(&[file(Scope::Project, "p.yaml", text)], &|_| None)
}

fn faults(policies: &Policies) -> Vec<String> {
    policies
        .faults()
        .iter()
        .filter(|fault| fault.code != Code::W05)
        .map(|fault| fault.to_string().replace(".operator/policies/", ""))
        .collect()
}

fn ids(policies: &Policies) -> Vec<&str> {
    policies
        .list()
        .iter()
        .map(|policy| policy.id.as_str())
        .collect()
}

const FIRST: &str = "on: [file.write]
when: { builtin: max-lines, with: { max: 400 } }
then: [restore, block] # a file tool is refused up front; a file a shell wrote is restored
";
const OTHERS: &str = "on: [file.write]
when: { cel: \"event.data.via != 'shell' && size(work.foreign) > 0\" }
---
on: [tool.result, tool.error]
when: { cel: \"work.call != null && size(work.call.foreign) > 0 && size(work.call.written) > 0\" }
then: [restore, block]
---
on: [turn.end]
when: { cel: \"size(work.uncommitted) > 0\" }
";

#[test]
fn the_four_policies_load_as_they_are() {
    let policies = Policies::load(
        &[
            file(Scope::Project, "max-lines.yaml", FIRST),
            file(Scope::Project, "respect.yaml", OTHERS),
        ],
        &|_| None,
    );
    assert_eq!(faults(&policies), Vec::<String>::new());
    assert_eq!(
        ids(&policies),
        ["max-lines", "respect#1", "respect#2", "respect#3"]
    );
    assert_eq!(policies.list()[1].actions(), [Action::Block]);
    assert_eq!(
        policies.list()[2].actions(),
        [Action::Restore, Action::Block]
    );
    assert!(policies.list().iter().all(super::Policy::needs_work));
    let at_turn_end: Vec<&str> = policies
        .on(&[EventName::TurnEnd])
        .map(|policy| policy.id.as_str())
        .collect();
    assert_eq!(at_turn_end, ["respect#3"]);
}

#[test]
fn a_file_may_hold_one_policy_several_documents_or_a_list() {
    let one = load("on: [turn.end]\n");
    assert_eq!(ids(&one), ["p"]);
    let several = load("on: [turn.end]\n---\nid: named\non: [turn.end]\n");
    assert_eq!(ids(&several), ["p#1", "named"]);
    let list = load("policies:\n  - on: [turn.end]\n  - { id: b, on: [turn.end] }\n");
    assert_eq!(ids(&list), ["p#1", "b"]);
    assert_eq!(ids(&load("")), Vec::<&str>::new());
}

const FAULTS: &[(&str, &str)] = &[
    (
        "on: [turn.end]\nwhne: {}\n",
        "p.yaml:2:1: unknown field 'whne', did you mean 'when'? (E02)",
    ),
    (
        "when: { cel: 'true' }\n",
        "p.yaml:1:1: the policy lacks 'on': the events it stands on (E02)",
    ),
    (
        "on: turn.end\n",
        "p.yaml:1:5: 'on' is a text, not a list (E02)",
    ),
    ("on: []\n", "p.yaml:1:5: 'on' is empty (E02)"),
    (
        "on: [turn.ned]\n",
        "p.yaml:1:6: unknown event 'turn.ned', did you mean 'turn.end'? (E03)",
    ),
    (
        "on: [turn.end, turn.end]\n",
        "p.yaml:1:16: 'turn.end' stands twice in 'on' (E02)",
    ),
    ("- 1\n", "p.yaml:1:1: a policy is a map, not a list (E02)"),
    (
        "on: [turn.end]\nid: A b\n",
        "p.yaml:2:5: the id 'A b' is not 1 to 64 of a-z, 0-9 and '-' (E02)",
    ),
    (
        "on: [turn.end]\nwhen:\n",
        "p.yaml:2:5: 'when' has no condition; leave it out for a policy that always applies (E11)",
    ),
    (
        "on: [turn.end]\nwhen: {}\n",
        "p.yaml:2:7: 'when' has no condition; leave it out for a policy that always applies (E11)",
    ),
    (
        "on: [turn.end]\nwhen: { cel: }\n",
        "p.yaml:2:12: 'cel' is empty; an expression that begins with '!' or '#' must be quoted (E11)",
    ),
    (
        "on: [turn.end]\nwhen: { cel: true }\n",
        "p.yaml:2:14: 'cel' is a boolean, not an expression in quotes (E02)",
    ),
    (
        "on: [turn.end]\nwhen: { cel: !work.tracked }\n",
        "p.yaml:2:27: unsupported tag `!work.tracked`; a value that begins with '!' must be quoted (E01)",
    ),
    (
        "on: [turn.end]\nwhen: { module: x }\n",
        "p.yaml:2:17: a condition cannot be a module: policies are data, not code; use cel or builtin (E02)",
    ),
    (
        "on: [turn.end]\nwhen: { cel: 'true', not: { cel: 'true' } }\n",
        "p.yaml:2:22: a condition has one of cel, builtin, all, any, not; put 'cel' and 'not' under 'all' (E02)",
    ),
    (
        "on: [turn.end]\nwhen: { with: { a: 1 } }\n",
        "p.yaml:2:7: 'with' stands without 'builtin' (E11)",
    ),
    (
        "on: [turn.end]\nwhen: { cel: 'work.tracked', with: { a: 1 } }\n",
        "p.yaml:2:36: 'with' stands only beside 'builtin' (E02)",
    ),
    (
        "on: [turn.end]\nwhen: { cel: 'size(work.foregin) > 0' }\n",
        "p.yaml:2:25: unknown field 'work.foregin', did you mean 'foreign'? (E06)",
    ),
    (
        "on: [turn.end]\nwhen:\n  cel: |\n    work.tracked &&\n    size(work.foregin) > 0\n",
        "p.yaml:5:15: unknown field 'work.foregin', did you mean 'foreign'? (E06)",
    ),
    (
        "on: [turn.end]\nwhen: { cel: \"'a\\\\'b' == event.nmae\" }\n",
        "p.yaml:2:32: unknown field 'event.nmae', did you mean 'name'? (E06)",
    ),
    (
        "on: [turn.end]\nwhen: { cel: 'work.mine' }\n",
        "p.yaml:2:15: this is a list, not true or false (E05)",
    ),
    (
        "on: [file.write]\nwhen: { builtin: max-line, with: { max: 1 } }\n",
        "p.yaml:2:18: unknown builtin 'max-line', did you mean 'max-lines'? (E03)",
    ),
    (
        "on: [file.write]\nwhen: { builtin: max-lines, with: { mxa: 1, max: 1 } }\n",
        "p.yaml:2:37: 'max-lines' has no parameter 'mxa', did you mean 'max'? (E03)",
    ),
    (
        "on: [file.write]\nwhen: { builtin: max-lines }\n",
        "p.yaml:2:18: 'max-lines' needs the parameter 'max' (E03)",
    ),
    (
        "on: [file.write]\nwhen: { builtin: max-lines, with: { max: '1' } }\n",
        "p.yaml:2:42: 'max' of 'max-lines' must be a number, 0 or more, not a text (E02)",
    ),
    (
        "on: [turn.end]\nwhen: { builtin: max-lines, with: { max: 1 } }\n",
        "p.yaml:2:18: 'max-lines' has nothing to look at at turn.end; it stands on file.write (E03)",
    ),
    (
        "on: [file.write]\nwhen: { builtin: forbid-text, with: { patterns: ['('] } }\n",
        "p.yaml:2:50: '(' is not a regular expression: unclosed group (E08)",
    ),
    (
        "on: [file.write]\npaths: ['{a,b}']\n",
        "p.yaml:2:9: '{a,b}' holds braces, which git patterns do not have; write one pattern for each (E08)",
    ),
    (
        "on: [tool.call]\ntools: ['Wri*']\n",
        "p.yaml:2:9: 'Wri*' is neither a tool's name nor 'mcp__server__*' (E08)",
    ),
    (
        "on: [turn.end]\nthen: [blcok]\n",
        "p.yaml:2:8: unknown action 'blcok', did you mean 'block'? (E03)",
    ),
    (
        "on: [tool.call]\nthen: [allow]\n",
        "p.yaml:2:8: unknown action 'allow': a policy never widens permissions (E03)",
    ),
    (
        "on: [tool.call]\nthen: block\n",
        "p.yaml:2:7: 'then' is a text, not a list (E02)",
    ),
    (
        "on: [turn.end]\nwhen: { builtin: clean-tree }\nthen: [restore]\n",
        "p.yaml:3:8: 'restore' is not possible at turn.end: files are put back only after a tool ran (E07)",
    ),
    (
        "on: [tool.denied]\n",
        "p.yaml:1:1: a policy without 'then' blocks: 'block' is not possible at tool.denied: the client lets nothing be refused there (E07)",
    ),
    (
        "on: [tool.result]\nthen: [ask]\n",
        "p.yaml:2:8: 'ask' is not possible at tool.result: the user is asked only before a tool runs (E07)",
    ),
    (
        "on: [session.end]\nthen: [context]\n",
        "p.yaml:2:8: 'context' is not possible at session.end: the client passes nothing on from there (E07)",
    ),
    (
        "on: [tool.call]\nthen: [block, block]\n",
        "p.yaml:2:15: 'block' stands twice in 'then' (E02)",
    ),
    (
        "on: [tool.result]\nthen: [{ restore: { paths: work.tracked } }]\n",
        "p.yaml:2:28: this is true or false, not a list (E05)",
    ),
    (
        "on: [tool.call]\nthen: [{ block: { mesage: x } }]\n",
        "p.yaml:2:19: unknown field 'mesage', did you mean 'message'? (E02)",
    ),
    (
        "on: [tool.call]\nmessage: 'x {{ evnt.tool }}'\n",
        "p.yaml:2:16: unknown variable 'evnt', did you mean 'event'? (E06)",
    ),
    (
        "on: [tool.call]\nmode: audti\n",
        "p.yaml:2:7: 'mode' is none of enforce, warn, audit, did you mean 'audit'? (E03)",
    ),
    (
        "on: [tool.call]\nenabled: 'no'\n",
        "p.yaml:2:10: 'enabled' is a text, not true or false (E02)",
    ),
    (
        "id: a\non: [tool.call]\n---\nid: a\non: [tool.call]\n",
        "p.yaml:4:1: the id 'a' is taken by p.yaml:1 (E10)",
    ),
    (
        "on: [turn.end]\nthen: [context]\nwhen: { builtin: clean-tree }\n",
        "p.yaml:1:1: 'context' at turn.end makes the agent go on, as a block does (W03)",
    ),
    (
        "on: [turn.end]\nwhen: { cel: \"event.branch == 'main'\" }\n",
        "p.yaml:1:1: this blocks the end of a turn on something the agent cannot change (W06)",
    ),
    (
        "id: x\nenabled: false\n",
        "p.yaml:1:1: there is no policy 'x' to switch off (E02)",
    ),
    (
        "on: [tool.call]\ntests:\n  - { name: a, event: tool.call, data: { pats: [] }, expect: none }\n",
        "p.yaml:3:7: unknown field 'event.data.pats', did you mean 'paths'? (E02)",
    ),
    (
        "on: [tool.call]\ntests:\n  - { name: a, event: tool.call, expect: blok }\n",
        "p.yaml:3:42: unknown decision 'blok', did you mean 'block'? (E03)",
    ),
    (
        "on: [tool.call]\ntests:\n  - { name: a, event: tool.call }\n",
        "p.yaml:3:7: the test 'a' lacks 'expect' (E02)",
    ),
];

#[test]
fn faults_name_line_column_and_the_nearest_name() {
    let mut wrong = Vec::new();
    for (text, expected) in FAULTS {
        let found = faults(&load(text)).join("\n");
        if found != *expected {
            wrong.push(format!("{text}  expected {expected}\n  got      {found}\n"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_broken_file_is_read_as_it_was_at_head() {
    let broken = file(Scope::Project, "p.yaml", "on: [turn.ned]\n");
    let policies = Policies::load(std::slice::from_ref(&broken), &|path| {
        assert_eq!(path, ".operator/policies/p.yaml");
        Some("on: [turn.end]\n".to_owned())
    });
    assert_eq!(ids(&policies), ["p"]);
    assert!(policies.list()[0].is_stale);
    assert!(policies.broken().is_empty());
    assert_eq!(faults(&policies).len(), 1);
    let policies = Policies::load(&[broken], &|_| Some("on: [turn.ned]\n".to_owned()));
    assert_eq!(ids(&policies), Vec::<&str>::new());
    assert_eq!(policies.broken().len(), 1);
}

#[test]
fn one_broken_policy_does_not_take_other_files_with_it() {
    let files = [
        file(Scope::Project, "a.yaml", "on: [turn.ned]\n"),
        file(Scope::Project, "b.yaml", "on: [turn.end]\n"),
    ];
    let policies = Policies::load(&files, &|_| None);
    assert_eq!(ids(&policies), ["b"]);
    assert_eq!(policies.broken().len(), 1);
}

/// Files that are much work to read, each in another way.
fn heavy() -> [(&'static str, String); 6] {
    let policy = |when: &str| format!("on: [turn.end]\nwhen: {when}\n---\n");
    let long = "event.turn.calls == 1 || ".repeat(160) + "true";
    let cel = policy(&format!("{{ cel: \"{long}\" }}"));
    let forbid = |pattern: &str| {
        let list = format!("\"{pattern}\", ").repeat(40);
        format!(
            "on: [file.write]\nwhen: {{ builtin: forbid-text, with: {{ patterns: [{list}] }} }}\n---\n"
        )
    };
    let unknown: Vec<String> = (0..200).map(|n| format!("evnt{n}")).collect();
    let unknown = policy(&format!("{{ cel: \"{}\" }}", unknown.join(" || ")));
    [
        ("unknown names", unknown.repeat(50)),
        ("expressions", cel.repeat(50)),
        ("classes", forbid("\\\\w\\\\pL\\\\d\\\\PL").repeat(200)),
        ("folded classes", forbid("(?i)[^a][b-z]\\\\w").repeat(120)),
        ("repeated classes", forbid("\\\\w{9}x").repeat(80)),
        (
            "texts in blocks",
            policy("{ cel: 'true' }\nmessage: |\n  é").repeat(4_000),
        ),
    ]
}

#[test]
fn files_that_are_too_much_work_are_broken_and_those_before_them_are_not() {
    const SMALL: &str = "on: [turn.end]\n";
    for (name, text) in heavy() {
        let mut files = vec![file(Scope::Project, "a.yaml", SMALL)];
        files.extend((0..12).map(|n| file(Scope::Project, &format!("{n}.yaml"), &text)));
        files.push(file(Scope::Project, "z.yaml", SMALL));
        let policies = Policies::load(&files, &|path| {
            assert!(
                !path.ends_with("z.yaml"),
                "nothing is left to read it at HEAD"
            );
            Some(SMALL.to_owned())
        });
        let ids = ids(&policies);
        assert!(ids.contains(&"a") && !ids.contains(&"z"), "{name} {ids:?}");
        let codes: Vec<Code> = policies
            .broken()
            .iter()
            .map(|broken| broken.fault.code)
            .collect();
        let is_known = |code: &Code| *code == Code::E09 || name == "unknown names";
        assert!(codes.iter().all(is_known), "{name} {codes:?}");
        let last = policies.broken().last().unwrap();
        assert_eq!(
            (last.fault.to_string().as_str(), last.on_error),
            (
                ".operator/policies/z.yaml:1:1: reading the policies takes more than 250000 steps (E09)",
                OnError::Block
            ),
            "{name}"
        );
    }
}

#[test]
fn a_pattern_too_large_without_capitals_is_found_when_it_is_read() {
    let text = |ignore_case| {
        format!(
            "on: [file.write]\nwhen: {{ builtin: forbid-text, with: {{ ignore_case: {ignore_case}, \
             patterns: [\"k{{9000}}\"] }} }}\n"
        )
    };
    assert_eq!(faults(&load(&text(false))), Vec::<String>::new());
    let found = faults(&load(&text(true)));
    let wanted =
        "'(?i:k{9000})' is not a regular expression: compiled it takes more than 1048576 bytes";
    assert!(found.len() == 1 && found[0].contains(wanted), "{found:?}");
}

#[test]
fn policies_of_a_large_project_are_not_too_much_work() {
    let text = "on: [file.write]\nwhen:\n  all:\n    - builtin: forbid-text\n      \
        with: { ignore_case: true, patterns: [\"\\\\bdbg!\", \"todo\\\\s*[(]\"] }\n    \
        - cel: \"lines(event.data.content).exists(l, l.matches('^[a-z]+\\\\\\\\s') && size(l) > 80)\"\n\
        message: |\n  Take it out.\n";
    let files: Vec<_> = (0..200)
        .map(|number| file(Scope::Project, &format!("p{number}.yaml"), text))
        .collect();
    let policies = Policies::load(&files, &|_| None);
    assert!(
        policies.broken().is_empty(),
        "{}",
        policies.broken()[0].fault
    );
    assert_eq!(policies.list().len(), 200);
}

#[test]
fn a_local_file_switches_off_only_what_may_be() {
    let project = |overridable| {
        let text = format!("id: a\non: [tool.call]\noverridable: {overridable}\n");
        file(Scope::Project, "a.yaml", &text)
    };
    let local = file(Scope::Local, "off.yaml", "id: a\nenabled: false\n");
    let policies = Policies::load(&[project(true), local.clone()], &|_| None);
    assert!(!policies.list()[0].enabled);
    let policies = Policies::load(&[project(false), local], &|_| None);
    assert!(policies.list()[0].enabled);
    assert_eq!(faults(&policies).len(), 1);
}

#[test]
fn defaults_stand_until_switched_off() {
    assert_eq!(
        ids(&load("").with_defaults(&|_| true)),
        ["policy-files", "ledger-files"]
    );
    let policies = load("id: policy-files\nenabled: false\n").with_defaults(&|_| true);
    assert_eq!(faults(&policies), Vec::<String>::new());
    assert_eq!(ids(&policies), ["ledger-files", "policy-files"]);
    let policies = load("id: policy-files\nenabled: false\n").with_defaults(&|_| false);
    assert_eq!(
        ids(&policies),
        ["policy-files", "ledger-files", "policy-files"]
    );
    assert!(policies.list()[0].enabled);
    assert!(!policies.list()[2].enabled);
    assert!(!policies.need_work());
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { failure_persistence: None, ..Default::default() })]

    #[test]
    fn no_text_makes_it_panic(text in "[-a-z:{}\\[\\] '\"\n|>&*!#é.]{0,120}") {
        let _ = load(&text);
        let _ = load(&format!("on: [file.write]\nwhen: {text}\n"));
        let _ = load(&format!("on: [file.write]\nwhen: {{ cel: {text:?} }}\n"));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        let _ = load(&String::from_utf8_lossy(&bytes));
    }
}
