//! The merge of two views: a pure function of three files.
//!
//! Rows are a set, so their absence on one side is never a delete; text between them is merged three
//! ways. The order keeps both sides' neighbours, and swapped sides give the same bytes.

mod side;
mod stretch;
mod text;
mod weave;
mod within;

use super::{Document, View, line::normal};
use side::Words;

/// What two views come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    pub bytes: Vec<u8>,
    /// How many places of the text hold both versions between markers.
    pub conflicts: usize,
}

/// Merges `ours` and `theirs`, both made from `base`, with conflict markers of `marker` characters.
pub fn merge(base: &[u8], ours: &[u8], theirs: &[u8], marker: usize) -> Merged {
    if ours.contains(&0) || theirs.contains(&0) {
        return Merged {
            bytes: conflict(ours, theirs, marker),
            conflicts: 1,
        };
    }
    let documents = [base, ours, theirs].map(Document::parse);
    let [_, ours, theirs] = &documents;
    let mut words = Words::default();
    let sides = words.sides(&documents);
    let woven = match within::whole(&sides, &words) {
        Some(side) => words.as_they_stand(&sides.both[side]),
        None => weave::weave(&sides, &words, marker),
    };
    let style = Style {
        bom: ours.bom && theirs.bom,
        crlf: ours.crlf && theirs.crlf,
        head: head(&documents),
    };
    Merged {
        bytes: style.write(&woven.lines),
        conflicts: woven.conflicts,
    }
}

/// Returns both files one after the other, each line of `theirs` that `ours` holds left out: what is
/// left to do when nothing better can be computed.
pub fn join(ours: &[u8], theirs: &[u8]) -> Vec<u8> {
    let known: std::collections::HashSet<&[u8]> =
        ours.split(|byte| *byte == b'\n').map(trim_cr).collect();
    let mut bytes = ours.to_vec();
    if !bytes.is_empty() && !bytes.ends_with(b"\n") {
        bytes.push(b'\n');
    }
    let lines = theirs.strip_suffix(b"\n").unwrap_or(theirs);
    for line in lines.split(|byte| *byte == b'\n').map(trim_cr) {
        if !known.contains(line) {
            bytes.extend_from_slice(line);
            bytes.push(b'\n');
        }
    }
    bytes
}

fn trim_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A line of the result.
enum Out {
    Line(Vec<u8>),
    /// The two lines that begin the own table.
    Head,
}

struct Style {
    bom: bool,
    crlf: bool,
    head: [String; 2],
}

impl Style {
    fn write(&self, lines: &[Out]) -> Vec<u8> {
        let end: &[u8] = if self.crlf { b"\r\n" } else { b"\n" };
        let mut bytes = Vec::new();
        if self.bom && !lines.is_empty() {
            bytes.extend_from_slice(b"\xef\xbb\xbf");
        }
        let mut put = |line: &[u8]| {
            bytes.extend_from_slice(line);
            bytes.extend_from_slice(end);
        };
        for line in lines {
            match line {
                Out::Line(line) => put(line),
                Out::Head => self.head.iter().for_each(|line| put(line.as_bytes())),
            }
        }
        bytes
    }
}

/// Chooses the head of the table: the one that changed; of two, a project's own before ours, the
/// longer, the smaller.
fn head(documents: &[Document; 3]) -> [String; 2] {
    let own: Vec<&str> = View::Verdicts.header().lines().skip(1).collect();
    let [base, ours, theirs] = documents.each_ref().map(Document::head);
    let same = |left: &Option<[String; 2]>, right: &Option<[String; 2]>| {
        let plain = |head: &Option<[String; 2]>| {
            head.as_ref()
                .map(|head| head.each_ref().map(|line| normal(line)))
        };
        plain(left) == plain(right)
    };
    let mut heads = match (same(&base, &ours), same(&base, &theirs)) {
        (true, false) => vec![theirs],
        (false, true) => vec![ours],
        _ => vec![ours, theirs],
    };
    heads.retain(Option::is_some);
    let chosen = heads.into_iter().flatten().min_by_key(|head| {
        let is_own = head
            .iter()
            .map(|line| normal(line))
            .eq(own.iter().map(|line| normal(line)));
        let length = head.iter().map(String::len).sum::<usize>();
        (is_own, usize::MAX - length, head.clone())
    });
    match chosen {
        Some(head)
            if !head
                .iter()
                .map(|line| normal(line))
                .eq(own.iter().map(|line| normal(line))) =>
        {
            head
        }
        _ => [own[0].to_owned(), own[1].to_owned()],
    }
}

/// Returns both versions between markers, the smaller one first so that sides do not matter.
fn conflict(left: &[u8], right: &[u8], marker: usize) -> Vec<u8> {
    let (first, second) = if left <= right {
        (left, right)
    } else {
        (right, left)
    };
    let mut bytes = Vec::new();
    let mut put = |part: &[u8]| {
        bytes.extend_from_slice(part);
        if !part.is_empty() && !part.ends_with(b"\n") {
            bytes.push(b'\n');
        }
    };
    let run = |c: &str| c.repeat(marker);
    put(format!("{} one side\n", run("<")).as_bytes());
    put(first);
    put(format!("{}\n", run("=")).as_bytes());
    put(second);
    put(format!("{} other side\n", run(">")).as_bytes());
    bytes
}

#[cfg(test)]
#[path = "../merge_tests.rs"]
mod tests;
