//! Writes outside the repository.

use super::{Answer, Params, argv::commands};
use crate::policy::{
    cel::lies_under,
    facts::Facts,
    shell::{self, Argv, Shell, Word},
};

const ALLOWED: [&str; 2] = ["/tmp", "/dev"];

/// Stands for a root that is not known.
const NO_ROOT: &str = "/?";

/// Programs that write the files they are given; those that write only the last one.
const ALL_OPERANDS: [&str; 11] = [
    "rm", "rmdir", "mv", "touch", "mkdir", "truncate", "shred", "unlink", "chmod", "chown", "tee",
];
const LAST_OPERAND: [&str; 4] = ["cp", "ln", "install", "rsync"];

pub(super) fn outside_root(params: &Params, facts: &Facts) -> Answer {
    let place = Place::new(params, facts);
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
    if let Some(target) = shell::targets(&commands)
        .into_iter()
        .find(|target| place.is_outside("", &target.path))
    {
        return Answer::Match(format!(
            "output goes to '{}', outside the repository",
            target.path
        ));
    }
    let mut unknown = None;
    for argv in &commands {
        for word in written(argv) {
            match &argv.cwd {
                Some(cwd) if (word.known || is_home(&word.text)) => {
                    if place.is_outside(cwd, &word.text) {
                        return Answer::Match(format!(
                            "'{}' writes '{}', outside the repository",
                            argv.name().unwrap_or_default(),
                            word.text
                        ));
                    }
                }
                _ => unknown = Some(word.text.clone()),
            }
        }
    }
    match unknown {
        Some(word) => Answer::Unknown(format!("where '{word}' lies is not known")),
        None => Answer::NoMatch("every file lies in the repository".to_owned()),
    }
}

fn is_home(text: &str) -> bool {
    ["~", "$HOME", "${HOME}"]
        .iter()
        .any(|home| text.starts_with(home))
}

/// Returns the words that name files the command writes.
fn written(argv: &Argv) -> Vec<&Word> {
    let Some(name) = argv.name() else {
        return Vec::new();
    };
    let operands: Vec<&Word> = argv.words[1..]
        .iter()
        .filter(|word| !(word.text.len() > 1 && word.text.starts_with('-')))
        .collect();
    if ALL_OPERANDS.contains(&name) {
        let modes = usize::from(matches!(name, "chmod" | "chown"));
        return operands.into_iter().skip(modes).collect();
    }
    if LAST_OPERAND.contains(&name) {
        return operands.last().copied().into_iter().collect();
    }
    let in_place = |word: &Word| word.text.starts_with("-i") || word.text == "--in-place";
    if matches!(name, "sed" | "perl") && argv.words[1..].iter().any(in_place) {
        return operands.into_iter().skip(1).collect();
    }
    Vec::new()
}

struct Place<'a> {
    root: Option<&'a str>,
    cwd: &'a str,
    allowed: Vec<&'a str>,
}

impl<'a> Place<'a> {
    fn new(params: &'a Params, facts: &'a Facts) -> Self {
        let allowed = match params.texts("allow") {
            Some(given) => given.iter().map(String::as_str).collect(),
            None => ALLOWED.to_vec(),
        };
        Self {
            root: facts.event["root"].as_str(),
            cwd: facts.event["cwd"].as_str().unwrap_or_default(),
            allowed,
        }
    }

    /// Says whether `path`, used in the directory `cwd` below where the line starts, lies outside.
    fn is_outside(&self, cwd: &str, path: &str) -> bool {
        let is_allowed = |path: &str| self.allowed.iter().any(|allowed| lies_under(path, allowed));
        if is_home(path) {
            return !is_allowed(path);
        }
        let root = self.root.unwrap_or(NO_ROOT);
        let mut whole = root.to_owned();
        for part in [self.cwd, cwd, path] {
            let part = part.replace('\\', "/");
            if is_absolute(&part) {
                whole = part;
            } else {
                whole = format!("{whole}/{part}");
            }
        }
        let whole = plain(&whole);
        !lies_under(&whole, &root.replace('\\', "/")) && !is_allowed(&whole)
    }
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.as_bytes().get(1) == Some(&b':')
}

/// Returns an absolute path without `.` and `..`.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let slash = if path.starts_with('/') { "/" } else { "" };
    format!("{slash}{}", parts.join("/"))
}
