//! Path patterns as in .gitignore: `*.md` at any depth, `/x` at the top, `dir/` with all it holds,
//! `!` to take back; the last that matches decides.

use gix_glob::{Pattern, pattern, wildmatch};

/// The longest pattern.
const LENGTH_LIMIT: usize = 512;

/// A list of path patterns.
#[derive(Clone, Debug, Default)]
pub struct Globs(Vec<Pattern>);

impl Globs {
    /// Accepts patterns; the error says which is wrong and why.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut globs = Self::default();
        for text in patterns {
            globs.0.push(parse(text)?);
        }
        Ok(globs)
    }

    /// Says whether the patterns choose `path`, which is relative to the top. A list that begins with
    /// `!` chooses all it does not take back.
    pub fn matches(&self, path: &str) -> bool {
        let path = path.trim_start_matches('/');
        self.0
            .iter()
            .rev()
            .find(|pattern| matches(pattern, path))
            .map_or_else(
                || self.0.first().is_some_and(Pattern::is_negative),
                |pattern| !pattern.is_negative(),
            )
    }
}

fn parse(text: &str) -> Result<Pattern, String> {
    if text.len() > LENGTH_LIMIT {
        return Err(format!(
            "the pattern is longer than {LENGTH_LIMIT} bytes: '{}…'",
            text.chars().take(40).collect::<String>()
        ));
    }
    if text.contains(['{', '}']) {
        return Err(format!(
            "'{text}' holds braces, which git patterns do not have; write one pattern for each"
        ));
    }
    if text.chars().any(char::is_control) {
        return Err(format!(
            "'{}' holds a control character",
            text.escape_debug()
        ));
    }
    if text.trim() != text {
        return Err(format!("'{text}' begins or ends with white space"));
    }
    let open = text.matches('[').count();
    if open > 0 && !text.contains(']') {
        return Err(format!("'{text}' opens '[' without closing it"));
    }
    let pattern = Pattern::from_bytes(text.as_bytes())
        .filter(|pattern| !pattern.text.is_empty())
        .ok_or_else(|| format!("'{text}' is no pattern"))?;
    Ok(pattern)
}

/// Says whether the pattern matches the path or a directory it lies in.
fn matches(pattern: &Pattern, path: &str) -> bool {
    let directories = path.match_indices('/').map(|(end, _)| (&path[..end], true));
    directories
        .chain(std::iter::once((path, false)))
        .any(|(part, is_dir)| {
            pattern.matches_repo_relative_path(
                part.as_bytes().into(),
                part.rfind('/').map(|at| at + 1),
                Some(is_dir),
                pattern::Case::Sensitive,
                wildmatch::Mode::NO_MATCH_SLASH_LITERAL,
            )
        })
}

#[cfg(test)]
mod tests {
    use super::Globs;

    #[test]
    fn patterns_choose_as_git_does() {
        for (patterns, path, expected) in [
            (&["*.md"][..], "a/b.md", true),
            (&["*.md"], "b.mdx", false),
            (&["/x"], "x", true),
            (&["/x"], "a/x", false),
            (&["src/"], "src/a/b.rs", true),
            (&["src/"], "src", false),
            (&["src"], "a/src/b", true),
            (&["src/**"], "src/a/b", true),
            (&["src/*.rs"], "src/a/b.rs", false),
            (&["src/**/*.rs"], "src/b.rs", true),
            (&["src/**", "!src/gen/"], "src/gen/a", false),
            (&["src/**", "!src/gen/"], "src/a", true),
            (&["!docs/"], "src/a", true),
            (&["!docs/"], "docs/a", false),
            (&[], "a", false),
            (&["[ab].c"], "b.c", true),
            (&["é*"], "été", true),
        ] {
            let globs = Globs::new(patterns.iter().copied()).unwrap();
            assert_eq!(globs.matches(path), expected, "{patterns:?} {path}");
        }
    }

    #[test]
    fn patterns_that_would_never_match_are_refused() {
        for pattern in ["", "/", "{a,b}", " a", "a\n", "[a", "!"] {
            assert!(Globs::new([pattern]).is_err(), "{pattern:?}");
        }
    }
}
