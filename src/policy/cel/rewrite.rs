//! Trees made from trees: patterns compiled, and the small changes that tests must notice.

use cel::common::{
    ast::{CallExpr, Expr, IdedExpr, LiteralValue, operators},
    types::{CelBool, CelInt, CelString},
};

use super::{
    Fault,
    functions::{GLOB, Patterns, REGEX},
    guard,
};
use crate::policy::{diagnostic::Code, glob::Globs, regex::Regex};

/// Makes each call of `matches` and `glob` use a pattern compiled here, once.
pub(super) fn patterns(
    node: &mut IdedExpr,
    source: &str,
    patterns: &mut Patterns,
    faults: &mut Vec<Fault>,
) {
    for child in guard::children_mut(node) {
        self::patterns(child, source, patterns, faults);
    }
    let Expr::Call(call) = &mut node.expr else {
        return;
    };
    let hoisted = match call.func_name.as_str() {
        "matches" => REGEX,
        "glob" => GLOB,
        _ => return,
    };
    let at = source.find(call.func_name.as_str()).unwrap_or(0);
    match compiled(call, patterns) {
        Ok(index) => {
            let target = call.target.take().map(|target| *target);
            call.args.splice(0..0, target);
            call.args
                .push(literal(LiteralValue::Int(CelInt::from(index))));
            hoisted.clone_into(&mut call.func_name);
        }
        Err((code, message)) => faults.push(Fault::new(code, at, message)),
    }
}

/// Returns the place of the call's pattern among those compiled.
fn compiled(call: &CallExpr, patterns: &mut Patterns) -> Result<i64, (Code, String)> {
    let refused = |reason: String| (Code::E08, reason);
    let given = call.args.len() + usize::from(call.target.is_some());
    if given != 2 {
        let message = format!("'{}' takes a text and a pattern", call.func_name);
        return Err(refused(message));
    }
    let Some(Expr::Literal(LiteralValue::String(pattern))) = call.args.last().map(|arg| &arg.expr)
    else {
        return Err(refused(format!(
            "the pattern of '{}' must be written out as a text",
            call.func_name
        )));
    };
    let pattern = pattern.inner();
    let index = if call.func_name == "glob" {
        glob_index(pattern, patterns).map_err(refused)?
    } else {
        regex_index(pattern, patterns)?
    };
    i64::try_from(index).map_err(|error| refused(error.to_string()))
}

fn glob_index(pattern: &str, patterns: &mut Patterns) -> Result<usize, String> {
    if let Some(index) = patterns
        .globs
        .iter()
        .position(|(known, _)| known == pattern)
    {
        return Ok(index);
    }
    let globs = Globs::new([pattern])?;
    patterns.globs.push((pattern.to_owned(), globs));
    Ok(patterns.globs.len() - 1)
}

fn regex_index(pattern: &str, patterns: &mut Patterns) -> Result<usize, (Code, String)> {
    if let Some(index) = patterns
        .regexes
        .iter()
        .position(|(known, _)| known == pattern)
    {
        return Ok(index);
    }
    let regex = Regex::new(pattern)?;
    patterns.regexes.push((pattern.to_owned(), regex));
    Ok(patterns.regexes.len() - 1)
}

fn literal(value: LiteralValue) -> IdedExpr {
    IdedExpr {
        id: 0,
        expr: Expr::Literal(value),
    }
}

/// Returns the tree with one change each: an operator turned, a negation dropped, a literal moved.
pub(super) fn mutants(tree: &IdedExpr) -> Vec<IdedExpr> {
    let mut found = Vec::new();
    let mut at = 0;
    loop {
        let mut copy = tree.clone();
        let mut left = at;
        if !mutate(&mut copy, &mut left) {
            return found;
        }
        found.push(copy);
        at += 1;
    }
}

/// Makes change number `left` in the tree; `false` when there are not that many.
fn mutate(node: &mut IdedExpr, left: &mut usize) -> bool {
    if let Some(changed) = changed(node) {
        if *left == 0 {
            *node = changed;
            return true;
        }
        *left -= 1;
    }
    written_parts(node)
        .into_iter()
        .any(|part| mutate(part, left))
}

/// Returns the parts of a node that somebody wrote, without what macros add and compiled patterns.
fn written_parts(node: &mut IdedExpr) -> Vec<&mut IdedExpr> {
    if !matches!(node.expr, Expr::Comprehension(_)) {
        let hoisted = matches!(&node.expr,
            Expr::Call(call) if call.func_name == REGEX || call.func_name == GLOB);
        let mut parts = guard::children_mut(node);
        if hoisted {
            parts.truncate(1);
        }
        return parts;
    }
    let Expr::Comprehension(fold) = &mut node.expr else {
        return Vec::new();
    };
    let mut parts = vec![&mut fold.iter_range];
    if let Expr::Call(step) = &mut fold.loop_step.expr {
        let at = usize::from(step.func_name != operators::CONDITIONAL);
        match step.args.get_mut(at) {
            Some(IdedExpr {
                expr: Expr::List(list),
                ..
            }) => parts.extend(&mut list.elements),
            test => parts.extend(test),
        }
    }
    parts
}

fn changed(node: &IdedExpr) -> Option<IdedExpr> {
    let expr = match &node.expr {
        Expr::Call(call) if call.func_name == operators::LOGICAL_NOT => {
            return call.args.first().cloned();
        }
        Expr::Call(call) => {
            let other = other_operator(&call.func_name)?;
            let mut call = call.clone();
            other.clone_into(&mut call.func_name);
            Expr::Call(call)
        }
        Expr::Literal(LiteralValue::Boolean(value)) => {
            Expr::Literal(LiteralValue::Boolean(CelBool::from(!*value.inner())))
        }
        Expr::Literal(LiteralValue::Int(value)) => {
            let value = value.inner().checked_add(1)?;
            Expr::Literal(LiteralValue::Int(CelInt::from(value)))
        }
        Expr::Literal(LiteralValue::String(text)) => {
            let text = format!("{}~", text.inner());
            Expr::Literal(LiteralValue::String(CelString::from(text)))
        }
        _ => return None,
    };
    Some(IdedExpr { id: node.id, expr })
}

fn other_operator(name: &str) -> Option<&'static str> {
    Some(match name {
        operators::LOGICAL_AND => operators::LOGICAL_OR,
        operators::LOGICAL_OR => operators::LOGICAL_AND,
        operators::EQUALS => operators::NOT_EQUALS,
        operators::NOT_EQUALS => operators::EQUALS,
        operators::LESS => operators::LESS_EQUALS,
        operators::LESS_EQUALS => operators::LESS,
        operators::GREATER => operators::GREATER_EQUALS,
        operators::GREATER_EQUALS => operators::GREATER,
        operators::ADD => operators::SUBSTRACT,
        operators::SUBSTRACT => operators::ADD,
        _ => return None,
    })
}

/// Returns the conditions that `&&` and `||` join, without those that only join others.
pub(super) fn operands(tree: &IdedExpr) -> Vec<&IdedExpr> {
    match &tree.expr {
        Expr::Call(call)
            if matches!(
                call.func_name.as_str(),
                operators::LOGICAL_AND | operators::LOGICAL_OR
            ) =>
        {
            call.args.iter().flat_map(operands).collect()
        }
        _ => vec![tree],
    }
}
