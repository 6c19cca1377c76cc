//! Tasks, verdicts, deferral, adoption, decisions; what blocks a Stop.
