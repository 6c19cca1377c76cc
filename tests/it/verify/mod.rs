//! Evidence: what `run` captures, and what `verify` says of records.

mod capture;
