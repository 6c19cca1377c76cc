//! Git commands that push to, move or delete a branch.

use super::Git;
use crate::policy::glob::Globs;

/// What a command does to the protected branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moves {
    Yes,
    No,
    Unknown,
}

/// The branch that is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Current {
    Branch(String),
    /// No branch.
    Detached,
    Unknown,
}

/// The branches that a policy protects, at a place in a command line.
pub(super) struct Protected<'a> {
    pub(super) branches: &'a Globs,
    pub(super) current: &'a Current,
}

impl Protected<'_> {
    fn holds(&self, name: &str) -> bool {
        let name = name.trim_start_matches('+');
        let name = name.strip_prefix("refs/heads/").unwrap_or(name);
        let name = name.strip_prefix("heads/").unwrap_or(name);
        !name.starts_with("refs/") && self.branches.matches(name)
    }

    fn current(&self) -> Moves {
        match self.current {
            Current::Branch(name) => yes(self.holds(name)),
            Current::Detached => Moves::No,
            Current::Unknown => Moves::Unknown,
        }
    }

    /// Says what becomes of the target of a refspec, or of a branch as named.
    fn target(&self, name: &str) -> Moves {
        let name = name.trim_start_matches('+');
        if matches!(name, "HEAD" | "@") {
            return self.current();
        }
        let is_branch = !name.starts_with("refs/") || name.starts_with("refs/heads");
        // A pattern stands for branches nobody names.
        yes(self.holds(name) || name.contains('*') && is_branch)
    }

    /// Says what a command does to them.
    pub(super) fn moved_by(&self, git: &Git<'_>) -> Moves {
        match git.name() {
            "push" | "send-pack" => self.pushed(git),
            "fetch" | "pull" => any(git
                .operands()
                .skip(1)
                .filter_map(|refspec| refspec.split_once(':'))
                .filter(|(_, target)| !target.is_empty())
                .map(|(_, target)| self.target(target))),
            "branch" => self.branch(git),
            "checkout" => any(git.values("", Some('B')).map(|name| self.target(name))),
            "switch" => any(git
                .values("force-create", Some('C'))
                .map(|name| self.target(name))),
            "worktree" => any(git.values("", Some('B')).map(|name| self.target(name))),
            "symbolic-ref" => {
                let mut operands = git.operands();
                let name = operands.next().filter(|name| *name != "HEAD");
                let writes = git.has("delete", Some('d')) || operands.next().is_some();
                yes(writes && name.is_some_and(|name| self.holds(name)))
            }
            "update-ref" if git.has("stdin", None) => match git.stdin() {
                Some(text) if text.known => any(text
                    .text
                    .split([' ', '\n', '\0'])
                    .filter(|word| word.starts_with("refs/heads/") || *word == "HEAD")
                    .map(|word| self.target(word))),
                _ => Moves::Unknown,
            },
            "update-ref" => any(git.operands().take(1).map(|name| self.target(name))),
            _ => Moves::No,
        }
    }

    fn pushed(&self, git: &Git<'_>) -> Moves {
        if ["all", "branches", "mirror"]
            .into_iter()
            .any(|long| git.has(long, None))
        {
            return Moves::Yes;
        }
        let mut refspecs = git.operands().skip(1).peekable();
        if refspecs.peek().is_none() {
            return if git.has("tags", None) {
                Moves::No
            } else {
                self.current()
            };
        }
        let mut found = Moves::No;
        while let Some(refspec) = refspecs.next() {
            if refspec == "tag" {
                refspecs.next();
                continue;
            }
            let target = refspec.rsplit(':').next().unwrap_or(refspec);
            // `:` alone pushes all branches that are there on both sides.
            let moves = match refspec {
                ":" | "+:" => Moves::Yes,
                _ => self.target(target),
            };
            found = worse(found, moves);
        }
        found
    }

    fn branch(&self, git: &Git<'_>) -> Moves {
        let has = |long: &str, letter| git.has(long, Some(letter));
        let all: Vec<&str> = git.operands().collect();
        if has("delete", 'd') || has("delete", 'D') {
            return any(all.iter().map(|name| self.target(name)));
        }
        if has("move", 'm') || has("move", 'M') {
            let old = if all.len() < 2 {
                self.current()
            } else {
                Moves::No
            };
            return worse(old, any(all.iter().map(|name| self.target(name))));
        }
        let copies = git.has("copy", Some('c')) && has("force", 'f') || git.has("", Some('C'));
        if copies {
            return any(all.last().map(|name| self.target(name)).into_iter());
        }
        if has("force", 'f') {
            return any(all.first().map(|name| self.target(name)).into_iter());
        }
        Moves::No
    }
}

/// Returns the branch that is checked out after a command, if it was `before`.
pub(super) fn after(git: &Git<'_>, before: Current) -> Current {
    let created = match git.name() {
        "checkout" => git
            .values("", Some('b'))
            .chain(git.values("", Some('B')))
            .last(),
        "switch" => git
            .values("create", Some('c'))
            .chain(git.values("force-create", Some('C')))
            .last(),
        _ => return before,
    };
    let orphan = git.values("orphan", None).last();
    if let Some(name) = created.or(orphan) {
        return Current::Branch(name.to_owned());
    }
    if git.has("detach", Some('d')) {
        return Current::Detached;
    }
    let words: Vec<_> = git.found.operands.iter().collect();
    match (words.as_slice(), git.found.dashes) {
        ([word], None | Some(1)) if !word.known => Current::Unknown,
        ([word], None | Some(1)) => match word.text.as_str() {
            "-" => Current::Unknown,
            "HEAD" | "@" | "." => before,
            // The branch is named as that of the remote.
            name if git.has("track", Some('t')) => {
                let name = name.strip_prefix("refs/remotes/").unwrap_or(name);
                let name = name.split_once('/').map_or(name, |(_, name)| name);
                Current::Branch(name.to_owned())
            }
            name => Current::Branch(name.to_owned()),
        },
        _ => before,
    }
}

fn yes(moves: bool) -> Moves {
    if moves { Moves::Yes } else { Moves::No }
}

fn worse(one: Moves, other: Moves) -> Moves {
    match (one, other) {
        (Moves::Yes, _) | (_, Moves::Yes) => Moves::Yes,
        (Moves::Unknown, _) | (_, Moves::Unknown) => Moves::Unknown,
        (Moves::No, Moves::No) => Moves::No,
    }
}

fn any(moves: impl Iterator<Item = Moves>) -> Moves {
    moves.fold(Moves::No, worse)
}
