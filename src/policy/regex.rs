//! Regular expressions, compiled for what they are asked about: a hook judges a path or a few lines and
//! ends, so that making an automaton costs more than it saves, and compiling a pattern whose fixed part
//! is nowhere in the text is for nothing.

use std::sync::{Arc, OnceLock};

use regex_automata::{meta, nfa::thompson::WhichCaptures, util::syntax};
use regex_syntax::hir::{Hir, HirKind, literal};

use super::{
    diagnostic::Code,
    effort::{self, Spent},
};

/// The memory a compiled regular expression may take.
const SIZE_LIMIT: usize = 1 << 20;
/// From how many bytes of text times bytes of the compiled pattern on an automaton is worth making:
/// without one, a match may look at all of the pattern at each byte.
const WORK: usize = 16 << 20;
/// More than a state of a compiled pattern takes, and than a transition of one.
const STATE: usize = 64;
const TRANSITION: usize = 16;
/// The most alternatives that are looked for in place of a pattern.
const NEEDLE_LIMIT: usize = 8;

/// A regular expression in the syntax of the regex crate. What it answers does not depend on whether
/// and how it was compiled.
#[derive(Clone, Debug)]
pub(super) struct Regex {
    text: Arc<str>,
    /// Texts of which every match holds one; empty where no such texts are known.
    needles: Arc<[Box<str>]>,
    quick: Arc<OnceLock<meta::Regex>>,
    thorough: Arc<OnceLock<Option<meta::Regex>>>,
}

impl Regex {
    /// Accepts a pattern; the error is its code and one line.
    pub(super) fn new(pattern: &str) -> Result<Self, (Code, String)> {
        let spend = |steps| effort::spend(steps).map_err(|Spent(reason)| (Code::E09, reason));
        let refused = |reason| (Code::E08, reason);
        spend(reading(pattern))?;
        let tree = parse(pattern).map_err(refused)?;
        let regex = Self {
            text: pattern.into(),
            needles: needles(&tree).into(),
            quick: Arc::default(),
            thorough: Arc::default(),
        };
        let bound = size(&tree);
        if bound > SIZE_LIMIT {
            spend(compiling(bound))?;
            let compiled = compile(pattern, Some(SIZE_LIMIT)).map_err(refused)?;
            regex.quick.get_or_init(|| compiled);
        }
        Ok(regex)
    }

    /// Says whether `text` holds a match.
    pub(super) fn is_match(&self, text: &str) -> bool {
        if !self.may_match(text) {
            return false;
        }
        let quick = self.quick();
        if is_light(quick, text) {
            return quick.is_match(text);
        }
        let thorough = self.thorough.get_or_init(|| {
            let mut builder = meta::Builder::new();
            builder
                .configure(config(Some(SIZE_LIMIT)))
                .build(&self.text)
                .ok()
        });
        thorough.as_ref().unwrap_or(quick).is_match(text)
    }

    /// Says whether a part of `text` can hold a match, from what every match holds.
    pub(super) fn may_match(&self, text: &str) -> bool {
        let mut needles = self.needles.iter();
        self.needles.is_empty() || needles.any(|needle| text.contains(&**needle))
    }

    fn quick(&self) -> &meta::Regex {
        self.quick.get_or_init(|| {
            compile(&self.text, None)
                .expect("a pattern that parses compiles where memory has no limit")
        })
    }

    /// Returns the pattern.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }
}

fn is_light(regex: &meta::Regex, text: &str) -> bool {
    text.len().saturating_mul(regex.memory_usage()) < WORK
}

fn refused(pattern: &str, reason: &str) -> String {
    format!("'{pattern}' is not a regular expression: {reason}")
}

fn parse(pattern: &str) -> Result<Hir, String> {
    syntax::parse(pattern).map_err(|error| {
        let text = error.to_string();
        let last = text.lines().last().unwrap_or_default();
        refused(pattern, last.trim_start_matches("error: "))
    })
}

fn compile(pattern: &str, limit: Option<usize>) -> Result<meta::Regex, String> {
    let tree = parse(pattern)?;
    meta::Builder::new()
        .configure(config(limit).hybrid(false).onepass(false))
        .build_from_hir(&tree)
        .map_err(|error| match error.size_limit() {
            Some(limit) => refused(
                pattern,
                &format!("compiled it takes more than {limit} bytes"),
            ),
            None => refused(pattern, &error.to_string()),
        })
}

