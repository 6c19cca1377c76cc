//! The charter at the top of the project, and the stanza of CLAUDE.md that loads it.

use std::ops::Range;

use super::{
    Charter, Error,
    plan::{Act, Plan},
};

/// The charter this program carries.
pub const TEXT: &str = include_str!("../../templates/OPERATOR.md");
const FILE: &str = "OPERATOR.md";
const MEMORY: &str = "CLAUDE.md";
const IMPORT: &str = "@OPERATOR.md";
const HEADING: &str = "## Operator";
const SEAL: &str = "<!-- git-operator charter ";
/// Lines below the section that say what the file was before.
const UNENDED: &str = "<!-- git-operator: the line above this section had no newline -->\n";
const EMPTY: &str = "<!-- git-operator: this file was empty -->\n";

/// Returns the charter as it is written: its text, and a last line with the text's digest, by which a
/// later version knows that nobody changed it.
fn sealed() -> String {
    format!("{TEXT}{SEAL}{} -->\n", digest(TEXT))
}

fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}

fn is_unchanged(text: &str) -> bool {
    let Some(at) = text.rfind(SEAL) else {
        return text == TEXT;
    };
    text[at + SEAL.len()..].trim_end().strip_suffix(" -->") == Some(digest(&text[..at]).as_str())
}

/// Returns the section of CLAUDE.md that holds the charter itself, sealed as the file is.
fn inline() -> String {
    let section = plain();
    format!("{section}{SEAL}{} -->\n", digest(&section))
}

/// The section without its seal, as it was written before there was one.
fn plain() -> String {
    let demoted = TEXT.replace("\n#", "\n##");
    let body = demoted
        .split_once('\n')
        .map_or("", |(_, body)| body.trim_start());
    format!("{HEADING}\n\n{body}")
}

fn import() -> String {
    format!("{HEADING}\n\n{IMPORT}\n")
}

/// A section of ours in CLAUDE.md.
enum Found {
    /// As it was written.
    Whole(Range<usize>),
    Changed,
}

/// Finds the section that holds the charter itself.
fn find_inline(text: &str) -> Option<Found> {
    let Some(seal) = text.rfind(SEAL) else {
        let section = plain();
        return find(text, &section).map(Found::Whole);
    };
    let end = text[seal..]
        .find('\n')
        .map_or(text.len(), |end| seal + end + 1);
    let start = text[..seal]
        .match_indices(&format!("{HEADING}\n"))
        .map(|(at, _)| at)
        .filter(|at| begins_line(text, *at))
        .last();
    Some(match start {
        Some(start) if is_unchanged(&text[start..end]) => Found::Whole(start..end),
        Some(_) | None => Found::Changed,
    })
}

fn find(text: &str, section: &str) -> Option<Range<usize>> {
    let mut places = text.match_indices(section).map(|(at, _)| at);
    let at = places.find(|at| begins_line(text, *at))?;
    Some(at..at + section.len())
}

fn begins_line(text: &str, at: usize) -> bool {
    at == 0 || text[..at].ends_with('\n')
}

fn has_heading(text: &str) -> bool {
    text.lines().any(|line| line.trim_end() == HEADING)
}

/// Puts the charter in place; where CLAUDE.md has it in one form already, in that one.
pub(super) fn put(plan: &mut Plan<'_>, charter: Charter) -> Result<(), Error> {
    let path = plan.resolve(MEMORY)?;
    let text = plan.text(&path)?;
    let found = find_inline(text.as_deref().unwrap_or_default());
    match (charter, found) {
        (Charter::Import | Charter::Inline, Some(found)) => {
            renew(plan, &path, &text.unwrap_or_default(), &found)
        }
        (Charter::Import, None) => {
            put_file(plan)?;
            put_section(plan, &path, text, &import())
        }
        (Charter::Inline, None) => put_section(plan, &path, text, &inline()),
    }
}

/// Brings the section that holds the charter up to date, if nobody changed it.
fn renew(plan: &mut Plan<'_>, path: &str, text: &str, found: &Found) -> Result<(), Error> {
    match found {
        Found::Whole(range) => {
            let (before, after) = (&text[..range.start], &text[range.end..]);
            plan.write(path, &format!("{before}{}{after}", inline()), 0o644)
        }
        Found::Changed => {
            let note = "its Operator section is not as it was written; remove it and start again";
            plan.say(Act::Kept, MEMORY, Some(note));
            Ok(())
        }
    }
}

fn put_file(plan: &mut Plan<'_>) -> Result<(), Error> {
    match plan.text(FILE)? {
        Some(text) if !is_unchanged(&text) => {
            let note =
                "it is not as it was written; remove it and start again for the current charter";
            plan.say(Act::Kept, FILE, Some(note));
            Ok(())
        }
        _ => plan.write(FILE, &sealed(), 0o644),
    }
}

fn put_section(
    plan: &mut Plan<'_>,
    path: &str,
    text: Option<String>,
    section: &str,
) -> Result<(), Error> {
    let known = text.as_deref().unwrap_or_default();
    if known.contains(IMPORT) || section != import() && has_heading(known) {
        plan.say(Act::Kept, MEMORY, None);
        return Ok(());
    }
    let (gap, mark) = match &text {
        None => ("", ""),
        Some(text) if text.is_empty() => ("", EMPTY),
        Some(text) if text.ends_with('\n') => ("\n", ""),
        Some(_) => ("\n\n", UNENDED),
    };
    plan.write(path, &format!("{known}{gap}{section}{mark}"), 0o644)
}

/// Returns `text` without a section of ours, as it was before; `None` where there was no file.
fn without(text: &str, range: &Range<usize>) -> Option<String> {
    let (before, after) = (&text[..range.start], &text[range.end..]);
    if let Some(after) = after.strip_prefix(EMPTY) {
        return Some(format!("{before}{after}"));
    }
    if let Some(after) = after.strip_prefix(UNENDED) {
        let gap = if after.is_empty() { "\n\n" } else { "\n" };
        return Some(format!(
            "{}{after}",
            before.strip_suffix(gap).unwrap_or(before)
        ));
    }
    let before = before
        .strip_suffix('\n')
        .filter(|before| before.ends_with('\n'))
        .unwrap_or(before);
    let left = format!("{before}{after}");
    (!left.is_empty()).then_some(left)
}

pub(super) fn take(plan: &mut Plan<'_>) -> Result<(), Error> {
    match plan.text(FILE)? {
        Some(text) if is_unchanged(&text) => plan.remove_own(FILE, &text)?,
        Some(_) => plan.say(Act::Kept, FILE, Some("it was changed since it was written")),
        None => {}
    }
    let path = plan.resolve(MEMORY)?;
    let Some(text) = plan.text(&path)? else {
        return Ok(());
    };
    let mut left = Some(text.clone());
    while let Some(now) = &left
        && let Some(range) = ours(now)
    {
        left = without(now, &range);
    }
    match left {
        Some(left) if left == text => {
            if text.contains(IMPORT) || has_heading(&text) {
                plan.say(Act::Kept, MEMORY, Some("its Operator section was changed"));
            }
            Ok(())
        }
        Some(left) => plan.write(&path, &left, 0o644),
        None => plan.remove_own(&path, &text),
    }
}

/// Finds a section of ours that nobody changed.
fn ours(text: &str) -> Option<Range<usize>> {
    match find_inline(text) {
        Some(Found::Whole(range)) => Some(range),
        Some(Found::Changed) | None => find(text, &import()),
    }
}
