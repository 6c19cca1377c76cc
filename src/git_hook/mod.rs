//! Git hooks: argv and stdin to one operation.
