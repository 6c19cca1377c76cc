//! What a policy may ask for beyond the event itself; each is found out only where one asks.

/// Something that has to be found out for a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Whose changes the working tree holds.
    Work,
    /// The tasks that are open.
    Gate,
    /// The newest verdict.
    Verdict,
    /// What the turn did so far.
    Turn,
    /// The branch and the commit of HEAD.
    Head,
    /// What a file holds that is written.
    Content,
}

impl Part {
    /// Returns the fields of `event`, `work` and `gate` that tell it.
    pub(super) fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Work => &["work"],
            Self::Gate => &["gate"],
            Self::Verdict => &["gate.last"],
            Self::Turn => &["event.turn"],
            Self::Head => &["event.head", "event.branch"],
            Self::Content => &[
                "event.data.content",
                "event.data.lines",
                "event.data.bytes",
                "event.data.known",
                "event.data.truncated",
                "event.data.binary",
            ],
        }
    }

    /// Says whether an expression that reads `field` asks for it: one of its fields, what lies in it,
    /// or what it lies in.
    pub(super) fn is_told_by(self, field: &str) -> bool {
        let inside = |outer: &str, inner: &str| {
            inner
                .strip_prefix(outer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let mut own = self.fields().iter();
        own.any(|own| inside(own, field) || inside(field, own))
    }
}
