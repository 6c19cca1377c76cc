//! Input that is bad, or a ledger that is: nobody's bytes are lost, and what cannot be done is said.

use super::case::{list, run};

#[test]
fn permissions_come_back_as_they_were() {
    let ran = run(r#"
newrepo; umask 022; echo 1 > k; git add .; git commit -qm c1; mode() { stat -c '%a %n' "$@"; }
for m in 600 640 660 700 755 444; do echo $m > m$m; chmod $m m$m; done; echo 2 > k; chmod 600 k; mode m* k > ../before
shx u1 'rm -f m*; echo x > m600; chmod 666 m600; echo 3 > k; chmod 755 k'; op restore --call u1; mode m* k | cmp - ../before && echo same; cat m444 k
shx u2 'rm -f m600 m700'; op recover m600 m700 --to ../out; mode ../out/*
shx u3 'echo mine > own; chmod 600 own'; shx u4 'rm own'; op restore --call u4; mode own; op restore --call u3; op recover own; mode own
"#);
    ran.expect(&[
        "same",
        "444",
        "2",
        "600 ../out/m600",
        "700 ../out/m700",
        "600 own",
    ]);
    assert_eq!(ran.stdout.matches("600 own").count(), 2, "{}", ran.all());
}

#[test]
fn bytes_of_any_kind_come_back() {
    let ran = run(r#"
newrepo; head -c 300000 /dev/urandom > bin; printf '\0\0\r\n\xff' > nul; : > empty; printf 'no newline' > open; sha256sum bin nul empty open > ../s
shx u1 'for f in bin nul empty open; do echo junk > $f; done; rm empty'; op restore --call u1; sha256sum -c ../s
"#);
    ran.expect(&["bin: OK", "nul: OK", "empty: OK", "open: OK"]);
}

#[test]
fn pipes_and_sockets_are_looked_at_and_left_alone() {
    let ran = run(r#"
newrepo; mkfifo pipe; ln -s loop loop; ln -s /nowhere/at/all dangling; shx u1 'rm pipe loop; echo x > pipe; ln -sf here dangling'; op work --json; op restore --call u1; readlink loop dangling
"#);
    ran.expect(&["loop", "/nowhere/at/all"]);
    assert_eq!(ran.work()["tracked"], true);
}

#[test]
fn a_damaged_pack_is_found_before_anything_is_written() {
    let ran = run(r#"
newrepo; echo 1 > a; git add .; git commit -qm c1; seq 5000 > a; seq 9000 > b; shx u1 'echo t > a; echo t > b'
for p in .git/objects/pack/*.pack; do chmod u+w $p; printf XXXXXXXXXXXXXXXX | dd of=$p bs=1 seek=3000 conv=notrunc 2> /dev/null; done
op restore --call u1; echo rc=$?; wc -c < b
"#);
    ran.expect(&["rc=1"]);
    assert!(ran.stdout.contains("skipped "), "{}", ran.all());
    assert!(!ran.has("0"), "{}", ran.all());
}

#[test]
fn a_file_outside_or_under_a_path_of_windows_is_no_claim() {
    let ran = run(r#"
newrepo; echo keep > ../victim
for p in "$PWD/../victim" /etc/hostname '../victim' 'C:\\x\\y' '' '/' '.' "$PWD"; do
 I=$(js file_path "$p" content x); hk PreToolUse tool_name='"Write"' tool_use_id="\"w$p\"" tool_input="$I" > /dev/null; echo pre=$?
 hk PostToolUse tool_name='"Write"' tool_use_id="\"w$p\"" tool_input="$I" tool_response='{}' > /dev/null; echo post=$?; done
op work --json; op restore --call "w$PWD/../victim"; cat ../victim
"#);
    list(&ran.work(), "mine", &[]);
    list(&ran.work(), "foreign", &[]);
    assert_eq!(ran.stdout.matches("pre=0").count(), 8, "{}", ran.all());
    assert_eq!(ran.stdout.matches("post=0").count(), 8, "{}", ran.all());
    ran.expect(&["keep"]);
}

#[test]
fn a_tree_whose_git_directory_lies_elsewhere_is_tracked_by_its_variables() {
    let ran = run(r#"
newrepo; D=$PWD; mv .git ../store.git; export GIT_DIR=$D/../store.git GIT_WORK_TREE=$D; cp $GIT_DIR/index ../i 2> /dev/null
echo 1 > a; op work --json; cmp $GIT_DIR/index ../i && echo untouched
"#);
    list(&ran.work(), "foreign", &["a"]);
}

#[test]
fn bytes_of_uncommitted_work_are_named_by_local_refs_only_and_outlive_every_gc() {
    let ran = run(r#"
newrepo; op start > /dev/null; git add .; git commit -qm c1; echo SECRET-u > u; op task t1 --owner S1 > /dev/null
shx u1 'echo SECRET-t > u; git operator verdict t1 c ok PASS --owner S1 > /dev/null'; op gc > /dev/null
git for-each-ref --format='%(refname)' | grep -v '^refs/heads/' | sed 's/[0-9a-f]\{16\}$/KEY/' | sort
echo --; git rev-list --objects --no-object-names refs/operator/ledger --branches | git cat-file --batch | grep -c SECRET
git clone -q --mirror "file://$PWD" ../mirror.git; git -C ../mirror.git for-each-ref --format='%(refname)' | grep -c operator-local; grep -rlc SECRET ../mirror.git | wc -l
rm -f .git/objects/pack/*.keep; git reflog expire --expire=now --all; git gc -q --aggressive --prune=now; git repack -qadk; git prune --expire=now; op restore --call u1; cat u; git fsck --full
"#);
    let refs = ran.stdout.split("--\n").next().unwrap();
    let names: Vec<&str> = refs
        .lines()
        .filter(|line| line.starts_with("refs/"))
        .collect();
    let local = |name: &&&str| name.starts_with("refs/operator-local/");
    assert!(
        names.contains(&"refs/operator-local/work/KEY"),
        "{}",
        ran.all()
    );
    assert!(
        names.contains(&"refs/operator-local/rescue/KEY"),
        "{}",
        ran.all()
    );
    let others: Vec<&&str> = names.iter().filter(|name| !local(name)).collect();
    assert_eq!(others, [&"refs/operator/ledger"], "{}", ran.all());
    let rest: Vec<&str> = ran.stdout.split("--\n").nth(1).unwrap().lines().collect();
    assert_eq!(rest[..3], ["0", "0", "0"], "{}", ran.all());
    ran.expect(&["restored u", "SECRET-u"]);
}

#[test]
fn what_the_ledger_cannot_do_is_said_and_blocks_nothing() {
    let ran = run(r#"
newrepo; shx u1 'echo x > a'; for s in .git/operator/work/*/state; do rm $s; mkdir $s; done
hk Stop stop_hook_active=false; echo stop=$?; hk UserPromptSubmit prompt='"x"'; echo prompt=$?; hk SessionEnd reason='"other"'; echo end=$?
op task t1 --owner S1 > /dev/null; hk Stop stop_hook_active=false; echo stop=$?
shx u2 'echo y > b'; op work --json
for l in .git/operator/work/*/lock; do rm $l; mkdir $l; done
hk PreToolUse tool_name='"Bash"' tool_use_id='"u3"' tool_input='{"command":"x"}'; echo pre=$?; hk PostToolUse tool_name='"Bash"' tool_use_id='"u3"' tool_input='{"command":"x"}' tool_response='{}'; echo post=$?
"#);
    ran.expect(&["stop=0", "prompt=0", "end=0", "stop=2", "pre=0", "post=0"]);
    let said = r#"{"systemMessage":"git-operator could not keep the work ledger: cannot read "#;
    assert_eq!(ran.stdout.matches(said).count(), 2, "{}", ran.all());
    let said = "git-operator could not keep the work ledger: cannot read ";
    assert_eq!(ran.stderr.matches(said).count(), 2, "{}", ran.all());
    let lines = ran.stdout.lines();
    let said = lines.filter(|line| line.contains("could not track this tool use"));
    assert_eq!(said.count(), 2, "{}", ran.all());
    list(&ran.work(), "mine", &["b"]);
}

#[test]
fn the_next_tool_use_puts_an_unreadable_state_aside() {
    let ran = run(r#"
newrepo; shx u1 'echo x > a'; for s in .git/operator/work/*/state; do echo garbage > $s; done
op work --json --owner S1 2>&1; echo rc=$?; shx u2 true; op work --json; ls .git/operator/work/*/
"#);
    assert!(ran.stdout.contains("cannot read "), "{}", ran.all());
    ran.expect(&["rc=128"]);
    list(&ran.work(), "foreign", &["a"]);
    ran.expect(&["state.unreadable"]);
}
