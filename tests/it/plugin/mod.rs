//! What lies in `plugin/` and `templates/` holds together: nothing the client would drop in silence.

mod charter;
mod commands;
mod launcher;
mod manifest;
mod promises;
mod release;
mod workflows;

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

/// A path inside the repository.
fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn text(path: &str) -> String {
    fs::read_to_string(at(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn json(path: &str) -> Value {
    serde_json::from_str(&text(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The files of a directory with the extension, sorted.
fn files(dir: &str, extension: &str) -> Vec<String> {
    let mut found: Vec<String> = fs::read_dir(at(dir))
        .unwrap_or_else(|error| panic!("{dir}: {error}"))
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(extension))
        .map(|name| format!("{dir}/{name}"))
        .collect();
    found.sort();
    assert!(!found.is_empty(), "no *{extension} in {dir}");
    found
}
