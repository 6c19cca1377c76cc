//! VERDICTS.md and DECISIONS.md: render, parse, reconcile; the notes projection; the merge of two views.
