//! A repository with a source, a criterion and the program's own commands, as the scenarios use it.

use std::{fs, os::unix::fs::PermissionsExt};

use git_operator::{
    git::{self, Clock, Env},
    model::{Draft, Record, RecordId},
    store::{Store, Wait},
};
use serde_json::Value;

use crate::support::{Operator, Repo};

/// What one criterion came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) state: String,
    pub(super) paths: Vec<String>,
    pub(super) exit: i32,
}

impl Found {
    /// What a report says of one of its requirements.
    pub(super) fn of(report: &Value, one: &Value) -> Self {
        let state = match one["grade"].as_str() {
            Some(grade) => format!("{} {grade}", one["state"].as_str().unwrap()),
            None => one["state"].as_str().unwrap().to_owned(),
        };
        let paths = one["paths"].as_array().unwrap().iter();
        Self {
            state,
            paths: paths
                .map(|path| path.as_str().unwrap().to_owned())
                .collect(),
            exit: i32::try_from(report["exit"].as_i64().unwrap()).unwrap(),
        }
    }
}

pub(super) fn found(state: &str, paths: &[&str], exit: i32) -> Found {
    Found {
        state: state.to_owned(),
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        exit,
    }
}

pub(super) struct Scene {
    pub(super) repo: Repo,
}

impl std::ops::Deref for Scene {
    type Target = Repo;

    fn deref(&self) -> &Repo {
        &self.repo
    }
}

impl Scene {
    /// Makes a repository with one commit of `src/lib` and `other`.
    pub(super) fn new() -> Self {
        Self::of(Repo::new())
    }

    pub(super) fn of(repo: Repo) -> Self {
        repo.write("src/lib", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n");
        repo.write("other", "x\n");
        repo.git(["add", "."]);
        repo.commit_staged("source");
        Self { repo }
    }

    pub(super) fn at(&self, dir: impl AsRef<std::path::Path>) -> Self {
        Self {
            repo: self.repo.at(dir),
        }
    }

    /// Runs `script` as the evidence for `criterion`; returns the program's exit code.
    #[track_caller]
    pub(super) fn run_with(&self, options: &[&str], script: &str) -> i32 {
        let base = ["run", "T", "tests", "--owner", "S1"];
        let command = ["--", "sh", "-c", script];
        let args: Vec<&str> = [&base[..], options, &command].concat();
        let output = self.operator(&args).run();
        self.tick();
        assert!(
            output.code != 125 && output.code < 128 || options.contains(&"--may-fail"),
            "{output:?}"
        );
        output.code
    }

    /// Runs a command that passes.
    #[track_caller]
    pub(super) fn run(&self) {
        assert_eq!(self.run_with(&[], "test -e src/lib"), 0);
    }

    /// Judges and returns the whole report.
    #[track_caller]
    pub(super) fn report(&self, args: &[&str]) -> Value {
        let args = [&["verify", "--format=json"][..], args].concat();
        let output = self.operator(&args).run();
        let value: Value = serde_json::from_str(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {output:?}"));
        assert_eq!(value["exit"], output.code, "{output:?}");
        value
    }

    /// Returns what `tests` came to.
    #[track_caller]
    pub(super) fn verify(&self) -> Found {
        self.verify_with(&[])
    }

    #[track_caller]
    pub(super) fn verify_with(&self, args: &[&str]) -> Found {
        let report = self.report(args);
        let one = report["requirements"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["criterion"] == "tests")
            .unwrap_or_else(|| panic!("{report:#}"));
        Found::of(&report, one)
    }

    /// Commits requirements in which `tests` has these keys, on the current branch.
    #[track_caller]
    pub(super) fn require(&self, criterion: &str) {
        self.write(
            ".operator/requirements.yaml",
            format!(
                "version: 1\nrequire: {{all: {{ref: ['refs/heads/*'], criterion: [tests]}}}}\n\
                 criterion: {{tests: {criterion}}}\n"
            ),
        );
        self.git(["add", ".operator"]);
        self.commit_staged("requirements");
    }

    #[track_caller]
    pub(super) fn commit_all(&self, message: &str) -> String {
        self.git(["add", "-A"]);
        self.commit_staged(message)
    }

    /// Adds a line to a file and commits it.
    #[track_caller]
    pub(super) fn edit(&self, path: &str, line: &str) -> String {
        let text = fs::read_to_string(self.path().join(path)).unwrap_or_default();
        self.write(path, format!("{text}{line}\n"));
        self.commit_all(path)
    }

    pub(super) fn executable(&self, path: &str) {
        let path = self.path().join(path);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(super) fn store(&self) -> Store {
        let env = Env::new(self.env());
        let location = git::locate(self.path(), &env).unwrap().unwrap();
        Store::open(git::Repo::open(&location, &env).unwrap())
    }

    pub(super) fn records(&self) -> Vec<Record> {
        self.store().load().unwrap().iter().cloned().collect()
    }

    /// Returns the newest verdict.
    #[track_caller]
    pub(super) fn verdict(&self) -> Record {
        let is = |record: &Record| matches!(record.body, git_operator::model::Body::Verdict(_));
        self.records()
            .into_iter()
            .rfind(|record| is(record))
            .unwrap()
    }

    /// Appends a record as any tool could.
    pub(super) fn append(&self, draft: Draft) -> RecordId {
        let store = self.store();
        let env = Env::new(self.env());
        let mut tx = store
            .begin(Wait::Command, Clock::new(&env).unwrap())
            .unwrap();
        let committed = tx.commit(&[draft], Vec::new()).unwrap();
        committed.records[0].id
    }

    /// Makes a ledger of these lines in place of the one there.
    pub(super) fn forge(&self, lines: &[String]) {
        let tree = self.git(["mktree", "--missing"].into_iter().chain([]));
        let message = format!("forged\n\n{}\n", lines.join("\n"));
        let commit = self.git(["commit-tree", "-m", &message, &tree]);
        self.git(["update-ref", "refs/operator/ledger", &commit]);
        let _ = fs::remove_dir_all(self.path().join(".git/operator"));
        let _ = self.try_git(["update-ref", "-d", "refs/operator-local/ledger"]);
    }

    pub(super) fn verify_command(&self, args: &[&str]) -> Operator {
        self.operator([&["verify"][..], args].concat())
    }
}
