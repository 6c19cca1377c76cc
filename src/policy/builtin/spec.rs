//! The list of built-ins: what each looks at, where it may stand, what it takes.

use super::{Answer, Params, argv, file, git, outside, turn};
use crate::policy::{
    event::EventName::{self, FileDelete, FileWrite, ToolCall, TurnEnd},
    facts::Facts,
    part::Part,
};

/// What a parameter holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::policy) enum Kind {
    Int,
    Bool,
    Texts,
    Globs,
    Regexes,
    Commands,
    Word(&'static [&'static str]),
}

impl Kind {
    /// Returns a value to begin with, as YAML.
    pub(in crate::policy) fn sample(self) -> &'static str {
        match self {
            Self::Int => "400",
            Self::Bool => "true",
            Self::Texts => "[text]",
            Self::Globs => "[\"src/**\"]",
            Self::Regexes => "[\"TODO\"]",
            Self::Commands => "[\"cargo test\"]",
            Self::Word(_) => "pass",
        }
    }

    pub(in crate::policy) fn describe(self) -> &'static str {
        match self {
            Self::Int => "a number, 0 or more",
            Self::Bool => "true or false",
            Self::Texts => "a list of texts",
            Self::Globs => "a list of path patterns",
            Self::Regexes => "a list of regular expressions",
            Self::Commands => "a list of commands",
            Self::Word(_) => "a word",
        }
    }
}

/// One parameter.
#[derive(Debug)]
pub(in crate::policy) struct Param {
    pub(in crate::policy) name: &'static str,
    pub(in crate::policy) kind: Kind,
    pub(in crate::policy) required: bool,
    pub(in crate::policy) doc: &'static str,
}

/// One built-in.
#[derive(Debug)]
pub(in crate::policy) struct Spec {
    pub(in crate::policy) name: &'static str,
    pub(in crate::policy) doc: &'static str,
    /// The events it may stand on.
    pub(in crate::policy) events: &'static [EventName],
    pub(in crate::policy) own: &'static [Param],
    /// Whether `paths` has a meaning of its own, and does not choose the events looked at.
    pub(super) owns_paths: bool,
    /// What has to be found out for it.
    pub(super) reads: &'static [Part],
    pub(super) check: fn(&Params, &Facts) -> Answer,
}

impl Spec {
    /// Returns its parameters, those that all built-ins share included.
    pub(in crate::policy) fn params(&self) -> impl Iterator<Item = &'static Param> {
        let own = self.own;
        let shared = SHARED
            .iter()
            .filter(move |shared| own.iter().all(|param| param.name != shared.name));
        own.iter().chain(shared)
    }
}

const SHARED: &[Param] = &[
    optional("paths", Kind::Globs, "only these files"),
    optional("except", Kind::Globs, "not these files"),
    optional(
        "unknown",
        Kind::Word(&["pass", "block"]),
        "what to make of what cannot be known: pass (default) or block",
    ),
];

const fn optional(name: &'static str, kind: Kind, doc: &'static str) -> Param {
    Param {
        name,
        kind,
        required: false,
        doc,
    }
}

const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Param {
    Param {
        name,
        kind,
        required: true,
        doc,
    }
}

const WRITES: &[EventName] = &[FileWrite];
const FILES: &[EventName] = &[FileWrite, FileDelete];
const CALLS: &[EventName] = &[ToolCall];
const TURNS: &[EventName] = &[TurnEnd];
const CONTENT: &[Part] = &[Part::Content];
const ADDED_ONLY: Param = optional(
    "added_only",
    Kind::Bool,
    "look only at added lines (default true)",
);
const IGNORE_CASE: Param = optional(
    "ignore_case",
    Kind::Bool,
    "take capitals and small letters as equal (default false)",
);
const GROWTH_ONLY: Param = optional(
    "growth_only",
    Kind::Bool,
    "let a file that was over the limit before stay or shrink (default false)",
);

const fn spec_of(
    name: &'static str,
    doc: &'static str,
    events: &'static [EventName],
    check: fn(&Params, &Facts) -> Answer,
) -> Spec {
    Spec {
        name,
        doc,
        events,
        own: &[],
        owns_paths: false,
        reads: &[],
        check,
    }
}

