//! Paths that tools name, as policies know them.

use std::path::{Component, Path, PathBuf};

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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::below;

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
}
