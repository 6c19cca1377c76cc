//! Secrets that are known by the name in front of them.

use super::{Secret, begins_word, form::is_placeholder, is_mixed, run};

/// The last part of a name that says its value is a secret, without separators.
const NAMES: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "secretkey",
    "secretaccesskey",
    "apikey",
    "accesskey",
    "privatekey",
    "token",
    "credential",
    "credentials",
];

/// Returns the secret whose value begins at `at`: after `NAME=`, `"name": "` or `Bearer `.
pub(super) fn secret(text: &[u8], at: usize) -> Option<Secret> {
    match *text.get(at.checked_sub(1)?)? {
        b' ' if begins_value(text[at]) => bearer(text, at).or_else(|| named(text, at)),
        before if stands_before(before) && begins_value(text[at]) => named(text, at),
        _ => None,
    }
}

/// Says whether what begins at `at` stands after a space, and before that no sign and no scheme.
pub(super) fn is_plain_word(text: &[u8], at: usize) -> bool {
    let [.., before, b' '] = text[..at] else {
        return text[..at] == *b" ";
    };
    !matches!(before, b' ' | b'=' | b':' | b'r' | b'R' | b'c' | b'C')
}

/// Says whether `byte` may stand right before a value.
pub(super) const fn stands_before(byte: u8) -> bool {
    matches!(byte, b' ' | b'=' | b':' | b'"' | b'\'')
}

pub(super) const fn begins_value(byte: u8) -> bool {
    value_byte(byte) && byte != b'='
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

fn bearer(text: &[u8], at: usize) -> Option<Secret> {
    let before = &text[..at - 1];
    let scheme = ["bearer", "basic"].into_iter().find(|scheme| {
        before.len() >= scheme.len()
            && before[before.len() - scheme.len()..].eq_ignore_ascii_case(scheme.as_bytes())
    })?;
    if !begins_word(text, before.len() - scheme.len()) {
        return None;
    }
    let end = run(text, at, value_byte);
    let value = &text[at..end];
    // «basic» is also a word: only its header gives it away.
    let header = scheme == "bearer" || ends_with_header(&before[..before.len() - scheme.len()]);
    (header && value.len() >= 16 && is_mixed(value)).then_some(Secret {
        kind: "authorization",
        range: at..end,
    })
}

fn ends_with_header(before: &[u8]) -> bool {
    let line = before.trim_ascii_end();
    let header = b"authorization:";
    line.len() >= header.len() && line[line.len() - header.len()..].eq_ignore_ascii_case(header)
}

/// The value of an assignment whose name ends in one of the names above.
fn named(text: &[u8], at: usize) -> Option<Secret> {
    let opened = unquote(&text[..at]);
    let before = opened.unwrap_or(&text[..at]);
    let (sign, name) = trim_spaces(before).split_last()?;
    let spaces = before.len() - name.len() - 1;
    if !matches!(sign, b'=' | b':') || spaces > 2 {
        return None;
    }
    let name = trim_spaces(name);
    let name = last_name(unquote(name).unwrap_or(name));
    if name.is_empty() || !is_secret_name(name) {
        return None;
    }
    let end = run(text, at, value_byte);
    let value = &text[at..end];
    let code = matches!(text.get(end), Some(b'(' | b':'));
    if is_placeholder(value) || code {
        return None;
    }
    let context = match opened {
        _ if *sign == b'=' && spaces == 0 && is_constant(name) => Context::Exported,
        Some(_) => Context::Quoted,
        None => Context::Bare,
    };
    is_random(value, context).then_some(Secret {
        kind: "password",
        range: at..end,
    })
}

fn trim_spaces(text: &[u8]) -> &[u8] {
    let end = text
        .iter()
        .rposition(|byte| *byte != b' ')
        .map_or(0, |last| last + 1);
    &text[..end]
}

/// `text` without the quote that ends it, which JSON inside a string escapes.
fn unquote(text: &[u8]) -> Option<&[u8]> {
    let [rest @ .., b'"' | b'\''] = text else {
        return None;
    };
    Some(rest.strip_suffix(b"\\").unwrap_or(rest))
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
    NAMES.iter().any(|end| {
        let mut letters = name
            .iter()
            .rev()
            .filter(|byte| byte.is_ascii_alphanumeric());
        let mut end = end.bytes().rev();
        end.all(|byte| {
            letters
                .next()
                .is_some_and(|letter| letter.to_ascii_lowercase() == byte)
        })
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
        Context::Quoted => value.len() >= 8 && is_mixed(value) && !value.contains(&b'/'),
        Context::Bare => {
            let hex = value.len() >= 32 && value.iter().all(u8::is_ascii_hexdigit);
            let cases = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
            value.len() >= 16 && is_mixed(value) && (hex || cases) && !value.contains(&b'.')
        }
    }
}
