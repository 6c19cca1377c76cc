//! `.operator/requirements.yaml`: what each ref requires, and what counts as meeting it.

mod schema;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Duration,
};

use serde::Deserialize;

use super::{Grade, Rank};
use crate::{
    model::{Class, Digest, time},
    policy::Globs,
};

pub use schema::schema;

/// Where the file lies in a tree.
pub const PATH: &str = ".operator/requirements.yaml";
/// Where the keys lie whose signatures count.
pub const SIGNERS: &str = ".operator/allowed_signers";
const LIMIT: usize = 256 * 1024;
const VERSION: u64 = 1;

/// What a project requires.
#[derive(Debug, Default)]
pub struct Requirements {
    requires: Vec<Require>,
    pub criteria: BTreeMap<String, Criterion>,
    pub guards: Vec<Guard>,
    pub sign: Sign,
    pub exempt: Vec<Exempt>,
}

#[derive(Debug)]
struct Require {
    refs: Globs,
    criteria: Vec<String>,
}

/// What counts as meeting one criterion.
#[derive(Debug)]
pub struct Criterion {
    pub arg: Vec<String>,
    pub timeout: Option<Duration>,
    pub accept: Vec<Grade>,
    pub min_class: Rank,
    pub max_age: Option<Duration>,
    pub min_tests: Option<u64>,
    /// The JUnit report the command writes, relative to the top.
    pub junit: Option<PathBuf>,
    pub ratchet: Ratchet,
    pub flaky: Flaky,
    pub inputs: Option<Globs>,
    pub tests: Option<Globs>,
    pub deny_taint: Vec<String>,
    pub ok_exit: Vec<i32>,
    pub implies: Vec<String>,
    pub signers: Vec<String>,
    /// The digest a record carries that answers this very definition.
    pub definition: String,
}

/// Whether the number of tests may fall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ratchet {
    Off,
    On,
}

/// What FAIL and PASS of one command on one tree come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Flaky {
    #[default]
    Deny,
    Allow,
}

/// Paths whose change must be looked at.
#[derive(Debug)]
pub struct Guard {
    pub paths: Globs,
    /// What settles it; nothing does when there is none.
    pub criterion: Option<String>,
}

/// What is asked of signatures.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Sign {
    /// Records of required criteria must carry a trusted signature.
    #[serde(default)]
    pub required: bool,
    /// Public keys, one each as in an authorized_keys file, whose signatures no longer count.
    #[serde(default)]
    pub revoked: Vec<String>,
}

