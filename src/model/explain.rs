/// What kind of failure an error is; a front end turns it into its protocol's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The answer is no: refused and nothing written, nothing found, a check failed.
    Refused,
    /// What is stored contradicts itself.
    Integrity,
    /// The answer cannot be known here.
    Undecided,
    /// There was nothing to check.
    Unchecked,
    /// The environment, the repository, input or output.
    Fatal,
    /// The request cannot be understood.
    Usage,
}

/// An error that says what kind it is and what the reader can do about it.
///
/// Its `Display` is the whole message, `cannot <verb> '<thing>': <reason>`, without `error:`.
pub trait Explain: std::error::Error {
    /// Returns the kind of failure.
    fn fault(&self) -> Fault;

    /// Returns a command the reader can run; never one that destroys anything.
    fn hint(&self) -> Option<String> {
        None
    }
}

impl Explain for super::NameError {
    fn fault(&self) -> Fault {
        Fault::Refused
    }
}
