//! Bounds on an expression, before it is parsed and before it is evaluated.

use cel::common::ast::{EntryExpr, Expr, IdedExpr};

use super::{DEPTH_LIMIT, Fault, LENGTH_LIMIT, NESTING_LIMIT, NODE_LIMIT};
use crate::policy::diagnostic::Code;

/// Checks the text: its length, and control characters, which the parsers disagree about.
pub(super) fn source(source: &str, faults: &mut Vec<Fault>) -> Result<(), Fault> {
    if source.len() > LENGTH_LIMIT {
        return Err(Fault::new(
            Code::E09,
            0,
            format!("the expression is longer than {LENGTH_LIMIT} bytes"),
        ));
    }
    if source.trim().is_empty() {
        return Err(Fault::new(Code::E11, 0, "the expression is empty"));
    }
    for (at, c, quoted) in characters(source) {
        let refused = match c {
            '\n' => quoted,
            '\t' => {
                if quoted {
                    let message = "a raw tab stands in the text; write '\\t'";
                    faults.push(Fault::new(Code::W07, at, message));
                }
                false
            }
            c => c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}'),
        };
        if refused {
            let message = format!(
                "the expression holds the control character U+{:04X}",
                u32::from(c)
            );
            return Err(Fault::new(Code::E04, at, message));
        }
    }
    Ok(())
}

/// Yields each character with its place and whether it stands between quotes.
fn characters(source: &str) -> impl Iterator<Item = (usize, char, bool)> {
    let mut quote: Option<char> = None;
    let mut escaped = false;
    source.char_indices().map(move |(at, c)| {
        let quoted = quote.is_some();
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(open) if c == open => quote = None,
            None if c == '\'' || c == '"' => quote = Some(c),
            _ => {}
        }
        (at, c, quoted)
    })
}

/// Returns the places and characters that stand outside quotes.
pub(super) fn unquoted(source: &str) -> Vec<(usize, char)> {
    characters(source)
        .filter(|(_, c, quoted)| !quoted && *c != '\'' && *c != '"')
        .map(|(at, c, _)| (at, c))
        .collect()
}

/// Returns the byte of a line and column counted from 1.
pub(super) fn offset(source: &str, (line, column): (isize, isize)) -> usize {
    let line = usize::try_from(line).unwrap_or(1).saturating_sub(1);
    let column = usize::try_from(column).unwrap_or(1).saturating_sub(1);
    let start: usize = source.split_inclusive('\n').take(line).map(str::len).sum();
    let mut at = (start + column).min(source.len());
    while !source.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Checks the size, the depth and the nesting of a tree without recursion.
pub(super) fn tree(tree: &IdedExpr) -> Result<(), Fault> {
    let mut todo = vec![(tree, 1_usize, 0_usize)];
    let mut count = 0;
    while let Some((node, depth, nesting)) = todo.pop() {
        count += 1;
        let limit = if count > NODE_LIMIT {
            format!("the expression has more than {NODE_LIMIT} parts")
        } else if depth > DEPTH_LIMIT {
            format!("the expression is deeper than {DEPTH_LIMIT} levels")
        } else if nesting > NESTING_LIMIT {
            format!("more than {NESTING_LIMIT} of all, exists, map and filter stand in one another")
        } else {
            let inner = nesting + usize::from(matches!(node.expr, Expr::Comprehension(_)));
            for child in children(node) {
                todo.push((child, depth + 1, inner));
            }
            continue;
        };
        return Err(Fault::new(Code::E09, 0, limit));
    }
    Ok(())
}

/// Returns the parts of a node.
pub(super) fn children(node: &IdedExpr) -> Vec<&IdedExpr> {
    match &node.expr {
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => Vec::new(),
        Expr::Call(call) => call
            .target
            .iter()
            .map(AsRef::as_ref)
            .chain(&call.args)
            .collect(),
        Expr::Comprehension(fold) => vec![
            &fold.iter_range,
            &fold.accu_init,
            &fold.loop_cond,
            &fold.loop_step,
            &fold.result,
        ],
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Select(select) => vec![&select.operand],
        Expr::Map(map) => map
            .entries
            .iter()
            .flat_map(|entry| entry_parts(&entry.expr))
            .collect(),
        Expr::Struct(body) => body
            .entries
            .iter()
            .flat_map(|entry| entry_parts(&entry.expr))
            .collect(),
    }
}

fn entry_parts(entry: &EntryExpr) -> Vec<&IdedExpr> {
    match entry {
        EntryExpr::StructField(field) => vec![&field.value],
        EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
    }
}

/// Returns the parts of a node to change them.
pub(super) fn children_mut(node: &mut IdedExpr) -> Vec<&mut IdedExpr> {
    match &mut node.expr {
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => Vec::new(),
        Expr::Call(call) => call
            .target
            .iter_mut()
            .map(AsMut::as_mut)
            .chain(&mut call.args)
            .collect(),
        Expr::Comprehension(fold) => vec![
            &mut fold.iter_range,
            &mut fold.accu_init,
            &mut fold.loop_cond,
            &mut fold.loop_step,
            &mut fold.result,
        ],
        Expr::List(list) => list.elements.iter_mut().collect(),
        Expr::Select(select) => vec![select.operand.as_mut()],
        Expr::Map(map) => map
            .entries
            .iter_mut()
            .flat_map(|entry| entry_parts_mut(&mut entry.expr))
            .collect(),
        Expr::Struct(body) => body
            .entries
            .iter_mut()
            .flat_map(|entry| entry_parts_mut(&mut entry.expr))
            .collect(),
    }
}

fn entry_parts_mut(entry: &mut EntryExpr) -> Vec<&mut IdedExpr> {
    match entry {
        EntryExpr::StructField(field) => vec![&mut field.value],
        EntryExpr::MapEntry(entry) => vec![&mut entry.key, &mut entry.value],
    }
}

/// Drops a tree of any depth without recursion: dropped whole, a deep one overflows the stack.
pub(super) fn dismantle(tree: IdedExpr) {
    let mut todo = vec![tree];
    while let Some(mut node) = todo.pop() {
        todo.extend(children_mut(&mut node).into_iter().map(std::mem::take));
    }
}
