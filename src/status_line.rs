//! The status line segment.
