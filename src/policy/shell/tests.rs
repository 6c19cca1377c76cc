use super::{Argv, Shell, Target, Unparsed, commands, writes};

fn show(argv: &Argv) -> String {
    let mut parts: Vec<String> = argv.assignments.iter().map(|w| w.text.clone()).collect();
    parts.extend(argv.words.iter().map(|w| {
        if w.known {
            w.text.clone()
        } else {
            format!("?{}", w.text)
        }
    }));
    parts.join(" ")
}

fn shown(line: &str) -> Vec<String> {
    match commands(Shell::Posix, line) {
        Ok(found) => found.iter().map(show).collect(),
        Err(error) => vec![format!("error: {error}")],
    }
}

fn targets(line: &str) -> Vec<String> {
    written(Shell::Posix, line)
}

fn written(shell: Shell, line: &str) -> Vec<String> {
    writes(shell, line)
        .into_iter()
        .map(|Target { path, append }| if append { format!("+{path}") } else { path })
        .collect()
}

#[test]
fn commands_are_found_wherever_they_stand() {
    for (line, expected) in [
        ("git push --force", vec!["git push --force"]),
        (
            "a && b || c; d & e | f |& g",
            vec!["a", "b", "c", "d", "e", "f", "g"],
        ),
        ("(a; b) && { c; d; }", vec!["a", "b", "c", "d"]),
        (
            "if a; then b; elif c; then d; else e; fi",
            vec!["a", "b", "c", "d", "e"],
        ),
        (
            "while a; do b; done; until c; do d; done",
            vec!["a", "b", "c", "d"],
        ),
        ("for x in 1 $(a) 3; do b $x; done", vec!["a", "b ?$x"]),
        ("for ((i=0; i<$(a); i++)); do b; done", vec!["a", "b"]),
        (
            "case $x in a|b) c;; (d) e ;; *) f; esac; g",
            vec!["c", "e", "f", "g"],
        ),
        ("case x in\na)\nb\n;;\nesac\nc", vec!["b", "c"]),
        (
            "f() { a; }; function g { b; }; function h() { c; }",
            vec!["a", "b", "c"],
        ),
        ("f () { a; }", vec!["a"]),
        ("echo $(a $(b))", vec!["b", "a ?$(b)", "echo ?$(a $(b))"]),
        ("echo \"x $(a) y\"", vec!["a", "echo ?x $(a) y"]),
        ("echo `a \\`b\\``", vec!["b", "a ?`b`", "echo ?`a \\`b\\``"]),
        ("diff <(a) >(b)", vec!["a", "b", "diff ?<(a) ?>(b)"]),
        ("echo ${x:-$(a)}", vec!["a", "echo ?${x:-$(a)}"]),
        ("echo $((1 + $(a)))", vec!["a", "echo ?$((1 + $(a)))"]),
        ("echo $((a); (b))", vec!["a", "b", "echo ?$((a); (b))"]),
        ("((x = 1 > 0)); a", vec!["a"]),
        ("[[ a > b && $(c) < d ]] && e", vec!["c", "e"]),
        ("! a; time b", vec!["a", "time b", "b"]),
        ("A=1 B='x y' cmd arg", vec!["A=1 B=x y cmd arg"]),
        ("a=(1 $(b) 2) c", vec!["b", "a= c"]),
        ("# comment only\na # rest", vec!["a"]),
        ("a\\\n b", vec!["a b"]),
        ("echo $()", vec!["echo ?$()"]),
        ("", vec![]),
    ] {
        assert_eq!(shown(line), expected, "{line}");
    }
}

