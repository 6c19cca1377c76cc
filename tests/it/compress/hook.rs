//! What the PostToolUse hook answers, on payloads of the real client.

use git_operator::compress::{Call, Settings, reply};
use serde_json::{Value, json};

use super::Project;

fn answer(project: &Project, tool: &str, input: &Value, response: &Value) -> Option<Value> {
    let call = Call {
        tool,
        input: &input.to_string(),
        response: &response.to_string(),
        agent: None,
    };
    let text = reply(&call, &Settings::default(), &project.place)?;
    Some(serde_json::from_str(&text).unwrap())
}

fn long() -> String {
    (0..2000)
        .map(|i| format!("line number {i} of the run\n"))
        .collect()
}

#[test]
fn the_shape_of_the_output_is_kept() {
    let project = Project::started();
    let bash = json!({"stdout": long(), "stderr": "Shell cwd was reset", "interrupted": false,
        "isImage": false, "unknown": [1.50, {"k": null}]});
    let reply = answer(&project, "Bash", &json!({"command": "seq"}), &bash).unwrap();
    let stdout = reply["stdout"].as_str().unwrap();
    assert!(stdout.ends_with("Shell cwd was reset") && stdout.len() < 12_000);
    let mut expected = bash.clone();
    expected["stdout"] = json!(stdout);
    expected["stderr"] = json!("");
    assert_eq!(reply, expected);
    let spilled = std::fs::read_to_string(project.cited(stdout)).unwrap();
    assert_eq!(spilled, format!("{}\nShell cwd was reset", long()));

    let grep = json!({"mode": "content", "numFiles": 0, "content": long()});
    let reply = answer(&project, "Grep", &json!({"pattern": "x"}), &grep).unwrap();
    assert_eq!(reply["mode"], "content");
    assert!(reply["content"].as_str().unwrap().len() < 12_000);

    let fetch = json!({"bytes": 9, "code": 200, "result": long(), "url": "http://e.invalid"});
    let reply = answer(
        &project,
        "WebFetch",
        &json!({"url": "http://e.invalid"}),
        &fetch,
    )
    .unwrap();
    assert!(reply["result"].as_str().unwrap().len() < 12_000);

    let text = answer(
        &project,
        "WebSearch",
        &json!({"query": "x"}),
        &json!(long()),
    )
    .unwrap();
    assert!(text.as_str().unwrap().len() < 12_000);
}

#[test]
fn an_agent_report_is_scrubbed_and_nothing_of_it_is_elided() {
    let project = Project::started();
    let report = format!("{}\u{1b}[31mred\u{1b}[0m{}", long(), "\u{1b}[0m".repeat(20));
    let response = json!({"status": "completed", "content": [
        {"type": "text", "text": "short"}, {"type": "text", "text": report}]});
    let reply = answer(&project, "Agent", &json!({"prompt": "p"}), &response).unwrap();
    let mut expected = response.clone();
    expected["content"][1]["text"] = json!(format!("{}red", long()));
    assert_eq!(reply, expected);
}

#[test]
fn what_may_not_be_changed_is_not_answered() {
    let project = Project::started();
    let bash = |text: &str| json!({"stdout": text, "stderr": ""});
    let long = long();
    for (tool, input, response) in [
        ("Read", json!({"file_path": "a"}), json!({"content": long})),
        ("Edit", json!({}), json!({"content": long})),
        ("mcp__x__y", json!({}), bash(&long)),
        ("Unknown", json!({}), bash(&long)),
        ("Bash", json!({"command": "git operator log"}), bash(&long)),
        (
            "Bash",
            json!({"command": "cat .operator/VERDICTS.md"}),
            bash(&long),
        ),
        (
            "Grep",
            json!({"pattern": "PASS", "path": ".operator"}),
            json!({"content": long}),
        ),
        (
            "Bash",
            json!({"command": "ls"}),
            json!({"stdout": long, "isImage": true}),
        ),
        (
            "Bash",
            json!({"command": "ls"}),
            json!({"stdout": long, "persistedOutputPath": "/x"}),
        ),
        ("Bash", json!({"command": "ls"}), json!({"output": long})),
        ("Bash", json!({"command": "ls"}), json!([long])),
        ("Bash", json!({"command": "ls"}), json!(7)),
        ("Bash", json!({"command": "ls"}), bash("short")),
    ] {
        assert_eq!(
            answer(&project, tool, &input, &response),
            None,
            "{tool} {input}"
        );
    }
    assert_eq!(project.spills(), Vec::<Vec<u8>>::new());
    let broken = Call {
        tool: "Bash",
        input: "{\"command\":\"ls\"}",
        response: "{\"stdout\":\"\\ud800",
        agent: None,
    };
    assert_eq!(reply(&broken, &Settings::default(), &project.place), None);
}

