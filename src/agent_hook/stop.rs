use super::{
    Event, arm, policy,
    reply::Reply,
    session::{Missing, Site},
    words,
};
use crate::{
    gate::{self, Answer, Background, Moment, Reason, Release, Survey, Who},
    git::Repo,
    model::SessionEvent,
    payload::Value,
    store::Store,
    ui::Failure,
    view::{self, View},
};

/// Stop: the session must not end while its work has no evidence.
pub(super) fn answer(event: &Event) -> Result<Reply, Failure> {
    let site = match Site::of(event) {
        Ok(site) => site,
        Err(Missing::Nowhere) => return Ok(outside(event)),
        Err(Missing::Fault(why)) => return Ok(unchecked(&why)),
    };
    let background = background(event);
    if background.iter().any(Background::comes_back) {
        return Ok(Reply::Nothing);
    }
    let (who, trouble) = site.who(event);
    take_in(event, &site)?;
    let mut survey = match gate::survey(&site.place, &who) {
        Ok(survey) => survey,
        Err(error) => return Ok(unchecked(&error.to_string())),
    };
    if let Who::Session(session) = &who
        && arm::arm(event, &site, session)?
    {
        survey = gate::survey(&site.place, &who)?;
    }
    let (reasons, warning) = policy::stop(event, refusals(event, &site, &who));
    if !survey.blocks() && reasons.is_empty() {
        let reply = allowed(&survey, trouble.as_deref());
        return Ok(match warning {
            Some(text) => reply.with_message(&text),
            None => reply,
        });
    }
    refuse(
        event,
        &site,
        &Case {
            who,
            trouble,
            survey,
            reasons,
            background,
        },
    )
}

/// Outside any project only the user's own policies speak, and each turn is held back once.
fn outside(event: &Event) -> Reply {
    let again = is_again(event);
    let (reasons, warning) = policy::stop(event, u64::from(again));
    let texts: Vec<String> = reasons.into_iter().map(|reason| reason.text).collect();
    match (texts.is_empty(), again) {
        (true, _) => warning.map_or(Reply::Nothing, |text| Reply::message(&text)),
        (false, false) => Reply::Block(texts.join("\n")),
        (false, true) => Reply::message(&texts.join("\n")),
    }
}

/// Says whether a Stop hook made the agent go on before.
fn is_again(event: &Event) -> bool {
    let active = event.payload.get("stop_hook_active");
    active.is_some_and(Value::truth)
}

/// Returns how often the session's Stops were refused in a row.
fn refusals(event: &Event, site: &Site, who: &Who) -> u64 {
    if !is_again(event) {
        return 0;
    }
    let session = match who {
        Who::Session(session) => session.as_str(),
        Who::Unknown { .. } | Who::Nobody => "",
    };
    let known = site.place.sessions().read(&site.place.git_dir, session);
    u64::from(known.refusal.count).max(1)
}

/// Takes in what somebody wrote into DECISIONS.md since the last look.
fn take_in(event: &Event, site: &Site) -> Result<(), Failure> {
    let (true, Some(top)) = (site.project.is_started(), site.place.top.as_deref()) else {
        return Ok(());
    };
    let seen = (top, View::Decisions);
    if !view::is_touched(&site.place.operator, &site.place.git_dir, seen) {
        return Ok(());
    }
    let store = site.store(event)?;
    // What cannot be taken in stays where it is, and `reconcile` says why.
    let _ = gate::take_in(&site.gate(&store, None), top);
    Ok(())
}

/// A Stop that something stands against.
struct Case {
    who: Who,
    trouble: Option<String>,
    survey: Survey,
    reasons: Vec<Reason>,
    background: Vec<Background>,
}

fn background(event: &Event) -> Vec<Background> {
    let work = event.payload.background().into_iter();
    work.map(|work| Background {
        id: work.id,
        kind: work.kind,
    })
    .collect()
}

fn refuse(event: &Event, site: &Site, case: &Case) -> Result<Reply, Failure> {
    let repo = match site.project.open(&event.env) {
        Ok(repo) => repo,
        Err(error) => return Ok(unchecked(&error.to_string())),
    };
    let store = Store::open(repo);
    if let Some(fault) = fault(site, &store) {
        return Ok(unchecked(&fault));
    }
    let moment = Moment {
        began: event.began,
        now: site.clock.wall_ms() * 1000,
    };
    let answer = match gate::judge(
        &site.place,
        &case.who,
        (&case.survey, &case.reasons),
        (&case.background, moment),
    ) {
        Ok(answer) => answer,
        Err(error) => return Ok(unchecked(&error.to_string())),
    };
    Ok(match answer {
        Answer::Allow | Answer::Wait => Reply::Nothing,
        Answer::Refuse { count } => Reply::Block(words::refusal(
            site,
            (&case.who, case.trouble.as_deref()),
            (&case.survey, &case.reasons),
            count,
        )),
        Answer::Release(release) => released(site, &store, case, release),
    })
}

fn fault(site: &Site, store: &Store) -> Option<String> {
    let repo: Option<&Repo> = Some(store.repo()).filter(|repo| !repo.is_store());
    gate::fault(&site.gate(store, None), repo)
}

/// Lets the turn end although something stands against it, says so, and records it.
fn released(site: &Site, store: &Store, case: &Case, release: Release) -> Reply {
    let open: Vec<String> = case
        .survey
        .parts
        .mine
        .iter()
        .chain(&case.survey.parts.unowned)
        .map(|open| open.task.clone())
        .collect();
    let text = words::release(&case.survey, &open);
    if release == Release::Again {
        return Reply::message(&text);
    }
    let session = match &case.who {
        Who::Session(owner) => Some(owner),
        Who::Unknown { .. } | Who::Nobody => None,
    };
    let noted = gate::note_session(
        &site.gate(store, session),
        SessionEvent::Released,
        session,
        open,
    );
    match noted {
        Ok(record) => Reply::message(&format!("{text} (record {})", record.id.short())),
        Err(error) => Reply::message(&format!("{text} (not recorded: {error})")),
    }
}

/// Lets the turn end and tells what concerns others.
fn allowed(survey: &Survey, trouble: Option<&str>) -> Reply {
    let told = [words::failing(survey), words::foreign(survey)];
    let told: Vec<String> = told.into_iter().flatten().collect();
    let told = (!told.is_empty()).then(|| told.join("\n"));
    match (told, trouble) {
        (None, None) => Reply::Nothing,
        (None, Some(why)) => Reply::Talk(format!(
            "git-operator: payload unreadable: {why}; no task is open here"
        )),
        (Some(text), _) => Reply::message(&text),
    }
}

/// Says that the gate could not be looked at, in words that are no refusal.
fn unchecked(why: &str) -> Reply {
    Reply::message(&format!(
        "git-operator could not check for open tasks, so this turn ends unchecked: {why}"
    ))
}
