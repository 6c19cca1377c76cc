use std::path::{Path, PathBuf};

use super::Payload;
use crate::git::{Env, Error, Project, nearest_dir};

/// Which project an event is about.
#[derive(Debug)]
pub enum Place {
    Found(Project),
    /// The session is in no project.
    Nowhere,
    /// The directory the session was in is gone and nothing else says which project it was.
    Gone(PathBuf),
    /// Something is there that looks like a repository and cannot be used.
    Fault(Error),
}

/// The directories an event may name, most telling first.
struct Hints {
    payload: Option<PathBuf>,
    project: Option<PathBuf>,
    process: Option<PathBuf>,
}

impl Hints {
    #[expect(
        clippy::disallowed_methods,
        reason = "a hook runs in its session's directory"
    )]
    fn new(payload: &Payload, env: &Env) -> Self {
        Self {
            payload: payload.cwd(),
            project: env.path("CLAUDE_PROJECT_DIR").map(Path::to_owned),
            process: std::env::current_dir().ok(),
        }
    }
}

impl Place {
    /// Finds the project of an event.
    pub fn find(payload: &Payload, env: &Env) -> Self {
        resolve(&Hints::new(payload, env), env)
    }
}

/// Finds the project: that of the payload's directory, of its nearest ancestor that is still there, of
/// CLAUDE_PROJECT_DIR, of the process's own directory.
///
/// An ancestor counts only inside CLAUDE_PROJECT_DIR or its repository, where that is known: a removed
/// checkout may have lain inside a repository that has nothing to do with it.
fn resolve(hints: &Hints, env: &Env) -> Place {
    match candidates(hints, env) {
        Ok(Some(project)) => Place::Found(project),
        Ok(None) => match &hints.payload {
            Some(cwd) if !cwd.is_dir() => Place::Gone(cwd.clone()),
            Some(_) | None => Place::Nowhere,
        },
        Err(error) => Place::Fault(error),
    }
}

fn candidates(hints: &Hints, env: &Env) -> Result<Option<Project>, Error> {
    if let Some(cwd) = &hints.payload {
        let found = match cwd.is_dir() {
            true => match Project::find(cwd, env)? {
                Some(project) => Some(beside_git(project, env)?),
                None => None,
            },
            false => of_ancestor(cwd, hints.project.as_deref(), env)?,
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    for dir in [&hints.project, &hints.process].into_iter().flatten() {
        if dir.is_dir()
            && let Some(project) = Project::find(dir, env)?
        {
            return Ok(Some(project));
        }
    }
    Ok(None)
}

/// A session may stand in `.git` itself; the files it is about lie beside that.
fn beside_git(project: Project, env: &Env) -> Result<Project, Error> {
    let git_dir = &project.location.git_dir;
    let (true, Some(parent)) = (
        project.top.is_none() && git_dir.ends_with(".git"),
        git_dir.parent(),
    ) else {
        return Ok(project);
    };
    let there = Project::find(parent, env)?;
    let same = |there: &Project| there.location.common_dir == project.location.common_dir;
    Ok(there.filter(same).unwrap_or(project))
}

fn of_ancestor(cwd: &Path, home: Option<&Path>, env: &Env) -> Result<Option<Project>, Error> {
    let Some(dir) = nearest_dir(cwd) else {
        return Ok(None);
    };
    let Some(project) = Project::find(&dir, env)? else {
        return Ok(None);
    };
    let Some(home) = home.filter(|home| home.is_dir()) else {
        return Ok(Some(project));
    };
    let inside = dir.starts_with(home)
        || Project::find(home, env)?
            .is_some_and(|home| home.location.common_dir == project.location.common_dir);
    Ok(inside.then_some(project))
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