#[test]
fn an_output_that_the_client_keeps_has_its_secrets_masked_and_nothing_else_changed() {
    let project = Project::started();
    let key = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let response = json!({"stdout": format!("{}token {key}\n", "x\n".repeat(9_000)), "stderr": "",
        "persistedOutputPath": "/x", "persistedOutputSize": 18_047});
    let answer = answer(&project, "Bash", &json!({"command": "ls"}), &response).unwrap();
    let shown = answer["stdout"].as_str().unwrap();
    assert!(
        !shown.contains(key) && shown.starts_with("x\nx\n"),
        "{}",
        &shown[18_000..]
    );
    assert_eq!(shown.lines().count(), 9_001);
    assert_eq!(answer["persistedOutputPath"], "/x");
    assert_eq!(project.spills(), Vec::<Vec<u8>>::new());
}

const KEY: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

#[test]
fn json_on_stdout_stays_json_whatever_stderr_says() {
    let project = Project::started();
    let ask = |stdout: &str, stderr: &str| {
        let response = json!({"stdout": stdout, "stderr": stderr});
        answer(&project, "Bash", &json!({"command": "x"}), &response)
    };
    let masked = ask("{\"a\":1}", &format!("auth {KEY}")).unwrap();
    assert_eq!(
        masked,
        json!({"stdout": "{\"a\":1}", "stderr": "auth [masked:github-token]"})
    );
    let shortened = ask("{\"a\":1}", &long()).unwrap();
    assert_eq!(shortened["stdout"], "{\"a\":1}");
    assert!(shortened["stderr"].as_str().unwrap().len() < 12_000);
    assert_eq!(ask("{\"a\":1}", "a note"), None);
}

#[test]
fn a_masked_output_keeps_its_streams_apart() {
    let project = Project::started();
    for (stdout, stderr) in [
        (format!("a {KEY}\n"), "b".to_owned()),
        ("a".to_owned(), format!("b {KEY}\n")),
        (String::new(), format!("b {KEY}\n")),
        (format!("a {KEY}"), format!("b {KEY}\n")),
    ] {
        let response = json!({"stdout": stdout, "stderr": stderr, "interrupted": false});
        let found = answer(&project, "Bash", &json!({"command": "x"}), &response).unwrap();
        let mask = |text: &str| text.replace(KEY, "[masked:github-token]");
        let wanted =
            json!({"stdout": mask(&stdout), "stderr": mask(&stderr), "interrupted": false});
        assert_eq!(found, wanted);
    }
}

#[test]
fn a_secret_is_masked_in_every_shape_of_an_output() {
    let project = Project::started();
    let text = format!("token {KEY}\n");
    let stdout = json!({"stdout": text, "stderr": ""});
    for (tool, input, response) in [
        ("Bash", json!(null), stdout.clone()),
        ("Bash", json!("ls"), stdout),
        ("Bash", json!({"command": "x"}), json!({"stderr": text})),
        (
            "Bash",
            json!({"command": "x"}),
            json!({"stdout": null, "stderr": text}),
        ),
        (
            "Bash",
            json!({"command": "x"}),
            json!([{"type": "text", "text": text}, {"type": "image", "data": "x"}]),
        ),
        ("Bash", json!({"command": "x"}), json!([text])),
        (
            "Bash",
            json!({"command": "x"}),
            json!({"output": [{"deep": text}]}),
        ),
        (
            "Grep",
            json!({"pattern": "x"}),
            json!({"mode": "content", "content": "", "filenames": [text]}),
        ),
        (
            "WebSearch",
            json!({"query": "x"}),
            json!({"query": "x", "results": [text, {"tool_use_id": "t", "content": [{"title": text, "url": "u"}]}]}),
        ),
    ] {
        let found = answer(&project, tool, &input, &response)
            .unwrap_or_else(|| panic!("{tool} {response}"));
        let wanted = response.to_string().replace(KEY, "[masked:github-token]");
        assert_eq!(found.to_string(), wanted, "{tool}");
    }
}

