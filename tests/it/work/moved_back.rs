//! Putting back what a command moved: it goes back to where it was, or is left where it is.

use super::case::run;

const POLICIES: &str = r#"
pol() { mkdir -p .operator/policies; cat > .operator/policies/p.yaml; git add -A; git commit -qm p; }
respect() { newrepo; git config --global operator.work false; pol <<'Y'
on: [tool.result, tool.error]
when: { cel: "work.call != null && size(work.call.foreign) > 0 && size(work.call.written) > 0" }
then: [restore, block]
Y
}
short() { newrepo; git config --global operator.work false; pol <<'Y'
on: [file.write]
when: { builtin: max-lines, with: { max: 400 } }
then: [restore, block]
Y
}
files() { find . -path ./.git -prune -o -path ./.operator -prune -o -mindepth 1 -print | sort; }
"#;

fn ran(script: &str) -> super::case::Ran {
    run(&format!("{POLICIES}\n{script}"))
}

#[test]
fn a_policy_puts_what_was_moved_back_to_where_it_was() {
    let ran = ran(r#"
respect; echo precious > notes.txt; shx s1 'mv notes.txt docs.txt'; files; cat notes.txt
"#);
    ran.expect(&["./notes.txt", "precious"]);
    assert!(!ran.has("./docs.txt"), "{}", ran.all());
    let said = r"before the call:\n- docs.txt\n- notes.txt";
    assert!(ran.stdout.contains(said), "{}", ran.all());
}

#[test]
fn a_moved_directory_goes_back_whole() {
    let ran = ran(r#"
respect; mkdir -p w/deep old; echo precious > w/notes.txt; echo more > w/deep/x; sleep 0.2
shx s1 'mv w w2'; files; cat w/notes.txt w/deep/x; echo --
shx s2 'mv w/notes.txt old/; mv w/deep/x old/x; rm -r w'; files
"#);
    let files = ["./old", "./w", "./w/deep", "./w/deep/x", "./w/notes.txt"];
    let parts: Vec<&str> = ran.stdout.split("--\n").collect();
    for part in parts {
        let found: Vec<&str> = part.lines().filter(|l| l.starts_with("./")).collect();
        assert_eq!(found, files, "{}", ran.all());
    }
    ran.expect(&["precious", "more"]);
}

#[test]
fn a_policy_on_a_file_takes_back_the_whole_move() {
    for (make, moves) in [
        ("seq 500 > a", "mv a b"),
        ("seq 500 > a", "mkdir d; mv a b; cp b d/c"),
        ("seq 500 > a; git add a; git commit -qm a", "git mv a b"),
        (
            "seq 500 > a; git add a; git commit -qm a; seq 9 >> a",
            "git mv a b",
        ),
        (
            "seq 500 > a; git add a; git commit -qm a; seq 9 >> a",
            "git mv a b; chmod +x b",
        ),
        (
            "seq 500 > a; echo x > b; git add b; git commit -qm b",
            "mv a b",
        ),
        ("seq 500 > a; echo x > b", "mv a b"),
        ("seq 500 > a", "mv a b; echo small > a"),
        ("seq 500 > a; seq 600 > b", "mv a t; mv b a; mv t b"),
        (
            "git config core.autocrlf true; seq 500 | sed 's/$/\\r/' > a; git add a 2> /dev/null; git commit -qm a",
            "git mv a b",
        ),
    ] {
        let ran = ran(&format!(
            r#"
short; {make}; files > ../files; sha256sum $(cat ../files) > ../sums; shx s1 '{moves}'; sha256sum -c --quiet ../sums && echo same; files | cmp - ../files && echo alike
"#
        ));
        ran.expect(&["same", "alike"]);
        assert!(!ran.stdout.contains("is gone since"), "{}", ran.all());
    }
}

#[test]
fn what_came_out_of_the_users_stash_is_left_where_it_is() {
    let ran = ran(r#"
short; echo 1 > t; git add t; git commit -qm t; seq 500 > t; seq 600 > u; git stash -q -u; shx s1 'git stash pop -q'; wc -l t u
"#);
    ran.expect(&[" 500 t", " 600 u"]);
    assert!(
        ran.stdout.contains("could not be put back"),
        "{}",
        ran.all()
    );
}

#[test]
fn what_cannot_go_back_stays_where_it_was_moved_to() {
    let ran = ran(r#"
newrepo; echo precious > a; shx u1 'mv a b'; echo later > a; op restore --call u1; echo rc=$?; cat a b
"#);
    ran.expect(&[
        "skipped a: it was changed since the call",
        "skipped b: it was moved here from 'a', which cannot be put back",
        "rc=1",
        "later",
        "precious",
    ]);
}

#[test]
fn a_path_that_is_named_goes_back_with_where_it_came_from() {
    let ran = ran(r#"
newrepo; mkdir d; echo precious > f; shx u1 'mv f f.tmp; mkdir f; mv f.tmp f/f'; op restore f/f; cat f; op restore --call u1; echo rc=$?
"#);
    ran.expect(&["restored f", "removed f/f", "precious", "rc=0"]);
}

#[test]
fn what_is_put_back_is_not_said_to_be_changed_or_gone() {
    let ran = ran(r#"
respect; echo precious > a; echo more > b; shx s1 'echo x >> a; rm b'; cat a; echo --; op recover --list
"#);
    ran.expect(&["precious"]);
    assert!(!ran.stdout.contains("This call changed"), "{}", ran.all());
    assert!(
        ran.stdout.contains("is gone since this call: b"),
        "{}",
        ran.all()
    );
}
