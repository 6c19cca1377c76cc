//! Writes outside the repository.

use super::{
    Answer, Params,
    argv::commands,
    place::{Place, is_absolute, is_home},
    written::written,
};
use crate::policy::{
    facts::Facts,
    shell::{self, Argv, Shell, Word},
};

const ALLOWED: [&str; 2] = ["/tmp", "/dev"];

/// Where a file lies, as far as the word that names it tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lies {
    Inside,
    Outside,
    Unknown,
}

pub(super) fn outside_root(params: &Params, facts: &Facts) -> Answer {
    let allowed = match params.texts("allow") {
        Some(given) => given.iter().map(String::as_str).collect(),
        None => ALLOWED.to_vec(),
    };
    let place = Place::new(facts, allowed);
    let paths = crate::policy::facts::texts(facts.data("paths"));
    let writes = !matches!(
        facts.tool(),
        Some("Read" | "Grep" | "Glob" | "LS" | "NotebookRead")
    );
    if let Some(path) = paths
        .iter()
        .find(|path| writes && place.is_outside("", path))
    {
        return Answer::Match(format!("'{path}' lies outside the repository"));
    }
    if facts.tool().and_then(Shell::of_tool).is_none() {
        return Answer::NoMatch("every file lies in the repository".to_owned());
    }
    let commands = match commands(facts) {
        Ok(commands) => commands,
        Err(answer) => return answer,
    };
    let mut unknown = None;
    for argv in &commands {
        for (word, _) in shell::outputs(argv) {
            match lies(&place, argv, word) {
                Lies::Inside => {}
                Lies::Outside => {
                    return Answer::Match(format!(
                        "output goes to '{}', outside the repository",
                        word.text
                    ));
                }
                Lies::Unknown => unknown = Some(format!("where '{}' lies", word.text)),
            }
        }
        for word in written(argv) {
            match lies(&place, argv, &word) {
                Lies::Inside => {}
                Lies::Outside => {
                    return Answer::Match(format!(
                        "'{}' writes '{}', outside the repository",
                        argv.name().unwrap_or_default(),
                        word.text
                    ));
                }
                Lies::Unknown => unknown = Some(format!("where '{}' lies", word.text)),
            }
        }
        if argv.hidden || argv.name().is_none() && !argv.words.is_empty() {
            unknown = Some(format!("what {} runs", super::argv::named(argv)));
        }
    }
    match unknown {
        Some(what) => Answer::Unknown(format!("{what} is not known")),
        None => Answer::NoMatch("every file lies in the repository".to_owned()),
    }
}

/// Returns where the file lies that a command names by `word`.
fn lies(place: &Place, argv: &Argv, word: &Word) -> Lies {
    let text = word.text.as_str();
    if is_home(text) {
        return if place.is_outside("", text) {
            Lies::Outside
        } else {
            Lies::Inside
        };
    }
    if text.starts_with(">(") || text.starts_with("<(") {
        return Lies::Inside;
    }
    let expansion = text.find(['$', '`', '*', '?', '[', '{', '(']);
    let at = expansion.filter(|_| !word.known).unwrap_or(text.len());
    let (start, rest) = text.split_at(at);
    if !word.known && text.is_empty() {
        return Lies::Unknown;
    }
    let directory = match start.rfind('/') {
        Some(slash) if !word.known => &start[..=slash],
        Some(_) => start,
        None if word.known => start,
        None => ".",
    };
    let escapes = !word.known && may_escape(rest);
    if start.is_empty() && escapes {
        return Lies::Unknown;
    }
    let cwd = match argv.cwd.as_deref() {
        Some(cwd) => cwd,
        None if is_absolute(directory) => "",
        None => return Lies::Unknown,
    };
    match (place.is_outside(cwd, directory), escapes) {
        (true, true) if place.holds_root(cwd, directory) => Lies::Unknown,
        (true, _) => Lies::Outside,
        (false, true) => Lies::Unknown,
        (false, false) => Lies::Inside,
    }
}

/// Says whether what stands for the rest of a path may lead out of where the path begins.
fn may_escape(rest: &str) -> bool {
    rest.contains(['$', '`', '('])
        || rest.contains("..")
        || rest.contains("{}")
        || rest.contains("{/")
        || rest.contains(",/")
}
