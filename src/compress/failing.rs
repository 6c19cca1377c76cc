//! Which lines tell of a failure. They are never elided.

/// Words that tell of a failure when they begin a word; lower case, none the beginning of another,
/// those with the same first letter together.
const WORDS: [&str; 49] = [
    "assert",
    "abort",
    "bail out",
    "broken pipe",
    "cannot",
    "could not",
    "can't",
    "conflict",
    "connection reset",
    "core dumped",
    "corrupt",
    "crash",
    "critical",
    "data race",
    "deadlock",
    "denied",
    "error",
    "err!",
    "err:",
    "exception",
    "exit code",
    "exit status",
    "exited with",
    "fail",
    "fatal",
    "illegal",
    "invalid",
    "killed",
    "mismatch",
    "not found",
    "no such",
    "no rule",
    "no space",
    "overflow",
    "panic",
    "refused",
    "rejected",
    "segmentation",
    "sigsegv",
    "sigabrt",
    "sigkill",
    "traceback",
    "timed out",
    "timeout",
    "unable to",
    "undefined",
    "unresolved",
    "unexpected",
    "violation",
];

/// Marks that begin a line of a failure report, in any case; no letter follows one that ends in a
/// letter.
const OPENINGS: [&str; 19] = [
    "not ok",
    "✗",
    "✘",
    "✖",
    "✕",
    "×",
    "❌",
    "⨯",
    "●",
    "left:",
    "right:",
    "expected",
    "received:",
    "actual",
    "value of:",
    "which is:",
    "got:",
    "want:",
    "E  ",
];

/// Marks that begin or end the line of a test that passed.
const PASSED_START: [&str; 4] = ["ok ", "✓", "✔", "PASS "];
const PASSED_END: [&str; 3] = ["... ok", "... ignored", " PASSED"];

/// For each byte the letters, as bits, that stand second in the words it begins.
const SECONDS: [u32; 256] = {
    let mut seconds = [0; 256];
    let mut at = 0;
    while at < WORDS.len() {
        let word = WORDS[at].as_bytes();
        let second = 1 << (word[1] - b'a');
        seconds[word[0] as usize] |= second;
        seconds[word[0].to_ascii_uppercase() as usize] |= second;
        at += 1;
    }
    seconds
};

/// A small letter that begins a word of failure.
const SMALL: u8 = 1;
/// A capital that does.
const CAPITAL: u8 = 2;

/// For each byte what it is, and four bits higher what may begin a word right after it: all after
/// anything but a letter, a digit and what joins names, and a capital in `TypeError` and `OSError`.
const PLACES: [u8; 256] = {
    let mut places = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let own = byte as u8;
        let begins = match (SECONDS[byte] != 0, own.is_ascii_lowercase()) {
            (false, _) => 0,
            (true, true) => SMALL,
            (true, false) => CAPITAL,
        };
        let follows = match own {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' => CAPITAL,
            b'_' | b'/' | b'-' => 0,
            _ => SMALL | CAPITAL,
        };
        places[byte] = begins | follows << 4;
        byte += 1;
    }
    places
};

/// For each letter where the words that it begins start and end.
const RANGES: [(usize, usize); 26] = {
    let mut ranges = [(0, 0); 26];
    let mut at = 0;
    while at < WORDS.len() {
        let (start, end) = &mut ranges[(WORDS[at].as_bytes()[0] - b'a') as usize];
        assert!(
            *end == 0 || *end == at,
            "words of one letter stand together"
        );
        if *end == 0 {
            *start = at;
        }
        *end = at + 1;
        at += 1;
    }
    ranges
};

/// Which bytes an opening begins with: a mark, the number of a failed test, or `make: ***`.
const OPENS: [bool; 256] = {
    let mut opens = [false; 256];
    let mut at = 0;
    while at < OPENINGS.len() {
        let first = OPENINGS[at].as_bytes()[0];
        opens[first.to_ascii_lowercase() as usize] = true;
        opens[first.to_ascii_uppercase() as usize] = true;
        at += 1;
    }
    let mut digit = b'0';
    while digit <= b'9' {
        opens[digit as usize] = true;
        digit += 1;
    }
    opens[b'm' as usize] = true;
    opens
};

/// Says whether `line` tells of a failure.
pub(super) fn is_failing(line: &str) -> bool {
    position(line).is_some()
}

/// Returns where in `line` the failure is named.
pub(super) fn position(line: &str) -> Option<usize> {
    let text = line.trim();
    if opens(text) || is_placed(line) {
        return Some(line.len() - line.trim_start().len());
    }
    // Few lines name a failure, so what the others begin and end with is never looked at.
    next(line, 0).filter(|_| !has_passed(text))
}

