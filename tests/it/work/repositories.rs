//! Repositories in odd states.

use super::case::{list, run};

#[test]
fn a_repository_without_a_commit_is_tracked() {
    let ran = run(r#"
cd "$(mktemp -d)"; git init -q; echo x > a; wr u1 b B; op work --json; shx u2 'echo c > c'; op restore --call u1; op restore --call u2; ls
"#);
    list(&ran.work(), "mine", &["b"]);
    list(&ran.work(), "foreign", &["a"]);
    ran.expect(&["removed b", "removed c", "a"]);
    assert!(!ran.has("b"));
}

#[test]
fn repositories_inside_are_not_covered() {
    let ran = run(r#"
newrepo sub; S=$PWD; newrepo; git -c protocol.file.allow=always submodule -q add $S sub; git commit -qm s; git init -q nest; (cd nest; echo 1 > n; git add n; git commit -qm n1)
shx u1 'echo x > sub/f; echo 2 > nest/n; echo y > top'; op work --json; op restore --call u1; echo rc=$?; cat nest/n sub/f
wr u2 nest/n 3; wr u3 sub/f 4; op work --json
"#);
    for work in ran.works() {
        list(&work, "not_covered", &["nest/", "sub"]);
        list(&work, "foreign", &[]);
    }
    list(&ran.works()[0], "mine", &["top"]);
    list(&ran.works()[1], "touched", &["top"]);
    ran.expect(&[
        "not covered nest/",
        "not covered sub",
        "removed top",
        "2",
        "x",
    ]);
    assert!(
        ran.stdout
            .contains("not covered by the work ledger: nest/, sub"),
        "{}",
        ran.all()
    );
}

#[test]
fn files_of_a_repository_that_is_none_any_more_are_the_users() {
    let ran = run(r#"
newrepo; git init -q nest; for f in u v w; do echo $f > nest/$f; done; sleep 0.1
shx u1 'rm -rf nest/.git; echo x >> nest/v; rm nest/w; echo new > nest/new'; op work --json; op restore --call u1; echo rc=$?; cat nest/u nest/v
git init -q nest; sleep 0.1; shx u2 'rm -rf nest/.git; git add nest; git commit -qm all'; op work --json
"#);
    let work = &ran.works()[0];
    list(work, "mine", &["nest/new"]);
    list(work, "foreign", &["nest/u", "nest/v"]);
    list(&work["call"], "changed", &["nest/new", "nest/v"]);
    assert_eq!(work["reasons"]["nest/v"], "mixed", "{}", ran.all());
    list(&ran.works()[1]["call"], "changed", &[]);
    ran.expect(&[
        "skipped nest/new: what was there before is not known",
        "skipped nest/v: what was there before is not known",
        "rc=1",
        "u",
        "v",
        "x",
    ]);
    assert!(
        ran.stdout
            .contains("changed uncommitted work that is not this session's: nest/v\\nNot kept as it was before: nest/v"),
        "{}",
        ran.all()
    );
}

#[test]
fn a_repository_inside_that_a_call_removed_is_said_to_be_gone() {
    let ran = run(r#"
newrepo; echo 1 > a; git add a; git commit -qm c1; git init -q nest; echo u > nest/u; git init -q kept; echo u > kept/u; git worktree add -q wt; echo u > wt/u
shx u1 'true'; echo --; shx u2 'git worktree remove --force wt; rm -rf nest'; echo --; shx u3 'printf "kept/\\n" > .gitignore'
"#);
    let parts: Vec<&str> = ran.stdout.split("--\n").collect();
    assert!(parts[0].contains("kept/, nest/"), "{}", ran.all());
    let said = "gone or none any more since this call; what was uncommitted in them is not kept: nest/, wt/";
    assert!(parts[1].contains(said), "{}", ran.all());
    assert_eq!(parts[2], "", "{}", ran.all());
}

#[test]
fn hooks_look_at_their_payload_and_not_at_the_environment() {
    let ran = run(r#"
newrepo A; echo a > a; git add a; git commit -qm c1; A=$PWD; newrepo B; echo b > b; git add b; git commit -qm c1; B=$PWD; cp .git/index ../bi; cd $A
export GIT_DIR=$B/.git GIT_INDEX_FILE=$B/.git/index GIT_WORK_TREE=$B; hk PreToolUse tool_name='"Write"' tool_use_id='"u1"' tool_input="$(js file_path $A/a content 2)"; echo 2 > a; hk PostToolUse tool_name='"Write"' tool_use_id='"u1"' tool_input="$(js file_path $A/a content 2)" tool_response='{}'; unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE
op work --json; cmp $B/.git/index $B/../bi && echo untouched; git -C $B for-each-ref refs/operator refs/operator-local
"#);
    list(&ran.work(), "mine", &["a"]);
    ran.expect(&["untouched"]);
    assert_eq!(ran.stdout.lines().count(), 2, "{}", ran.all());
}

#[test]
fn a_locked_index_is_in_nobodys_way() {
    let ran = run(r#"
newrepo; echo a > a; git add a; git commit -qm c1; : > .git/index.lock; wr u1 a 2; shx u2 'echo 3 > b'; op work --json; op restore --call u2; ls .git/index.lock; rm .git/index.lock
( for i in $(seq 30); do echo $i > b; git add b || echo USERFAIL; done ) & for i in $(seq 10); do wr v$i c$i 1; shx w$i true; done; wait
"#);
    list(&ran.work(), "mine", &["a", "b"]);
    ran.expect(&[".git/index.lock", "removed b"]);
    assert!(!ran.stdout.contains("USERFAIL"), "{}", ran.all());
}

#[test]
fn settings_of_the_user_change_nothing() {
    let ran = run(r#"
newrepo; for c in color.ui=always status.showUntrackedFiles=no status.relativePaths=true status.branch=true status.renames=copies diff.noprefix=true diff.external=false diff.ignoreSubmodules=all diff.mnemonicPrefix=true core.quotePath=false log.showSignature=true log.date=relative core.abbrev=4 core.pager=false core.editor=false notes.displayRef=refs/notes/* blame.date=relative fetch.prune=true push.followTags=true; do git config "${c%%=*}" "${c#*=}"; done
echo 1 > a; git add a; git commit -qm c1; (mkdir d; cd d; wr u1 x 1); git mv a a2; op work --json; op restore --call u1; ls
"#);
    list(&ran.work(), "mine", &["d/x"]);
    list(&ran.work(), "foreign", &["a", "a2"]);
    ran.expect(&["removed d/x", "a2"]);
}

#[test]
fn a_conflict_is_put_back_with_its_markers() {
    let ran = run(r#"
newrepo; echo 1 > f; git add f; git commit -qm c1; git checkout -qb x; echo x > f; git commit -qam x; git checkout -q main; echo m > f; git commit -qam m; git checkout -q x; git rebase -q main 2>/dev/null; cp f ../f; git ls-files -s > ../i
shx u1 'echo fixed > f'; op work --json; op restore --call u1; cmp f ../f && echo markers; git ls-files -s | cmp - ../i && echo stages; git rebase --abort && git status --porcelain
"#);
    let work = ran.work();
    list(&work["call"], "written", &["f"]);
    ran.expect(&["restored f", "markers", "stages"]);
}

#[test]
fn a_directory_that_is_gone_is_no_reason_to_fail() {
    let ran = run(r#"
newrepo; mkdir gone; (cd gone; hk PreToolUse tool_name='"Bash"' tool_use_id='"u1"' tool_input='{"command":"x"}'; echo x > ../f
CWD=$PWD pl PostToolUse tool_name='"Bash"' tool_use_id='"u1"' tool_input='{"command":"x"}' tool_response='{}' > ../../p; rm -rf ../gone; git operator hook PostToolUse < ../../p; echo rc=$?)
op work --json
"#);
    list(&ran.work(), "mine", &["f"]);
    ran.expect(&["rc=0"]);
}

#[test]
fn another_kind_of_repository_is_tracked_all_the_same() {
    for format in ["--object-format=sha256", "--ref-format=reftable"] {
        let ran = run(&format!(
            r#"
R=$(mktemp -d); cd "$R"; git init -q {format} || {{ echo SKIPPED; exit; }}; echo 1 > a; git add a; git commit -qm c1; echo dirty > b
shx u1 'echo 2 > a; rm b'; op work --json; git gc -q --prune=now; op restore --call u1; cat a b; git fsck --full; git for-each-ref refs/operator-local | wc -l
"#
        ));
        if ran.has("SKIPPED") {
            crate::support::skipped(&format!("this git does not know init {format}"));
            continue;
        }
        list(&ran.work(), "mine", &["a"]);
        ran.expect(&["restored a", "restored b", "1", "dirty"]);
        assert!(!ran.all().contains("dangling"), "{}", ran.all());
        assert!(ran.dir().is_dir());
    }
}
