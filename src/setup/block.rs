//! A marked block of ours in a text file of somebody else's.
//!
//! Taking the block out gives back the bytes that were there before, also when the file did not end
//! in a newline.

const BEGIN: &str = "# git-operator begin";
const UNENDED: &str = " (the line above had no newline)";
const END: &str = "# git-operator end";

/// Where a block goes into a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// Behind everything else.
    End,
    /// Behind the first line, which names the interpreter.
    SecondLine,
}

/// Returns `text` with the block `body` (whole lines) in it, in the place of an older block if there is
/// one.
pub(super) fn put(text: &str, body: &str, at: At) -> String {
    if let Some((before, after)) = split(text) {
        return format!(
            "{}{BEGIN}{}\n{body}{END}\n{after}",
            before.text,
            before.mark()
        );
    }
    let head = match at {
        At::End => text.len(),
        At::SecondLine => text.find('\n').map_or(text.len(), |newline| newline + 1),
    };
    let (head, tail) = text.split_at(head);
    let unended = !head.is_empty() && !head.ends_with('\n');
    let (newline, mark) = if unended { ("\n", UNENDED) } else { ("", "") };
    format!("{head}{newline}{BEGIN}{mark}\n{body}{END}\n{tail}")
}

/// Returns what stands in front of the block, and its body; `None` when there is none.
pub(super) fn parts(text: &str) -> Option<(&str, &str)> {
    let begin = line_start(text, BEGIN)?;
    let body = begin + text[begin..].find('\n')? + 1;
    let end = body + line_start(&text[body..], END)?;
    Some((&text[..begin], &text[body..end]))
}

/// Returns `text` without the block; `None` when it holds none.
pub(super) fn take(text: &str) -> Option<String> {
    let (before, after) = split(text)?;
    let head = if before.unended {
        before.text.strip_suffix('\n').unwrap_or(before.text)
    } else {
        before.text
    };
    Some(format!("{head}{after}"))
}

struct Before<'a> {
    text: &'a str,
    unended: bool,
}

impl Before<'_> {
    fn mark(&self) -> &'static str {
        if self.unended { UNENDED } else { "" }
    }
}

fn split(text: &str) -> Option<(Before<'_>, &str)> {
    let begin = line_start(text, BEGIN)?;
    let end = begin + line_start(&text[begin..], END)?;
    let after = text[end..]
        .find('\n')
        .map_or("", |newline| &text[end + newline + 1..]);
    let first = text[begin..].lines().next().unwrap_or_default();
    Some((
        Before {
            text: &text[..begin],
            unended: first.ends_with(UNENDED),
        },
        after,
    ))
}

fn line_start(text: &str, line: &str) -> Option<usize> {
    text.match_indices(line)
        .map(|(at, _)| at)
        .find(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{At, put, take};

    proptest! {
        #[test]
        fn taking_the_block_gives_back_the_bytes(text in "([a-z#! ]{0,6}\n){0,3}[a-z]{0,3}", second: bool) {
            let at = if second { At::SecondLine } else { At::End };
            let once = put(&text, "x\n", at);
            prop_assert!(once.contains("begin") && once.contains("\nx\n"));
            prop_assert_eq!(take(&put(&once, "other\nlines\n", at)), Some(text.clone()));
            prop_assert_eq!(take(&text), None);
        }
    }

    #[test]
    fn a_comment_about_the_block_is_not_the_block() {
        assert_eq!(take("echo # git-operator begin\n"), None);
    }
}
