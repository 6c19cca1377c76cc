use std::{
    fs, io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
};

use super::{Error, Repo};

/// What `core.sharedRepository` adds to (or, given in octal, sets as) the modes of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shared {
    No,
    Adds(u32),
    Is(u32),
}

impl Shared {
    /// Reads the setting; a value git does not know shares nothing.
    pub(crate) fn parse(value: Option<&str>) -> Self {
        let Some(value) = value else {
            return Self::No;
        };
        match value.to_ascii_lowercase().as_str() {
            "umask" | "false" | "no" | "off" | "0" => Self::No,
            "group" | "true" | "yes" | "on" | "1" | "" => Self::Adds(0o660),
            "all" | "world" | "everybody" | "2" => Self::Adds(0o664),
            octal => match u32::from_str_radix(octal, 8) {
                Ok(mode) if mode & 0o600 == 0o600 => Self::Is(mode & 0o666),
                Ok(_) | Err(_) => Self::No,
            },
        }
    }

    fn of(self, mode: u32, is_dir: bool) -> u32 {
        let (Self::Adds(bits) | Self::Is(bits)) = self else {
            return mode;
        };
        let mut bits = bits;
        if mode & 0o200 == 0 {
            bits &= !0o222;
        }
        if mode & 0o100 != 0 {
            bits |= (bits & 0o444) >> 2;
        }
        let mode = match self {
            Self::Is(_) => (mode & !0o777) | bits,
            Self::Adds(_) | Self::No => mode | bits,
        };
        match is_dir {
            true => mode | 0o2000,
            false => mode,
        }
    }
}

impl Repo {
    /// Gives a file or directory just made the mode that `core.sharedRepository` asks for.
    pub fn share(&self, path: &Path) -> Result<(), Error> {
        self.share_io(path).map_err(Error::write(path))
    }

    pub(crate) fn share_io(&self, path: &Path) -> io::Result<()> {
        if self.shared == Shared::No {
            return Ok(());
        }
        let meta = fs::metadata(path)?;
        let mode = meta.mode() & 0o7777;
        let wanted = self.shared.of(mode, meta.is_dir());
        if mode == wanted {
            return Ok(());
        }
        fs::set_permissions(path, fs::Permissions::from_mode(wanted))
    }

    /// Makes a directory and those above it, each with the mode of [`Self::share`].
    pub fn make_dir(&self, path: &Path) -> Result<(), Error> {
        self.make_dir_io(path).map_err(Error::write(path))
    }

    pub(crate) fn make_dir_io(&self, path: &Path) -> io::Result<()> {
        match fs::create_dir(path) {
            Ok(()) => self.share_io(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match path.is_dir() {
                true => Ok(()),
                false => Err(io::ErrorKind::NotADirectory.into()),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let above = path.parent().ok_or(error)?;
                self.make_dir_io(above)?;
                self.make_dir_io(path)
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Shared;

    #[test]
    fn modes_are_gits() {
        let of = |value, mode| Shared::parse(Some(value)).of(mode, false);
        assert_eq!(of("group", 0o644), 0o664);
        assert_eq!(of("group", 0o444), 0o444);
        assert_eq!(of("group", 0o400), 0o440);
        assert_eq!(of("all", 0o600), 0o664);
        assert_eq!(of("0640", 0o666), 0o640);
        assert_eq!(of("umask", 0o600), 0o600);
        assert_eq!(of("nonsense", 0o600), 0o600);
        assert_eq!(Shared::parse(Some("true")).of(0o755, true), 0o2775);
    }
}
