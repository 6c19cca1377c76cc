//! Names as git allows them.

use super::case::{list, run};

#[test]
fn hard_names_are_kept_exactly() {
    let ran = run(r#"
newrepo; n=0; for f in 'a b' 'q"q' $'nl\nx' 'x -> y' '-rf' ' lead' $'tab\tt' 'é' '.hidden' 'back\slash' ':(glob)x' 'trail ' '~' '$(id)'; do n=$((n+1)); wr u$n "$f" 1; done; op work --json; git config core.quotePath true; op work --json
op work | wc -l; for i in $(seq $n); do op restore --call u$i; done; ls -A
"#);
    let names = [
        " lead",
        "$(id)",
        "-rf",
        ".hidden",
        ":(glob)x",
        "a b",
        r#""back\\slash""#,
        r#""nl\nx""#,
        r#""q\"q""#,
        r#""tab\tt""#,
        "trail ",
        "x -> y",
        "~",
        "é",
    ];
    for work in ran.works() {
        list(&work, "mine", &names);
    }
    ran.expect(&["14"]);
    let left = ran.stdout.lines().skip_while(|line| *line != "14");
    let left: Vec<&str> = left.filter(|line| !line.starts_with("removed ")).collect();
    assert_eq!(left, ["14", ".git", ".operator"], "{}", ran.all());
}

#[test]
fn names_that_are_not_utf8_are_told_apart() {
    let ran = run(r#"
newrepo; shx u1 "printf 1 > \$'bad\\xff.t'; printf 2 > \$'bad\\xfe.t'"; op work --json; op restore --call u1; ls -A
"#);
    list(&ran.work(), "mine", &[r#""bad\376.t""#, r#""bad\377.t""#]);
    ran.expect(&[r#"removed "bad\376.t""#, r#"removed "bad\377.t""#]);
    assert!(ran.stdout.ends_with(".git\n.operator\n"), "{}", ran.all());
}
