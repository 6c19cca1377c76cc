//! The functions that expressions have beside CEL's own.

use std::sync::Arc;

use cel::{Context, ExecutionError, FunctionContext, Value, common::types::CelString};

use super::meter;
use crate::policy::{glob::Globs, regex::Regex};

/// How many bytes of a text that is parted into lines are one step.
pub(super) const LINE: usize = 16;

/// The patterns of every expression, compiled once.
#[derive(Clone, Debug, Default)]
pub(in crate::policy) struct Patterns {
    pub(super) regexes: Vec<(String, Regex)>,
    pub(super) globs: Vec<(String, Globs)>,
}

/// The functions of ours: name, arguments, what it returns.
pub(in crate::policy) const OURS: &[(&str, &str)] = &[
    (
        "glob",
        "glob(path, pattern): whether a path matches a pattern as in .gitignore",
    ),
    (
        "under",
        "under(path, directory): whether a path lies in a directory or is it",
    ),
    (
        "added",
        "added(before, after): the lines of `after` that `before` does not have",
    ),
    ("lines", "lines(text): the lines of a text"),
    ("plural", "plural(n, word): '1 file', '2 files'"),
];

pub(super) const REGEX: &str = "@matches";
pub(super) const GLOB: &str = "@glob";

type Answer = Result<Value, ExecutionError>;

pub(super) fn add(context: &mut Context<'_, '_>, patterns: &Arc<Patterns>) {
    let regexes = Arc::clone(patterns);
    let matches = move |call: &FunctionContext<'_, '_>| -> Answer {
        let (text, index) = (argument(call, 0)?, index(call)?);
        let (_, regex) = regexes
            .regexes
            .get(index)
            .ok_or_else(|| call.error("no such pattern"))?;
        Ok(Value::Bool(regex.is_match(text)))
    };
    let globs = Arc::clone(patterns);
    let glob = move |call: &FunctionContext<'_, '_>| -> Answer {
        let (path, index) = (argument(call, 0)?, index(call)?);
        let (_, glob) = globs
            .globs
            .get(index)
            .ok_or_else(|| call.error("no such pattern"))?;
        Ok(Value::Bool(glob.matches(path)))
    };
    // None of the names is one of CEL's own, the only reason to be refused.
    let added = [
        context.add_function(REGEX, matches),
        context.add_function(GLOB, glob),
        context.add_function("under", under),
        context.add_function("added", added),
        context.add_function("lines", lines),
        context.add_function("plural", plural),
    ];
    debug_assert!(added.iter().all(Result::is_ok));
}

fn argument<'c>(call: &'c FunctionContext<'_, '_>, at: usize) -> Result<&'c str, ExecutionError> {
    let values: Vec<_> = call.this.iter().chain(&call.args).collect();
    let value = values
        .get(at)
        .ok_or_else(|| call.error("an argument is missing"))?;
    value
        .downcast_ref::<CelString<'_>>()
        .map(CelString::inner)
        .ok_or_else(|| {
            call.error(format!(
                "argument {} is no text but {}",
                at + 1,
                value.get_type().name()
            ))
        })
}

fn index(call: &FunctionContext<'_, '_>) -> Result<usize, ExecutionError> {
    let last = call
        .args
        .last()
        .map(|value| Value::try_from(value.as_ref()));
    match last {
        Some(Ok(Value::Int(index))) => {
            usize::try_from(index).map_err(|_| call.error("no such pattern"))
        }
        _ => Err(call.error("no such pattern")),
    }
}

fn under(call: &FunctionContext<'_, '_>) -> Answer {
    let (path, directory) = (argument(call, 0)?, argument(call, 1)?);
    Ok(Value::Bool(lies_under(path, directory)))
}

/// Says whether `path` is `directory` or lies in it; both are relative to the top.
pub(in crate::policy) fn lies_under(path: &str, directory: &str) -> bool {
    let directory = directory.trim_start_matches("./").trim_end_matches('/');
    let path = path.trim_start_matches("./");
    directory.is_empty()
        || directory == "."
        || path
            .strip_prefix(directory)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn added(call: &FunctionContext<'_, '_>) -> Answer {
    let (before, after) = (argument(call, 0)?, argument(call, 1)?);
    meter::charge((before.len() + after.len()) / LINE);
    Ok(list(added_lines(before, after)))
}

/// Returns the lines of `after` that stand there more often than in `before`.
pub(in crate::policy) fn added_lines<'a>(before: &str, after: &'a str) -> Vec<&'a str> {
    let mut counts = std::collections::HashMap::new();
    for line in before.lines() {
        *counts.entry(line).or_insert(0_usize) += 1;
    }
    after
        .lines()
        .filter(|line| match counts.get_mut(line) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        })
        .collect()
}

fn lines(call: &FunctionContext<'_, '_>) -> Answer {
    let text = argument(call, 0)?;
    meter::charge(text.len() / LINE + text.lines().count());
    Ok(list(text.lines().collect()))
}

fn list(items: Vec<&str>) -> Value {
    Value::from(items)
}

fn plural(call: &FunctionContext<'_, '_>) -> Answer {
    let count = call
        .this
        .iter()
        .chain(&call.args)
        .next()
        .map(|value| Value::try_from(value.as_ref()));
    let Some(Ok(Value::Int(count))) = count else {
        return Err(call.error("argument 1 is no integer"));
    };
    let word = argument(call, 1)?;
    let ending = if count == 1 { "" } else { "s" };
    Ok(Value::from(format!("{count} {word}{ending}")))
}
