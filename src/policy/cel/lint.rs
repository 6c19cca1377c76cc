//! Names and types in an expression, checked against the schema before anything is evaluated.

use std::cell::OnceCell;

use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, operators};

use super::{Checks, Fault, functions::OURS, guard, kind::Kind};
use crate::policy::{
    diagnostic::Code,
    event::EventName,
    near::suggestion,
    schema::{self, Found},
};

/// What an expression is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::policy) enum Purpose {
    /// True or false.
    Condition,
    /// A list of paths.
    Paths,
    /// Part of a message.
    Text,
}

/// The largest list that `lists.range` may make.
const RANGE_LIMIT: i64 = 10_000;

/// CEL's own functions and those of its strings and lists extensions.
const KNOWN: &[&str] = &[
    "bool",
    "bytes",
    "contains",
    "double",
    "dyn",
    "endsWith",
    "int",
    "matches",
    "size",
    "startsWith",
    "string",
    "type",
    "uint",
    "has",
    "all",
    "exists",
    "exists_one",
    "map",
    "filter",
    "charAt",
    "indexOf",
    "join",
    "lastIndexOf",
    "lowerAscii",
    "replace",
    "reverse",
    "split",
    "substring",
    "trim",
    "upperAscii",
    "format",
    "quote",
    "slice",
    "flatten",
    "distinct",
    "sort",
    "range",
    "of",
    "none",
    "ofNonZeroValue",
    "hasValue",
    "value",
    "or",
    "orValue",
];
const NAMESPACES: [&str; 3] = ["strings", "lists", "optional"];
const TYPES: [&str; 12] = [
    "bool",
    "bytes",
    "double",
    "dyn",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "type",
    "uint",
    "optional_type",
];

/// Says whether the target of a call only names where its function is from.
pub(super) fn is_namespace(target: &IdedExpr) -> bool {
    matches!(&target.expr, Expr::Ident(name) if NAMESPACES.contains(&name.as_str()))
}

/// One read of a field.
struct Read<'a> {
    path: Vec<&'a str>,
    /// Tested by `has()`, read by `.?`, or compared with null.
    guarded: bool,
}

/// The check of one expression.
pub(in crate::policy) struct Lint<'s, 'a> {
    source: &'s str,
    pub(super) checks: Checks<'a>,
    faults: Vec<Fault>,
    /// The names in the source, gone through where a fault needs its place.
    names: OnceCell<Vec<(usize, String)>>,
}

impl<'s, 'a> Lint<'s, 'a> {
    pub(super) fn new(source: &'s str, checks: Checks<'a>) -> Self {
        Self {
            source,
            checks,
            faults: Vec::new(),
            names: OnceCell::new(),
        }
    }

    pub(super) fn check(mut self, tree: &IdedExpr) -> Vec<Fault> {
        let mut reads = Vec::new();
        self.walk(tree, &mut Vec::new(), &mut reads);
        self.reads(&reads);
        self.kinds(tree);
        let wanted = match self.checks.purpose {
            Purpose::Condition => Some(Kind::Bool),
            Purpose::Paths => Some(Kind::List),
            Purpose::Text => None,
        };
        let found = self.kind(tree);
        if let Some(wanted) = wanted.filter(|wanted| found != Kind::Unknown && found != *wanted) {
            let message = format!("this is {}, not {}", found.name(), wanted.name());
            self.fault(Code::E05, 0, message);
        }
        self.faults
    }

    pub(super) fn fault(&mut self, code: Code, at: usize, message: impl Into<String>) {
        let fault = Fault::new(code, at, message);
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    fn walk<'n>(
        &mut self,
        node: &'n IdedExpr,
        scope: &mut Vec<&'n str>,
        reads: &mut Vec<Read<'n>>,
    ) {
        if let Some(path) = path(node).filter(|path| !scope.contains(&path[0])) {
            let guarded = is_guarded(node);
            if schema::ROOTS.iter().any(|root| root.name == path[0]) {
                reads.push(Read { path, guarded });
                return;
            }
        }
        match &node.expr {
            Expr::Ident(name) => self.variable(name, scope),
            Expr::Call(call) => self.call(call, scope, reads),
            Expr::Comprehension(fold) => {
                self.walk(&fold.iter_range, scope, reads);
                if self.kind(&fold.iter_range) == Kind::Map {
                    let at = self.place(&fold.iter_var, 0);
                    let message = "a map is gone through in no fixed order";
                    self.fault(Code::W02, at, message);
                }
                let before = scope.len();
                scope.push(&fold.iter_var);
                scope.extend(fold.iter_var2.as_deref());
                scope.push(&fold.accu_var);
                self.walk(&fold.loop_step, scope, reads);
                scope.truncate(before);
            }
            Expr::Struct(body) => {
                let at = self.place(&body.type_name, 0);
                let message = format!("there is no type '{}'", body.type_name);
                self.fault(Code::E04, at, message);
            }
            _ => {
                for child in guard::children(node) {
                    self.walk(child, scope, reads);
                }
            }
        }
    }

