//! Exchange of ledgers with remotes.