#[test]
fn of_two_members_with_one_name_the_last_is_shown() {
    let project = Project::started();
    let call = Call {
        tool: "Bash",
        input: "{}",
        response: &format!("{{\"stdout\":\"x\",\"stderr\":\"\",\"stdout\":\"{KEY}\"}}"),
        agent: None,
    };
    let found = reply(&call, &Settings::default(), &project.place).unwrap();
    assert_eq!(
        found,
        "{\"stdout\":\"[masked:github-token]\",\"stderr\":\"\"}"
    );
}

#[test]
fn long_results_of_a_search_are_shortened_in_place() {
    let project = Project::started();
    let response = json!({"query": "x", "results": [long(), {"content": [{"url": "u"}]}]});
    let found = answer(&project, "WebSearch", &json!({"query": "x"}), &response).unwrap();
    assert!(found["results"][0].as_str().unwrap().len() < 12_000);
    assert_eq!(found["results"][1], response["results"][1]);
}

#[test]
fn a_switched_off_compressor_answers_nothing() {
    let project = Project::started();
    let call = Call {
        tool: "Bash",
        input: "{}",
        response: &json!({"stdout": long()}).to_string(),
        agent: None,
    };
    let off = Settings {
        on: false,
        ..Settings::default()
    };
    assert_eq!(reply(&call, &off, &project.place), None);
    assert!(reply(&call, &Settings::default(), &project.place).is_some());
}

#[test]
fn the_same_output_again_is_one_line_for_the_same_session_and_agent() {
    let project = Project::started();
    let text = "a line of the status, again\n".replace('\n', "!\n") + &"unique é\n".repeat(3);
    let text: String = (0..40).map(|i| format!("{i} {text}")).collect();
    let response = json!({"stdout": text, "stderr": ""});
    let ask = |agent: Option<&str>, session: &str| {
        let mut place = project.place.clone();
        place.session = session.to_owned();
        let call = Call {
            tool: "Bash",
            input: "{\"command\":\"make\"}",
            response: &response.to_string(),
            agent,
        };
        let answer: Value =
            serde_json::from_str(&reply(&call, &Settings::default(), &place)?).unwrap();
        Some(answer["stdout"].as_str().unwrap().to_owned())
    };
    assert_eq!(ask(None, "s1"), None);
    assert_eq!(ask(Some("a1"), "s1"), None);
    assert_eq!(ask(None, "s2"), None);
    let line = ask(None, "s1").unwrap();
    let said = format!(
        "[git-operator: the same {} bytes as the output of `make` before; whole output: ",
        text.len()
    );
    assert!(line.starts_with(&said), "{line}");
    assert!(!line.contains('\n'));
    assert_eq!(std::fs::read_to_string(project.cited(&line)).unwrap(), text);
    git_operator::compress::wipe(&project.place);
    assert_eq!(ask(None, "s1"), None);
}

#[test]
fn what_came_between_is_not_passed_over() {
    let project = Project::started();
    let text: String = (0..60)
        .map(|i| format!("{i} of the status lines\n"))
        .collect();
    let ask = |command: &str, stdout: &str| {
        let input = json!({"command": command});
        answer(
            &project,
            "Bash",
            &input,
            &json!({"stdout": stdout, "stderr": ""}),
        )
    };
    let json = format!("[{}1]", "1,".repeat(2_000));
    for (command, between) in [
        ("cat x.json", json.as_str()),
        ("git operator log", &long()),
        ("true", ""),
    ] {
        assert_eq!(ask("make", &text), None, "{command}");
        let again = ask("make", &text).unwrap();
        assert!(again["stdout"].as_str().unwrap().contains("the same"));
        assert_eq!(ask(command, between), None, "{command}");
    }
    let told = format!("echo `x` {KEY}\nmake");
    assert_eq!(ask(&told, &text), None);
    let again = ask("make", &text).unwrap();
    let line = again["stdout"].as_str().unwrap();
    assert!(
        line.contains(" bytes as the output of `echo x [masked:github-token] make` before; "),
        "{line}"
    );
}
