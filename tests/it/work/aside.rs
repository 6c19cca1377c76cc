//! Other people's work that lies in git and not in the working tree, and what became of bytes that
//! moved: a command that lets go of it loses nothing.

use super::case::{Ran, list, run};

/// Says whether a message named a path and the command that gives it back.
fn told(ran: &Ran, path: &str) -> bool {
    ran.stdout
        .contains("not this session's is gone since this call")
        && ran.stdout.contains(path)
        && ran.stdout.contains("git operator recover --list")
}

#[test]
fn stashes_of_others_that_a_command_drops_are_kept() {
    for (command, back) in [
        ("git stash drop -q 'stash@{1}'", "f u"),
        ("git stash clear", "f u later"),
        (
            "git stash drop -q; git stash drop -q; git reflog expire --expire=now --all; git gc -q --prune=now",
            "f u later",
        ),
        ("rm -rf .git/refs/stash .git/logs/refs/stash", "f u later"),
        ("git update-ref -d refs/stash", "f u later"),
    ] {
        let ran = run(&format!(
            r#"
newrepo; echo 1 > f; git add f; git commit -qm c1
echo mine > f; printf 'new\n' > u; git stash -qu; echo later > later; git stash -qu
shx u1 "{command}"; git gc -q --prune=now; op work --json
op recover {back} --to ../out; cat ../out/f ../out/u; cat ../out/later; git fsck --full; git for-each-ref refs/operator-local
"#
        ));
        ran.expect(&["mine", "new"]);
        assert!(told(&ran, "f, "), "{command}: {}", ran.all());
        assert_eq!(ran.has("later"), back.contains("later"), "{}", ran.all());
        list(&ran.work(), "mine", &[]);
    }
}

