#![no_main]

#[path = "../targets.rs"]
mod targets;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some((first, rest)) = bytes.split_first() {
        let (_, target) = targets::TARGETS[usize::from(*first) % targets::TARGETS.len()];
        target(rest);
    }
});
