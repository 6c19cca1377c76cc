//! Evidence: what `run` captures, and what `verify` says of records.

mod capture;
mod forged;
mod scenarios;
mod scene;
