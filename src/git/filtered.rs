//! What the filters and attributes of the working tree make of blobs.

use std::hash::{BuildHasher as _, RandomState};

use super::{Error, Repo};
use crate::model::{Digest, Oid, RepoPath};

impl Repo {
    /// Returns the bytes that a checkout would write for each blob at its path: line ends, smudge
    /// filters and encodings applied. Every blob must be there.
    pub fn smudged(&self, blobs: &[(Oid, RepoPath)]) -> Result<Vec<Vec<u8>>, Error> {
        let (odd, plain): (Vec<_>, Vec<_>) = (0..blobs.len()).partition(|at| is_odd(&blobs[*at].1));
        let mut results = vec![Vec::new(); blobs.len()];
        if !plain.is_empty() {
            let wanted: Vec<_> = plain.iter().map(|at| &blobs[*at]).collect();
            for (at, bytes) in plain.into_iter().zip(self.smudged_batch(&wanted)?) {
                results[at] = bytes;
            }
        }
        for at in odd {
            results[at] = self.smudged_one(&blobs[at])?;
        }
        Ok(results)
    }

    /// One child for all. Its answers are told apart by a word no content can foresee: the size it
    /// prints is the unfiltered one.
    fn smudged_batch(&self, blobs: &[&(Oid, RepoPath)]) -> Result<Vec<Vec<u8>>, Error> {
        let word = unforeseen();
        let mut input = Vec::new();
        for (id, path) in blobs {
            input.extend_from_slice(format!("{id} ").as_bytes());
            input.extend_from_slice(path.as_bytes());
            input.push(0);
        }
        let format = format!("--batch={word} %(objectname)");
        let git = self.git(["cat-file", &format, "--filters", "-z", "--buffer"]);
        let output = git.read_only().stdin(input).output()?;
        split(&output, &word, blobs).ok_or_else(|| Error::Git {
            command: "cat-file".to_owned(),
            reason: "its output is in no form we know".to_owned(),
        })
    }

    fn smudged_one(&self, (id, path): &(Oid, RepoPath)) -> Result<Vec<u8>, Error> {
        let mut option = b"--path=".to_vec();
        option.extend_from_slice(path.as_bytes());
        let option: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(option);
        self.git([
            "cat-file".into(),
            "--filters".into(),
            option,
            id.to_hex().into(),
        ])
        .read_only()
        .output()
    }
}

fn unforeseen() -> String {
    let seed: Vec<u8> = (0..4)
        .flat_map(|number: u64| RandomState::new().hash_one(number).to_le_bytes())
        .collect();
    Digest::of(&seed).to_hex()
}

/// The batch mode takes leading white space off a path and ends it at nothing else.
fn is_odd(path: &RepoPath) -> bool {
    matches!(path.as_bytes().first(), Some(b' ' | b'\t'))
}

fn split(output: &[u8], word: &str, blobs: &[&(Oid, RepoPath)]) -> Option<Vec<Vec<u8>>> {
    let mut results = Vec::with_capacity(blobs.len());
    let mut rest = output;
    for (at, (id, _)) in blobs.iter().enumerate() {
        let header = format!("{word} {id}\n");
        rest = rest.strip_prefix(header.as_bytes())?;
        let end = match blobs.get(at + 1) {
            Some((next, _)) => {
                let next = format!("\n{word} {next}\n");
                find(rest, next.as_bytes())?
            }
            None => rest.len().checked_sub(1)?,
        };
        results.push(rest[..end].to_vec());
        rest = &rest[end + 1..];
    }
    rest.is_empty().then_some(results)
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = *wanted.first()?;
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|byte| *byte == first) {
        if bytes[from + at..].starts_with(wanted) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}
