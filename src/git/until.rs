use std::time::{Duration, Instant};

use super::Git;

/// The time a snapshot may take.
#[derive(Clone, Copy, Debug)]
pub struct Until(Option<Instant>);

impl Until {
    /// Ends `limit` from now.
    pub fn after(limit: Duration) -> Self {
        Self(Some(Instant::now() + limit))
    }

    /// Never ends.
    pub fn done() -> Self {
        Self(None)
    }

    fn left(self) -> Option<Duration> {
        self.0
            .map(|end| end.saturating_duration_since(Instant::now()))
    }

    pub(crate) fn is_bounded(self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn is_over(self) -> bool {
        self.left().is_some_and(|left| left.is_zero())
    }

    /// Gives a child the time that is left.
    pub fn bound(self, git: Git<'_>) -> Git<'_> {
        match self.left() {
            Some(left) => git.deadline(left.max(Duration::from_millis(1))),
            None => git,
        }
    }
}
