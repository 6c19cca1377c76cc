//! Secrets that are known by the name in front of them.

use std::ops::Range;

use super::{Secret, begins_word, form::is_placeholder, is_mixed, looked, run, run_at_most};

/// The last part of a name that says its value is a secret, without separators.
const NAMES: [&str; 15] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "secretkey",
    "secretaccesskey",
    "secretkeybase",
    "encryptionkey",
    "apikey",
    "accesskey",
    "accountkey",
    "privatekey",
    "token",
    "credential",
    "credentials",
];

/// How much of a value decides whether it is a secret; all of a secret is masked, however long.
const JUDGED: usize = 512;
/// How many blanks may stand between a sign and its value.
const BLANKS: usize = 16;

/// Returns the secret whose value begins at `at`: after `NAME=`, `"name": "` or `Bearer `.
pub(super) fn secret(text: &[u8], at: usize) -> Option<Secret> {
    match *text.get(at.checked_sub(1)?)? {
        b' ' if begins_value(text[at]) => bearer(text, at).or_else(|| named(text, at)),
        before if stands_before(before) && begins_value(text[at]) => named(text, at),
        _ => None,
    }
}

/// Says whether what begins at `at` stands after a blank, and before that no sign and no scheme.
pub(super) fn is_plain_word(text: &[u8], at: usize) -> bool {
    let [.., before, b' ' | b'\t'] = text[..at] else {
        return matches!(text[..at], [b' ' | b'\t']);
    };
    !matches!(before, b' ' | b'\t' | b'=' | b':' | b'r' | b'R')
}

/// Says whether `byte` may stand right before a value.
pub(super) const fn stands_before(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'=' | b':' | b'"' | b'\'')
}

pub(super) const fn begins_value(byte: u8) -> bool {
    value_byte(byte) && byte != b'=' || matches!(byte, b'&' | b'?' | 0xc2..=0xf4)
}

const fn value_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'+' | b'/'
                | b'='
                | b'_'
                | b'.'
                | b'~'
                | b'!'
                | b'@'
                | b'#'
                | b'%'
                | b'^'
                | b'*'
                | b'-'
        )
}

/// What an exported value is made of, where no quote says where it ends.
const fn shell_byte(byte: u8) -> bool {
    !matches!(byte, b';' | b'"' | b'\'' | b'`' | b'\\' | 0..=b' ' | 0x7f)
}

/// What may follow in a bare value that is known for a secret.
const fn rest_byte(byte: u8) -> bool {
    shell_byte(byte) && !matches!(byte, b',' | b')' | b']' | b'}' | b'>' | b'<')
}

fn bearer(text: &[u8], at: usize) -> Option<Secret> {
    const SCHEME: &[u8] = b"bearer";
    let before = &text[..at - 1];
    let scheme = before.len().checked_sub(SCHEME.len())?;
    let named = before[scheme..].eq_ignore_ascii_case(SCHEME) && begins_word(text, scheme);
    named.then(|| credentials(text, at))?
}

/// `Authorization: scheme credentials`, seen from the scheme.
fn authorization(text: &[u8], at: usize) -> Option<Secret> {
    let scheme = run_at_most(text, at, 20, |byte| {
        byte.is_ascii_alphanumeric() || byte == b'-'
    });
    let value = run_at_most(text, scheme, BLANKS, |byte| byte == b' ');
    let after = match text.get(value) {
        Some(byte) if value > scheme && begins_value(*byte) => credentials(text, value),
        Some(_) | None => None,
    };
    after.or_else(|| {
        let end = bare(text, at, Context::Bare)?;
        Some(Secret {
            kind: "authorization",
            range: at..end,
        })
    })
}

fn credentials(text: &[u8], at: usize) -> Option<Secret> {
    let judged = run_at_most(text, at, JUDGED, value_byte);
    let value = &text[at..judged];
    (value.len() >= 16 && is_mixed(value)).then(|| Secret {
        kind: "authorization",
        range: at..run(text, judged, value_byte),
    })
}

