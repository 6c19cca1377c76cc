//! A set of records: order, union, heads, the state of a task. Pure.
