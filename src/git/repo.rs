use std::{
    cell::{OnceCell, RefCell},
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    rc::Rc,
};

use gix::odb::store::init::Slots;

use super::{
    Config, Env, Error, Identity, Location, Object, ObjectKind, Role, bases::Bases, child, config,
    shared::Shared,
};
use crate::model::Oid;

/// Which hash a repository names its objects by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashKind {
    Sha1,
    Sha256,
}

/// How a repository keeps its refs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefStorage {
    /// As loose files and packed-refs, which we read and write ourselves.
    Files,
    /// In another way, or in a repository of extensions we do not know: through git's own commands.
    Commands,
}

/// Whether git may be started for a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Children {
    Allowed,
    Never,
}

/// What a repository's own configuration says of how it is kept.
pub(crate) struct Format {
    pub(crate) hash: HashKind,
    pub(crate) refs: RefStorage,
    /// Whether every extension is one we know.
    pub(crate) known: bool,
    pub(crate) shared: Shared,
}

/// An open repository.
pub struct Repo {
    pub(crate) location: Location,
    pub(crate) env: Env,
    pub(crate) children: Children,
    hash: HashKind,
    refs: RefStorage,
    /// Where objects are read; the repository's own but for a quarantine's reader.
    pub(super) objects: PathBuf,
    pub(crate) shared: Shared,
    /// Opened by the first read: a hook may need none.
    odb: RefCell<Option<Rc<gix::odb::Handle>>>,
    /// Objects that are not written yet, or not again.
    pub(crate) overlay: RefCell<HashMap<Oid, Object>>,
    /// Parents and times of commits that were walked over.
    pub(crate) known: RefCell<HashMap<Oid, (Vec<Oid>, i64)>>,
    config: OnceCell<Config>,
    git: OnceCell<Option<PathBuf>>,
}

impl HashKind {
    pub(crate) fn of_gix(self) -> gix::hash::Kind {
        match self {
            Self::Sha1 => gix::hash::Kind::Sha1,
            Self::Sha256 => gix::hash::Kind::Sha256,
        }
    }

    /// Returns the number of hex digits of an id.
    pub fn hex_len(self) -> usize {
        match self {
            Self::Sha1 => 40,
            Self::Sha256 => 64,
        }
    }
}

impl Repo {
    /// Opens the repository at `location`; inside a receive that may still be refused
    /// (GIT_QUARANTINE_PATH) it stays shut.
    pub fn open(location: &Location, env: &Env) -> Result<Self, Error> {
        if env.path("GIT_QUARANTINE_PATH").is_some() {
            return Err(Error::Quarantine {
                path: location.git_dir.clone(),
            });
        }
        let format = format(&location.common_dir.join("config"))?;
        let known = format.known;
        let repo = Self::with(location.clone(), env.clone(), Children::Allowed, format)?;
        if !known {
            repo.ask_git()?;
        }
        Ok(repo)
    }

