//! Evidence: what `run` captures, and what `verify` says of records.

mod capture;
mod forged;
mod history;
mod scenarios;
mod scene;
mod signed;
