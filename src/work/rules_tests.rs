//! The rules, each alone; then any interleaving and duplication of events.

use proptest::prelude::*;

use super::{
    Content, Outcome, Reason, Work,
    look::Look,
    rules::{Begin, Lost, Now},
    state::{
        Before, Dirty, HeadFile, Held, Modes, Others, Phase, Reach, Snapshot, State, Verdict, Whose,
    },
};
use crate::model::{Oid, RepoPath};

fn content(number: u8) -> Content {
    match number {
        0 => Content::Absent,
        number => Content::File(Oid::from_bytes(&[number; 20]).unwrap()),
    }
}

fn paths(names: &[&str]) -> Vec<RepoPath> {
    names.iter().map(|name| RepoPath::from(*name)).collect()
}

/// A working tree of one-letter paths; HEAD has content 100 at `k` and nothing elsewhere.
#[derive(Clone)]
struct World {
    state: State,
    disk: std::collections::BTreeMap<RepoPath, Content>,
    others: Others,
}

impl World {
    fn new() -> Self {
        Self {
            state: State::new("S1", "."),
            disk: [(RepoPath::from("k"), content(100))].into(),
            others: Others::new(),
        }
    }

    fn head(path: &RepoPath) -> Content {
        match path.as_bytes() {
            b"k" => content(100),
            _ => Content::Absent,
        }
    }

    fn at(&self, path: &RepoPath) -> Content {
        self.disk.get(path).cloned().unwrap_or(Content::Absent)
    }

    fn dirty(&self) -> Dirty {
        let known = paths(&["a", "b", "c", "d", "k"]);
        let differs = |path: RepoPath| {
            let now = self.at(&path);
            (now != Self::head(&path)).then_some((path, now))
        };
        known.into_iter().filter_map(differs).collect()
    }

    fn edit(&mut self, path: &str, number: u8) {
        self.disk.insert(path.into(), content(number));
    }

    fn begin(&mut self, id: &str, reach: Reach) {
        let dirty = self.dirty();
        let mut snapshot = Snapshot::new();
        if reach == Reach::Tree {
            self.state.observe(&dirty);
            snapshot = self.state.snapshot(&dirty, &Modes::new());
        } else if let Reach::Path(path) = &reach {
            let content = self.at(path);
            let whose = match content == Self::head(path) {
                true => Whose::Clean,
                false => self.state.whose(path, &content),
            };
            snapshot.insert(
                path.clone(),
                Held {
                    content,
                    whose,
                    mode: None,
                },
            );
        }
        let begin = Begin {
            id: id.to_owned(),
            tool: "T".to_owned(),
            agent: None,
            reach,
            time: 0,
            head: None,
            not_covered: Vec::new(),
        };
        self.state.begin(begin, snapshot);
    }

    fn shell(&mut self, id: &str) {
        self.begin(id, Reach::Tree);
    }

    fn tool(&mut self, id: &str, path: &str) {
        self.begin(id, Reach::Path(path.into()));
    }

    fn now(&self) -> Now {
        let clean = paths(&["a", "b", "c", "d", "k"]);
        Now {
            dirty: self.dirty(),
            clean: clean
                .into_iter()
                .map(|path| (path.clone(), self.at(&path)))
                .collect(),
            ..Now::default()
        }
    }

    fn end(&mut self, id: &str) -> Vec<Lost> {
        self.end_with(id, Outcome::Success)
    }

    fn end_with(&mut self, id: &str, outcome: Outcome) -> Vec<Lost> {
        let Some(reach) = self.state.call(id).map(|call| call.reach.clone()) else {
            return Vec::new();
        };
        let lost = match reach {
            Reach::Path(path) => {
                let after = self.at(&path);
                self.state.finish_path(id, &after, outcome)
            }
            _ => {
                let now = self.now();
                let others = self.others.clone();
                self.state.finish_tree(id, &now, &others)
            }
        };
        let dirty = self.dirty();
        self.state.observe(&dirty);
        lost
    }

    fn give_up(&mut self, id: &str) -> Vec<Lost> {
        let now = self.now();
        self.state.drop_call(id, &now)
    }