    fn variable(&mut self, name: &str, scope: &[&str]) {
        let known = name.starts_with('@') || scope.contains(&name) || TYPES.contains(&name);
        if known {
            return;
        }
        let roots = schema::ROOTS.iter().map(|root| root.name);
        let hint = suggestion(name, roots.chain(scope.iter().copied()));
        let at = self.place(name, 0);
        self.fault(Code::E06, at, format!("unknown variable '{name}'{hint}"));
    }

    fn call<'n>(
        &mut self,
        call: &'n CallExpr,
        scope: &mut Vec<&'n str>,
        reads: &mut Vec<Read<'n>>,
    ) {
        let name = call.func_name.as_str();
        let is_operator = name.starts_with(['_', '@', '!', '-']);
        if !is_operator {
            self.function(name);
        }
        if name == "range" {
            self.range(call);
        }
        if let Some(target) = call
            .target
            .as_deref()
            .filter(|target| !is_namespace(target))
        {
            self.walk(target, scope, reads);
        }
        let before = reads.len();
        for arg in &call.args {
            self.walk(arg, scope, reads);
        }
        let compares = matches!(name, operators::EQUALS | operators::NOT_EQUALS);
        if compares && call.args.iter().any(|arg| self.kind(arg) == Kind::Null) {
            for read in &mut reads[before..] {
                read.guarded = true;
            }
        }
    }

    fn function(&mut self, name: &str) {
        let ours = OURS.iter().map(|(name, _)| *name);
        let mut known = KNOWN.iter().copied().chain(ours);
        if known.clone().any(|known| known == name) {
            return;
        }
        let at = self.place(name, 0);
        if let "duration" | "timestamp" = name {
            let message = format!("there is no '{name}': expressions see no time");
            return self.fault(Code::E04, at, message);
        }
        let hint = suggestion(name, &mut known);
        self.fault(Code::E04, at, format!("unknown function '{name}'{hint}"));
    }

    fn range(&mut self, call: &CallExpr) {
        let small = match call.args.first().map(|arg| &arg.expr) {
            Some(Expr::Literal(LiteralValue::Int(value))) => *value.inner() <= RANGE_LIMIT,
            _ => false,
        };
        if !small {
            let at = self.place("range", 0);
            let message = format!("'lists.range' takes a number written out, up to {RANGE_LIMIT}");
            self.fault(Code::E09, at, message);
        }
    }

    /// Checks that each field exists, and that what may be null or absent is tested for.
    fn reads(&mut self, reads: &[Read<'_>]) {
        let tells_event = reads.iter().any(|read| read.path == ["event", "name"]);
        let events = self.checks.events;
        for read in reads {
            let missing = |event: &EventName| match schema::find(&read.path, *event) {
                Found::Missing { depth, known } => Some((depth, known)),
                Found::Field { .. } | Found::Open => None,
            };
            let absent: Vec<_> = events.iter().filter_map(missing).collect();
            if let Some((depth, known)) = absent.iter().max_by_key(|(depth, _)| *depth)
                && absent.len() == events.len()
            {
                let at = self.field_place(&read.path, *depth);
                let text = unknown_field(&read.path, *depth, known, events);
                self.fault(Code::E06, at, text);
            } else if !absent.is_empty() && !tells_event && !is_tested(reads, &read.path) {
                let at = self.field_place(&read.path, read.path.len() - 1);
                let text = format!(
                    "'{}' is absent at some of the events; test it with has() or event.name",
                    read.path.join(".")
                );
                self.fault(Code::W01, at, text);
            } else if absent.is_empty() {
                self.nullable(read, reads);
            }
        }
    }

    /// Warns of a field that may be null where nothing looks whether it is.
    fn nullable(&mut self, read: &Read<'_>, reads: &[Read<'_>]) {
        let is_null = |len: usize| {
            self.checks.events.iter().any(|event| {
                matches!(
                    schema::find(&read.path[..len], *event),
                    Found::Field { nullable: true, .. }
                )
            })
        };
        let Some(len) = (2..=read.path.len()).find(|len| is_null(*len)) else {
            return;
        };
        let prefix = &read.path[..len];
        let tested = is_tested(reads, prefix);
        let is_simple = len == read.path.len() && self.used_plainly(prefix);
        if !tested && !is_simple && self.checks.purpose == Purpose::Condition {
            let at = self.field_place(&read.path, len - 1);
            let name = prefix.join(".");
            let message = format!("'{name}' may be null; test '{name} != null' first");
            self.fault(Code::W01, at, message);
        }
    }

    /// Says whether the field only stands beside `==`, `!=` or `in`, which take null as a value.
    fn used_plainly(&self, path: &[&str]) -> bool {
        let name = path.join(".");
        self.source.match_indices(&name).all(|(at, _)| {
            let after = self.source[at + name.len()..].trim_start();
            let before = self.source[..at].trim_end();
            ["==", "!=", "in "]
                .iter()
                .any(|sign| after.starts_with(sign))
                || ["==", "!=", "["].iter().any(|sign| before.ends_with(sign))
        })
    }

    fn names(&self) -> &[(usize, String)] {
        self.names.get_or_init(|| names(self.source))
    }

    /// Returns where the n-th use of a name stands.
    fn place(&self, name: &str, n: usize) -> usize {
        self.names()
            .iter()
            .filter(|(_, known)| known == name)
            .nth(n)
            .map_or(0, |(at, _)| *at)
    }

    /// Returns where the name number `depth` of a path stands.
    fn field_place(&self, path: &[&str], depth: usize) -> usize {
        let depth = depth.min(path.len() - 1);
        let texts: Vec<&str> = self.names().iter().map(|(_, name)| name.as_str()).collect();
        texts
            .windows(depth + 1)
            .position(|names| names == &path[..=depth])
            .map_or_else(
                || self.place(path[0], 0),
                |start| self.names()[start + depth].0,
            )
    }
}

