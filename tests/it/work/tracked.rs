//! When sessions are tracked, who takes over, and who is told that one is gone.

use super::case::{list, run};

#[test]
fn a_policy_that_reads_work_is_tracked_for_by_everybody() {
    let ran = run(r#"
git config --global operator.work false; git config --global operator.autoArm true; newrepo; mkdir -p .operator/policies
cat > .operator/policies/own.yaml <<'P'
id: own
on: [tool.call]
when: { cel: "size(work.unattributed) > 99" }
then: [warn]
message: "never"
P
op policy check > /dev/null || echo BROKEN; git add .; git commit -qm c1
hk SessionStart source='"startup"' > /dev/null; echo 1 > user1; echo 1 > user2; stop
wr w1 a 1; wr w2 b 1; op work --json; op work; stop
mkdir -p .git/operator; n=$(date +%s)000; echo '{"since":'$n',"until":'$((n + 60000))',"reason":"r"}' > .git/operator/policy-pause; op work --json
"#);
    assert!(!ran.has("BROKEN"), "{}", ran.all());
    assert_eq!(ran.works()[0]["tracked"], true);
    list(&ran.works()[0], "mine", &["a", "b"]);
    // A person paused the policy: nobody asks.
    assert_eq!(ran.works()[1]["tracked"], false);
    assert!(!ran.stderr.contains("ledger is off"), "{}", ran.all());
    let stops = ran.stdout.lines().filter(|line| line.starts_with("stop"));
    assert_eq!(stops.collect::<Vec<_>>(), ["stop rc=0", "stop rc=2"]);
}

#[test]
fn who_adopts_a_task_takes_over_the_claims_of_its_owner() {
    let ran = run(r#"
newrepo; op task t1 --owner OLD; op task t2 --owner OLD; op task t3; SID=OLD wr u1 a A; SID=OLD wr u2 b B; echo user >> b
SID=NEW shx n1 true; op work --owner NEW --json
op adopt --owner NEW t1 t2 t3; op work --owner NEW --json; op work --owner OLD --json; op adopt --owner NEW t1; SID=NEW stop 2> /dev/null; op adopt --owner NEW nosuch; echo rc=$?
"#);
    let works = ran.works();
    list(&works[0], "foreign", &["a", "b"]);
    assert_eq!(works[0]["reasons"]["a"], "other-session");
    list(&works[1], "mine", &["a"]);
    list(&works[1], "foreign", &["b"]);
    list(&works[1], "uncommitted", &["a", "b"]);
    assert_eq!(works[1]["reasons"]["b"], "edited-since");
    list(&works[2], "mine", &[]);
    list(&works[2], "touched", &[]);
    assert_eq!(works[2]["reasons"]["a"], "other-session");
    assert!(
        ran.stderr
            .contains("2 uncommitted paths of session 'OLD' became those of session 'NEW'"),
        "{}",
        ran.all()
    );
    ran.expect(&["stop rc=2", "rc=1"]);
}

#[test]
fn a_session_that_was_killed_is_named_with_its_age_until_it_ends() {
    let ran = run(r#"
newrepo; op start > /dev/null; git add .; git commit -qm c1; echo user > u
SID=DEAD wr u1 a A; SID=DEAD hk PreToolUse tool_name='"Bash"' tool_use_id='"u2"' tool_input='{"command":"sleep 9"}'
SID=LIVE shx u3 'echo b > b'; CLAUDE_CODE_SESSION_ID=LIVE op doctor; echo rc=$?
SID=DEAD hk SessionEnd reason='"other"'; CLAUDE_CODE_SESSION_ID=LIVE op doctor
"#);
    let note = ran
        .stdout
        .lines()
        .find(|line| line.contains("session 'DEAD' was last seen "))
        .unwrap_or_else(|| panic!("{}", ran.all()));
    assert!(note.starts_with("note: "), "{note}");
    assert!(
        note.contains(" ago and has not ended: 1 claimed paths, 1 unfinished calls, "),
        "{note}"
    );
    assert!(!ran.stdout.contains("'LIVE'"), "{}", ran.all());
    ran.expect(&["rc=0"]);
    assert_eq!(ran.stdout.matches("'DEAD'").count(), 1, "{}", ran.all());
}
