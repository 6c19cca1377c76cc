//! What a hook starts: one status where the whole tree is needed, none where it is not.

use super::case::{Ran, run};

/// How many git commands of each name a traced script started.
fn counts(ran: &Ran, part: usize) -> (usize, usize) {
    let part = ran.stdout.split("--\n").nth(part).unwrap_or_default();
    let all = part.lines().filter(|line| line.starts_with("git "));
    let status = all.clone().filter(|line| line.contains(" status "));
    (all.count(), status.count())
}

const TRACED: &str = r#"
mkdir shim; SHIM=$PWD/shim; GIT=$(command -v git)
printf '#!/bin/sh\necho "git $*" >> %s/log\nexec %s "$@"\n' "$SHIM" "$GIT" > shim/git; chmod +x shim/git
traced() { # the git commands that a hook starts
  pl "$@" > ../payload; PATH=$SHIM:$PATH git-operator hook "$1" < ../payload > /dev/null; cat $SHIM/log 2> /dev/null; rm -f $SHIM/log; echo --; }
"#;

#[test]
fn a_file_tool_on_a_tracked_path_starts_no_git_at_all() {
    let ran = run(&format!(
        r#"{TRACED}
newrepo; mkdir d; echo 1 > d/a; git add .; git commit -qm c1; echo user > u; I=$(js file_path $PWD/d/a content x)
traced PreToolUse tool_name='"Write"' tool_use_id='"w1"' tool_input="$I"; echo 2 > d/a; traced PostToolUse tool_name='"Write"' tool_use_id='"w1"' tool_input="$I" tool_response='{{}}'
I=$(js file_path $PWD/d/new content x)
traced PreToolUse tool_name='"Write"' tool_use_id='"w2"' tool_input="$I"; echo 2 > d/new; traced PostToolUse tool_name='"Write"' tool_use_id='"w2"' tool_input="$I" tool_response='{{}}'
"#
    ));
    assert_eq!(counts(&ran, 0), (0, 0), "{}", ran.all());
    assert_eq!(counts(&ran, 1), (0, 0), "{}", ran.all());
    // Whether a new file is ignored is git's to say, of this one path.
    assert_eq!(counts(&ran, 2), (1, 0), "{}", ran.all());
    assert_eq!(counts(&ran, 3), (0, 0), "{}", ran.all());
}

#[test]
fn a_shell_call_starts_one_status_before_and_one_after() {
    let ran = run(&format!(
        r#"{TRACED}
newrepo; echo 1 > a; echo 1 > b; git add .; git commit -qm c1; echo user > u; I='{{"command":"x"}}'
traced PreToolUse tool_name='"Bash"' tool_use_id='"u1"' tool_input="$I"; echo 2 > a; echo 2 > b; echo n > n; rm u; traced PostToolUse tool_name='"Bash"' tool_use_id='"u1"' tool_input="$I" tool_response='{{}}'
traced PreToolUse tool_name='"Read"' tool_use_id='"r1"' tool_input='{{}}'; traced PostToolUse tool_name='"Read"' tool_use_id='"r1"' tool_input='{{}}' tool_response='{{}}'
traced Stop stop_hook_active=false; traced UserPromptSubmit prompt='"x"'; traced SubagentStop stop_hook_active=false
"#
    ));
    assert_eq!(counts(&ran, 0), (1, 1), "{}", ran.all());
    // Policies see what a command wrote, as it was before: one more for all of it.
    assert_eq!(counts(&ran, 1), (2, 1), "{}", ran.all());
    for part in 2..7 {
        assert_eq!(counts(&ran, part), (0, 0), "{part}: {}", ran.all());
    }
}

#[test]
fn a_stop_that_measures_starts_one_status() {
    let ran = run(&format!(
        r#"{TRACED}
newrepo; op start > /dev/null; git add .; git commit -qm c1; git config --global operator.autoArm true
hk SessionStart source='"startup"' > /dev/null; traced Stop stop_hook_active=false; wr w1 a 1; traced Stop stop_hook_active=false
"#
    ));
    assert_eq!(counts(&ran, 0), (1, 1), "{}", ran.all());
    assert_eq!(counts(&ran, 1), (1, 1), "{}", ran.all());
}
