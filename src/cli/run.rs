use std::{
    ffi::OsString,
    io::{self, Write as _},
    path::PathBuf,
};

use serde_json::json;

use super::desk::{self, Desk, SignArg};
use crate::{
    gate::{Purpose, Secrets},
    git::{Repo, Subject, Trust},
    model::{Criterion as Name, RepoPath, TaskId},
    store::Store,
    ui::{Context, Exit, Failure},
    verify::{
        Conducted, NewRun, Screen, concluded, conduct,
        requirements::{self, Criterion, Requirements, duration},
        run::{Place, Plan},
    },
};

/// Run a command as the evidence for a criterion of a task
///
/// PASS follows from the exit code of a process this program owns, FAIL as well; nobody has to be
/// believed. The source is looked at before and after: a command that changes it proves nothing
/// (MUTATED). 125 means SKIP, 126 and 127 ERROR. A command that the requirements name is run at the top.
///
/// A PASS closes the task, a FAIL leaves it open.
///
/// Ends as the command did when a PASS or FAIL is recorded, with 124 when its time was over, and with
/// 125 for everything else.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The task
    task: String,

    /// The criterion, as the acceptance bar or the requirements name it
    criterion: String,

    /// Whose task it is [default: the session this runs in]
    #[arg(long, value_name = "SESSION")]
    owner: Option<String>,

    /// Run in a directory of its own that holds the subject and nothing else
    #[arg(long)]
    isolated: bool,

    /// What is tested: worktree, index, or a revision; the last two imply --isolated
    #[arg(long, value_name = "WHAT", default_value = "worktree")]
    subject: String,

    /// Read every file, whatever its times say
    #[arg(long)]
    strict: bool,

    /// End the command after this long, such as 90s or 20m
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,

    /// A JUnit report the command writes, relative to its directory; its tests are counted
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// After a PASS, run the command on the base source with only the changed tests: it must fail
    #[arg(long)]
    control: bool,

    #[command(flatten)]
    sign: SignArg,

    /// Record output that looks like a secret
    #[arg(long)]
    allow_secret: bool,

    /// Print one JSON object about the record to standard error
    #[arg(long)]
    json: bool,

    /// The command; the criterion's own when the requirements name one
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Everything that is ours ends with 125, so that the command's own codes keep their meaning.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let conducted = attempt(args, context).map_err(|failure| Failure {
        exit: match failure.exit {
            Exit::Usage => Exit::Usage,
            _ => Exit::Child(125),
        },
        ..failure
    })?;
    tell(args, &conducted, context)?;
    Ok(Exit::Child(conducted.report.exit))
}

fn attempt(args: &Args, context: &Context) -> Result<Conducted, Failure> {
    let desk = Desk::open(context, args.owner.as_deref())?;
    let repo = context.repo()?;
    let file = local_requirements(&desk)?;
    let criterion = file
        .as_ref()
        .and_then(|file| file.criteria.get(&args.criterion));
    let timeout = args.timeout.as_deref().map(duration).transpose();
    let timeout = timeout.map_err(Failure::usage)?;
    let roots = known_roots(desk.store);
    let tests = |path: &RepoPath| {
        let globs = criterion.and_then(|criterion| criterion.tests.as_ref());
        globs.is_some_and(|globs| globs.matches(&String::from_utf8_lossy(path.as_bytes())))
    };
    let subject = subject(&args.subject, repo)?;
    let apart = args.isolated || subject != Subject::Worktree;
    let new = NewRun {
        purpose: Purpose {
            task: TaskId::new(&args.task)?,
            criterion: Name::new(&args.criterion)?,
            owner: desk.owner.clone(),
            repeats: None,
        },
        plan: Plan {
            argv: argv(args, criterion)?,
            cwd: &dir(context, repo, criterion)?,
            subject,
            place: match apart {
                true => Place::Isolated,
                false => Place::Worktree,
            },
            trust: match args.strict {
                true => Trust::Nothing,
                false => Trust::Stat,
            },
            timeout: timeout.or(criterion.and_then(|criterion| criterion.timeout)),
            junit: args
                .junit
                .clone()
                .or(criterion.and_then(|criterion| criterion.junit.clone())),
            control: args.control.then_some(&tests),
            ok_exit: criterion.map_or(&[], |criterion| &criterion.ok_exit),
            roots: &roots,
            clock: desk.clock,
        },
        secrets: match args.allow_secret {
            true => Secrets::Allow,
            false => Secrets::Refuse,
        },
        definition: criterion
            .filter(|criterion| !criterion.arg.is_empty())
            .map(|criterion| criterion.definition.clone()),
        signer: args.sign.signer(context)?,
        of: None,
    };
    if args.control && criterion.is_none_or(|criterion| criterion.tests.is_none()) {
        let why = format!(
            "the requirements say of '{}' no 'tests' globs",
            args.criterion
        );
        return Err(Failure::new(
            Exit::No,
            format!("cannot make a control run: {why}"),
        ));
    }
    let screen = Screen {
        out: &mut io::stdout(),
        err: &mut io::stderr(),
    };
    let conducted = conduct(&desk.gate(), repo, new, screen)?;
    if conducted.recorded.is_some() {
        desk.show();
    }
    Ok(conducted)
}

