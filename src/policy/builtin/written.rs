//! The files that programs write, by their arguments.

use crate::policy::shell::{
    Argv, Word,
    git::Invocation,
    options::{Arguments, Order, Syntax},
};

/// Subcommands of git that change the repository they run in.
const GIT_WRITES: [&str; 22] = [
    "add",
    "am",
    "apply",
    "checkout",
    "cherry-pick",
    "clean",
    "commit",
    "gc",
    "init",
    "merge",
    "mv",
    "pull",
    "rebase",
    "reset",
    "restore",
    "revert",
    "rm",
    "stash",
    "switch",
    "update-ref",
    "update-index",
    "read-tree",
];

/// Programs that `find -exec` may give files to change.
const CHANGES: [&str; 11] = [
    "rm", "rmdir", "mv", "touch", "truncate", "shred", "unlink", "chmod", "chown", "chgrp", "sed",
];

const COPY: (&str, &str, &[&str]) = ("tS", "", &["target-directory", "suffix"]);

/// Returns the words that name files or directories in which the command writes.
pub(super) fn written(argv: &Argv) -> Vec<Word> {
    let Some(name) = argv.name().map(str::to_ascii_lowercase) else {
        return Vec::new();
    };
    let read = |(letters, glued, longs)| {
        let syntax = Syntax {
            letters,
            glued,
            longs,
        };
        syntax.read(&argv.words[1..], Order::Permute)
    };
    match name.as_str() {
        "rm" | "rmdir" | "unlink" => all(&read(("", "", &[]))),
        "shred" => all(&read(("ns", "", &["iterations", "size"]))),
        "touch" => all(&read(("dtr", "", &["date", "reference", "time"]))),
        "mkdir" => all(&read(("mZ", "", &["mode"]))),
        "truncate" => all(&read(("sr", "", &["size", "reference"]))),
        "chmod" | "chown" | "chgrp" => modes(&read(("", "", &["reference", "from"]))),
        "mv" => targets(&read(COPY), Sources::Gone),
        "cp" | "ln" => targets(&read(COPY), Sources::Kept),
        "install" => {
            let longs = &["target-directory", "suffix", "mode", "owner", "group"];
            let found = read(("tSmog", "", longs));
            if found.has("directory", Some('d')) {
                return all(&found);
            }
            targets(&found, Sources::Kept)
        }
        "rsync" => {
            let found = read(("efBTM", "", &["exclude", "include", "rsh"]));
            targets(&found, Sources::Kept)
        }
        "sed" => {
            let found = read(("efl", "i", &["expression", "file", "line-length"]));
            in_place(&found, &['e', 'f'])
        }
        "perl" => in_place(&read(("eEI", "iFmMxD", &[])), &['e', 'E']),
        "ruby" => in_place(&read(("eEIrC", "ixFTWK", &[])), &['e']),
        "dd" => operand_values(&argv.words[1..], "of="),
        "curl" | "wget" | "unzip" | "patch" => unpacked(&name, &argv.words[1..]),
        "tar" | "bsdtar" | "gtar" => tar(&argv.words[1..]),
        "find" => found(&argv.words[1..]),
        _ => git(argv),
    }
}

/// Returns where a program puts what it fetches or unpacks, where an option says so.
fn unpacked(name: &str, words: &[Word]) -> Vec<Word> {
    let (letters, options): (&'static str, &[(&'static str, char)]) = match name {
        "curl" => (
            "AbcCdDeEFhHKmoPQrtTuUwxXyYz",
            &[
                ("output", 'o'),
                ("output-dir", '\0'),
                ("dump-header", 'D'),
                ("cookie-jar", 'c'),
            ],
        ),
        "wget" => (
            "OoPaiBtTwQUelARDIX",
            &[
                ("output-document", 'O'),
                ("output-file", 'o'),
                ("append-output", 'a'),
                ("directory-prefix", 'P'),
            ],
        ),
        "patch" => ("dpiorBDFVYzg", &[("directory", 'd'), ("output", 'o')]),
        _ => ("dP", &[("", 'd')]),
    };
    let syntax = Syntax {
        letters,
        glued: "",
        longs: &[
            "output",
            "output-dir",
            "dump-header",
            "cookie-jar",
            "output-document",
            "output-file",
            "append-output",
            "directory-prefix",
            "directory",
        ],
    };
    let found = syntax.read(words, Order::Permute);
    let mut named = values(&found, options);
    if name == "patch" {
        named.extend(found.operands.first().map(|word| (*word).clone()));
    }
    named
}

fn all(found: &Arguments<'_>) -> Vec<Word> {
    found.operands.iter().map(|word| (*word).clone()).collect()
}

fn values(found: &Arguments<'_>, options: &[(&str, char)]) -> Vec<Word> {
    options
        .iter()
        .flat_map(|(long, letter)| found.values(long, Some(*letter)))
        .filter(|value| value.text != "-")
        .map(|value| value.word())
        .collect()
}

/// What becomes of the files that a program is given first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sources {
    Kept,
    Gone,
}

/// Returns the last operand or the value of `-t`, and the sources where they are gone after.
fn targets(found: &Arguments<'_>, sources: Sources) -> Vec<Word> {
    let mut words = values(found, &[("target-directory", 't')]);
    match found.operands.as_slice() {
        operands if sources == Sources::Gone => {
            words.extend(operands.iter().map(|word| (*word).clone()));
        }
        [_, .., last] if words.is_empty() => words.push((*last).clone()),
        _ => {}
    }
    words
}

