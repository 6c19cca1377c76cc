//! Shortens tool output without losing a failing line.
