use clap::Subcommand;

use super::desk::Desk;
use crate::{
    git::{Budget, StampRequest, Stamped, Trust},
    model::{Stamp, spec::Slug},
    setup::spec::{self, Made, Standing},
    ui::{Context, Exit, Failure, one_line},
};

/// Write, check and approve a spec
///
/// A spec lies at `.operator/specs/SLUG.md`: a north star with a `Missed if:` line, done criteria with
/// what decides each, what is in and out of scope, open questions, constraints.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Write the template of a spec, unless there is one
    New {
        /// Name of the spec: lower-case letters, digits, hyphens
        slug: String,
    },
    /// Say what is missing, or that the spec is a draft, approved, or changed since
    ///
    /// Exits 0 for a whole draft and for an approved spec, 1 otherwise.
    Check {
        /// Name of the spec
        slug: String,
    },
    /// Record that the user approved the spec
    ///
    /// Records SPEC-APPROVED with the state of the source and a digest of the text, then the done
    /// criteria as a bar, then sets the status line. What a try that was cut short left out, the next
    /// one adds.
    Approve {
        /// Name of the spec
        slug: String,
        /// Session that records it
        #[arg(long, value_name = "SESSION")]
        owner: Option<String>,
    },
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    match &args.action {
        Action::New { slug } => new(&Slug::new(slug)?, context),
        Action::Check { slug } => check(&Slug::new(slug)?, context),
        Action::Approve { slug, owner } => approve(&Slug::new(slug)?, owner.as_deref(), context),
    }
}

fn new(slug: &Slug, context: &Context) -> Result<Exit, Failure> {
    let desk = Desk::open(context, None)?;
    match spec::new(&desk.tree()?, slug)? {
        Made::Created(path) => context.ui.line(format!("created {}", path.display()))?,
        Made::Kept(path) => context.ui.line(format!("kept {}", path.display()))?,
    }
    Ok(Exit::Done)
}

fn check(slug: &Slug, context: &Context) -> Result<Exit, Failure> {
    let desk = Desk::open(context, None)?;
    let standing = spec::check(&desk.tree()?, slug, &desk.store.load()?)?;
    let (line, exit) = match standing {
        Standing::Unfinished(problems) => {
            for problem in problems {
                context.ui.line(one_line(&problem))?;
            }
            return Ok(Exit::No);
        }
        Standing::Draft => (format!("{slug} is a draft and lacks nothing"), Exit::Done),
        Standing::Approved(stamp) => (
            format!("{slug} is approved @{}", one_line(&stamp)),
            Exit::Done,
        ),
        Standing::Changed => (
            format!("{slug} says that it is approved, but this text never was"),
            Exit::No,
        ),
    };
    context.ui.line(line)?;
    Ok(exit)
}

fn approve(slug: &Slug, owner: Option<&str>, context: &Context) -> Result<Exit, Failure> {
    let desk = Desk::open(context, owner)?;
    let stamp = || stamp(context).unwrap_or(Stamp::NoVcs);
    let approval = spec::approve(&desk.gate(), &desk.tree()?, slug, stamp)?;
    desk.show();
    let verb = if approval.repeated {
        "kept"
    } else {
        "approved"
    };
    let text = format!("{verb} {slug} @{}", approval.stamp);
    desk.report(&approval.record, &text)?;
    Ok(Exit::Done)
}

/// The state of the source; `None` outside git.
fn stamp(context: &Context) -> Option<Stamp> {
    let repo = context.repo().ok()?;
    let Stamped { stamp, .. } = repo.stamp(StampRequest {
        budget: Budget::Verdict,
        trust: Trust::Stat,
        roots: &[],
    });
    Some(stamp)
}
