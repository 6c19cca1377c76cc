//! Evidence: what `run` captures, and what `verify` says of records.

mod beside;
mod capture;
mod forged;
mod history;
mod long;
mod openpgp;
mod required;
mod rerun;
mod scenarios;
mod scene;
mod signed;
mod tied;
