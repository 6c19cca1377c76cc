//! Where a path that a tool names lies in a working tree: text only, no file system.

use super::RepoPath;

/// Whose rules a path is written by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    Unix,
    Windows,
}

/// Where a path lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mapped {
    Inside(RepoPath),
    /// The top of the working tree itself.
    Top,
    Outside,
}

/// Returns where `path` lies in the tree at `root`, which is absolute; a relative path starts there.
///
/// On Windows either slash separates, the drive and every name are compared without case, `\\?\` and
/// `/c/` are understood, and an alternate stream is its file.
pub fn map_path(root: &[u8], path: &[u8], system: System) -> Mapped {
    match system {
        System::Unix => {
            let root = names(root, system);
            let path = match path.first() {
                Some(b'/') => names(path, system),
                _ => joined(&root, &names_raw(path, system)),
            };
            below(&root, &path, |one, other| one == other)
        }
        System::Windows => on_windows(root, path),
    }
}

/// Where a Windows path begins.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Anchor {
    Drive(u8),
    Share(Vec<u8>, Vec<u8>),
    /// `\x`: the drive of the root.
    Rooted,
    Relative,
    /// `C:x`: relative to a directory only Windows knows; a device.
    Elsewhere,
}

fn on_windows(root: &[u8], path: &[u8]) -> Mapped {
    let (root_anchor, root_rest) = anchor(root);
    let (path_anchor, path_rest) = anchor(path);
    let root = names(&root_rest, System::Windows);
    let path = match &path_anchor {
        Anchor::Elsewhere => return Mapped::Outside,
        Anchor::Relative => joined(&root, &names_raw(&path_rest, System::Windows)),
        Anchor::Rooted => names(&path_rest, System::Windows),
        Anchor::Drive(_) | Anchor::Share(..) if same_anchor(&root_anchor, &path_anchor) => {
            names(&path_rest, System::Windows)
        }
        Anchor::Drive(_) | Anchor::Share(..) => return Mapped::Outside,
    };
    below(&root, &path, same_name)
}

fn anchor(path: &[u8]) -> (Anchor, Vec<u8>) {
    let slashed: Vec<u8> = path
        .iter()
        .map(|byte| if *byte == b'\\' { b'/' } else { *byte })
        .collect();
    let (path, verbatim) = match slashed.as_slice() {
        [b'/', b'/', b'?' | b'.', b'/', rest @ ..] => (rest, true),
        whole => (whole, false),
    };
    match path {
        [drive, b':', rest @ ..] if drive.is_ascii_alphabetic() => match rest {
            [b'/', ..] => (Anchor::Drive(drive.to_ascii_lowercase()), rest.to_vec()),
            _ => (Anchor::Elsewhere, Vec::new()),
        },
        [a, b, c, b'/', rest @ ..] if verbatim && [*a, *b, *c].eq_ignore_ascii_case(b"unc") => {
            share(rest)
        }
        _ if verbatim => (Anchor::Elsewhere, Vec::new()),
        [b'/', b'/', rest @ ..] => share(rest),
        [b'/', drive, b'/', rest @ ..] if drive.is_ascii_alphabetic() => {
            (Anchor::Drive(drive.to_ascii_lowercase()), rest.to_vec())
        }
        [b'/', rest @ ..] => (Anchor::Rooted, rest.to_vec()),
        relative => (Anchor::Relative, relative.to_vec()),
    }
}

fn share(rest: &[u8]) -> (Anchor, Vec<u8>) {
    let mut parts = rest.splitn(3, |byte| *byte == b'/');
    let server = parts.next().unwrap_or_default().to_vec();
    let share = parts.next().unwrap_or_default().to_vec();
    let rest = parts.next().unwrap_or_default().to_vec();
    match server.is_empty() || share.is_empty() {
        true => (Anchor::Elsewhere, Vec::new()),
        false => (Anchor::Share(server, share), rest),
    }
}

fn same_anchor(one: &Anchor, other: &Anchor) -> bool {
    match (one, other) {
        (Anchor::Share(server, share), Anchor::Share(other_server, other_share)) => {
            same_name(server, other_server) && same_name(share, other_share)
        }
        (one, other) => one == other,
    }
}

fn same_name(one: &[u8], other: &[u8]) -> bool {
    match (std::str::from_utf8(one), std::str::from_utf8(other)) {
        (Ok(one), Ok(other)) => one.to_lowercase() == other.to_lowercase(),
        _ => one.eq_ignore_ascii_case(other),
    }
}

/// The names of a path, `.` and empty ones left out, `..` kept.
fn names_raw(path: &[u8], system: System) -> Vec<Vec<u8>> {
    let plain = |name: &[u8]| match system {
        System::Unix => name.to_vec(),
        System::Windows => windows_name(name),
    };
    let names = path.split(|byte| *byte == b'/').map(plain);
    names
        .filter(|name| !name.is_empty() && name != b".")
        .collect()
}

