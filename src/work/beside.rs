use std::{
    collections::{BTreeMap, btree_map::Iter},
    iter::Peekable,
};

use crate::model::RepoPath;

/// A map in which paths are looked up in their order: one step for each instead of a search.
pub(crate) struct Beside<'a, V> {
    map: &'a BTreeMap<RepoPath, V>,
    rest: Peekable<Iter<'a, RepoPath, V>>,
    passed: Option<&'a RepoPath>,
}

impl<'a, V> Beside<'a, V> {
    pub(crate) fn new(map: &'a BTreeMap<RepoPath, V>) -> Self {
        Self {
            map,
            rest: map.iter().peekable(),
            passed: None,
        }
    }

    /// Returns what the map has for a path; one that comes out of order is searched for.
    pub(crate) fn get(&mut self, path: &RepoPath) -> Option<&'a V> {
        if self.passed.is_some_and(|passed| path <= passed) {
            return self.map.get(path);
        }
        while let Some((next, value)) = self.rest.peek() {
            match (*next).cmp(path) {
                std::cmp::Ordering::Less => {
                    self.passed = Some(next);
                    self.rest.next();
                }
                std::cmp::Ordering::Equal => return Some(value),
                std::cmp::Ordering::Greater => return None,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::{Beside, RepoPath};

    proptest! {
        #[test]
        fn it_finds_what_the_map_has_in_any_order(
            keys in proptest::collection::btree_set(0_u8..20, 0..12),
            asked in proptest::collection::vec(0_u8..20, 0..40),
        ) {
            let path = |key: u8| RepoPath::new(vec![key]);
            let map: BTreeMap<RepoPath, u8> = keys.into_iter().map(|key| (path(key), key)).collect();
            let mut beside = Beside::new(&map);
            for key in asked {
                prop_assert_eq!(beside.get(&path(key)), map.get(&path(key)));
            }
        }
    }
}