    fn work(&self) -> Work {
        self.state.work(&self.dirty(), &self.others)
    }

    #[track_caller]
    fn check(&self, mine: &[&str], foreign: &[&str], uncommitted: &[&str]) {
        let work = self.work();
        assert_eq!(work.mine, paths(mine), "mine");
        assert_eq!(work.foreign, paths(foreign), "foreign");
        assert_eq!(work.uncommitted, paths(uncommitted), "uncommitted");
    }

    fn reason(&self, path: &str) -> Option<Reason> {
        self.work().reasons.get(&RepoPath::from(path)).copied()
    }

    fn changed(&self, id: &str) -> Vec<(String, Verdict)> {
        let Phase::Finished { changes, .. } = &self.state.call(id).unwrap().phase else {
            return Vec::new();
        };
        let one = |change: &super::state::Change| (change.path.quoted(), change.verdict);
        changes.iter().map(one).collect()
    }
}

#[test]
fn a_path_that_was_clean_when_the_shell_call_began_is_mine() {
    let mut world = World::new();
    world.shell("u1");
    world.edit("a", 1);
    world.edit("k", 0);
    world.end("u1");
    world.check(&["a", "k"], &[], &["a", "k"]);
    assert_eq!(world.work().touched, paths(&["a", "k"]));
}

#[test]
fn a_call_that_changes_nothing_claims_nothing() {
    let mut world = World::new();
    world.edit("a", 1);
    world.shell("u1");
    world.end("u1");
    world.check(&[], &["a"], &[]);
    assert_eq!(world.changed("u1"), []);
    assert!(world.work().touched.is_empty());
    assert_eq!(world.work().call.unwrap().foreign, paths(&["a"]));
}

#[test]
fn what_was_mine_at_the_call_stays_mine() {
    let mut world = World::new();
    world.shell("u1");
    world.edit("a", 1);
    world.end("u1");
    world.shell("u2");
    world.edit("a", 2);
    assert_eq!(world.end("u2"), []);
    world.check(&["a"], &[], &["a"]);
}

#[test]
fn what_was_foreign_at_the_call_is_mixed_and_what_was_there_is_lost() {
    let mut world = World::new();
    world.edit("a", 1);
    world.shell("u1");
    world.edit("a", 2);
    let lost = world.end("u1");
    assert_eq!(
        lost,
        [Lost {
            path: "a".into(),
            content: content(1),
            mode: None,
        }]
    );
    world.check(&[], &["a"], &[]);
    assert_eq!(world.reason("a"), Some(Reason::Mixed));
    assert_eq!(world.changed("u1"), [("a".to_owned(), Verdict::Mixed)]);
    let call = world.work().call.unwrap();
    assert_eq!((call.changed, call.written), (paths(&["a"]), paths(&["a"])));
    // The next call finds it foreign, still.
    world.shell("u2");
    world.edit("a", 3);
    world.end("u2");
    assert_eq!(world.reason("a"), Some(Reason::Mixed));
}

#[test]
fn a_mixed_path_is_uncommitted_only_if_the_session_had_claimed_it() {
    let mut world = World::new();
    world.tool("w1", "a");
    world.edit("a", 1);
    world.end("w1");
    world.edit("a", 2);
    assert_eq!(world.reason("a"), Some(Reason::EditedSince));
    world.shell("u1");
    world.edit("a", 3);
    world.end("u1");
    assert_eq!(world.reason("a"), Some(Reason::Mixed));
    world.check(&[], &["a"], &["a"]);
}

#[test]
fn a_stash_that_comes_back_is_what_it_was() {
    let mut world = World::new();
    world.tool("w1", "a");
    world.edit("a", 1);
    world.end("w1");
    world.edit("b", 2);
    world.shell("u1");
    world.edit("a", 0);
    world.edit("b", 0);
    let lost = world.end("u1");
    assert_eq!(
        lost,
        [Lost {
            path: "b".into(),
            content: content(2),
            mode: None,
        }]
    );
    assert_eq!(
        world.changed("u1"),
        [
            ("a".to_owned(), Verdict::Clean),
            ("b".to_owned(), Verdict::Clean)
        ]
    );
    assert!(world.work().call.unwrap().written.is_empty());
    world.check(&[], &[], &[]);
    world.shell("u2");
    world.edit("a", 1);
    world.edit("b", 2);
    world.end("u2");
    world.check(&["a"], &["b"], &["a"]);
    assert_eq!(world.reason("b"), Some(Reason::NeverClaimed));
}

