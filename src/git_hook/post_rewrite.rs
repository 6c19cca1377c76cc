use super::post_commit;
use crate::{
    gate,
    model::{Oid, Owner},
    store::{Reach, Store},
    ui::{Context, Failure, read_stdin},
};

const LIMIT: usize = 16 << 20;

/// Records which commit became which, projects onto both, and pins the old ones that records
/// are stamped with.
pub(super) fn answer(args: &[&str], store: &Store, context: &Context) -> Result<(), Failure> {
    let text = read_stdin("the rewritten commits", LIMIT)?;
    let pairs = parse(&text);
    let cause = match args.first() {
        Some(&"amend") => "amend",
        _ => "rebase",
    };
    let session = context.env().text("CLAUDE_CODE_SESSION_ID");
    let session = session.and_then(|name| Owner::new(name).ok());
    let clock = context.clock()?;
    let recorded = gate::rewritten(store, &clock, (cause, &pairs), session);
    let mut commits: Vec<Oid> = pairs.iter().flat_map(|(old, new)| [*old, *new]).collect();
    commits.sort_unstable();
    commits.dedup();
    let noted = post_commit::note(store, context, &commits);
    store.pin(&clock, Reach::New)?;
    recorded?;
    noted
}

/// Reads the lines of githooks(5): old id, new id, and whatever a later git may add.
fn parse(text: &[u8]) -> Vec<(Oid, Oid)> {
    let text = String::from_utf8_lossy(text);
    text.lines()
        .filter_map(|line| {
            let mut words = line.split_ascii_whitespace();
            Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn lines_that_name_no_two_commits_are_passed_over() {
        let (old, new) = ("a".repeat(40), "b".repeat(40));
        let text = format!("{old} {new}\nx\n\n{old}\n{old} {new} more\r\n");
        let pair = (old.parse().unwrap(), new.parse().unwrap());
        assert_eq!(parse(text.as_bytes()), [pair, pair]);
    }
}
