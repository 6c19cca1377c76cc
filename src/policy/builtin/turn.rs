//! Built-ins that look at a turn: what it leaves, what it did.

use super::{Answer, Params, tested::shows};
use crate::policy::facts::{Facts, texts};

/// The most paths or tasks that a reason names.
const SHOWN: usize = 20;
const REPEAT_MAX: i64 = 3;

fn listed(items: &[&str]) -> String {
    let mut out: String = items
        .iter()
        .take(SHOWN)
        .map(|item| format!("\n- {item}"))
        .collect();
    if items.len() > SHOWN {
        out.push_str(&format!("\n- and {} more", items.len() - SHOWN));
    }
    out
}

fn untracked() -> Answer {
    Answer::Unknown("the work ledger is not active here".to_owned())
}

pub(super) fn clean_tree(params: &Params, facts: &Facts) -> Answer {
    if !facts.is_tracked() {
        return untracked();
    }
    let left = params.covered(&facts.work_texts("uncommitted"));
    if left.is_empty() {
        return Answer::NoMatch("nothing is left uncommitted".to_owned());
    }
    Answer::Match(format!("these changes are not committed:{}", listed(&left)))
}

pub(super) fn tasks_closed(_: &Params, facts: &Facts) -> Answer {
    let open: Vec<&str> = facts.gate["mine"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
        .iter()
        .filter_map(|task| task["id"].as_str())
        .collect();
    if open.is_empty() {
        return Answer::NoMatch("no task of this session is open".to_owned());
    }
    Answer::Match(format!("these tasks are open:{}", listed(&open)))
}

/// Returns the files the session changed that the parameters leave in.
fn changed<'f>(params: &Params, facts: &'f Facts) -> Vec<&'f str> {
    params.covered(&facts.work_texts("touched"))
}

pub(super) fn tests_ran(params: &Params, facts: &Facts) -> Answer {
    if !facts.is_tracked() {
        return untracked();
    }
    let changed = changed(params, facts);
    if changed.is_empty() {
        return Answer::NoMatch("no file was changed".to_owned());
    }
    let patterns = params.commands("commands").unwrap_or_default();
    let passed = texts(&facts.event["turn"]["passed"]);
    let tested = passed
        .iter()
        .any(|line| patterns.iter().any(|pattern| shows(line, pattern)));
    if tested {
        return Answer::NoMatch("a test command succeeded after the last change".to_owned());
    }
    Answer::Match(format!(
        "no test command succeeded since these files changed:{}",
        listed(&changed)
    ))
}

pub(super) fn verdict_fresh(params: &Params, facts: &Facts) -> Answer {
    if !facts.is_tracked() {
        return untracked();
    }
    let changed = changed(params, facts);
    if changed.is_empty() {
        return Answer::NoMatch("no file was changed".to_owned());
    }
    let last = &facts.gate["last"];
    if last.is_null() {
        return Answer::Match(format!(
            "no verdict covers these files:{}",
            listed(&changed)
        ));
    }
    match last["fresh"].as_bool() {
        Some(true) => Answer::NoMatch("the newest verdict is about this source".to_owned()),
        Some(false) => Answer::Match(format!(
            "the newest verdict is older than these changes:{}",
            listed(&changed)
        )),
        None => Answer::Unknown("whether the newest verdict is fresh is not known".to_owned()),
    }
}

pub(super) fn repeat(params: &Params, facts: &Facts) -> Answer {
    let max = params.int("max").unwrap_or(REPEAT_MAX);
    let repeats = facts.event["turn"]["repeats"].as_i64().unwrap_or(0);
    if repeats < max {
        return Answer::NoMatch(format!("{repeats} equal calls before, the limit is {max}"));
    }
    Answer::Match(format!(
        "the same call was made {repeats} times before in this turn; change something first"
    ))
}

pub(super) fn budget(params: &Params, facts: &Facts) -> Answer {
    for (name, field) in [("tools", "calls"), ("blocks", "blocks")] {
        let used = facts.event["turn"][field].as_i64().unwrap_or(0);
        if let Some(max) = params.int(name).filter(|max| used > *max) {
            return Answer::Match(format!("{used} {field} in this turn; the limit is {max}"));
        }
    }
    Answer::NoMatch("within the limits".to_owned())
}
