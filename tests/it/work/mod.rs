//! The work ledger in sessions: hooks as the client sends them, and what `work`, `restore` and
//! `recover` say afterwards.

mod aside;
mod case;
mod cost;
mod input;
mod kept;
mod life;
mod moved_back;
mod moves;
mod names;
mod repositories;
mod sessions;
mod tracked;
mod turns;
mod undo;
mod whose;
