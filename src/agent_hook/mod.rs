//! Claude Code hooks: one file per event holding payload, call and reply.
