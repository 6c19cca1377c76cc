//! The corpus of policies in tests/policy, put to its own tests.

mod codes;
mod corpus;
mod docs;
