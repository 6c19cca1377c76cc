//! Secrets that are known by their own shape.

use super::{LETTER, SIGN, Secret, begins_word, is_mixed, run, run_at_most};

/// A token: a fixed prefix, then so many bytes of a class.
struct Form {
    kind: &'static str,
    prefix: &'static str,
    class: fn(u8) -> bool,
    least: usize,
    most: usize,
}

const fn form(kind: &'static str, prefix: &'static str, class: fn(u8) -> bool) -> Form {
    Form {
        kind,
        prefix,
        class,
        least: 20,
        most: usize::MAX,
    }
}

const fn exact(form: Form, length: usize) -> Form {
    Form {
        least: length,
        most: length,
        ..form
    }
}

const fn least(form: Form, length: usize) -> Form {
    Form {
        least: length,
        ..form
    }
}

fn upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn alnum(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn word(byte: u8) -> bool {
    alnum(byte) || byte == b'_'
}

fn url(byte: u8) -> bool {
    word(byte) || byte == b'-'
}

fn dotted(byte: u8) -> bool {
    url(byte) || byte == b'.'
}

fn padded(byte: u8) -> bool {
    url(byte) || matches!(byte, b'=' | b'+' | b'/' | b'%')
}

fn path(byte: u8) -> bool {
    url(byte) || byte == b'/'
}

fn hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

const FORMS: [Form; 45] = [
    exact(form("aws-key", "AKIA", upper), 16),
    exact(form("aws-key", "ASIA", upper), 16),
    exact(form("google-key", "AIza", url), 35),
    form("google-token", "ya29.", dotted),
    least(form("github-token", "ghp_", alnum), 36),
    least(form("github-token", "gho_", alnum), 36),
    least(form("github-token", "ghu_", alnum), 36),
    least(form("github-token", "ghs_", alnum), 36),
    least(form("github-token", "ghr_", alnum), 36),
    form("github-token", "github_pat_", word),
    form("gitlab-token", "glpat-", url),
    form("gitlab-token", "gldt-", url),
    form("gitlab-token", "glrt-", url),
    least(form("slack-token", "xoxb-", url), 10),
    least(form("slack-token", "xoxp-", url), 10),
    least(form("slack-token", "xoxa-", url), 10),
    least(form("slack-token", "xoxr-", url), 10),
    least(form("slack-token", "xoxs-", url), 10),
    least(form("slack-token", "xoxc-", url), 10),
    least(form("slack-token", "xoxd-", padded), 10),
    least(form("slack-token", "xoxe-", url), 10),
    least(form("slack-token", "xapp-", url), 10),
    form("slack-webhook", "hooks.slack.com/services/", path),
    form("anthropic-key", "sk-ant-", url),
    least(form("openrouter-key", "sk-or-v1-", alnum), 32),
    form("openai-key", "sk-admin-", url),
    form("openai-key", "sk-proj-", url),
    form("openai-key", "sk-svcacct-", url),
    least(form("openai-key", "sk-", alnum), 32),
    least(form("stripe-key", "sk_live_", alnum), 16),
    least(form("stripe-key", "rk_live_", alnum), 16),
    exact(form("npm-token", "npm_", alnum), 36),
    least(form("pypi-token", "pypi-AgEI", url), 50),
    exact(form("crates-token", "cio", alnum), 32),
    exact(form("huggingface-token", "hf_", alnum), 34),
    least(form("sendgrid-key", "SG.", dotted), 60),
    exact(form("digitalocean-token", "dop_v1_", hex), 64),
    least(form("shopify-token", "shpat_", hex), 32),
    form("vault-token", "hvs.", url),
    form("docker-token", "dckr_pat_", url),
    form("docker-token", "dckr_oat_", url),
    form("google-secret", "GOCSPX-", url),
    form("webhook-secret", "whsec_", padded),
    form("atlassian-token", "ATATT3", padded),
    exact(form("age-key", "AGE-SECRET-KEY-1", upper), 58),
];

/// What a web token begins with: an object of JSON in base64.
const WEB: &str = "eyJ";

/// For each byte that begins a form, the bytes after it, as bits: one bit stands for several.
const SECONDS: [u64; 128] = {
    let mut seconds = [0; 128];
    let web = WEB.as_bytes();
    seconds[web[0] as usize] |= 1 << (web[1] % 64);
    let mut at = 0;
    while at < FORMS.len() {
        let prefix = FORMS[at].prefix.as_bytes();
        seconds[prefix[0] as usize] |= 1 << (prefix[1] % 64);
        at += 1;
    }
    seconds
};

/// Returns where `byte` begins a form: nowhere, anywhere, or where a word may begin.
pub(super) const fn begins(byte: u8) -> u8 {
    match byte {
        b'-' | b':' => SIGN,
        0..128 if SECONDS[byte as usize] != 0 => LETTER,
        _ => 0,
    }
}

/// Returns the secret that begins at `at`, if its shape gives it away.
pub(super) fn secret(text: &[u8], at: usize) -> Option<Secret> {
    match text[at] {
        b'-' => private_key(text, at),
        b':' => url_password(text, at),
        _ if begins_word(text, at) && may_begin(&text[at..]) => {
            token(text, at).or_else(|| web_token(text, at))
        }
        _ => None,
    }
}

/// Says whether the first two bytes of `text` may be those of a token.
fn may_begin(text: &[u8]) -> bool {
    let [first, second, ..] = text else {
        return false;
    };
    let seconds = SECONDS.get(usize::from(*first)).unwrap_or(&0);
    seconds >> (second % 64) & 1 == 1
}

fn token(text: &[u8], at: usize) -> Option<Secret> {
    let form = FORMS
        .iter()
        .find(|form| text[at..].starts_with(form.prefix.as_bytes()) && fits(form, text, at))?;
    let body = at + form.prefix.len();
    Some(Secret {
        kind: form.kind,
        range: at..run(text, body, form.class),
    })
}

/// How much of a token is looked at to see whether it is one.
const JUDGED: usize = 128;

fn fits(form: &Form, text: &[u8], at: usize) -> bool {
    let body = at + form.prefix.len();
    let end = run_at_most(text, body, JUDGED, form.class);
    let token = &text[body..end];
    // A placeholder (`ghp_xxxx…`) has no digit or no letter.
    (form.least..=form.most).contains(&token.len())
        && is_mixed(token)
        && (form.kind != "aws-key" || !is_word_and_number(token))
}

/// `PACIFIC123456789`
fn is_word_and_number(token: &[u8]) -> bool {
    let letters = token
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    token.len() - letters > 4 && token[letters..].iter().all(u8::is_ascii_digit)
}

/// How long the first part of a web token is at most.
const WEB_HEAD: usize = 1_024;

/// Three parts in base64 with dots between, the first two beginning like a JSON object.
fn web_token(text: &[u8], at: usize) -> Option<Secret> {
    let mut end = at;
    for (part, start) in [WEB, WEB, ""].into_iter().enumerate() {
        let from = if part == 0 { at } else { end + 1 };
        let dot = part == 0 || text.get(end) == Some(&b'.');
        if !dot || !text.get(from..)?.starts_with(start.as_bytes()) {
            return None;
        }
        end = match part {
            0 => run_at_most(text, from, WEB_HEAD, url),
            _ => run(text, from, url),
        };
        if end - from < 10 {
            return None;
        }
    }
    Some(Secret {
        kind: "web-token",
        range: at..end,
    })
}

/// The body of a private key in PEM or of PGP; the lines around it stay.
fn private_key(text: &[u8], at: usize) -> Option<Secret> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    const DASHES: &[u8] = b"-----";
    if !text[at..].starts_with(BEGIN) {
        return None;
    }
    let name = at + BEGIN.len();
    let name_end = run_at_most(text, name, 64, |byte| byte == b' ' || upper(byte));
    if !text[name_end..].starts_with(DASHES) {
        return None;
    }
    let class = match &text[name..name_end] {
        name if name.ends_with(b"PRIVATE KEY") => pem,
        name if name.ends_with(b"PRIVATE KEY BLOCK") => armor,
        _ => return None,
    };
    let body = name_end + DASHES.len();
    let mut end = run(text, body, class);
    while text[end..].starts_with(b"-") && !text[end..].starts_with(DASHES) {
        end = run(text, end + 1, class);
    }
    // Leaves the line ends around the body, so that the frame still reads as one, and the backslash of
    // a quote that ends it in JSON.
    while end > body && (text[end - 1].is_ascii_whitespace() || text[end - 1] == b'\\') {
        end -= 1;
    }
    let start = (body..end).find(|at| !text[*at].is_ascii_whitespace())?;
    (end - start >= 40).then_some(Secret {
        kind: "private-key",
        range: start..end,
    })
}

