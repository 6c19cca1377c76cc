//! The merge driver for views: `merge-driver <O> <A> <B> [<L>] <P>`.
//!
//! Writes A and exits 0, or 1 for a conflict in hand-written text or after a plain union where the
//! merge could not be made. Never anything else: git takes more than 128 for "nothing merged".

use std::{
    ffi::{OsStr, OsString},
    fs,
    io::{self, Write as _},
    path::Path,
};

use crate::{
    ui::{Exit, caught, one_line},
    view::{self, Merged},
};

/// The length of git's conflict markers when the caller names none.
const MARKER: usize = 7;
/// No marker is longer, whatever the caller says.
const LONGEST: usize = 1000;

type Merge = fn(&[u8], &[u8], &[u8], usize) -> Merged;

/// Merges the files that `args` name.
pub fn run(args: &[OsString]) -> Exit {
    drive(args, view::merge)
}

fn drive(args: &[OsString], merge: Merge) -> Exit {
    let (files, marker, name) = match args {
        [base, ours, theirs, name] => ([base, ours, theirs], MARKER, name),
        [base, ours, theirs, marker, name] => ([base, ours, theirs], length(marker), name),
        _ => {
            say("usage: git operator merge-driver <O> <A> <B> [<L>] <P>");
            return Exit::No;
        }
    };
    let mut faults = Vec::new();
    let [base, ours, theirs] = files.map(|path| {
        fs::read(path).unwrap_or_else(|error| {
            faults.push(format!("cannot read '{}': {error}", path.display()));
            Vec::new()
        })
    });
    let merged = caught(|| Ok(merge(&base, &ours, &theirs, marker))).unwrap_or_else(|failure| {
        faults.extend(failure.message);
        Merged {
            bytes: view::join(&ours, &theirs),
            conflicts: 0,
        }
    });
    if let Err(error) = write(Path::new(files[1]), &merged.bytes) {
        faults.push(format!("cannot write '{}': {error}", files[1].display()));
    }
    for fault in &faults {
        say(&format!(
            "error: cannot merge '{}': {fault}",
            name.display()
        ));
    }
    if merged.conflicts > 0 {
        let what = match merged.bytes.contains(&0) {
            true => "it holds a NUL byte and is no text; both versions stand in it",
            false => "both sides changed the same text; edit it",
        };
        say(&format!("error: cannot merge '{}': {what}", name.display()));
    }
    match (faults.len(), merged.conflicts) {
        (0, 0) => Exit::Done,
        _ => Exit::No,
    }
}

fn length(marker: &OsStr) -> usize {
    let length = marker.to_str().and_then(|text| text.parse().ok());
    length
        .filter(|length| (1..=LONGEST).contains(length))
        .unwrap_or(MARKER)
}

/// Replaces the file in one step where its directory lets us, else writes into it.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let temporary = tempfile::NamedTempFile::new_in(dir.unwrap_or(Path::new(".")));
    let Ok(mut temporary) = temporary else {
        return fs::write(path, bytes);
    };
    temporary.write_all(bytes)?;
    if let Ok(meta) = fs::metadata(path) {
        fs::set_permissions(temporary.path(), meta.permissions())?;
    }
    temporary
        .persist(path)
        .map(|_| ())
        .map_err(|error| error.error)
}

fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{}", one_line(text));
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use assert_fs::{TempDir, prelude::*};

    use super::drive;
    use crate::{ui::Exit, view::Merged};

    fn broken(_: &[u8], _: &[u8], _: &[u8], _: usize) -> Merged {
        panic!("a defect")
    }

    #[test]
    fn a_panic_leaves_a_plain_union_and_exits_1() {
        let dir = TempDir::new().unwrap();
        for (name, text) in [("O", ""), ("A", "a\n"), ("B", "a\nb\n")] {
            dir.child(name).write_str(text).unwrap();
        }
        let args: Vec<OsString> = ["O", "A", "B", "P"]
            .map(|name| dir.child(name).path().into())
            .to_vec();
        assert_eq!(drive(&args, broken), Exit::No);
        dir.child("A").assert("a\nb\n");
    }
}