#[test]
fn a_committed_path_is_not_changed_by_the_commit() {
    let mut world = World::new();
    world.edit("a", 1);
    world.shell("u1");
    let mut now = world.now();
    now.dirty.clear();
    let lost = world.state.finish_tree("u1", &now, &Others::new());
    assert_eq!(lost, []);
    assert_eq!(world.changed("u1"), []);
}

#[test]
fn a_file_that_moved_is_not_lost() {
    let mut world = World::new();
    world.edit("a", 1);
    world.shell("u1");
    world.edit("a", 0);
    world.edit("b", 1);
    assert_eq!(world.end("u1"), []);
}

#[test]
fn what_another_session_left_is_not_claimed() {
    let mut world = World::new();
    world.shell("u1");
    world.edit("a", 1);
    world
        .others
        .entry("a".into())
        .or_default()
        .insert(content(1));
    world.end("u1");
    world.check(&[], &["a"], &[]);
    assert_eq!(world.reason("a"), Some(Reason::OtherSession));
}

#[test]
fn a_file_tool_claims_its_own_path_only_and_always() {
    let mut world = World::new();
    world.edit("a", 1);
    world.tool("w1", "a");
    world.edit("a", 2);
    world.edit("b", 3);
    let lost = world.end("w1");
    assert_eq!(
        lost,
        [Lost {
            path: "a".into(),
            content: content(1),
            mode: None,
        }]
    );
    world.check(&["a"], &["b"], &["a"]);
    // Also where it wrote what was there.
    world.tool("w2", "b");
    world.end("w2");
    world.check(&["a", "b"], &[], &["a", "b"]);
}

#[test]
fn a_file_tool_that_failed_claims_only_what_it_changed() {
    let mut world = World::new();
    world.edit("a", 1);
    world.tool("w1", "a");
    world.end_with("w1", Outcome::Failure);
    world.tool("w2", "k");
    world.end_with("w2", Outcome::Failure);
    world.check(&[], &["a"], &[]);
    world.tool("w3", "b");
    world.edit("b", 1);
    world.end_with("w3", Outcome::Failure);
    world.check(&["b"], &["a"], &["b"]);
}

#[test]
fn what_a_file_tool_found_clean_was_heads() {
    let mut world = World::new();
    world.tool("w1", "k");
    world.edit("k", 1);
    assert_eq!(world.end("w1"), []);
    let Phase::Finished { changes, .. } = &world.state.call("w1").unwrap().phase else {
        panic!();
    };
    assert_eq!(changes[0].before, Before::Clean(HeadFile::Unread));
}

#[test]
fn an_edit_of_the_session_that_somebody_edited_since_is_foreign_and_uncommitted() {
    let mut world = World::new();
    world.tool("w1", "a");
    world.edit("a", 1);
    world.end("w1");
    world.edit("a", 2);
    world.edit("b", 3);
    world.check(&[], &["a", "b"], &["a"]);
    assert_eq!(world.reason("a"), Some(Reason::EditedSince));
    assert_eq!(world.reason("b"), Some(Reason::NeverClaimed));
    world.tool("w2", "a");
    world.edit("a", 4);
    world.end("w2");
    world.check(&["a"], &["b"], &["a"]);
}