/// The value of an assignment whose name ends in one of the names above.
fn named(text: &[u8], at: usize) -> Option<Secret> {
    let quote = Quote::before(&text[..at]);
    let before = quote
        .as_ref()
        .map_or(&text[..at], |quote| &text[..quote.at]);
    let (sign, name) = trim_blanks(before).split_last()?;
    let blanks = before.len() - name.len() - 1;
    // `name => 'value'`
    let name = match sign {
        b'>' => name.strip_suffix(b"=")?,
        b'=' | b':' => name,
        _ => return None,
    };
    if blanks > BLANKS {
        return None;
    }
    let name = trim_blanks(name);
    let name = last_name(Quote::before(name).map_or(name, |quote| &name[..quote.at]));
    if ends_in(name, "authorization") {
        return authorization(text, at);
    }
    if name.is_empty() || !is_secret_name(name) {
        return None;
    }
    let exported = *sign == b'=' && blanks == 0 && is_constant(name);
    let closed = quote.as_ref().and_then(|quote| quote.end(text, at));
    let end = match (closed, quote) {
        (Some(end), _) => quoted(text, at..end, exported)?,
        (None, _) if exported => shell(text, at)?,
        (None, Some(_)) => bare(text, at, Context::Quoted)?,
        (None, None) => bare(text, at, Context::Bare)?,
    };
    Some(Secret {
        kind: "password",
        range: at..end,
    })
}

/// The end of a secret between quotes: that of the value, which holds blanks only where it is exported.
fn quoted(text: &[u8], range: Range<usize>, exported: bool) -> Option<usize> {
    let value = &text[range.start..range.end.min(range.start + JUDGED)];
    let blank = value.iter().any(u8::is_ascii_whitespace);
    let context = match (exported, blank) {
        (true, false) => Context::Exported,
        (true, true) if is_mixed(value) => Context::Exported,
        (false, false) => Context::Quoted,
        (_, true) => return None,
    };
    let secret = !is_placeholder(value) && !is_place(value) && is_random(value, context);
    secret.then_some(range.end)
}

/// The end of the secret that is exported without quotes.
fn shell(text: &[u8], at: usize) -> Option<usize> {
    let start = &text[..text.len().min(at + JUDGED)];
    let value = &start[at..shell_end(start, at)];
    let secret = !is_placeholder(value)
        && !is_place(value)
        && !is_code(value)
        && is_random(value, Context::Exported);
    secret.then(|| shell_end(text, at))
}

fn shell_end(text: &[u8], at: usize) -> usize {
    let mut end = run(text, at, shell_byte);
    // A backslash before a letter or a quote is of the string around, and ends the line or it.
    while let [b'\\', next, ..] = &text[end..]
        && !(next.is_ascii_alphabetic() || matches!(next, b'"' | b'\'' | 0..=b' '))
    {
        let escape = 1 + usize::from(*next == b'\\');
        end = run(text, end + escape, shell_byte);
    }
    end
}

/// The end of the secret that stands bare, or in a quote that nothing closes; of `=` it holds those at
/// its end.
fn bare(text: &[u8], at: usize, context: Context) -> Option<usize> {
    let padding = run_at_most(text, at, JUDGED, |byte| value_byte(byte) && byte != b'=');
    let judged = run_at_most(text, padding, 3, |byte| byte == b'=');
    let value = &text[at..judged];
    let code = matches!(text.get(judged), Some(b'(' | b':' | b'['));
    let secret = !code && !is_placeholder(value) && !is_place(value) && is_random(value, context);
    secret.then(|| run(text, judged, rest_byte))
}

/// Says whether a value is a path or an address.
fn is_place(value: &[u8]) -> bool {
    let scheme = value.iter().take_while(|byte| byte.is_ascii_alphanumeric());
    let scheme = scheme.count();
    let address = scheme > 0 && value[scheme..].starts_with(b"://");
    let starts: [&[u8]; 4] = [b"/", b"./", b"../", b"~"];
    address || starts.iter().any(|start| value.starts_with(start))
}

/// Says whether a value is an expression: `os.environ[…`, `getenv(…`, `process.env.SECRET`, `a::b`.
fn is_code(value: &[u8]) -> bool {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.');
    let length = value.iter().take_while(|byte| part(byte)).count();
    let (name, rest) = value.split_at(length);
    let call = matches!(rest, [b'(' | b'[', ..] | [b':', b':', ..]) && !name.is_empty();
    let dotted = rest.is_empty()
        && name.contains(&b'.')
        && !name.iter().any(u8::is_ascii_digit)
        && name
            .split(|byte| *byte == b'.')
            .all(|part| !part.is_empty());
    call || dotted
}

/// The quote that opens a value.
struct Quote {
    at: usize,
    mark: u8,
    /// How many strings of JSON it stands in, each of which escapes it once more.
    depth: u32,
}

