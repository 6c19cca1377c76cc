use std::{
    cell::OnceCell,
    io::Write,
    path::{Path, PathBuf},
};

use super::{Codes, ColorChoice, Exit, Failure, Options, Paging, Paint, Ui, pager};
use crate::{
    git::{Clock, Config, Env, Location, Project, Repo},
    store::Store,
};

/// What a front end was started with (streams, options, environment, directory) and what it opens,
/// each once and only when it is asked for.
pub struct Context {
    pub ui: Ui,
    options: Options,
    env: Env,
    cwd: OnceCell<PathBuf>,
    project: OnceCell<Option<Project>>,
    config: OnceCell<Config>,
    repo: OnceCell<Repo>,
    store: OnceCell<Store>,
}

impl Context {
    /// Returns the context of this process.
    pub fn new(options: Options) -> Self {
        let mut env = Env::from_process();
        if let Some(git_dir) = &options.git_dir {
            env = env.with("GIT_DIR", git_dir);
        }
        Self {
            ui: Ui::new(options.format, options.talk),
            options,
            env: env.traced(trace),
            cwd: OnceCell::new(),
            project: OnceCell::new(),
            config: OnceCell::new(),
            repo: OnceCell::new(),
            store: OnceCell::new(),
        }
    }

    /// Returns the environment, `--git-dir` applied.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// Says whose exit codes are wanted.
    pub fn codes(&self) -> Codes {
        self.options.codes
    }

    /// Returns the clock.
    pub fn clock(&self) -> Result<Clock, Failure> {
        Ok(Clock::new(&self.env)?)
    }

