use gix::objs::Kind;
use gix_pack::cache::DecodeEntry;

/// How many objects are kept.
const SLOTS: usize = 1024;
/// Larger objects are not kept.
const LIMIT: usize = 64 * 1024;

/// What was read last of packs, since what is read next is made of it: a pack holds an object as its
/// difference from a neighbor.
#[derive(Default)]
pub(super) struct Bases {
    /// Empty until something is kept.
    slots: Vec<Option<Base>>,
}

struct Base {
    pack: u32,
    offset: u64,
    kind: Kind,
    compressed: usize,
    bytes: Vec<u8>,
}

fn slot(pack: u32, offset: u64) -> usize {
    let mixed = (offset ^ (u64::from(pack) << 48)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as usize % SLOTS
}

impl DecodeEntry for Bases {
    fn put(&mut self, pack: u32, offset: u64, data: &[u8], kind: Kind, compressed: usize) {
        if data.len() > LIMIT {
            return;
        }
        if self.slots.is_empty() {
            self.slots.resize_with(SLOTS, || None);
        }
        let slot = &mut self.slots[slot(pack, offset)];
        let mut bytes = slot.take().map(|base| base.bytes).unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(data);
        *slot = Some(Base {
            pack,
            offset,
            kind,
            compressed,
            bytes,
        });
    }

    fn get(&mut self, pack: u32, offset: u64, out: &mut Vec<u8>) -> Option<(Kind, usize)> {
        let base = self.slots.get(slot(pack, offset))?.as_ref()?;
        if (base.pack, base.offset) != (pack, offset) {
            return None;
        }
        out.clear();
        out.extend_from_slice(&base.bytes);
        Some((base.kind, base.compressed))
    }
}

#[cfg(test)]
mod tests {
    use gix::objs::Kind;
    use gix_pack::cache::DecodeEntry as _;

    use super::{Bases, LIMIT, SLOTS};

    #[test]
    fn what_is_kept_is_found_under_its_own_place_only() {
        let mut bases = Bases::default();
        let mut out = b"before".to_vec();
        assert_eq!(bases.get(1, 12, &mut out), None);
        for at in 0..4 * SLOTS as u64 {
            bases.put(1, at * 97, at.to_string().as_bytes(), Kind::Commit, 7);
        }
        let mut found = 0;
        for at in 0..4 * SLOTS as u64 {
            assert_eq!(bases.get(2, at * 97, &mut out), None);
            if let Some(base) = bases.get(1, at * 97, &mut out) {
                assert_eq!(base, (Kind::Commit, 7));
                assert_eq!(out, at.to_string().as_bytes());
                found += 1;
            }
        }
        assert!(found > SLOTS / 2, "{found}");
        bases.put(1, 5, &vec![0; LIMIT + 1], Kind::Blob, 7);
        assert_eq!(bases.get(1, 5, &mut out), None);
    }
}