/// Only whether there is a match is asked, never where.
fn config(limit: Option<usize>) -> meta::Config {
    meta::Config::new()
        .which_captures(WhichCaptures::None)
        .nfa_size_limit(limit)
}

/// Returns the steps of reading a pattern: names of classes stand for hundreds of ranges, which are
/// gone through once more where capitals do not count.
fn reading(pattern: &str) -> usize {
    let bytes = pattern.as_bytes();
    let named = bytes
        .windows(2)
        .filter(|pair| pair[0] == b'\\' && pair[1].is_ascii_alphabetic())
        .count();
    let folds = pattern.split("(?").skip(1).any(|rest| {
        let mut flags = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'-');
        flags.any(|flag| flag == b'i')
    });
    let folded = match folds {
        true => bytes.iter().filter(|byte| **byte == b'[').count() + named,
        false => 0,
    };
    1 + bytes.len() + 64 * named + 256 * folded
}

/// Returns the steps of compiling a pattern of this size, of which no more is made than is allowed.
fn compiling(bound: usize) -> usize {
    bound.min(4 * SIZE_LIMIT) / STATE
}

/// Returns the most bytes that the tree of a pattern may take compiled.
fn size(tree: &Hir) -> usize {
    let inner = match tree.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(literal) => literal.0.len().saturating_mul(STATE + TRANSITION),
        HirKind::Class(class) => match class {
            regex_syntax::hir::Class::Bytes(class) => class.ranges().len() * TRANSITION,
            regex_syntax::hir::Class::Unicode(class) => class
                .ranges()
                .iter()
                .map(|range| sequences(range.start(), range.end()) * (STATE + TRANSITION))
                .sum(),
        },
        HirKind::Repetition(repetition) => {
            let least = usize::try_from(repetition.min).unwrap_or(usize::MAX);
            let most = repetition
                .max
                .map_or(Some(0), |max| usize::try_from(max).ok());
            let copies = least.max(most.unwrap_or(usize::MAX)).saturating_add(2);
            let each = size(&repetition.sub).saturating_add(2 * STATE);
            copies.saturating_mul(each)
        }
        HirKind::Capture(capture) => size(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts
            .iter()
            .map(|part| size(part).saturating_add(TRANSITION))
            .fold(0, usize::saturating_add),
    };
    inner.saturating_add(4 * STATE)
}

/// Returns the most bytes that are told apart for a range of characters: where it spans all of a
/// length of UTF-8 less, where it begins and ends inside one at most two of each byte but the first.
fn sequences(start: char, end: char) -> usize {
    (start.len_utf8()..=end.len_utf8())
        .map(|length| length * (2 * length - 1))
        .sum()
}

/// Returns texts of which every match holds one, where few are enough.
fn needles(tree: &Hir) -> Vec<Box<str>> {
    [literal::ExtractKind::Prefix, literal::ExtractKind::Suffix]
        .into_iter()
        .find_map(|kind| held(tree, kind))
        .unwrap_or_default()
}

fn held(tree: &Hir, kind: literal::ExtractKind) -> Option<Vec<Box<str>>> {
    let mut extractor = literal::Extractor::new();
    extractor.kind(kind).limit_total(NEEDLE_LIMIT);
    let sequence = extractor.extract(tree);
    let literals = sequence.literals()?;
    let texts = literals.iter().map(|literal| {
        let text = std::str::from_utf8(literal.as_bytes()).ok()?;
        (!text.is_empty()).then(|| text.into())
    });
    let texts: Vec<Box<str>> = texts.collect::<Option<_>>()?;
    // Without any, nothing matches at all: that is left to the pattern itself.
    (!texts.is_empty()).then_some(texts)
}

#[cfg(test)]
mod tests {
    use super::{Code, Regex, SIZE_LIMIT, WORK, compile, effort, is_light, parse, size};

