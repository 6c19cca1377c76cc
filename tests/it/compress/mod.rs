//! The compressor: nothing that matters is lost, and what is left out can be read back.

mod cases;
mod corpus;
mod hook;
mod place;

use std::{fs, path::PathBuf};

use assert_fs::TempDir;
use git_operator::compress::{Place, Settings, Treatment, filter};

/// A started project, and the place where its spills go.
struct Project {
    dir: TempDir,
    place: Place,
}

impl Project {
    fn started() -> Self {
        let project = Self::plain();
        fs::create_dir(project.top().join(".operator")).unwrap();
        let place = Place {
            project: Some(project.top()),
            ..project.place
        };
        Self {
            dir: project.dir,
            place,
        }
    }

    /// A directory that never was a project.
    fn plain() -> Self {
        let dir = TempDir::new().unwrap();
        let temp = dir.path().join("temp");
        fs::create_dir(&temp).unwrap();
        fs::create_dir(dir.path().join("top")).unwrap();
        let place = Place {
            project: None,
            temp,
            cwd: dir.path().join("top"),
            session: "s1".to_owned(),
            call: "toolu_1".to_owned(),
            client: None,
        };
        Self { dir, place }
    }

    fn top(&self) -> PathBuf {
        self.dir.path().join("top")
    }

    fn filter(&self, text: &str) -> String {
        filter(text, Treatment::Full, &Settings::default(), &self.place).into_owned()
    }

    /// The spill that `text` cites.
    fn cited(&self, text: &str) -> PathBuf {
        let at = text.find("whole output: ").expect("a cited spill") + "whole output: ".len();
        let path = PathBuf::from(&text[at..at + text[at..].find(']').unwrap()]);
        assert!(path.starts_with(self.dir.path()), "{}", path.display());
        path
    }

    /// Every spill below the directory, with its bytes.
    fn spills(&self) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        let mut dirs = vec![self.dir.path().to_owned()];
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    dirs.push(path);
                } else if path.extension().is_some_and(|ext| ext == "txt") {
                    found.push(fs::read(path).unwrap());
                }
            }
        }
        found
    }
}
