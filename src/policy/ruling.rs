//! What the policies say about one call of a hook.

use super::{
    event::{EventName, Level},
    policy::{OnError, Scope},
};

/// The longest text that goes to the agent; the client cuts at 10,000 characters.
const TEXT_LIMIT: usize = 8_000;

/// What came of one policy at one event.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub policy: String,
    pub scope: Scope,
    /// The file and line of the policy.
    pub place: String,
    pub event: EventName,
    /// The file that the event is about.
    pub path: Option<String>,
    pub verdict: Verdict,
    /// What it asks for.
    pub level: Level,
    /// What it says, at which level.
    pub texts: Vec<(Level, String)>,
    /// What it puts back; `None` when it does not restore.
    pub restore: Option<Vec<String>>,
    pub micros: u64,
    /// The parts of its condition with their values, in a trace.
    pub detail: Vec<String>,
}

/// What a condition came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Match,
    Pass(String),
    /// A filter, the mode or a switch kept the condition from being looked at.
    Skip(String),
    /// Not enough is known; it counts as no match.
    Unknown(String),
    Error(String),
}

/// What the policies say, all together.
#[derive(Clone, Debug, Default)]
pub struct Ruling {
    pub outcomes: Vec<Outcome>,
    /// What was put back.
    restored: Vec<String>,
    /// What could not be put back, with the reason.
    failed: Vec<(String, String)>,
}

impl Ruling {
    /// Returns what the outcomes come to.
    pub fn new(outcomes: Vec<Outcome>) -> Self {
        Self {
            outcomes,
            ..Self::default()
        }
    }

    /// Returns the highest level asked for; a restore that failed blocks.
    pub fn level(&self) -> Level {
        let asked = self.outcomes.iter().map(|outcome| outcome.level).max();
        let level = asked.unwrap_or(Level::Nothing);
        if !self.failed.is_empty() {
            return Level::Block;
        }
        if !self.restored.is_empty() {
            return level.max(Level::Warn);
        }
        level
    }

    /// Returns the paths to put back, each once, in the order asked for.
    pub fn restores(&self) -> Vec<String> {
        let mut paths = Vec::new();
        for path in self
            .outcomes
            .iter()
            .filter_map(|o| o.restore.as_ref())
            .flatten()
        {
            if !paths.contains(path) {
                paths.push(path.clone());
            }
        }
        paths
    }

    /// Tells what became of the restores.
    pub fn record_restore(&mut self, restored: Vec<String>, failed: Vec<(String, String)>) {
        self.restored = restored;
        self.failed = failed;
    }

    /// Returns the outcomes that say something.
    pub fn speaking(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes
            .iter()
            .filter(|outcome| outcome.level > Level::Nothing)
    }

    /// Returns the reasons of the level that decides, in the order of the policies, and what was put
    /// back; empty below `context`.
    pub fn reason(&self) -> String {
        let level = self.level();
        let mut parts = self.texts(|other| other == level);
        parts.extend(self.restore_text());
        cut(&parts.join("\n"))
    }

    /// Returns what the lower levels say to the agent; empty when they say nothing.
    pub fn context(&self) -> String {
        let level = self.level();
        cut(&self
            .texts(|other| other < level && other >= Level::Context)
            .join("\n"))
    }

    fn texts(&self, wanted: impl Fn(Level) -> bool) -> Vec<String> {
        let mut parts: Vec<String> = Vec::new();
        for outcome in &self.outcomes {
            for (level, text) in &outcome.texts {
                let line = format!("[{}] {text}", outcome.policy);
                if wanted(*level) && *level >= Level::Context && !parts.contains(&line) {
                    parts.push(line);
                }
            }
        }
        parts
    }

    fn restore_text(&self) -> Option<String> {
        if self.restored.is_empty() && self.failed.is_empty() {
            return None;
        }
        let mut text = String::new();
        if !self.restored.is_empty() {
            text.push_str("These files were put back as they were before the call:");
            for path in &self.restored {
                text.push_str(&format!("\n- {path}"));
            }
        }
        if !self.failed.is_empty() {
            let lead = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{lead}These files could not be put back:"));
            for (path, reason) in &self.failed {
                text.push_str(&format!("\n- {path}: {reason}"));
            }
        }
        Some(text)
    }

    /// Returns one line for the user: what was decided and by which policies; empty when nothing was.
    pub fn user_line(&self) -> String {
        let level = self.level();
        let verb = match level {
            Level::Nothing | Level::Log | Level::Context => return String::new(),
            Level::Warn => "warned",
            Level::Ask => "asks",
            Level::Block => "refused",
        };
        let mut ids: Vec<&str> = Vec::new();
        let deciding = |outcome: &&Outcome| outcome.level == level || outcome.restore.is_some();
        for outcome in self.speaking().filter(deciding) {
            if !ids.contains(&outcome.policy.as_str()) {
                ids.push(&outcome.policy);
            }
        }
        let mut line = format!("git-operator: {verb} by policy {}", ids.join(", "));
        if !self.restored.is_empty() {
            line.push_str(&format!("; put back: {}", self.restored.join(", ")));
        }
        for (path, reason) in &self.failed {
            line.push_str(&format!("; not put back: {path} ({reason})"));
        }
        line
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= TEXT_LIMIT {
        return text.to_owned();
    }
    let short: String = text.chars().take(TEXT_LIMIT).collect();
    format!("{short}\n…")
}

/// Returns the level of an error.
pub(super) fn error_level(on_error: OnError, event: EventName) -> Level {
    match on_error {
        OnError::Block if event.can_block() => Level::Block,
        OnError::Block | OnError::Warn => Level::Warn,
    }
}
