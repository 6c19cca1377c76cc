//! Where spills lie, and what is never touched.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};

use git_operator::compress::{Place, wipe};

use super::Project;

fn long() -> String {
    (0..2000)
        .map(|i| format!("line number {i} of the run\n"))
        .collect()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_project_that_was_not_started_gets_no_directory() {
    let project = Project::plain();
    let spill = project.cited(&project.filter(&long()));
    assert!(spill.starts_with(&project.place.temp));
    assert_eq!(fs::read_dir(project.top()).unwrap().count(), 0);
    let root = spill.parent().unwrap().parent().unwrap();
    assert_eq!(fs::read_to_string(root.join(".gitignore")).unwrap(), "*\n");
    for dir in [root, spill.parent().unwrap(), root.parent().unwrap()] {
        assert_eq!(mode(dir), 0o700, "{}", dir.display());
    }
    assert_eq!(mode(&spill), 0o600);
    let elsewhere = Place {
        project: Some(project.top()),
        ..project.place.clone()
    };
    let text = long();
    let settings = git_operator::compress::Settings::default();
    let treatment = git_operator::compress::Treatment::Full;
    let small = git_operator::compress::filter(&text, treatment, &settings, &elsewhere);
    assert_eq!(small, text, "without .operator there is no place to spill");
    assert_eq!(fs::read_dir(project.top()).unwrap().count(), 0);
}

#[test]
fn a_link_on_the_way_is_refused() {
    for name in [".operator", ".operator/.compress-spill"] {
        let project = Project::started();
        let outside = project.dir.path().join("outside");
        fs::create_dir(&outside).unwrap();
        let link = project.top().join(name);
        if link.exists() {
            fs::remove_dir(&link).unwrap();
        }
        symlink(&outside, &link).unwrap();
        assert_eq!(project.filter(&long()), long(), "{name}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{name}");
        wipe(&project.place);
    }
}

#[test]
fn a_directory_that_others_can_enter_is_refused() {
    let project = Project::started();
    let root = project.top().join(".operator/.compress-spill");
    fs::create_dir(&root).unwrap();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(project.filter(&long()), long());
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
}

#[test]
fn no_session_id_leads_out_of_the_root() {
    for session in ["../x", ".", "..", "/etc", "a/b", "", "é\0\n"] {
        let project = Project::started();
        let mut place = project.place.clone();
        place.session = session.to_owned();
        place.call = session.to_owned();
        let settings = git_operator::compress::Settings::default();
        let treatment = git_operator::compress::Treatment::Full;
        let text = long();
        let small =
            git_operator::compress::filter(&text, treatment, &settings, &place).into_owned();
        let spill = project.cited(&small);
        let root = project.top().join(".operator/.compress-spill");
        assert_eq!(spill.parent().unwrap().parent().unwrap(), root);
    }
}

#[test]
fn the_newest_fifty_of_a_session_are_kept() {
    let project = Project::started();
    let mut newest = String::new();
    for i in 0..60 {
        newest = format!("{i}\n{}", long());
        project.filter(&newest);
    }
    let spills = project.spills();
    assert_eq!(spills.len(), 50);
    assert!(spills.contains(&newest.into_bytes()));
}

#[test]
fn a_starting_session_wipes_what_no_other_client_uses_and_only_our_files() {
    let project = Project::started();
    let with = |session: &str, client: Option<u32>| {
        let mut place = project.place.clone();
        place.session = session.to_owned();
        place.client = client;
        let settings = git_operator::compress::Settings::default();
        let text = format!("{session}\n{}", long());
        let treatment = git_operator::compress::Treatment::Full;
        let small =
            git_operator::compress::filter(&text, treatment, &settings, &place).into_owned();
        project.cited(&small)
    };
    let mut gone = std::process::Command::new("true").spawn().unwrap();
    let dead = gone.id();
    gone.wait().unwrap();
    let own = std::process::id();
    let ended = with("ended", Some(dead));
    let unknown = with("unknown", None);
    let mine = with("mine", Some(own));
    // The parent of this process is another client that runs.
    let other = with("other", Some(std::os::unix::process::parent_id()));
    let foreign = mine.parent().unwrap().join("notes.md");
    fs::write(&foreign, "kept").unwrap();
    let root = mine.parent().unwrap().parent().unwrap().to_owned();
    fs::create_dir(root.join("not-a-session")).unwrap();

    let mut place = project.place.clone();
    place.client = Some(own);
    wipe(&place);
    for path in [&ended, &unknown, &mine] {
        assert!(!path.exists(), "{}", path.display());
    }
    assert!(!ended.parent().unwrap().exists());
    assert!(other.exists());
    assert_eq!(fs::read_to_string(foreign).unwrap(), "kept");
    assert!(root.join("not-a-session").exists());
}

#[test]
fn wiping_makes_nothing() {
    let project = Project::started();
    wipe(&project.place);
    assert_eq!(
        fs::read_dir(project.top().join(".operator"))
            .unwrap()
            .count(),
        0
    );
    let plain = Project::plain();
    wipe(&plain.place);
    assert_eq!(fs::read_dir(&plain.place.temp).unwrap().count(), 0);
}
