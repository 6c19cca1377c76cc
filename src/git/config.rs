use std::{
    borrow::Cow,
    fs,
    io::{ErrorKind, Read as _},
    path::{Path, PathBuf},
};

use gix::{
    bstr::{BString, ByteSlice},
    config::{File, Source, file::Metadata},
};

use super::{Env, Error, Location};

/// Configuration with git's precedence: system, global, repository, worktree, command line.
pub struct Config {
    file: File,
    given: Vec<(String, Option<BString>)>,
}

impl Config {
    /// Reads every file that applies to `location`, or to no repository, and what `env` gives.
    pub fn load(location: Option<&Location>, env: &Env) -> Result<Self, Error> {
        let mut texts = Vec::new();
        for (source, path) in user_files(env) {
            texts.extend(Text::read(source, path)?);
        }
        if let Some(location) = location {
            let local = Text::read(Source::Local, location.common_dir.join("config"))?;
            let is_split = match &local {
                Some(local) => {
                    bool_of(&local.parsed()?, "extensions.worktreeConfig")? == Some(true)
                }
                None => false,
            };
            texts.extend(local);
            if is_split {
                let path = location.git_dir.join("config.worktree");
                texts.extend(Text::read(Source::Worktree, path)?);
            }
        }
        Ok(Self {
            file: merged(texts, location, env)?,
            given: given(env)?,
        })
    }

    /// Reads only what a repository cannot change: system, global and command line.
    pub(crate) fn load_protected(env: &Env) -> Result<Self, Error> {
        Self::load(None, env)
    }

    /// Returns the last value of `key`; one without `=` is the empty string.
    pub fn string(&self, key: &str) -> Option<BString> {
        self.last(key).map(Option::unwrap_or_default)
    }

    /// Returns the last value of `key` as text; `None` when it is not UTF-8.
    pub fn text(&self, key: &str) -> Option<String> {
        self.string(key)
            .and_then(|value| String::from_utf8(value.into()).ok())
    }

    /// Returns the last value of `key` as a boolean of git's.
    pub fn bool(&self, key: &str) -> Result<Option<bool>, Error> {
        let Some(value) = self.last(key) else {
            return Ok(None);
        };
        let Some(value) = value else {
            return Ok(Some(true));
        };
        gix::config::Boolean::try_from(value.as_bstr())
            .map(|boolean| Some(boolean.0))
            .map_err(|_| bad(key, format!("'{value}' is not a boolean")))
    }

    /// Returns the last value of `key` as an integer, with git's suffixes k, m and g.
    pub fn int(&self, key: &str) -> Result<Option<i64>, Error> {
        let Some(value) = self.string(key) else {
            return Ok(None);
        };
        gix::config::Integer::try_from(value.as_bstr())
            .ok()
            .and_then(|integer| integer.to_decimal())
            .map(Some)
            .ok_or_else(|| bad(key, format!("'{value}' is not an integer")))
    }

    /// Returns every value of `key`, lowest precedence first.
    pub fn strings(&self, key: &str) -> Vec<BString> {
        let mut values = self.file.strings(key).unwrap_or_default();
        let own = self.given.iter().filter(|(name, _)| same_key(name, key));
        values.extend(own.map(|(_, value)| value.clone().unwrap_or_default()));
        values
    }

    /// Returns the names of a section's subsections, each once: the remotes of `remote`.
    pub fn subsections(&self, section: &str) -> Vec<String> {
        let found = self.file.sections_by_name(section).into_iter().flatten();
        let mut names: Vec<String> = found
            .filter_map(|section| section.header().subsection_name().map(ToString::to_string))
            .collect();
        names.sort();
        names.dedup();
        names
    }

    fn last(&self, key: &str) -> Option<Option<BString>> {
        let own = self
            .given
            .iter()
            .rev()
            .find(|(name, _)| same_key(name, key));
        own.map(|(_, value)| value.clone())
            .or_else(|| self.file.string_implicit(key))
    }
}

/// Reads one file without following includes, as git reads a repository's format; an absent file
/// is an empty one.
pub(crate) fn read(path: &Path) -> Result<File, Error> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(Error::read(path)(error)),
    };
    let path = path.to_owned();
    let source = Source::Local;
    Text {
        source,
        path,
        bytes,
    }
    .parsed()
}