impl Quote {
    /// Returns the quote that ends `text`.
    fn before(text: &[u8]) -> Option<Self> {
        let [rest @ .., mark @ (b'"' | b'\'')] = text else {
            return None;
        };
        let slashes = rest.iter().rev().take(64);
        let slashes = slashes.take_while(|byte| **byte == b'\\').count();
        let depth = match (slashes + 1).is_power_of_two() {
            true => (slashes + 1).trailing_zeros(),
            false => 0,
        };
        Some(Self {
            at: rest.len() - escapes(depth),
            mark: *mark,
            depth,
        })
    }

    /// Returns where the value that begins at `from` is closed, on the same line.
    fn end(&self, text: &[u8], from: usize) -> Option<usize> {
        let mut slashes = 0;
        for (at, byte) in text.iter().enumerate().skip(from) {
            match *byte {
                b'\\' => slashes += 1,
                mark if mark == self.mark => {
                    if let Some(escapes) = self.closing(slashes) {
                        looked(at - from);
                        return Some(at - escapes);
                    }
                    slashes = 0;
                }
                // A string that goes around this one ends here.
                b'\n' | b'\r' | b'"' => {
                    looked(at - from);
                    return None;
                }
                _ => slashes = 0,
            }
        }
        looked(text.len() - from);
        None
    }

    /// Returns how many of so many backslashes belong to our mark where it closes the value, or a
    /// string around it.
    fn closing(&self, slashes: usize) -> Option<usize> {
        let mut left = slashes;
        for depth in 0..self.depth {
            if left.is_multiple_of(2) {
                return Some(escapes(depth));
            }
            left /= 2;
        }
        // A shell takes a backslash between single quotes as it is.
        let closes = left.is_multiple_of(2) || self.depth == 0 && self.mark == b'\'';
        closes.then_some(escapes(self.depth))
    }
}

/// How many backslashes stand before a quote at this depth.
const fn escapes(depth: u32) -> usize {
    (1 << depth) - 1
}

fn trim_blanks(text: &[u8]) -> &[u8] {
    let end = text
        .iter()
        .rposition(|byte| !matches!(byte, b' ' | b'\t'))
        .map_or(0, |last| last + 1);
    &text[..end]
}

/// The name that ends `text`, at most 64 bytes of it.
fn last_name(text: &[u8]) -> &[u8] {
    let length = text
        .iter()
        .rev()
        .take(64)
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte))
        .count();
    &text[text.len() - length..]
}

/// Says whether `name` is one of a secret and `value` one that may be.
pub(super) fn is_exported(name: &[u8], value: &[u8]) -> bool {
    is_secret_name(name) && is_random(value, Context::Exported)
}

fn is_secret_name(name: &[u8]) -> bool {
    NAMES.iter().any(|end| ends_in(name, end))
}

/// Says whether the letters and digits of `name` end in `end`.
fn ends_in(name: &[u8], end: &str) -> bool {
    let mut letters = name
        .iter()
        .rev()
        .filter(|byte| byte.is_ascii_alphanumeric());
    end.bytes().rev().all(|byte| {
        letters
            .next()
            .is_some_and(|letter| letter.to_ascii_lowercase() == byte)
    })
}

fn is_constant(name: &[u8]) -> bool {
    name.iter()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
}

/// What a value stands in.
enum Context {
    /// `NAME=value`
    Exported,
    /// `"name": "value"`
    Quoted,
    /// `name: value`
    Bare,
}

/// Says whether a value looks drawn rather than written. An exported variable or a quoted string is
/// believed sooner than a bare word, which may be an identifier or a path.
fn is_random(value: &[u8], context: Context) -> bool {
    let has = |class: fn(&u8) -> bool| value.iter().any(class);
    match context {
        Context::Exported => {
            value.len() >= 8
                && !value.starts_with(b"/")
                && has(|byte| !byte.is_ascii_digit() && *byte != b'.')
        }
        Context::Quoted => {
            value.len() >= 8 && is_mixed(value) && (!value.contains(&b'/') || is_base64(value))
        }
        Context::Bare => {
            // Also with the hyphens of a UUID.
            let digit = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b'-';
            let hex = value.len() >= 32 && value.iter().all(digit);
            let cases = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
            value.len() >= 16 && is_mixed(value) && (hex || cases) && !value.contains(&b'.')
        }
    }
}

/// Says whether a value is long base64 in both cases with digits, which a path seldom is.
fn is_base64(value: &[u8]) -> bool {
    let has = |class: fn(&u8) -> bool| value.iter().any(class);
    let byte = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=_-".contains(byte);
    value.len() >= 20
        && value.iter().all(byte)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
}
