//! The ledger at rest: journal, lock, append, union, index, local state.
