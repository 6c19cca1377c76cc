use std::{fs, path::Path};

use git_operator::policy::{
    Code, File, Policies, Scope,
    testing::{self, TestResult},
};

/// The fewest cases the corpus may have.
const CASES: usize = 300;

fn corpus() -> Vec<(String, Policies)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/policy");
    let mut paths: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let file = File {
                scope: Scope::Project,
                path: name.clone(),
                text: Ok(fs::read_to_string(&path).unwrap()),
            };
            (name, Policies::load(&[file], &|_| None))
        })
        .collect()
}

#[test]
fn every_file_of_the_corpus_is_read_without_a_fault() {
    for (name, policies) in corpus() {
        let faults: Vec<String> = policies.faults().iter().map(|f| f.render()).collect();
        assert!(faults.is_empty(), "{name}:\n{}", faults.join("\n"));
        assert!(!policies.is_empty(), "{name}");
    }
}

#[test]
fn every_case_of_the_corpus_comes_out_as_expected() {
    let mut cases = 0;
    let mut failures = Vec::new();
    for (_, policies) in corpus() {
        for tested in testing::run(&policies, &|_, _| true, None) {
            cases += 1;
            if let TestResult::Failed(lines) = tested.result {
                let place = &tested.case.place;
                failures.push(format!(
                    "{place} {}: {}",
                    tested.case.name,
                    lines.join("\n  ")
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(cases >= CASES, "{cases} cases");
}

#[test]
fn the_corpus_shows_both_values_of_every_part() {
    for (name, policies) in corpus() {
        let gaps = testing::coverage(&policies).gaps;
        assert!(gaps.is_empty(), "{name}: {gaps:#?}");
    }
}

#[test]
fn the_corpus_notices_nine_of_ten_changes() {
    let mut tried = 0;
    let mut survivors = Vec::new();
    for (name, policies) in corpus() {
        for mutation in testing::mutation(&policies) {
            tried += mutation.tried;
            let named = |text| format!("{name} {}: {text}", mutation.policy);
            survivors.extend(mutation.survivors.iter().map(named));
        }
    }
    assert!(
        survivors.len() * 10 <= tried,
        "{} of {tried}:\n{}",
        survivors.len(),
        survivors.join("\n")
    );
}

#[test]
fn a_policy_without_a_test_is_named() {
    let file = File {
        scope: Scope::Project,
        path: "p.yaml".to_owned(),
        text: Ok("on: [tool.call]\n".to_owned()),
    };
    let policies = Policies::load(&[file], &|_| None);
    let codes: Vec<Code> = policies.faults().iter().map(|fault| fault.code).collect();
    assert_eq!(codes, [Code::W05]);
}
