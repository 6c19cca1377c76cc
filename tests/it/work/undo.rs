//! Undoing a call, and giving back what a command took from somebody.

use super::case::{list, run};

#[test]
fn what_a_git_command_discarded_can_be_recovered() {
    let ran = run(r#"
newrepo; echo 1 > a; git add a; git commit -qm c1; echo precious > a; echo new > n; shx u1 'git reset -q --hard; git clean -fdq'; echo rc=$?; op work --json; git gc -q --prune=now; op recover --list; op recover a n --to ../out
cat ../out/a ../out/n; git fsck --full
op recover n; cat n; op recover a; echo rec=$?
"#);
    let work = ran.work();
    for name in ["mine", "foreign", "uncommitted"] {
        list(&work, name, &[]);
    }
    list(&work["call"], "changed", &["a", "n"]);
    list(&work["call"], "written", &[]);
    assert!(
        ran.stdout.contains("is gone since this call: a, n"),
        "{}",
        ran.all()
    );
    ran.expect(&[
        "precious",
        "new",
        "skipped a: something lies there: name another directory with --to",
        "rec=1",
    ]);
}

#[test]
fn an_undo_takes_only_what_the_call_made() {
    let ran = run(r#"
newrepo; mkdir notes; echo keep > notes/user; printf 'ign/\n' > .gitignore; mkdir ign; echo k > ign/k; shx u1 'mkdir gen; echo g > gen/g; echo x > notes/tool'; op restore --call u1; find . -path ./.git -prune -o -print | sort
"#);
    let left: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.starts_with('.'))
        .collect();
    assert_eq!(
        left,
        [
            ".",
            "./.gitignore",
            "./.operator",
            "./ign",
            "./ign/k",
            "./notes",
            "./notes/user"
        ]
    );
    ran.expect(&["removed gen/g", "removed notes/tool"]);
}

#[test]
fn an_empty_directory_that_was_there_before_stays() {
    let ran = run(r#"
newrepo; mkdir -p old/er; sleep 0.2; shx u1 'echo x > old/er/tool; mkdir -p new/er; echo x > new/er/tool'; op restore --call u1; find old new
"#);
    ran.expect(&["old", "old/er"]);
    assert!(!ran.has("new"), "{}", ran.all());
}

#[test]
fn an_undo_moves_no_branch() {
    let ran = run(r#"
newrepo; echo 1 > a; git add a; git commit -qm c1; shx u1 'echo 2 > a; git commit -qam c2'; shx u2 'echo 3 > a'; H=$(git rev-parse HEAD); op restore --call u1; echo rc=$?; op restore --call u2; cat a; test $H = $(git rev-parse HEAD) && echo same
"#);
    ran.expect(&["rc=0", "restored a", "2", "same"]);
    assert!(ran.stderr.contains("nothing to restore"), "{}", ran.all());
}

#[test]
fn deletes_are_undone_and_what_came_later_stays() {
    let ran = run(r#"
newrepo; echo 1 > a; echo 2 > b; git add .; git commit -qm c1; echo dirty >> b; shx u1 'rm a b; mkdir d; echo n > d/n'; echo later > z; op restore --call u1; cat a b; ls; op work --json
"#);
    ran.expect(&[
        "removed d/n",
        "restored a",
        "restored b",
        "1",
        "2",
        "dirty",
        "z",
    ]);
    assert!(!ran.has("d"));
    let work = ran.work();
    list(&work, "foreign", &["b", "z"]);
    list(&work, "uncommitted", &[]);
    list(&work["call"], "restored", &["a", "b", "d/n"]);
}

#[test]
fn an_undo_never_writes_through_a_link() {
    let ran = run(r#"
newrepo; D=$(mktemp -d); echo outside > $D/victim; echo in > f; mkdir dir; echo x > dir/x; git add .; git commit -qm c1
shx u1 "rm f; ln -s $D/victim f; rm -r dir; ln -s $D dir"; op restore --call u1; cat $D/victim; ls $D; test -h f || test -h dir || echo real; cat f dir/x
"#);
    ran.expect(&[
        "outside",
        "victim",
        "real",
        "in",
        "x",
        "removed dir",
        "restored dir/x",
        "restored f",
    ]);
    assert!(!ran.stdout.contains("skipped"), "{}", ran.all());
}

#[test]
fn a_link_is_put_back_as_a_link() {
    let ran = run(r#"
newrepo; ln -s target l; ln -s old m; git add l; git commit -qm c1; shx u1 'rm l m; echo file > l; ln -s new m'; op restore --call u1; readlink l m
"#);
    ran.expect(&["target", "old", "restored l", "restored m"]);
}

#[test]
fn a_mode_is_content() {
    let ran = run(r#"
newrepo; echo 1 > a; echo 1 > b; chmod +x b; git add .; git commit -qm c1; echo 2 > b; shx u1 'chmod +x a; chmod -x b'; op work --json; op restore --call u1; test -x b && test ! -x a && echo modes; cat b
"#);
    list(&ran.work(), "mine", &["a"]);
    ran.expect(&["modes", "2", "restored a", "restored b"]);
}

#[test]
fn raw_bytes_come_back_whatever_filters_there_are() {
    let ran = run(r#"
newrepo; git config core.autocrlf true; printf 'a\r\n' > w; printf '*.bin filter=up\n' > .gitattributes; git config filter.up.clean 'tr a-z A-Z'; git config filter.up.smudge cat; printf abc > z.bin; git add . 2>/dev/null; git commit -qm c1
printf 'a\r\nB\r\n' > w; printf abcd > z.bin; sha256sum w z.bin > ../s; shx u1 'echo junk > w; echo junk > z.bin'; op restore --call u1; sha256sum -c ../s
wr u2 z.bin 'mno'; op work --json; git commit -qam c2 2>/dev/null; op work --json
printf 'clean\r\n' > ' w'; git add . 2>/dev/null; git commit -qm c3; shx u3 'echo junk > w; echo junk > " w"; rm z.bin'; op restore --call u3; od -c w | head -1; od -c ' w' | head -1; cat z.bin
"#);
    ran.expect(&["w: OK", "z.bin: OK", "restored  w"]);
    list(&ran.works()[0], "mine", &["z.bin"]);
    for name in ["mine", "foreign", "uncommitted"] {
        list(&ran.works()[1], name, &[]);
    }
    assert!(
        ran.stdout.contains(r"a  \r  \n   B  \r  \n"),
        "{}",
        ran.all()
    );
    assert!(
        ran.stdout.contains(r"c   l   e   a   n  \r  \n"),
        "{}",
        ran.all()
    );
    // The smudge filter does not undo what the clean filter did.
    assert!(ran.stdout.ends_with("MNO"), "{}", ran.all());
}

#[test]
fn very_large_files_are_known_and_not_kept() {
    let ran = run(r#"
newrepo; truncate -s 17M big; truncate -s 3G huge; head -c 60M /dev/urandom > rnd; shx u1 'echo x > a'; shx u2 'echo y > a'; du -sk .git | cut -f1 > ../size; shx u3 'echo z >> big; echo z > small'; op restore --call u3; echo rc=$?; tail -c 2 big; ls small; cat ../size
"#);
    ran.expect(&[
        "removed small",
        "skipped big: content not kept: over 16 MiB",
        "rc=1",
        "z",
    ]);
    let size: u64 = ran.stdout.lines().last().unwrap().parse().unwrap();
    assert!(size < 1024, "{size} KiB");
}

#[test]
fn what_an_undo_needs_outlives_a_gc() {
    let ran = run(r#"
newrepo; echo 1 > a; echo 1 > b; git add .; git commit -qm c1; echo da > a; echo db > b; shx u1 'echo t > a; echo t > b'; git gc -q --prune=now; git repack -qadk; op restore --call u1; cat a b; git fsck --full
"#);
    ran.expect(&["restored a", "restored b", "da", "db"]);
    assert!(!ran.all().contains("dangling"), "{}", ran.all());
}

#[test]
fn a_missing_object_is_named_before_anything_is_written() {
    let ran = run(r#"
newrepo; echo 1 > a; echo 1 > b; git add .; git commit -qm c1; echo da2 > a; echo db2 > b; shx u2 'echo t > a; echo t > b'
rm -f .git/objects/pack/*; op restore --call u2; echo rc=$?; cat a b
"#);
    ran.expect(&["rc=1", "t"]);
    assert_eq!(ran.stdout.matches("skipped").count(), 2, "{}", ran.all());
    assert!(ran.stdout.contains("it is missing"), "{}", ran.all());
}

#[test]
fn what_moved_since_is_left_alone() {
    let ran = run(r#"
newrepo; shx u1 'echo 1 > a; echo 1 > b; echo 1 > c'; echo user >> a; git add c; git commit -qm c1; op restore --call u1; echo rc=$?; cat a
op restore --call nosuch; echo rc=$?; op restore; echo rc=$?; op restore ../x; echo rc=$?
"#);
    ran.expect(&[
        "skipped a: it was changed since the call",
        "removed b",
        "skipped c: it is clean: committed or put back since",
        "user",
    ]);
    let codes: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.starts_with("rc="))
        .collect();
    assert_eq!(codes, ["rc=1", "rc=1", "rc=129", "rc=129"], "{}", ran.all());
}

#[test]
fn a_path_goes_back_one_call_at_a_time() {
    let ran = run(r#"
newrepo; mkdir d; cd d; echo 0 > f; git add f; git commit -qm c1; for i in 1 2 3; do shx u$i "echo $i > f"; done
for i in 1 2 3; do op restore f; cat f; done; op restore f; echo rc=$?; op recover --list | wc -l
"#);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(
        lines,
        [
            "restored d/f",
            "2",
            "restored d/f",
            "1",
            "restored d/f",
            "0",
            "rc=1",
            "3"
        ],
        "{}",
        ran.all()
    );
}

#[test]
fn an_undo_of_an_undo_is_a_recover() {
    let ran = run(r#"
newrepo; shx u1 'echo agent > a'; op restore --call u1; op recover a; cat a; op work --json
"#);
    ran.expect(&["removed a", "agent"]);
    list(&ran.work(), "mine", &["a"]);
}

#[test]
fn a_full_directory_where_a_file_was_is_named() {
    let ran = run(r#"
newrepo; echo 1 > f; git add f; git commit -qm c1; shx u1 'rm f; mkdir f; echo t > f/tool'; echo user > f/user; op restore --call u1; echo rc=$?; cat f/user
"#);
    ran.expect(&["removed f/tool", "rc=1", "user"]);
    assert!(ran.stdout.contains("skipped f: "), "{}", ran.all());
}

#[test]
fn the_index_stays_as_it_is() {
    let ran = run(r#"
newrepo; echo u > u; git add -N u; git ls-files -s > ../i; shx u1 'echo g > g'; op work --json; op restore --call u1; git ls-files -s | cmp - ../i; git status --porcelain; git stash list
"#);
    list(&ran.work(), "mine", &["g"]);
    list(&ran.work(), "foreign", &["u"]);
    ran.expect(&[" A u"]);
}

#[test]
fn no_command_that_discards_is_ever_run() {
    let ran = run(r#"
newrepo; echo 1 > a; git add a; git commit -qm c1; echo u > u; shx u1 'echo 2 > a; rm u; echo n > n'
export GIT_TRACE=1; op restore --call u1; op recover --list; op work
"#);
    ran.expect(&["restored a", "removed n", "restored u"]);
    for word in ["clean", "stash", "checkout", "reset"] {
        assert!(
            !ran.stderr.contains(&format!("git {word}")),
            "{}",
            ran.all()
        );
    }
    ran.expect(&["restored a", "removed n", "restored u"]);
}