/// Reads the requirements of the working tree: what runs here is what will be asked.
fn local_requirements(desk: &Desk<'_>) -> Result<Option<Requirements>, Failure> {
    let read = desk.tree()?.read(requirements::PATH, 1 << 20);
    let read = read.map_err(|error| Failure::new(Exit::Fatal, error.to_string()))?;
    let Some(bytes) = read else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&bytes);
    let parsed = Requirements::parse(&text).map_err(|why| {
        let message = format!("cannot read requirements '{}': {why}", requirements::PATH);
        Failure::new(Exit::Undecided, message)
    });
    parsed.map(Some)
}

fn argv(args: &Args, criterion: Option<&Criterion>) -> Result<Vec<OsString>, Failure> {
    let own = criterion
        .map(|criterion| criterion.arg.as_slice())
        .unwrap_or_default();
    let own: Vec<OsString> = own.iter().map(OsString::from).collect();
    match (args.command.is_empty(), own.is_empty()) {
        (true, true) => Err(Failure::usage(format!(
            "cannot run a command for '{}': none is given, and the requirements name none",
            args.criterion
        ))),
        (true, false) => Ok(own),
        (false, false) if own != args.command => Err(Failure::new(
            Exit::No,
            format!(
                "cannot run this for '{}': the requirements name another command",
                args.criterion
            ),
        )),
        (false, _) => Ok(args.command.clone()),
    }
}

/// A command the requirements name is run where whoever wrote them meant it: at the top.
fn dir(context: &Context, repo: &Repo, criterion: Option<&Criterion>) -> Result<PathBuf, Failure> {
    let named = criterion.is_some_and(|criterion| !criterion.arg.is_empty());
    if let (true, Some(top)) = (named, repo.top()) {
        return Ok(top.to_owned());
    }
    let dir = context.cwd()?.canonicalize();
    dir.map_err(|error| Failure::io("cannot read the current directory", &error))
}

fn subject(word: &str, repo: &Repo) -> Result<Subject, Failure> {
    Ok(match word {
        "worktree" => Subject::Worktree,
        // Only here is the index of a hook's caller meant.
        "index" => match repo.env().path("GIT_INDEX_FILE") {
            Some(path) if path.is_absolute() => Subject::Index(path.to_owned()),
            Some(path) => {
                let top = repo.top().unwrap_or(repo.git_dir());
                Subject::Index(top.join(path))
            }
            None => Subject::Index(repo.git_dir().join("index")),
        },
        spec => Subject::Commit(repo.rev_parse(spec)?),
    })
}

fn known_roots(store: &Store) -> Vec<crate::model::Oid> {
    store.state().roots
}

/// The last line is for whoever reads the end of a log: a pipe hides the exit code.
fn tell(args: &Args, conducted: &Conducted, context: &Context) -> Result<(), Failure> {
    let word = concluded(conducted);
    let id = conducted.record.id;
    for note in &conducted.report.notes {
        context.ui.warn(note);
    }
    if let Some(recorded) = &conducted.recorded {
        desk::caution(&context.ui, recorded);
    }
    if let Some(why) = &conducted.unsigned {
        context.ui.warn(why);
    }
    if args.json {
        let object = json!({
            "v": 1,
            "type": "run",
            "outcome": word,
            "class": conducted.report.class.as_str(),
            "id": id.to_string(),
            "task": args.task,
            "criterion": args.criterion,
            "paths": conducted.report.paths.iter().map(RepoPath::quoted).collect::<Vec<_>>(),
            "exit": conducted.report.exit,
        });
        let line = format!("{object}\n");
        return io::stderr()
            .write_all(line.as_bytes())
            .map_err(|error| Failure::output(&error));
    }
    for path in conducted.report.paths.iter().take(20) {
        context.ui.note(format!("changed while it ran: {path}"));
    }
    context.ui.note(format!(
        "{word} {} {}: {}",
        id.short(),
        args.task,
        args.criterion
    ));
    Ok(())
}
