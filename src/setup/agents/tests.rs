use std::fs;

use assert_fs::TempDir;

use super::{MARK, SEATS, State, list, render, revert};
use crate::{
    git::files::Tree,
    setup::tiers::{Source, Tiers, parse},
};

fn tiers(text: &str) -> Tiers {
    Tiers::resolve(&[(Source::Project, parse(text.as_bytes()).unwrap())])
}

fn states(tree: &Tree, tiers: &Tiers) -> Vec<State> {
    let agents = list(tree, tiers).unwrap();
    agents.into_iter().map(|agent| agent.state).collect()
}

#[test]
fn every_seat_is_rendered_with_its_model_and_reverted() {
    let dir = TempDir::new().unwrap();
    let tree = Tree::open(dir.path()).unwrap();
    let bound = tiers("JUDGMENT=glm-5[1m]\nscout=JUDGMENT\n");
    render(&tree, &bound).unwrap();
    for seat in SEATS {
        let text = fs::read_to_string(dir.path().join(super::path(seat))).unwrap();
        let model = match seat.name {
            "author" | "reviewer" | "verifier" | "scout" => "glm-5[1m]",
            "mechanic" => "sonnet",
            _ => "haiku",
        };
        let front = text
            .strip_prefix("---\n")
            .unwrap()
            .split("\n---\n")
            .next()
            .unwrap();
        assert!(
            front.contains(&format!("name: op-{}\n", seat.name)),
            "{text}"
        );
        assert!(front.ends_with(&format!("\nmodel: {model}")), "{text}");
        assert!(text.ends_with(MARK));
    }
    assert_eq!(states(&tree, &bound), [State::Current; 7]);
    assert!(states(&tree, &tiers("")).contains(&State::Stale));
    assert_eq!(revert(&tree).unwrap().len(), 7);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    assert_eq!(states(&tree, &bound), [State::Missing; 7]);
}

#[test]
fn a_file_of_the_users_stops_the_whole_and_survives() {
    let dir = TempDir::new().unwrap();
    let tree = Tree::open(dir.path()).unwrap();
    let mine = dir.path().join(".claude/agents/op-scout.md");
    fs::create_dir_all(mine.parent().unwrap()).unwrap();
    fs::write(&mine, "mine").unwrap();
    let error = render(&tree, &tiers("")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot render agents: '.claude/agents/op-scout.md' is not ours"
    );
    assert_eq!(fs::read_dir(mine.parent().unwrap()).unwrap().count(), 1);
    assert_eq!(revert(&tree).unwrap(), Vec::<String>::new());
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
}

#[test]
fn a_link_is_not_followed() {
    let dir = TempDir::new().unwrap();
    let outside = TempDir::new().unwrap();
    std::os::unix::fs::symlink(outside.path(), dir.path().join(".claude")).unwrap();
    let tree = Tree::open(dir.path()).unwrap();
    assert!(render(&tree, &tiers("")).is_err());
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}