    /// Has git say whether it can read a repository with extensions that we do not know, before
    /// anything is made in it.
    fn ask_git(&self) -> Result<(), Error> {
        let asked = self.git(["rev-parse", "--git-dir"]).read_only().output();
        match asked {
            Ok(_) => Ok(()),
            Err(Error::Git { reason, .. }) => Err(Error::Invalid {
                path: self.git_dir().to_owned(),
                reason,
            }),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn with(
        location: Location,
        env: Env,
        children: Children,
        format: Format,
    ) -> Result<Self, Error> {
        Ok(Self {
            objects: location.common_dir.join("objects"),
            location,
            env,
            children,
            hash: format.hash,
            refs: format.refs,
            shared: format.shared,
            odb: RefCell::default(),
            overlay: RefCell::default(),
            known: RefCell::default(),
            config: OnceCell::new(),
            git: OnceCell::new(),
        })
    }

    /// Returns where git lies, as its children's PATH says.
    pub(super) fn git_path(&self) -> Option<&Path> {
        let found = self.git.get_or_init(|| {
            let path = self.env.path("PATH")?;
            child::find_program("git", path.as_os_str())
        });
        found.as_deref()
    }

    /// Returns where the repository lies.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Returns the directory of HEAD and the index.
    pub fn git_dir(&self) -> &Path {
        &self.location.git_dir
    }

    /// Returns the directory of refs and objects.
    pub fn common_dir(&self) -> &Path {
        &self.location.common_dir
    }

    /// Returns the top of the working tree.
    pub fn top(&self) -> Option<&Path> {
        self.location.top.as_deref()
    }

    /// Returns the worktree's name as records write it.
    pub fn worktree_name(&self) -> String {
        self.location.worktree_name()
    }

    pub fn hash_kind(&self) -> HashKind {
        self.hash
    }

    pub fn ref_storage(&self) -> RefStorage {
        self.refs
    }

    /// Says whether there is no working tree.
    pub fn is_bare(&self) -> bool {
        self.location.top.is_none()
    }

    /// Says whether history is cut off somewhere.
    pub fn is_shallow(&self) -> bool {
        fs::metadata(self.common_dir().join("shallow")).is_ok_and(|meta| meta.len() > 0)
    }

    /// Returns our own directory, `<git-common-dir>/operator`, which need not be there.
    pub fn operator_dir(&self) -> PathBuf {
        self.common_dir().join("operator")
    }

    /// Returns the environment the repository was opened with.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// Returns the configuration, read once; that of a store is empty.
    pub fn config(&self) -> Result<&Config, Error> {
        if let Some(config) = self.config.get() {
            return Ok(config);
        }
        let config = match self.children {
            Children::Allowed => Config::load(Some(&self.location), &self.env)?,
            Children::Never => Config::load(None, &self.env)?,
        };
        Ok(self.config.get_or_init(|| config))
    }

    /// Sets `key` in the repository's own configuration.
    pub fn set_config(&self, key: &str, value: &str) -> Result<(), Error> {
        self.git(["config", "--local", key, value]).output()?;
        Ok(())
    }

    /// Adds a value of `key` to the repository's own configuration, unless it has that value.
    pub fn add_config(&self, key: &str, value: &str) -> Result<(), Error> {
        let fixed = [
            "config",
            "--local",
            "--fixed-value",
            "--get-all",
            key,
            value,
        ];
        if self.git(fixed).read_only().run()?.code == 0 {
            return Ok(());
        }
        self.git(["config", "--local", "--add", key, value])
            .output()?;
        Ok(())
    }

    /// Removes one value of `key` from the repository's own configuration.
    pub fn remove_config(&self, key: &str, value: &str) -> Result<(), Error> {
        self.unset(&[
            "config",
            "--local",
            "--fixed-value",
            "--unset-all",
            key,
            value,
        ])
    }

    /// Removes every value of `key` from the repository's own configuration.
    pub fn unset_config(&self, key: &str) -> Result<(), Error> {
        self.unset(&["config", "--local", "--unset-all", key])
    }

    fn unset(&self, args: &[&str]) -> Result<(), Error> {
        let finished = self.git(args).run()?;
        // 5 says that there was none.
        match finished.code {
            0 | 5 => Ok(()),
            _ => Err(finished.error()),
        }
    }

    /// Returns the user's identity, or our own when git was given none.
    pub fn identity(&self, role: Role) -> Result<Identity, Error> {
        Ok(Identity::find(role, self.config()?, &self.env))
    }

    /// Opens the same repository over another directory of objects, which names its own as alternate.
    pub(crate) fn over(&self, objects: &Path) -> Self {
        Self {
            objects: objects.to_owned(),
            shared: self.shared,
            location: self.location.clone(),
            env: self.env.clone(),
            children: self.children,
            hash: self.hash,
            refs: self.refs,
            odb: RefCell::default(),
            overlay: RefCell::default(),
            known: RefCell::default(),
            config: OnceCell::new(),
            git: OnceCell::new(),
        }
    }

    /// Holds these objects for reads that do not find them in the repository; nothing is written.
    pub fn lay_over(&self, objects: impl IntoIterator<Item = (ObjectKind, Vec<u8>)>) {
        let mut overlay = self.overlay.borrow_mut();
        for (kind, bytes) in objects {
            overlay.insert(self.hash(kind, &bytes), Object { kind, bytes });
        }
    }

    /// Forgets what is known of packs, so that objects moved by somebody else are found.
    pub fn reopen(&self) {
        self.odb.take();
    }

    /// Returns the objects, opened.
    pub(super) fn odb(&self) -> Result<Rc<gix::odb::Handle>, Error> {
        let mut odb = self.odb.borrow_mut();
        if let Some(opened) = &*odb {
            return Ok(Rc::clone(opened));
        }
        let opened = Rc::new(open_odb(&self.objects, &self.location, self.hash)?);
        *odb = Some(Rc::clone(&opened));
        Ok(opened)
    }
}

/// How many packs an object database has a place for at least: a repack beside it churns them.
const SLOTS: usize = 512;

pub(super) fn open_odb(
    objects: &Path,
    location: &Location,
    hash: HashKind,
) -> Result<gix::odb::Handle, Error> {
    let at = |slots| {
        let options = gix::odb::store::init::Options {
            slots,
            current_dir: Some(location.git_dir.clone()),
            ..Default::default()
        };
        gix::odb::at_opts(objects.to_owned(), hash.of_gix(), None, options)
    };
    // A place for each pack, and for as many that a repack makes meanwhile.
    let counted = at(Slots::AsNeededByDiskState {
        multiplier: 2.0,
        minimum: SLOTS,
    });
    // Packs of others that cannot be counted are told of when they are read.
    let mut odb = counted
        .or_else(|_| at(Slots::Given(SLOTS as u16)))
        .map_err(Error::read(objects))?;
    // A place that is used again for another pack would give it the other's bases.
    odb.prevent_pack_unload();
    odb.set_pack_cache(|| Box::new(Bases::default()));
    Ok(odb)
}

/// Reads what git calls the repository format.
fn format(path: &Path) -> Result<Format, Error> {
    let file = config::read(path)?;
    let invalid = |reason: String| Error::Invalid {
        path: path.parent().unwrap_or(path).to_owned(),
        reason,
    };
    let version = file.integer("core.repositoryFormatVersion").ok().flatten();
    let version = version.unwrap_or(0);
    if version > 1 {
        return Err(invalid(format!("its format {version} is unknown")));
    }
    let hash = match file.string("extensions.objectFormat") {
        None => HashKind::Sha1,
        Some(name) if name.eq_ignore_ascii_case(b"sha1") => HashKind::Sha1,
        Some(name) if name.eq_ignore_ascii_case(b"sha256") => HashKind::Sha256,
        Some(name) => return Err(invalid(format!("its object format '{name}' is unknown"))),
    };
    let plain = file.string("extensions.refStorage");
    let plain = plain.is_none_or(|name| name.eq_ignore_ascii_case(b"files"));
    let known = version == 0 || knows_extensions(&file);
    let refs = match plain && known {
        true => RefStorage::Files,
        false => RefStorage::Commands,
    };
    let shared = file.string_implicit("core.sharedRepository");
    let shared = shared.map(|value| value.unwrap_or_default().to_string());
    Ok(Format {
        hash,
        refs,
        known,
        shared: Shared::parse(shared.as_deref()),
    })
}

fn knows_extensions(file: &gix::config::File) -> bool {
    const KNOWN: [&str; 7] = [
        "noop",
        "objectformat",
        "partialclone",
        "preciousobjects",
        "refstorage",
        "relativeworktrees",
        "worktreeconfig",
    ];
    let Some(sections) = file.sections_by_name("extensions") else {
        return true;
    };
    sections
        .flat_map(|section| section.value_names().collect::<Vec<_>>())
        .all(|name| KNOWN.contains(&name.to_string().to_ascii_lowercase().as_str()))
}
