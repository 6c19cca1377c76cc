//! Each commit that records name: its verdicts, and which of its paths sessions wrote.

use std::collections::HashMap;

use maud::{Markup, html};

use super::{
    facts::{Facts, Known},
    links::{self, TEXT, count, number, text},
};
use crate::model::{Body, Outcome, Work, time};

/// How many commits stand open before the months.
const FIRST: usize = 25;

/// What records say of one commit.
#[derive(Default)]
struct Said<'a> {
    pass: usize,
    fail: usize,
    moot: usize,
    work: Option<&'a Work>,
}

type Line<'a> = (&'a str, Option<&'a Known>, Said<'a>);

pub(super) fn html(facts: &Facts<'_>) -> Markup {
    if facts.commits.is_empty() {
        return html! { p { "No record names a commit." } };
    }
    let mut said = said(facts);
    let lines: Vec<Line<'_>> = facts
        .commits
        .iter()
        .map(|(id, known)| {
            (
                id.as_str(),
                known.as_ref(),
                said.remove(id).unwrap_or_default(),
            )
        })
        .collect();
    let (first, rest) = lines.split_at(lines.len().min(FIRST));
    html! {
        (shares(facts))
        (table("The newest commits that records name", first))
        @for (month, some) in months(rest) {
            details {
                summary { (month) ": " (count(some.len(), "commit")) }
                (table(&format!("Commits of {month}"), some))
            }
        }
    }
}

fn said<'a>(facts: &Facts<'a>) -> HashMap<String, Said<'a>> {
    let mut said: HashMap<String, Said<'_>> = HashMap::new();
    for record in &facts.records {
        let commits = record.commits();
        let [commit] = commits.as_slice() else {
            continue;
        };
        let of = said.entry(facts.whole(commit)).or_default();
        match &record.body {
            Body::Verdict(verdict) => match verdict.outcome {
                Outcome::Pass => of.pass += 1,
                Outcome::Fail => of.fail += 1,
                Outcome::Moot => of.moot += 1,
            },
            Body::Work(work) => of.work = Some(work),
            _ => {}
        }
    }
    said
}

/// Returns how many paths sessions wrote and how many they did not.
fn parts(work: &Work) -> (usize, usize) {
    let mine = work.mine.iter().map(|(_, paths)| paths.len()).sum();
    (mine, work.other.len())
}

fn shares(facts: &Facts<'_>) -> Markup {
    let works = facts
        .records
        .iter()
        .filter_map(|record| match &record.body {
            Body::Work(work) => Some(work),
            _ => None,
        });
    let (commits, (mine, other)) = works.fold((0, (0, 0)), |(commits, (mine, other)), work| {
        let (more, others) = parts(work);
        (commits + 1, (mine + more, other + others))
    });
    html! {
        @if commits == 0 {
            p.note { "No commit says whose its paths are: the work ledger writes that down when " code { "operator.work" } " is true." }
        } @else {
            p {
                (count(commits, "commit")) " say whose their paths are: " span.key.session { (number(mine)) " by sessions" }
                ", " span.key.people { (number(other)) " by people" } ". A commit without such a record is not told apart."
            }
        }
    }
}

fn months<'a, 'b>(lines: &'b [Line<'a>]) -> Vec<(String, &'b [Line<'a>])> {
    let month = |known: Option<&Known>| match known {
        Some(known) => time::format_date(known.time)[..7].to_owned(),
        None => "not in this clone".to_owned(),
    };
    let chunks = lines.chunk_by(|one, other| month(one.1) == month(other.1));
    chunks.map(|some| (month(some[0].1), some)).collect()
}

fn table(caption: &str, lines: &[Line<'_>]) -> Markup {
    html! {
        div.wide role="region" tabindex="0" aria-label=(caption) {
            table {
                caption { (caption) }
                thead { tr { th scope="col" { "Commit" } th scope="col" { "Subject" } th.n scope="col" { "PASS" } th.n scope="col" { "FAIL" } th.n scope="col" { "MOOT" } th scope="col" { "Paths by sessions and by people" } } }
                tbody { @for line in lines { (row(line)) } }
            }
        }
    }
}

fn row((id, known, said): &Line<'_>) -> Markup {
    let short: String = id.chars().take(12).collect();
    let plain = short.chars().all(|c| c.is_ascii_alphanumeric());
    html! {
        tr id=[plain.then(|| format!("c-{short}"))] {
            th scope="row" { span.id { (links::text(&short, 13)) } }
            td {
                @if let Some(known) = known { (text(&known.subject, TEXT)) span.under { (links::moment(known.time)) } }
                @else { span.none { "not in this clone" } }
            }
            td.n { (number(said.pass)) }
            td.n { (number(said.fail)) }
            td.n { (number(said.moot)) }
            td { @if let Some(work) = said.work { (share(work)) } @else { span.none { "not recorded" } } }
        }
    }
}

fn share(work: &Work) -> Markup {
    let (mine, other) = parts(work);
    let all = mine + other;
    let left = (mine * 100).checked_div(all).unwrap_or(0);
    let sessions: Vec<&str> = work
        .mine
        .iter()
        .map(|(session, _)| session.as_str())
        .collect();
    html! {
        @if all > 0 {
            svg.share aria-hidden="true" viewBox="0 0 100 8" preserveAspectRatio="none" {
                rect.session x="0" y="0" width=(left) height="8" {}
                rect.people x=(left) y="0" width=(100 - left) height="8" {}
            }
        }
        span.under {
            (number(mine)) " by sessions" @if !sessions.is_empty() { " (" (text(&sessions.join(", "), 60)) ")" }
            ", " (number(other)) " by people"
            @if work.omitted > 0 { ", " (count(usize::try_from(work.omitted).unwrap_or(usize::MAX), "path")) " not written down" }
        }
    }
}
