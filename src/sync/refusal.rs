//! What git says of a push that was refused.

/// A push that did not happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// Somebody else's push came between: fetching and trying again helps.
    pub(super) raced: bool,
    /// What the remote said, one line.
    pub(super) reason: String,
}

/// Reasons in the parentheses behind a refused ref that come from another push, as send-pack,
/// receive-pack and known hosts word them.
const RACES: [&str; 9] = [
    "fetch first",
    "non-fast-forward",
    "stale info",
    "already exists",
    "cannot lock ref",
    "failed to lock",
    "failed to update ref",
    "incorrect old value",
    "atomic transaction failed",
];
/// What says only that another ref of the same push was refused.
const FELLOWS: [&str; 2] = ["atomic push failed", "atomic push failure"];

/// Reads what git push said on stderr; `None` where it names no refused ref.
pub(super) fn of(said: &str) -> Option<Refusal> {
    let refused = said.lines().filter(|line| {
        let line = line.trim_start();
        line.starts_with("! [rejected]") || line.starts_with("! [remote rejected]")
    });
    let reasons: Vec<&str> = refused.map(in_parentheses).collect();
    let telling = |reason: &&&str| !FELLOWS.contains(*reason);
    let reason = *reasons.iter().find(telling).or(reasons.first())?;
    // Some hosts say in what they print why they refuse, and only `declined` behind the ref.
    let told = said
        .lines()
        .filter_map(|line| line.strip_prefix("remote:"))
        .map(str::trim)
        .find(|line| !line.is_empty());
    // A ref in the way of ours is there the next time, too.
    let raced = |text: &str| {
        RACES.iter().any(|race| text.contains(race)) && !text.contains("cannot create")
    };
    Some(Refusal {
        raced: match told {
            Some(told) if told.contains("cannot lock ref") => raced(told),
            Some(_) | None => raced(reason),
        },
        reason: match told {
            Some(told) => format!("{reason}: {told}"),
            None => reason.to_owned(),
        },
    })
}

fn in_parentheses(line: &str) -> &str {
    let inner = line.trim_end().strip_suffix(')');
    // The name of a ref holds no space, so the first one of these begins the reason.
    match inner.and_then(|line| line.split_once(" (")) {
        Some((_, reason)) => reason,
        None => "it was refused",
    }
}

#[cfg(test)]
mod tests {
    use super::of;

    fn line(reason: &str) -> String {
        format!("To ../hub\n ! {reason}\nerror: failed to push some refs to '../hub'\n")
    }

    #[test]
    fn another_push_in_between_is_told_from_a_remote_that_says_no() {
        for (reason, raced) in [
            (
                "[rejected]        a -> refs/operator/ledger (fetch first)",
                true,
            ),
            (
                "[rejected]        a -> refs/operator/ledger (non-fast-forward)",
                true,
            ),
            (
                "[rejected]        a -> refs/operator/evidence (stale info)",
                true,
            ),
            (
                "[remote rejected] a -> refs/operator/ledger (failed to update ref)",
                true,
            ),
            (
                "[remote rejected] a -> refs/operator/ledger (incorrect old value provided)",
                true,
            ),
            (
                "[remote rejected] a -> b (cannot lock ref 'b': is at c but expected d)",
                true,
            ),
            (
                "[remote rejected] a -> refs/operator/ledger (pre-receive hook declined)",
                false,
            ),
            (
                "[remote rejected] a -> refs/operator/ledger (hook declined)",
                false,
            ),
            (
                "[remote rejected] a -> refs/operator/ledger (deny updating a hidden ref)",
                false,
            ),
            (
                "[remote rejected] a -> refs/operator/ledger (unpacker error)",
                false,
            ),
        ] {
            assert_eq!(of(&line(reason)).unwrap().raced, raced, "{reason}");
        }
        assert_eq!(of("fatal: unable to access 'x'\n"), None);
    }

    #[test]
    fn the_reason_is_what_the_remote_said() {
        let hook = "remote: \nremote: GH013: no such refs here  \n\
                    ! [remote rejected] a -> refs/operator/evidence (atomic push failure)\n \
                    ! [remote rejected] a -> refs/operator/ledger (hook declined)\n";
        assert_eq!(
            of(hook).unwrap().reason,
            "hook declined: GH013: no such refs here"
        );
        let hidden = line("[remote rejected] a -> b (deny updating a hidden ref)");
        assert_eq!(of(&hidden).unwrap().reason, "deny updating a hidden ref");
    }
}
