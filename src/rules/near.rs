//! Paths that tools name, as policies know them.

use std::path::{Component, Path, PathBuf};

/// How many links one name may lead over.
const LINKS: usize = 40;

/// A file that a tool names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// Where it lies, relative to the top; whole where it lies elsewhere.
    pub path: String,
    /// What it is called, where links lead from there to the path.
    pub named: Option<String>,
}

impl Spot {
    /// Returns every name of it.
    pub(super) fn names(self) -> impl Iterator<Item = String> {
        std::iter::once(self.path).chain(self.named)
    }
}

/// Returns where a path that a tool names in `cwd` lies: links on the way are followed, the last one
/// too, for the tool follows them.
pub fn below(top: Option<&Path>, cwd: &Path, named: &str) -> Spot {
    let named = named.replace('\\', "/");
    let Some(top) = top else {
        return Spot::plain(&named);
    };
    let whole = cwd.join(&named);
    let written = plain(&whole);
    let inside = written.strip_prefix(top).ok();
    if let Some(inside) = inside
        && !climbs(&whole)
        && !has_link(top, inside)
    {
        return Spot::plain(&inside.to_string_lossy());
    }
    let led = real(&whole);
    let tops = [top.to_owned(), real(top)];
    let found = tops.iter().find_map(|top| led.strip_prefix(top).ok());
    let name = inside.map(|inside| inside.to_string_lossy().into_owned());
    let path = match (found, &name) {
        (Some(found), _) => found,
        (None, Some(_)) => &led,
        (None, None) => &written,
    };
    let path = path.to_string_lossy().into_owned();
    Spot {
        named: name.filter(|name| *name != path),
        path,
    }
}

impl Spot {
    fn plain(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            named: None,
        }
    }
}

/// Returns a path with `.` and `..` taken away by name.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            other => out.push(other),
        }
    }
    out
}

fn climbs(path: &Path) -> bool {
    path.components().any(|part| part == Component::ParentDir)
}

/// Says whether a link lies on the way from the top, or at its end.
fn has_link(top: &Path, inside: &Path) -> bool {
    let mut at = top.to_owned();
    for part in inside {
        at.push(part);
        match at.symlink_metadata() {
            Ok(found) if found.is_symlink() => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
    false
}

/// Returns where a path leads, its last parts kept where they are not there. A link leads to what is
/// not there, too: a write makes it.
fn real(path: &Path) -> PathBuf {
    let mut rest = Vec::new();
    let mut at = path.to_owned();
    let mut links = 0;
    loop {
        if let Ok(found) = at.canonicalize() {
            return plain(&rest.iter().rev().fold(found, |path, name| path.join(name)));
        }
        if links < LINKS
            && let Ok(target) = at.read_link()
        {
            links += 1;
            at = at.parent().unwrap_or(Path::new("")).join(target);
            continue;
        }
        let (Some(parent), Some(last)) = (at.parent(), at.components().next_back()) else {
            return plain(path);
        };
        rest.push(last.as_os_str().to_owned());
        at = parent.to_owned();
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Spot, below};

    #[test]
    fn a_path_is_named_from_the_top() {
        let dir = assert_fs::TempDir::new().unwrap();
        let top = dir.path();
        let sub = top.join("sub");
        std::fs::create_dir(&sub).unwrap();
        let absolute = top.join("a/b").display().to_string();
        for (cwd, named, expected) in [
            (top, "a", "a"),
            (sub.as_path(), "a", "sub/a"),
            (sub.as_path(), "../a", "a"),
            (sub.as_path(), absolute.as_str(), "a/b"),
            (top, "/etc/hosts", "/etc/hosts"),
            (top, "sub\\a", "sub/a"),
        ] {
            assert_eq!(
                below(Some(top), cwd, named),
                Spot::plain(expected),
                "{named}"
            );
        }
        assert_eq!(below(None, Path::new("/x"), "a"), Spot::plain("a"));
        #[cfg(unix)]
        {
            let link = |target: &Path, name: PathBuf| std::os::unix::fs::symlink(target, name);
            link(&sub, top.join("link")).unwrap();
            link(Path::new("sub/new"), top.join("to")).unwrap();
            link(Path::new("round"), top.join("round")).unwrap();
            for (named, path) in [
                ("link/a", "sub/a"),
                ("to", "sub/new"),
                ("link/../a", "a"),
                ("round", "round"),
            ] {
                let spot = below(Some(top), top, named);
                assert_eq!(spot.path, path, "{named}");
            }
            let called = below(Some(top), &top.join("link"), "a").named;
            assert_eq!(called.as_deref(), Some("link/a"));
            let outside = assert_fs::TempDir::new().unwrap();
            link(top, outside.path().join("in")).unwrap();
            let through = outside.path().join("in/a").display().to_string();
            assert_eq!(below(Some(top), top, &through), Spot::plain("a"));
        }
    }
}
