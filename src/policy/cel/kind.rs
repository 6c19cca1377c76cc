//! What is known about the type of a part before it is evaluated.

use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, operators};

use super::{
    guard,
    lint::{Lint, path},
    text,
};
use crate::policy::{
    diagnostic::Code,
    event::EventName,
    schema::{self, Found, Shape},
};

/// The type of a part, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Number,
    Text,
    List,
    Map,
    Null,
    Unknown,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bool => "true or false",
            Self::Number => "a number",
            Self::Text => "a text",
            Self::List => "a list",
            Self::Map => "a map",
            Self::Null => "null",
            Self::Unknown => "a value",
        }
    }
}

impl Lint<'_, '_> {
    /// Checks that operators stand between values they can apply to.
    pub(super) fn kinds(&mut self, node: &IdedExpr) {
        for child in guard::children(node) {
            self.kinds(child);
        }
        let Expr::Call(call) = &node.expr else { return };
        let kinds: Vec<Kind> = call.args.iter().map(|arg| self.kind(arg)).collect();
        let name = call.func_name.as_str();
        let wrong = match (name, kinds.as_slice()) {
            (operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT, kinds) => {
                kinds
                    .iter()
                    .find(|kind| !matches!(kind, Kind::Bool | Kind::Unknown))
                    .map(|kind| format!("{} stands where true or false is needed", kind.name()))
            }
            (
                operators::LESS
                | operators::LESS_EQUALS
                | operators::GREATER
                | operators::GREATER_EQUALS,
                [left, right],
            ) => unordered(*left, *right),
            (operators::EQUALS | operators::NOT_EQUALS, [left, right]) => unequal(*left, *right),
            _ => None,
        };
        if let Some(message) = wrong {
            self.fault(Code::E05, 0, message);
        }
    }

    pub(super) fn kind(&self, node: &IdedExpr) -> Kind {
        if let Some(path) = path(node) {
            return self.field_kind(&path);
        }
        match &node.expr {
            Expr::Select(select) if select.test => Kind::Bool,
            Expr::Literal(literal) => literal_kind(literal),
            Expr::List(_) => Kind::List,
            Expr::Map(_) | Expr::Struct(_) => Kind::Map,
            Expr::Comprehension(fold) => match text::fold(fold).map(|fold| fold.name) {
                Some("map" | "filter") => Kind::List,
                Some(_) => Kind::Bool,
                None => Kind::Unknown,
            },
            Expr::Call(call) => self.call_kind(call),
            _ => Kind::Unknown,
        }
    }

    fn call_kind(&self, call: &CallExpr) -> Kind {
        match call.func_name.as_str() {
            operators::LOGICAL_AND
            | operators::LOGICAL_OR
            | operators::LOGICAL_NOT
            | operators::EQUALS
            | operators::NOT_EQUALS
            | operators::LESS
            | operators::LESS_EQUALS
            | operators::GREATER
            | operators::GREATER_EQUALS
            | operators::IN
            | "contains"
            | "startsWith"
            | "endsWith"
            | "matches"
            | "glob"
            | "under"
            | "hasValue"
            | "bool" => Kind::Bool,
            operators::SUBSTRACT
            | operators::MULTIPLY
            | operators::DIVIDE
            | operators::MODULO
            | operators::NEGATE
            | "size"
            | "int"
            | "uint"
            | "double"
            | "indexOf"
            | "lastIndexOf" => Kind::Number,
            "string" | "join" | "lowerAscii" | "upperAscii" | "trim" | "replace" | "substring"
            | "charAt" | "format" | "quote" | "plural" => Kind::Text,
            "split" | "slice" | "flatten" | "distinct" | "sort" | "range" | "added" | "lines" => {
                Kind::List
            }
            operators::ADD => call
                .args
                .first()
                .map_or(Kind::Unknown, |arg| self.kind(arg)),
            operators::CONDITIONAL => match call.args.as_slice() {
                [_, yes, no] if self.kind(yes) == self.kind(no) => self.kind(yes),
                _ => Kind::Unknown,
            },
            _ => Kind::Unknown,
        }
    }

    fn field_kind(&self, path: &[&str]) -> Kind {
        let kind = |event: &EventName| match schema::find(path, *event) {
            Found::Field {
                nullable: false,
                shape,
            } => shape_kind(shape),
            Found::Field { .. } | Found::Open | Found::Missing { .. } => Kind::Unknown,
        };
        let mut kinds = self.checks.events.iter().map(kind);
        let first = kinds.next().unwrap_or(Kind::Unknown);
        if kinds.all(|kind| kind == first) {
            first
        } else {
            Kind::Unknown
        }
    }
}

fn unordered(left: Kind, right: Kind) -> Option<String> {
    let orders = |kind| matches!(kind, Kind::Number | Kind::Text | Kind::Bool | Kind::Unknown);
    if orders(left)
        && orders(right)
        && (left == right || left == Kind::Unknown || right == Kind::Unknown)
    {
        return None;
    }
    let hint = if left == Kind::List || right == Kind::List {
        "; use size()"
    } else {
        ""
    };
    Some(format!(
        "{} is compared with {}{hint}",
        left.name(),
        right.name()
    ))
}

fn unequal(left: Kind, right: Kind) -> Option<String> {
    let open = |kind| matches!(kind, Kind::Unknown | Kind::Null);
    if left == right || open(left) || open(right) {
        return None;
    }
    Some(format!("{} never equals {}", left.name(), right.name()))
}

fn literal_kind(literal: &LiteralValue) -> Kind {
    match literal {
        LiteralValue::Boolean(_) => Kind::Bool,
        LiteralValue::Int(_) | LiteralValue::UInt(_) | LiteralValue::Double(_) => Kind::Number,
        LiteralValue::String(_) => Kind::Text,
        LiteralValue::Null => Kind::Null,
        LiteralValue::Bytes(_) => Kind::Unknown,
    }
}

fn shape_kind(shape: Shape) -> Kind {
    match shape {
        Shape::Bool => Kind::Bool,
        Shape::Int => Kind::Number,
        Shape::Text => Kind::Text,
        Shape::List(_) => Kind::List,
        Shape::Record(_) | Shape::Data | Shape::Map => Kind::Map,
        Shape::Open => Kind::Unknown,
    }
}
