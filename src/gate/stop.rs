//! What blocks a Stop, and how often.

use super::{
    Error, Gate, Place,
    decide::concerns,
    failing::{Failing, failing},
    open::one,
    session::Turn,
    who::{Partition, Who, partition},
};
use crate::{
    git::Repo,
    model::{Body, Draft, Owner, Record, SessionEvent, SessionNote, Task, TaskId},
    store::decisions::{self, Unpresented},
};

/// What stands against a Stop of one session.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    pub parts: Partition,
    pub decisions: Vec<Unpresented>,
    /// What failed again and again: reported, never blocking.
    pub failing: Vec<Failing>,
}

/// Something else that stands against a Stop, such as a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// What makes it the same reason at the next Stop.
    pub key: String,
    pub text: String,
}

/// Work that goes on while the turn ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Background {
    pub id: String,
    /// `shell`, `monitor`, `subagent`, `workflow`, …
    pub kind: String,
}

impl Background {
    /// Says whether the end of this work starts another turn by itself, whose Stop is judged then.
    pub fn comes_back(&self) -> bool {
        matches!(
            self.kind.as_str(),
            "subagent" | "workflow" | "teammate" | "cloud session"
        )
    }
}

/// What becomes of a Stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Allow,
    /// Something stands against it, and work in the background is let finish first.
    Wait,
    /// It is refused, for the n-th time in this state.
    Refuse {
        count: u32,
    },
    /// It was refused often enough.
    Release(Release),
}

/// Whether a release is the first of its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// It is to be recorded and said aloud.
    First,
    Again,
}

/// The moments of one Stop, µs of wall clock.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// When its process began.
    pub began: u64,
    pub now: u64,
}

/// Returns what stands against a Stop. Reads two directories, opens no repository.
pub fn survey(place: &Place, who: &Who) -> Result<Survey, Error> {
    let session = match who {
        Who::Session(owner) => Some(owner),
        Who::Unknown { .. } | Who::Nobody => None,
    };
    let parts = partition(&place.operator, place.top.as_deref(), who)?;
    let mut decisions = decisions::unpresented(&place.operator)?;
    decisions.retain(|decision| concerns(decision, session));
    Ok(Survey {
        parts,
        decisions,
        failing: failing(&place.operator, session),
    })
}

impl Survey {
    /// Says whether anything stands against the Stop.
    pub fn blocks(&self) -> bool {
        self.parts.blocks() || !self.decisions.is_empty()
    }

    /// Returns what makes two Stops meet the same gate state.
    fn state(&self, reasons: &[Reason]) -> String {
        let mut hasher = blake3::Hasher::new();
        let tasks = self.parts.mine.iter().chain(&self.parts.unowned);
        let mut keys: Vec<String> = tasks
            .map(|open| format!("task {} {}", open.time, open.task))
            .collect();
        keys.extend(
            self.parts
                .unreadable
                .iter()
                .map(|name| format!("unreadable {name}")),
        );
        keys.extend(
            self.decisions
                .iter()
                .map(|decision| format!("decision {}", decision.id)),
        );
        keys.extend(
            reasons
                .iter()
                .map(|reason| format!("reason {}", reason.key)),
        );
        keys.sort();
        for key in keys {
            hasher.update(key.as_bytes());
            hasher.update(b"\n");
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }
}

/// Decides a Stop against which `survey` or `reasons` may speak, and remembers the refusal.
pub fn judge(
    place: &Place,
    who: &Who,
    (survey, reasons): (&Survey, &[Reason]),
    (background, moment): (&[Background], Moment),
) -> Result<Answer, Error> {
    if !survey.blocks() && reasons.is_empty() {
        return Ok(Answer::Allow);
    }
    if background.iter().any(Background::comes_back) {
        return Ok(Answer::Wait);
    }
    let state = survey.state(reasons);
    let session = match who {
        Who::Session(owner) => owner.as_str(),
        Who::Unknown { .. } | Who::Nobody => "",
    };
    place.sessions().update(&place.git_dir, session, |known| {
        // Some clients never say that a session starts.
        known.seen = known.seen.max(moment.now / 1_000);
        known.ended = false;
        if !background.is_empty() {
            let ids: Vec<&str> = background.iter().map(|work| work.id.as_str()).collect();
            let waited = format!("{state} {}", ids.join(" "));
            if known.background.as_deref() != Some(&waited) {
                known.background = Some(waited);
                return Answer::Wait;
            }
        }
        match known.turn(&state, moment.began, moment.now) {
            Turn::Refuse { count } => Answer::Refuse { count },
            Turn::Release => Answer::Release(Release::First),
            Turn::Released => Answer::Release(Release::Again),
        }
    })
}

/// Returns what keeps the gate from being judged: HEAD or the ledger cannot be read, or there is no
/// git. A refusal that nobody could satisfy is worse than none.
pub fn fault(gate: &Gate<'_>, repo: Option<&Repo>) -> Option<String> {
    if let Some(repo) = repo {
        if let Err(error) = repo.head() {
            return Some(error.to_string());
        }
        if let Err(error) = repo.git(["version"]).read_only().output() {
            return Some(error.to_string());
        }
    }
    gate.store
        .newest()
        .and_then(|mut newest| newest.next().transpose())
        .err()
        .map(|error| error.to_string())
}

/// Records that `session` was let go, or ended, while tasks were open.
pub fn note_session(
    gate: &Gate<'_>,
    event: SessionEvent,
    session: Option<&Owner>,
    open: Vec<String>,
) -> Result<Record, Error> {
    let reason = match event {
        SessionEvent::Released => format!("its Stop was refused {} times", super::REFUSALS),
        SessionEvent::Ended => "the session ended".to_owned(),
    };
    let wait = match event {
        SessionEvent::Released => crate::store::Wait::Command,
        SessionEvent::Ended => crate::store::Wait::SessionEnd,
    };
    let mut draft = Draft::new(Body::Session(SessionNote {
        event,
        open,
        reason,
    }));
    draft.owner = session.cloned();
    draft.session = session.cloned();
    let mut tx = gate.store.begin(wait, *gate.clock)?;
    Ok(one(tx.commit(&[draft], Vec::new())?.records))
}

/// Opens a task for a session that changed files and opened none, once per session; `None` when it has
/// one already.
pub fn arm(gate: &Gate<'_>, session: &Owner) -> Result<Option<Record>, Error> {
    let sessions = gate.place.sessions();
    let first = sessions.update(&gate.place.git_dir, session.as_str(), |known| {
        !std::mem::replace(&mut known.opened, true)
    })?;
    if !first {
        return Ok(None);
    }
    let armed = open_autobar(gate, session);
    if armed.is_err() {
        sessions.update(&gate.place.git_dir, session.as_str(), |known| {
            known.opened = false;
        })?;
    }
    armed.map(Some)
}

fn open_autobar(gate: &Gate<'_>, session: &Owner) -> Result<Record, Error> {
    let name = format!(
        "autobar-{}",
        &blake3::hash(session.as_str().as_bytes()).to_hex()[..8]
    );
    let mut draft = Draft::new(Body::Task(Task {
        worktree: gate.place.worktree.clone(),
    }));
    draft.task = Some(TaskId::new(&name)?);
    draft.owner = Some(session.clone());
    draft.session = Some(session.clone());
    let mut tx = gate.begin()?;
    Ok(one(tx.commit(&[draft], Vec::new())?.records))
}

#[cfg(test)]
mod tests {
    use super::{
        Answer, Background, Moment, Partition, Place, Reason, Release, Survey, Who, judge,
    };
    use crate::{gate::who::Open, model::Owner};

