//! No byte is lost: what a restore or a recover removes or replaces is kept first, and what is said to
//! be kept is.

use super::case::{Ran, run};

/// `held` names the blobs of all files of the tree; `lost` those of them that lie nowhere any more.
const BYTES: &str = r#"
held() { find . -path ./.git -prune -o -type f -print | git hash-object --no-filters --stdin-paths | sort -u; }
lost() { # what is in no file, and in no object after a gc
  git gc -q --prune=now; held > ../now
  for o in $(comm -23 $1 ../now); do git cat-file -e $o 2> /dev/null || echo LOST $o; done; }
big() { head -c 17000000 /dev/zero > $1; echo $1 >> $1; }
safe() { # safe CALL 'shell text': undoes it, and then takes that back as far as it can
  shx $1 "$2"; held > ../then; op restore --call $1; echo rc=$?; lost ../then
  held > ../then; op recover $(op recover --list | awk '{print $2}' | sort -u); lost ../then
  held > ../then; op restore $(git ls-files -mo --exclude-standard) 2> /dev/null; lost ../then; }
"#;

fn ran(script: &str) -> Ran {
    run(&format!("{BYTES}\n{script}"))
}

#[test]
fn an_undo_loses_no_bytes_whatever_the_command_did() {
    for (make, command) in [
        ("big data", "mv data d2"),
        ("big data", "mv data d2; echo x > data"),
        ("big data", "mkdir d; mv data d/; chmod +x d/data"),
        ("echo old > d2; big data", "mv data d2"),
        (
            "echo old > d2; git add d2; git commit -qm d2; big data",
            "mv data d2",
        ),
        (
            "big data; git add data; git commit -qm data; echo x >> data",
            "git mv data d2",
        ),
        (
            "big data; git add data; git commit -qm data",
            "git mv data d2",
        ),
        (
            "printf 'ig/\\n' > .gitignore; mkdir ig; big ig/data",
            "mv ig/data .",
        ),
        (
            "printf 'ig/\\n' > .gitignore; mkdir ig; echo u > ig/data",
            "mv ig/data .",
        ),
        (
            "printf 'ig\\n' > .gitignore; big ig",
            "rm .gitignore; echo x >> ig",
        ),
        (
            "printf 'ig\\n' > .gitignore; git add .; git commit -qm ig; echo u > ig",
            "git rm -q .gitignore; echo x >> ig",
        ),
        ("big ../outside", "mv ../outside inside"),
        ("echo u > ../outside", "mv ../outside inside"),
        (
            "echo u > ../outside; ln ../outside inside",
            "rm inside; mv ../outside inside",
        ),
        ("", "head -c 17000000 /dev/zero > made; echo x > small"),
        (
            "echo 1 > f; git add f; git commit -qm f",
            "head -c 17000000 /dev/zero > f",
        ),
        ("echo u > a; echo v > b", "mv a t; mv b a; mv t b"),
        ("git init -q nest; big nest/u", "rm -rf nest/.git"),
        (
            "git init -q nest; echo u > nest/u; echo v > nest/v",
            "rm -rf nest/.git; echo x >> nest/u; sed -i s/v/w/ nest/v",
        ),
        (
            "echo 1 > t; git add t; git commit -qm t; big t; git stash -q",
            "git stash pop -q",
        ),
        ("big u; git stash -q -u", "git stash pop -q"),
        ("mkdir w; big w/u; echo v > w/v", "mv w w2; ln -s w2 w"),
        ("big a; echo u > b", "tar cf t.tar a b; rm a b"),
    ] {
        let ran = ran(&format!("newrepo; {make}\nsleep 0.1; safe u1 '{command}'"));
        assert!(!ran.stdout.contains("LOST"), "{command}: {}", ran.all());
        assert!(ran.stdout.contains("rc="), "{command}: {}", ran.all());
    }
}

#[test]
fn what_is_too_large_to_keep_is_not_removed() {
    let ran = ran(r#"
newrepo; big data; echo 1 > f; git add f; git commit -qm f; shx u1 'mv data d2; head -c 17000000 /dev/zero > f'; op restore --call u1; echo rc=$?; ls
"#);
    ran.expect(&[
        "skipped data: content not kept: over 16 MiB",
        "skipped d2: it was moved here from 'data', which cannot be put back",
        "skipped f: it is too large to keep, and would be gone",
        "rc=1",
        "d2",
    ]);
}

#[test]
fn what_there_is_no_room_for_is_not_removed_nor_said_to_be_kept() {
    let ran = ran(r#"
full() { sed -i 's/"bytes":[0-9]*/"bytes":268435456/' .git/operator/work/*/$1; }
newrepo; echo 1 > a; shx u0 'true'; for i in 1 2 3; do echo f$i > f$i; done; full state
shx u1 'for f in f*; do mv $f g$f; done; echo x > a'; held > ../then; op restore --call u1; echo rc=$?; lost ../then; op recover gf1
echo --; full state; shx u2 'rm -f gf*'; op recover --list; echo --
newrepo; echo 1 > a; shx u1 'echo 2 > a'; full rescue; shx u2 'echo 3 > a; echo 4 > b'; held > ../then; op restore --call u2; echo rc=$?; lost ../then
"#);
    assert!(!ran.stdout.contains("LOST"), "{}", ran.all());
    ran.expect(&[
        "restored a",
        "skipped f1: content not kept: there was no room",
        "skipped gf1: it was moved here from 'f1', which cannot be put back",
        "skipped a: there is no room to keep it, and it would be gone",
        "skipped b: there is no room to keep it, and it would be gone",
    ]);
    let parts: Vec<&str> = ran.stdout.split("--\n").collect();
    assert!(
        parts[1].contains("Not kept as it was before"),
        "{}",
        ran.all()
    );
    assert!(!parts[1].contains("is kept"), "{}", ran.all());
    assert_eq!(
        parts[1].matches("content not kept").count(),
        3,
        "{}",
        ran.all()
    );
}
