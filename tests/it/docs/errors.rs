//! docs/errors.md is made from the errors that the sources define, each with its exit code and hint.
//!
//! `REGENERATE=1 cargo test --test it docs` writes it anew.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use regex::Regex;

/// One error as a reader meets it.
struct Told {
    message: String,
    exit: &'static str,
    hint: String,
}

fn exit_of(fault: &str) -> &'static str {
    match fault {
        "Refused" | "No" => "1",
        "Integrity" => "3",
        "Undecided" => "4",
        "Unchecked" => "5",
        "Fatal" => "128",
        "Usage" => "129",
        other => panic!("no exit code for {other}"),
    }
}

/// Returns what stands between the bracket at `start` and the one that closes it.
fn balanced(text: &str, start: usize) -> &str {
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    for (at, c) in text[start..].char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '(' | '{' | '[' if !quoted => depth += 1,
            ')' | '}' | ']' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return &text[start + 1..start + at];
                }
            }
            _ => {}
        }
    }
    panic!(
        "a bracket stays open: {}",
        &text[start..text.len().min(start + 80)]
    )
}

/// Returns the string literals of an expression, in order.
fn literals(text: &str) -> Vec<String> {
    let literal = Regex::new(r#""((?:[^"\\]|\\.)*)""#).unwrap();
    let joined = Regex::new(r"\\\n\s*").unwrap();
    let found = literal
        .captures_iter(text)
        .map(|found| joined.replace_all(&found[1], "").replace("\\\"", "\""));
    found.collect()
}

/// Puts `<name>` where a value stands.
fn shown(text: &str) -> String {
    let place = Regex::new(r"\{(\w*)[^{}]*\}").unwrap();
    let text = place.replace_all(text, |found: &regex::Captures<'_>| match &found[1] {
        name if name.is_empty() || name.parse::<u8>().is_ok() => "<…>".to_owned(),
        name => format!("<{name}>"),
    });
    text.replace("{{", "{")
        .replace("}}", "}")
        .replace('|', "\\|")
}

/// Returns the arms of a function's `match self`: the variants of each and what it gives.
fn arms(body: &str) -> Vec<(Vec<String>, String)> {
    let Some(at) = body.find("match self {") else {
        return vec![(Vec::new(), body.to_owned())];
    };
    let mut rest = balanced(body, at + "match self ".len());
    let variant = Regex::new(r"Self::(\w+)").unwrap();
    let mut found = Vec::new();
    while let Some((pattern, after)) = rest.split_once("=>") {
        let after = after.trim_start();
        let end = match after.starts_with('{') {
            true => balanced(after, 0).len() + 2,
            false => top_comma(after),
        };
        let names = variant
            .captures_iter(pattern)
            .map(|name| name[1].to_owned());
        found.push((names.collect(), after[..end].to_owned()));
        rest = after[end..].trim_start_matches(',');
    }
    found
}

fn top_comma(text: &str) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0_i32, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '(' | '{' | '[' if !quoted => depth += 1,
            ')' | '}' | ']' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

fn function<'a>(body: &'a str, name: &str) -> Option<&'a str> {
    let at = body.find(&format!("fn {name}("))?;
    let open = at + body[at..].find('{')?;
    Some(balanced(body, open))
}

/// Returns what `of` gives for a variant; the arm without names gives for all.
fn given<'a>(of: &'a [(Vec<String>, String)], variant: &str) -> Option<&'a str> {
    let arm = of
        .iter()
        .find(|(names, _)| names.iter().any(|name| name == variant));
    let arm = arm.or_else(|| of.iter().find(|(names, _)| names.is_empty()));
    arm.map(|(_, gives)| gives.as_str())
}

