use super::{drain, hint};
use crate::{
    store::Store,
    ui::{Context, Failure},
};

/// The third argument is 1 where a branch was checked out, 0 where files were.
pub(super) fn answer(args: &[&str], store: &Store, context: &Context) -> Result<(), Failure> {
    drain(store, context)?;
    if args.get(2) == Some(&"1") {
        hint::give(hint::After::Checkout, store, context);
    }
    Ok(())
}
