//! A trace as people and programs read it.

use serde_json::{Value, json};

use crate::{
    policy::{Facts, Level, Outcome, Policies, Ruling, Scope, Verdict},
    ui::{Context, Failure, printable},
};

/// Prints the facts, every policy with the parts of its condition, and the answer.
pub(super) fn text(
    policies: &Policies,
    facts: &[Facts],
    ruling: &Ruling,
    context: &Context,
) -> Result<(), Failure> {
    for line in facts.first().map(around).unwrap_or_default() {
        context.ui.line(printable(&line))?;
    }
    context.ui.line(counted(policies, facts))?;
    for facts in facts {
        context.ui.line(printable(&head(facts)))?;
        let here = ruling.outcomes.iter().filter(|outcome| {
            outcome.event == facts.name() && outcome.path.as_deref() == facts.path()
        });
        for outcome in here {
            print(outcome, context)?;
        }
    }
    for broken in policies.broken() {
        let line = format!("ERROR   {}", broken.fault);
        context.ui.line(printable(&line))?;
    }
    let restores = ruling.restores();
    if !restores.is_empty() {
        let line = format!("restore would put back {}", restores.join(", "));
        context.ui.line(printable(&line))?;
    }
    context.ui.line(format!("answer  {}", ruling.level()))
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome.verdict {
        Verdict::Match => match outcome.level {
            Level::Block => "BLOCK",
            Level::Ask => "ASK",
            Level::Warn => "WARN",
            Level::Context => "CONTEXT",
            Level::Log => "LOG",
            Level::Nothing => "match",
        },
        Verdict::Pass(_) => "pass",
        Verdict::Skip(_) => "skip",
        Verdict::Unknown(_) => "unknown",
        Verdict::Error(_) => "ERROR",
    }
}

fn reason(outcome: &Outcome) -> &str {
    match &outcome.verdict {
        Verdict::Match => "",
        Verdict::Pass(reason)
        | Verdict::Skip(reason)
        | Verdict::Unknown(reason)
        | Verdict::Error(reason) => reason,
    }
}

fn print(outcome: &Outcome, context: &Context) -> Result<(), Failure> {
    let head = format!(
        "{:7} {}  {}  {:.2} ms",
        word(outcome),
        outcome.policy,
        outcome.place,
        outcome.micros as f64 / 1_000.0
    );
    context.ui.line(printable(&head))?;
    if outcome.detail.is_empty() && !reason(outcome).is_empty() {
        let line = format!("          {}", reason(outcome));
        context.ui.line(printable(&line))?;
    }
    for line in &outcome.detail {
        context.ui.line(printable(&format!("          {line}")))?;
    }
    if let Some(paths) = &outcome.restore {
        let what = match paths.as_slice() {
            [] => "nothing to put back".to_owned(),
            paths => format!("would put back {}", paths.join(", ")),
        };
        context
            .ui
            .line(printable(&format!("          restore  {what}")))?;
    }
    for (level, text) in &outcome.texts {
        let text = text.replace('\n', "\n                   ");
        let line = format!("          {level:8} {text}");
        context.ui.line(printable(&line))?;
    }
    Ok(())
}

/// Prints one JSON object for the facts, one for each policy and one for the answer.
pub(super) fn json_lines(
    facts: &[Facts],
    ruling: &Ruling,
    context: &Context,
) -> Result<(), Failure> {
    for facts in facts {
        let members = json!({ "event": facts.event(), "work": facts.work(), "gate": facts.gate() });
        context.ui.json("facts", members)?;
    }
    for outcome in &ruling.outcomes {
        let texts: Vec<&str> = outcome
            .texts
            .iter()
            .map(|(_, text)| text.as_str())
            .collect();
        context.ui.json(
            "outcome",
            json!({
                "policy": outcome.policy, "place": outcome.place, "event": outcome.event.as_str(),
                "path": outcome.path, "verdict": word(outcome).to_lowercase(),
                "reason": reason(outcome), "level": outcome.level.as_str(), "texts": texts,
                "restore": outcome.restore, "parts": outcome.detail, "micros": outcome.micros,
            }),
        )?;
    }
    context.ui.json(
        "answer",
        json!({ "level": ruling.level().as_str(), "restore": ruling.restores() }),
    )
}

fn head(facts: &Facts) -> String {
    let data = &facts.event()["data"];
    let mut line = format!("event   {}", facts.name());
    for subject in [facts.path(), data["command"].as_str()]
        .into_iter()
        .flatten()
    {
        line.push_str(&format!(" {}", subject.replace('\n', "⏎")));
    }
    for field in ["via", "applied", "known", "lines", "exit_code", "blocks"] {
        if !data[field].is_null() {
            line.push_str(&format!("  {field}={}", plain(&data[field])));
        }
    }
    line
}

/// Returns what is known around an event, a line for each root.
fn around(facts: &Facts) -> Vec<String> {
    let (event, work, gate) = (facts.event(), facts.work(), facts.gate());
    let told = ["session", "branch", "head", "cwd", "mode"]
        .into_iter()
        .filter(|name| {
            let value = &event[*name];
            !value.is_null() && value.as_str() != Some("")
        });
    let told: Vec<String> = told
        .map(|name| format!("{name} {}", plain(&event[name])))
        .collect();
    let turn = &event["turn"];
    let mut lines = vec![
        format!("around  {}", told.join("  ")),
        format!(
            "turn    calls {}  blocks {}  repeats {}  passed {}",
            turn["calls"], turn["blocks"], turn["repeats"], turn["passed"]
        ),
    ];
    let fields = ["foreign", "mine", "uncommitted", "unattributed"];
    let listed = fields.map(|name| format!("{name} {}", work[name]));
    lines.push(format!(
        "work    tracked {}  {}",
        work["tracked"],
        listed.join("  ")
    ));
    if work["call"].is_object() {
        let fields = ["id", "foreign", "changed", "written", "restored"];
        let listed = fields.map(|name| format!("{name} {}", work["call"][name]));
        lines.push(format!("call    {}", listed.join("  ")));
    }
    let ids = |name: &str| {
        let tasks = gate[name].as_array().map(Vec::as_slice).unwrap_or_default();
        Value::from_iter(tasks.iter().map(|task| task["id"].clone()))
    };
    let last = match &gate["last"] {
        Value::Null => "none".to_owned(),
        last => format!(
            "{} {} {} fresh {}",
            plain(&last["result"]),
            plain(&last["id"]),
            plain(&last["stamp"]),
            last["fresh"]
        ),
    };
    let (mine, foreign) = (ids("mine"), ids("foreign"));
    lines.push(format!(
        "gate    mine {mine}  foreign {foreign}  last {last}"
    ));
    lines
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn counted(policies: &Policies, facts: &[Facts]) -> String {
    let of = |scope: Scope| {
        policies
            .list()
            .iter()
            .filter(|policy| policy.scope == scope)
            .count()
    };
    let here = |event| facts.iter().any(|facts| facts.name() == event);
    let skipped = policies
        .list()
        .iter()
        .filter(|policy| !policy.on.iter().any(|event| here(*event)));
    format!(
        "scopes  project {}, local {}, user {}, built-in {}; on other events {}",
        of(Scope::Project),
        of(Scope::Local),
        of(Scope::User),
        of(Scope::BuiltIn),
        skipped.count()
    )
}