/// Puts the text of each constant where it is given.
fn spelled_out(text: &str) -> String {
    let constant = Regex::new(r#"(?m)^const (\w+): &str = ("(?:[^"\\]|\\.)*");"#).unwrap();
    let found = constant.captures_iter(text);
    found.fold(text.to_owned(), |text, found| {
        text.replace(&format!("{}.to_owned()", &found[1]), &found[2])
    })
}

/// Returns the errors of the enums and structs of a file.
fn defined(text: &str) -> (Vec<Told>, Vec<String>) {
    let text = &spelled_out(text);
    let attribute = Regex::new(r"#\[error\(").unwrap();
    let holder = Regex::new(r"\b(?:enum|struct) (\w+)").unwrap();
    let variant =
        Regex::new(r"^\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))? )?(?:struct )?(\w+)").unwrap();
    let fault = Regex::new(r"Fault::(\w+)").unwrap();
    let (mut told, mut inner) = (Vec::new(), Vec::new());
    for found in attribute.find_iter(text) {
        let inside = balanced(text, found.end() - 1);
        if inside.trim() == "transparent" {
            continue;
        }
        let after = &text[found.end() + inside.len()..];
        let name = variant.captures(after).unwrap()[1].to_owned();
        let enums = holder.captures_iter(&text[..found.start()]).last();
        let of = match after.contains(&format!("struct {name}")) {
            true => name.clone(),
            false => enums.map_or_else(|| name.clone(), |one| one[1].to_owned()),
        };
        let message = shown(&literals(inside)[0]);
        let Some(at) = text.find(&format!("impl Explain for {of} ")) else {
            inner.push(message);
            continue;
        };
        let body = balanced(text, at + text[at..].find('{').unwrap());
        let faults = arms(function(body, "fault").unwrap());
        let gives = given(&faults, &name).unwrap_or_else(|| panic!("{of}::{name} has no fault"));
        let hints = function(body, "hint").map(arms).unwrap_or_default();
        let hint = given(&hints, &name).unwrap_or_default();
        told.push(Told {
            message,
            exit: fault
                .captures(gives)
                .map_or("as its cause", |one| exit_of(&one[1])),
            hint: literals(hint)
                .first()
                .map(|text| shown(text))
                .unwrap_or_default(),
        });
    }
    (told, inner)
}

/// Returns the failures that a front end words itself.
fn worded(text: &str) -> Vec<Told> {
    let start = Regex::new(r"Failure::(usage|io|new)\(").unwrap();
    let exit = Regex::new(r"Exit::(\w+)").unwrap();
    let mut told = Vec::new();
    for found in start.captures_iter(text) {
        let at = found.get(0).unwrap();
        let inside = balanced(text, at.end() - 1);
        let Some(message) = literals(inside).into_iter().next() else {
            continue;
        };
        let code = match &found[1] {
            "usage" => "129",
            "io" => "128",
            _ => exit
                .captures(inside)
                .map_or("as its cause", |one| exit_of(&one[1])),
        };
        let end = at.end() + inside.len() + 1;
        let hint = text[end..].trim_start().strip_prefix(".hint");
        let hint = hint
            .map(|rest| literals(balanced(rest, 0)))
            .unwrap_or_default();
        told.push(Told {
            message: shown(&message),
            exit: code,
            hint: hint.first().map(|text| shown(text)).unwrap_or_default(),
        });
    }
    told
}

fn sources(dir: &Path, found: &mut Vec<std::path::PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            found.push(path);
        }
    }
}

type Modules = BTreeMap<String, (Vec<Told>, Vec<String>)>;

fn collected() -> Modules {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    sources(&root, &mut paths);
    let mut modules = Modules::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let inside = path.strip_prefix(&root).unwrap();
        let module = inside
            .iter()
            .next()
            .unwrap()
            .to_str()
            .unwrap()
            .trim_end_matches(".rs");
        let (told, inner) = defined(text);
        let entry = modules.entry(module.to_owned()).or_default();
        entry.0.extend(told);
        entry.0.extend(worded(text));
        entry.1.extend(inner);
    }
    modules.retain(|_, (told, inner)| !told.is_empty() || !inner.is_empty());
    modules
}

fn page(modules: &Modules) -> String {
    let mut page = "# Errors\n\n\
        Every error the program words itself, by the module that words it. `error:` stands before the\n\
        message; a hint is one command, on a line of its own. `<name>` is a value. Reasons of the system and\n\
        of git follow after a colon. This page is made from the sources by a test.\n\n\
        Exit codes: 1 the answer is no and nothing was written, 3 integrity, 4 cannot decide, 5 nothing was\n\
        checked, 128 environment, repository or input and output, 129 usage.\n"
        .to_owned();
    for (module, (told, inner)) in modules {
        page.push_str(&format!("\n## {module}\n"));
        if !told.is_empty() {
            page.push_str("\n| message | exit | hint |\n|---|---|---|\n");
        }
        let code = |text: &str| {
            if text.is_empty() {
                String::new()
            } else {
                format!("`{text}`")
            }
        };
        let rows = told.iter().map(|one| {
            format!(
                "| {} | {} | {} |\n",
                code(&one.message),
                one.exit,
                code(&one.hint)
            )
        });
        let mut seen = BTreeSet::new();
        page.extend(rows.filter(|row| seen.insert(row.clone())));
        if !inner.is_empty() {
            page.push_str("\nReasons that stand inside other messages:\n\n");
            for reason in inner {
                page.push_str(&format!("- `{reason}`\n"));
            }
        }
    }
    page
}

#[test]
fn the_page_of_errors_is_made_from_the_sources() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/errors.md");
    let made = page(&collected());
    if super::regenerate() {
        fs::write(&path, &made).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == made,
        "docs/errors.md is old: REGENERATE=1 cargo test --test it docs"
    );
}

/// Words that say nothing, blame, or flatter.
const EMPTY: &str = "please sorry successfully simply oops unable couldn't can't failed";

#[test]
fn every_message_has_one_voice() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (module, (told, inner)) in collected() {
        // A failure says first what could not be done; `<…>` is one that stands around another's words.
        let begins = |one: &&Told| {
            let message = one.message.as_str();
            !["cannot ", "<", "git-operator stopped"]
                .iter()
                .any(|start| message.starts_with(start))
        };
        wrong.extend(
            told.iter()
                .filter(begins)
                .map(|one| format!("{module}: {}", one.message)),
        );
        for message in told.iter().map(|one| &one.message).chain(&inner) {
            count += 1;
            let first = message.chars().next().unwrap_or('A');
            let says = |word: &str| {
                message
                    .to_lowercase()
                    .split(|c: char| !c.is_alphanumeric() && c != '\'')
                    .any(|one| one == word)
            };
            if first.is_uppercase()
                && !message.starts_with("CLAUDE")
                && !message.starts_with("HOME")
                || message.ends_with('.')
                || EMPTY.split(' ').any(says)
            {
                wrong.push(format!("{module}: {message}"));
            }
        }
    }
    assert!(count > 150, "{count} errors found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
