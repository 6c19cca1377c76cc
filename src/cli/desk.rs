use std::path::PathBuf;

use crate::{
    gate::{Gate, Place, Recorded},
    git::{Clock, files::Tree},
    model::{Owner, Record},
    store::Store,
    ui::{Context, Exit, Failure, Format, Talk, Ui, one_line},
    verify::sign::Signer,
    view,
};

use super::record;

/// The gate as a command of a person or a session uses it.
pub(super) struct Desk<'a> {
    pub(super) store: &'a Store,
    pub(super) clock: Clock,
    pub(super) place: Place,
    /// Whose the records are: `--owner`, else the session this command runs in. `None` is nobody.
    pub(super) owner: Option<Owner>,
    /// The session this command runs in.
    session: Option<Owner>,
    context: &'a Context,
}

/// The option `--owner`, the same in every command of the gate.
#[derive(Debug, clap::Args)]
pub(super) struct OwnerArg {
    /// Session that acts; by default the one that runs the command
    ///
    /// The default is CLAUDE_CODE_SESSION_ID, which a Claude Code session sets for its commands. Where
    /// that is not set either, or SESSION is empty, nobody does.
    #[arg(long, value_name = "SESSION", allow_hyphen_values = true)]
    pub(super) owner: Option<String>,
}

/// The options that say whether a verdict is signed.
#[derive(Debug, clap::Args)]
pub(super) struct SignArg {
    /// Sign the verdict as git signs commits
    #[arg(long, overrides_with = "no_sign")]
    sign: bool,

    /// Do not sign it, whatever operator.sign says
    #[arg(long)]
    no_sign: bool,
}

impl SignArg {
    /// Returns who signs, if anybody.
    pub(super) fn signer(&self, context: &Context) -> Result<Option<Signer>, Failure> {
        match (self.no_sign, self.sign) {
            (true, _) => Ok(None),
            (false, true) => Ok(Some(Signer::of(context.config()?, context.env())?)),
            (false, false) => configured_signer(context),
        }
    }
}

/// Returns who signs where nothing on the command line says so.
pub(super) fn configured_signer(context: &Context) -> Result<Option<Signer>, Failure> {
    let config = context.config()?;
    match config.bool("operator.sign")? {
        Some(true) => Ok(Some(Signer::of(config, context.env())?)),
        Some(false) | None => Ok(None),
    }
}

impl<'a> Desk<'a> {
    /// Opens the project's ledger for the session `owner`, else for the one that the client names.
    pub(super) fn open(context: &'a Context, owner: Option<&str>) -> Result<Self, Failure> {
        let session = context.env().text("CLAUDE_CODE_SESSION_ID");
        let session = session.map(Owner::new).transpose()?;
        let owner = match owner {
            None => session.clone(),
            Some("") => None,
            Some(owner) => Some(Owner::new(owner)?),
        };
        Ok(Self {
            store: context.store()?,
            clock: context.clock()?,
            place: Place::of_project(context.project()?),
            owner,
            session,
            context,
        })
    }

    pub(super) fn gate(&self) -> Gate<'_> {
        Gate {
            store: self.store,
            clock: &self.clock,
            place: &self.place,
            session: self.session.as_ref().or(self.owner.as_ref()),
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

    /// Writes the views anew. What was recorded stands, whatever comes of that.
    pub(super) fn show(&self) {
        let Some(top) = &self.place.top else {
            return;
        };
        if let Err(error) = view::refresh(self.store, top) {
            let ui = &self.context.ui;
            ui.warn(format_args!(
                "recorded, and the views do not show it: {error}"
            ));
        }
    }

    /// Prints the one line that says what was recorded.
    pub(super) fn report(&self, record: &Record, text: &str) -> Result<(), Failure> {
        let ui = &self.context.ui;
        self.show();
        if ui.format() == Format::Json {
            return ui.raw_json(&record::json(record, &[]));
        }
        if ui.talk() == Talk::Quiet {
            return Ok(());
        }
        ui.line(format_args!("{} [{}]", one_line(text), record.id.short()))
    }

    /// Says what a verdict or a deferral met that its line does not tell.
    pub(super) fn caution(&self, recorded: &Recorded) {
        caution(&self.context.ui, recorded);
    }
}

/// Says what was met on the way to a record that its line does not tell.
pub(super) fn caution(ui: &Ui, recorded: &Recorded) {
    use crate::gate::Closing;
    let task = recorded.record.task.as_deref().unwrap_or_default();
    match recorded.closing {
        Closing::NeverOpened => {
            let exception = recorded.records.last().map(|record| record.id.short());
            ui.warn(format_args!(
                "'{task}' was never opened; the GATE-EXCEPTION [{}] says so",
                exception.unwrap_or_default()
            ));
        }
        Closing::Amended => ui.warn(format_args!(
            "'{task}' is not open any more; this amends what was recorded"
        )),
        Closing::Closed | Closing::StillOpen => {}
    }
    if let Some(owner) = &recorded.closed_for {
        ui.warn(format_args!(
            "'{task}' is owned by session '{owner}'; no session was named here"
        ));
    }
    if let Some(reason) = &recorded.pending {
        ui.warn(format_args!(
            "recorded, and git does not see it yet: {reason}"
        ));
    }
}
