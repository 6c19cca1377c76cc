//! Expressions, values and errors as text for people.

use std::fmt::{self, Write};

use cel::{
    ExecutionError, Value,
    common::ast::{
        CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators,
    },
};

use super::functions::{GLOB, REGEX};

/// How much of a text value is shown.
const TEXT_SHOWN: usize = 120;
/// How many items of a list or map are shown.
const ITEMS_SHOWN: usize = 20;
/// How much of an error is shown.
const ERROR_SHOWN: usize = 300;

/// Returns a value as it would be written, long ones cut.
pub(in crate::policy) fn shown(value: &Value) -> String {
    match value {
        Value::List(items) => {
            let mut parts: Vec<String> = items.iter().take(ITEMS_SHOWN).map(shown).collect();
            parts.extend(more(items.len()));
            format!("[{}]", parts.join(", "))
        }
        Value::Map(map) => {
            let mut parts: Vec<String> = map
                .map
                .iter()
                .map(|(key, value)| format!("{key}: {}", shown(value)))
                .collect();
            parts.sort();
            let len = parts.len();
            parts.truncate(ITEMS_SHOWN);
            parts.extend(more(len));
            format!("{{{}}}", parts.join(", "))
        }
        Value::String(text) => quoted(text),
        Value::Int(value) => value.to_string(),
        Value::UInt(value) => format!("{value}u"),
        Value::Float(value) => format!("{value:?}"),
        Value::Bool(value) => value.to_string(),
        Value::Null => "null".to_owned(),
        Value::Bytes(bytes) => format!("{} bytes", bytes.len()),
        other => limited(&format_args!("{other:?}")),
    }
}

fn more(len: usize) -> Option<String> {
    (len > ITEMS_SHOWN).then(|| format!("and {} more", len - ITEMS_SHOWN))
}

fn quoted(text: &str) -> String {
    let cut: String = text.chars().take(TEXT_SHOWN).collect();
    let escaped = cut.escape_debug().to_string().replace("\\'", "'");
    if cut.len() < text.len() {
        format!("\"{escaped}…\" ({} characters)", text.chars().count())
    } else {
        format!("\"{escaped}\"")
    }
}

/// Returns an error of evaluation in a few words, whatever the size of the values in it.
pub(super) fn error(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => format!("there is no field '{key}'"),
        ExecutionError::UndeclaredReference(name) => format!("there is no '{name}'"),
        ExecutionError::UnexpectedType { want, .. } => format!("a value is not of type {want}"),
        ExecutionError::UnsupportedBinaryOperator(operator, left, right) => format!(
            "'{operator}' does not apply to {} and {}",
            kind(left),
            kind(right)
        ),
        ExecutionError::ValuesNotComparable(left, right) => {
            format!("{} cannot be compared with {}", kind(left), kind(right))
        }
        other => limited(&format_args!("{other}")),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::List(_) => "a list",
        Value::Map(_) => "a map",
        Value::String(_) => "a text",
        Value::Int(_) | Value::UInt(_) => "an integer",
        Value::Float(_) => "a number",
        Value::Bool(_) => "a boolean",
        Value::Null => "null",
        _ => "another value",
    }
}

struct Limited(String);

impl Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = ERROR_SHOWN.saturating_sub(self.0.chars().count());
        self.0.extend(text.chars().take(room));
        if text.chars().nth(room).is_some() {
            return Err(fmt::Error);
        }
        Ok(())
    }
}

fn limited(text: &fmt::Arguments<'_>) -> String {
    let mut short = Limited(String::new());
    if short.write_fmt(*text).is_err() {
        short.0.push('…');
    }
    short.0
}

/// Returns the parser's message without its names for tokens.
pub(super) fn syntax(message: &str) -> String {
    let message = message.strip_prefix("Syntax error: ").unwrap_or(message);
    format!("not an expression: {}", message.replace("<EOF>", "the end"))
}

/// Returns the expression as text.
pub(super) fn unparse(node: &IdedExpr) -> String {
    let mut out = String::new();
    write_node(node, 0, &mut out);
    out
}

