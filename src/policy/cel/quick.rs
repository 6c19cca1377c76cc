//! Conditions of the common kind, answered without the crate that evaluates expressions.
//!
//! The crate copies values, looks up every function by its name and makes a scope for each turn of a
//! comprehension, a thousand times the work of the comparison itself. Here the same tree is gone
//! through over the facts as they are. Whatever is not certain to be a plain value of a known kind (an
//! error, a number with a fraction, a function that is not listed) is not answered: the crate
//! evaluates the condition then, from its beginning. Steps are counted as `meter` counts them.

use std::{cell::OnceCell, rc::Rc};

use cel::common::ast::{CallExpr, ComprehensionExpr, Expr, IdedExpr, LiteralValue, operators};
use serde_json::{Map, Value};

use super::{
    functions::{GLOB, LINE, Patterns, REGEX, lies_under},
    lint, meter,
};

/// The variables of expressions as the facts hold them, and the compiled patterns.
pub(in crate::policy) struct Roots<'a, 'f> {
    pub(in crate::policy) event: &'a Value,
    pub(in crate::policy) work: &'a Value,
    pub(in crate::policy) gate: &'a Value,
    pub(in crate::policy) patterns: &'a Patterns,
    pub(in crate::policy) content: &'a Content<'f>,
}

/// The content that an event is about, parted into lines once for all expressions that ask for them.
pub(in crate::policy) struct Content<'f> {
    text: &'f str,
    lines: OnceCell<Rc<[Quick<'f>]>>,
}

impl<'f> Content<'f> {
    pub(in crate::policy) fn new(text: &'f str) -> Self {
        Self {
            text,
            lines: OnceCell::new(),
        }
    }

    /// Returns the lines where `text` is the content itself.
    fn lines(&self, text: &str) -> Option<Rc<[Quick<'f>]>> {
        let is_same = std::ptr::eq(text, self.text);
        is_same.then(|| Rc::clone(self.lines.get_or_init(|| lines(self.text))))
    }
}

fn lines(text: &str) -> Rc<[Quick<'_>]> {
    let mut lines = Vec::with_capacity(1 + text.bytes().filter(|byte| *byte == b'\n').count());
    lines.extend(text.lines().map(Quick::Text));
    lines.into()
}

/// A value that borrows from the facts or from the expression.
#[derive(Clone, Debug)]
enum Quick<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Text(&'a str),
    List(Rc<[Self]>),
    Map(&'a Map<String, Value>),
}

impl<'a> Quick<'a> {
    /// Accepts what expressions see as the same kind of value.
    fn of(value: &'a Value) -> Option<Self> {
        Some(match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Int(number.as_i64()?),
            Value::String(text) => Self::Text(text),
            Value::Array(items) => Self::List(items.iter().map(Self::of).collect::<Option<_>>()?),
            Value::Object(entries) => Self::Map(entries),
        })
    }

    fn truth(self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(value),
            _ => None,
        }
    }

    fn text(self) -> Option<&'a str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Says whether two values are equal; lists and maps are not compared with one another.
    fn equals(&self, other: &Self) -> Option<bool> {
        Some(match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(left), Self::Bool(right)) => left == right,
            (Self::Int(left), Self::Int(right)) => left == right,
            (Self::Text(left), Self::Text(right)) => left == right,
            (Self::List(_) | Self::Map(_), Self::List(_) | Self::Map(_)) => return None,
            _ => false,
        })
    }

    /// Returns the bytes of a text, or of the texts in a list or of the keys of a map, and how many.
    fn size(&self) -> (usize, usize) {
        let bytes = |item: &Self| match item {
            Self::Text(text) => text.len(),
            _ => 0,
        };
        match self {
            Self::Null | Self::Bool(_) | Self::Int(_) => (0, 0),
            Self::Text(text) => (text.len(), 0),
            Self::List(items) => (items.iter().map(bytes).sum(), items.len()),
            Self::Map(entries) => (entries.keys().map(String::len).sum(), entries.len()),
        }
    }
}

/// One evaluation.
struct Walk<'a, 'f> {
    roots: &'a Roots<'a, 'f>,
    /// The variables of comprehensions, innermost last.
    bound: Vec<(&'a str, Quick<'a>)>,
    steps: u64,
    left: u64,
}

