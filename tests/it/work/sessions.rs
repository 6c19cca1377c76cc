//! Sessions that end badly, events that come twice, late or never.

use super::case::{list, run};

#[test]
fn a_killed_session_keeps_its_work_apart_from_the_next_ones() {
    let ran = run(r#"
newrepo; SID=DEAD hk SessionStart source='"startup"'; SID=DEAD wr u1 a A
SID=DEAD hk PreToolUse tool_name='"Bash"' tool_use_id='"u2"' tool_input='{"command":"sleep 9"}'   # no Post ever
SID=LIVE hk SessionStart source='"startup"'; SID=LIVE shx u3 'echo b > b'; SID=LIVE op work --owner LIVE --json
"#);
    let work = ran.work();
    list(&work, "mine", &["b"]);
    list(&work, "foreign", &["a"]);
    list(&work, "unattributed", &[]);
    assert_eq!(work["reasons"]["a"], "other-session");
}

#[test]
fn what_a_subagent_wrote_is_the_sessions_and_names_it() {
    let ran = run(r#"
newrepo
hk PreToolUse tool_name='"Bash"' tool_use_id='"u1"' tool_input='{"command":"echo s > s"}' agent_id='"a9"'; echo s > s
hk PostToolUse tool_name='"Bash"' tool_use_id='"u1"' tool_input='{"command":"echo s > s"}' agent_id='"a9"' tool_response='{"stdout":""}'
op work --owner S1 --json
"#);
    let work = ran.work();
    list(&work, "mine", &["s"]);
    assert_eq!(work["agents"]["s"], "a9");
    assert_eq!(work["call"]["agent"], "a9");
}

#[test]
fn an_event_delivered_twice_counts_once() {
    let ran = run(r#"
newrepo; I='{"command":"echo x > f"}'
for e in PreToolUse; do hk $e tool_name='"Bash"' tool_use_id='"u1"' tool_input="$I" & hk $e tool_name='"Bash"' tool_use_id='"u1"' tool_input="$I" & wait; done
echo x > f
for n in 1 2; do hk PostToolUse tool_name='"Bash"' tool_use_id='"u1"' tool_input="$I" tool_response='{"stdout":""}' & done; wait
op work --json
op restore --call u1; test -e f && echo there
"#);
    let work = ran.work();
    list(&work, "mine", &["f"]);
    list(&work["call"], "changed", &["f"]);
    ran.expect(&["removed f"]);
    assert!(!ran.has("there"));
}

#[test]
fn parallel_calls_lose_nothing_and_leave_no_lock_held() {
    let ran = run(r#"
newrepo; for i in $(seq 20); do hk PreToolUse tool_name='"Write"' tool_use_id="\"p$i\"" tool_input="$(js file_path $PWD/f$i content $i)" & done; wait
for i in $(seq 20); do echo $i > f$i; done
for i in $(seq 20 -1 1); do hk PostToolUse tool_name='"Write"' tool_use_id="\"p$i\"" tool_input="$(js file_path $PWD/f$i content $i)" tool_response='{}' & done; wait
op work --json; find .git -name '*.lock'; git fsck --full; git for-each-ref | grep -v refs/heads
"#);
    let mut wanted: Vec<String> = (1..=20).map(|number| format!("f{number}")).collect();
    wanted.sort();
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    list(&ran.work(), "mine", &wanted);
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.all());
}

#[test]
fn a_failing_command_claims_what_it_changed() {
    let ran = run(r#"
newrepo; shx u1 'echo x > f; sed -i s/x/y/ f; exit 1'; op work --json; op restore --call u1; ls
"#);
    list(&ran.work(), "mine", &["f"]);
    ran.expect(&["removed f"]);
    assert!(!ran.has("f"));
}

#[test]
fn an_interrupted_call_leaves_its_changes_unattributed() {
    let ran = run(r#"
newrepo; echo u > u; git add u; git commit -qm c1; echo dirty > u
hk PreToolUse tool_name='"Bash"' tool_use_id='"u1"' tool_input='{"command":"make gen"}'; echo gen > gen; echo tool >> u
hk PreToolUse tool_name='"Bash"' tool_use_id='"u2"' tool_input='{"command":"true"}'
hk PostToolUse tool_name='"Bash"' tool_use_id='"u2"' tool_input='{"command":"true"}' tool_response='{}'
op work --json; op recover --list
op recover u --to out; cat out/u
"#);
    let work = ran.work();
    list(&work, "unattributed", &["gen", "u"]);
    list(&work, "mine", &[]);
    list(&work, "foreign", &[]);
    assert_eq!(work["reasons"]["gen"], "unattributed");
    ran.expect(&["dirty"]);
    assert!(
        ran.stdout
            .contains(" u (changed during unfinished call u1 of session S1)")
    );
}

#[test]
fn an_interrupt_that_is_reported_claims_normally() {
    let ran = run(r#"
newrepo
hk PreToolUse tool_name='"Bash"' tool_use_id='"u1"' tool_input='{"command":"make gen"}'; echo gen > gen
hk PostToolUseFailure tool_name='"Bash"' tool_use_id='"u1"' tool_input='{"command":"make gen"}' error='"Interrupted"' is_interrupt=true
op work --json
"#);
    list(&ran.work(), "mine", &["gen"]);
}

#[test]
fn a_denied_call_claims_nothing() {
    let ran = run(r#"
newrepo
hk PreToolUse tool_name='"Bash"' tool_use_id='"u1"' tool_input='{"command":"make gen"}'; echo user > gen
hk PermissionDenied tool_name='"Bash"' tool_use_id='"u1"' tool_input='{"command":"make gen"}' reason='"no"'
op work --json
"#);
    list(&ran.work(), "foreign", &["gen"]);
    list(&ran.work(), "unattributed", &[]);
}

#[test]
fn every_known_file_tool_and_path_key_claims_its_file() {
    let ran = run(r#"
newrepo; echo '{}' > n.ipynb; git add .; git commit -qm c1
for T in NotebookEdit:notebook_path MultiEdit:file_path Edit:file_path; do t=${T%%:*} k=${T##*:}
 I=$(js $k $PWD/n.ipynb new_source "$t"); hk PreToolUse tool_name="\"$t\"" tool_use_id="\"$t\"" tool_input="$I"; echo "{\"$t\":1}" > n.ipynb
 hk PostToolUse tool_name="\"$t\"" tool_use_id="\"$t\"" tool_input="$I" tool_response='{}'; op work --json; done
"#);
    assert_eq!(ran.works().len(), 3);
    for work in ran.works() {
        list(&work, "mine", &["n.ipynb"]);
    }
}

#[test]
fn a_file_tool_that_names_no_file_is_compared_by_tree() {
    let ran = run(r#"
newrepo; echo user > u
hk PreToolUse tool_name='"Write"' tool_use_id='"u1"' tool_input='{"target":"x"}'; echo 1 > x
hk PostToolUse tool_name='"Write"' tool_use_id='"u1"' tool_input='{"target":"x"}' tool_response='{}'; op work --json
"#);
    list(&ran.work(), "mine", &["x"]);
    list(&ran.work(), "foreign", &["u"]);
    assert!(ran.stdout.contains("names no file"), "{}", ran.all());
}

#[test]
fn odd_payloads_lose_no_claim() {
    let ran = run(r#"
newrepo; n=0; for r in '"text"' '[{"type":"text","text":"x"}]' null 7 '{"content":[{"type":"image"}]}'; do n=$((n+1)); I='{"command":"echo > f'$n'"}'
hk PreToolUse tool_name='"Bash"' tool_use_id="\"u$n\"" tool_input="$I"; echo > f$n; hk PostToolUse tool_name='"Bash"' tool_use_id="\"u$n\"" tool_input="$I" tool_response="$r"; echo rc=$?; done
hk PostToolUse tool_name='"Bash"' tool_use_id='"u9"' tool_input='"oops"'; hk Stop stop_hook_active='"true"'; op work --json
"#);
    list(&ran.work(), "mine", &["f1", "f2", "f3", "f4", "f5"]);
    assert_eq!(ran.stdout.matches("rc=0").count(), 5);
}

#[test]
fn payloads_no_json_parser_takes_lose_no_claim() {
    let ran = run(r#"
newrepo; n=0; for v in '{"stdout":"\ud83d"}' $'{"stdout":"\xff\xfe"}' $'{"stdout":"\x01"}' '{"stdout":"\u0000"}' '{"n":1e999}' "$(printf '[%.0s' $(seq 300))$(printf ']%.0s' $(seq 300))"; do n=$((n+1)); I="{\"command\":\"echo x > a$n\"}"
  hk PreToolUse tool_name='"Bash"' tool_use_id="\"u$n\"" tool_input="$I"; echo x > a$n
  printf '{"session_id":"S1","cwd":"%s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"u%s","tool_input":%s,"tool_response":%s}' "$PWD" $n "$I" "$v" | git operator hook PostToolUse; echo rc=$?; done; op work --json
"#);
    list(&ran.work(), "mine", &["a1", "a2", "a3", "a4", "a5", "a6"]);
    assert_eq!(ran.stdout.matches("rc=0").count(), 6);
}

#[test]
fn a_command_larger_than_an_argument_may_be_is_tracked() {
    let ran = run(r#"
newrepo
I="{\"command\":\": $(head -c 400000 /dev/zero | tr '\0' x); echo x > a\"}"; pl PreToolUse tool_name='"Bash"' tool_use_id='"u1"' tool_input="$I" > ../pp
git operator hook PreToolUse < ../pp; echo x > a; sed 's/PreToolUse/PostToolUse/' ../pp | git operator hook PostToolUse; op work --json
"#);
    list(&ran.work(), "mine", &["a"]);
}

#[test]
fn a_call_that_ends_in_another_directory_is_found_again() {
    let ran = run(r#"
newrepo; export CLAUDE_PROJECT_DIR=$PWD; mkdir sub
hk PreToolUse tool_name='"Bash"' tool_use_id='"u1"' tool_input='{"command":"x"}'; echo x > a
(cd /; hk PostToolUse tool_name='"Bash"' tool_use_id='"u1"' tool_input='{"command":"x"}' tool_response='{}')
(cd sub; shx u2 'echo y > ../b'); op work --json
"#);
    list(&ran.work(), "mine", &["a", "b"]);
}

#[test]
fn worktrees_have_work_of_their_own() {
    let ran = run(r#"
newrepo; M=$PWD; git worktree add -q ../wt -b w; cd ../wt; export CLAUDE_PROJECT_DIR=$M
SID=W wr u1 a A; op work --owner W --json; cd $M; SID=M shx u2 'echo m > m'; op work --json; op work --owner W --json
"#);
    let works = ran.works();
    list(&works[0], "mine", &["a"]);
    list(&works[1], "mine", &["m"]);
    list(&works[2], "mine", &[]);
    list(&works[2], "foreign", &["m"]);
}

#[test]
fn a_session_without_a_ledger_says_so() {
    let ran = run(r#"
newrepo; git config --global operator.work false; shx u1 'echo x > a'; op work --json; op work
ls .git/operator; cd /; op work --json
"#);
    for work in ran.works() {
        assert_eq!(work["tracked"], false);
        list(&work, "mine", &[]);
        assert!(work["call"].is_null());
    }
    list(&ran.works()[0], "foreign", &["a"]);
    list(&ran.works()[1], "foreign", &[]);
    assert!(
        ran.stderr.contains("the work ledger is off"),
        "{}",
        ran.all()
    );
}

#[test]
fn a_session_whose_id_cannot_be_used_is_told_so_when_it_starts() {
    let ran = run(r#"
newrepo; for id in 'a/b' 'x y' S1; do SID=$id hk SessionStart source='"startup"'; done; SID='a/b' shx u1 'echo x > f'; echo --
git config --global operator.work false; SID='a/b' hk SessionStart source='"startup"'
"#);
    let parts: Vec<&str> = ran.stdout.split("--\n").collect();
    let said = "does not keep track of this session's work: its session_id is none";
    assert_eq!(parts[0].matches(said).count(), 2, "{}", ran.all());
    assert!(!parts[1].contains(said), "{}", ran.all());
}