    #[test]
    fn short_and_long_texts_are_answered_alike() {
        let patterns = [
            "^gen[0-9]+/.*[.]rs$",
            "(?i:TODO)",
            r"\bдом\b",
            r"(?m)^a+b$",
            "",
            "x{3,5}y",
        ];
        let texts = [
            "gen7/a.rs",
            "a todo",
            "мой дом тут",
            "c\naab\nd",
            "",
            "xxy xxxxy",
        ];
        for (pattern, text) in patterns.into_iter().flat_map(|p| texts.map(|t| (p, t))) {
            let regex = Regex::new(pattern).unwrap();
            let known = regex::Regex::new(pattern).unwrap();
            assert_eq!(
                regex.is_match(text),
                known.is_match(text),
                "{pattern} {text}"
            );
            let long = format!(
                "{text}{}",
                "\n".repeat(WORK / regex.quick().memory_usage().max(1) + 1)
            );
            assert!(
                is_light(regex.quick(), text) && !is_light(regex.quick(), &long),
                "{pattern}"
            );
            assert_eq!(
                regex.is_match(&long),
                known.is_match(&long),
                "{pattern} {text} long"
            );
        }
    }

    #[test]
    fn a_large_pattern_is_made_an_automaton_for_a_shorter_text() {
        let (small, large) = (
            Regex::new("^a.*z$").unwrap(),
            Regex::new("\\w{1,40}x").unwrap(),
        );
        let text = "a".repeat(1_000);
        assert!(is_light(small.quick(), &text));
        assert!(!is_light(large.quick(), &text));
    }

    /// Patterns of every kind, some with a fixed part and some without.
    const KINDS: [&str; 27] = [
        "dbg!",
        "^gen3/.*[.]rs$",
        ".*[.]rs$",
        "(foo|bar)baz",
        "(?i:todo)",
        "(?i)k",
        "a?b*",
        "x|",
        "\\w+\\s*=\\s*\\d{1,3}",
        "[^x]y",
        "(?s:.)z",
        "[\u{80}-\u{10FFFF}]{3}",
        "é+",
        "(ab|cd|ef|gh|ij|kl|mn|op|qr)z",
        "\\bfn\\b",
        "(?m)^a$",
        "[a-z]{2,}@[a-z]+",
        "(a|ab)(c|bcd)(d*)",
        "\\p{Greek}",
        "(x{3}){4}",
        "(?:)",
        "[^\\s\\S]",
        "日本",
        "(?x) a b # c",
        "a{0}b",
        "[ab]{0,9}c",
        "\\PL\\w",
    ];

    #[test]
    fn what_a_match_must_hold_never_hides_one() {
        let texts = [
            "",
            "dbg!",
            "gen3/a.rs",
            "x.rs\n",
            "foobaz",
            "ToDo",
            "\u{212a}",
            "b",
            "fn x() = 12",
            "ay",
            "\nz",
            "ééé",
            "cdz",
            "qrz",
            "a",
            "ab@c",
            "abcd",
            "λ",
            "xxxxxxxxxxxx",
            "日本語",
            "c",
        ];
        for (pattern, text) in KINDS.into_iter().flat_map(|p| texts.map(|t| (p, t))) {
            effort::begin();
            let known = regex::Regex::new(pattern).unwrap();
            let regex = Regex::new(pattern).unwrap();
            assert_eq!(
                regex.is_match(text),
                known.is_match(text),
                "{pattern} {text}"
            );
        }
        assert!(!Regex::new("dbg!").unwrap().may_match("let x;"));
        assert!(!Regex::new(".*[.]rs$").unwrap().may_match("a.py"));
        assert!(Regex::new("a?b*").unwrap().may_match("x"));
    }

    #[test]
    fn no_pattern_is_larger_than_its_bound() {
        for pattern in KINDS {
            let bound = size(&parse(pattern).unwrap());
            assert!(compile(pattern, Some(bound)).is_ok(), "{pattern} {bound}");
        }
        for pattern in ["\\w{900}{900}", "[^x]{9000}", "(\\w\\d){400}"] {
            assert!(size(&parse(pattern).unwrap()) > SIZE_LIMIT, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_is_compiled_when_a_text_may_match_it() {
        let regex = Regex::new("^gen[0-9]/a").unwrap();
        assert!(!regex.is_match("src/a.rs"));
        assert!(regex.quick.get().is_none());
        assert!(regex.is_match("gen7/a.rs"));
        assert!(regex.quick.get().is_some());
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line() {
        for (pattern, reason) in [
            ("(", "unclosed group"),
            ("\\w{900}{900}", "compiled it takes more than 1048576 bytes"),
        ] {
            let wanted = format!("'{pattern}' is not a regular expression: {reason}");
            assert_eq!(Regex::new(pattern).unwrap_err(), (Code::E08, wanted));
        }
    }
}