/// The operators between two operands, with how tightly they bind.
const BINARY: [(&str, &str, u8); 14] = [
    (operators::LOGICAL_OR, "||", 1),
    (operators::LOGICAL_AND, "&&", 2),
    (operators::EQUALS, "==", 3),
    (operators::NOT_EQUALS, "!=", 3),
    (operators::LESS, "<", 3),
    (operators::LESS_EQUALS, "<=", 3),
    (operators::GREATER, ">", 3),
    (operators::GREATER_EQUALS, ">=", 3),
    (operators::IN, "in", 3),
    (operators::ADD, "+", 4),
    (operators::SUBSTRACT, "-", 4),
    (operators::MULTIPLY, "*", 5),
    (operators::DIVIDE, "/", 5),
    (operators::MODULO, "%", 5),
];
const UNARY: u8 = 6;
const PRIMARY: u8 = 7;

fn write_node(node: &IdedExpr, binding: u8, out: &mut String) {
    match &node.expr {
        Expr::Unspecified => out.push('?'),
        Expr::Ident(name) => out.push_str(name),
        Expr::Literal(literal) => write_literal(literal, out),
        Expr::Select(select) if select.test => {
            out.push_str("has(");
            write_node(&select.operand, PRIMARY, out);
            out.push('.');
            out.push_str(&select.field);
            out.push(')');
        }
        Expr::Select(select) => {
            write_node(&select.operand, PRIMARY, out);
            out.push('.');
            out.push_str(&select.field);
        }
        Expr::Call(call) => write_call(call, binding, out),
        Expr::Comprehension(fold) => write_fold(fold, out),
        Expr::List(list) => {
            out.push('[');
            write_list(&list.elements, out);
            out.push(']');
        }
        Expr::Map(map) => write_entries(map.entries.iter().map(|entry| &entry.expr), out),
        Expr::Struct(body) => {
            out.push_str(&body.type_name);
            write_entries(body.entries.iter().map(|entry| &entry.expr), out);
        }
    }
}

fn write_literal(literal: &LiteralValue, out: &mut String) {
    let text = match literal {
        LiteralValue::Boolean(value) => value.inner().to_string(),
        LiteralValue::Int(value) => value.inner().to_string(),
        LiteralValue::UInt(value) => format!("{}u", value.inner()),
        LiteralValue::Double(value) => format!("{:?}", value.inner()),
        LiteralValue::Null => "null".to_owned(),
        LiteralValue::String(text) => {
            format!(
                "'{}'",
                text.inner()
                    .replace('\\', "\\\\")
                    .replace('\'', "\\'")
                    .replace('\n', "\\n")
            )
        }
        LiteralValue::Bytes(bytes) => format!("b'{} bytes'", bytes.inner().len()),
    };
    out.push_str(&text);
}

fn write_list(items: &[IdedExpr], out: &mut String) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        write_node(item, 0, out);
    }
}

fn write_entries<'a>(entries: impl Iterator<Item = &'a EntryExpr>, out: &mut String) {
    out.push('{');
    for (at, entry) in entries.enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        match entry {
            EntryExpr::StructField(field) => {
                out.push_str(&field.field);
                out.push_str(": ");
                write_node(&field.value, 0, out);
            }
            EntryExpr::MapEntry(entry) => {
                write_node(&entry.key, 0, out);
                out.push_str(": ");
                write_node(&entry.value, 0, out);
            }
        }
    }
    out.push('}');
}

