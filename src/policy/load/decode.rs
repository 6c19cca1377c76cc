//! A policy read from YAML, key by key.

use std::sync::Arc;

use crate::policy::{
    case::Case,
    cel::Patterns,
    diagnostic::{Code, Diagnostic, Place, Source},
    event::{Action, EventName},
    glob::Globs,
    near::{nearest, suggestion},
    policy::{Mode, OnError, Policy, Scope},
    testing::Suite,
    yaml::{Node, Yaml},
};

const KEYS: [&str; 14] = [
    "id",
    "description",
    "on",
    "tools",
    "paths",
    "when",
    "then",
    "message",
    "hint",
    "mode",
    "on_error",
    "enabled",
    "overridable",
    "tests",
];
const ID_LIMIT: usize = 64;
/// Tools of the client; another is no fault, a name that is nearly one of them is.
#[rustfmt::skip]
const TOOLS: [&str; 30] = [
    "Agent", "AskUserQuestion", "Bash", "BashOutput", "Edit", "EnterPlanMode", "ExitPlanMode", "Glob",
    "Grep", "KillShell", "LS", "LSP", "MultiEdit", "NotebookEdit", "NotebookRead", "PowerShell", "Read",
    "Skill", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate",
    "TodoWrite", "ToolSearch", "WebFetch", "WebSearch", "Write",
];

pub(super) type Entries = [(Node, Node)];

/// Reads the documents of one file.
pub(super) struct Decoder<'a> {
    pub(super) faults: Vec<Diagnostic>,
    pub(super) source: Arc<Source>,
    scope: Scope,
    pub(super) patterns: &'a mut Patterns,
    /// Whether some policy of the file says what it does and none of that refuses anything.
    lenient: bool,
    strict: bool,
    pub(super) suites: Vec<Suite>,
    /// The events of the policy being read.
    pub(super) on: Vec<EventName>,
}

/// Returns the value of a key.
pub(super) fn get<'n>(entries: &'n Entries, key: &str) -> Option<&'n Node> {
    entries
        .iter()
        .find(|(name, _)| name.text() == Some(key))
        .map(|(_, value)| value)
}

impl<'a> Decoder<'a> {
    pub(super) fn new(source: &Arc<Source>, scope: Scope, patterns: &'a mut Patterns) -> Self {
        Self {
            faults: Vec::new(),
            source: Arc::clone(source),
            scope,
            patterns,
            lenient: false,
            strict: false,
            suites: Vec::new(),
            on: Vec::new(),
        }
    }

    /// Returns what an error in the file does, were it broken.
    pub(super) fn on_error(&self) -> OnError {
        if self.lenient && !self.strict {
            OnError::Warn
        } else {
            OnError::Block
        }
    }

    pub(super) fn place(&self, at: usize) -> Place {
        Place {
            source: Arc::clone(&self.source),
            at,
        }
    }

    pub(super) fn fault(&mut self, code: Code, at: usize, message: impl Into<String>) {
        self.faults.push(Diagnostic {
            code,
            place: self.place(at),
            message: message.into(),
        });
    }

    /// Reads each document: a policy, or a map of `policies`.
    pub(super) fn documents(&mut self, documents: &[Node]) -> Vec<Policy> {
        let mut nodes = Vec::new();
        for document in documents {
            let Yaml::Map(entries) = &document.value else {
                let message = format!("a policy is a map, not {}", document.value.kind());
                self.fault(Code::E02, document.at, message);
                continue;
            };
            let names_all = get(entries, "policies").is_some_and(|node| node.text().is_some());
            if names_all || get(entries, "policy").is_some() {
                self.suite(entries);
                continue;
            }
            match get(entries, "policies") {
                Some(list) if entries.len() == 1 => match &list.value {
                    Yaml::List(items) => nodes.extend(items),
                    other => {
                        let message = format!("'policies' is {}, not a list", other.kind());
                        self.fault(Code::E02, list.at, message);
                    }
                },
                _ => nodes.push(document),
            }
        }
        let stem = self.stem();
        let several = nodes.len() > 1;
        let mut policies = Vec::new();
        for (number, node) in nodes.into_iter().enumerate() {
            let name = if several {
                format!("{stem}#{}", number + 1)
            } else {
                stem.clone()
            };
            policies.extend(self.policy(node, name));
        }
        policies
    }