fn is_tested(reads: &[Read<'_>], path: &[&str]) -> bool {
    reads
        .iter()
        .any(|read| read.guarded && read.path.starts_with(path))
}

fn unknown_field(
    path: &[&str],
    depth: usize,
    known: &[schema::Field],
    events: &[EventName],
) -> String {
    if depth >= path.len() || known.is_empty() {
        let parent = path[..depth].join(".");
        return format!("'{parent}' has no fields");
    }
    let name = path[..=depth].join(".");
    let hint = suggestion(path[depth], known.iter().map(|field| field.name));
    if path[..depth] == ["event", "data"] {
        let names: Vec<&str> = events.iter().map(|event| event.as_str()).collect();
        return format!("unknown field '{name}' at {}{hint}", names.join(", "));
    }
    format!("unknown field '{name}'{hint}")
}

/// Returns the names outside quotes, with their places.
fn names(source: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut end = usize::MAX;
    for (at, c) in guard::unquoted(source) {
        if !(c.is_alphanumeric() || c == '_') {
            continue;
        }
        match found.last_mut().filter(|_| end == at) {
            Some((_, name)) => name.push(c),
            None => found.push((at, c.to_string())),
        }
        end = at + c.len_utf8();
    }
    found
}

/// Returns the names of `a.b.c`, `a['b']`, `a.?b` and `has(a.b)`; `None` for anything else.
pub(super) fn path(node: &IdedExpr) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    let mut node = node;
    loop {
        match &node.expr {
            Expr::Ident(name) => {
                names.push(name.as_str());
                names.reverse();
                return Some(names);
            }
            Expr::Select(select) => {
                names.push(select.field.as_str());
                node = &select.operand;
            }
            Expr::Call(call) => {
                let (base, field) = indexed(call)?;
                names.push(field);
                node = base;
            }
            _ => return None,
        }
    }
}

fn indexed(call: &CallExpr) -> Option<(&IdedExpr, &str)> {
    let ([base, field], operators::INDEX | operators::OPT_INDEX | operators::OPT_SELECT) =
        (call.args.as_slice(), call.func_name.as_str())
    else {
        return None;
    };
    match &field.expr {
        Expr::Literal(LiteralValue::String(text)) => Some((base, text.inner())),
        _ => None,
    }
}

fn is_guarded(node: &IdedExpr) -> bool {
    match &node.expr {
        Expr::Select(select) => select.test || is_guarded(&select.operand),
        Expr::Call(call) => {
            matches!(
                call.func_name.as_str(),
                operators::OPT_INDEX | operators::OPT_SELECT
            ) || call.args.first().is_some_and(is_guarded)
        }
        _ => false,
    }
}

/// Returns the fields of `event`, `work` and `gate` that an expression reads, each once.
pub(super) fn fields(tree: &IdedExpr) -> Vec<String> {
    let mut found = Vec::new();
    let mut todo = vec![tree];
    while let Some(node) = todo.pop() {
        let read = path(node).filter(|path| schema::ROOTS.iter().any(|root| root.name == path[0]));
        match read {
            Some(path) => {
                let text = path.join(".");
                if !found.contains(&text) {
                    found.push(text);
                }
            }
            None => todo.extend(guard::children(node).into_iter().rev()),
        }
    }
    found
}
