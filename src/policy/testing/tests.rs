use super::{TestResult, coverage, mutation, run};
use crate::policy::load::tests::load;

const POLICY: &str = "
id: no-foreign
on: [file.write]
when: { cel: \"event.data.via != 'shell' && size(work.foreign) > 0\" }
tests:
  - name: foreign work refuses
    event: file.write
    data: { path: a, via: tool }
    work: { foreign: [b] }
    expect: { decision: block, message: [work.foreign, b] }
  - name: none does not
    event: file.write
    data: { path: a, via: tool }
    expect: none
";

#[test]
fn cases_are_compared_with_what_came() {
    let policies = load(POLICY);
    assert!(policies.faults().is_empty(), "{:?}", policies.faults());
    let results = run(&policies, &|_, _| true, None);
    assert!(
        results
            .iter()
            .all(|tested| tested.result == TestResult::Passed),
        "{results:?}"
    );
    let wrong = load(&POLICY.replace("expect: none", "expect: warn"));
    let results = run(&wrong, &|_, name| name == "none does not", None);
    let TestResult::Failed(lines) = &results[0].result else {
        panic!("{results:?}");
    };
    assert_eq!(
        lines,
        &[
            "expected warn, got none",
            "  pass no-foreign: event.data.via != 'shell' && size(work.foreign) > 0 is false",
        ]
    );
}

#[test]
fn gaps_and_survivors_are_named() {
    let policies = load(POLICY);
    let gaps: Vec<String> = coverage(&policies)
        .gaps
        .into_iter()
        .map(|gap| gap.missing)
        .collect();
    assert_eq!(
        gaps,
        ["no test in which this fails: event.data.via != 'shell'"]
    );
    let mutation = mutation(&policies).remove(0);
    assert_eq!(mutation.tried, 5);
    assert_eq!(
        mutation.survivors,
        ["event.data.via != 'shell~' && size(work.foreign) > 0"]
    );
}
