//! Every parser of untrusted bytes meets the fixtures, the payloads and many broken copies of them.
//!
//! `FUZZ_ROUNDS=100000 cargo test --test it fuzz` runs longer; the same seed gives the same inputs.

use std::{fs, path::Path};

#[path = "../../fuzz/targets.rs"]
mod targets;

const ROUNDS: u64 = 400;

/// Every text file of the tests' own data, as a seed.
fn seeds() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut found: Vec<Vec<u8>> = Vec::new();
    let mut dirs: Vec<_> = ["fixtures", "payloads", "policy"]
        .iter()
        .map(|dir| root.join(dir))
        .collect();
    while let Some(dir) = dirs.pop() {
        let mut entries: Vec<_> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                dirs.push(path);
            } else {
                let mut bytes = fs::read(path).unwrap();
                bytes.truncate(8_000);
                found.push(bytes);
            }
        }
    }
    found.push(
        b"| t | c | e @abc1234 | PASS |\n===\n| u | c | e | FAIL |\n===\n<<<<<<< x\n".to_vec(),
    );
    found.push(b"JUDGMENT=\"opus\" # x\r\nexport RECON='haiku'\n".to_vec());
    found.push(b"cat <<'E' >> \"a b\" | tee -a c && (echo x > $(d))\nE\n".to_vec());
    found
}

/// xorshift64*: the same rounds on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % below.max(1)
    }
}

const WORDS: &[&[u8]] = &[
    b"|",
    b"\n",
    b"\r\n",
    b"\0",
    b"\xff",
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"<<<<<<< ",
    b"=======",
    b"&#124;",
    b"<br>",
    b"\xef\xbb\xbf",
    b"\x1b[31m",
    b"999999999999999999999",
    b"-",
    b"$(",
    b"`",
    b"'",
    b"*",
    b"&a",
    b"!!x ",
    b"\xe2\x80\xae",
];

fn broken(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.next(6) {
        let at = random.next(bytes.len() + 1);
        match random.next(5) {
            0 => bytes.truncate(at),
            1 => {
                let word = WORDS[random.next(WORDS.len())];
                bytes.splice(at..at, word.iter().copied());
            }
            2 if at < bytes.len() => bytes[at] ^= 1 << random.next(8),
            3 => {
                let end = (at + random.next(64)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            _ => {
                let end = (at + random.next(32)).min(bytes.len());
                bytes.drain(at..end);
            }
        }
    }
    bytes
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long to go on is for whoever runs the test"
)]
fn rounds() -> u64 {
    std::env::var("FUZZ_ROUNDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(ROUNDS)
}

#[test]
fn no_input_breaks_a_parser() {
    let seeds = seeds();
    for (name, target) in targets::TARGETS {
        for seed in &seeds {
            target(seed);
        }
        let mut random = Random(seed_of(name));
        for _ in 0..rounds() {
            let seed = &seeds[random.next(seeds.len())];
            let bytes = broken(seed, &mut random);
            let outcome = std::panic::catch_unwind(|| target(&bytes));
            assert!(
                outcome.is_ok(),
                "{name} broke on {:?}",
                String::from_utf8_lossy(&bytes)
            );
        }
    }
}

/// A seed that is the target's own and never zero.
fn seed_of(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    }) | 1
}
