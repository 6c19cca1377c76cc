//! Refs: reading, listing, compare-and-swap, over two back ends.

mod commands;
mod files;

use std::time::Duration;

use super::{Error, RefStorage, Repo};
use crate::model::Oid;

/// One change of a ref, made only if the ref still is as expected.
#[derive(Clone, Copy, Debug)]
pub struct Swap<'a> {
    pub name: &'a str,
    pub old: Expected,
    pub new: Oid,
    /// Ids of ours: a lock on the ref whose content is one of them was left by a dead process of
    /// ours and is removed at once.
    pub own: &'a [Oid],
    /// How long another process's lock is waited for.
    pub wait: Duration,
}

/// What a ref must be for a change to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    Absent,
    Is(Oid),
}

/// What became of a swap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swapped {
    Done,
    /// The ref was not as expected; nothing was changed.
    Mismatch {
        found: Option<Oid>,
    },
}

impl Expected {
    /// Returns what expects the ref to be as it was read.
    pub fn from_read(value: Option<Oid>) -> Self {
        value.map_or(Self::Absent, Self::Is)
    }

    fn holds(self, found: Option<Oid>) -> bool {
        Self::from_read(found) == self
    }
}

impl Repo {
    /// Returns the object a ref names, through symbolic refs; `None` when it does not exist.
    ///
    /// A loose file that is empty or garbage is [`Error::UnreadableRef`].
    pub fn read_ref(&self, name: &str) -> Result<Option<Oid>, Error> {
        check_name(name)?;
        match self.ref_storage() {
            RefStorage::Files => files::read(self, name),
            RefStorage::Commands => commands::read(self, name),
        }
    }

    /// Moves a ref to `new` if it is as expected; `new` must already be an object.
    pub fn swap_ref(&self, swap: Swap<'_>) -> Result<Swapped, Error> {
        check_name(swap.name)?;
        self.env()
            .trace(|| format!("ref: {} -> {}", swap.name, swap.new));
        match self.ref_storage() {
            RefStorage::Files => files::swap(self, swap),
            RefStorage::Commands => commands::swap(self, swap),
        }
    }

    /// Deletes a ref if it is `old`.
    pub fn delete_ref(&self, name: &str, old: Oid) -> Result<Swapped, Error> {
        check_name(name)?;
        self.env().trace(|| format!("ref: {name} deleted"));
        match self.is_store() {
            true => files::delete(self, name, old),
            // Only git rewrites packed-refs, where a deleted ref may live on.
            false => commands::delete(self, name, old),
        }
    }

    /// Returns what packed-refs says of a ref, which its loose file hides.
    pub fn read_packed_ref(&self, name: &str) -> Result<Option<Oid>, Error> {
        check_name(name)?;
        match self.ref_storage() {
            RefStorage::Files => files::read_packed(self, name),
            RefStorage::Commands => Ok(None),
        }
    }

    /// Removes the loose file of a ref that is unreadable, so that its packed value, if there is one,
    /// shows again.
    pub fn drop_unreadable_ref(&self, swap: Swap<'_>) -> Result<(), Error> {
        check_name(swap.name)?;
        match self.ref_storage() {
            RefStorage::Files => files::drop_unreadable(self, swap),
            RefStorage::Commands => Ok(()),
        }
    }

    /// Returns the refs whose names begin with `prefix`, sorted by name; unreadable ones are left
    /// out.
    pub fn list_refs(&self, prefix: &str) -> Result<Vec<(String, Oid)>, Error> {
        match self.ref_storage() {
            RefStorage::Files => files::list(self, prefix),
            RefStorage::Commands => commands::list(self, prefix),
        }
    }
}

/// What a loose ref's file says.
pub(crate) enum Value {
    Id(Oid),
    Symbolic(String),
}

/// Reads the bytes of a loose ref.
pub(crate) fn parse(name: &str, bytes: &[u8]) -> Result<Value, Error> {
    if let Some(target) = bytes.strip_prefix(b"ref:") {
        let target = String::from_utf8_lossy(target).trim().to_owned();
        check_name(&target).map_err(|_| unreadable(name, "it points at no ref"))?;
        return Ok(Value::Symbolic(target));
    }
    oid_of(name, bytes).map(Value::Id)
}

/// Reads an id, alone on its line.
pub(crate) fn oid_of(name: &str, bytes: &[u8]) -> Result<Oid, Error> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(unreadable(name, "it is empty"));
    }
    let text = bytes.trim_ascii_end();
    std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| unreadable(name, "it holds no object id"))
}

fn unreadable(name: &str, reason: &str) -> Error {
    Error::UnreadableRef {
        name: name.to_owned(),
        reason: reason.to_owned(),
    }
}

/// Refuses names that are no full refnames: they become paths.
fn check_name(name: &str) -> Result<(), Error> {
    let part_ok =
        |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    let char_ok =
        |c: char| !c.is_control() && !matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\');
    let ok = name.starts_with("refs/")
        && name.split('/').all(part_ok)
        && name.chars().all(char_ok)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with('.');
    match ok {
        true => Ok(()),
        false => Err(unreadable(name, "it is no full name of a ref")),
    }
}

#[cfg(test)]
mod tests {
    use super::{check_name, oid_of};

    #[test]
    fn a_name_that_could_leave_refs_is_refused() {
        for name in [
            "HEAD",
            "refs/",
            "refs/../HEAD",
            "refs/a/.b",
            "refs/a.lock",
            "refs/a b",
            "refs/a\n",
            "/refs/a",
            "refs//a",
        ] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
        for name in ["refs/operator/ledger", "refs/heads/é/x-1"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn an_empty_ref_and_one_of_zero_bytes_are_told_from_an_id() {
        let id = "3f786850e387550fdab836ed7e6dc881de23001b";
        assert_eq!(
            oid_of("r", format!("{id}\n").as_bytes()).unwrap().to_hex(),
            id
        );
        let text = oid_of("r", b"").unwrap_err().to_string();
        assert_eq!(text, "cannot read ref 'r': it is empty");
        let text = oid_of("r", &[0; 41]).unwrap_err().to_string();
        assert_eq!(text, "cannot read ref 'r': it holds no object id");
    }
}
