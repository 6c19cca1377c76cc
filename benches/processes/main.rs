//! Whole processes, each paired with a baseline in the same run: medians and their ratio.
//!
//! `cargo bench --bench processes [-- FILTER]` prints the table of the rows whose name holds FILTER;
//! `--million` adds those on a million records. Repositories are generated once and
//! kept under `target/bench-data`. Nothing here is asserted: a machine that is busy proves nothing.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a table on stdout, in the environment of whoever asks for it"
)]

mod compress;
mod data;
mod evidence;
mod million;
mod pair;
mod policy;
mod rows;
mod sync;
mod union;
mod views;
mod work;

fn main() {
    let filter = std::env::args().skip(1).find(|arg| !arg.starts_with("--"));
    if std::env::args().any(|arg| arg == evidence::SNAPSHOT) {
        return evidence::take_snapshot();
    }
    if std::env::args().any(|arg| arg == union::UNITE) {
        return union::unite();
    }
    let on_request = std::env::args().any(|arg| arg == million::MILLION);
    let rows = rows::all()
        .into_iter()
        .chain(evidence::all())
        .chain(views::all())
        .chain(union::all())
        .chain(sync::all())
        .chain(work::all())
        .chain(on_request.then(million::all).into_iter().flatten());
    println!(
        "{:<46} {:>10} {:>10} {:>7}  {:<12}",
        "what", "ours ms", "base ms", "ratio", "bar"
    );
    let asked = rows.filter(|row| {
        filter
            .as_ref()
            .is_none_or(|filter| row.name.contains(filter))
    });
    let kept: Vec<bool> = asked.map(|row| row.run()).collect();
    let short = kept.iter().filter(|kept| !**kept).count();
    println!("{} rows, {short} short of their bar", kept.len());
}
