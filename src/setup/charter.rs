//! The charter at the top of the project, and the stanza of CLAUDE.md that loads it.

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

pub(super) fn put(plan: &mut Plan<'_>, charter: Charter) -> Result<(), Error> {
    match charter {
        Charter::Import => {
            put_file(plan)?;
            put_stanza(plan, &format!("{HEADING}\n\n{IMPORT}\n"), |text| {
                text.contains(IMPORT)
            })
        }
        Charter::Inline => {
            let demoted = TEXT.replace("\n#", "\n##");
            let body = demoted
                .split_once('\n')
                .map_or("", |(_, body)| body.trim_start());
            let heading = |text: &str| text.lines().any(|line| line.trim_end() == HEADING);
            put_stanza(plan, &format!("{HEADING}\n\n{body}"), heading)
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

fn put_stanza(
    plan: &mut Plan<'_>,
    stanza: &str,
    present: impl Fn(&str) -> bool,
) -> Result<(), Error> {
    let path = plan.resolve(MEMORY)?;
    let text = plan.text(&path)?.unwrap_or_default();
    if present(&text) {
        plan.say(Act::Kept, MEMORY, None);
        return Ok(());
    }
    let gap = match text.as_str() {
        "" => "",
        text if text.ends_with("\n\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    plan.write(&path, &format!("{text}{gap}{stanza}"), 0o644)
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
    let stanza = format!("{HEADING}\n\n{IMPORT}\n");
    let Some(at) = text.find(&stanza) else {
        if text.contains(IMPORT) || text.lines().any(|line| line.trim_end() == HEADING) {
            plan.say(
                Act::Kept,
                MEMORY,
                Some("its Operator section was changed or is inline"),
            );
        }
        return Ok(());
    };
    let before = text[..at]
        .strip_suffix('\n')
        .filter(|before| before.ends_with('\n'))
        .unwrap_or(&text[..at]);
    let left = format!("{before}{}", &text[at + stanza.len()..]);
    if left.is_empty() {
        return plan.remove_own(&path, &text);
    }
    plan.write(&path, &left, 0o644)
}
