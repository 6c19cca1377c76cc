//! Commands of git that move HEAD, the index, the stash or what is ignored: what they change is told
//! from what they only make dirty.

use super::case::{list, run};

#[test]
fn what_a_call_writes_and_commits_is_changed_and_not_written() {
    let ran = run(r#"
newrepo; echo 1 > a; echo 1 > kept; git add .; git commit -qm c1; echo user > u; H=$(git rev-parse HEAD)
shx u1 'echo 2 > a; mkdir d; echo n > d/n; git add a d; git commit -qm c2'; op work --json; op restore --call u1; echo rc=$?; cat a; op restore a; echo rc=$?
shx u2 'git reset -q --soft HEAD~1'; op work --json
"#);
    let works = ran.works();
    list(&works[0]["call"], "changed", &["a", "d/n"]);
    list(&works[0]["call"], "written", &[]);
    list(&works[0], "touched", &["a", "d/n"]);
    list(&works[0], "mine", &[]);
    list(&works[0], "uncommitted", &[]);
    list(&works[0], "foreign", &["u"]);
    let said: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| !line.starts_with('{'))
        .collect();
    assert_eq!(
        said,
        [
            "rc=0",
            "2",
            "skipped a: it is clean: committed or put back since",
            "rc=1"
        ],
        "{}",
        ran.all()
    );
    assert!(ran.stderr.contains("nothing to restore"), "{}", ran.all());
    // The reset changed nothing; what came back is what the session left.
    list(&works[1]["call"], "changed", &[]);
    list(&works[1], "mine", &["a", "d/n"]);
}

