//! A spec: `.operator/specs/<slug>.md`, written by people, approved by a record.

use std::fmt;

use super::{NameError, is_blank};

/// The name of a spec: lower-case letters, digits and hyphens, at most 80 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slug(String);

impl Slug {
    /// Accepts a slug; see the type for what is refused.
    pub fn new(name: &str) -> Result<Self, NameError> {
        const LIMIT: usize = 80;
        const WHAT: &str = "spec's name";
        if is_blank(name) {
            return Err(NameError::Empty(WHAT));
        }
        if name.len() > LIMIT {
            return Err(NameError::TooLong {
                what: WHAT,
                limit: LIMIT,
            });
        }
        let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        match name.chars().find(|c| !legal(*c)) {
            Some(c) => Err(NameError::Contains {
                what: WHAT,
                found: format!("'{}'", c.escape_debug()),
            }),
            None if name.starts_with('-') => Err(NameError::Contains {
                what: WHAT,
                found: "'-' at its start".to_owned(),
            }),
            None => Ok(Self(name.to_owned())),
        }
    }

    /// Returns the path of the spec, relative to the project.
    pub fn path(&self) -> String {
        format!(".operator/specs/{}.md", self.0)
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What the status line of a spec says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    Draft,
    /// Approved, on the source of this stamp.
    Approved(String),
    /// No status line, or one that says something else.
    Unknown,
}

impl Status {
    /// Reads the status of a spec's text.
    pub fn of(text: &str) -> Self {
        let Some(status) = lines(text).find_map(|line| line.strip_prefix(STATUS)) else {
            return Self::Unknown;
        };
        let status = status.trim();
        if status == "DRAFT" {
            return Self::Draft;
        }
        let stamp = status.strip_prefix("APPROVED @");
        stamp
            .filter(|stamp| !stamp.is_empty() && !stamp.contains(char::is_whitespace))
            .map_or(Self::Unknown, |stamp| Self::Approved(stamp.to_owned()))
    }
}

const STATUS: &str = "Status:";
const SECTIONS: [&str; 6] = [
    "North star",
    "Done criteria",
    "In scope",
    "Out of scope",
    "Open questions",
    "Constraints",
];
const MISSED: &str = "Missed if:";

/// One done criterion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    pub criterion: String,
    /// The command or observation that decides it.
    pub decided_by: String,
}

/// A spec's text, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    pub status: Status,
    pub missed_if: Option<String>,
    pub done: Vec<Done>,
    /// For each criterion what stands in cells that nobody reads.
    surplus: Vec<Vec<String>>,
    sections: Vec<(String, Vec<String>)>,
}

impl Spec {
    /// Reads a spec; whatever is missing is told by [`Self::problems`].
    pub fn parse(text: &str) -> Self {
        let mut sections: Vec<(String, Vec<String>)> = Vec::new();
        for line in lines(text) {
            if let Some(title) = line.strip_prefix("## ") {
                sections.push((title.trim().to_owned(), Vec::new()));
            } else if let Some((_, body)) = sections.last_mut() {
                body.push(line.to_owned());
            }
        }
        let find = |title: &str| -> &[String] {
            let section = sections.iter().find(|(found, _)| found == title);
            section.map_or(&[], |(_, body)| body)
        };
        let missed_if = find(SECTIONS[0])
            .iter()
            .find_map(|line| line.strip_prefix(MISSED))
            .map(str::trim)
            .filter(|text| is_filled(text))
            .map(str::to_owned);
        let rows = find(SECTIONS[1]).iter().filter_map(|line| row(line));
        let (done, surplus) = rows.unzip();
        Self {
            status: Status::of(text),
            missed_if,
            done,
            surplus,
            sections,
        }
    }

    fn body(&self, title: &str) -> Option<&[String]> {
        let section = self.sections.iter().find(|(found, _)| found == title);
        section.map(|(_, body)| body.as_slice())
    }

    /// Returns what keeps the spec from being approved, in the order of its sections.
    pub fn problems(&self) -> Vec<String> {
        let mut found = Vec::new();
        if self.status == Status::Unknown {
            found.push("there is no line 'Status: DRAFT'".to_owned());
        }
        for title in SECTIONS {
            match self.body(title) {
                None => found.push(format!("there is no section '## {title}'")),
                Some(body) => found.extend(self.section_problem(title, body)),
            }
        }
        found
    }

    fn section_problem(&self, title: &str, body: &[String]) -> Vec<String> {
        let filled = |line: &String| is_filled(line) && !line.starts_with(MISSED);
        match title {
            "North star" => {
                let mut found = Vec::new();
                if !body.iter().any(filled) {
                    found.push("the north star is not said".to_owned());
                }
                if self.missed_if.is_none() {
                    found.push("the north star has no line 'Missed if: …'".to_owned());
                }
                found
            }
            "Done criteria" => self.done_problems(),
            "Open questions" => {
                let open = body.iter().filter(|line| is_filled(line) && !is_none(line));
                open.map(|line| format!("a question is open: {}", item(line)))
                    .collect()
            }
            _ if body.iter().any(filled) => Vec::new(),
            _ => vec![format!(
                "'{title}' is empty; write 'none' where there is nothing"
            )],
        }
    }

