use std::collections::VecDeque;

use crate::model::{Digest, Evidence, Kept, LongEvidence};

/// How much of a capture's beginning and how much of its end are kept.
const HEAD: usize = 512 * 1024;
const TAIL: usize = 512 * 1024;

/// The output of a command: whole up to a cap, beyond it head and tail, and always the digest of all.
pub(super) struct Spool {
    hasher: blake3::Hasher,
    size: u64,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    caps: (usize, usize),
}

/// What a capture leaves: what the record says, and the bytes to store beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    pub evidence: Evidence,
    pub blob: Option<Vec<u8>>,
}

impl Default for Spool {
    fn default() -> Self {
        Self::with_caps(HEAD, TAIL)
    }
}

impl Spool {
    fn with_caps(head: usize, tail: usize) -> Self {
        Self {
            hasher: blake3::Hasher::new(),
            size: 0,
            head: Vec::new(),
            tail: VecDeque::new(),
            caps: (head, tail),
        }
    }

    /// Takes the next bytes of the stream.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.size += bytes.len() as u64;
        let room = self.caps.0 - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(self.caps.1);
        self.tail.drain(..over);
    }

    /// Returns the bytes kept, with a line where some are left out.
    pub(super) fn kept(&self) -> Vec<u8> {
        let mut bytes = self.head.clone();
        let left_out = self.size - (self.head.len() + self.tail.len()) as u64;
        if left_out > 0 {
            bytes.extend_from_slice(format!("\n[{left_out} bytes left out]\n").as_bytes());
        }
        bytes.extend(&self.tail);
        bytes
    }

    /// Returns what a record says of the stream.
    pub(super) fn captured(&self) -> Captured {
        let kept = self.kept();
        let mut evidence = Evidence::of(&kept);
        let Evidence::Long(long) = &mut evidence else {
            return Captured {
                evidence,
                blob: None,
            };
        };
        if self.size > (self.head.len() + self.tail.len()) as u64 {
            *long = LongEvidence {
                excerpt: long.excerpt.clone(),
                digest: Digest::from_bytes(*self.hasher.finalize().as_bytes()),
                size: self.size,
                kept: Some(Kept {
                    digest: long.digest,
                    size: long.size,
                }),
            };
        }
        Captured {
            evidence,
            blob: Some(kept),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Spool;
    use crate::model::{Digest, Evidence};

    #[test]
    fn a_short_stream_is_whole() {
        let mut spool = Spool::default();
        spool.push(b"one\n");
        spool.push(b"two\n");
        let captured = spool.captured();
        assert_eq!(captured.evidence, Evidence::Text("one\ntwo\n".to_owned()));
        assert_eq!(captured.blob, None);
    }

    #[test]
    fn a_long_stream_keeps_its_ends_and_the_digest_of_all() {
        let all = b"x".repeat(3_000_000);
        let mut spool = Spool::default();
        for chunk in all.chunks(7_777) {
            spool.push(chunk);
        }
        let captured = spool.captured();
        let Evidence::Long(long) = captured.evidence else {
            panic!("long")
        };
        assert_eq!((long.digest, long.size), (Digest::of(&all), 3_000_000));
        let blob = captured.blob.unwrap();
        assert_eq!(long.kept.unwrap().digest, Digest::of(&blob));
        assert!(blob.len() < 1_100_000);
        assert!(
            String::from_utf8(blob)
                .unwrap()
                .contains("[1951424 bytes left out]")
        );
    }

    proptest! {
        #[test]
        fn what_is_kept_is_a_beginning_and_an_end(
            chunks in proptest::collection::vec(proptest::collection::vec(0_u8..3, 0..9), 0..9),
        ) {
            let all = chunks.concat();
            let mut spool = Spool::with_caps(5, 4);
            for chunk in &chunks {
                spool.push(chunk);
            }
            let kept = spool.kept();
            if all.len() <= 9 {
                prop_assert_eq!(kept, all);
            } else {
                prop_assert!(kept.starts_with(&all[..5]));
                prop_assert!(kept.ends_with(&all[all.len() - 4..]));
            }
        }
    }
}