/// A requirement that is waived, until when and why.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Exempt {
    pub criterion: String,
    /// Which tasks' records it is about; every task's when absent.
    #[serde(default)]
    pub task: Option<String>,
    pub reason: String,
    /// The last day it holds.
    pub until: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawFile {
    version: u64,
    require: BTreeMap<String, RawRequire>,
    criterion: BTreeMap<String, RawCriterion>,
    #[serde(default)]
    guard: Vec<RawGuard>,
    #[serde(default)]
    sign: Sign,
    #[serde(default)]
    exempt: Vec<Exempt>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawRequire {
    #[serde(rename = "ref")]
    refs: Vec<String>,
    criterion: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawCriterion {
    #[serde(default)]
    arg: Vec<String>,
    #[serde(default)]
    timeout: Option<String>,
    #[serde(default)]
    accept: Vec<String>,
    #[serde(default)]
    min_class: Option<String>,
    #[serde(default)]
    max_age: Option<String>,
    #[serde(default)]
    min_tests: Option<u64>,
    #[serde(default)]
    junit: Option<PathBuf>,
    #[serde(default)]
    ratchet: bool,
    #[serde(default)]
    flaky: Flaky,
    #[serde(default)]
    input: Vec<String>,
    #[serde(default)]
    tests: Vec<String>,
    #[serde(default)]
    deny_taint: Vec<String>,
    #[serde(default)]
    ok_exit: Vec<i32>,
    #[serde(default)]
    implies: Vec<String>,
    #[serde(default)]
    signer: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawGuard {
    path: Vec<String>,
    #[serde(default)]
    criterion: Option<String>,
}

/// Taints a required criterion does not bear unless it says otherwise.
const DENIED: [&str; 2] = ["weak-command", "command-outside-subject"];

impl Requirements {
    /// Reads the file; the error says what is wrong with it. A file that requires nothing is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > LIMIT {
            return Err(format!("it is longer than {LIMIT} bytes"));
        }
        let raw: RawFile = serde_saphyr::from_str(text).map_err(|error| first_line(&error))?;
        if raw.version != VERSION {
            return Err(format!("its version is {}, not {VERSION}", raw.version));
        }
        if raw.criterion.is_empty() {
            return Err("it has no criterion".to_owned());
        }
        if raw.require.is_empty() {
            return Err("it requires nothing".to_owned());
        }
        let mut criteria = BTreeMap::new();
        for (name, raw) in raw.criterion {
            let criterion = raw
                .read()
                .map_err(|why| format!("criterion '{name}': {why}"))?;
            criteria.insert(name, criterion);
        }
        let mut requires = Vec::new();
        for (name, raw) in raw.require {
            requires.push(
                raw.read()
                    .map_err(|why| format!("require '{name}': {why}"))?,
            );
        }
        let guards: Result<Vec<Guard>, String> =
            raw.guard.into_iter().map(RawGuard::read).collect();
        let file = Self {
            requires,
            criteria,
            guards: guards?,
            sign: raw.sign,
            exempt: raw.exempt,
        };
        file.check()?;
        Ok(file)
    }

    fn check(&self) -> Result<(), String> {
        let required = self.requires.iter().flat_map(|require| &require.criteria);
        let implied = self
            .criteria
            .values()
            .flat_map(|criterion| &criterion.implies);
        let guarding = self
            .guards
            .iter()
            .filter_map(|guard| guard.criterion.as_ref());
        let exempt = self.exempt.iter().map(|exempt| &exempt.criterion);
        for name in required.chain(implied).chain(guarding).chain(exempt) {
            if !self.criteria.contains_key(name) {
                return Err(format!("'{name}' is no criterion of it"));
            }
        }
        for exempt in &self.exempt {
            if time::parse(&exempt.until).is_none() {
                return Err(format!(
                    "exempt '{}': '{}' is no date",
                    exempt.criterion, exempt.until
                ));
            }
            if exempt.reason.trim().is_empty() {
                return Err(format!("exempt '{}': it gives no reason", exempt.criterion));
            }
        }
        Ok(())
    }

    /// Returns the criteria that a ref requires, in order.
    pub fn of_ref(&self, name: &str) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        for require in self
            .requires
            .iter()
            .filter(|require| require.refs.matches(name))
        {
            for criterion in &require.criteria {
                if !found.contains(&criterion.as_str()) {
                    found.push(criterion);
                }
            }
        }
        found
    }

    /// Returns the exemption of a criterion that holds at `now` (ms) for a change made for `tasks`: one
    /// for every task, or one for each of these.
    pub fn exemption(&self, criterion: &str, tasks: &BTreeSet<&str>, now: u64) -> Option<&Exempt> {
        const DAY: u64 = 24 * 60 * 60 * 1000;
        let holds = |exempt: &&Exempt| {
            exempt.criterion == criterion
                && time::parse(&exempt.until).is_some_and(|until| now < until + DAY)
        };
        let of = |task: Option<&str>| {
            let mut held = self.exempt.iter().filter(holds);
            held.find(|exempt| exempt.task.as_deref() == task)
        };
        let every = tasks.iter().map(|task| of(Some(task)));
        of(None).or_else(|| every.reduce(|one, next| one.and(next))?)
    }
}

impl Criterion {
    /// Says whether one of these principals may sign for it.
    pub fn takes(&self, principals: &[String]) -> bool {
        let named = |principal: &String| {
            let fits = |pattern: &String| is_like(principal.as_bytes(), pattern.as_bytes());
            self.signers.iter().any(fits)
        };
        self.signers.is_empty() || principals.iter().any(named)
    }
}

/// Says whether `text` is what `pattern` says: `*` is any run of bytes, `?` any one.
fn is_like(text: &[u8], pattern: &[u8]) -> bool {
    let (mut at, mut next) = (0, 0);
    // Where the last star stands, and how much of the text it took.
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(next) {
            Some(b'*') => {
                star = Some((next, at));
                next += 1;
            }
            Some(c) if *c == b'?' || *c == text[at] => {
                at += 1;
                next += 1;
            }
            _ => {
                let Some((place, taken)) = star else {
                    return false;
                };
                star = Some((place, taken + 1));
                (at, next) = (taken + 1, place + 1);
            }
        }
    }
    pattern[next..].iter().all(|c| *c == b'*')
}

