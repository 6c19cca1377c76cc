use std::path::{Path, PathBuf};

use thiserror::Error;

use super::{Layer, LineError, Source, Tiers, parse};
use crate::{
    git::files::{FileError, Tree},
    model::{Explain, Fault},
};

const FILE: &str = ".operator/tiers.env";
const LIMIT: u64 = 1 << 20;

/// Where the layers of a resolution lie.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The user's file.
    pub user: Option<PathBuf>,
    /// The directory of the project, whose `.operator/tiers.env` is read.
    pub top: Option<PathBuf>,
    /// A file that is read instead of the project's.
    pub project: Option<PathBuf>,
}

/// Why tiers cannot be resolved.
#[derive(Debug, Error)]
pub enum Error {
    #[error("cannot use '{}': {}", .path.display(), lines(.refused))]
    Refused {
        path: PathBuf,
        refused: Vec<(usize, LineError)>,
    },
    #[error("cannot use '--set {}': {reason}", .text.escape_debug())]
    Set { text: String, reason: LineError },
    #[error("cannot read the tiers of the project: {0}")]
    File(#[from] FileError),
    #[error("cannot read '{}': {source}", .path.display())]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },
}

impl Explain for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::Refused { .. } | Self::Set { .. } => Fault::Refused,
            Self::File(_) | Self::Io { .. } => Fault::Fatal,
        }
    }
}

fn lines(refused: &[(usize, LineError)]) -> String {
    let shown: Vec<String> = refused
        .iter()
        .map(|(line, reason)| match line {
            0 => reason.to_string(),
            line => format!("line {line}: {reason}"),
        })
        .collect();
    match shown.as_slice() {
        [one] => one.clone(),
        many => format!("{} lines are refused\n  {}", many.len(), many.join("\n  ")),
    }
}

/// Returns the built-in bindings with the user's file, the project's file and `set` over them. One
/// refused line anywhere refuses the whole.
pub fn load(places: &Places, set: &[String]) -> Result<Tiers, Error> {
    let mut layers = Vec::new();
    if let Some(path) = &places.user
        && let Some(bytes) = read(path)?
    {
        layers.push((Source::User, layer(path, &bytes)?));
    }
    if let Some((path, bytes)) = project(places)? {
        layers.push((Source::Project, layer(&path, &bytes)?));
    }
    for text in set {
        let layer = super::setting(text).map_err(|reason| Error::Set {
            text: text.clone(),
            reason,
        })?;
        layers.push((Source::Set, layer));
    }
    Ok(Tiers::resolve(&layers))
}

fn project(places: &Places) -> Result<Option<(PathBuf, Vec<u8>)>, Error> {
    if let Some(path) = &places.project {
        return Ok(read(path)?.map(|bytes| (path.clone(), bytes)));
    }
    let Some(top) = &places.top else {
        return Ok(None);
    };
    let bytes = Tree::open(top)?.read(FILE, LIMIT)?;
    Ok(bytes.map(|bytes| (top.join(FILE), bytes)))
}

fn layer(path: &Path, bytes: &[u8]) -> Result<Layer, Error> {
    parse(bytes).map_err(|refused| Error::Refused {
        path: path.to_owned(),
        refused,
    })
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    use std::io::Read as _;
    let failed = |source| Error::Io {
        path: path.to_owned(),
        source,
    };
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let mut bytes = Vec::new();
    file.take(LIMIT).read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some(bytes))
}
