//! A bound on what evaluating an expression costs, counted in steps instead of in time.
//!
//! The crate offers none. So what is evaluated is a second tree, in which parts whose cost depends on
//! the facts are wrapped in functions that count: each turn of a comprehension, and the size of what
//! other functions are given. What would make more than it is given is counted before it is made. An
//! expression therefore ends at the same step on every machine, whatever else that machine does, and
//! the memory it can take is bounded with it.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

use cel::{
    Context, DeclarationError, Env, ExecutionError, Value,
    common::{
        ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators},
        types::{CelInt, CelString, DYN_TYPE, INT_TYPE, LIST_TYPE, STRING_TYPE},
        value::{CowVal, Val},
    },
};

use super::{guard, lint, text};

/// How many steps the conditions and messages of one policy may take at one event.
pub(in crate::policy) const STEPS: u64 = 1_000_000;
/// How many bytes of text are one step.
const BYTES: usize = 64;

pub(super) const COST: &str = "@cost";
const JOIN: &str = "@join";
const REPLACE: &str = "@replace";
/// The second argument of `@cost` where each byte of a text is a step.
const EACH: i64 = -1;
/// The second argument of `@cost` where the items of a list are compared with one another.
const SQUARE: i64 = -2;

type Given<'b, 'v> = Vec<CowVal<'b, 'v>>;
type Answer<'b, 'v> = Result<CowVal<'b, 'v>, ExecutionError>;

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(STEPS) };
}

/// Unwinds an evaluation whose steps are used up: an error would be absorbed by `||` and `exists`.
struct Exhausted;

/// Begins to count anew.
pub(in crate::policy) fn begin() {
    LEFT.set(STEPS);
}

/// Allows fewer steps than a policy may take.
#[cfg(test)]
pub(super) fn allow(steps: u64) {
    LEFT.set(steps);
}

/// Returns how many steps may still be taken.
pub(super) fn left() -> u64 {
    LEFT.get()
}

/// Counts steps; ends the evaluation where there are not that many.
pub(super) fn charge(steps: usize) {
    let steps = u64::try_from(steps).unwrap_or(u64::MAX);
    let left = LEFT.get().checked_sub(steps);
    LEFT.set(left.unwrap_or(0));
    if left.is_none() {
        resume_unwind(Box::new(Exhausted));
    }
}

/// Evaluates a tree that `metered` made.
pub(super) fn resolve(tree: &IdedExpr, context: &Context<'_, '_>) -> Result<Value, String> {
    match catch_unwind(AssertUnwindSafe(|| Value::resolve(tree, context))) {
        Ok(value) => value.map_err(|error| text::error(&error)),
        Err(payload) if payload.is::<Exhausted>() => {
            Err(format!("it takes more than {STEPS} steps"))
        }
        Err(payload) => resume_unwind(payload),
    }
}

/// Adds the functions that count.
pub(super) fn declare(env: &mut Env) -> Result<(), DeclarationError> {
    let text = || STRING_TYPE;
    env.add_overload(COST, COST, vec![DYN_TYPE, INT_TYPE], cost)?;
    env.add_overload(JOIN, "@join1", vec![LIST_TYPE], join)?;
    env.add_overload(JOIN, "@join2", vec![LIST_TYPE, text()], join)?;
    env.add_overload(REPLACE, "@replace3", vec![text(), text(), text()], replace)?;
    let numbered = vec![text(), text(), text(), INT_TYPE];
    env.add_overload(REPLACE, "@replace4", numbered, replace)
}

fn cost<'b, 'v>(mut given: Given<'b, 'v>) -> Answer<'b, 'v> {
    let how = given.pop().and_then(|how| integer(how.as_ref()));
    let value = given
        .pop()
        .ok_or_else(|| ExecutionError::invalid_argument_count(2, 0))?;
    charge(cost_of(size(value.as_ref()), how));
    Ok(value)
}

/// Returns the steps of a value of so many bytes and items, by the second argument of `@cost`.
pub(super) fn cost_of((length, items): (usize, usize), how: Option<i64>) -> usize {
    match how {
        Some(EACH) => 1 + length.saturating_add(items),
        Some(SQUARE) => 1 + items.saturating_mul(items),
        how => {
            let steps = how.and_then(|steps| usize::try_from(steps).ok());
            1 + steps.unwrap_or(0) + items + length / BYTES
        }
    }
}

fn integer(value: &dyn Val) -> Option<i64> {
    value.downcast_ref::<CelInt>().map(|value| *value.inner())
}

fn bytes(value: &dyn Val) -> usize {
    let text = value.downcast_ref::<CelString<'_>>();
    text.map_or(0, |text| text.inner().len())
}

/// Returns the bytes of a text or of the texts in a list, and the number of items.
fn size(value: &dyn Val) -> (usize, usize) {
    let length = bytes(value);
    if length > 0 {
        return (length, 0);
    }
    let Some(list) = value.as_iterable() else {
        return (0, 0);
    };
    let (mut length, mut count) = (0_usize, 0_usize);
    let mut items = list.iter();
    while let Some(item) = items.next() {
        length = length.saturating_add(bytes(item));
        count += 1;
    }
    (length, count)
}

fn join<'b, 'v>(given: Given<'b, 'v>) -> Answer<'b, 'v> {
    let (list, separator) = match given.as_slice() {
        [list] => (list, ""),
        [list, separator] => (list, string(separator.as_ref())?),
        _ => return Err(ExecutionError::invalid_argument_count(2, given.len())),
    };
    let (length, count) = size(list.as_ref());
    let made = length.saturating_add(separator.len().saturating_mul(count));
    charge(1 + count + made / BYTES);
    let mut parts = Vec::with_capacity(count);
    if let Some(list) = list.as_iterable() {
        let mut items = list.iter();
        while let Some(item) = items.next() {
            parts.push(string(item)?);
        }
    }
    Ok(CowVal::owned(CelString::from(parts.join(separator))))
}

