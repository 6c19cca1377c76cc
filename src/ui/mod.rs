//! Standard output and error, failures with hints, colour, exit codes.
