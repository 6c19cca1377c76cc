//! PASS and MOOT above a line, FAIL below it, by day or by longer stretches.

use maud::{Markup, html};

use super::{
    facts::Facts,
    links::{count, number},
};
use crate::model::{Outcome, time};

const DAY: u64 = 24 * 60 * 60 * 1000;
/// 2005-04-07, git's own first commit: no verdict is older.
const FIRST: u64 = 1_112_832_000_000;
/// How many bars a reader can tell apart.
const BARS: u64 = 60;
const HEIGHT: usize = 100;

/// The verdicts of one stretch of days.
#[derive(Clone, Copy, Default)]
struct Bin {
    /// Its first day, since 1970.
    day: u64,
    pass: usize,
    fail: usize,
    moot: usize,
}

impl Bin {
    fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Pass => self.pass += 1,
            Outcome::Fail => self.fail += 1,
            Outcome::Moot => self.moot += 1,
        }
    }

    fn date(&self) -> String {
        time::format_date(self.day * DAY)
    }

    fn says(&self) -> String {
        format!(
            "{}: {} PASS, {} FAIL, {} MOOT",
            self.date(),
            self.pass,
            self.fail,
            self.moot
        )
    }
}

pub(super) fn html(facts: &Facts<'_>) -> Markup {
    let usable = |at: u64| (FIRST..=facts.ask.now + DAY).contains(&at);
    let all: Vec<(u64, Outcome)> = facts
        .verdicts()
        .map(|(record, verdict)| (record.time, verdict.outcome))
        .collect();
    let timed: Vec<(u64, Outcome)> = all.iter().copied().filter(|(at, _)| usable(*at)).collect();
    let left_out = all.len() - timed.len();
    html! {
        @if timed.is_empty() { p { "No verdict says when it was made." } }
        @else { (plot(&timed)) }
        @if left_out > 0 {
            p.note { (count(left_out, "verdict")) " left out: imported rows have no time, and a time before git or after today is none." }
        }
    }
}

fn plot(timed: &[(u64, Outcome)]) -> Markup {
    let (bins, days) = bins(timed);
    let up = bins
        .iter()
        .map(|bin| bin.pass + bin.moot)
        .max()
        .unwrap_or(0);
    let down = bins.iter().map(|bin| bin.fail).max().unwrap_or(0);
    let stretch = match days {
        1 => "a day".to_owned(),
        7 => "a week".to_owned(),
        days => format!("{days} days"),
    };
    let (first, last) = (bins[0].date(), bins[bins.len() - 1].date());
    html! {
        figure {
            figcaption {
                "Each bar is " (stretch) ". " span.key.pass { "PASS" } " and " span.key.moot { "MOOT" }
                " rise, " span.key.fail { "FAIL" } " hangs."
            }
            div.plot {
                div.scale aria-hidden="true" { span { (number(up)) } span { @if down > 0 { (number(down)) } } }
                (svg(&bins, (up, down)))
                div.dates aria-hidden="true" { span { (first) } @if bins.len() > 1 { span { (last) } } }
            }
        }
        (table(&bins))
    }
}

/// Returns the stretches from the first to the last verdict, and how many days each has.
fn bins(timed: &[(u64, Outcome)]) -> (Vec<Bin>, u64) {
    let days = timed.iter().map(|(at, _)| at / DAY);
    let first = days.clone().min().unwrap_or(0);
    let last = days.max().unwrap_or(0);
    let span = last - first + 1;
    let fits = [1, 7, 28]
        .into_iter()
        .find(|days| span.div_ceil(*days) <= BARS);
    let width = fits.unwrap_or_else(|| span.div_ceil(BARS));
    let mut bins: Vec<Bin> = (0..span.div_ceil(width))
        .map(|at| Bin {
            day: first + at * width,
            ..Bin::default()
        })
        .collect();
    for (at, outcome) in timed {
        bins[((at / DAY - first) / width) as usize].add(*outcome);
    }
    (bins, width)
}

fn svg(bins: &[Bin], (up, down): (usize, usize)) -> Markup {
    let total = (up + down).max(1);
    let zero = HEIGHT * up / total;
    let width = bins.len() * 10;
    // A stretch with any verdict shows, however many others have.
    let tall = |count: usize| {
        if count == 0 {
            0
        } else {
            (HEIGHT * count / total).max(1)
        }
    };
    let sum = |of: fn(&Bin) -> usize| number(bins.iter().map(of).sum());
    html! {
        svg role="img" aria-labelledby="plot-title plot-desc" viewBox={ "0 0 " (width) " " (HEIGHT) } preserveAspectRatio="none" {
            title id="plot-title" { "Verdicts over time" }
            desc id="plot-desc" {
                (sum(|bin| bin.pass)) " PASS, " (sum(|bin| bin.fail)) " FAIL and " (sum(|bin| bin.moot))
                " MOOT; the table below has the numbers."
            }
            @for (at, bin) in bins.iter().enumerate() {
                @let x = at * 10 + 1;
                @let (pass, moot, fail) = (tall(bin.pass), tall(bin.moot), tall(bin.fail));
                g {
                    title { (bin.says()) }
                    rect.hit x=(at * 10) y="0" width="10" height=(HEIGHT) {}
                    @if pass > 0 { rect.pass x=(x) y=(zero.saturating_sub(pass)) width="8" height=(pass) {} }
                    @if moot > 0 { rect.moot x=(x) y=(zero.saturating_sub(pass + moot)) width="8" height=(moot) {} }
                    @if fail > 0 { rect.fail x=(x) y=(zero) width="8" height=(fail) {} }
                }
            }
            line.zero x1="0" x2=(width) y1=(zero) y2=(zero) {}
        }
    }
}

/// The same as the plot, in numbers, newest first.
fn table(bins: &[Bin]) -> Markup {
    let filled = bins
        .iter()
        .rev()
        .filter(|bin| bin.pass + bin.fail + bin.moot > 0);
    html! {
        details {
            summary { "The same in numbers" }
            div.wide role="region" tabindex="0" aria-label="Verdicts over time, in numbers" {
                table {
                    caption { "Verdicts from each date on, newest first" }
                    thead { tr { th scope="col" { "From" } th.n scope="col" { "PASS" } th.n scope="col" { "FAIL" } th.n scope="col" { "MOOT" } } }
                    tbody {
                        @for bin in filled {
                            tr { th scope="row" { (bin.date()) } td.n { (number(bin.pass)) } td.n { (number(bin.fail)) } td.n { (number(bin.moot)) } }
                        }
                    }
                }
            }
        }
    }
}
