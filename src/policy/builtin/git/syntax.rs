//! How git's subcommands take their options.

use crate::policy::shell::options::Syntax;

const fn syntax(
    letters: &'static str,
    glued: &'static str,
    longs: &'static [&'static str],
) -> Syntax {
    Syntax {
        letters,
        glued,
        longs,
    }
}

const COMMIT: &[&str] = &[
    "message",
    "file",
    "author",
    "date",
    "reuse-message",
    "reedit-message",
    "fixup",
    "squash",
    "template",
    "trailer",
    "cleanup",
    "pathspec-from-file",
];
const MERGE: &[&str] = &[
    "message",
    "file",
    "strategy",
    "strategy-option",
    "into-name",
    "cleanup",
];
const FETCH: &[&str] = &[
    "depth",
    "deepen",
    "shallow-since",
    "shallow-exclude",
    "upload-pack",
    "refmap",
    "jobs",
    "server-option",
    "negotiation-tip",
    "filter",
    "strategy",
    "strategy-option",
];

/// Returns how the subcommand `name` takes its options.
pub(super) fn of(name: &str) -> Syntax {
    match name {
        "commit" => syntax("mFcCt", "uS", COMMIT),
        "merge" => syntax("mFsX", "S", MERGE),
        "push" | "send-pack" => syntax(
            "o",
            "",
            &[
                "push-option",
                "repo",
                "receive-pack",
                "exec",
                "recurse-submodules",
            ],
        ),
        "fetch" => syntax("oj", "", FETCH),
        "pull" => syntax("ojsX", "S", FETCH),
        "rebase" => syntax(
            "xsX",
            "CS",
            &["exec", "onto", "strategy", "strategy-option", "whitespace"],
        ),
        "cherry-pick" | "revert" => syntax(
            "mX",
            "S",
            &["mainline", "strategy", "strategy-option", "cleanup"],
        ),
        "am" => syntax(
            "",
            "pCS",
            &["whitespace", "directory", "exclude", "include"],
        ),
        "clean" => syntax("e", "", &["exclude"]),
        "reset" => syntax("U", "", &["pathspec-from-file"]),
        "checkout" => syntax("bBU", "", &["orphan", "conflict", "pathspec-from-file"]),
        "switch" => syntax("cC", "", &["create", "force-create", "orphan", "conflict"]),
        "restore" => syntax("sU", "", &["source", "conflict", "pathspec-from-file"]),
        "branch" => syntax("u", "", &["set-upstream-to", "sort", "points-at", "format"]),
        "update-ref" => syntax("m", "", &[]),
        "symbolic-ref" => syntax("m", "", &[]),
        "worktree" => syntax("bB", "", &["reason"]),
        "stash" => syntax("m", "", &["message", "pathspec-from-file"]),
        _ => Syntax::default(),
    }
}