/// Returns whether a metered condition holds; `None` where the crate has to say so.
pub(super) fn holds<'a>(tree: &'a IdedExpr, roots: &'a Roots<'a, '_>) -> Option<bool> {
    let mut walk = Walk {
        roots,
        bound: Vec::new(),
        steps: 0,
        left: meter::left(),
    };
    let value = walk.value(tree)?.truth()?;
    meter::charge(usize::try_from(walk.steps).ok()?);
    Some(value)
}

impl<'a> Walk<'a, '_> {
    fn charge(&mut self, steps: usize) -> Option<()> {
        self.steps = self.steps.checked_add(u64::try_from(steps).ok()?)?;
        (self.steps <= self.left).then_some(())
    }

    fn value(&mut self, node: &'a IdedExpr) -> Option<Quick<'a>> {
        match &node.expr {
            Expr::Literal(literal) => self::literal(literal),
            Expr::Ident(name) => self.variable(name),
            Expr::Select(select) => match (self.value(&select.operand)?, select.test) {
                (Quick::Map(entries), false) => Quick::of(entries.get(&select.field)?),
                (Quick::Map(entries), true) => {
                    Some(Quick::Bool(entries.contains_key(&select.field)))
                }
                _ => None,
            },
            Expr::List(list) if list.optional_indices.is_empty() => {
                let items = list.elements.iter().map(|element| self.value(element));
                items.collect::<Option<_>>().map(Quick::List)
            }
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(fold) => self.fold(fold),
            Expr::List(_) | Expr::Map(_) | Expr::Struct(_) | Expr::Unspecified => None,
        }
    }

    fn variable(&self, name: &str) -> Option<Quick<'a>> {
        let mut bound = self.bound.iter().rev();
        if let Some((_, value)) = bound.find(|(known, _)| *known == name) {
            return Some(value.clone());
        }
        Quick::of(match name {
            "event" => self.roots.event,
            "work" => self.roots.work,
            "gate" => self.roots.gate,
            _ => return None,
        })
    }

    fn call(&mut self, call: &'a CallExpr) -> Option<Quick<'a>> {
        let name = call.func_name.as_str();
        match (&call.target, call.args.as_slice()) {
            (None, [one]) => self.unary(name, one),
            (None, [left, right]) => self.binary(name, left, right),
            (None, [test, yes, no]) if name == operators::CONDITIONAL => {
                let branch = if self.value(test)?.truth()? { yes } else { no };
                self.value(branch)
            }
            // The pattern stands between the text and the place of what it was compiled to.
            (None, [text, _, index]) if matches!(name, REGEX | GLOB) => {
                let operands = (self.value(text)?, self.value(index)?);
                applied(name, operands, self.roots.patterns)
            }
            (Some(target), _) if lint::is_namespace(target) => None,
            (Some(target), [argument]) => {
                let argument = self.value(argument)?.text()?;
                let text = self.value(target)?.text()?;
                Some(Quick::Bool(match name {
                    "contains" => text.contains(argument),
                    "startsWith" => text.starts_with(argument),
                    "endsWith" => text.ends_with(argument),
                    _ => return None,
                }))
            }
            (Some(target), []) if name == "size" => length(&self.value(target)?),
            _ => None,
        }
    }

    fn unary(&mut self, name: &str, node: &'a IdedExpr) -> Option<Quick<'a>> {
        let value = self.value(node)?;
        match name {
            operators::LOGICAL_NOT => Some(Quick::Bool(!value.truth()?)),
            operators::NOT_STRICTLY_FALSE => Some(Quick::Bool(value.truth()?)),
            "size" => length(&value),
            "lines" => {
                let text = value.text()?;
                let lines = match self.roots.content.lines(text) {
                    Some(lines) => lines,
                    None => lines(text),
                };
                self.charge(text.len() / LINE + lines.len())?;
                Some(Quick::List(lines))
            }
            _ => None,
        }
    }

    fn binary(&mut self, name: &str, left: &'a IdedExpr, right: &'a IdedExpr) -> Option<Quick<'a>> {
        let decided = match name {
            operators::LOGICAL_AND => Some(false),
            operators::LOGICAL_OR => Some(true),
            _ => None,
        };
        let left = self.value(left)?;
        if let Some(decided) = decided {
            let left = left.truth()?;
            let value = if left == decided {
                left
            } else {
                self.value(right)?.truth()?
            };
            return Some(Quick::Bool(value));
        }
        let right = self.value(right)?;
        if name == meter::COST {
            self.cost(&left, &right)?;
            return Some(left);
        }
        applied(name, (left, right), self.roots.patterns)
    }

    fn cost(&mut self, value: &Quick<'a>, how: &Quick<'a>) -> Option<()> {
        let Quick::Int(how) = how else { return None };
        self.charge(meter::cost_of(value.size(), Some(*how)))
    }

    /// Goes through a list as `all` and `exists` do: until an item decides.
    fn fold(&mut self, fold: &'a ComprehensionExpr) -> Option<Quick<'a>> {
        let (test, decided) = decision(fold)?;
        let Quick::List(items) = self.value(&fold.iter_range)? else {
            return None;
        };
        let place = self.bound.len();
        self.bound.push((&fold.iter_var, Quick::Null));
        let mut result = !decided;
        for item in items.iter() {
            self.bound[place].1 = item.clone();
            if self.value(test)?.truth()? == decided {
                result = decided;
                break;
            }
        }
        self.bound.truncate(place);
        Some(Quick::Bool(result))
    }
}

/// Returns what `all` and `exists` ask of an item, and the answer that ends them.
fn decision(fold: &ComprehensionExpr) -> Option<(&IdedExpr, bool)> {
    let Expr::Call(step) = &fold.loop_step.expr else {
        return None;
    };
    let decided = match step.func_name.as_str() {
        operators::LOGICAL_AND => false,
        operators::LOGICAL_OR => true,
        _ => return None,
    };
    let is_result =
        |node: &IdedExpr| matches!(&node.expr, Expr::Ident(name) if *name == fold.accu_var);
    let begins = match &fold.accu_init.expr {
        Expr::Literal(LiteralValue::Boolean(value)) => *value.inner(),
        _ => return None,
    };
    match step.args.as_slice() {
        [before, test]
            if is_result(before)
                && is_result(&fold.result)
                && begins != decided
                && fold.iter_var2.is_none() =>
        {
            Some((test, decided))
        }
        _ => None,
    }
}

fn literal(literal: &LiteralValue) -> Option<Quick<'_>> {
    Some(match literal {
        LiteralValue::Boolean(value) => Quick::Bool(*value.inner()),
        LiteralValue::Int(value) => Quick::Int(*value.inner()),
        LiteralValue::String(text) => Quick::Text(text.inner()),
        LiteralValue::Null => Quick::Null,
        LiteralValue::UInt(_) | LiteralValue::Double(_) | LiteralValue::Bytes(_) => return None,
    })
}

