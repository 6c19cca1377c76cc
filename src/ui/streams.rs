use std::{
    cell::RefCell,
    fmt::Display,
    io::{self, BufWriter, IsTerminal, Write},
    process::{Child, ChildStdin},
};

use serde_json::{Map, Value};

use super::{
    Failure, Format, Talk, one_line, printable, printable_json,
    progress::{self, Audience},
    worded,
};

enum Out {
    Stdout(BufWriter<io::Stdout>),
    Pager(BufWriter<ChildStdin>, Child),
}

/// Standard output and error.
pub struct Ui {
    out: RefCell<Out>,
    format: Format,
    talk: Talk,
}

impl Ui {
    /// Returns the process's own streams.
    pub fn new(format: Format, talk: Talk) -> Self {
        Self {
            out: RefCell::new(stdout()),
            format,
            talk,
        }
    }

    pub fn format(&self) -> Format {
        self.format
    }

    pub fn talk(&self) -> Talk {
        self.talk
    }

    /// Says whether a person reads stdout.
    pub fn is_watched(&self) -> bool {
        self.is_paged() || io::stdout().is_terminal()
    }

    /// Says whether what is printed goes through a pager we started.
    pub(super) fn is_paged(&self) -> bool {
        matches!(*self.out.borrow(), Out::Pager(..))
    }

    /// Sends what follows through a started pager.
    pub(super) fn page(&self, mut pager: Child) {
        if let Some(stdin) = pager.stdin.take() {
            *self.out.borrow_mut() = Out::Pager(BufWriter::new(stdin), pager);
        }
    }

    /// Writes bytes to stdout as they are.
    pub fn bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        let written = match &mut *self.out.borrow_mut() {
            Out::Stdout(out) => out.write_all(bytes),
            Out::Pager(out, _) => out.write_all(bytes),
        };
        written.map_err(|error| Failure::output(&error))
    }

    /// Writes text to stdout. Text of records must have passed [`printable()`].
    pub fn print(&self, text: impl Display) -> Result<(), Failure> {
        self.bytes(text.to_string().as_bytes())
    }

    /// Writes a line to stdout. Text of records must have passed [`printable()`].
    pub fn line(&self, text: impl Display) -> Result<(), Failure> {
        self.bytes(format!("{text}\n").as_bytes())
    }

    /// Writes one object of `--json`: `{"v":1,"type":kind, …members}` and a newline.
    pub fn json(&self, kind: &str, members: Value) -> Result<(), Failure> {
        self.line(object(kind, members))
    }

    /// Writes a JSON text that is an object already, its `v` and `type` included.
    pub fn raw_json(&self, object: &str) -> Result<(), Failure> {
        self.line(printable_json(object))
    }

    /// Tells the reader something that is no failure, unless `--quiet`.
    pub fn note(&self, text: impl Display) {
        if self.talk() > Talk::Quiet {
            self.say(&printable(&worded(&text.to_string())));
        }
    }

    /// Tells what is done and why, when `--verbose` asks.
    pub fn detail(&self, text: impl Display) {
        if self.talk() > Talk::Normal {
            self.say(&printable(&worded(&text.to_string())));
        }
    }

    /// Warns, unless `--quiet`; the command goes on.
    pub fn warn(&self, text: impl Display) {
        if self.talk() == Talk::Quiet {
            return;
        }
        let text = text.to_string();
        let text = worded(&text);
        match self.format() {
            Format::Text => self.say(&format!("warning: {}", printable(&text))),
            Format::Json => self.say(&object("warning", json_message(&text, None))),
        }
    }

    /// Says why the command failed, and what to run.
    pub fn failure(&self, failure: &Failure) {
        let Some(message) = &failure.message else {
            return;
        };
        let message = &*worded(message);
        if self.format() == Format::Json {
            let mut members = json_message(message, failure.hint.as_deref());
            members["exit"] = failure.exit.code().into();
            self.say(&object("error", members));
            return;
        }
        self.say(&format!("error: {}", printable(message)));
        if let Some(hint) = &failure.hint {
            self.say(&format!("hint: {}", one_line(hint)));
        }
    }

    /// Shows what is wrong with the command line, as its parser words it.
    pub fn misuse(&self, text: &str) {
        self.say(printable(text).trim_end());
    }

    /// Does work that may take long; a person at a terminal is told how long it has gone on.
    pub fn busy<T>(&self, what: &str, work: impl FnOnce() -> T) -> T {
        progress::busy(what, self.audience(), work)
    }

    /// Does work that may take long and may ask a person something.
    pub fn announced<T>(&self, what: &str, work: impl FnOnce() -> T) -> T {
        progress::announced(what, self.audience(), work)
    }

    fn audience(&self) -> Audience {
        match self.talk() {
            Talk::Quiet => Audience::Nobody,
            Talk::Normal | Talk::Verbose => Audience::of_stderr(),
        }
    }

    /// Writes out what is buffered and waits for the pager.
    pub fn finish(&self) -> Result<(), Failure> {
        let flushed = self.flush();
        if let Out::Pager(out, mut pager) = self.out.replace(stdout()) {
            drop(out);
            let _ = pager.wait();
        }
        flushed.map_err(|error| Failure::output(&error))
    }

    fn flush(&self) -> io::Result<()> {
        match &mut *self.out.borrow_mut() {
            Out::Stdout(out) => out.flush(),
            Out::Pager(out, _) => out.flush(),
        }
    }

    fn say(&self, line: &str) {
        // What was printed before a warning stands before it; a broken pipe shows at the next write.
        let _ = self.flush();
        let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
    }
}

fn stdout() -> Out {
    Out::Stdout(BufWriter::new(io::stdout()))
}

fn json_message(message: &str, hint: Option<&str>) -> Value {
    serde_json::json!({"message": message, "hint": hint})
}

fn object(kind: &str, members: Value) -> String {
    let mut map = Map::new();
    map.insert("v".to_owned(), 1.into());
    map.insert("type".to_owned(), kind.into());
    match members {
        Value::Object(members) => map.extend(members),
        other => {
            map.insert("value".to_owned(), other);
        }
    }
    printable_json(&Value::Object(map).to_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::object;

    #[test]
    fn an_object_says_its_version_and_type_first() {
        assert_eq!(
            object("task", json!({"task": "T\u{9b}", "owner": null})),
            r#"{"v":1,"type":"task","task":"T\u009b","owner":null}"#
        );
    }
}