/// Every built-in.
pub(in crate::policy) const NAMES: &[Spec] = &[
    Spec {
        reads: CONTENT,
        own: &[
            required("max", Kind::Int, "the most lines a file may have"),
            GROWTH_ONLY,
        ],
        ..spec_of(
            "max-lines",
            "the file has more lines than `max`",
            WRITES,
            file::max_lines,
        )
    },
    Spec {
        reads: CONTENT,
        own: &[
            required("max", Kind::Int, "the most bytes a file may have"),
            GROWTH_ONLY,
        ],
        ..spec_of(
            "max-bytes",
            "the file has more bytes than `max`",
            WRITES,
            file::max_bytes,
        )
    },
    Spec {
        reads: CONTENT,
        own: &[
            required("patterns", Kind::Regexes, "what may not stand in the file"),
            ADDED_ONLY,
            IGNORE_CASE,
        ],
        ..spec_of(
            "forbid-text",
            "a line matches one of `patterns`",
            WRITES,
            file::forbid_text,
        )
    },
    Spec {
        reads: CONTENT,
        own: &[
            required("patterns", Kind::Regexes, "what must stand in the file"),
            IGNORE_CASE,
        ],
        ..spec_of(
            "require-text",
            "one of `patterns` matches nowhere in the file",
            WRITES,
            file::require_text,
        )
    },
    Spec {
        reads: CONTENT,
        own: &[
            optional("extra", Kind::Regexes, "more patterns of secrets"),
            ADDED_ONLY,
        ],
        ..spec_of(
            "no-secrets",
            "a line holds what looks like a key, a token or a password",
            WRITES,
            file::no_secrets,
        )
    },
    Spec {
        reads: CONTENT,
        ..spec_of(
            "no-conflict-markers",
            "the file holds the markers that git leaves in a conflict",
            WRITES,
            file::no_conflict_markers,
        )
    },
    Spec {
        owns_paths: true,
        own: &[
            optional(
                "marker",
                Kind::Texts,
                "what marks a generated file in its first 10 lines (default: @generated, DO NOT EDIT, Code generated by)",
            ),
            optional(
                "paths",
                Kind::Globs,
                "files that are generated whether they say so or not",
            ),
        ],
        ..spec_of(
            "generated-file",
            "the file is generated, by its own words or by `paths`",
            WRITES,
            file::generated_file,
        )
    },
    Spec {
        owns_paths: true,
        own: &[required(
            "paths",
            Kind::Globs,
            "the files that stay as they are",
        )],
        ..spec_of(
            "protect-paths",
            "the file is one of `paths`",
            FILES,
            file::protect_paths,
        )
    },
    spec_of(
        "policy-files",
        "the file is a policy (on by default)",
        FILES,
        file::policy_files,
    ),
    spec_of(
        "ledger-files",
        "the file is one that only git-operator writes (on by default)",
        FILES,
        file::ledger_files,
    ),
    Spec {
        owns_paths: true,
        own: &[
            optional(
                "deny",
                Kind::Commands,
                "commands that may not run: a name and arguments it is given in this order, `*` for any text",
            ),
            optional("only", Kind::Commands, "the only commands that may run"),
        ],
        ..spec_of(
            "command",
            "a command matches one of `deny`, or none of `only`",
            CALLS,
            argv::command,
        )
    },
    Spec {
        reads: &[Part::Head],
        owns_paths: true,
        own: &[
            optional(
                "force_push",
                Kind::Bool,
                "git push that overwrites (default true)",
            ),
            optional("hard_reset", Kind::Bool, "git reset --hard (default true)"),
            optional("no_verify", Kind::Bool, "skipping hooks (default true)"),
            optional("clean", Kind::Bool, "git clean that deletes (default true)"),
            optional(
                "discard",
                Kind::Bool,
                "throwing away changes or stashes (default true)",
            ),
            optional(
                "branches",
                Kind::Globs,
                "branches that nothing is pushed to, and that are not moved or deleted",
            ),
        ],
        ..spec_of(
            "git-guard",
            "a git command loses work or goes around a check",
            CALLS,
            git::guard,
        )
    },
    Spec {
        owns_paths: true,
        own: &[optional(
            "allow",
            Kind::Texts,
            "directories outside the repository that may be written (default: /tmp, /dev)",
        )],
        ..spec_of(
            "outside-root",
            "a call writes outside the repository",
            CALLS,
            outside::outside_root,
        )
    },
    Spec {
        reads: &[Part::Work],
        ..spec_of(
            "clean-tree",
            "the session leaves changes uncommitted",
            TURNS,
            turn::clean_tree,
        )
    },
    Spec {
        reads: &[Part::Gate],
        ..spec_of(
            "tasks-closed",
            "the session leaves tasks open",
            TURNS,
            turn::tasks_closed,
        )
    },
    Spec {
        reads: &[Part::Work, Part::Turn],
        own: &[required(
            "commands",
            Kind::Commands,
            "the commands that test: one must have succeeded since the last write",
        )],
        ..spec_of(
            "tests-ran",
            "the session changed files and no test command succeeded since",
            TURNS,
            turn::tests_ran,
        )
    },
    Spec {
        reads: &[Part::Work, Part::Verdict],
        ..spec_of(
            "verdict-fresh",
            "the session changed files and its newest verdict is not about them",
            TURNS,
            turn::verdict_fresh,
        )
    },
    Spec {
        reads: &[Part::Turn],
        own: &[optional(
            "max",
            Kind::Int,
            "how often the same call may be made in a turn (default 3)",
        )],
        ..spec_of(
            "repeat",
            "the same call was made `max` times in this turn before",
            EventName::ALL,
            turn::repeat,
        )
    },
    Spec {
        reads: &[Part::Turn],
        own: &[
            optional("tools", Kind::Int, "the most tool calls of a turn"),
            optional("blocks", Kind::Int, "the most refusals of a turn"),
        ],
        ..spec_of(
            "budget",
            "the turn made more calls or met more refusals than it may",
            EventName::ALL,
            turn::budget,
        )
    },
];

/// Returns the built-in named `name`.
pub(in crate::policy) fn spec(name: &str) -> Option<&'static Spec> {
    NAMES.iter().find(|spec| spec.name == name)
}