#[test]
fn quotes_are_taken_off() {
    for (line, expected) in [
        (r#"gi"t" 'pu'sh \--force"#, vec!["git push --force"]),
        (r#"echo "a\"b\$c\\d\n""#, vec![r#"echo a"b$c\d\n"#]),
        (r"echo $'a\tb\x41\u00e9\101'", vec!["echo a\tbA\u{e9}A"]),
        (r#"echo "cost $" '$x' "'""#, vec!["echo cost $ $x '"]),
        ("echo a#b '#c'", vec!["echo a#b #c"]),
        ("echo * ? [a] '*'", vec!["echo ?* ?? ?[a] *"]),
        ("rm {a,b} '{a,b}' {x}", vec!["rm ?{a,b} {a,b} {x}"]),
        ("echo $HOME/x \"$y\"", vec!["echo ?$HOME/x ?$y"]),
    ] {
        assert_eq!(shown(line), expected, "{line}");
    }
}

#[test]
fn commands_run_by_others_are_found() {
    for (line, expected) in [
        ("sudo -u root rm -rf /", "rm -rf /"),
        ("env -u X A=1 git push", "A=1 git push"),
        ("env -S 'git push'", "git push"),
        ("timeout -k 5 10s git push", "git push"),
        ("nice -n 5 git push", "git push"),
        ("nohup setsid git push &", "git push"),
        ("command git push", "git push"),
        ("bash -lc 'git push'", "git push"),
        ("bash -o pipefail -c 'git push' x", "git push"),
        ("sh -c \"sh -c 'git push'\"", "git push"),
        ("eval git push", "git push"),
        ("eval 'git push'", "git push"),
        ("ls | xargs -n 1 -I{} git push", "git push"),
        ("find . -name x -exec git push {} \\;", "git push ?{}"),
        ("watch 'git push'", "git push"),
        ("flock /tmp/l git push", "git push"),
        ("/usr/bin/env git push", "git push"),
    ] {
        assert_eq!(
            shown(line).last().map(String::as_str),
            Some(expected),
            "{line}"
        );
    }
    assert_eq!(shown("command -v git"), ["command -v git"]);
    assert_eq!(shown("bash script.sh"), ["bash script.sh"]);
    assert_eq!(shown("bash -c \"$x\""), ["bash -c ?$x"]);
}

#[test]
fn targets_of_output_are_found() {
    for (line, expected) in [
        ("echo x > a", vec!["a"]),
        ("echo x >> a 2>b", vec!["+a", "b"]),
        ("echo x >| a; y &> b; z &>> c", vec!["a", "b", "+c"]),
        ("x > 'a b' 2>&1", vec!["a b"]),
        ("x >&2; y 2>&-; z > /dev/null", vec![]),
        ("x >& a", vec!["a"]),
        ("x | tee a b | tee -a c", vec!["a", "b", "+c"]),
        ("x | sudo tee /etc/y", vec!["/etc/y"]),
        ("{ a; b; } > c", vec!["c"]),
        ("for x in y; do z; done > c", vec!["c"]),
        ("(a > b) > c", vec!["b", "c"]),
        ("> a", vec!["a"]),
        ("cat <<'E' > a\n> b $(x > c)\nE\ny > d", vec!["a", "d"]),
        ("cat <<E > a\n$(x > c)\nE\n", vec!["a", "c"]),
        ("cat <<-E > a\n\tb > c\n\tE\nx > d", vec!["a", "d"]),
        ("cat <<< 'x > y' > a", vec!["a"]),
        ("x > $HOME/a; y > *.txt; z > {a,b}", vec![]),
        (
            "cd sub && x > a; cd ../b; y > c",
            vec!["sub/a", "sub/../b/c"],
        ),
        ("(cd sub && x > a); y > b", vec!["sub/a", "b"]),
        ("cd \"$x\" && y > a", vec![]),
        ("cd /tmp; x > a", vec!["/tmp/a"]),
        ("[[ a > b ]]; ((a > b)); echo '> c' \\> d", vec![]),
        ("bash -c 'x > a'", vec!["a"]),
        ("x < a", vec![]),
        ("x > a > a", vec!["a"]),
        ("x 2>&1 >a", vec!["a"]),
        ("printf '%s' \"a\" 1>out.txt", vec!["out.txt"]),
        ("x > a\r\ny > b\r\n", vec!["a", "b"]),
        ("x > \"a", vec![]),
    ] {
        assert_eq!(targets(line), expected, "{line}");
    }
}

#[test]
fn powershell_targets_are_found() {
    for (line, expected) in [
        ("Get-Item x > a.txt", vec!["a.txt"]),
        ("echo hi >> 'a b.txt'; x 2> e", vec!["+a b.txt", "e"]),
        ("x *> all.log", vec!["all.log"]),
        ("x 2>&1 > a", vec!["a"]),
        (
            "dir | Tee-Object -FilePath out.txt -Append",
            vec!["+out.txt"],
        ),
        ("dir | Tee-Object out.txt", vec!["out.txt"]),
        ("dir | Out-File -Encoding utf8 out.txt", vec!["out.txt"]),
        ("dir | out-file -Append -FilePath \"o ut\"", vec!["+o ut"]),
        ("if ($a -gt 1) { dir > b }", vec!["b"]),
        ("x > $env:TEMP/a; y > \"$z\"", vec![]),
        ("x > src\\a.rs", vec!["src\\a.rs"]),
    ] {
        assert_eq!(written(Shell::PowerShell, line), expected, "{line}");
    }
}

#[test]
fn what_cannot_be_taken_apart_is_an_error() {
    for (line, expected) in [
        ("echo 'a", Unparsed::Unclosed("'")),
        ("echo \"a", Unparsed::Unclosed("\"")),
        ("echo $(a", Unparsed::Unclosed("(")),
        ("(a", Unparsed::Unclosed("(")),
        ("a)", Unparsed::Unexpected(')')),
        ("a >", Unparsed::Unclosed("a redirection")),
        ("case x in a) b", Unparsed::Unclosed("case")),
        ("echo ${x", Unparsed::Unclosed("${")),
    ] {
        assert_eq!(commands(Shell::Posix, line), Err(expected), "{line}");
    }
    let deep = format!("echo {}x{}", "$(".repeat(25), ")".repeat(25));
    assert_eq!(commands(Shell::Posix, &deep), Err(Unparsed::TooDeep));
    let long = "x".repeat(256 * 1024 + 1);
    assert_eq!(commands(Shell::Posix, &long), Err(Unparsed::TooLong));
    let many = "a;".repeat(4_001);
    assert_eq!(commands(Shell::Posix, &many), Err(Unparsed::TooMany));
}

#[test]
fn hostile_lines_end_soon() {
    let started = std::time::Instant::now();
    for piece in [
        "(",
        "((",
        "$(",
        "$((",
        "${",
        "`",
        "\"$(",
        "<(",
        "{ ",
        "if ",
        "case x in a) ",
        "a=(",
        "<<E\n",
        "$'",
        "\\",
        "@(",
        "[[ ",
        "! ",
        "> ",
        "eval ",
        "sudo ",
        "bash -c '",
        "$((1)) ",
        "\"",
        "'",
        "f(",
        "for x in ",
        "é",
        "\0",
        "$((a) ",
    ] {
        for count in [1, 23, 24, 25, 1_000, 20_000] {
            let line = piece.repeat(count);
            let _ = commands(Shell::Posix, &line);
            let _ = commands(Shell::PowerShell, &line);
            let _ = commands(Shell::Posix, &format!("echo {line} x"));
        }
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { failure_persistence: None, ..Default::default() })]

    #[test]
    fn no_line_makes_it_panic(line in r#"[ a-z'"$(){}\[\]<>|&;\n`\\=!#*?é-]{0,60}"#) {
        let _ = commands(Shell::Posix, &line);
        let _ = commands(Shell::PowerShell, &line);
    }

    #[test]
    fn a_quoted_word_comes_back_as_it_was(word in r#"[^']{1,40}"#) {
        let found = commands(Shell::Posix, &format!("x '{word}'")).unwrap();
        proptest::prop_assert_eq!(&found[0].words[1].text, &word);
        proptest::prop_assert!(found[0].words[1].known);
    }
}
