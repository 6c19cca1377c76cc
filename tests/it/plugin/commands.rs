//! Every command line that the plugin, the charter and the git hooks give is one the program takes.

use std::{fs, path::PathBuf};

use git_operator::cli;

use super::at;

/// The texts that speak to agents and to git.
const PLACES: [&str; 4] = ["plugin", "templates", "git-hooks", "docs/hooks.md"];

fn texts(path: PathBuf, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            texts(entry.unwrap().path(), found);
        }
    } else if path.extension().is_none_or(|ext| ext != "png") {
        found.push(path);
    }
}

/// The command lines in a text: what stands between backquotes, and lines of shell scripts.
fn lines(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
    {
        // A span of code may run over the end of a line in prose; those of this project do not.
        for (at, span) in line.split('`').enumerate() {
            let span = span.trim();
            let given = span
                .strip_prefix("git operator ")
                .or_else(|| span.strip_prefix("git-operator "));
            if let (1, Some(rest)) = (at % 2, given) {
                found.push(rest.to_owned());
            }
        }
        if let Some(rest) = line.trim_start().strip_prefix("exec git-operator ") {
            found.push(rest.to_owned());
        }
    }
    found
}

/// The words of a line, as a shell parts them; a placeholder in angle brackets is one word.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut inside = None;
    let mut any = false;
    for c in line.chars() {
        match (inside, c) {
            (Some(end), c) if c == end => inside = None,
            (None, '"' | '\'') => (inside, any) = (Some(c), true),
            (None, ' ') => {
                if any || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            _ => word.push(c),
        }
    }
    if any || !word.is_empty() {
        words.push(word);
    }
    words
}

/// Why the program would not take a line; `None` where it does.
fn refusal(line: &str) -> Option<String> {
    let line = line.replace("$ARGUMENTS", "");
    let words = words(&line);
    let given = ["git-operator".to_owned()].into_iter().chain(words);
    let error = cli::tree().try_get_matches_from(given).err()?;
    let shown = error.kind();
    let help = [
        clap::error::ErrorKind::DisplayHelp,
        clap::error::ErrorKind::DisplayVersion,
    ];
    (!help.contains(&shown)).then(|| format!("{line}: {shown:?}"))
}

#[test]
fn every_command_line_given_to_agents_is_one_the_program_takes() {
    let mut paths = Vec::new();
    for place in PLACES {
        texts(at(place), &mut paths);
    }
    let mut refused = Vec::new();
    let mut count = 0;
    for path in paths {
        for line in lines(&fs::read_to_string(&path).unwrap()) {
            count += 1;
            let shown = path.strip_prefix(at("")).unwrap().display().to_string();
            refused.extend(refusal(&line).map(|why| format!("{shown}: {why}")));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(count > 40, "{count}");
}

#[test]
fn a_line_that_the_program_refuses_is_found() {
    let text =
        "- run `git operator tiers --frobnicate` or\n  `git operator nosuch x`, not `git log`\n";
    let found: Vec<String> = lines(text)
        .iter()
        .filter_map(|line| refusal(line))
        .collect();
    assert_eq!(
        found,
        [
            "tiers --frobnicate: UnknownArgument",
            "nosuch x: InvalidSubcommand"
        ]
    );
    assert_eq!(
        words("a \"b c\" '' <d e> -- f"),
        ["a", "b c", "", "<d", "e>", "--", "f"]
    );
}

#[test]
fn the_user_may_say_again_what_a_command_file_says() {
    assert_eq!(refusal("log -n 30 -n 3 --task T-1"), None);
}
