use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fmt,
    path::{Path, PathBuf},
};

/// What `git rev-parse --local-env-vars` lists, and what else ties a process to one repository.
const LOCAL: [&str; 24] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REFLOG_ACTION",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Set for every git we start: hooks that run below it are ours to leave alone.
pub const HOOK_GUARD: &str = "GIT_OPERATOR_HOOK";

/// The environment as a front end received it; nothing below reads the process's own.
#[derive(Clone, Default)]
pub struct Env {
    vars: BTreeMap<OsString, OsString>,
    trace: Option<fn(&str)>,
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(&self.vars).finish()
    }
}

impl Env {
    /// Reads the environment of this process.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the environment"
    )]
    pub fn from_process() -> Self {
        Self::new(std::env::vars_os())
    }

    /// Returns the environment of these variables and no others.
    pub fn new(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self {
            vars: vars.into_iter().collect(),
            trace: None,
        }
    }

    /// Returns this environment without the variables that name a repository or override its
    /// configuration: what a Claude hook inherits says nothing about its payload's directory.
    #[must_use]
    pub fn hook(mut self) -> Self {
        for name in LOCAL {
            self.vars.remove(OsStr::new(name));
        }
        self
    }

    /// Returns this environment with one variable set.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.vars.insert(name.into(), value.into());
        self
    }

    /// Sends a line per child command and ref edit to `sink` when GIT_TRACE asks for it.
    #[must_use]
    pub fn traced(mut self, sink: fn(&str)) -> Self {
        self.trace = self.flag("GIT_TRACE").then_some(sink);
        self
    }

    /// Returns every variable, for a command that is not git.
    pub fn pairs(&self) -> Vec<(OsString, OsString)> {
        let pairs = self.vars.iter();
        pairs
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// Returns a variable's value; an empty one counts as set.
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        self.vars.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// Returns a variable's value as text, when it is not empty and is UTF-8.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.var(name)?.to_str().filter(|text| !text.is_empty())
    }

    /// Returns a variable's value as a path, when it is not empty.
    pub fn path(&self, name: &str) -> Option<&Path> {
        self.var(name)
            .filter(|value| !value.is_empty())
            .map(Path::new)
    }

    /// Says whether a variable is set to a true boolean of git's (`1`, `true`, `yes`, `on`, a number).
    pub fn flag(&self, name: &str) -> bool {
        self.text(name).is_some_and(|text| {
            matches!(
                text.to_ascii_lowercase().as_str(),
                "true" | "yes" | "on" | "1" | "2"
            ) || text.parse::<i64>().is_ok_and(|number| number != 0)
        })
    }

    /// Returns HOME.
    pub fn home(&self) -> Option<&Path> {
        self.path("HOME")
    }

    /// Returns the directories that discovery does not look above.
    pub(crate) fn ceilings(&self) -> Vec<PathBuf> {
        self.path("GIT_CEILING_DIRECTORIES")
            .map(|list| std::env::split_paths(list).collect())
            .unwrap_or_default()
    }

    /// Returns what a child gets: everything but the variables that name a repository, and the
    /// configuration a caller gave with `-c`.
    pub(crate) fn child_vars(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        let given = ["GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS"];
        self.vars.iter().filter(move |(name, _)| {
            let local = LOCAL.iter().any(|local| name.as_os_str() == *local);
            let trace = name.to_string_lossy().starts_with("GIT_TRACE");
            !trace && (!local || given.iter().any(|kept| name.as_os_str() == *kept))
        })
    }

    pub(crate) fn trace(&self, line: impl FnOnce() -> String) {
        if let Some(sink) = self.trace {
            sink(&line());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Env;

    fn env(pairs: &[(&str, &str)]) -> Env {
        Env::new(
            pairs
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into())),
        )
    }

    #[test]
    fn a_hook_forgets_which_repository_it_was_called_from() {
        let hook = env(&[("GIT_DIR", "/x"), ("GIT_INDEX_FILE", "/y"), ("HOME", "/h")]).hook();
        assert_eq!(hook.var("GIT_DIR"), None);
        assert_eq!(hook.var("GIT_INDEX_FILE"), None);
        assert_eq!(hook.home().unwrap(), std::path::Path::new("/h"));
    }

    #[test]
    fn a_child_keeps_the_configuration_given_on_the_command_line() {
        let given = env(&[
            ("GIT_DIR", "/x"),
            ("GIT_CONFIG_PARAMETERS", "'a.b'='c'"),
            ("GIT_TRACE_SETUP", "1"),
            ("PATH", "/bin"),
        ]);
        let names: Vec<_> = given.child_vars().map(|(name, _)| name.clone()).collect();
        assert_eq!(names, ["GIT_CONFIG_PARAMETERS", "PATH"]);
    }

    #[test]
    fn flags_are_the_booleans_of_git() {
        for (value, truth) in [
            ("1", true),
            ("on", true),
            ("0", false),
            ("", false),
            ("no", false),
        ] {
            assert_eq!(env(&[("F", value)]).flag("F"), truth, "{value}");
        }
        assert!(!env(&[]).flag("F"));
    }
}
