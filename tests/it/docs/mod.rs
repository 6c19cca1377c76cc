//! The pages made from the command line are the ones in docs/.
//!
//! `REGENERATE=1 cargo test --test it docs` writes them anew.

mod errors;
mod json;
mod reader;

use std::{collections::BTreeSet, fs, path::Path};

use git_operator::cli;

#[expect(clippy::disallowed_methods, reason = "a person asks for new pages")]
fn regenerate() -> bool {
    std::env::var_os("REGENERATE").is_some()
}

fn check(path: &Path, made: &str) {
    if regenerate() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, made).unwrap();
    }
    let found = fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == made,
        "{} is not what the command line says: run 'REGENERATE=1 cargo test --test it docs'",
        path.display()
    );
}

#[test]
fn the_reference_is_made_from_the_command_line() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    check(&docs.join("reference.md"), &cli::reference());
}

#[test]
fn the_manual_pages_are_made_from_the_command_line() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/man");
    let mut names = BTreeSet::new();
    for (name, text) in cli::pages() {
        check(&dir.join(&name), std::str::from_utf8(&text).unwrap());
        names.insert(name);
    }
    for entry in fs::read_dir(&dir).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !names.contains(&name) && regenerate() {
            fs::remove_file(dir.join(&name)).unwrap();
        } else {
            assert!(names.contains(&name), "no command has the page {name}");
        }
    }
}

#[test]
fn the_schema_of_requirements_is_the_readers() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let schema = git_operator::verify::requirements::schema();
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    check(&docs.join("requirements.schema.json"), &text);
}
