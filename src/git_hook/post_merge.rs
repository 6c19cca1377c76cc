use super::{drain, hint};
use crate::{
    store::Store,
    ui::{Context, Failure},
};

pub(super) fn answer(store: &Store, context: &Context) -> Result<(), Failure> {
    drain(store, context)?;
    hint::give(hint::After::Merge, store, context);
    Ok(())
}
