use std::{fs, path::Path};

use git_operator::policy::{File, Policies, Scope, manual};

fn docs() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

#[expect(clippy::disallowed_methods, reason = "a person asks for a new schema")]
fn regenerate() -> bool {
    std::env::var_os("REGENERATE").is_some()
}

#[test]
fn the_json_schema_is_made_from_the_lists_that_check() {
    let path = docs().join("policy.schema.json");
    let made = serde_json::to_string_pretty(&manual::json_schema()).unwrap() + "\n";
    if regenerate() {
        fs::write(&path, &made).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == made,
        "run 'REGENERATE=1 cargo test --test it policy'"
    );
}

#[test]
fn every_policy_of_the_page_is_read_without_an_error() {
    let page = fs::read_to_string(docs().join("policy.md")).unwrap();
    let mut blocks = 0;
    for (number, part) in page.split("```yaml\n").skip(1).enumerate() {
        let text = part.split("```").next().unwrap();
        let file = File {
            scope: Scope::Project,
            path: format!("block{}.yaml", number + 1),
            text: Ok(text.to_owned()),
        };
        let policies = Policies::load(&[file], &|_| None);
        let errors: Vec<String> = policies
            .faults()
            .iter()
            .filter(|fault| !fault.code.is_warning())
            .map(|fault| fault.render())
            .collect();
        assert!(errors.is_empty(), "{}", errors.join("\n"));
        blocks += 1;
    }
    assert!(blocks >= 10, "{blocks}");
}

#[test]
fn the_page_names_every_built_in_event_and_action() {
    let page = fs::read_to_string(docs().join("policy.md")).unwrap();
    for (_, names) in manual::items() {
        for name in names {
            let bare = name.rsplit('/').next().unwrap();
            assert!(page.contains(&format!("`{bare}`")), "{name}");
        }
    }
}