/// Windows does not see what follows a colon, nor dots and spaces at the end.
fn windows_name(name: &[u8]) -> Vec<u8> {
    let end = name.iter().position(|byte| *byte == b':');
    let name = &name[..end.unwrap_or(name.len())];
    if name == b"." || name == b".." {
        return name.to_vec();
    }
    let end = name.iter().rposition(|byte| !matches!(byte, b'.' | b' '));
    name[..end.map_or(0, |last| last + 1)].to_vec()
}

/// The names of an absolute path with `..` resolved; nothing lies above the root.
fn names(path: &[u8], system: System) -> Vec<Vec<u8>> {
    joined(&[], &names_raw(path, system))
}

fn joined(start: &[Vec<u8>], names: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut path = start.to_vec();
    for name in names {
        match name.as_slice() {
            b".." => _ = path.pop(),
            name => path.push(name.to_vec()),
        }
    }
    path
}

fn below(root: &[Vec<u8>], path: &[Vec<u8>], same: impl Fn(&[u8], &[u8]) -> bool) -> Mapped {
    let inside =
        path.len() >= root.len() && root.iter().zip(path).all(|(one, other)| same(one, other));
    match inside {
        false => Mapped::Outside,
        true if path.len() == root.len() => Mapped::Top,
        true => Mapped::Inside(RepoPath::new(path[root.len()..].join(&b'/'))),
    }
}

#[cfg(test)]
mod tests {
    use super::{Mapped, System, map_path};
    use crate::model::RepoPath;

    #[track_caller]
    fn check(system: System, root: &str, path: &str, wanted: Option<&str>) {
        let wanted = wanted.map_or(Mapped::Outside, |path| Mapped::Inside(RepoPath::from(path)));
        let mapped = map_path(root.as_bytes(), path.as_bytes(), system);
        assert_eq!(mapped, wanted, "{root} {path}");
    }

    #[test]
    fn windows_paths_are_mapped_as_windows_reads_them() {
        for (root, path, wanted) in [
            (r"C:\proj", r"C:\proj\src\a.rs", Some("src/a.rs")),
            (r"C:\proj", "c:/PROJ/src/a.rs", Some("src/a.rs")),
            ("/c/proj", r"C:\proj\a", Some("a")),
            (r"C:\proj", r"\\?\C:\proj\a", Some("a")),
            (r"\\?\C:\proj", r"c:\proj\a", Some("a")),
            (r"C:\proj", r"C:\proj2\a", None),
            (r"C:\proj", r"src\a.rs", Some("src/a.rs")),
            (r"C:\proj", r"D:\proj\a", None),
            (r"C:\proj", r"C:a", None),
            (r"C:\proj", r"\proj\a", Some("a")),
            (r"C:\proj", r"\other\a", None),
            (r"C:\proj", r"..\proj2\a", None),
            (r"C:\proj", r"sub\..\a", Some("a")),
            (r"C:\proj", r"C:\proj\..\..\..\proj\a", Some("a")),
            (r"C:\proj", r"C:\Proj.\a. ", Some("a")),
            (r"C:\proj", r"C:\proj\a.txt:hidden", Some("a.txt")),
            (r"\\srv\share\proj", r"\\SRV\Share\proj\a", Some("a")),
            (r"\\srv\share\proj", r"\\?\UNC\srv\share\proj\a", Some("a")),
            (r"\\srv\share\proj", r"\\srv\other\proj\a", None),
            (r"C:\proj", r"\\.\NUL", None),
            (r"C:\É", r"c:\é\a", Some("a")),
        ] {
            check(System::Windows, root, path, wanted);
        }
    }

    #[test]
    fn unix_paths_are_mapped_as_bytes() {
        for (root, path, wanted) in [
            ("/proj", "/proj/../etc/x", None),
            ("/proj", r"/proj/a\b", Some(r"a\b")),
            ("/proj", "/proj/a/./b//c", Some("a/b/c")),
            ("/proj", "/PROJ/a", None),
            ("/proj", "/proj2/a", None),
            ("/proj", "a/../../proj/b", Some("b")),
            ("/proj", "../x", None),
            ("/proj", r"C:\proj\a", Some(r"C:\proj\a")),
            ("/", "/etc/x", Some("etc/x")),
        ] {
            check(System::Unix, root, path, wanted);
        }
        assert_eq!(map_path(b"/p", b"/p/", System::Unix), Mapped::Top);
        assert_eq!(map_path(b"/p", b"", System::Unix), Mapped::Top);
        assert_eq!(map_path(b"C:/p", b"c:\\p", System::Windows), Mapped::Top);
    }
}