    fn done_problems(&self) -> Vec<String> {
        if self.done.is_empty() {
            return vec!["there is no done criterion".to_owned()];
        }
        let undecided = self.done.iter().filter(|done| !is_filled(&done.decided_by));
        let mut found: Vec<String> = undecided
            .map(|done| format!("nothing decides the criterion '{}'", done.criterion))
            .collect();
        let rows = self.done.iter().zip(&self.surplus);
        found.extend(rows.filter(|(_, cells)| !cells.is_empty()).map(|(done, cells)| {
            format!(
                "the row of '{}' has more than two cells: '{}'; write '\\|' for a pipe in a cell",
                done.criterion,
                cells.join(" | ")
            )
        }));
        found
    }

    /// Returns the body of the acceptance bar that its approval records.
    pub fn bar(&self) -> String {
        let mut bar = String::new();
        for done in &self.done {
            bar.push_str(&format!("- {}: {}\n", done.criterion, done.decided_by));
        }
        if let Some(missed) = &self.missed_if {
            bar.push_str(&format!("- {MISSED} {missed}\n"));
        }
        bar
    }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.trim_start_matches('\u{feff}')
        .lines()
        .map(str::trim_end)
}

/// A line that says something: neither blank nor a `<placeholder>` nor a comment.
fn is_filled(line: &str) -> bool {
    let text = item(line);
    let placeholder = text.starts_with('<') && text.ends_with('>');
    !is_blank(text) && !placeholder
}

fn item(line: &str) -> &str {
    let text = line.trim();
    text.strip_prefix("- ")
        .or_else(|| text.strip_prefix("* "))
        .unwrap_or(text)
        .trim_start_matches('-')
        .trim()
}

fn is_none(line: &str) -> bool {
    item(line)
        .trim_end_matches('.')
        .eq_ignore_ascii_case("none")
}

/// Reads a row of the done criteria, and what stands in cells after the second; the head and the rule
/// under it are none.
fn row(line: &str) -> Option<(Done, Vec<String>)> {
    let mut cells = cells(line.trim().strip_prefix('|')?).into_iter();
    let (criterion, decided_by) = (cells.next()?, cells.next()?);
    let rule = criterion.chars().all(|c| matches!(c, '-' | ':'));
    let head = criterion.eq_ignore_ascii_case("criterion");
    let surplus = cells.filter(|cell| !cell.is_empty()).collect();
    (!rule && !head && is_filled(&criterion)).then_some((
        Done {
            criterion,
            decided_by,
        },
        surplus,
    ))
}

/// Returns the cells of a row; `\|` is a pipe in a cell, also in code.
fn cells(row: &str) -> Vec<String> {
    let mut cells = Vec::new();
    let mut cell = String::new();
    for part in row.split_inclusive('|') {
        match (part.strip_suffix("\\|"), part.strip_suffix('|')) {
            (Some(text), _) => {
                cell.push_str(text);
                cell.push('|');
            }
            (None, Some(text)) => {
                cell.push_str(text);
                cells.push(std::mem::take(&mut cell));
            }
            (None, None) => cell.push_str(part),
        }
    }
    cells.push(cell);
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// Returns the text of a new spec.
pub fn template(slug: &Slug) -> String {
    format!(
        "# {slug}\n\n{STATUS} DRAFT\n\n## North star\n\n<what is true when this is done, in one sentence>\n\n\
         {MISSED} <how one would see that it was missed>\n\n## Done criteria\n\n\
         | criterion | decided by |\n|---|---|\n\
         | <what must hold> | <the command or the observation that decides it> |\n\n\
         ## In scope\n\n- <what is built>\n\n## Out of scope\n\n- <what is not, though one might expect it>\n\n\
         ## Open questions\n\n- <what only the user can answer; 'none' when all are answered>\n\n\
         ## Constraints\n\n- <what must not change, and what it must run on>\n"
    )
}

/// Returns `text` with the status of an approval on the source of `stamp`.
pub fn approved(text: &str, stamp: &str) -> String {
    let mut changed = String::new();
    let mut found = false;
    for line in text.split_inclusive('\n') {
        if !found && line.trim_start_matches('\u{feff}').starts_with(STATUS) {
            found = true;
            let end = &line[line.trim_end_matches(['\r', '\n']).len()..];
            changed.push_str(&format!("{STATUS} APPROVED @{stamp}{end}"));
        } else {
            changed.push_str(line);
        }
    }
    changed
}

/// Returns what tells the text of a spec from another, whatever its status: 16 hex digits.
pub fn digest(text: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for line in lines(text).filter(|line| !line.starts_with(STATUS)) {
        hasher.update(line.as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests;
