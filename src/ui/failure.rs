use std::{borrow::Cow, io};

use super::Exit;
use crate::model::Explain;

/// Why a command did not do what it was asked, as the reader is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What failed and why; `None` when the reader of our output went away, which is no failure.
    pub message: Option<String>,
    /// A command the reader can run.
    pub hint: Option<String>,
    pub exit: Exit,
}

impl Failure {
    /// Returns a failure without a hint.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            message: Some(message.into()),
            hint: None,
            exit,
        }
    }

    /// Returns a request that cannot be understood.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Returns the same failure with a command the reader can run.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns a failure of input or output; `what` is `cannot <verb> '<thing>'`.
    pub fn io(what: impl std::fmt::Display, error: &io::Error) -> Self {
        Self::new(Exit::Fatal, format!("{what}: {}", reason(error)))
    }

    /// Returns the failure an error is.
    pub fn of(error: &impl Explain) -> Self {
        Self {
            message: Some(error.to_string()),
            hint: error.hint(),
            exit: error.fault().into(),
        }
    }

    /// Returns what a failed write to stdout is; a broken pipe is the reader's right.
    pub fn output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self {
                message: None,
                hint: None,
                exit: Exit::Done,
            };
        }
        Self::io("cannot write to standard output", error)
    }
}

/// Returns what the system says without its number, in lower case.
pub(super) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(letters).collect()
    })
}

/// Returns `text` with what the system said in it worded as `reason` does.
pub fn worded(text: &str) -> Cow<'_, str> {
    const MARK: &str = " (os error ";
    let mut worded = Cow::Borrowed(text);
    for rest in text.split(MARK).skip(1) {
        let number = rest
            .split(')')
            .next()
            .and_then(|digits| digits.parse().ok());
        let Some(number) = number else { continue };
        let error = io::Error::from_raw_os_error(number);
        worded = worded.replace(&error.to_string(), &reason(&error)).into();
    }
    worded
}

impl<E: Explain> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::of(&error)
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::{Exit, Failure, worded};
    use crate::model::TaskId;

    #[test]
    fn a_broken_pipe_is_success() {
        let failure = Failure::output(&io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!((failure.message, failure.exit), (None, Exit::Done));
    }

    #[test]
    fn a_full_disk_is_fatal_and_named() {
        let failure = Failure::output(&io::Error::from_raw_os_error(28));
        assert_eq!(
            failure.message.unwrap(),
            "cannot write to standard output: no space left on device"
        );
        assert_eq!(failure.exit, Exit::Fatal);
    }

    #[test]
    fn what_the_system_says_has_no_number_and_our_case() {
        let error = io::Error::from_raw_os_error(2);
        let text = format!("cannot run 'x': {error}; not recorded");
        assert_eq!(
            worded(&text),
            "cannot run 'x': no such file or directory; not recorded"
        );
        for other in ["as it is", "an (os error x)", "mine (os error 2)"] {
            assert_eq!(worded(other), other);
        }
    }

    #[test]
    fn an_error_explains_itself() {
        let failure = Failure::from(TaskId::new("").unwrap_err());
        assert_eq!(failure, Failure::new(Exit::No, "a task id cannot be empty"));
    }
}
