//! Hooks with policies, against the same hook without any.

use std::{fmt::Write as _, fs, path::PathBuf};

use super::{
    data::{git, repository},
    pair::{Process, Row},
    rows::{hook, row},
};

/// Returns a started project whose 50 policies look at a write: expressions and built-ins, none of which
/// matches or asks for the work ledger.
fn fifty() -> PathBuf {
    let dir = repository(13, 0);
    let policies = dir.join(".operator/policies");
    if policies.exists() {
        return dir;
    }
    fs::create_dir_all(&policies).expect("a directory of policies");
    for number in 0..50 {
        let mut text = format!("id: p{number}\non: [file.write]\n");
        let when = match number % 5 {
            0 => format!(
                "{{ builtin: max-lines, with: {{ max: {} }} }}",
                400 + number
            ),
            1 => "{ builtin: forbid-text, with: { patterns: [\"dbg!\", \"todo!\"] } }".to_owned(),
            2 => format!(
                "{{ cel: \"event.data.path.endsWith('.x{number}') && size(event.data.content) > 9\" }}"
            ),
            3 => format!("{{ cel: \"event.data.path.matches('^gen{number}/.*[.]rs$')\" }}"),
            _ => format!(
                "{{ cel: \"lines(event.data.content).exists(l, l.contains('never {number}'))\" }}"
            ),
        };
        writeln!(text, "when: {when}").expect("a string grows");
        fs::write(policies.join(format!("p{number}.yaml")), text).expect("a policy");
    }
    git(&dir, &["add", "-A"], b"");
    dir
}

fn write(dir: PathBuf) -> Process {
    let text = format!(
        r#"{{"session_id":"S1","cwd":"{0}","hook_event_name":"PreToolUse","tool_name":"Write","tool_use_id":"u","tool_input":{{"file_path":"{0}/a.rs","content":"{1}"}}}}"#,
        dir.display(),
        "let x = 1;\\n".repeat(300),
    );
    Process::new(&[super::data::OURS, "hook", "PreToolUse"], dir).stdin(text)
}

/// Returns the rows of policies.
pub(crate) fn all() -> Vec<Row> {
    let mut fifty_policies = row(
        "PreToolUse, 50 policies / none",
        1.0,
        |_| write(fifty()),
        |_| write(repository(13, 1)),
    );
    fifty_policies.slack = 5.0;
    vec![
        fifty_policies,
        row(
            "PreToolUse of Write, no policy / Stop",
            1.3,
            |_| write(repository(10, 0)),
            |_| hook("Stop", repository(10, 0)),
        ),
    ]
}
