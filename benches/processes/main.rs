//! Whole processes, each paired with a baseline in the same run: medians and their ratio.
//!
//! `cargo bench --bench processes [-- FILTER]` prints the table. Repositories are generated once and
//! kept under `target/bench-data`. Nothing here is asserted: a machine that is busy proves nothing.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a table on stdout, in the environment of whoever asks for it"
)]

mod data;
mod pair;
mod rows;

fn main() {
    let filter = std::env::args().skip(1).find(|arg| !arg.starts_with("--"));
    let rows = rows::all();
    println!(
        "{:<44} {:>10} {:>10} {:>7} {:>6}",
        "what", "ours ms", "base ms", "ratio", "bar"
    );
    for row in rows {
        if filter
            .as_ref()
            .is_none_or(|filter| row.name.contains(filter.as_str()))
        {
            row.run();
        }
    }
}
