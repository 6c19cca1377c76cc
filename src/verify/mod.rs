//! Evidence capture and judging records against commits.
