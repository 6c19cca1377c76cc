//! Expressions: CEL by the crate `cel`, with the bounds it lacks.
//!
//! The crate has no limit on cost or depth and no type checker. Here the source is bounded before it
//! is parsed, the tree before it is evaluated, patterns are compiled once, names are checked against
//! the schema, evaluation counts its steps (`meter`) and happens on a thread whose stack is known
//! (`watch`).

mod functions;
mod guard;
mod kind;
mod lint;
pub(super) mod meter;
mod quick;
mod rewrite;
mod text;
mod trace;
mod value;

use std::sync::{Arc, OnceLock};

use cel::{Context, Env, Value, common::ast::IdedExpr, parser::PrattParser};

pub(super) use functions::{OURS, Patterns, added_lines, lies_under};
use lint::Lint;
pub(super) use lint::Purpose;
pub(super) use quick::{Content, Roots};
pub(super) use text::shown;
pub(super) use trace::{Outcome, Traced};
pub(super) use value::{json_value, to_json};

use super::{
    diagnostic::Code,
    effort::{self, Spent},
    event::EventName,
};

/// The longest expression.
pub(super) const LENGTH_LIMIT: usize = 4_096;
/// The most nodes of an expression.
pub(super) const NODE_LIMIT: usize = 2_000;
/// The deepest expression.
pub(super) const DEPTH_LIMIT: usize = 64;
/// How many bytes of an expression are read in one step.
const STEP_BYTES: usize = 2;
/// How deep comprehensions may stand in comprehensions.
pub(super) const NESTING_LIMIT: usize = 2;

/// A fault in an expression: its kind, where in the text it stands, what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) code: Code,
    /// The byte in the expression's text.
    pub(super) at: usize,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(code: Code, at: usize, message: impl Into<String>) -> Self {
        Self {
            code,
            at,
            message: message.into(),
        }
    }
}

/// An expression that may be evaluated.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    pub(super) source: String,
    tree: IdedExpr,
    fields: Vec<String>,
    /// The tree that is evaluated.
    metered: IdedExpr,
}

/// What an expression is checked for.
#[derive(Clone, Copy)]
pub(super) struct Checks<'a> {
    pub(super) events: &'a [EventName],
    pub(super) purpose: Purpose,
}

impl Expression {
    /// Accepts an expression; faults that are errors keep it from being returned.
    pub(super) fn new(
        source: &str,
        checks: Checks<'_>,
        patterns: &mut Patterns,
    ) -> (Option<Self>, Vec<Fault>) {
        let mut faults = Vec::new();
        let tree = match parse(source, &mut faults) {
            Ok(tree) => tree,
            Err(fault) => {
                faults.push(fault);
                return (None, faults);
            }
        };
        faults.extend(Lint::new(source, checks).check(&tree));
        let mut tree = tree;
        rewrite::patterns(&mut tree, source, patterns, &mut faults);
        let usable = faults.iter().all(|fault| fault.code.is_warning());
        let expression = Self::of(source.to_owned(), tree);
        (usable.then_some(expression), faults)
    }

    fn of(source: String, tree: IdedExpr) -> Self {
        Self {
            source,
            metered: meter::metered(&tree),
            fields: lint::fields(&tree),
            tree,
        }
    }

    /// Returns the value.
    pub(super) fn evaluate(&self, context: &Context<'_, '_>) -> Result<Value, String> {
        meter::resolve(&self.metered, context)
    }

    /// Returns whether the condition holds.
    pub(super) fn holds(&self, context: &Context<'_, '_>) -> Result<bool, String> {
        match self.evaluate(context)? {
            Value::Bool(value) => Ok(value),
            other => Err(format!(
                "the condition is {}, not true or false",
                shown(&other)
            )),
        }
    }

    /// Returns whether the condition holds, where that is certain without the crate.
    pub(super) fn quick(&self, roots: &Roots<'_, '_>) -> Option<bool> {
        quick::holds(&self.metered, roots)
    }

    /// Returns the value of every part.
    pub(super) fn trace(&self, context: &Context<'_, '_>) -> Traced {
        trace::trace(&self.tree, context)
    }

    /// Returns the paths of fields that it reads, such as `work.call.written`.
    pub(super) fn fields(&self) -> &[String] {
        &self.fields
    }

    /// Returns the expression as it is with one operator or literal changed, once for each.
    pub(super) fn mutants(&self) -> Vec<Self> {
        rewrite::mutants(&self.tree)
            .into_iter()
            .map(|tree| Self::of(text::unparse(&tree), tree))
            .collect()
    }

    /// Returns the conditions joined by `&&` and `||` in it, outermost first.
    pub(super) fn operands(&self) -> Vec<Self> {
        rewrite::operands(&self.tree)
            .into_iter()
            .map(|tree| Self::of(text::unparse(tree), tree.clone()))
            .collect()
    }
}

fn parse(source: &str, faults: &mut Vec<Fault>) -> Result<IdedExpr, Fault> {
    guard::source(source, faults)?;
    let steps = 1 + source.len() / STEP_BYTES;
    effort::spend(steps).map_err(|Spent(reason)| Fault::new(Code::E09, 0, reason))?;
    let tree = parser().parse(source).map_err(|errors| {
        let error = errors.errors.first();
        let at = error.map_or(0, |error| guard::offset(source, error.pos));
        let message = error.map_or("not an expression", |error| error.msg.as_str());
        Fault::new(Code::E04, at, text::syntax(message))
    })?;
    match guard::tree(&tree) {
        Ok(()) => Ok(tree),
        Err(fault) => {
            guard::dismantle(tree);
            Err(fault)
        }
    }
}

fn parser() -> PrattParser {
    PrattParser::new()
        .max_recursion_depth(DEPTH_LIMIT as u16)
        .error_recovery_limit(4)
        .max_expression_node_count(NODE_LIMIT)
        .enable_optional_syntax(true)
}

/// Returns the functions of expressions.
pub(super) fn environment() -> Arc<Env> {
    static ENVIRONMENT: OnceLock<Arc<Env>> = OnceLock::new();
    Arc::clone(ENVIRONMENT.get_or_init(|| {
        let mut env = Env::stdlib();
        // Both add names that nothing before declares.
        for extension in [cel::extensions::strings, cel::extensions::lists] {
            extension(&mut env).expect("a fresh environment has none of the extension's names");
        }
        meter::declare(&mut env).expect("no name of CEL begins with '@'");
        Arc::new(env)
    }))
}

/// Returns a context with the functions of expressions and the three variables.
pub(super) fn context(
    patterns: &Arc<Patterns>,
    roots: [(&str, Value); 3],
) -> Context<'static, 'static> {
    let mut context = Context::with_env(environment());
    functions::add(&mut context, patterns);
    for (name, value) in roots {
        context.add_variable_from_value(name, value);
    }
    context
}

#[cfg(test)]
mod meter_tests;
#[cfg(test)]
mod quick_tests;
#[cfg(test)]
mod spec_tests;
#[cfg(test)]
mod tests;