fn write_call(call: &CallExpr, binding: u8, out: &mut String) {
    let name = call.func_name.as_str();
    if let [left, right] = call.args.as_slice()
        && let Some((_, operator, level)) = BINARY.iter().find(|(known, ..)| *known == name)
    {
        let open = binding > *level;
        out.push_str(if open { "(" } else { "" });
        write_node(left, *level, out);
        let _ = write!(out, " {operator} ");
        write_node(right, level + 1, out);
        out.push_str(if open { ")" } else { "" });
        return;
    }
    match (name, call.args.as_slice()) {
        (operators::LOGICAL_NOT, [inner]) => {
            out.push('!');
            write_node(inner, UNARY, out);
        }
        (operators::NEGATE, [inner]) => {
            out.push('-');
            write_node(inner, UNARY, out);
        }
        (operators::CONDITIONAL, [test, yes, no]) => {
            out.push_str(if binding > 0 { "(" } else { "" });
            write_node(test, 1, out);
            out.push_str(" ? ");
            write_node(yes, 1, out);
            out.push_str(" : ");
            write_node(no, 0, out);
            out.push_str(if binding > 0 { ")" } else { "" });
        }
        (operators::INDEX | operators::OPT_INDEX, [list, index]) => {
            write_node(list, PRIMARY, out);
            out.push_str(if name == operators::INDEX { "[" } else { "[?" });
            write_node(index, 0, out);
            out.push(']');
        }
        (operators::OPT_SELECT, [record, field]) => {
            write_node(record, PRIMARY, out);
            out.push_str(".?");
            match &field.expr {
                Expr::Literal(LiteralValue::String(text)) => out.push_str(text.inner()),
                _ => write_node(field, 0, out),
            }
        }
        _ => write_function(call, out),
    }
}

fn write_function(call: &CallExpr, out: &mut String) {
    let (name, args) = match call.func_name.as_str() {
        REGEX => ("matches", &call.args[..call.args.len() - 1]),
        GLOB => ("glob", &call.args[..call.args.len() - 1]),
        name => (name, call.args.as_slice()),
    };
    let (target, args) = match (&call.target, name, args) {
        (Some(target), ..) => (Some(target.as_ref()), args),
        (None, "matches", [first, rest @ ..]) => (Some(first), rest),
        _ => (None, args),
    };
    if let Some(target) = target {
        write_node(target, PRIMARY, out);
        out.push('.');
    }
    out.push_str(name);
    out.push('(');
    write_list(args, out);
    out.push(')');
}

/// The macro a comprehension was made from, and the parts of it that were written.
pub(super) struct Fold<'a> {
    pub(super) name: &'static str,
    pub(super) parts: Vec<&'a IdedExpr>,
}

pub(super) fn fold(fold: &ComprehensionExpr) -> Option<Fold<'_>> {
    let Expr::Call(step) = &fold.loop_step.expr else {
        return None;
    };
    let element = |node: &IdedExpr| is_element(node, &fold.iter_var);
    match (step.func_name.as_str(), step.args.as_slice()) {
        (operators::LOGICAL_AND, [_, test]) => Some(Fold {
            name: "all",
            parts: vec![test],
        }),
        (operators::LOGICAL_OR, [_, test]) => Some(Fold {
            name: "exists",
            parts: vec![test],
        }),
        (operators::ADD, [_, item]) => appended(item).map(|item| Fold {
            name: "map",
            parts: vec![item],
        }),
        (operators::CONDITIONAL, [test, yes, _]) => {
            let Expr::Call(add) = &yes.expr else {
                return None;
            };
            let added = add.args.get(1)?;
            Some(match appended(added) {
                None => Fold {
                    name: "exists_one",
                    parts: vec![test],
                },
                Some(item) if element(item) => Fold {
                    name: "filter",
                    parts: vec![test],
                },
                Some(item) => Fold {
                    name: "map",
                    parts: vec![test, item],
                },
            })
        }
        _ => None,
    }
}

fn is_element(node: &IdedExpr, variable: &str) -> bool {
    matches!(&node.expr, Expr::Ident(name) if name == variable)
}

/// Returns the item of the one-item list that a step appends.
fn appended(node: &IdedExpr) -> Option<&IdedExpr> {
    match &node.expr {
        Expr::List(list) => list.elements.first(),
        _ => None,
    }
}

fn write_fold(comprehension: &ComprehensionExpr, out: &mut String) {
    write_node(&comprehension.iter_range, PRIMARY, out);
    let Some(Fold { name, parts }) = fold(comprehension) else {
        out.push_str(".fold(…)");
        return;
    };
    let _ = write!(out, ".{name}({}", comprehension.iter_var);
    for part in parts {
        out.push_str(", ");
        write_node(part, 0, out);
    }
    out.push(')');
}
