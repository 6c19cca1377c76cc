//! Leaves out the middle of a long text, but for the lines that tell of a failure.

use super::{
    Settings, failing,
    pieces::{Piece, pieces},
};

/// What every mark of an elision begins with; a text that holds one was shortened before.
const MARK: &str = "[git-operator: ";
const CITE: &str = " elided; whole output: ";
/// How much is kept around a place that names a failure in a shortened line.
const AROUND: usize = 120;
/// How many such places of one line are kept.
const PLACES: usize = 12;

/// Says whether `text` was elided before.
pub(super) fn is_elided(text: &str) -> bool {
    text.contains(MARK) && text.contains(CITE)
}

/// Returns `text` without its middle; each gap says how much is gone and that the whole lies at
/// `spill`. `None` where one document makes up most of it, or nothing can go.
pub(super) fn elide(text: &str, settings: &Settings, spill: &str) -> Option<String> {
    let pieces = pieces(text);
    if pieces
        .iter()
        .any(|piece| piece.json && piece.text.len() * 2 > text.len())
    {
        return None;
    }
    let kept = kept(&pieces, settings);
    let mut short = String::new();
    let mut gap: &[Piece] = &[];
    let mut start = 0;
    for (at, piece) in pieces.iter().enumerate() {
        if !kept[at] {
            if gap.is_empty() {
                start = at;
            }
            gap = &pieces[start..=at];
            continue;
        }
        close(&mut short, std::mem::take(&mut gap), spill);
        push(&mut short, piece, settings, spill);
    }
    close(&mut short, gap, spill);
    (short.len() < text.len()).then_some(short)
}

/// Which pieces stay: from the start and the end as many as fit, and every one that tells of a
/// failure.
fn kept(pieces: &[Piece], settings: &Settings) -> Vec<bool> {
    let mut kept: Vec<bool> = pieces.iter().map(Piece::is_failing).collect();
    pass(pieces, &mut kept);
    fit(
        pieces.iter().enumerate(),
        settings.head,
        settings,
        &mut kept,
    );
    fit(
        pieces.iter().enumerate().rev(),
        settings.tail,
        settings,
        &mut kept,
    );
    kept
}

/// Lets go of what tests said that passed; go prints it before the line of the result.
fn pass(pieces: &[Piece], kept: &mut [bool]) {
    let mut passed = false;
    for (piece, kept) in pieces.iter().zip(kept).rev() {
        let text = piece.text.trim_start();
        if text.starts_with("--- PASS") || text.starts_with("--- SKIP") {
            passed = true;
        } else if text.starts_with("--- ") || text.starts_with("=== ") {
            passed = false;
        } else if passed && *kept && failing::is_placed(piece.text) {
            *kept = false;
        }
    }
}

fn fit<'a>(
    pieces: impl Iterator<Item = (usize, &'a Piece<'a>)>,
    room: usize,
    settings: &Settings,
    kept: &mut [bool],
) {
    let mut used = 0;
    for (at, piece) in pieces {
        used += shown_length(piece, settings);
        if used > room {
            break;
        }
        kept[at] = true;
    }
}

fn is_long(piece: &Piece, settings: &Settings) -> bool {
    !piece.json && piece.text.len() > settings.line
}

fn shown_length(piece: &Piece, settings: &Settings) -> usize {
    if is_long(piece, settings) {
        settings.line
    } else {
        piece.text.len()
    }
}

fn push(short: &mut String, piece: &Piece, settings: &Settings, spill: &str) {
    if is_long(piece, settings) {
        short.push_str(&shorten(piece.text, settings, spill));
    } else {
        short.push_str(piece.text);
    }
}

/// Ends a gap: its mark, or the pieces themselves where the mark would not be shorter.
fn close(short: &mut String, gap: &[Piece], spill: &str) {
    if gap.is_empty() {
        return;
    }
    let bytes: usize = gap.iter().map(|piece| piece.text.len()).sum();
    let lines: usize = gap.iter().map(|piece| piece.lines).sum();
    let mark = format!("{MARK}{lines} lines, {bytes} bytes{CITE}{spill}]\n");
    if bytes > mark.len() {
        short.push_str(&mark);
    } else {
        gap.iter().for_each(|piece| short.push_str(piece.text));
    }
}

/// A line without its middle: its start, its end, and what surrounds the places that name a failure.
fn shorten(line: &str, settings: &Settings, spill: &str) -> String {
    let body = line.trim_end_matches(['\r', '\n']);
    let mut shown = vec![(0, settings.line / 2)];
    let mut from = 0;
    while let Some(at) = failing::next(body, from).filter(|_| shown.len() <= PLACES) {
        shown.push((at.saturating_sub(AROUND), at + AROUND));
        from = at + AROUND;
    }
    shown.push((body.len().saturating_sub(settings.line / 4), body.len()));
    let mut short = String::new();
    let mut end = 0;
    for (from, to) in shown {
        let from = floor(body, from.max(end));
        let to = floor(body, to.max(from));
        if from > end {
            let mark = format!("{MARK}{} bytes{CITE}{spill}]", from - end);
            let gone = &body[end..from];
            short.push_str(if gone.len() > mark.len() { &mark } else { gone });
        }
        short.push_str(&body[from..to]);
        end = to;
    }
    short.push_str(&line[body.len()..]);
    if short.len() < line.len() {
        short
    } else {
        line.to_owned()
    }
}

/// The nearest character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
