//! Paths that tools name, as policies know them.

use std::path::{Component, Path, PathBuf};

use super::Bytes;
use crate::git::files::{Lies, Tree};

/// How much of a file is read to know what a write does to it.
const READ_LIMIT: u64 = 16 << 20;

/// Returns a path that a tool names in `cwd` as it lies below the top; as it is where it lies
/// elsewhere. `.` and `..` are taken away by name, links on the way to it are followed.
pub fn below(top: Option<&Path>, cwd: &Path, named: &str) -> String {
    let named = named.replace('\\', "/");
    let Some(top) = top else { return named };
    let path = plain(&cwd.join(&named));
    if let Ok(inside) = path.strip_prefix(top) {
        return inside.to_string_lossy().into_owned();
    }
    let tops = [top.to_owned(), real(top)];
    for path in [path.clone(), real(&path)] {
        for top in &tops {
            if let Ok(inside) = path.strip_prefix(top) {
                return inside.to_string_lossy().into_owned();
            }
        }
    }
    path.to_string_lossy().into_owned()
}

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

/// Returns where a path leads, its last parts kept where they are not there.
fn real(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let Ok(found) = ancestor.canonicalize() {
            let rest = path.strip_prefix(ancestor).unwrap_or(Path::new(""));
            return if rest.as_os_str().is_empty() {
                found
            } else {
                found.join(rest)
            };
        }
    }
    path.to_owned()
}

/// Returns the bytes of a file below the top; links are not followed.
pub fn bytes(top: &Path, path: &str) -> Bytes {
    let Ok(tree) = Tree::open(top) else {
        return Bytes::Unknown;
    };
    match tree.lies(path) {
        Ok(Lies::Nothing) => Bytes::Absent,
        Ok(Lies::File) => match tree.read(path, READ_LIMIT) {
            Ok(Some(bytes)) => Bytes::Known(bytes),
            Ok(None) | Err(_) => Bytes::Unknown,
        },
        Ok(_) | Err(_) => Bytes::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Bytes, below, bytes};

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
            assert_eq!(below(Some(top), cwd, named), expected, "{named}");
        }
        assert_eq!(below(None, Path::new("/x"), "a"), "a");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&sub, top.join("link")).unwrap();
            let outside = assert_fs::TempDir::new().unwrap();
            std::os::unix::fs::symlink(top, outside.path().join("in")).unwrap();
            let through = outside.path().join("in/a").display().to_string();
            assert_eq!(below(Some(top), top, &through), "a");
        }
    }

    #[test]
    fn a_file_is_known_absent_or_not_known() {
        let dir = assert_fs::TempDir::new().unwrap();
        std::fs::write(dir.path().join("a"), "x").unwrap();
        assert_eq!(bytes(dir.path(), "a"), Bytes::Known(b"x".to_vec()));
        assert_eq!(bytes(dir.path(), "b"), Bytes::Absent);
        assert_eq!(bytes(dir.path(), "."), Bytes::Unknown);
    }
}
