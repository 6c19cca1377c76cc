//! Policy files read: what each holds, what is wrong with it, and what is used instead of a broken one.

mod case;
mod decode;
mod scenario;
mod then;
mod when;

use std::{collections::HashMap, sync::Arc};

use decode::Decoder;

use super::{
    builtin::{self, Builtin, Params},
    cel::Patterns,
    diagnostic::{Code, Diagnostic, Place, Source},
    effort,
    event::{Action, EventName},
    policy::{Broken, Condition, Mode, OnError, Policy, Scope, Step},
    testing::Suite,
    yaml,
};

/// The steps of reading a file as it is at HEAD.
const HEAD_STEPS: usize = 250;

/// A policy file as the loader found it.
#[derive(Clone, Debug)]
pub struct File {
    pub scope: Scope,
    /// The path people know it by.
    pub path: String,
    /// Its text, or why there is none.
    pub text: Result<String, String>,
}

/// The policies of every file.
#[derive(Clone, Debug, Default)]
pub struct Policies {
    pub(super) list: Vec<Policy>,
    pub(super) broken: Vec<Broken>,
    pub(super) patterns: Arc<Patterns>,
    faults: Vec<Diagnostic>,
    suites: Vec<Suite>,
}

impl Policies {
    /// Reads files in the order given. A broken one is replaced by `previous` of its path, with a
    /// fault that says so, where that is not broken too.
    pub fn load(files: &[File], previous: &dyn Fn(&str) -> Option<String>) -> Self {
        effort::begin();
        let mut loader = Loader::default();
        for file in files {
            loader.file(file, previous);
        }
        loader.finish()
    }

    /// Adds the built-ins that are on by default, unless a policy of their name stands there that
    /// `is_held` to be the project's or the user's will.
    #[must_use]
    pub fn with_defaults(mut self, is_held: &dyn Fn(&Policy) -> bool) -> Self {
        let writes = vec![EventName::FileWrite];
        let all = vec![EventName::FileWrite, EventName::FileDelete];
        let defaults = [
            default("policy-files", Action::Ask, all),
            default("ledger-files", Action::Block, writes),
        ];
        let stands = |id: &str| {
            let mut own = self.list.iter().filter(|policy| policy.id == id);
            own.any(is_held)
        };
        let missing: Vec<Policy> = defaults
            .into_iter()
            .flatten()
            .filter(|policy| !stands(&policy.id))
            .collect();
        self.list.splice(0..0, missing);
        self
    }

    /// Returns the policies in the order they are judged.
    pub fn list(&self) -> &[Policy] {
        &self.list
    }

    /// Returns the files that cannot be used at all.
    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }

    /// Returns what is wrong with the files.
    pub fn faults(&self) -> &[Diagnostic] {
        &self.faults
    }

    /// Returns the tests that stand in files of their own.
    pub fn suites(&self) -> &[Suite] {
        &self.suites
    }

    /// Says whether nothing is to be judged.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && self.broken.is_empty()
    }

    /// Returns the policies that stand on one of the events.
    pub fn on<'a>(&'a self, events: &'a [EventName]) -> impl Iterator<Item = &'a Policy> {
        self.list
            .iter()
            .filter(|policy| policy.enabled)
            .filter(|policy| policy.on.iter().any(|event| events.contains(event)))
    }

    /// Says whether any enabled policy needs the work ledger.
    pub fn need_work(&self) -> bool {
        let mut enabled = self.list.iter().filter(|policy| policy.enabled);
        enabled.any(Policy::needs_work)
    }

    /// Returns a warning for each `paths` that chooses none of the files there are.
    pub fn idle_paths(&self, files: &[String]) -> Vec<Diagnostic> {
        let idle = |policy: &&Policy| {
            let globs = policy.paths.as_ref().filter(|_| policy.enabled);
            globs.is_some_and(|globs| !files.iter().any(|file| globs.matches(file)))
        };
        let warn = |policy: &Policy| Diagnostic {
            code: Code::W04,
            place: Place {
                at: policy.paths_at,
                ..policy.place.clone()
            },
            message: format!("no tracked file is among the 'paths' of '{}'", policy.id),
        };
        self.list.iter().filter(idle).map(warn).collect()
    }

    /// Returns a warning for each policy that blocks what happens to files, for where no work ledger
    /// runs: it sees nothing of what a shell does to them.
    pub fn blind(&self) -> Vec<Diagnostic> {
        let files = [EventName::FileWrite, EventName::FileDelete];
        let is_blind = |policy: &&Policy| {
            let blocks = policy.mode == Mode::Enforce && policy.actions().contains(&Action::Block);
            blocks && policy.scope != Scope::BuiltIn
        };
        let warn = |policy: &Policy| Diagnostic {
            code: Code::W08,
            place: policy.place.clone(),
            message: format!(
                "'{}' does not see what a shell does to files: no policy uses 'restore' or reads \
                 'work', and operator.work is not set",
                policy.id
            ),
        };
        self.on(&files).filter(is_blind).map(warn).collect()
    }

    /// Keeps only the policy with this id, and nothing broken.
    #[must_use]
    pub fn only(&self, ids: &[&str]) -> Self {
        let mut kept = self.clone();
        kept.list.retain(|policy| ids.contains(&policy.id.as_str()));
        kept.broken.clear();
        kept
    }
}

