//! Specs from template to approval, on a real repository.

use git_operator::{
    gate::Gate,
    git::files::Tree,
    model::{Body, Decision, DecisionKind, Owner, Stamp, TreeState, spec::Slug},
    setup::spec::{self, Made, Standing},
};

use crate::support::{Repo, Site};

/// A started repository with its ledger, its gate and a session.
struct Scene {
    repo: Repo,
    site: Site,
    session: Owner,
}

fn site() -> Scene {
    let repo = Repo::new();
    repo.commit("a");
    std::fs::create_dir(repo.path().join(".operator")).unwrap();
    Scene {
        site: Site::of(&repo),
        session: Owner::new("S1").unwrap(),
        repo,
    }
}

impl Scene {
    fn gate(&self) -> Gate<'_> {
        Gate {
            session: Some(&self.session),
            ..self.site.gate()
        }
    }

    fn tree(&self) -> Tree {
        Tree::open(self.repo.path()).unwrap()
    }

    fn check(&self) -> Standing {
        spec::check(&self.tree(), &slug(), &self.site.store.load().unwrap()).unwrap()
    }

    fn approve(&self) -> Result<spec::Approval, spec::Error> {
        spec::approve(&self.gate(), &self.tree(), &slug(), || Stamp::Commit {
            id: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            tree: TreeState::Dirty,
        })
    }

    /// The approvals and the bars in the ledger, oldest first.
    fn records(&self) -> (Vec<Decision>, Vec<String>) {
        let mut approvals = Vec::new();
        let mut bars = Vec::new();
        for record in self.site.store.load().unwrap().iter() {
            match &record.body {
                Body::Decision(decision) => approvals.push(decision.clone()),
                Body::Bar(bar) => bars.push(bar.text.clone()),
                _ => {}
            }
        }
        (approvals, bars)
    }
}

fn slug() -> Slug {
    Slug::new("stop").unwrap()
}

const PATH: &str = ".operator/specs/stop.md";
const WHOLE: &str = "# stop\n\nStatus: DRAFT\n\n## North star\n\nIt holds.\n\nMissed if: it does not\n\n\
    ## Done criteria\n\n| criterion | decided by |\n|---|---|\n| it blocks | `cargo test` |\n\n\
    ## In scope\n\n- x\n\n## Out of scope\n\nnone\n\n## Open questions\n\nnone\n\n## Constraints\n\nnone\n";

#[test]
fn a_new_spec_is_the_template_and_an_old_one_stays() {
    let site = site();
    assert_eq!(
        spec::new(&site.tree(), &slug()).unwrap(),
        Made::Created(PATH.into())
    );
    assert!(matches!(site.check(), Standing::Unfinished(problems) if problems.len() == 6));
    site.repo.write(PATH, "mine");
    assert_eq!(
        spec::new(&site.tree(), &slug()).unwrap(),
        Made::Kept(PATH.into())
    );
    assert_eq!(site.repo.read(PATH), "mine");
}

#[test]
fn a_project_that_was_not_started_gets_no_spec() {
    let repo = Repo::new();
    let error = spec::new(&Tree::open(repo.path()).unwrap(), &slug()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot write the spec 'stop': the project was not started"
    );
    assert!(!repo.path().join(".operator").exists());
}

#[test]
fn an_approval_records_the_decision_and_the_bar_and_then_sets_the_status() {
    let site = site();
    site.repo.write(PATH, WHOLE);
    assert_eq!(site.check(), Standing::Draft);
    let approval = site.approve().unwrap();
    assert!(!approval.repeated);
    assert_eq!(
        site.check(),
        Standing::Approved("0123456789ab+dirty".to_owned())
    );
    assert_eq!(
        site.repo.read(PATH),
        WHOLE.replace("DRAFT", "APPROVED @0123456789ab+dirty")
    );
    let (decisions, bars) = site.records();
    assert_eq!(decisions.len(), 1);
    assert_eq!(decisions[0].decision, DecisionKind::SpecApproved);
    assert_eq!(decisions[0].scope, "stop");
    assert!(
        decisions[0]
            .what
            .starts_with("spec stop approved @0123456789ab+dirty text ")
    );
    assert_eq!(bars.len(), 1);
    assert!(bars[0].starts_with("## BAR — spec stop ("), "{}", bars[0]);
    assert!(bars[0].ends_with("\n- it blocks: `cargo test`\n- Missed if: it does not\n"));
}

#[test]
fn a_try_that_was_cut_short_is_finished_by_the_next_one() {
    let site = site();
    site.repo.write(PATH, WHOLE);
    site.approve().unwrap();
    // Killed before the status line was written: the records are there, the file is a draft.
    site.repo.write(PATH, WHOLE);
    let again = site.approve().unwrap();
    assert!(again.repeated);
    assert_eq!(again.stamp, "0123456789ab+dirty");
    let (decisions, bars) = site.records();
    assert_eq!((decisions.len(), bars.len()), (1, 1));
    assert!(matches!(site.check(), Standing::Approved(_)));
    site.approve().unwrap();
    assert_eq!(site.records().0.len(), 1);
}

#[test]
fn an_edit_after_the_approval_shows_and_is_approved_anew() {
    let site = site();
    site.repo.write(PATH, WHOLE);
    site.approve().unwrap();
    let edited = site
        .repo
        .read(PATH)
        .replace("it blocks", "it always blocks");
    site.repo.write(PATH, edited);
    assert_eq!(site.check(), Standing::Changed);
    assert!(!site.approve().unwrap().repeated);
    assert!(matches!(site.check(), Standing::Approved(_)));
    let (decisions, bars) = site.records();
    assert_eq!((decisions.len(), bars.len()), (2, 2));
}

#[test]
fn a_status_written_by_hand_is_no_approval() {
    let site = site();
    site.repo
        .write(PATH, WHOLE.replace("DRAFT", "APPROVED @0123456789ab"));
    assert_eq!(site.check(), Standing::Changed);
}

#[test]
fn an_unfinished_spec_is_not_approved_and_nothing_is_written() {
    let site = site();
    let text = WHOLE
        .replace("Missed if: it does not\n", "")
        .replace("It holds.", "");
    site.repo.write(PATH, &text);
    let error = site.approve().unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot approve the spec 'stop': it is not finished\n  the north star is not said\n  \
         the north star has no line 'Missed if: …'"
    );
    assert_eq!(site.repo.read(PATH), text);
    assert_eq!(site.records(), (Vec::new(), Vec::new()));
    std::fs::remove_file(site.repo.path().join(PATH)).unwrap();
    assert_eq!(
        site.approve().unwrap_err().to_string(),
        format!("cannot read the spec 'stop': there is no '{PATH}'")
    );
}
