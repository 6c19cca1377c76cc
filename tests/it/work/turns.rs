//! What hooks of turns and sessions do to the ledger.

use super::case::{list, run};

#[test]
fn a_stop_and_a_prompt_give_up_on_a_call_that_never_ended() {
    for event in [
        "Stop stop_hook_active=false background_tasks=[]",
        "UserPromptSubmit prompt='\"x\"'",
    ] {
        let ran = run(&format!(
            r#"
newrepo; hk PreToolUse tool_name='"Bash"' tool_use_id='"u1"' tool_input='{{"command":"x"}}'; echo x > a
hk {event}; echo y > b; op work --json
"#
        ));
        list(&ran.work(), "unattributed", &["a"]);
        list(&ran.work(), "foreign", &["b"]);
    }
}

#[test]
fn the_end_of_a_session_drops_what_was_kept_and_rescues_what_is_nowhere_else() {
    let ran = run(r#"
newrepo; echo user > u; shx u1 'echo a > a'
hk PreToolUse tool_name='"Bash"' tool_use_id='"u2"' tool_input='{"command":"x"}'; rm u
hk SessionEnd reason='"other"'; git gc -q --prune=now; git for-each-ref --format='%(refname)' refs/operator-local | cut -d/ -f3
op work --json; op recover u; cat u
"#);
    ran.expect(&["rescue", "user"]);
    list(&ran.work(), "mine", &["a"]);
    assert!(!ran.has("work"), "{}", ran.all());
}

#[test]
fn a_background_shell_is_followed_to_its_end() {
    let ran = run(r#"
newrepo; I='{"command":"serve","run_in_background":true}'
hk PreToolUse tool_name='"Bash"' tool_use_id='"u1"' tool_input="$I"
hk PostToolUse tool_name='"Bash"' tool_use_id='"u1"' tool_input="$I" tool_response='{"stdout":"","backgroundTaskId":"b1"}'
echo built > out; hk Stop stop_hook_active=false background_tasks='[{"id":"b1","type":"shell","status":"running"}]'; op work --json
hk Stop stop_hook_active=false background_tasks='[]'; echo later > user; op work --json
"#);
    list(&ran.works()[0], "unattributed", &["out"]);
    list(&ran.works()[1], "unattributed", &["out"]);
    list(&ran.works()[1], "foreign", &["user"]);
}

#[test]
fn a_session_arms_itself_by_its_own_changes_only() {
    let ran = run(r#"
newrepo; git config --global operator.autoArm true; hk SessionStart source='"startup"' > /dev/null
echo 1 > u1; echo 1 > u2; echo 1 > u3; stop; wr w1 a 1; stop; wr w2 b 1; stop
"#);
    let codes: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.starts_with("stop"))
        .collect();
    assert_eq!(
        codes,
        ["stop rc=0", "stop rc=0", "stop rc=2"],
        "{}",
        ran.all()
    );
}

#[test]
fn a_session_never_seen_to_start_arms_itself_where_the_ledger_knows() {
    let ran = run(r#"
newrepo; git config --global operator.autoArm true; wr w1 a 1; stop; wr w2 b 1; stop
newrepo; git config --global operator.work false; wr w1 a 1; wr w2 b 1; stop
"#);
    let stops = ran.stdout.lines().filter(|line| line.starts_with("stop"));
    let codes: Vec<&str> = stops.collect();
    let expected = ["stop rc=0", "stop rc=2", "stop rc=0"];
    assert_eq!(codes, expected, "{}", ran.all());
}

#[test]
fn a_commit_is_recorded_with_what_each_session_wrote_of_it() {
    let ran = run(r#"
newrepo; printf '*.up filter=up\n' > .gitattributes; git config filter.up.clean 'tr a-z A-Z'; git add .; git commit -qm c1
printf '#!/bin/sh\nexec git-operator git-hook post-commit\n' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit
echo user > u; wr w1 a 1; wr w2 f.up abc; export CLAUDE_CODE_SESSION_ID=S1; shx u1 'echo 2 > b; git add .; git commit -qm c2'; unset CLAUDE_CODE_SESSION_ID
op log --kind work --json; echo 3 > u; git commit -qam c3; op log --kind work --json | wc -l
"#);
    let line = ran
        .stdout
        .lines()
        .find(|line| line.contains(r#""kind":"work""#));
    let record: serde_json::Value =
        serde_json::from_str(line.unwrap_or_else(|| panic!("{}", ran.all()))).unwrap();
    let text = record.to_string();
    assert!(text.contains(r#""mine":{"S1":["a","b","f.up"]}"#), "{text}");
    assert!(text.contains(r#""other":["u"]"#), "{text}");
    ran.expect(&["1"]);
}

#[test]
fn a_commit_of_what_was_edited_since_has_a_record() {
    let ran = run(r#"
newrepo; op start > /dev/null; git add .; git commit -qm c1; wr u1 e E; echo more >> e; echo u > u; git add e; git commit -qm c2; op log --kind work --json; echo --
shx u2 true; echo more >> e; git commit -qam c3; git add u; git commit -qm c4; op log --kind work --json | wc -l
"#);
    let parts: Vec<&str> = ran.stdout.split("--\n").collect();
    assert!(
        parts[0].contains(r#""mine":{},"other":["e"]"#),
        "{}",
        ran.all()
    );
    assert_eq!(parts[1], "1\n", "{}", ran.all());
}
