//! The parameters of a built-in, read from `with`.

use std::collections::BTreeMap;

use super::{
    argv::Pattern,
    spec::{Kind, Param, Spec},
};
use crate::policy::{
    cel::Fault,
    diagnostic::Code,
    glob::Globs,
    near::suggestion,
    regex::Regex,
    yaml::{Node, Yaml},
};

/// The value of one parameter.
#[derive(Clone, Debug)]
pub(in crate::policy) enum Given {
    Int(i64),
    Bool(bool),
    Texts(Vec<String>),
    Globs(Globs),
    Regexes(Vec<Regex>),
    Commands(Vec<Pattern>),
    Word(String),
}

/// The parameters of a built-in.
#[derive(Clone, Debug, Default)]
pub(in crate::policy) struct Params {
    values: BTreeMap<&'static str, Given>,
}

impl Params {
    pub(super) fn int(&self, name: &str) -> Option<i64> {
        match self.values.get(name) {
            Some(Given::Int(value)) => Some(*value),
            _ => None,
        }
    }

    /// Returns a switch; `default` where it is not given.
    pub(super) fn switch(&self, name: &str, default: Switch) -> bool {
        match self.values.get(name) {
            Some(Given::Bool(value)) => *value,
            _ => default == Switch::On,
        }
    }

    pub(super) fn texts(&self, name: &str) -> Option<&[String]> {
        match self.values.get(name) {
            Some(Given::Texts(value)) => Some(value),
            _ => None,
        }
    }

    pub(super) fn globs(&self, name: &str) -> Option<&Globs> {
        match self.values.get(name) {
            Some(Given::Globs(value)) => Some(value),
            _ => None,
        }
    }

    pub(super) fn regexes(&self, name: &str) -> &[Regex] {
        match self.values.get(name) {
            Some(Given::Regexes(value)) => value,
            _ => &[],
        }
    }

    pub(super) fn commands(&self, name: &str) -> Option<&[Pattern]> {
        match self.values.get(name) {
            Some(Given::Commands(value)) => Some(value),
            _ => None,
        }
    }

    pub(in crate::policy) fn word(&self, name: &str) -> Option<&str> {
        match self.values.get(name) {
            Some(Given::Word(value)) => Some(value),
            _ => None,
        }
    }

    /// Returns the parameters with one number or switch changed each, and what the change is.
    pub(in crate::policy) fn mutants(&self) -> Vec<(String, Self)> {
        let mut found = Vec::new();
        for (name, given) in &self.values {
            let (text, changed) = match given {
                Given::Int(value) => {
                    let value = value.saturating_add(1);
                    (value.to_string(), Given::Int(value))
                }
                Given::Bool(value) => ((!value).to_string(), Given::Bool(!value)),
                _ => continue,
            };
            let mut mutant = self.clone();
            mutant.values.insert(name, changed);
            found.push((format!("{name}: {text}"), mutant));
        }
        found
    }

    /// Says whether `paths` and `except` leave the path in.
    pub(in crate::policy) fn covers(&self, path: &str) -> bool {
        self.globs("paths").is_none_or(|globs| globs.matches(path))
            && !self
                .globs("except")
                .is_some_and(|globs| globs.matches(path))
    }

    /// Returns the paths that `paths` and `except` leave in.
    pub(super) fn covered<'p>(&self, paths: &[&'p str]) -> Vec<&'p str> {
        paths
            .iter()
            .copied()
            .filter(|path| self.covers(path))
            .collect()
    }
}

/// What a switch is where it is not given.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Switch {
    On,
    Off,
}

/// How a pattern is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    AsIs,
    /// Capitals do not count.
    IgnoreCase,
}

fn ignores_case(entries: &[(Node, Node)]) -> bool {
    entries.iter().any(|(key, value)| {
        key.text() == Some("ignore_case") && matches!(value.value, Yaml::Bool(true))
    })
}

/// Reads `with` by the specification of a built-in. Faults have their place in the file.
pub(in crate::policy) struct Reader {
    pub(in crate::policy) faults: Vec<Fault>,
}

