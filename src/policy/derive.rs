//! Events made from what a client tells of a tool call.

use serde_json::{Value, json};

use super::shell::{self, Shell};

/// How much of a file's text expressions see.
const CONTENT_LIMIT: usize = 1 << 20;
/// How much of a tool's answer expressions see.
const RESPONSE_LIMIT: usize = 64 << 10;

/// What is known of a file's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    Known(&'a [u8]),
    /// Only the beginning, and how large the whole is.
    Large {
        begin: &'a [u8],
        bytes: u64,
        lines: u64,
    },
    /// There is no file.
    Absent,
    Unknown,
}

/// Under which names tools have named their file.
pub const PATH_FIELDS: [&str; 4] = ["file_path", "notebook_path", "filePath", "path"];

/// Says whether a tool writes the one file that it names.
pub fn is_file_tool(tool: &str) -> bool {
    matches!(tool, "Write" | "Edit" | "MultiEdit" | "NotebookEdit")
}

/// Returns the file that a file tool writes, as the client names it: under the tool's own name for it,
/// else under one that other tools or other versions have.
pub fn written_path<'a>(tool: &str, input: &'a Value) -> Option<&'a str> {
    let own = match tool {
        "NotebookEdit" => "notebook_path",
        _ => "file_path",
    };
    let mut fields = std::iter::once(own).chain(PATH_FIELDS);
    let named = |field: &str| input[field].as_str().filter(|path| !path.is_empty());
    is_file_tool(tool).then(|| fields.find_map(named))?
}

/// Returns the files that a tool names, as the client names them.
pub fn named_paths<'a>(tool: &str, input: &'a Value) -> Vec<&'a str> {
    if Shell::of_tool(tool).is_some() {
        return Vec::new();
    }
    PATH_FIELDS
        .into_iter()
        .filter_map(|field| input[field].as_str())
        .collect()
}

/// Returns `command`, `argv` and `redirects` of a tool call; the paths are given, relative to the top.
pub fn call_data(tool: &str, input: &Value, paths: &[String]) -> Value {
    let command = Shell::of_tool(tool).and(input["command"].as_str());
    let mut data = match (Shell::of_tool(tool), command) {
        (Some(shell), Some(line)) => command_data(shell, line),
        _ => json!({ "command": null, "argv": null, "redirects": [] }),
    };
    data["paths"] = paths.into();
    data
}

/// Returns what is known of a command line.
pub(super) fn command_data(shell: Shell, line: &str) -> Value {
    let (argv, redirects) = match shell::commands(shell, line) {
        Ok(commands) => {
            let targets: Vec<String> = shell::targets(&commands)
                .into_iter()
                .map(|target| target.path)
                .collect();
            let argv: Value = commands
                .iter()
                .filter(|argv| !argv.words.is_empty())
                .map(|argv| Value::from(argv.texts()))
                .collect();
            (argv, targets)
        }
        Err(_) => (Value::Null, Vec::new()),
    };
    json!({ "command": line, "argv": argv, "redirects": redirects })
}

/// Returns the text that a file will have after a file tool ran; `None` when that is not known.
pub fn proposed(tool: &str, input: &Value, before: Content<'_>) -> Option<String> {
    match tool {
        "Write" => input["content"].as_str().map(str::to_owned),
        "Edit" => edited(text(before)?, input),
        "MultiEdit" => {
            let edits = input["edits"].as_array()?;
            let first = text(before)?;
            edits.iter().try_fold(first, edited)
        }
        _ => None,
    }
}

/// Returns the text before an edit; a file that is not there is empty.
fn text(before: Content<'_>) -> Option<String> {
    match before {
        Content::Known(bytes) => String::from_utf8(bytes.to_vec()).ok(),
        Content::Absent => Some(String::new()),
        Content::Large { .. } | Content::Unknown => None,
    }
}

fn edited(text: String, edit: &Value) -> Option<String> {
    let old = edit["old_string"].as_str()?;
    let new = edit["new_string"].as_str()?;
    if old.is_empty() {
        return text.is_empty().then(|| new.to_owned());
    }
    let all = edit["replace_all"].as_bool().unwrap_or(false);
    match (text.matches(old).count(), all) {
        (0, _) => None,
        (1, _) | (_, true) => Some(text.replace(old, new)),
        (_, false) => None,
    }
}

