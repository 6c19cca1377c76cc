//! The value of every part of an expression.

use cel::{
    Context, Value,
    common::ast::{CallExpr, Expr, IdedExpr, operators},
};

use super::{guard, lint, meter, text};

/// A part of an expression and what came of it.
#[derive(Clone, Debug)]
pub(in crate::policy) struct Traced {
    pub(in crate::policy) text: String,
    pub(in crate::policy) outcome: Outcome,
    pub(in crate::policy) parts: Vec<Self>,
}

/// What came of a part.
#[derive(Clone, Debug)]
pub(in crate::policy) enum Outcome {
    Value(Value),
    Error(String),
    /// Nothing: what stands beside it had decided.
    Unused,
}

pub(super) fn trace(node: &IdedExpr, context: &Context<'_, '_>) -> Traced {
    meter::begin();
    let outcome = match meter::resolve(&meter::metered(node), context) {
        Ok(value) => Outcome::Value(value),
        Err(error) => Outcome::Error(error),
    };
    Traced {
        text: text::unparse(node),
        outcome,
        parts: parts(node, context),
    }
}

fn parts(node: &IdedExpr, context: &Context<'_, '_>) -> Vec<Traced> {
    match &node.expr {
        Expr::Literal(_) | Expr::Ident(_) | Expr::Unspecified => Vec::new(),
        _ if lint::path(node).is_some() => Vec::new(),
        Expr::Call(call) => call_parts(call, context),
        Expr::Comprehension(fold) => kept([&fold.iter_range], context),
        _ => kept(guard::children(node), context),
    }
}

fn call_parts(call: &CallExpr, context: &Context<'_, '_>) -> Vec<Traced> {
    let deciding = match call.func_name.as_str() {
        operators::LOGICAL_AND => Some(false),
        operators::LOGICAL_OR => Some(true),
        _ => None,
    };
    if let (Some(deciding), [left, right]) = (deciding, call.args.as_slice()) {
        let left = trace(left, context);
        let decided =
            matches!(left.outcome, Outcome::Value(Value::Bool(value)) if value == deciding);
        let right = if decided {
            unused(right)
        } else {
            trace(right, context)
        };
        return vec![left, right];
    }
    if let (operators::CONDITIONAL, [test, yes, no]) =
        (call.func_name.as_str(), call.args.as_slice())
    {
        let test = trace(test, context);
        let (yes, no) = match test.outcome {
            Outcome::Value(Value::Bool(true)) => (trace(yes, context), unused(no)),
            Outcome::Value(Value::Bool(false)) => (unused(yes), trace(no, context)),
            _ => (unused(yes), unused(no)),
        };
        return vec![test, yes, no];
    }
    kept(
        call.target.iter().map(AsRef::as_ref).chain(&call.args),
        context,
    )
}

/// Traces the parts that say more than their text does.
fn kept<'a>(
    nodes: impl IntoIterator<Item = &'a IdedExpr>,
    context: &Context<'_, '_>,
) -> Vec<Traced> {
    nodes
        .into_iter()
        .filter(|node| !matches!(node.expr, Expr::Literal(_)))
        .map(|node| trace(node, context))
        .collect()
}

fn unused(node: &IdedExpr) -> Traced {
    Traced {
        text: text::unparse(node),
        outcome: Outcome::Unused,
        parts: Vec::new(),
    }
}