/// Returns the policy that a built-in is by default.
fn default(name: &'static str, action: Action, on: Vec<EventName>) -> Option<Policy> {
    let spec = builtin::spec(name)?;
    let source = Arc::new(Source {
        path: format!("builtin/{name}"),
        text: String::new(),
    });
    let step = |action| Step {
        action,
        message: None,
        paths: None,
    };
    Some(Policy {
        id: name.to_owned(),
        scope: Scope::BuiltIn,
        place: Place { source, at: 0 },
        description: None,
        on,
        mode: Mode::Enforce,
        on_error: OnError::Block,
        enabled: true,
        overridable: true,
        is_stale: false,
        tools: Vec::new(),
        paths: None,
        paths_at: 0,
        when: Condition::Builtin(Builtin {
            spec,
            params: Params::default(),
        }),
        then: vec![step(Action::Restore), step(action)],
        message: None,
        hint: None,
        cases: Vec::new(),
    })
}

#[derive(Default)]
struct Loader {
    list: Vec<Policy>,
    broken: Vec<Broken>,
    faults: Vec<Diagnostic>,
    patterns: Patterns,
    suites: Vec<Suite>,
}

/// What came of one text.
struct Read {
    policies: Vec<Policy>,
    suites: Vec<Suite>,
    faults: Vec<Diagnostic>,
    on_error: OnError,
}

impl Read {
    fn error(&self) -> Option<&Diagnostic> {
        self.faults.iter().find(|fault| !fault.code.is_warning())
    }
}

impl Loader {
    fn file(&mut self, file: &File, previous: &dyn Fn(&str) -> Option<String>) {
        let read = match &file.text {
            Ok(text) => self.read(file, text),
            Err(reason) => unreadable(file, reason),
        };
        let Some(error) = read.error().cloned() else {
            self.faults.extend(read.faults);
            self.list.extend(read.policies);
            self.suites.extend(read.suites);
            return;
        };
        self.faults.extend(read.faults);
        let has_room = effort::spend(HEAD_STEPS).is_ok();
        let earlier = has_room.then(|| previous(&file.path)).flatten();
        let earlier = earlier.map(|text| self.read(file, &text));
        match earlier.filter(|earlier| earlier.error().is_none()) {
            Some(earlier) => {
                let stale = earlier.policies.into_iter().map(|policy| Policy {
                    is_stale: true,
                    ..policy
                });
                self.list.extend(stale);
            }
            None => self.broken.push(Broken {
                scope: file.scope,
                fault: error,
                on_error: read.on_error,
            }),
        }
    }

    fn read(&mut self, file: &File, text: &str) -> Read {
        let source = Arc::new(Source {
            path: file.path.clone(),
            text: text.to_owned(),
        });
        let documents = match yaml::documents(&source) {
            Ok(documents) => documents,
            Err(fault) => {
                return Read {
                    policies: Vec::new(),
                    suites: Vec::new(),
                    faults: vec![fault],
                    on_error: OnError::Block,
                };
            }
        };
        let mut decoder = Decoder::new(&source, file.scope, &mut self.patterns);
        let policies = decoder.documents(&documents);
        Read {
            on_error: decoder.on_error(),
            suites: decoder.suites,
            faults: decoder.faults,
            policies,
        }
    }

    fn finish(mut self) -> Policies {
        self.apply_overrides();
        self.refuse_duplicates();
        Policies {
            list: self.list,
            broken: self.broken,
            patterns: Arc::new(self.patterns),
            faults: self.faults,
            suites: self.suites,
        }
    }

    /// Lets a user or local file switch a project's policy off, where that policy allows it.
    fn apply_overrides(&mut self) {
        let (switches, mut list): (Vec<Policy>, Vec<Policy>) = std::mem::take(&mut self.list)
            .into_iter()
            .partition(|policy| policy.on.is_empty());
        for switch in switches {
            let default = builtin::NAMES.iter().any(|spec| spec.name == switch.id);
            let target = list
                .iter_mut()
                .find(|policy| policy.id == switch.id && policy.scope != switch.scope);
            match target {
                Some(target) if target.overridable || target.scope == Scope::User => {
                    target.enabled = false;
                }
                None if default => list.push(switch),
                Some(target) => {
                    let message = format!(
                        "policy '{}' of the {} is not overridable",
                        switch.id,
                        target.scope.as_str()
                    );
                    self.fault(Code::E10, &switch.place, message);
                }
                None => {
                    let message = format!("there is no policy '{}' to switch off", switch.id);
                    self.fault(Code::E02, &switch.place, message);
                }
            }
        }
        self.list = list;
    }

    fn refuse_duplicates(&mut self) {
        let mut seen: HashMap<String, Place> = HashMap::new();
        let mut kept = Vec::new();
        for policy in std::mem::take(&mut self.list) {
            if let Some(first) = seen.get(&policy.id) {
                if policy.is_stale {
                    // It stands under another name meanwhile.
                    continue;
                }
                let message = format!("the id '{}' is taken by {first}", policy.id);
                let fault = Diagnostic {
                    code: Code::E10,
                    place: policy.place.clone(),
                    message,
                };
                self.broken.push(Broken {
                    scope: policy.scope,
                    fault: fault.clone(),
                    on_error: policy.on_error,
                });
                self.faults.push(fault);
                continue;
            }
            seen.insert(policy.id.clone(), policy.place.clone());
            kept.push(policy);
        }
        self.list = kept;
    }

    fn fault(&mut self, code: Code, place: &Place, message: String) {
        self.faults.push(Diagnostic {
            code,
            place: place.clone(),
            message,
        });
    }
}

fn unreadable(file: &File, reason: &str) -> Read {
    let source = Arc::new(Source {
        path: file.path.clone(),
        text: String::new(),
    });
    Read {
        policies: Vec::new(),
        suites: Vec::new(),
        faults: vec![Diagnostic {
            code: Code::E01,
            place: Place { source, at: 0 },
            message: format!("the file cannot be read: {reason}"),
        }],
        on_error: OnError::Block,
    }
}

#[cfg(test)]
pub(crate) mod tests;
