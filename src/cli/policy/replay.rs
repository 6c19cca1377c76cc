//! Recorded events judged again by the policies as they are.

use std::sync::Arc;

use super::operator;
use crate::{
    model::time,
    policy::{self, Limits, Policies},
    rules::{Moments, speaking},
    ui::{Context, Exit, Failure, printable},
};

pub(super) fn run(policies: Policies, session: &str, context: &Context) -> Result<Exit, Failure> {
    let moments = Moments::new(&operator(context)?).read(Some(session))?;
    if moments.is_empty() {
        let message = format!("cannot replay '{session}': no event of it is recorded");
        return Err(Failure::new(Exit::No, message));
    }
    let policies = Arc::new(policies);
    let (mut changed, mut lost) = (0, 0);
    for moment in &moments {
        let head = format!(
            "{} {} {}",
            time::format_time(moment.time),
            moment.hook,
            moment.subject()
        );
        let facts = match moment.facts() {
            Ok(facts) => facts,
            Err(reason) => {
                lost += 1;
                context
                    .ui
                    .line(printable(&format!("{head}: not judged: {reason}")))?;
                continue;
            }
        };
        let ruling = policy::judge(&policies, facts, Limits::patient());
        let (level, ids) = (ruling.level().to_string(), speaking(&ruling));
        if (&level, &ids) == (&moment.level, &moment.policies) {
            continue;
        }
        changed += 1;
        let before = said(&moment.level, &moment.policies);
        let line = format!("{head}: {before} is {} now", said(&level, &ids));
        context.ui.line(printable(&line))?;
    }
    context.ui.line(format!(
        "{} events judged again, {changed} decided otherwise, {lost} not judged",
        moments.len() - lost
    ))?;
    Ok(if changed + lost > 0 {
        Exit::No
    } else {
        Exit::Done
    })
}

fn said(level: &str, ids: &[String]) -> String {
    match ids {
        [] => level.to_owned(),
        ids => format!("{level} by {}", ids.join(", ")),
    }
}