#[test]
fn an_unfinished_call_leaves_its_changes_unattributed() {
    let mut world = World::new();
    world.edit("a", 1);
    world.shell("u1");
    world.edit("a", 2);
    world.edit("b", 3);
    world.shell("u2");
    world.end("u2");
    world.check(&[], &[], &[]);
    assert_eq!(world.work().unattributed, paths(&["a", "b"]));
    assert_eq!(world.reason("b"), Some(Reason::Unattributed));
    // The same when it is given up on, and what was there can be recovered.
    let lost = world.give_up("u1");
    assert_eq!(
        lost,
        [Lost {
            path: "a".into(),
            content: content(1),
            mode: None,
        }]
    );
    assert_eq!(world.work().unattributed, paths(&["a", "b"]));
    // An edit after that is somebody's.
    world.edit("b", 4);
    world.check(&[], &["b"], &[]);
}

#[test]
fn a_call_that_reports_its_end_late_is_believed() {
    let mut world = World::new();
    world.edit("a", 1);
    world.shell("u1");
    world.edit("a", 2);
    world.edit("b", 3);
    world.give_up("u1");
    world.end("u1");
    world.check(&["b"], &["a"], &["b"]);
    assert!(world.work().unattributed.is_empty());
}

#[test]
fn a_denied_call_never_ran() {
    let mut world = World::new();
    world.shell("u1");
    world.edit("a", 1);
    world.state.deny("u1");
    world.check(&[], &["a"], &[]);
    // Neither a second beginning nor an end brings it back.
    world.shell("u1");
    world.end("u1");
    world.check(&[], &["a"], &[]);
}

#[test]
fn new_changes_beside_a_background_shell_are_unattributed_until_it_ends() {
    let mut world = World::new();
    world.edit("a", 1);
    world.shell("u1");
    world.end("u1");
    let look = Look {
        dirty: world.dirty(),
        ..Look::default()
    };
    world.state.background("u1", "b1", (&look, 0));
    world.edit("b", 2);
    world.tool("w1", "c");
    world.edit("c", 3);
    world.end("w1");
    world.check(&["c"], &["a"], &["c"]);
    assert_eq!(world.work().unattributed, paths(&["b"]));
    world.give_up("background:b1");
    assert_eq!(world.work().unattributed, paths(&["b"]));
    world.edit("d", 4);
    world.check(&["c"], &["a", "d"], &["c"]);
}

#[test]
fn a_shell_call_does_not_take_what_a_file_tool_did_beside_it() {
    for tool_first in [true, false] {
        let mut world = World::new();
        world.edit("a", 1);
        world.shell("u1");
        world.tool("w1", "a");
        world.edit("a", 2);
        world.edit("b", 3);
        let order = if tool_first {
            ["w1", "u1"]
        } else {
            ["u1", "w1"]
        };
        for id in order {
            world.end(id);
        }
        world.check(&["a", "b"], &[], &["a", "b"]);
        assert_eq!(world.changed("u1"), [("b".to_owned(), Verdict::Mine)]);
        assert_eq!(world.changed("w1"), [("a".to_owned(), Verdict::Mine)]);
    }
}

#[test]
fn a_second_end_finds_nothing_to_do() {
    let mut world = World::new();
    world.shell("u1");
    world.edit("a", 1);
    world.end("u1");
    world.edit("b", 2);
    let before = world.state.call("u1").cloned();
    world.end("u1");
    assert_eq!(world.state.call("u1").cloned(), before);
    world.check(&["a"], &["b"], &["a"]);
}

#[test]
fn a_claim_ends_when_its_path_is_clean() {
    let mut world = World::new();
    world.tool("w1", "k");
    world.edit("k", 1);
    world.end("w1");
    world.edit("k", 100);
    world.shell("u1");
    world.edit("a", 2);
    world.end("u1");
    assert_eq!(world.state.claims().count(), 1);
    world.edit("k", 3);
    world.check(&["a"], &["k"], &["a"]);
    assert_eq!(world.reason("k"), Some(Reason::NeverClaimed));
}

#[test]
fn the_calls_kept_are_bounded() {
    let mut world = World::new();
    for number in 0..600_u32 {
        let id = format!("u{number}");
        world.shell(&id);
        world.edit("a", (number % 90) as u8 + 1);
        match number % 3 {
            0 => _ = world.end(&id),
            1 => _ = world.give_up(&id),
            _ => world.state.deny(&id),
        }
    }
    let dropped = world.state.calls.iter();
    let dropped = dropped.filter(|call| matches!(call.phase, Phase::Dropped { .. }));
    assert_eq!(dropped.count(), 8);
    assert!(world.state.calls.len() <= 256 + 8);
    assert!(world.state.call("u597").is_some());
}

