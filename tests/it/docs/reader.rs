//! What a reader types from the pages is what the pages show.
//!
//! Commands of `console` blocks are run in order, in one directory; ids, times and the directory are
//! compared by their shape. `REGENERATE=1 cargo test --test it docs` writes the outputs anew.

use std::{fs, path::Path, process::Command};

use regex::Regex;

use super::regenerate;
use crate::support::Repo;

/// Where the reader of the pages works.
const HOME: &str = "/home/kim";

struct Reader {
    repo: Repo,
    env: Vec<(String, String)>,
    dir: std::path::PathBuf,
}

impl Reader {
    fn new() -> Self {
        let repo = Repo::outside();
        let dir = repo.path().to_owned();
        Self {
            repo,
            env: Vec::new(),
            dir,
        }
    }

    /// Runs a line as a shell does and returns what it prints, both streams.
    fn types(&mut self, line: &str) -> String {
        if let Some((name, value)) = line
            .strip_prefix("export ")
            .and_then(|rest| rest.split_once('='))
        {
            self.env.push((name.to_owned(), value.to_owned()));
            return String::new();
        }
        if let Some(dir) = line.strip_prefix("cd ") {
            self.dir = self.dir.join(dir);
            return String::new();
        }
        self.repo.tick();
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1; {line}")])
            .current_dir(&self.dir)
            .env_clear()
            .envs(self.repo.env())
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let root = self.repo.path().display().to_string();
        text.replace(&root, HOME)
    }

    /// Returns the page with the outputs this program gives.
    fn reads(&mut self, page: &str) -> String {
        let mut made = String::new();
        let mut inside = false;
        for line in page.lines() {
            match (inside, line) {
                (false, "```console") => inside = true,
                (true, "```") => inside = false,
                (true, line) => {
                    if let Some(typed) = line.strip_prefix("$ ") {
                        made.push_str(line);
                        made.push('\n');
                        made.push_str(&self.types(typed));
                    }
                    continue;
                }
                (false, _) => {}
            }
            made.push_str(line);
            made.push('\n');
        }
        made
    }
}

/// Puts one word for what differs from run to run.
fn shape(text: &str) -> String {
    let mut text = text.to_owned();
    for (pattern, word) in [
        (r"\b[0-9A-HJKMNP-TV-Z]{10}\b", "RECORD"),
        (
            r"\b[0-9a-f]{12}\b|\b[0-9a-f]{40}\b|\b[0-9a-f]{7}\b",
            "commit",
        ),
        (r"\d{4}-\d\d-\d\d( \d\d:\d\d)?", "date"),
        (r"\b\d+\.\d+ s\b|\b\d+ ms\b", "a while"),
    ] {
        text = Regex::new(pattern)
            .unwrap()
            .replace_all(&text, word)
            .into_owned();
    }
    text
}

#[track_caller]
fn check(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let page = fs::read_to_string(&path).unwrap();
    assert!(page.contains("```console\n$ "), "{name} shows no session");
    let made = Reader::new().reads(&page);
    if shape(&page) != shape(&made) && regenerate() {
        fs::write(&path, &made).unwrap();
        return;
    }
    let difference = predicates::str::diff(shape(&made));
    assert!(
        predicates::Predicate::eval(&difference, &shape(&page)),
        "{name} does not show what happens: REGENERATE=1 cargo test --test it docs\n{}",
        shape(&made)
    );
}

#[test]
fn the_front_page_shows_what_happens() {
    check("README.md");
}

#[test]
fn the_tutorial_shows_what_happens() {
    check("docs/tutorial.md");
}
