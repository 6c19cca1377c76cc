//! What `.ci/release` packs is what the metadata of the crate promises.

use std::{fs, path::Path, process::Command};

use crate::support::Repo;

const TARGET: &str = "x86_64-unknown-linux-musl";

fn manifest() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap()
}

/// Returns a template of cargo-binstall's metadata, filled as cargo-binstall fills it.
fn filled(key: &str) -> String {
    let manifest = manifest();
    let (_, rest) = manifest.split_once("[package.metadata.binstall]").unwrap();
    let line = rest
        .lines()
        .find(|line| line.starts_with(&format!("{key} = ")))
        .unwrap();
    let mut text = line
        .split_once('"')
        .unwrap()
        .1
        .trim_end_matches('"')
        .to_owned();
    for (name, value) in [
        ("repo", "REPO"),
        ("name", "git-operator"),
        ("bin", "git-operator"),
        ("binary-ext", ""),
        ("archive-suffix", ".tgz"),
        ("target", TARGET),
        ("version", env!("CARGO_PKG_VERSION")),
    ] {
        text = text.replace(&format!("{{ {name} }}"), value);
    }
    assert!(!text.contains('{'), "{text}");
    text
}

fn release(repo: &Repo, env: &[(&str, &str)]) -> std::process::Output {
    Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/release"))
        .arg(repo.path())
        .env_clear()
        .envs(repo.env())
        .envs(env.iter().copied())
        .output()
        .unwrap()
}

fn run(repo: &Repo, program: &str, args: &[&str]) -> String {
    let output = Command::new(program)
        .args(args)
        .current_dir(repo.path())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{program} {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_archives_are_where_binstall_looks() {
    if cfg!(not(target_os = "linux")) {
        return crate::support::skipped("releases are packed with GNU tar");
    }
    let repo = Repo::outside();
    let program = repo.dir().join("program");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    let env = [("TARGETS", TARGET), ("BINARY", program.to_str().unwrap())];
    let output = release(&repo, &env);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let url = filled("pkg-url");
    let archive = url.rsplit('/').next().unwrap();
    let listed = run(&repo, "tar", &["-tzf", archive]);
    assert!(
        listed.lines().any(|line| line == filled("bin-dir")),
        "{listed}"
    );
    let plugin = format!("cc-operator-v{}.tgz", env!("CARGO_PKG_VERSION"));
    let listed = run(&repo, "tar", &["-tzf", &plugin]);
    for wanted in [
        "plugin/.claude-plugin/plugin.json",
        "plugin/bin/git-operator",
        ".claude-plugin/marketplace.json",
    ] {
        assert!(
            listed.lines().any(|line| line.ends_with(wanted)),
            "{wanted}: {listed}"
        );
    }
    let checked = run(&repo, "sha256sum", &["-c", "SHA256SUMS"]);
    assert_eq!(checked.lines().count(), 2, "{checked}");
    // The same files make the same bytes.
    let again = Repo::outside();
    assert!(release(&again, &env).status.success());
    assert_eq!(repo.read("SHA256SUMS"), again.read("SHA256SUMS"));
}

#[test]
fn a_tag_of_another_version_is_refused() {
    let repo = Repo::outside();
    let output = release(&repo, &[("RELEASE_TAG", "v0.0.1")]);
    assert_eq!(output.status.code(), Some(1));
    let version = env!("CARGO_PKG_VERSION");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(stderr, format!("error: the tag v0.0.1 is not v{version}\n"));
}