fn replace<'b, 'v>(given: Given<'b, 'v>) -> Answer<'b, 'v> {
    let [text, from, to, rest @ ..] = given.as_slice() else {
        return Err(ExecutionError::invalid_argument_count(3, given.len()));
    };
    let (text, from, to) = (
        string(text.as_ref())?,
        string(from.as_ref())?,
        string(to.as_ref())?,
    );
    let limit = rest.first().and_then(|limit| integer(limit.as_ref()));
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    charge(1 + text.len() / BYTES);
    let count = text.matches(from).count().min(limit.unwrap_or(usize::MAX));
    charge(count.saturating_add(to.len().saturating_mul(count) / BYTES));
    let made = match limit {
        Some(limit) => text.replacen(from, to, limit),
        None => text.replace(from, to),
    };
    Ok(CowVal::owned(CelString::from(made)))
}

fn string(value: &dyn Val) -> Result<&str, ExecutionError> {
    let text = value.downcast_ref::<CelString<'_>>();
    text.map(CelString::inner)
        .ok_or_else(|| ExecutionError::UnexpectedType {
            got: value.get_type().name().to_owned(),
            want: "string".to_owned(),
        })
}

/// Returns the tree with what counts in it.
pub(super) fn metered(tree: &IdedExpr) -> IdedExpr {
    let mut tree = tree.clone();
    meter(&mut tree);
    tree
}

fn meter(node: &mut IdedExpr) {
    match &mut node.expr {
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => {}
        Expr::Select(select) => meter(&mut select.operand),
        Expr::List(list) => list.elements.iter_mut().for_each(sized),
        Expr::Map(map) => {
            for entry in &mut map.entries {
                if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                    sized(&mut entry.key);
                    sized(&mut entry.value);
                }
            }
        }
        Expr::Struct(_) => guard::children_mut(node).into_iter().for_each(meter),
        Expr::Call(call) => metered_call(call),
        Expr::Comprehension(fold) => comprehension(fold),
    }
}

fn metered_call(call: &mut CallExpr) {
    let name = call.func_name.as_str();
    let decides = matches!(
        name,
        operators::LOGICAL_AND
            | operators::LOGICAL_OR
            | operators::LOGICAL_NOT
            | operators::CONDITIONAL
    );
    if decides {
        return call.args.iter_mut().for_each(meter);
    }
    if let Some(target) = call.target.as_deref_mut()
        && !lint::is_namespace(target)
    {
        match name {
            "distinct" => counted(target, SQUARE),
            "split" | "flatten" | "sort" => counted(target, EACH),
            _ => sized(target),
        }
    }
    call.args.iter_mut().for_each(sized);
    let bounded = match (name, call.args.len()) {
        ("join", 0 | 1) => JOIN,
        ("replace", 2 | 3) => REPLACE,
        _ => return,
    };
    if let Some(target) = call.target.take() {
        call.args.insert(0, *target);
        bounded.clone_into(&mut call.func_name);
    }
}

fn comprehension(fold: &mut ComprehensionExpr) {
    let weight = weight(&fold.loop_step);
    sized(&mut fold.iter_range);
    meter(&mut fold.accu_init);
    meter(&mut fold.result);
    step(&mut fold.loop_step, weight);
}

/// Counts a turn at what somebody wrote in it; the frame around that must keep its shape, by which
/// the crate knows how to run it.
fn step(node: &mut IdedExpr, weight: i64) {
    let Expr::Call(call) = &mut node.expr else {
        return counted(node, weight);
    };
    match (call.func_name.as_str(), call.args.as_mut_slice()) {
        (operators::CONDITIONAL, [test, added, _]) => {
            counted(test, weight);
            if let Expr::Call(call) = &mut added.expr {
                call.args.iter_mut().for_each(appended);
            }
        }
        (operators::LOGICAL_AND | operators::LOGICAL_OR, [_, test]) => counted(test, weight),
        (operators::ADD, [_, added]) => match &mut added.expr {
            Expr::List(list) => {
                for element in &mut list.elements {
                    counted(element, weight);
                }
            }
            _ => counted(added, weight),
        },
        _ => counted(node, weight),
    }
}

fn appended(node: &mut IdedExpr) {
    if let Expr::List(list) = &mut node.expr {
        list.elements.iter_mut().for_each(sized);
    }
}

fn weight(tree: &IdedExpr) -> i64 {
    let mut todo = vec![tree];
    let mut count = 0;
    while let Some(node) = todo.pop() {
        count += 1;
        todo.extend(guard::children(node));
    }
    count
}

fn sized(node: &mut IdedExpr) {
    match node.expr {
        Expr::Literal(_) => {}
        _ => counted(node, 0),
    }
}

/// Counts what a node comes to, and its parts.
fn counted(node: &mut IdedExpr, how: i64) {
    meter(node);
    let inner = std::mem::take(node);
    let how = IdedExpr {
        id: inner.id,
        expr: Expr::Literal(LiteralValue::Int(CelInt::from(how))),
    };
    *node = IdedExpr {
        id: inner.id,
        expr: Expr::Call(CallExpr {
            func_name: COST.to_owned(),
            target: None,
            args: vec![inner, how],
        }),
    };
}