/// The bytes of a key and its headers, but for the dash.
fn pem(byte: u8) -> bool {
    alnum(byte) || b"+/=\\ :,\r\n\t".contains(&byte)
}

fn armor(byte: u8) -> bool {
    pem(byte) || b".()@<>_".contains(&byte)
}

/// The password of `scheme://user:password@host`, seen from the colon before it.
fn url_password(text: &[u8], at: usize) -> Option<Secret> {
    let rest = text.get(at + 1..)?;
    if rest.starts_with(b"//") || !has_user_before(text, at) {
        return None;
    }
    let stop = rest
        .iter()
        .position(|byte| byte.is_ascii_whitespace() || b"@/\"'<>`".contains(byte))?;
    let password = &rest[..stop];
    if rest[stop] != b'@' || password.len() < 3 || is_placeholder(password) {
        return None;
    }
    Some(Secret {
        kind: "url-password",
        range: at + 1..at + 1 + stop,
    })
}

/// The bytes of a user's name in an address.
const USER: [bool; 256] = {
    let mut user = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let own = byte as u8;
        user[byte] =
            own.is_ascii_alphanumeric() || matches!(own, b'_' | b'-' | b'.' | b'%' | b'+' | b'~');
        byte += 1;
    }
    user
};

fn has_user_before(text: &[u8], at: usize) -> bool {
    let least = at.saturating_sub(128);
    let other = text[least..at]
        .iter()
        .rposition(|byte| !USER[usize::from(*byte)]);
    let start = other.map_or(least, |other| least + other + 1);
    text[..start].ends_with(b"://")
}

/// Says whether a value only stands for a secret: `$VAR`, `<token>`, `[masked]`, `****`, `changeme`.
///
/// Of a long one its start is enough.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    // The first line of a key in PEM says that one follows, and is none.
    if value.starts_with(b"-----") {
        return true;
    }
    const WORDS: [&str; 22] = [
        "changeme",
        "your-",
        "your_",
        "yourtoken",
        "test-",
        "test_",
        "not-set",
        "not_set",
        "notset",
        "undefined",
        "insert-",
        "example",
        "placeholder",
        "redacted",
        "password",
        "dummy",
        "secret",
        "token",
        "masked",
        "xxxx",
        "none",
        "null",
    ];
    let Some(first) = value.first() else {
        return true;
    };
    if b"$<[{%(*".contains(first) || value.iter().all(|byte| byte == first) {
        return true;
    }
    WORDS.iter().any(|word| {
        let start = value.get(..word.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
    })
}