/// A file that is about to be written, or was.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    /// Relative to the top.
    pub path: &'a str,
    pub via: Via,
    pub content: Content<'a>,
    pub before: Content<'a>,
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// By a file tool, which has not run.
    Tool,
    /// By a file tool, which has run.
    Ran,
    /// By a redirection of a command that has not run.
    Redirect,
    /// By a command that ran.
    Shell,
}

impl<'a> Content<'a> {
    /// Returns the bytes that are known, those of a large file its first.
    fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Known(bytes) | Self::Large { begin: bytes, .. } => Some(bytes),
            Self::Absent | Self::Unknown => None,
        }
    }

    /// Returns how many bytes and lines it has.
    fn size(self) -> Option<(u64, u64)> {
        match self {
            Self::Known(bytes) => Some((bytes.len() as u64, lines(bytes))),
            Self::Large { bytes, lines, .. } => Some((bytes, lines)),
            Self::Absent | Self::Unknown => None,
        }
    }

    /// Returns the text as expressions see it; `None` where it is not known or no text.
    fn text(self) -> Option<String> {
        let bytes = self.bytes().filter(|bytes| !is_binary(bytes))?;
        Some(cut(bytes).0)
    }
}

/// Returns `event.data` of a file.write event.
pub fn write_data(written: Written<'_>) -> Value {
    let content = written.content;
    let size = content.size();
    let binary = content.bytes().is_some_and(is_binary);
    let text = content.bytes().filter(|_| !binary).map(cut);
    let is_large = size.is_some_and(|(bytes, _)| bytes > CONTENT_LIMIT as u64);
    json!({
        "path": written.path,
        "via": match written.via {
            Via::Tool | Via::Ran => "tool",
            Via::Redirect | Via::Shell => "shell",
        },
        "applied": matches!(written.via, Via::Ran | Via::Shell),
        "content": text.as_ref().map(|(text, _)| text),
        "before": written.before.text(),
        "lines": size.filter(|_| !binary).map(|(_, lines)| lines),
        "bytes": size.map(|(bytes, _)| bytes),
        "known": size.is_some(),
        "truncated": is_large || text.as_ref().is_some_and(|(_, is_cut)| *is_cut),
        "binary": binary,
    })
}

/// Returns `event.data` of a file.delete event.
pub fn delete_data(path: &str, before: Content<'_>) -> Value {
    json!({ "path": path, "via": "shell", "applied": true, "before": before.text() })
}

/// Says whether bytes are no text, as git does: there is a zero among the first.
pub fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(8_000).any(|byte| *byte == 0)
}

