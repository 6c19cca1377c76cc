//! What is wrong with a policy file, and where.

use std::{fmt, sync::Arc};

/// A policy file as text.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// The path people know it by.
    pub path: String,
    pub text: String,
}

/// A place in a policy file.
#[derive(Clone, Debug)]
pub struct Place {
    pub source: Arc<Source>,
    /// The byte at which it begins.
    pub at: usize,
}

impl Place {
    /// Returns the line, counted from 1.
    pub fn line(&self) -> usize {
        self.before().matches('\n').count() + 1
    }

    /// Returns the column in characters, counted from 1.
    pub fn column(&self) -> usize {
        let before = self.before();
        let line = before.rsplit('\n').next().unwrap_or(before);
        line.chars().count() + 1
    }

    fn before(&self) -> &str {
        let mut at = self.at.min(self.source.text.len());
        while !self.source.text.is_char_boundary(at) {
            at -= 1;
        }
        &self.source.text[..at]
    }

    fn excerpt(&self) -> &str {
        let line = self.source.text.lines().nth(self.line() - 1);
        line.unwrap_or_default()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.source.path, self.line())
    }
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])* $code:ident,)*) => {
        /// The kinds of fault; those that begin with `W` do not keep a policy from being used.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[doc = $doc])* $code,)*
        }

        impl Code {
            /// Every kind of fault.
            pub const ALL: &'static [Self] = &[$(Self::$code,)*];
        }

        impl fmt::Display for Code {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$code => stringify!($code),)*
                })
            }
        }
    };
}

codes! {
    /// Not YAML, or YAML that is refused: too large, too deep, tags, anchors, a key twice.
    E01,
    /// A field that does not exist, or one that is missing or of another type.
    E02,
    /// An event, action, built-in or parameter that does not exist.
    E03,
    /// Not CEL, or a function that does not exist.
    E04,
    /// A condition that cannot be true or false.
    E05,
    /// A field of `event`, `work` or `gate` that exists at none of the policy's events.
    E06,
    /// An action that is not possible at one of the policy's events.
    E07,
    /// A regular expression or glob that is wrong, or is not a literal.
    E08,
    /// A limit: length, nodes, depth or nesting of an expression.
    E09,
    /// Two policies with one id.
    E10,
    /// A `when` without a condition.
    E11,
    /// A field that is absent at some of the policy's events, without `has()`.
    W01,
    /// A comprehension over a map, whose order changes from run to run.
    W02,
    /// `context` at turn.end, which makes the agent go on.
    W03,
    /// A `paths` or `tools` filter that matches nothing known.
    W04,
    /// A policy without a test.
    W05,
    /// A block at turn.end on something the agent cannot change.
    W06,
    /// A control character in an expression.
    W07,
    /// A block on files that a shell changes, where nothing keeps track of them.
    W08,
}

impl Code {
    /// Says whether the policy can be used all the same.
    pub fn is_warning(self) -> bool {
        self >= Self::W01
    }
}

/// One fault of a policy file.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    pub code: Code,
    pub place: Place,
    pub message: String,
}

impl Diagnostic {
    /// Returns the fault as text: the place, the message, the line and a caret under the place.
    pub fn render(&self) -> String {
        let kind = if self.code.is_warning() {
            "warning"
        } else {
            "error"
        };
        let line = self.place.line().to_string();
        let gutter = " ".repeat(line.len());
        let excerpt: String = self.place.excerpt().chars().map(visible).collect();
        let column = self.place.column();
        let (excerpt, column) = cropped(&excerpt, column);
        format!(
            "{kind}[{}] {}:{line}:{}: {}\n {line} | {excerpt}\n {gutter} | {}^",
            self.code,
            self.place.source.path,
            self.place.column(),
            self.message,
            " ".repeat(column - 1),
        )
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}:{}: {} ({})",
            self.place.source.path,
            self.place.line(),
            self.place.column(),
            self.message,
            self.code
        )
    }
}

fn visible(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// Returns at most 100 characters around the column, and the column in them.
fn cropped(line: &str, column: usize) -> (String, usize) {
    let start = column.saturating_sub(60);
    let text = line.chars().skip(start).take(100).collect();
    (text, column - start)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Code, Diagnostic, Place, Source};

    #[test]
    fn the_caret_stands_under_the_fault() {
        let source = Arc::new(Source {
            path: "p.yaml".to_owned(),
            text: "on: [é]\nwhne: 1\n".to_owned(),
        });
        let fault = Diagnostic {
            code: Code::E02,
            place: Place { source, at: 9 },
            message: "unknown field 'whne', did you mean 'when'?".to_owned(),
        };
        assert_eq!(
            fault.render(),
            "error[E02] p.yaml:2:1: unknown field 'whne', did you mean 'when'?\n \
             2 | whne: 1\n   | ^"
        );
    }
}