/// Returns the next place in `line`, from `from` on, that names a failure.
pub(super) fn next(line: &str, from: usize) -> Option<usize> {
    let bytes = line.as_bytes();
    let mut from = from;
    loop {
        let at = from + place(bytes.get(from..)?, before(bytes, from))?;
        let second = *bytes.get(at + 1)?;
        if may_name(bytes[at], second) && begins(bytes, at) && names_failure(bytes, at) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// Says whether a word begins at `at`, where `place` found one: after a capital, a digit or a dot only
/// a capital that a small letter follows.
fn begins(bytes: &[u8], at: usize) -> bool {
    let joined =
        |before: u8| before == b'.' || before.is_ascii_uppercase() || before.is_ascii_digit();
    match at.checked_sub(1).map(|before| bytes[before]) {
        Some(before) if joined(before) => bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase),
        Some(_) | None => true,
    }
}

/// Returns what may begin a word at `at`.
fn before(bytes: &[u8], at: usize) -> u8 {
    at.checked_sub(1).map_or(SMALL | CAPITAL, |before| {
        PLACES[usize::from(bytes[before])] >> 4
    })
}

/// Returns where in `bytes` the first word begins whose letter is one of ours; `follows` may begin one
/// at their start.
fn place(bytes: &[u8], follows: u8) -> Option<usize> {
    let mut follows = follows;
    for (at, byte) in bytes.iter().enumerate() {
        let place = PLACES[usize::from(*byte)];
        if place & follows != 0 {
            return Some(at);
        }
        follows = place >> 4;
    }
    None
}

/// Says whether a word that tells of a failure may begin with these two bytes, in either case.
fn may_name(first: u8, second: u8) -> bool {
    // The two cases of a letter differ by 32, which a shift of 32 bits does not see.
    SECONDS[usize::from(first)].wrapping_shr(u32::from(second.wrapping_sub(b'a'))) & 1 == 1
}

fn opens(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| OPENS[usize::from(*byte)])
        && (OPENINGS.iter().any(|mark| begins_with(bytes, mark))
            || is_numbered(bytes)
            || is_make(text))
}

fn begins_with(text: &[u8], mark: &str) -> bool {
    let mark = mark.as_bytes();
    let found = text
        .get(..mark.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(mark));
    let ends_in_letter = mark.last().is_some_and(u8::is_ascii_alphabetic);
    let goes_on = || text.get(mark.len()).is_some_and(u8::is_ascii_alphabetic);
    found && !(ends_in_letter && goes_on())
}

/// `1) should return -1`
fn is_numbered(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (1..=4).contains(&digits) && text[digits..].starts_with(b") ")
}

/// `make[1]: *** [all] Terminated`
fn is_make(text: &str) -> bool {
    text.starts_with("make") && text.contains(": *** ")
}

/// Says whether a line is what a test said, as go prints it: `    add_test.go:12: got 4`.
pub(super) fn is_placed(line: &str) -> bool {
    let text = line.trim_start_matches([' ', '\t']);
    let indent = line.len() - text.len();
    if indent == 0 || indent < 4 && !line.starts_with('\t') {
        return false;
    }
    let Some((file, rest)) = text.split_once(':') else {
        return false;
    };
    let name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0
        && rest[digits..].starts_with(": ")
        && file.bytes().all(name)
        && file
            .rsplit_once('.')
            .is_some_and(|(stem, end)| !stem.is_empty() && !end.is_empty())
}

fn has_passed(text: &str) -> bool {
    let passed = PASSED_START.iter().any(|mark| text.starts_with(mark))
        || PASSED_END.iter().any(|mark| text.ends_with(mark))
        || text.contains(" PASSED ");
    passed && !text.contains("FAIL") && !text.contains("ERROR")
}

fn names_failure(bytes: &[u8], at: usize) -> bool {
    let letter = bytes[at].to_ascii_lowercase().wrapping_sub(b'a');
    let Some((start, end)) = RANGES.get(usize::from(letter)) else {
        return false;
    };
    // Most words of ours and of others differ in the third byte; a space is its own small letter.
    let Some(third) = bytes.get(at + 2).map(|byte| byte | 0x20) else {
        return false;
    };
    let begins = |word: &&&str| {
        third == word.as_bytes()[2]
            && bytes
                .get(at..at + word.len())
                .is_some_and(|text| text.eq_ignore_ascii_case(word.as_bytes()))
    };
    let Some(word) = WORDS[*start..*end].iter().find(begins) else {
        return false;
    };
    let end = at + word.len();
    // `error.rs`, `fail-fast`, `error_kind` are names, not reports.
    let name = matches!(bytes.get(end), Some(b'_' | b'-' | b'/'))
        || bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_lowercase);
    let none = match word.starts_with("exit") {
        true => !tells_code(&bytes[end..]),
        false => counts_none(bytes, at) || is_counted_none(&bytes[end..]),
    };
    !name && !none
}

/// `0 failed`, `No errors`, `without errors`
fn counts_none(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at].trim_ascii_end();
    ["0", "no", "without"].into_iter().any(|none| {
        let Some(start) = before.len().checked_sub(none.len()) else {
            return false;
        };
        before[start..].eq_ignore_ascii_case(none.as_bytes())
            && (start == 0 || !before[start - 1].is_ascii_alphanumeric())
    })
}

/// Says whether a count of none follows a word: `Failures: 0, `, `failed=0`.
fn is_counted_none(rest: &[u8]) -> bool {
    let letters = rest
        .iter()
        .take_while(|byte| byte.is_ascii_lowercase())
        .count();
    match &rest[letters..] {
        [b'=', b'0', after @ ..] | [b':', b' ', b'0', after @ ..] => {
            matches!(after, [] | [b',' | b';' | b')' | b'\n' | b'\r', ..])
                || rest[letters] == b'=' && after[0] == b' '
        }
        _ => false,
    }
}

/// Says whether a code other than 0 follows the word: ` 2`, `: -1`, ` code 101`.
fn tells_code(rest: &[u8]) -> bool {
    let fill = |byte: &&u8| byte.is_ascii_alphabetic() || b" :=(-".contains(byte);
    let filled = rest.iter().take(16).take_while(fill).count();
    let digits = rest[filled..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit());
    digits.clone().any(|digit| *digit != b'0')
}

#[cfg(test)]
mod tests;