fn length<'a>(value: &Quick<'_>) -> Option<Quick<'a>> {
    let length = match value {
        Quick::Text(text) => text.chars().count(),
        Quick::List(items) => items.len(),
        Quick::Map(entries) => entries.len(),
        Quick::Null | Quick::Bool(_) | Quick::Int(_) => return None,
    };
    i64::try_from(length).ok().map(Quick::Int)
}

/// Applies what has two operands, both evaluated.
fn applied<'a>(
    name: &str,
    operands: (Quick<'a>, Quick<'a>),
    patterns: &Patterns,
) -> Option<Quick<'a>> {
    let value = match (name, operands) {
        (operators::EQUALS, (left, right)) => left.equals(&right)?,
        (operators::NOT_EQUALS, (left, right)) => !left.equals(&right)?,
        (operators::LESS, (Quick::Int(left), Quick::Int(right))) => left < right,
        (operators::LESS_EQUALS, (Quick::Int(left), Quick::Int(right))) => left <= right,
        (operators::GREATER, (Quick::Int(left), Quick::Int(right))) => left > right,
        (operators::GREATER_EQUALS, (Quick::Int(left), Quick::Int(right))) => left >= right,
        (operators::IN, (value @ Quick::Text(_), Quick::List(items))) => {
            items.iter().any(|item| item.equals(&value) == Some(true))
        }
        (operators::INDEX, (Quick::Map(entries), Quick::Text(key))) => {
            return Quick::of(entries.get(key)?);
        }
        ("under", (Quick::Text(path), Quick::Text(directory))) => lies_under(path, directory),
        (REGEX, (Quick::Text(text), Quick::Int(index))) => {
            let (_, regex) = patterns.regexes.get(usize::try_from(index).ok()?)?;
            regex.is_match(text)
        }
        (GLOB, (Quick::Text(path), Quick::Int(index))) => {
            let (_, globs) = patterns.globs.get(usize::try_from(index).ok()?)?;
            globs.matches(path)
        }
        _ => return None,
    };
    Some(Quick::Bool(value))
}