#[test]
fn a_state_reads_back() {
    let mut world = World::new();
    world.edit("b", 9);
    world.shell("u1");
    world.edit("a", 1);
    world.edit("b", 8);
    world.end("u1");
    world.shell("u2");
    world.give_up("u2");
    world.tool("w1", "c");
    let text = serde_json::to_string(&world.state).unwrap();
    assert_eq!(serde_json::from_str::<State>(&text).unwrap(), world.state);
}

/// What happens in a session; every edit makes a content of its own.
#[derive(Clone, Debug)]
enum Event {
    Edit(usize),
    Begin(usize),
    End(usize),
}

/// Three calls: a shell's, and those of a file tool at `a` and at `b`.
fn call(world: &mut World, which: usize) {
    match which {
        0 => world.shell("u"),
        1 => world.tool("wa", "a"),
        _ => world.tool("wb", "b"),
    }
}

const IDS: [&str; 3] = ["u", "wa", "wb"];

fn play(events: &[Event]) -> World {
    let mut world = World::new();
    let mut fresh = 0;
    for event in events {
        match event {
            Event::Edit(path) => {
                fresh += 1;
                world.edit(["a", "b", "c"][*path], fresh);
            }
            Event::Begin(which) => call(&mut world, *which),
            Event::End(which) => _ = world.end(IDS[*which]),
        }
    }
    world
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (0..3_usize).prop_map(Event::Edit),
        (0..3_usize).prop_map(Event::Begin),
        (0..3_usize).prop_map(Event::End),
    ]
}

fn said(world: &World) -> (Vec<RepoPath>, Vec<RepoPath>, Vec<RepoPath>, Vec<RepoPath>) {
    let work = world.work();
    (work.mine, work.foreign, work.uncommitted, work.unattributed)
}

proptest! {
    /// An event that is delivered again, at once or any time later, changes nothing.
    #[test]
    fn a_duplicate_changes_nothing(
        events in proptest::collection::vec(event(), 1..24),
        again in proptest::collection::vec((0..24_usize, 0..24_usize), 0..8),
    ) {
        let mut doubled: Vec<(usize, Event)> = events.iter().cloned().enumerate().collect();
        for (of, later) in again {
            let Some(event) = events.get(of) else { continue };
            if matches!(event, Event::Edit(_)) {
                continue;
            }
            // An end is an event only once its call has begun; before that it is another history.
            let original = doubled.iter().position(|(at, _)| *at == of).unwrap();
            if let Event::End(which) = event {
                let begun = doubled[..original].iter();
                let mut begun = begun.filter(|(_, known)| matches!(known, Event::Begin(other) if other == which));
                if begun.next().is_none() {
                    continue;
                }
            }
            let at = (original + 1 + later).min(doubled.len());
            doubled.insert(at, (usize::MAX, event.clone()));
        }
        let doubled: Vec<Event> = doubled.into_iter().map(|(_, event)| event).collect();
        prop_assert_eq!(said(&play(&events)), said(&play(&doubled)));
    }

    /// Hooks of calls that ran side by side may report in any order.
    #[test]
    fn the_order_of_ends_does_not_matter(
        events in proptest::collection::vec(
            event().prop_filter("ends come last", |event| !matches!(event, Event::End(_))), 0..16),
        order in Just(vec![0_usize, 1, 2]).prop_shuffle(),
    ) {
        let ended = |order: &[usize]| {
            let ends = order.iter().map(|which| Event::End(*which));
            let world = play(&events.iter().cloned().chain(ends).collect::<Vec<_>>());
            let (mine, foreign, uncommitted, unattributed) = said(&world);
            (mine, foreign, uncommitted, unattributed)
        };
        prop_assert_eq!(ended(&[0, 1, 2]), ended(&order));
    }
}