impl RawRequire {
    fn read(self) -> Result<Require, String> {
        if self.criterion.is_empty() || self.refs.is_empty() {
            return Err("it names no ref or no criterion".to_owned());
        }
        let anchored: Vec<String> = self.refs.iter().map(|name| format!("/{name}")).collect();
        Ok(Require {
            refs: Globs::new(anchored.iter().map(String::as_str))?,
            criteria: self.criterion,
        })
    }
}

impl RawGuard {
    fn read(self) -> Result<Guard, String> {
        if self.path.is_empty() {
            return Err("a guard names no path".to_owned());
        }
        Ok(Guard {
            paths: Globs::new(self.path.iter().map(String::as_str))?,
            criterion: self.criterion,
        })
    }
}

impl RawCriterion {
    fn read(self) -> Result<Criterion, String> {
        let definition = self.definition();
        let empty = |texts: &[String]| texts.iter().any(|text| text.trim().is_empty());
        for (key, texts) in [
            ("arg", &self.arg[..self.arg.len().min(1)]),
            ("input", &self.input),
            ("tests", &self.tests),
            ("deny-taint", &self.deny_taint),
            ("implies", &self.implies),
            ("signer", &self.signer),
        ] {
            if empty(texts) {
                return Err(format!("'{key}' has an empty entry"));
            }
        }
        let globs = |patterns: &[String]| match patterns {
            [] => Ok(None),
            patterns => Globs::new(patterns.iter().map(String::as_str)).map(Some),
        };
        let accept: Result<Vec<Grade>, String> = self
            .accept
            .iter()
            .map(|word| Grade::parse(word).ok_or_else(|| format!("'{word}' is no binding")))
            .collect();
        let min_class = match (&self.min_class, self.arg.is_empty()) {
            (Some(word), _) => Rank::parse(word)
                .filter(|rank| *rank != Rank::Of(Class::Imported))
                .ok_or_else(|| format!("'{word}' is no class"))?,
            (None, true) => Rank::Of(Class::Asserted),
            (None, false) => Rank::Of(Class::Captured),
        };
        let denied = DENIED.iter().map(|taint| (*taint).to_owned());
        Ok(Criterion {
            timeout: self.timeout.as_deref().map(duration).transpose()?,
            accept: match accept? {
                accept if accept.is_empty() => vec![Grade::Exact, Grade::Tree],
                accept => accept,
            },
            min_class,
            max_age: self.max_age.as_deref().map(duration).transpose()?,
            min_tests: self.min_tests,
            junit: self.junit,
            ratchet: match self.ratchet {
                true => Ratchet::On,
                false => Ratchet::Off,
            },
            flaky: self.flaky,
            inputs: globs(&self.input)?,
            tests: globs(&self.tests)?,
            deny_taint: denied.chain(self.deny_taint).collect(),
            ok_exit: self.ok_exit,
            implies: self.implies,
            signers: self.signer,
            arg: self.arg,
            definition,
        })
    }

    /// The digest of what decides the outcome of a run, and nothing that decides what it is worth.
    fn definition(&self) -> String {
        let mut parts = serde_json::json!({
            "arg": self.arg,
            "input": self.input,
            "min-tests": self.min_tests,
            "ok-exit": self.ok_exit,
        });
        if let Some(junit) = &self.junit {
            parts["junit"] = junit.to_string_lossy().into();
        }
        Digest::of(parts.to_string().as_bytes()).to_hex()
    }
}

fn first_line(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}

/// Reads `90`, `90s`, `20m`, `1h30m`, `2d`, `1w`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is no duration: 90s, 20m, 1h30m, 30d");
    let mut seconds: u64 = 0;
    let mut digits = String::new();
    let plain = !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    for c in text.chars().chain(plain.then_some('s')) {
        let unit = match c {
            '0'..='9' => {
                digits.push(c);
                continue;
            }
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            'w' => 7 * 86_400,
            _ => return Err(wrong()),
        };
        let count: u64 = digits.parse().map_err(|_| wrong())?;
        digits.clear();
        let part = count.checked_mul(unit).ok_or_else(wrong)?;
        seconds = seconds.checked_add(part).ok_or_else(wrong)?;
    }
    match digits.is_empty() && seconds > 0 {
        true => Ok(Duration::from_secs(seconds)),
        false => Err(wrong()),
    }
}

#[cfg(test)]
#[path = "requirements_tests.rs"]
mod tests;