    fn place(dir: &assert_fs::TempDir) -> Place {
        Place {
            operator: dir.path().to_owned(),
            git_dir: "/r/.git".into(),
            top: None,
            worktree: ".".to_owned(),
        }
    }

    fn survey(tasks: &[&str]) -> Survey {
        let open = |task: &&str| Open {
            task: (*task).to_owned(),
            owner: None,
            worktree: ".".to_owned(),
            time: 1,
        };
        Survey {
            parts: Partition {
                mine: tasks.iter().map(open).collect(),
                ..Partition::default()
            },
            ..Survey::default()
        }
    }

    fn ask(place: &Place, survey: &Survey, background: &[Background], at: u64) -> Answer {
        let who = Who::Session(Owner::new("S1").unwrap());
        judge(
            place,
            &who,
            (survey, &[]),
            (
                background,
                Moment {
                    began: at,
                    now: at + 1,
                },
            ),
        )
        .unwrap()
    }

    #[test]
    fn seven_refusals_then_a_release_and_another_state_starts_again() {
        let dir = assert_fs::TempDir::new().unwrap();
        let place = place(&dir);
        for count in 1..=7 {
            assert_eq!(
                ask(&place, &survey(&["t1"]), &[], u64::from(count) * 10),
                Answer::Refuse { count }
            );
        }
        assert_eq!(
            ask(&place, &survey(&["t1"]), &[], 100),
            Answer::Release(Release::First)
        );
        assert_eq!(
            ask(&place, &survey(&["t1"]), &[], 110),
            Answer::Release(Release::Again)
        );
        assert_eq!(
            ask(&place, &survey(&["t1", "t2"]), &[], 120),
            Answer::Refuse { count: 1 }
        );
        assert_eq!(ask(&place, &survey(&[]), &[], 130), Answer::Allow);
    }

    #[test]
    fn a_shell_is_waited_for_once_per_state_a_subagent_always() {
        let dir = assert_fs::TempDir::new().unwrap();
        let place = place(&dir);
        let work = |id: &str, kind: &str| Background {
            id: id.to_owned(),
            kind: kind.to_owned(),
        };
        let shell = [work("b1", "shell")];
        assert_eq!(ask(&place, &survey(&["t1"]), &shell, 10), Answer::Wait);
        assert_eq!(
            ask(&place, &survey(&["t1"]), &shell, 20),
            Answer::Refuse { count: 1 }
        );
        assert_eq!(
            ask(&place, &survey(&["t1", "t2"]), &shell, 30),
            Answer::Wait
        );
        for at in [40, 50] {
            assert_eq!(
                ask(&place, &survey(&["t1"]), &[work("a1", "subagent")], at),
                Answer::Wait
            );
        }
    }

    #[test]
    fn a_reason_by_itself_blocks() {
        let dir = assert_fs::TempDir::new().unwrap();
        let reason = Reason {
            key: "p1".to_owned(),
            text: "commit first".to_owned(),
        };
        let moment = Moment { began: 1, now: 2 };
        let answer = judge(
            &place(&dir),
            &Who::Nobody,
            (&survey(&[]), &[reason]),
            (&[], moment),
        )
        .unwrap();
        assert_eq!(answer, Answer::Refuse { count: 1 });
    }
}