    /// Returns the directory the command runs in, `-C` applied.
    pub fn cwd(&self) -> Result<&Path, Failure> {
        once(&self.cwd, || self.enter()).map(PathBuf::as_path)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the working directory"
    )]
    fn enter(&self) -> Result<PathBuf, Failure> {
        let start = std::env::current_dir()
            .map_err(|error| Failure::io("cannot read the current directory", &error))?;
        let dir = self
            .options
            .directories
            .iter()
            .fold(start, |dir, next| dir.join(next));
        let what = format!("cannot change to '{}'", dir.display());
        match dir.metadata() {
            Ok(meta) if meta.is_dir() => Ok(dir),
            Ok(_) => Err(Failure::new(
                Exit::Fatal,
                format!("{what}: it is not a directory"),
            )),
            Err(error) => Err(Failure::io(what, &error)),
        }
    }

    /// Returns what the directory belongs to; `None` when it is neither a repository nor a project.
    pub fn found(&self) -> Result<Option<&Project>, Failure> {
        once(&self.project, || Ok(Project::find(self.cwd()?, &self.env)?)).map(Option::as_ref)
    }

    /// Returns the project: the repository, or the store that stands for one outside git.
    pub fn project(&self) -> Result<&Project, Failure> {
        self.found()?.ok_or_else(|| {
            let dir = self.shown_cwd();
            no_repository(&dir, "there is none here or above")
        })
    }

    /// Returns where the repository lies that git would use here; `None` when there is none.
    pub fn location(&self) -> Result<Option<&Location>, Failure> {
        let project = self.found()?.filter(|project| !project.is_store());
        Ok(project.map(|project| &project.location))
    }

    /// Returns the repository.
    pub fn repo(&self) -> Result<&Repo, Failure> {
        once(&self.repo, || {
            let Some(location) = self.location()? else {
                self.project()?;
                let dir = self.shown_cwd();
                return Err(no_repository(&dir, "its ledger is kept outside git"));
            };
            Ok(Repo::open(location, &self.env)?)
        })
    }

    /// Returns the project's ledger.
    pub fn store(&self) -> Result<&Store, Failure> {
        once(&self.store, || {
            Ok(Store::open(self.project()?.open(&self.env)?))
        })
    }

    /// Writes out what is printed, waits for the pager and says what the ledger had to say.
    pub fn finish(&self) -> Result<(), Failure> {
        let finished = self.ui.finish();
        for warning in self
            .store
            .get()
            .map(Store::take_warnings)
            .unwrap_or_default()
        {
            self.ui.warn(warning);
        }
        for digest in self
            .store
            .get()
            .map(Store::take_left_out)
            .unwrap_or_default()
        {
            let name = &digest.to_hex()[..12];
            self.ui.warn(format_args!(
                "evidence '{name}' was redacted before and is not kept; its record holds an excerpt"
            ));
        }
        finished
    }

    fn shown_cwd(&self) -> String {
        let dir = self.cwd().map(|dir| dir.display().to_string());
        dir.unwrap_or_default()
    }

    /// Returns git's configuration, of the repository when there is one.
    pub fn config(&self) -> Result<&Config, Failure> {
        once(&self.config, || {
            Ok(Config::load(self.location()?, &self.env)?)
        })
    }

    /// Sends what follows through the user's pager, when a person reads it.
    pub fn page(&self) -> Result<(), Failure> {
        if self.options.paging == Paging::Auto && self.ui.is_watched() {
            let config = self.config()?;
            if let Some(command) = pager::choose(&self.env, config)?
                && let Some(child) = pager::start(&command, &self.env)
            {
                self.ui.page(child);
            }
        }
        Ok(())
    }

    /// Returns whether stdout gets colour: `--color`, then `color.ui`, then whether a person reads it.
    pub fn paint(&self) -> Result<Paint, Failure> {
        let choice = match self.options.color {
            Some(choice) => choice,
            None => self.configured_color()?,
        };
        Ok(match choice {
            ColorChoice::Always => Paint::Colored,
            ColorChoice::Never => Paint::Plain,
            ColorChoice::Auto if self.shows_color()? => Paint::Colored,
            ColorChoice::Auto => Paint::Plain,
        })
    }

    fn configured_color(&self) -> Result<ColorChoice, Failure> {
        let config = self.config()?;
        let choice = match config.text("color.ui").as_deref() {
            Some("always") => return Ok(ColorChoice::Always),
            Some("never") => ColorChoice::Never,
            None | Some("auto") => ColorChoice::Auto,
            Some(_) => match config.bool("color.ui")? {
                Some(false) => ColorChoice::Never,
                Some(true) | None => ColorChoice::Auto,
            },
        };
        Ok(match self.env.text("NO_COLOR") {
            Some(_) => ColorChoice::Never,
            None => choice,
        })
    }

    fn shows_color(&self) -> Result<bool, Failure> {
        if self.env.text("TERM") == Some("dumb") {
            return Ok(false);
        }
        let paged = self.ui.is_paged() || pager::is_gits(&self.env);
        if paged {
            return Ok(self.config()?.bool("color.pager")?.unwrap_or(true));
        }
        Ok(self.ui.is_watched())
    }

    /// Returns the width of the terminal that shows stdout, if one does.
    pub fn columns(&self) -> Option<usize> {
        if !self.ui.is_watched() && !pager::is_gits(&self.env) {
            return None;
        }
        let given = self.env.text("COLUMNS").and_then(|text| text.parse().ok());
        given.filter(|columns| *columns > 0).or_else(|| {
            let (width, _) = terminal_size::terminal_size()?;
            Some(usize::from(width.0))
        })
    }
}

fn no_repository(dir: &str, why: &str) -> Failure {
    Failure::new(
        Exit::Fatal,
        format!("cannot open a repository in '{dir}': {why}"),
    )
    .hint("git init && git operator start")
}

/// Returns the value of `cell`, made first if need be; a failure is made anew each time.
fn once<T>(cell: &OnceCell<T>, make: impl FnOnce() -> Result<T, Failure>) -> Result<&T, Failure> {
    if let Some(value) = cell.get() {
        return Ok(value);
    }
    let value = make()?;
    Ok(cell.get_or_init(|| value))
}

fn trace(line: &str) {
    let _ = std::io::stderr().write_all(format!("trace: {}\n", super::one_line(line)).as_bytes());
}