/// Counts the ends of lines.
pub fn line_ends(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

fn lines(bytes: &[u8]) -> u64 {
    let open = bytes.last().is_some_and(|byte| *byte != b'\n');
    line_ends(bytes) + u64::from(open)
}

/// Returns the beginning of a text, and whether more follows; bytes that are no UTF-8 are replaced.
fn cut(bytes: &[u8]) -> (String, bool) {
    // A character that begins below the limit is whole.
    let begin = &bytes[..bytes.len().min(CONTENT_LIMIT + 4)];
    let mut text = String::from_utf8_lossy(begin).into_owned();
    let mut end = text.len().min(CONTENT_LIMIT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let is_cut = end < text.len();
    text.truncate(end);
    (text, is_cut)
}

/// Returns a tool's answer as expressions see it: whole when small, else its beginning as a text.
pub fn response(answer: &Value) -> Value {
    let text = answer.to_string();
    if text.len() <= RESPONSE_LIMIT {
        return match answer {
            Value::Null => json!({}),
            answer => answer.clone(),
        };
    }
    let mut end = RESPONSE_LIMIT;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].into()
}

/// Returns the exit code in the first line of a failure, `Exit code N`.
pub fn exit_code(error: &str) -> Option<i64> {
    let first = error.lines().next()?;
    first.strip_prefix("Exit code ")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Content, Via, Written, call_data, exit_code, proposed, response, write_data};

    #[test]
    fn edits_are_applied_as_the_client_would() {
        let before = Content::Known(b"one two one\n");
        let edit = |old: &str, new: &str, all: bool| {
            let input = json!({"old_string": old, "new_string": new, "replace_all": all});
            proposed("Edit", &input, before)
        };
        assert_eq!(edit("two", "2", false).as_deref(), Some("one 2 one\n"));
        assert_eq!(edit("one", "1", false), None);
        assert_eq!(edit("one", "1", true).as_deref(), Some("1 two 1\n"));
        assert_eq!(edit("three", "3", false), None);
        let input = json!({"edits": [
            {"old_string": "two", "new_string": "2"},
            {"old_string": "one 2", "new_string": "x"}
        ]});
        assert_eq!(
            proposed("MultiEdit", &input, before).as_deref(),
            Some("x one\n")
        );
        let create = json!({"old_string": "", "new_string": "new"});
        assert_eq!(
            proposed("Edit", &create, Content::Absent).as_deref(),
            Some("new")
        );
        assert_eq!(proposed("Edit", &create, before), None);
        assert_eq!(proposed("Edit", &create, Content::Unknown), None);
        let write = json!({"content": "all"});
        assert_eq!(
            proposed("Write", &write, Content::Unknown).as_deref(),
            Some("all")
        );
        assert_eq!(proposed("NotebookEdit", &json!({}), before), None);
    }

    #[test]
    fn a_write_tells_what_is_known_of_it() {
        let data = write_data(Written {
            path: "a",
            via: Via::Shell,
            content: Content::Known(b"x\ny"),
            before: Content::Absent,
        });
        assert_eq!(
            data,
            json!({"path": "a", "via": "shell", "applied": true, "content": "x\ny",
                "before": null, "lines": 2, "bytes": 3, "known": true, "truncated": false,
                "binary": false})
        );
        let binary = write_data(Written {
            path: "a",
            via: Via::Tool,
            content: Content::Known(&[0, 159]),
            before: Content::Known(&[0xff, b'x']),
        });
        assert_eq!(binary["content"], json!(null));
        assert_eq!(binary["before"], json!("\u{fffd}x"));
        assert_eq!(binary["bytes"], json!(2));
        assert_eq!(binary["binary"], json!(true));
        let large = "é".repeat(600_000) + "x";
        let cut = write_data(Written {
            path: "a",
            via: Via::Redirect,
            content: Content::Known(large.as_bytes()),
            before: Content::Unknown,
        });
        assert_eq!(cut["truncated"], json!(true));
        assert_eq!(cut["bytes"], json!(1_200_001));
        assert_eq!(cut["content"].as_str().unwrap().len(), 1 << 20);
        let replaced = [vec![0xff; 400_000], b"end".to_vec()].concat();
        for (bytes, truncated) in [(&replaced[..], true), (&replaced[300_000..], false)] {
            let data = write_data(Written {
                path: "a",
                via: Via::Ran,
                content: Content::Known(bytes),
                before: Content::Absent,
            });
            let text = data["content"].as_str().unwrap();
            assert_eq!(data["truncated"], json!(truncated));
            assert_eq!(text.ends_with("end"), !truncated);
        }
        let large = write_data(Written {
            path: "a",
            via: Via::Shell,
            content: Content::Large {
                begin: b"x\n",
                bytes: 1 << 30,
                lines: 7,
            },
            before: Content::Unknown,
        });
        let size = json!([large["bytes"], large["lines"], large["truncated"]]);
        assert_eq!(size, json!([1 << 30, 7, true]));
    }

    #[test]
    fn a_call_tells_its_commands_and_targets() {
        let input = json!({"command": "cd a && x > b"});
        assert_eq!(
            call_data("Bash", &input, &[]),
            json!({"command": "cd a && x > b", "argv": [["cd", "a"], ["x"]], "redirects": ["a/b"],
                "paths": []})
        );
        let broken = json!({"command": "x '"});
        assert_eq!(call_data("Bash", &broken, &[])["argv"], json!(null));
        let file = call_data("Read", &json!({"file_path": "/r/a"}), &["a".to_owned()]);
        assert_eq!(file["paths"], json!(["a"]));
    }

    #[test]
    fn answers_and_errors_are_bounded() {
        assert_eq!(response(&json!({"a": 1})), json!({"a": 1}));
        assert_eq!(response(&json!(null)), json!({}));
        let long = json!({"a": "é".repeat(70_000)});
        assert!(response(&long).as_str().unwrap().len() <= 64 << 10);
        assert_eq!(exit_code("Exit code 143\nx"), Some(143));
        assert_eq!(exit_code("no"), None);
    }
}
