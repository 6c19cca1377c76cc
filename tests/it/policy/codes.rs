use std::collections::BTreeSet;

use git_operator::policy::{Code, File, Policies, Scope};

use crate::support::Repo;

/// A policy file for each code, and the fault as people see it.
const FAULTS: &[(Code, &str, &str)] = &[
    (
        Code::E01,
        "on: [tool.call]\non: [turn.end]\n",
        "error[E01] p.yaml:2:1: the key 'on' stands twice in one map\n 2 | on: [turn.end]\n   | ^",
    ),
    (
        Code::E02,
        "on: [turn.end]\nmesage: x\n",
        "error[E02] p.yaml:2:1: unknown field 'mesage', did you mean 'message'?\n 2 | mesage: x\n   | ^",
    ),
    (
        Code::E03,
        "on: [tool.calls]\n",
        "error[E03] p.yaml:1:6: unknown event 'tool.calls', did you mean 'tool.call'?\n \
         1 | on: [tool.calls]\n   |      ^",
    ),
    (
        Code::E04,
        "on: [tool.call]\nwhen: { cel: \"event.tool == \" }\n",
        "error[E04]",
    ),
    (
        Code::E04,
        "on: [tool.call]\nwhen: { cel: \"sise(event.tool) > 0\" }\n",
        "error[E04] p.yaml:2:15: unknown function 'sise', did you mean 'size'?\n \
         2 | when: { cel: \"sise(event.tool) > 0\" }\n   |               ^",
    ),
    (
        Code::E05,
        "on: [tool.call]\nwhen: { cel: \"event.data.paths\" }\n",
        "error[E05] p.yaml:2:15: this is a list, not true or false\n \
         2 | when: { cel: \"event.data.paths\" }\n   |               ^",
    ),
    (
        Code::E06,
        "on: [turn.end]\nwhen: { cel: \"size(work.uncomitted) > 0\" }\n",
        "error[E06] p.yaml:2:25: unknown field 'work.uncomitted', did you mean 'uncommitted'?\n \
         2 | when: { cel: \"size(work.uncomitted) > 0\" }\n   |                         ^",
    ),
    (
        Code::E07,
        "on: [turn.end]\nwhen: { builtin: clean-tree }\nthen: [restore]\n",
        "error[E07] p.yaml:3:8: 'restore' is not possible at turn.end: files are put back only after a \
         tool ran\n 3 | then: [restore]\n   |        ^",
    ),
    (
        Code::E08,
        "on: [file.write]\npaths: [\"src/{a,b}\"]\n",
        "error[E08] p.yaml:2:9: 'src/{a,b}' holds braces, which git patterns do not have; write one \
         pattern for each\n 2 | paths: [\"src/{a,b}\"]\n   |         ^",
    ),
    (
        Code::E08,
        "on: [tool.call]\nwhen: { cel: \"event.tool.matches(event.name)\" }\n",
        "error[E08] p.yaml:2:26: the pattern of 'matches' must be written out as a text",
    ),
    (
        Code::E09,
        "on: [tool.call]\nwhen: { cel: \"[1].all(a, [1].all(b, [1].all(c, a == b && b == c)))\" }\n",
        "error[E09] p.yaml:2:",
    ),
    (
        Code::E10,
        "id: a\non: [tool.call]\n---\nid: a\non: [tool.call]\n",
        "error[E10] p.yaml:4:1: the id 'a' is taken by p.yaml:1\n 4 | id: a\n   | ^",
    ),
    (
        Code::E11,
        "on: [tool.call]\nwhen: {}\n",
        "error[E11] p.yaml:2:7: 'when' has no condition; leave it out for a policy that always applies\n \
         2 | when: {}\n   |       ^",
    ),
    (
        Code::W01,
        "on: [tool.call, turn.end]\nwhen: { cel: \"event.data.active\" }\n",
        "warning[W01] p.yaml:2:26",
    ),
    (
        Code::W02,
        "on: [tool.call]\nwhen: { cel: \"work.reasons.exists(p, p == 'a')\" }\n",
        "warning[W02] p.yaml:2:",
    ),
    (
        Code::W03,
        "on: [turn.end]\nwhen: { builtin: clean-tree }\nthen: [context]\n",
        "warning[W03] p.yaml:1:1: 'context' at turn.end makes the agent go on, as a block does\n \
         1 | on: [turn.end]\n   | ^",
    ),
    (
        Code::W04,
        "on: [tool.call]\ntools: [Wriet]\n",
        "warning[W04] p.yaml:2:9: 'Wriet' is no tool that is known, did you mean 'Write'?\n \
         2 | tools: [Wriet]\n   |         ^",
    ),
    (
        Code::W05,
        "on: [tool.call]\n",
        "warning[W05] p.yaml:1:1: policy 'p' has no test\n 1 | on: [tool.call]\n   | ^",
    ),
    (
        Code::W06,
        "on: [turn.end]\nwhen: { cel: \"event.branch == 'main'\" }\n",
        "warning[W06] p.yaml:1:1: this blocks the end of a turn on something the agent cannot change\n \
         1 | on: [turn.end]\n   | ^",
    ),
    (
        Code::W07,
        "on: [tool.call]\nwhen: { cel: \"event.tool == 'a\\tb'\" }\n",
        "warning[W07] p.yaml:2:",
    ),
];