#[test]
fn the_first_commit_of_a_repository_is_of_the_call_that_wrote_it() {
    let ran = run(r#"
cd "$(mktemp -d)"; git init -q; echo user > u; shx u1 'echo x > a; git add a; git commit -qm c1'; op work --json
shx u2 'echo y > a; git commit -qam c2 --date=@0'; GIT_COMMITTER_DATE=@0 shx u3 'echo z > a; git commit -qam c3; echo w > b; git add b; git commit -q --amend -m c4'; op work --json
"#);
    list(&ran.works()[0]["call"], "changed", &["a"]);
    list(&ran.works()[1]["call"], "changed", &["a", "b"]);
    list(&ran.works()[1], "touched", &["a", "b"]);
    list(&ran.works()[1], "foreign", &["u"]);
}

#[test]
fn uncommitted_work_of_the_user_that_a_call_commits_unchanged_is_not_its_doing() {
    let ran = run(r#"
newrepo; echo 1 > a; echo 1 > b; git add .; git commit -qm c1; echo user >> a; echo user >> b
shx u1 'git commit -qam all'; op work --json
echo more >> a; shx u2 'echo tool >> a; git commit -qam more'; op work --json; op restore --call u2; echo rc=$?; op recover a --to ../out; cat ../out/a | tail -1
"#);
    let works = ran.works();
    list(&works[0]["call"], "changed", &[]);
    list(&works[0], "touched", &[]);
    list(&works[1]["call"], "changed", &["a"]);
    list(&works[1]["call"], "foreign", &["a"]);
    list(&works[1], "touched", &[]);
    ran.expect(&[
        "skipped a: it is clean: committed or put back since",
        "rc=1",
        "more",
    ]);
    assert!(
        ran.stdout.contains("is gone since this call: a"),
        "{}",
        ran.all()
    );
}

#[test]
fn going_back_over_the_users_commits_claims_none_of_their_work() {
    for reset in [
        "reset -q --soft HEAD~1",
        "reset -q HEAD~1",
        "rm -q --cached -r a d",
    ] {
        let ran = run(&format!(
            r#"
newrepo; git config core.autocrlf true; printf '1\r\n' > a; mkdir d; echo n > d/n; ln -s a l; echo x > x; chmod +x x; echo keep > k; git add . 2> /dev/null; git commit -qm c1
shx u1 'git {reset}; echo mine >> k'; op work --json; op restore --call u1; ls a d/n l x k
"#
        ));
        let work = ran.work();
        list(&work, "mine", &["k"]);
        list(&work, "touched", &["k"]);
        list(&work["call"], "changed", &["k"]);
        let foreign = work["foreign"].as_array().unwrap();
        assert!(foreign.len() >= 2, "{}", ran.all());
        ran.expect(&["a", "d/n", "l", "x"]);
    }
}

#[test]
fn a_checkout_a_merge_and_a_pull_write_nothing_of_their_own() {
    let ran = run(r#"
newrepo; echo 1 > a; git add .; git commit -qm c1; git clone -q . ../other 2> /dev/null
git checkout -qb side; echo 2 > b; git add .; git commit -qm side; git checkout -q main; (cd ../other; echo 3 > c; git add .; git commit -qm other)
shx u1 'git checkout -q side'; op work --json; shx u2 'git checkout -q main; git merge -q side'; op work --json
shx u3 'git pull -q --no-rebase --no-edit ../other main'; op work --json
"#);
    for work in ran.works() {
        list(&work["call"], "changed", &[]);
        list(&work, "touched", &[]);
    }
}

#[test]
fn files_that_are_no_longer_ignored_are_not_what_a_call_made() {
    let ran = run(r#"
newrepo; printf 'ign/\n*.log\n' > .gitignore; git add .; git commit -qm c1; mkdir -p ign sub; echo k > ign/k; echo l > sub/x.log
shx u1 'echo > .gitignore; echo new > ign/new; echo s > sub/s'; op work --json; op restore --call u1; cat ign/k sub/x.log
rm -rf ign/new; shx u2 'git rm -q --cached .gitignore; rm .gitignore; mv sub moved'; op work --json
"#);
    let works = ran.works();
    list(&works[0], "mine", &[".gitignore", "ign/new", "sub/s"]);
    list(&works[0], "foreign", &["ign/k", "sub/x.log"]);
    ran.expect(&["removed ign/new", "removed sub/s", "k", "l"]);
    list(&works[1], "mine", &[".gitignore"]);
}

#[test]
fn files_that_were_ignored_and_are_changed_are_still_the_users() {
    for uncover in [
        "rm .gitignore",
        "git rm -q .gitignore; git commit -qm gone",
        "git checkout -q HEAD~1",
    ] {
        let ran = run(&format!(
            r#"
newrepo; printf 'ig\nig2\nig3\n' > .gitignore; git add .; git commit -qm i; for f in ig ig2 ig3; do echo u > $f; done; sleep 0.1
shx u1 '{uncover}; touch ig; chmod +x ig2; echo x >> ig3; echo y > made'; op work --json; op restore --call u1; cat ig ig2 ig3; ls
"#
        ));
        let work = ran.work();
        let mine = work["mine"].as_array().unwrap();
        assert!(mine.contains(&"made".into()), "{}", ran.all());
        list(&work, "foreign", &["ig", "ig2", "ig3"]);
        ran.expect(&[
            "removed made",
            "skipped ig3: what was there before is not known",
            "ig",
            "ig2",
            "ig3",
            "x",
        ]);
    }
}

#[test]
fn what_is_moved_beside_new_rules_of_what_is_ignored_is_the_calls_change() {
    let ran = run(r#"
newrepo; printf 'ig\n' > .gitignore; mkdir src; echo 1 > src/f; echo 2 > src/g; git add .; git commit -qm c1; echo user >> src/g; echo own > u; echo ig > ig; sleep 0.1
shx u1 'mkdir lib; git mv src/f src/g lib; mv u v; echo new > .gitignore'; op work --json; op restore --call u1; cat src/g u
"#);
    let work = ran.work();
    let mine = [".gitignore", "lib/f", "lib/g", "src/f", "v"];
    list(&work, "mine", &mine);
    list(&work, "foreign", &["ig", "src/g"]);
    ran.expect(&["removed lib/f", "removed lib/g", "removed v", "user", "own"]);
}

#[test]
fn a_directory_that_is_moved_is_the_calls_change() {
    let ran = run(r#"
newrepo; mkdir -p src/deep; echo 1 > src/deep/f; echo 2 > src/g; git add .; git commit -qm c1
shx u1 'mv src lib'; op work --json; op restore --call u1; find src lib -type f
"#);
    list(
        &ran.work(),
        "mine",
        &["lib/deep/f", "lib/g", "src/deep/f", "src/g"],
    );
    ran.expect(&["src/deep/f", "src/g"]);
    assert!(!ran.has("lib/g"), "{}", ran.all());
}

#[test]
fn what_went_into_the_stash_is_told_once_it_is_dropped_from_there() {
    let ran = run(r#"
newrepo; echo 1 > a; echo 1 > b; git add .; git commit -qm c1; echo user > a; echo user > n
shx u1 'git stash -q -u'; echo --; shx u2 'echo x > b; git stash -q'; echo --; shx u3 'git stash drop -q stash@{1}'; echo --
git gc -q --prune=now; git reflog expire --expire=now --all; git gc -q --prune=now; op recover --list; op recover a n --to ../out; cat ../out/a ../out/n
"#);
    let parts: Vec<&str> = ran.stdout.split("--\n").collect();
    assert!(!parts[0].contains("systemMessage"), "{}", ran.all());
    assert!(!parts[1].contains("systemMessage"), "{}", ran.all());
    assert!(
        parts[2].contains("is gone since this call: a, n"),
        "{}",
        ran.all()
    );
    assert!(
        parts[3].contains(" a (changed during call u3 of session S1)"),
        "{}",
        ran.all()
    );
    assert_eq!(ran.stdout.matches("user\n").count(), 2, "{}", ran.all());
}

#[test]
fn what_comes_out_of_the_stash_is_no_loss() {
    let ran = run(r#"
newrepo; echo 1 > a; git add .; git commit -qm c1; echo user > a; shx u1 'git stash -q'; op recover --list
git stash pop -q; shx u2 true; op recover --list; echo gone > a; shx u3 true; op work --json; op recover --list | wc -l
"#);
    assert!(
        ran.stdout
            .contains(" a (stashed during call u1 of session S1)"),
        "{}",
        ran.all()
    );
    assert!(!ran.stdout.contains("systemMessage"), "{}", ran.all());
    assert!(ran.stdout.ends_with("0\n"), "{}", ran.all());
    list(&ran.work(), "foreign", &["a"]);
}