#[test]
fn what_comes_out_of_others_stash_is_theirs() {
    let ran = run(r#"
newrepo; echo 1 > f; git add f; git commit -qm c1; echo mine > f; echo new > u; git stash -qu
shx u1 'git stash pop -q; echo w > w'; op work --json; op recover --list | sed 's/^/listed /'
shx u2 'git checkout -q f; rm u'; op recover f u; cat f u
"#);
    let work = ran.work();
    list(&work, "mine", &["w"]);
    list(&work, "foreign", &["f", "u"]);
    assert!(!ran.stdout.contains("listed"), "{}", ran.all());
    assert!(told(&ran, "f, u"), "{}", ran.all());
    assert!(ran.stdout.contains("recovered u"), "{}", ran.all());
}

#[test]
fn what_a_stash_gives_back_through_a_filter_is_theirs_and_the_bytes_are_a_checkouts() {
    let ran = run(r#"
newrepo; printf '*.txt text eol=crlf\n' > .gitattributes; printf '1\r\n' > f.txt; printf '1\r\n' > g.txt; git add .; git commit -qm c1
printf 'mine\r\n' > f.txt; git stash -q; printf 'other\r\n' > g.txt; git stash -q
shx u1 "git stash drop -q 'stash@{1}'; git stash pop -q"; op work --json; op recover f.txt --to ../out; od -c ../out/f.txt
"#);
    list(&ran.work(), "foreign", &["g.txt"]);
    assert!(
        ran.stdout.contains(r"m   i   n   e  \r  \n"),
        "{}",
        ran.all()
    );
}

#[test]
fn a_stash_that_is_the_users_to_drop_is_not_told() {
    let ran = run(r#"
newrepo; echo 1 > f; git add f; git commit -qm c1; echo mine > f; git stash -q
shx u1 'true'; git stash drop -q; shx u2 'true'; shx u3 'echo x > f; git stash -q; git stash drop -q'; op recover --list | sed 's/^/listed /'
echo a > f; git stash -q; shx u4 'git stash pop -q; git commit -qam c2'; op recover --list | sed 's/^/listed /'
"#);
    assert_eq!(ran.stdout, "", "{}", ran.all());
}

#[test]
fn staged_content_that_the_file_has_left_behind_is_kept() {
    for command in [
        "git reset -q --hard",
        "git reset -q",
        "git rm -qf --cached f n",
        "git add -A",
        "git checkout -q HEAD -- .; git rm -qf n",
        "git read-tree HEAD",
        "git stash -q; git stash drop -q",
        "rm .git/index; git reset -q",
    ] {
        let ran = run(&format!(
            r#"
newrepo; echo 1 > f; git add f; git commit -qm c1
echo staged > f; git add f; echo later > f; echo only > n; git add n; rm n
shx u1 "{command}; git gc -q --prune=now"; op recover --list; op recover f n --call u1 --to ../out
git stash clear; op recover f --to ../newest; git gc -q --prune=now; op recover n --to ../again; cat ../out/n ../again/n; git fsck --full
"#
        ));
        let lines = ran.stdout.lines();
        assert_eq!(
            lines.filter(|line| *line == "only").count(),
            2,
            "{command}: {}",
            ran.all()
        );
        // Both contents of a path may go at once; it is named once.
        assert!(!ran.stdout.contains("f, f"), "{command}: {}", ran.all());
        let listed = ran.stdout.matches("Z f (").count();
        assert!(listed >= 1, "{command}: {}", ran.all());
    }
}

#[test]
fn staged_content_that_went_somewhere_is_not_lost() {
    let ran = run(r#"
newrepo; echo 1 > f; git add f; git commit -qm c1; echo staged > f; git add f; echo later > f
shx u1 'git commit -qm c2'; shx u2 'git stash -q'; shx u3 'git stash pop -q'
echo own > o; shx u4 'echo a > p; git add p; echo b > p; git add p'; op recover --list
"#);
    assert_eq!(ran.stdout, "", "{}", ran.all());
}

#[test]
fn bytes_that_a_call_moved_are_still_their_owners() {
    for (moves, removes) in [
        ("mv u v", "rm v"),
        ("mkdir d; mv u d/v", "rm -r d"),
        ("cp u v; rm u", "git clean -fdq"),
        ("cp u v", "rm u; rm v"),
        ("mv u v", "echo other > v"),
    ] {
        let ran = run(&format!(
            r#"
newrepo; echo theirs > u; shx u1 '{moves}'; shx u2 '{removes}'; SID=S1 hk SessionEnd reason='"other"'; git gc -q --prune=now
for p in u v d/v; do op recover $p --to ../out; done > /dev/null; cat ../out/* ../out/d/*
"#
        ));
        assert!(ran.has("theirs"), "{moves}; {removes}: {}", ran.all());
    }
}

#[test]
fn what_is_hidden_from_status_is_followed() {
    let commit = "git checkout -qb x; git add -A; git commit -qm c2";
    for (hides, then, loses) in [
        ("echo u > .gitignore", "true", "rm u"),
        ("echo u >> .git/info/exclude", "true", "git clean -fdxq"),
        (
            "git update-index --assume-unchanged f",
            "true",
            "git update-index --no-assume-unchanged f; git checkout -q f; rm u",
        ),
        (commit, "true", "git reset -q --hard HEAD~1"),
        (commit, "git checkout -q main", "git branch -qD x"),
        (commit, "true", "git checkout -q main; git branch -qD x"),
    ] {
        let ran = run(&format!(
            r#"
newrepo; echo 1 > f; git add f; git commit -qm c1; echo theirs > f; echo new > u
shx u1 '{hides}' > /dev/null; shx u2 '{then}'; op recover --list | sed 's/^/early /'; shx u3 '{loses}; git reflog expire --expire=now --all; git gc -q --prune=now'
op recover u --to ../out; cat ../out/u; git fsck --full
"#
        ));
        assert!(ran.has("new"), "{hides}; {loses}: {}", ran.all());
        assert!(!ran.stdout.contains("early"), "{hides}: {}", ran.all());
        assert!(told(&ran, "u"), "{hides}: {}", ran.all());
    }
}

#[test]
fn a_call_that_collects_the_commit_it_began_at_is_told_like_any_other() {
    let ran = run(r#"
newrepo; echo 1 > f; git add f; git commit -qm c1; echo new > u
shx u1 'echo 2 > f; echo g > g; git add f g; git commit -q --amend -m c1b; git reflog expire --expire=now --all; git gc -q --prune=now; echo w > w'
op work --json
"#);
    assert!(!ran.stdout.contains("could not track"), "{}", ran.all());
    let work = ran.work();
    list(&work, "mine", &["w"]);
    list(&work, "foreign", &["u"]);
    list(&work["call"], "written", &["w"]);
}

#[test]
fn what_was_committed_and_changed_since_is_nobodys_loss() {
    let ran = run(r#"
newrepo; echo 1 > f; git add f; git commit -qm c1; echo theirs > f; echo new > u
shx u1 'git add -A; git commit -qm c2'; shx u2 'echo 3 > f; git commit -qam c3'; shx u3 'git checkout -q HEAD~1'; shx u4 'git checkout -q main'; shx u5 'git commit -q --amend -m c3b'
echo u > .gitignore; op recover --list
"#);
    assert_eq!(ran.stdout, "", "{}", ran.all());
}

#[test]
fn each_content_of_a_path_can_be_had() {
    let ran = run(r#"
newrepo; echo first > u; shx u1 'rm u' > /dev/null; echo second > u; shx u2 'rm u' > /dev/null
op recover u --call u1 --to ../one; op recover u --call u2 --to ../two; op recover u --call u3 --to ../three; op recover --list --call u1; cat ../one/u ../two/u
"#);
    ran.expect(&["first", "second"]);
    assert_eq!(
        ran.stdout.matches("during call u1").count(),
        1,
        "{}",
        ran.all()
    );
    assert!(ran.stdout.contains("skipped u"), "{}", ran.all());
}

#[test]
fn what_a_killed_session_let_go_of_can_be_had_by_anybody() {
    let ran = run(r#"
newrepo; echo 1 > f; echo 1 > g; git add .; git commit -qm c1; echo theirs > f; git stash -q; echo staged > g; git add g; echo later > g
SID=DEAD hk PreToolUse tool_name='"Bash"' tool_use_id='"u1"' tool_input='{"command":"x"}'
op recover --list | grep -v ' g ' | sed 's/^/early /'; git stash clear; git reset -q; git gc -q --prune=now
SID=LIVE shx u2 'true'; op recover f g --to ../out; cat ../out/f ../out/g
"#);
    ran.expect(&["theirs", "staged"]);
    assert!(!ran.stdout.contains("early"), "{}", ran.all());
}