    /// Reads tests that stand apart from their policy: `policy: ID`, or `policies: all`.
    fn suite(&mut self, entries: &Entries) {
        self.known_keys(entries, &["policy", "policies", "tests"], "a file of tests");
        let policies = match (get(entries, "policy"), get(entries, "policies")) {
            (Some(_), None) => self.text(entries, "policy").map(|id| vec![id]),
            (None, Some(node)) if node.text() == Some("all") => None,
            (_, node) => {
                let at = node.map_or(0, |node| node.at);
                let message = "a file of tests names one 'policy', or says 'policies: all'";
                return self.fault(Code::E02, at, message);
            }
        };
        self.lenient = true;
        let cases = self.cases(entries);
        self.suites.push(Suite { policies, cases });
    }

    fn stem(&self) -> String {
        let path = &self.source.path;
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        stem.to_owned()
    }

    fn policy(&mut self, node: &Node, name: String) -> Option<Policy> {
        let Yaml::Map(entries) = &node.value else {
            let message = format!("a policy is a map, not {}", node.value.kind());
            self.fault(Code::E02, node.at, message);
            return None;
        };
        let before = self.faults.len();
        self.known_keys(entries, &KEYS, "a policy");
        let at = entries.first().map_or(node.at, |(key, _)| key.at);
        let id = self.id(entries).unwrap_or(name);
        let enabled = self.switch(entries, "enabled").unwrap_or(true);
        let is_switch = !enabled && get(entries, "on").is_none() && get(entries, "id").is_some();
        self.on = if is_switch {
            Vec::new()
        } else {
            self.events(entries, at)
        };
        let then = self.steps(entries, at);
        let refuses = then
            .iter()
            .any(|step| matches!(step.action, Action::Block | Action::Ask | Action::Restore));
        self.strict |= refuses;
        self.lenient |= !refuses;
        let on_error = self.on_error_of(entries, refuses);
        let policy = Policy {
            description: self.text(entries, "description"),
            mode: self.mode(entries),
            on_error,
            enabled,
            overridable: self.switch(entries, "overridable").unwrap_or(false),
            is_stale: false,
            tools: self.tools(entries),
            paths: self.paths(entries),
            paths_at: get(entries, "paths").map_or(at, |node| node.at),
            when: self.when(entries),
            then,
            message: self.template(entries, "message"),
            hint: self.template(entries, "hint"),
            cases: self.cases(entries),
            place: self.place(at),
            scope: self.scope,
            id,
            on: self.on.clone(),
        };
        let faults = &self.faults[before..];
        if !is_switch && faults.iter().all(|fault| fault.code.is_warning()) {
            self.warnings(&policy);
        }
        Some(policy)
    }

    /// Reports keys that are no text, or not among those known.
    pub(super) fn known_keys(&mut self, entries: &Entries, known: &[&str], what: &str) {
        for (key, _) in entries {
            let Some(name) = key.text() else {
                let message = format!("a key of {what} is {}, not a text", key.value.kind());
                self.fault(Code::E02, key.at, message);
                continue;
            };
            if !known.contains(&name) {
                let hint = suggestion(name, known.iter().copied());
                self.fault(Code::E02, key.at, format!("unknown field '{name}'{hint}"));
            }
        }
    }

    fn id(&mut self, entries: &Entries) -> Option<String> {
        let node = get(entries, "id")?;
        let id = self.text(entries, "id")?;
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if id.is_empty() || id.len() > ID_LIMIT || id.starts_with('-') || !id.chars().all(fits) {
            let message = format!(
                "the id '{}' is not 1 to {ID_LIMIT} of a-z, 0-9 and '-'",
                id.escape_debug()
            );
            self.fault(Code::E02, node.at, message);
            return None;
        }
        Some(id)
    }

    pub(super) fn text(&mut self, entries: &Entries, key: &str) -> Option<String> {
        let node = get(entries, key)?;
        if node.text().is_none() {
            self.wrong_type(key, node, "a text");
        }
        node.text().map(str::to_owned)
    }

    pub(super) fn wrong_type(&mut self, key: &str, node: &Node, wanted: &str) {
        let message = format!("'{key}' is {}, not {wanted}", node.value.kind());
        self.fault(Code::E02, node.at, message);
    }

    fn switch(&mut self, entries: &Entries, key: &str) -> Option<bool> {
        let node = get(entries, key)?;
        match node.value {
            Yaml::Bool(value) => Some(value),
            _ => {
                self.wrong_type(key, node, "true or false");
                None
            }
        }
    }

