use std::path::PathBuf;

use crate::{
    gate::{Gate, Place},
    git::{Clock, files::Tree},
    model::Owner,
    store::Store,
    ui::{Context, Exit, Failure},
};

/// The gate as a command of a person or a session uses it.
pub(super) struct Desk<'a> {
    pub(super) store: &'a Store,
    pub(super) clock: Clock,
    pub(super) place: Place,
    /// Whose the records are: `--owner`, else the session this command runs in.
    pub(super) owner: Option<Owner>,
}

impl<'a> Desk<'a> {
    /// Opens the project's ledger for the session `owner`, else for the one that the client names.
    pub(super) fn open(context: &'a Context, owner: Option<&str>) -> Result<Self, Failure> {
        let project = context.project()?;
        let session = context.env().text("CLAUDE_CODE_SESSION_ID");
        let owner = owner.or(session).map(Owner::new).transpose()?;
        Ok(Self {
            store: context.store()?,
            clock: context.clock()?,
            place: Place {
                top: project.top.clone(),
                ..Place::of(&project.location)
            },
            owner,
        })
    }

    pub(super) fn gate(&self) -> Gate<'_> {
        Gate {
            store: self.store,
            clock: &self.clock,
            place: &self.place,
            session: self.owner.as_ref(),
        }
    }

    /// Returns the files of the project.
    pub(super) fn tree(&self) -> Result<Tree, Failure> {
        let top: &PathBuf = self.place.top.as_ref().ok_or_else(|| {
            let dir = self.place.git_dir.display();
            Failure::new(
                Exit::Fatal,
                format!("cannot write in '{dir}': it is a bare repository and has no files"),
            )
        })?;
        Tree::open(top).map_err(|error| Failure::new(Exit::Fatal, error.to_string()))
    }
}
