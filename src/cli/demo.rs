use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

use crate::{
    git::Env,
    ui::{Color, Context, Exit, Failure, Paint, printable},
};

/// Play the gate in a throw-away repository
///
/// A Stop is blocked, a run earns the verdict, the Stop is let through; two ledgers become one; what was
/// proved goes stale when the source changes. Nothing outside a temporary directory is touched.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Keep the directory and say where it is
    #[arg(long)]
    keep: bool,
}

/// One thing the demo does. A number is the exit code that must come.
enum Act {
    Say(&'static str),
    Write(&'static str, &'static str),
    Git(&'static str, &'static [&'static str]),
    Operator(&'static str, u8, &'static [&'static str]),
    Stop(&'static str, u8),
    Show(&'static str),
}

use Act::{Git, Operator, Say, Show, Stop, Write};

const CHECK: &str = "test \"$(sh greet.sh)\" = hello && echo '1 passed'\n";

const PLAY: &[Act] = &[
    Say("A project, set up once."),
    Git(".", &["init", "-q", "--bare", "origin.git"]),
    Git(".", &["init", "-q", "ann"]),
    Git("ann", &["remote", "add", "origin", "../origin.git"]),
    Write("ann/greet.sh", "echo hello\n"),
    Write("ann/check.sh", CHECK),
    Operator("ann", 0, &["-q", "start"]),
    Git("ann", &["add", "--all"]),
    Git("ann", &["commit", "-q", "-m", "greet, with its check"]),
    Git("ann", &["push", "-q", "origin", "HEAD:main"]),
    Say(
        "An agent opens a task, says it is done, and stops. Claude Code asks the hook: 2 means no.",
    ),
    Operator("ann", 0, &["task", "T-1", "--owner", "demo"]),
    Stop("ann", 2),
    Say("It runs the check instead of claiming that it passes. Now the Stop is let through."),
    Operator(
        "ann",
        0,
        &[
            "run",
            "T-1",
            "it greets",
            "--owner",
            "demo",
            "--",
            "sh",
            "check.sh",
        ],
    ),
    Stop("ann", 0),
    Operator("ann", 0, &["log"]),
    Show("ann/.operator/VERDICTS.md"),
    Say("The claim holds for the commit it was made on."),
    Operator("ann", 0, &["verify"]),
    Say("Two clones record at the same time; their ledgers unite, and nothing can conflict."),
    Operator("ann", 0, &["sync"]),
    Git(
        ".",
        &["clone", "-q", "--branch", "main", "origin.git", "bob"],
    ),
    Operator("bob", 0, &["-q", "task", "T-2", "--owner", "bob"]),
    Operator(
        "bob",
        0,
        &[
            "verdict",
            "T-2",
            "it reads well",
            "read it twice",
            "PASS",
            "--owner",
            "bob",
        ],
    ),
    Operator("bob", 0, &["sync"]),
    Operator(
        "ann",
        0,
        &[
            "-q",
            "decide",
            "DECISION",
            "keep sh",
            "--why",
            "it is there",
            "--owner",
            "demo",
        ],
    ),
    Operator("ann", 0, &["sync"]),
    Operator("ann", 0, &["log"]),
    Git(
        "ann",
        &["log", "--graph", "--format=%s", "refs/operator/ledger"],
    ),
    Say("The source changes. What was proved before says nothing of it: 1 means stale."),
    Write("ann/greet.sh", "echo good evening\n"),
    Git("ann", &["commit", "-q", "-a", "-m", "greet otherwise"]),
    Operator("ann", 1, &["verify"]),
];

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let wrong = |error| Failure::io("cannot make a temporary directory", &error);
    let dir = TempDir::with_prefix("git-operator-demo-").map_err(wrong)?;
    let root = dir.path().canonicalize().map_err(wrong)?;
    let stage = Stage::new(context, root)?;
    let played = PLAY.iter().try_for_each(|act| stage.play(act));
    if args.keep {
        let kept = dir.keep();
        context
            .ui
            .line(format_args!("\nkept in {}", kept.display()))?;
    }
    played?;
    Ok(Exit::Done)
}

/// The directory of the demo and what its programs are started with.
struct Stage<'a> {
    context: &'a Context,
    paint: Paint,
    root: PathBuf,
    program: PathBuf,
    vars: Vec<(&'static str, OsString)>,
}

impl<'a> Stage<'a> {
    fn new(context: &'a Context, root: PathBuf) -> Result<Self, Failure> {
        let program = std::env::current_exe()
            .map_err(|error| Failure::io("cannot find this program", &error))?;
        let home = root.join("home");
        let config =
            "[user]\n\tname = Demo\n\temail = demo@localhost\n[init]\n\tdefaultBranch = main\n";
        let made = fs::create_dir(&home).and_then(|()| fs::write(home.join(".gitconfig"), config));
        made.map_err(|error| {
            Failure::io(format_args!("cannot write '{}'", home.display()), &error)
        })?;
        Ok(Self {
            // A repository that cannot be used here is of no interest there.
            paint: context.paint().unwrap_or(Paint::Plain),
            vars: variables(context.env(), &home, &program),
            context,
            root,
            program,
        })
    }

    fn play(&self, act: &Act) -> Result<(), Failure> {
        match act {
            Say(text) => {
                let text = self.paint.paint(Color::Bold, text);
                self.context.ui.line(format_args!("\n# {text}"))
            }
            Write(path, text) => {
                let path = self.root.join(path);
                let written = fs::write(&path, text);
                let what = format!("cannot write '{}'", path.display());
                written.map_err(|error| Failure::io(what, &error))
            }
            Git(dir, args) => self.run(dir, ("git", args), (0, None)),
            Operator(dir, code, args) => self.run(dir, ("git operator", args), (*code, None)),
            Stop(dir, code) => self.stop(dir, *code),
            Show(path) => self.show(path),
        }
    }

    /// Sends what Claude Code sends at the end of a turn.
    fn stop(&self, dir: &str, code: u8) -> Result<(), Failure> {
        let cwd = self.root.join(dir);
        let payload = serde_json::json!({
            "session_id": "demo", "cwd": cwd, "hook_event_name": "Stop", "stop_hook_active": false,
        });
        let path = self.root.join("payload.json");
        let input = fs::write(&path, payload.to_string()).and_then(|()| fs::File::open(&path));
        let input = input.map_err(|error| {
            Failure::io(format_args!("cannot write '{}'", path.display()), &error)
        })?;
        let command = ("git operator", &["hook", "Stop"][..]);
        self.run(dir, command, (code, Some(input)))
    }

    fn show(&self, path: &str) -> Result<(), Failure> {
        let Ok(text) = fs::read_to_string(self.root.join(path)) else {
            return Ok(());
        };
        self.context.ui.line(format_args!("$ cat {path}"))?;
        self.indented(&text)
    }

    /// Runs a program, shows its command line and what it prints, and checks its exit code.
    fn run(
        &self,
        dir: &str,
        (name, args): (&str, &[&str]),
        (code, input): (u8, Option<fs::File>),
    ) -> Result<(), Failure> {
        let words: Vec<String> = args.iter().map(|word| shown(word)).collect();
        let line = format!("{name} {}", words.join(" "));
        let place = if dir == "." {
            String::new()
        } else {
            format!("{dir} ")
        };
        let shown = self.paint.paint(Color::Cyan, &format!("{place}$ {line}"));
        self.context.ui.line(shown)?;
        let program = match name {
            "git" => Path::new("git"),
            _ => &self.program,
        };
        let output = Command::new(program)
            .args(args)
            .current_dir(self.root.join(dir))
            .env_clear()
            .envs(self.vars.iter().map(|(name, value)| (name, value)))
            .stdin(input.map_or_else(Stdio::null, Stdio::from))
            .output()
            .map_err(|error| Failure::io(format_args!("cannot run '{line}'"), &error))?;
        self.indented(&String::from_utf8_lossy(&output.stdout))?;
        self.indented(&String::from_utf8_lossy(&output.stderr))?;
        if code > 0 {
            self.context.ui.line(format_args!("  (exit {code})"))?;
        }
        match output.status.code() {
            Some(found) if found == i32::from(code) => Ok(()),
            found => {
                let found = found.map_or_else(|| "a signal".to_owned(), |code| code.to_string());
                let message = format!("cannot play '{line}': it ended with {found}, not {code}");
                Err(Failure::new(Exit::No, message))
            }
        }
    }

    fn indented(&self, text: &str) -> Result<(), Failure> {
        for line in printable(text).lines() {
            let line = format!("  {line}");
            self.context.ui.line(line.trim_end())?;
        }
        Ok(())
    }
}

/// Returns a word as a person types it in a shell.
fn shown(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=%".contains(c);
    match word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{word}'"),
    }
}

/// An environment of its own: nothing of the user's git, session or configuration.
fn variables(env: &Env, home: &Path, program: &Path) -> Vec<(&'static str, OsString)> {
    let dirs = program.parent().map(Path::to_owned).into_iter();
    let rest = env.var("PATH").map(std::env::split_paths);
    let path = std::env::join_paths(dirs.chain(rest.into_iter().flatten())).unwrap_or_default();
    vec![
        ("PATH", path),
        ("HOME", home.into()),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
        ("GIT_TERMINAL_PROMPT", "0".into()),
        ("LC_ALL", "C.UTF-8".into()),
    ]
}