    fn word<T: Copy>(&mut self, entries: &Entries, key: &str, words: &[(&str, T)]) -> Option<T> {
        let node = get(entries, key)?;
        let text = self.text(entries, key)?;
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let hint = suggestion(&text, names.iter().copied());
            let message = format!("'{key}' is none of {}{hint}", names.join(", "));
            self.fault(Code::E03, node.at, message);
        }
        found.map(|(_, value)| *value)
    }

    fn mode(&mut self, entries: &Entries) -> Mode {
        let words = [
            ("enforce", Mode::Enforce),
            ("warn", Mode::Warn),
            ("audit", Mode::Audit),
        ];
        self.word(entries, "mode", &words).unwrap_or(Mode::Enforce)
    }

    fn on_error_of(&mut self, entries: &Entries, refuses: bool) -> OnError {
        let words = [("block", OnError::Block), ("warn", OnError::Warn)];
        let default = if refuses {
            OnError::Block
        } else {
            OnError::Warn
        };
        self.word(entries, "on_error", &words).unwrap_or(default)
    }

    pub(super) fn list<'n>(&mut self, key: &str, node: &'n Node) -> &'n [Node] {
        match &node.value {
            Yaml::List(items) if !items.is_empty() => items,
            Yaml::List(_) => {
                self.fault(Code::E02, node.at, format!("'{key}' is empty"));
                &[]
            }
            _ => {
                self.wrong_type(key, node, "a list");
                &[]
            }
        }
    }

    fn texts<'n>(&mut self, key: &str, node: &'n Node) -> Vec<(usize, &'n str)> {
        let mut texts = Vec::new();
        for item in self.list(key, node) {
            match item.text() {
                Some(text) => texts.push((item.at, text)),
                None => self.wrong_type(key, item, "a text"),
            }
        }
        texts
    }

    fn events(&mut self, entries: &Entries, at: usize) -> Vec<EventName> {
        let Some(node) = get(entries, "on") else {
            self.fault(
                Code::E02,
                at,
                "the policy lacks 'on': the events it stands on",
            );
            return Vec::new();
        };
        let mut events = Vec::new();
        for (at, word) in self.texts("on", node) {
            match EventName::parse(word) {
                Some(event) if events.contains(&event) => {
                    self.fault(Code::E02, at, format!("'{word}' stands twice in 'on'"));
                }
                Some(event) => events.push(event),
                None => {
                    let names = EventName::ALL.iter().map(|event| event.as_str());
                    let hint = suggestion(word, names);
                    self.fault(Code::E03, at, format!("unknown event '{word}'{hint}"));
                }
            }
        }
        events
    }

    fn tools(&mut self, entries: &Entries) -> Vec<String> {
        let Some(node) = get(entries, "tools") else {
            return Vec::new();
        };
        let mut tools = Vec::new();
        for (at, tool) in self.texts("tools", node) {
            let star = tool.find('*');
            let mcp = tool.starts_with("mcp__") && star == Some(tool.len() - 1);
            let is_known = TOOLS.contains(&tool) || tool.contains('*');
            let near = nearest(tool, TOOLS).filter(|_| !is_known);
            if let Some(near) = near {
                let message = format!("'{tool}' is no tool that is known, did you mean '{near}'?");
                self.fault(Code::W04, at, message);
            }
            if tool.is_empty() || (star.is_some() && !mcp) {
                let message = format!("'{tool}' is neither a tool's name nor 'mcp__server__*'");
                self.fault(Code::E08, at, message);
            } else {
                tools.push(tool.to_owned());
            }
        }
        tools
    }

    fn paths(&mut self, entries: &Entries) -> Option<Globs> {
        let node = get(entries, "paths")?;
        let texts = self.texts("paths", node);
        for (at, text) in &texts {
            if let Err(message) = Globs::new([*text]) {
                self.fault(Code::E08, *at, message);
            }
        }
        Globs::new(texts.into_iter().map(|(_, text)| text)).ok()
    }

    fn cases(&mut self, entries: &Entries) -> Vec<Case> {
        let Some(node) = get(entries, "tests") else {
            return Vec::new();
        };
        self.list("tests", node)
            .iter()
            .filter_map(|node| self.case(node))
            .collect()
    }

    fn warnings(&mut self, policy: &Policy) {
        let at = policy.place.at;
        let at_turn_end = policy.on.contains(&EventName::TurnEnd);
        let actions = policy.actions();
        if at_turn_end && actions.contains(&Action::Context) {
            let message = "'context' at turn.end makes the agent go on, as a block does";
            self.fault(Code::W03, at, message);
        }
        if policy.cases.is_empty() {
            let message = format!("policy '{}' has no test", policy.id);
            self.fault(Code::W05, at, message);
        }
        let changeable = policy.fields().iter().any(|field| {
            ["work", "gate", "event.turn", "event.data"]
                .iter()
                .any(|root| field.starts_with(root))
        });
        let builtin = policy.builtins().next().is_some();
        if at_turn_end && actions.contains(&Action::Block) && !changeable && !builtin {
            let message = "this blocks the end of a turn on something the agent cannot change";
            self.fault(Code::W06, at, message);
        }
    }
}
