//! The work ledger: whose change is whose, and how to undo it.
