//! Whose change it is.

use super::case::{list, run};

#[test]
fn a_command_that_reads_claims_nothing() {
    let ran = run(r#"
newrepo; for i in $(seq 13); do echo $i > f$i; done; git add f1 f2; hk SessionStart source='"startup"'; shx u1 'git status; cat f1'; op work --json
"#);
    let work = ran.work();
    for name in ["touched", "mine", "uncommitted"] {
        list(&work, name, &[]);
    }
    assert_eq!(work["foreign"].as_array().unwrap().len(), 13);
    list(&work["call"], "changed", &[]);
    assert_eq!(work["call"]["foreign"].as_array().unwrap().len(), 13);
}

#[test]
fn the_user_saves_while_a_call_runs() {
    let ran = run(r#"
newrepo; echo a > a; echo b > b; git add .; git commit -qm c1; I=$(js file_path $PWD/a content A)
hk PreToolUse tool_name='"Write"' tool_use_id='"u1"' tool_input="$I"; printf A > a; echo user >> b; hk PostToolUse tool_name='"Write"' tool_use_id='"u1"' tool_input="$I" tool_response='{}'; op work --json
I='{"command":"echo t >> a"}'; hk PreToolUse tool_name='"Bash"' tool_use_id='"u2"' tool_input="$I"; echo t >> a; echo user2 >> b; hk PostToolUse tool_name='"Bash"' tool_use_id='"u2"' tool_input="$I" tool_response='{}'
op work --json; op restore --call u2; cat b; op recover --list
op recover b --to out; cat out/b | sed 's/^/out: /'
"#);
    let works = ran.works();
    list(&works[0], "mine", &["a"]);
    list(&works[0], "foreign", &["b"]);
    list(&works[1], "mine", &["a"]);
    list(&works[1], "foreign", &["b"]);
    list(&works[1]["call"], "written", &["a", "b"]);
    list(&works[1], "uncommitted", &["a"]);
    assert_eq!(works[1]["reasons"]["b"], "mixed");
    ran.expect(&["restored a", "restored b", "out: user2"]);
    assert!(
        ran.stdout
            .contains("b (replaced by the restore of call u2 of session S1)")
    );
}

#[test]
fn a_formatter_rewrites_after_the_edit() {
    let ran = run(r#"
newrepo; wr u1 a.js 'x=1'; echo 'x = 1;' > a.js; echo u > user.txt; op work --json; wr u2 a.js 'x = 2;'; op work --json
"#);
    let works = ran.works();
    list(&works[0], "mine", &[]);
    list(&works[0], "foreign", &["a.js", "user.txt"]);
    list(&works[0], "uncommitted", &["a.js"]);
    assert_eq!(works[0]["reasons"]["a.js"], "edited-since");
    assert_eq!(works[0]["reasons"]["user.txt"], "never-claimed");
    list(&works[1], "mine", &["a.js"]);
    list(&works[1], "uncommitted", &["a.js"]);
}

#[test]
fn a_formatter_that_is_faster_than_the_hook_is_part_of_the_edit() {
    let ran = run(r#"
newrepo; I=$(js file_path "$PWD/a.js" content x=1)
hk PreToolUse tool_name='"Write"' tool_use_id='"u1"' tool_input="$I"; echo x=1 > a.js; echo 'x = 1;' > a.js
hk PostToolUse tool_name='"Write"' tool_use_id='"u1"' tool_input="$I" tool_response='{}'; op work --json
"#);
    list(&ran.work(), "mine", &["a.js"]);
    list(&ran.work(), "uncommitted", &["a.js"]);
}

#[test]
fn a_stash_that_is_popped_gives_each_path_back_to_whose_it_was() {
    let ran = run(r#"
newrepo; echo 1 > a; echo 1 > u; git add .; git commit -qm c1; wr u1 a 2; echo user > u; shx u2 'git stash -q'; op work --json; shx u3 'git stash pop -q'; op work --json
"#);
    let works = ran.works();
    for name in ["mine", "foreign", "uncommitted"] {
        list(&works[0], name, &[]);
    }
    list(&works[0], "touched", &["a"]);
    list(&works[1], "mine", &["a"]);
    list(&works[1], "foreign", &["u"]);
    // What lies in the stash is not lost, and nobody is told so.
    assert!(!ran.stdout.contains("systemMessage"), "{}", ran.all());
}

#[test]
fn a_whole_untracked_directory_is_seen_file_by_file() {
    let ran = run(r#"
newrepo; for m in normal no all; do git config status.showUntrackedFiles $m; mkdir -p p$m/s; echo user > p$m/u; shx u$m "echo g > p$m/s/g"; op work --json; done
"#);
    let works = ran.works();
    list(&works[0], "mine", &["pnormal/s/g"]);
    list(&works[0], "foreign", &["pnormal/u"]);
    list(&works[2], "mine", &["pall/s/g", "pno/s/g", "pnormal/s/g"]);
    list(&works[2], "foreign", &["pall/u", "pno/u", "pnormal/u"]);
}

#[test]
fn a_write_to_an_ignored_file_or_outside_is_no_claim() {
    let ran = run(r#"
newrepo; printf 'ign/\n*.env\n' > .gitignore; git add .; git commit -qm c1; mkdir ../other; echo SECRET > x.env
wr u1 ign/x 1; wr u2 x.env 2; wr u3 ../other/y 3; wr u4 .git/info/z 4; wr u5 a 5; op work --json; op restore --call u2; cat x.env; echo
git rev-list --objects --all --no-object-names | git cat-file --batch | grep -c SECRET
"#);
    let work = ran.work();
    list(&work, "touched", &["a"]);
    list(&work, "mine", &["a"]);
    list(&work, "foreign", &[]);
    ran.expect(&["2", "0"]);
}

#[test]
fn a_command_that_commits_leaves_nothing_written() {
    let ran = run(r#"
newrepo; wr u1 a 1; shx u2 'git add a; git commit -qm c1'; op work --json
echo user > u; shx u3 'git add u; git commit -qm c2'; op work --json
"#);
    for work in ran.works() {
        list(&work, "mine", &[]);
        list(&work, "uncommitted", &[]);
        list(&work["call"], "written", &[]);
        list(&work["call"], "changed", &[]);
    }
    assert!(!ran.stdout.contains("systemMessage"), "{}", ran.all());
}

#[test]
fn a_link_in_the_tree_leads_to_the_file_that_is_claimed() {
    let ran = run(r#"
newrepo; mkdir real; echo 1 > real/f; ln -s real link; ln -s real/f direct; git add .; git commit -qm c1
wr u1 link/f 2; op work --json; wr u2 direct 3; op work --json
"#);
    for work in ran.works() {
        list(&work, "mine", &["real/f"]);
    }
}

#[test]
fn a_view_that_we_wrote_is_nobodys_work() {
    let ran = run(r#"
newrepo; op task t1 --owner S1 > /dev/null; shx u1 'echo ok | git operator verdict t1 c PASS --owner S1 > /dev/null; echo x > a'; op work --json
echo typed >> .operator/VERDICTS.md; op work --json
"#);
    let works = ran.works();
    list(&works[0], "foreign", &[]);
    list(&works[0], "mine", &["a"]);
    list(&works[1], "foreign", &[".operator/VERDICTS.md"]);
}
