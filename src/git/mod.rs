//! The repository. The only module that names gix or starts git.

pub mod files;
