//! Policies and facts in, a ruling out. Pure: no clock, environment, network or files.

pub mod shell;