/// What one file says, read once.
struct Text {
    source: Source,
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Text {
    /// Reads a file; `None` when it is none, and where git goes on without it: a user's file that it
    /// may not read, as in a sandbox.
    fn read(source: Source, path: PathBuf) -> Result<Option<Self>, Error> {
        use ErrorKind::{NotADirectory, NotFound, PermissionDenied};
        let mut file = match fs::File::open(&path) {
            Ok(file) => file,
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return Ok(None),
            Err(error)
                if error.kind() == PermissionDenied
                    && matches!(source, Source::Git | Source::User) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(Error::read(path)(error)),
        };
        let meta = file.metadata().map_err(Error::read(&path))?;
        if !meta.is_file() {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0) + 1);
        file.read_to_end(&mut bytes).map_err(Error::read(&path))?;
        Ok(Some(Self {
            source,
            path,
            bytes,
        }))
    }

    fn meta(&self) -> Metadata {
        Metadata::from(self.source).at(&self.path)
    }

    /// Returns what it says, includes aside.
    fn parsed(&self) -> Result<File, Error> {
        File::from_bytes_no_includes(&self.bytes, self.meta(), Default::default()).map_err(
            |error| Error::Invalid {
                path: self.path.clone(),
                reason: shown(&error),
            },
        )
    }
}

/// Returns a boolean of one file.
pub(crate) fn bool_of(file: &File, key: &str) -> Result<Option<bool>, Error> {
    file.boolean(key).map_err(|error| bad(key, shown(&error)))
}

/// Returns the cause of a gix error on one line. What a configuration file says is left out: it may
/// be a password.
pub(crate) fn shown(error: &gix::Error) -> String {
    if let Some(error) = error.downcast_any_ref::<gix::config::parse::Error>() {
        return format!("line {} is in no form git knows", error.line_number());
    }
    let text = error.probable_cause().to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn bad(key: &str, reason: String) -> Error {
    Error::Config {
        key: key.to_owned(),
        reason,
    }
}

fn user_files(env: &Env) -> Vec<(Source, PathBuf)> {
    let mut files = Vec::new();
    if !env.flag("GIT_CONFIG_NOSYSTEM") {
        let path = env.path("GIT_CONFIG_SYSTEM");
        files.push((
            Source::System,
            path.unwrap_or(Path::new("/etc/gitconfig")).to_owned(),
        ));
    }
    if let Some(path) = env.var("GIT_CONFIG_GLOBAL") {
        files.push((Source::User, path.into()));
        return files;
    }
    let home = env.home();
    let xdg = env.path("XDG_CONFIG_HOME").map(Path::to_owned);
    if let Some(dir) = xdg.or_else(|| home.map(|home| home.join(".config"))) {
        files.push((Source::Git, dir.join("git/config")));
    }
    if let Some(home) = home {
        files.push((Source::User, home.join(".gitconfig")));
    }
    files
}

fn merged(texts: Vec<Text>, location: Option<&Location>, env: &Env) -> Result<File, Error> {
    use gix::config::{
        file::{includes, init},
        path::interpolate,
    };
    let interpolate = interpolate::Context {
        git_install_dir: None,
        home_dir: env.home(),
        home_for_user: Some(interpolate::home_for_user),
    };
    let branch = location.and_then(|location| super::head::branch_name(&location.git_dir));
    let name = branch.as_deref().and_then(|name| name.try_into().ok());
    let conditional = includes::conditional::Context {
        git_dir: location.map(|location| location.git_dir.as_path()),
        branch_name: name,
    };
    let options = init::Options {
        includes: includes::Options::follow(interpolate, conditional),
        lossy: true,
        ignore_io_errors: false,
    };
    let mut whole = File::default();
    for mut text in texts {
        let wrong = |error: gix::Error| bad(&text.path.display().to_string(), shown(&error));
        let meta = text.meta();
        let file = File::from_bytes_owned(&mut text.bytes, meta, options).map_err(wrong)?;
        whole.append(file).map_err(wrong)?;
    }
    Ok(whole)
}

/// Section and name compare without case, the subsection between them with it.
fn same_key(one: &str, other: &str) -> bool {
    fn folded(key: &str) -> Option<(String, Option<&str>, String)> {
        let (section, rest) = key.split_once('.')?;
        let (subsection, name) = match rest.rsplit_once('.') {
            Some((subsection, name)) => (Some(subsection), name),
            None => (None, rest),
        };
        Some((
            section.to_ascii_lowercase(),
            subsection,
            name.to_ascii_lowercase(),
        ))
    }
    folded(one).is_some() && folded(one) == folded(other)
}

/// What GIT_CONFIG_COUNT and, over it, GIT_CONFIG_PARAMETERS (`git -c`) give.
fn given(env: &Env) -> Result<Vec<(String, Option<BString>)>, Error> {
    use std::os::unix::ffi::OsStrExt;
    let mut pairs = Vec::new();
    let count = env.text("GIT_CONFIG_COUNT").unwrap_or("0");
    let count: usize = count
        .parse()
        .map_err(|_| bad("GIT_CONFIG_COUNT", format!("'{count}' is not a count")))?;
    for index in 0..count.min(10_000) {
        let name = format!("GIT_CONFIG_KEY_{index}");
        let key = env
            .text(&name)
            .ok_or_else(|| bad(&name, "it is missing".to_owned()))?;
        let name = format!("GIT_CONFIG_VALUE_{index}");
        let value = env
            .var(&name)
            .ok_or_else(|| bad(&name, "it is missing".to_owned()))?;
        pairs.push((key.to_owned(), Some(BString::from(value.as_bytes()))));
    }
    if let Some(parameters) = env.var("GIT_CONFIG_PARAMETERS") {
        let wrong = || {
            bad(
                "GIT_CONFIG_PARAMETERS",
                "it is not quoted as git does".to_owned(),
            )
        };
        pairs.extend(parameters_of(parameters.as_bytes()).ok_or_else(wrong)?);
    }
    Ok(pairs)
}

/// Reads `'key'='value'`, `'key'=` (no value) and the older `'key=value'`, separated by spaces.
fn parameters_of(text: &[u8]) -> Option<Vec<(String, Option<BString>)>> {
    let mut pairs = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (first, after) = unquoted(rest)?;
        let (key, value, after) = match after.strip_prefix(b"=") {
            Some(after) if after.starts_with(b"'") => {
                let (value, after) = unquoted(after)?;
                (first.into_owned(), Some(value.into_owned()), after)
            }
            Some(after) => (first.into_owned(), None, after),
            None => match first.split_once_str("=") {
                Some((key, value)) => (key.to_vec(), Some(value.to_vec()), after),
                None => (first.into_owned(), None, after),
            },
        };
        pairs.push((String::from_utf8(key).ok()?, value.map(BString::from)));
        rest = after.trim_start();
    }
    Some(pairs)
}

