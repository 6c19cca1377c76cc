//! Scenarios of tests, played in a repository of their own with a work ledger of its own. The calls are
//! judged as the hooks judge them; nothing is run but git.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

use serde_json::{Value, json};

use super::{
    Call, Change, Hook, Turns, Wrote, around, below, bytes, changes, events, restore, unforeseen,
};
use crate::{
    git::{Clock, Env, Repo, locate},
    policy::{
        self, CallStep, Case, Deed, Given, Limits, Policies, Ruling, Scenario, Shared, Step,
        testing::differences,
    },
    work::{self, Finished, Outcome, Target, Tool, Work},
};

/// Plays the scenario of a test; the lines say what is not as expected. `path` is PATH.
pub fn play(
    policies: &Arc<Policies>,
    case: &Case,
    path: Option<&std::ffi::OsStr>,
) -> Result<Vec<String>, String> {
    let Given::Scenario(scenario) = &case.given else {
        return Err("it is no scenario".to_owned());
    };
    let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut stage = Stage::new(dir.path(), path, policies)?;
    stage.begin(scenario)?;
    let mut lines = Vec::new();
    for (number, step) in scenario.steps.iter().enumerate() {
        if let Step::Expect(expect) = step {
            let wrong = stage.wrong(expect);
            lines.extend(
                wrong
                    .into_iter()
                    .map(|line| format!("step {}: {line}", number + 1)),
            );
        } else {
            stage
                .step(step)
                .map_err(|error| format!("step {}: {error}", number + 1))?;
        }
    }
    lines.extend(stage.wrong(&case.expect));
    Ok(lines)
}

struct Stage<'a> {
    top: PathBuf,
    vars: Vec<(&'static str, OsString)>,
    policies: &'a Arc<Policies>,
    repo: Option<Repo>,
    calls: usize,
    prompts: usize,
    /// What the policies said of the last step.
    ruling: Ruling,
}

/// One tool use, as the work ledger and the events know it.
struct Use<'a> {
    call: &'a CallStep,
    id: String,
    input: Value,
    time: u64,
}

impl Use<'_> {
    fn of_work(&self, target: Target) -> work::Call<'_> {
        work::Call {
            session: &self.call.session,
            tool: &self.call.tool,
            id: &self.id,
            agent: None,
            target,
            scope: work::Scope::Tree,
            time: self.time,
        }
    }
}

impl<'a> Stage<'a> {
    fn new(
        dir: &Path,
        path: Option<&std::ffi::OsStr>,
        policies: &'a Arc<Policies>,
    ) -> Result<Self, String> {
        let dir = dir.canonicalize().map_err(|error| error.to_string())?;
        let (top, home) = (dir.join("repo"), dir.join("home"));
        let config = "[user]\n\tname = T\n\temail = t@localhost\n[init]\n\tdefaultBranch = main\n";
        fs::create_dir(&top)
            .and_then(|()| fs::create_dir(&home))
            .and_then(|()| fs::write(home.join(".gitconfig"), config))
            .map_err(|error| error.to_string())?;
        Ok(Self {
            top,
            vars: vec![
                ("PATH", path.unwrap_or_default().to_owned()),
                ("HOME", home.into()),
                ("GIT_CONFIG_NOSYSTEM", "1".into()),
                ("GIT_TERMINAL_PROMPT", "0".into()),
                ("LC_ALL", "C".into()),
            ],
            policies,
            repo: None,
            calls: 0,
            prompts: 1,
            ruling: Ruling::default(),
        })
    }

    fn begin(&mut self, scenario: &Scenario) -> Result<(), String> {
        self.git(&["init", "-q"])?;
        for (path, text) in &scenario.files {
            self.write(path, text)?;
        }
        self.git(&["add", "-A"])?;
        self.git(&["commit", "-q", "--allow-empty", "-m", "c1"])?;
        let vars = self.vars.iter();
        let env = Env::new(vars.map(|(name, value)| ((*name).into(), value.clone())));
        let location = locate(&self.top, &env).map_err(|error| error.to_string())?;
        let location = location.ok_or("its repository cannot be found")?;
        self.repo = Some(Repo::open(&location, &env).map_err(|error| error.to_string())?);
        Ok(())
    }