/// Returns the operands of `chmod` and its like without the mode or owner, which may look like options.
fn modes(found: &Arguments<'_>) -> Vec<Word> {
    let is_mode = ['r', 'w', 'x', 'X', 's', 't', 'u', 'g', 'o', 'a']
        .into_iter()
        .any(|letter| found.has("", Some(letter)));
    let skipped = usize::from(!is_mode && !found.has("reference", None));
    all(found).into_iter().skip(skipped).collect()
}

/// Returns the files of an editor that runs a script over them, where it changes them.
fn in_place(found: &Arguments<'_>, scripts: &[char]) -> Vec<Word> {
    if !found.has("in-place", Some('i')) {
        return Vec::new();
    }
    let longs = ["expression", "file"];
    let has_script = scripts.iter().any(|letter| found.has("", Some(*letter)))
        || longs.into_iter().any(|long| found.has(long, None));
    all(found)
        .into_iter()
        .skip(usize::from(!has_script))
        .collect()
}

fn operand_values(words: &[Word], start: &str) -> Vec<Word> {
    words
        .iter()
        .filter_map(|word| {
            word.text.strip_prefix(start).map(|text| Word {
                text: text.to_owned(),
                ..word.clone()
            })
        })
        .collect()
}

/// Returns where `tar` extracts to, or the archive that it makes.
fn tar(words: &[Word]) -> Vec<Word> {
    let syntax = Syntax {
        letters: "fCbgHIKLNTVXF",
        glued: "",
        longs: &[
            "file",
            "directory",
            "exclude",
            "files-from",
            "use-compress-program",
        ],
    };
    let mut words = words.to_vec();
    if let Some(first) = words.first_mut().filter(|word| !word.text.starts_with('-')) {
        first.text.insert(0, '-');
    }
    let found = syntax.read(&words, Order::Permute);
    let has = |options: &[(&str, char)]| {
        options
            .iter()
            .any(|(long, letter)| found.has(long, Some(*letter)))
    };
    if has(&[("extract", 'x'), ("get", 'x')]) {
        return values(&found, &[("directory", 'C')]);
    }
    if has(&[("create", 'c'), ("append", 'r'), ("update", 'u')]) {
        return values(&found, &[("file", 'f')]);
    }
    Vec::new()
}

/// Returns where `find` deletes or changes files.
fn found(words: &[Word]) -> Vec<Word> {
    let is_option = |word: &&Word| matches!(word.text.as_str(), "-H" | "-L" | "-P");
    let skipped = words.iter().take_while(is_option).count();
    let words = &words[skipped..];
    let is_path = |word: &&Word| !word.text.starts_with(['-', '(', '!']);
    let starts = words.iter().take_while(is_path);
    let changes = words.iter().any(|word| word.text == "-delete")
        || words.windows(2).any(|pair| {
            let is_action = matches!(
                pair[0].text.as_str(),
                "-exec" | "-execdir" | "-ok" | "-okdir"
            );
            let name = pair[1].text.rsplit('/').next();
            is_action && name.is_some_and(|name| CHANGES.contains(&name))
        });
    let mut found: Vec<Word> = starts.filter(|_| changes).cloned().collect();
    let prints = words.windows(2).filter(|pair| {
        matches!(
            pair[0].text.as_str(),
            "-fprint" | "-fprint0" | "-fprintf" | "-fls"
        )
    });
    found.extend(prints.map(|pair| pair[1].clone()));
    found
}

/// Returns where git writes: the new clone or worktree, or the repository that `-C` names.
fn git(argv: &Argv) -> Vec<Word> {
    let Some(git) = Invocation::new(argv) else {
        return Vec::new();
    };
    let syntax = |letters, longs| Syntax {
        letters,
        glued: "",
        longs,
    };
    let within = |word: &Word| {
        let text = match git.directory(Some("")) {
            Some(directory) => crate::policy::shell::join(&directory, &word.text),
            None => return Word::default(),
        };
        Word {
            text,
            ..word.clone()
        }
    };
    let name = git.name.unwrap_or_default();
    let mut found: Vec<Word> = match name {
        "clone" => {
            let longs = &[
                "branch",
                "origin",
                "depth",
                "config",
                "reference",
                "template",
                "separate-git-dir",
            ];
            let read = syntax("bocuj", longs).read(git.arguments, Order::Permute);
            read.operands
                .get(1)
                .map(|word| within(word))
                .into_iter()
                .collect()
        }
        "init" => {
            let read = syntax("b", &["initial-branch", "template", "separate-git-dir"])
                .read(git.arguments, Order::Permute);
            read.operands
                .first()
                .map(|word| within(word))
                .into_iter()
                .collect()
        }
        "worktree" => {
            let read = syntax("bB", &["reason"]).read(git.arguments, Order::Permute);
            match read.operands.as_slice() {
                [verb, path, ..] if verb.text == "add" => vec![within(path)],
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    };
    if GIT_WRITES.contains(&name) {
        found.push(within(&Word::plain(".")));
        found.extend(git.places.iter().map(|place| within(&Word::plain(place))));
    }
    found
}
