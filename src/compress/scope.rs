//! Which outputs may be changed at all. What is not named here passes through untouched.

/// What may be done to the output of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// It passes through.
    None,
    /// Scrubbed and masked; nothing is left out.
    Lossless,
    /// Anything.
    Full,
}

/// Returns what may be done to the output of `tool`, whose input says `subject` (its command,
/// pattern and path).
pub fn treatment(tool: &str, subject: &str) -> Treatment {
    match tool {
        "Agent" => Treatment::Lossless,
        "Bash" | "WebFetch" | "WebSearch" | "Grep" | "Glob" if !speaks_to_the_gate(subject) => {
            Treatment::Full
        }
        _ => Treatment::None,
    }
}

/// Says whether the output of `tool` may ever be changed.
pub fn may_change(tool: &str) -> bool {
    treatment(tool, "") != Treatment::None
}

/// Says whether a call reads or writes the ledger, its views, or a spill of ours.
fn speaks_to_the_gate(subject: &str) -> bool {
    const NAMES: [&str; 7] = [
        ".operator",
        "VERDICTS.md",
        "DECISIONS.md",
        "verdicts.d",
        "refs/operator",
        "git-operator",
        "cc-operator-",
    ];
    NAMES.iter().any(|name| subject.contains(name)) || is_shim(subject) || is_git_operator(subject)
}

/// `ops-task.sh` and its like.
fn is_shim(subject: &str) -> bool {
    let mut words = subject.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '.');
    words.any(|word| word.starts_with("ops-") && word.ends_with(".sh") && word != "ops-.sh")
}

/// `git operator log`, `git -C x operator log`, `git log --notes=operator`.
fn is_git_operator(subject: &str) -> bool {
    let mut words = subject.split(|c: char| !c.is_ascii_alphanumeric());
    words.by_ref().any(|word| word == "git") && words.any(|word| word == "operator")
}

#[cfg(test)]
mod tests {
    use super::{Treatment, treatment};

    #[test]
    fn only_the_named_tools_are_treated() {
        for tool in ["Bash", "WebFetch", "WebSearch", "Grep", "Glob"] {
            assert_eq!(treatment(tool, "cargo test"), Treatment::Full, "{tool}");
        }
        assert_eq!(treatment("Agent", ""), Treatment::Lossless);
        for tool in [
            "Read",
            "Edit",
            "Write",
            "NotebookEdit",
            "MultiEdit",
            "mcp__git__log",
            "mcp__Bash",
            "bash",
            "Task",
            "Workflow",
            "",
            "Unknown",
        ] {
            assert_eq!(treatment(tool, "cargo test"), Treatment::None, "{tool}");
        }
    }

    #[test]
    fn what_speaks_to_the_gate_passes() {
        for subject in [
            "cat .operator/VERDICTS.md",
            "cd .operator && tail -50 DECISIONS.md",
            "grep -r PASS /x/.operator/verdicts.d/",
            "bash .operator/bin/ops-verdict.sh t c e PASS",
            "ops-reverify.sh",
            "git operator log -n 500",
            "git -C ../x --no-pager operator status",
            "git log --notes=operator",
            "git show refs/notes/operator",
            "git log refs/operator/ledger",
            "git-operator show 01",
            "cat /tmp/cc-operator-1000/0123456789abcdef/a/b",
            "VERDICTS.md .operator",
        ] {
            assert_eq!(treatment("Bash", subject), Treatment::None, "{subject}");
            assert_eq!(treatment("Grep", subject), Treatment::None, "{subject}");
        }
        for subject in [
            "kubectl get operators",
            "git log",
            "operator git",
            "devops-tools.shx",
            "ops-.sh",
            "github operator",
        ] {
            assert_eq!(treatment("Bash", subject), Treatment::Full, "{subject}");
        }
    }
}
