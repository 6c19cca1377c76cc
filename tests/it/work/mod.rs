//! The work ledger in sessions: hooks as the client sends them, and what `work`, `restore` and
//! `recover` say afterwards.

mod case;
mod life;
mod names;
mod repositories;
mod sessions;
mod turns;
mod undo;
mod whose;
