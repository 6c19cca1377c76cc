use super::{Error, Gate};
use crate::{
    model::{Body, Digest, Draft, Owner, Redact, Text},
    store::Committed,
};

/// Takes long evidence out of the evidence ref and the journal of this clone, and records that it is to
/// go, so that clones which unite with this one lose it, too.
pub fn redact(
    gate: &Gate<'_>,
    digest: Digest,
    why: &Text,
    owner: Option<&Owner>,
) -> Result<Committed, Error> {
    let mut draft = Draft::new(Body::Redact(Redact {
        digest,
        why: why.as_str().to_owned(),
    }));
    draft.owner = owner.cloned();
    draft.session = gate.session.cloned();
    Ok(gate.begin()?.redact(&draft)?)
}