    fn git(&self, args: &[&str]) -> Result<(), String> {
        let output = Command::new("git")
            .args(args)
            .current_dir(&self.top)
            .env_clear()
            .envs(self.vars.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("cannot run git: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(format!("git {}: {text}", args.join(" ")))
    }

    fn write(&self, path: &str, text: &str) -> Result<(), String> {
        let path = self.top.join(path);
        let parent = path.parent().unwrap_or(&self.top);
        let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, text));
        written.map_err(|error| format!("cannot write '{}': {error}", path.display()))
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::User(deeds) => self.deeds(deeds),
            Step::Call(call) => self.call(call),
            Step::Stop => self.plain("Stop", json!({ "stop_hook_active": false })),
            Step::Prompt(text) => {
                self.prompts += 1;
                self.plain("UserPromptSubmit", json!({ "prompt": text }))
            }
            Step::Expect(_) => Ok(()),
        }
    }

    fn deeds(&self, deeds: &[Deed]) -> Result<(), String> {
        for deed in deeds {
            match deed {
                Deed::Write(path, text) => self.write(path, text)?,
                Deed::Delete(path) => {
                    fs::remove_file(self.top.join(path))
                        .map_err(|error| format!("cannot delete '{path}': {error}"))?;
                }
                Deed::Commit(message) => {
                    self.git(&["add", "-A"])?;
                    self.git(&["commit", "-q", "--allow-empty", "-m", message])?;
                }
                Deed::Stash => self.git(&["stash", "-q", "-u"])?,
                Deed::Checkout(paths) => {
                    let paths = paths.iter().map(String::as_str);
                    let args: Vec<&str> =
                        ["checkout", "-q", "--"].into_iter().chain(paths).collect();
                    self.git(&args)?;
                }
            }
        }
        Ok(())
    }

    fn repo(&self) -> Result<&Repo, String> {
        self.repo
            .as_ref()
            .ok_or_else(|| "there is no repository".to_owned())
    }

    fn call(&mut self, call: &CallStep) -> Result<(), String> {
        self.calls += 1;
        let used = Use {
            call,
            id: format!("call-{}", self.calls),
            input: self.input(call),
            time: Clock::default().wall_ms(),
        };
        let target = self.target(&used)?;
        let begun = match &target {
            Some(target) => {
                work::begin(self.repo()?, &used.of_work(target.clone()))
                    .map_err(|error| error.to_string())?
                    .work
            }
            None => None,
        };
        let before = self.judge("PreToolUse", payload(&used), (begun.as_ref(), Vec::new()))?;
        if before.level() == policy::Level::Block {
            self.ruling = before;
            let denied = work::deny(self.repo()?, (&call.session, &used.id), used.time);
            return denied.map_err(|error| error.to_string());
        }
        self.deeds(&self.does(&used))?;
        let after = self.after(&used, target)?;
        self.ruling = if before.level() > after.level() {
            before
        } else {
            after
        };
        Ok(())
    }

    /// Returns the input, its file named from the root.
    fn input(&self, call: &CallStep) -> Value {
        let mut input = call.input.clone();
        if let Some(path) = input["file_path"].as_str() {
            input["file_path"] = self.top.join(path).to_string_lossy().into();
        }
        input
    }

    fn target(&self, used: &Use<'_>) -> Result<Option<Target>, String> {
        let Some(tool) = Tool::of(&used.call.tool) else {
            return Ok(None);
        };
        Ok(Some(match (tool, used.input["file_path"].as_str()) {
            (Tool::File, Some(path)) => {
                let place = work::place(self.repo()?, &self.top, path.as_ref());
                Target::File(place.map_err(|error| error.to_string())?)
            }
            _ => Target::Tree,
        }))
    }

    /// Returns what a call does: what the test says, else what its input says.
    fn does(&self, used: &Use<'_>) -> Vec<Deed> {
        let call = used.call;
        let path = call.input["file_path"].as_str();
        let (true, Some(path)) = (call.does.is_empty(), path) else {
            return call.does.clone();
        };
        let now = fs::read(self.top.join(path)).ok();
        let before = match &now {
            Some(bytes) => policy::derive::Content::Known(bytes),
            None => policy::derive::Content::Absent,
        };
        let text = policy::derive::proposed(&call.tool, &used.input, before);
        text.map(|text| Deed::Write(path.to_owned(), text))
            .into_iter()
            .collect()
    }

    fn after(&mut self, used: &Use<'_>, target: Option<Target>) -> Result<Ruling, String> {
        let (name, outcome) = match used.call.fails {
            true => ("PostToolUseFailure", Outcome::Failure),
            false => ("PostToolUse", Outcome::Success),
        };
        let Some(target) = target else {
            return self.judge(name, payload(used), (None, Vec::new()));
        };
        let repo = self.repo()?;
        let finished = Finished {
            call: used.of_work(target),
            outcome,
            background: None,
        };
        let report = work::finish(repo, &finished).map_err(|error| error.to_string())?;
        let wrote = Wrote::of(self.policies, &report.changes);
        let command = used.input["command"].as_str().filter(|_| !used.call.fails);
        Turns::new(&repo.operator_dir())
            .end(&used.call.session, wrote, command)
            .map_err(|error| error.to_string())?;
        let payload = payload(used);
        let changes = match Tool::of(&used.call.tool) {
            Some(Tool::File) => unforeseen(repo, &report.changes, &payload),
            Some(Tool::Shell) | None => changes(repo, &report.changes),
        };
        let mut ruling = self.judge(name, payload, (report.work.as_ref(), changes))?;
        restore(&mut ruling, self.repo()?, (&used.call.session, &used.id));
        Ok(ruling)
    }

    /// Judges an event that is no tool use, for the session S1.
    fn plain(&mut self, name: &str, mut payload: Value) -> Result<(), String> {
        let who = work::Who::Session("S1");
        let time = Clock::default().wall_ms();
        let work = work::status(self.repo()?, who, time).map_err(|error| error.to_string())?;
        payload["session_id"] = "S1".into();
        self.ruling = self.judge(name, payload, (Some(&work), Vec::new()))?;
        Ok(())
    }

    fn judge(
        &self,
        name: &str,
        mut payload: Value,
        (work, changes): (Option<&Work>, Vec<Change>),
    ) -> Result<Ruling, String> {
        let repo = self.repo()?;
        let text = |error: super::Error| error.to_string();
        let prompt = format!("prompt-{}", self.prompts);
        payload["prompt_id"] = prompt.as_str().into();
        let session = payload["session_id"].as_str().unwrap_or_default();
        let input = payload["tool_input"].to_string();
        let call = Call {
            prompt: Some(&prompt),
            tool: payload["tool_name"].as_str().unwrap_or_default(),
            input: input.as_bytes(),
        };
        let turn = Turns::new(&repo.operator_dir())
            .count(session, name, call)
            .map_err(text)?;
        let (head, branch) = around::head(repo).map_err(text)?;
        let top = self.top.to_string_lossy();
        let work = work.map_or_else(|| json!({}), around::work);
        let hook = Hook {
            name,
            payload: &payload,
            around: json!({ "root": top, "cwd": "", "head": head, "branch": branch, "turn": turn }),
            shared: Shared::new(work, json!({})).map_err(|error| error.to_string())?,
            changes,
            blocks: 0,
        };
        let place = |named: &str| below(Some(&self.top), &self.top, named);
        let facts = events(&hook, &place, &|path| bytes(&self.top, path)).map_err(text)?;
        Ok(policy::judge(self.policies, facts, Limits::patient()))
    }

    /// Returns in what the last step, and the files, are not as expected.
    fn wrong(&self, expect: &policy::Expect) -> Vec<String> {
        let mut lines = differences(expect, &self.ruling);
        for (path, wanted) in expect.file.as_object().into_iter().flatten() {
            let found = match fs::read_to_string(self.top.join(path)) {
                Ok(text) => Value::from(text),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Value::Null,
                Err(error) => Value::from(error.to_string()),
            };
            if found != *wanted {
                lines.push(format!(
                    "expected '{path}' to hold {wanted}, it holds {found}"
                ));
            }
        }
        lines
    }
}

fn payload(used: &Use<'_>) -> Value {
    let error = if used.call.fails { "Exit code 1" } else { "" };
    json!({
        "session_id": used.call.session,
        "tool_name": used.call.tool,
        "tool_use_id": used.id,
        "tool_input": used.input,
        "tool_response": {},
        "error": error,
    })
}