#[test]
fn every_fault_has_a_place_a_caret_and_a_name() {
    let mut wrong = Vec::new();
    for (code, text, expected) in FAULTS {
        let file = File {
            scope: Scope::Project,
            path: "p.yaml".to_owned(),
            text: Ok((*text).to_owned()),
        };
        let policies = Policies::load(&[file], &|_| None);
        let of_code = policies.faults().iter().find(|fault| fault.code == *code);
        let found = of_code.map(|fault| fault.render()).unwrap_or_default();
        let (line, caret) = (found.lines().nth(1), found.lines().nth(2));
        let has_caret = line.is_some() && caret.is_some_and(|caret| caret.ends_with('^'));
        if !found.starts_with(expected) || !has_caret {
            wrong.push(format!("{code}: {text}{found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_code_is_met_above() {
    let mut met: BTreeSet<Code> = FAULTS.iter().map(|(code, ..)| *code).collect();
    // It hangs on the repository as well.
    met.insert(Code::W08);
    assert_eq!(met, Code::ALL.iter().copied().collect());
    let page = include_str!("../../../docs/policy.md");
    for code in Code::ALL {
        assert!(page.contains(&format!("| {code} |")), "{code}");
    }
}

#[test]
fn paths_that_choose_no_tracked_file_are_told() {
    let repo = Repo::new();
    repo.write(
        ".operator/policies/p.yaml",
        "id: p\non: [file.write]\npaths: [\"scr/**\"]\n---\nid: q\non: [file.write]\npaths: [\"src/**\"]\n",
    );
    let check = || repo.operator(["policy", "check"]).run().stdout;
    assert!(!check().contains("W04"), "nothing is tracked yet");
    repo.write("src/a", "x");
    repo.git(["add", "src"]);
    let text = check();
    let told = "warning[W04] .operator/policies/p.yaml:3:8: no tracked file is among the 'paths' of 'p'\n \
         3 | paths: [\"scr/**\"]\n   |        ^\n";
    assert!(
        text.contains(told) && text.matches("W04").count() == 1,
        "{text}"
    );
}

#[test]
fn a_block_that_a_shell_goes_around_is_told_where_nothing_keeps_track() {
    let repo = Repo::new();
    let path = ".operator/policies/p.yaml";
    let check = |text: &str| {
        repo.write(path, text);
        repo.operator(["policy", "check"]).run().stdout
    };
    let told = "warning[W08] .operator/policies/p.yaml:1:1: 'p' does not see what a shell does to \
                files: no policy uses 'restore' or reads 'work', and operator.work is not set\n 1 | ";
    for text in ["on: [file.write]\n", "on: [tool.call, file.delete]\n"] {
        let said = check(text);
        assert!(said.contains(told), "{said}");
    }
    for text in [
        "on: [file.write]\nthen: [restore, block]\n",
        "on: [file.write]\nwhen: { cel: \"size(work.foreign) > 0\" }\n",
        "on: [file.write]\nthen: [warn]\n",
        "on: [file.write]\nmode: audit\n",
        "on: [tool.call]\n",
    ] {
        let said = check(text);
        assert!(!said.contains("W08"), "{said}");
    }
    repo.git(["config", "operator.work", "true"]);
    assert!(!check("on: [file.write]\n").contains("W08"));
}