impl Reader {
    pub(in crate::policy) fn read(
        &mut self,
        spec: &'static Spec,
        at: usize,
        with: Option<&Node>,
    ) -> Params {
        let mut params = Params::default();
        let entries = match with.map(|node| &node.value) {
            None | Some(Yaml::Null) => &[][..],
            Some(Yaml::Map(entries)) => entries.as_slice(),
            Some(other) => {
                let at = with.map_or(at, |node| node.at);
                self.fault(
                    Code::E02,
                    at,
                    format!("'with' is {}, not a map", other.kind()),
                );
                return params;
            }
        };
        for (key, value) in entries {
            let name = key.key();
            let Some(param) = spec.params().find(|param| param.name == name) else {
                let hint = suggestion(&name, spec.params().map(|param| param.name));
                let message = format!("'{}' has no parameter '{name}'{hint}", spec.name);
                self.fault(Code::E03, key.at, message);
                continue;
            };
            let written = match param.name {
                "patterns" if ignores_case(entries) => Written::IgnoreCase,
                _ => Written::AsIs,
            };
            if let Some(value) = self.value(spec, (param, written), value) {
                params.values.insert(param.name, value);
            }
        }
        for param in spec.params().filter(|param| param.required) {
            let given = entries.iter().any(|(key, _)| key.key() == param.name);
            if !given {
                let message = format!("'{}' needs the parameter '{}'", spec.name, param.name);
                self.fault(Code::E03, at, message);
            }
        }
        params
    }

    fn fault(&mut self, code: Code, at: usize, message: String) {
        self.faults.push(Fault { code, at, message });
    }

    fn value(
        &mut self,
        spec: &Spec,
        (param, written): (&'static Param, Written),
        node: &Node,
    ) -> Option<Given> {
        match (param.kind, &node.value) {
            (Kind::Int, Yaml::Int(value)) if *value >= 0 => return Some(Given::Int(*value)),
            (Kind::Bool, Yaml::Bool(value)) => return Some(Given::Bool(*value)),
            (Kind::Word(words), Yaml::Text(word)) => {
                if words.contains(&word.as_str()) {
                    return Some(Given::Word(word.clone()));
                }
                let hint = suggestion(word, words.iter().copied());
                let message = format!("'{}' is none of {}{hint}", word, words.join(", "));
                self.fault(Code::E03, node.at, message);
                return None;
            }
            (Kind::Texts | Kind::Globs | Kind::Regexes | Kind::Commands, _) => {
                let texts = self.texts(spec, param, node)?;
                return self.compiled((param.kind, written), &texts);
            }
            _ => {}
        }
        let message = format!(
            "'{}' of '{}' must be {}, not {}",
            param.name,
            spec.name,
            param.kind.describe(),
            node.value.kind()
        );
        self.fault(Code::E02, node.at, message);
        None
    }

    fn texts(&mut self, spec: &Spec, param: &Param, node: &Node) -> Option<Vec<(usize, String)>> {
        let Yaml::List(items) = &node.value else {
            let message = format!(
                "'{}' of '{}' must be {}, not {}",
                param.name,
                spec.name,
                param.kind.describe(),
                node.value.kind()
            );
            self.fault(Code::E02, node.at, message);
            return None;
        };
        if items.is_empty() && param.required {
            let message = format!("'{}' of '{}' is empty", param.name, spec.name);
            self.fault(Code::E02, node.at, message);
            return None;
        }
        let mut texts = Vec::new();
        for item in items {
            match item.text() {
                Some(text) if !text.is_empty() => texts.push((item.at, text.to_owned())),
                _ => {
                    let message = format!("an item of '{}' is no text", param.name);
                    self.fault(Code::E02, item.at, message);
                }
            }
        }
        Some(texts)
    }

    fn compiled(
        &mut self,
        (kind, written): (Kind, Written),
        texts: &[(usize, String)],
    ) -> Option<Given> {
        let mut regexes = Vec::new();
        let mut commands = Vec::new();
        for (at, text) in texts {
            let refused = |reason| (Code::E08, reason);
            let result = match kind {
                Kind::Globs => Globs::new([text.as_str()]).map(drop).map_err(refused),
                Kind::Regexes => Regex::new(text)
                    .and_then(|regex| match written {
                        Written::AsIs => Ok(regex),
                        Written::IgnoreCase => Regex::new(&format!("(?i:{text})")),
                    })
                    .map(|regex| regexes.push(regex)),
                Kind::Commands => Pattern::new(text)
                    .map(|pattern| commands.push(pattern))
                    .map_err(refused),
                _ => Ok(()),
            };
            if let Err((code, message)) = result {
                self.fault(code, *at, message);
                return None;
            }
        }
        let plain = || texts.iter().map(|(_, text)| text.as_str());
        Some(match kind {
            Kind::Globs => Given::Globs(Globs::new(plain()).ok()?),
            Kind::Regexes => Given::Regexes(regexes),
            Kind::Commands => Given::Commands(commands),
            _ => Given::Texts(plain().map(str::to_owned).collect()),
        })
    }
}
