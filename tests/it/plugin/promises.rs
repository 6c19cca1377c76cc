//! docs/migrating.md names a test for each promise, and each test it names is there.

use std::{fs, path::Path};

use super::{at, text};

fn sources(dir: &Path, all: &mut String) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let known = path
            .extension()
            .is_some_and(|ext| ext == "rs" || ext == "mjs" || ext == "py");
        if path.is_dir() {
            sources(&path, all);
        } else if known {
            all.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

/// The rows of the last table of the page: promise, place, tests.
fn promises(page: &str) -> Vec<(String, Vec<String>)> {
    let table = page
        .split("| promise | where it is now | test |\n")
        .nth(1)
        .expect("the table");
    let rows = table
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let tests = cells.last().unwrap().split('`').skip(1).step_by(2);
        (
            cells[0].trim().to_owned(),
            tests.map(str::to_owned).collect(),
        )
    })
    .collect()
}

#[test]
fn every_promise_of_the_predecessor_is_backed_by_tests_that_exist() {
    let mut all = String::new();
    sources(&at("tests"), &mut all);
    sources(&at("src"), &mut all);
    let promises = promises(&text("docs/migrating.md"));
    assert!(promises.len() > 40, "{}", promises.len());
    for (promise, tests) in promises {
        assert!(!tests.is_empty(), "nothing backs: {promise}");
        for test in tests {
            let known = [
                format!("fn {test}("),
                format!("test('{test}'"),
                format!("def {test}("),
            ];
            assert!(
                known.iter().any(|form| all.contains(form)),
                "{promise}: {test}"
            );
        }
    }
}