/// Takes one single-quoted word, in which `'\''` and `'\!'` stand for the character.
fn unquoted(text: &[u8]) -> Option<(Cow<'_, [u8]>, &[u8])> {
    let mut rest = text.strip_prefix(b"'")?;
    let mut word = Cow::Borrowed(&rest[..0]);
    loop {
        let end = rest.find_byte(b'\'')?;
        word.to_mut().extend_from_slice(&rest[..end]);
        rest = &rest[end + 1..];
        match rest {
            [b'\\', c @ (b'\'' | b'!'), b'\'', ..] => {
                word.to_mut().push(*c);
                rest = &rest[3..];
            }
            _ => return Some((word, rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{parameters_of, same_key};

    fn shown(text: &str) -> Option<Vec<(String, Option<String>)>> {
        let pairs = parameters_of(text.as_bytes())?;
        Some(
            pairs
                .into_iter()
                .map(|(key, value)| (key, value.map(|value| value.to_string())))
                .collect(),
        )
    }

    fn pair(key: &str, value: Option<&str>) -> (String, Option<String>) {
        (key.to_owned(), value.map(str::to_owned))
    }

    #[test]
    fn parameters_of_every_age_are_read() {
        assert_eq!(
            shown(r"'a.b'='c d' 'x.y'= 'old.style=v=w' 'bare'"),
            Some(vec![
                pair("a.b", Some("c d")),
                pair("x.y", None),
                pair("old.style", Some("v=w")),
                pair("bare", None),
            ])
        );
        assert_eq!(
            shown(r"'a.it'='it'\''s'\!''"),
            Some(vec![pair("a.it", Some("it's!"))])
        );
        assert_eq!(shown("a.b=c"), None);
        assert_eq!(shown("'a.b"), None);
    }

    proptest::proptest! {
        #[test]
        fn any_parameters_are_read_or_refused(text in "['a.=!\\\\ ]{0,20}") {
            let _ = parameters_of(text.as_bytes());
        }
    }

    #[test]
    fn only_a_subsection_keeps_its_case() {
        assert!(same_key("Core.Bare", "core.bare"));
        assert!(same_key("url.A.b.insteadOf", "URL.A.b.insteadof"));
        assert!(!same_key("url.A.insteadOf", "url.a.insteadOf"));
        assert!(!same_key("a.b", "a.b.c"));
    }
}
