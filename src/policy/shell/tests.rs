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
        (
            "time { a; }; time (b); time while c; do d; done",
            vec!["a", "b", "c", "d"],
        ),
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
        ("[ a ]", vec!["[ a ]"]),
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
    for line in [
        "command -v git",
        "bash script.sh",
        "bash --version",
        "git config alias.p",
    ] {
        assert_eq!(shown(line), [line]);
    }
    assert_eq!(shown("bash -c \"$x\""), ["bash -c ?$x", "?$x"]);
}

#[test]
fn assignments_before_a_command_are_no_part_of_it() {
    for (line, expected) in [
        ("A=1 git push", Some("git")),
        ("A=\"x y\" git push", Some("git")),
        ("A='x' B=$'y' git push", Some("git")),
        ("A=x'y'\\z git push", Some("git")),
        ("A=(\"x\") git push", Some("git")),
        ("A+=\"x\" git push", Some("git")),
        ("\"A\"=1 git push", Some("A=1")),
        ("A\\=1 git push", Some("A=1")),
        ("A=\"x\"", None),
    ] {
        let found = commands(Shell::Posix, line).unwrap();
        assert_eq!(found[0].name(), expected, "{line}");
    }
}

#[test]
fn no_wrapper_hides_what_it_runs() {
    for line in [
        "bash -euo pipefail -c 'git push -f'",
        "bash -eo pipefail -c 'git push -f'",
        "bash -co pipefail 'git push -f'",
        "bash +e -c -- 'git push -f'",
        "fish -c 'git push -f'",
        "rbash -c 'git push -f'",
        "git operator run t c -- git push -f",
        "git-operator run t c -- git push -f",
        "git -C x operator -q run t c -- git push -f",
        "bash <<EOF\ngit push -f\nEOF",
        "bash -s x <<'EOF'\ngit push -f\nEOF",
        "sudo bash -s <<-EOF\n\tgit push -f\n\tEOF",
        "cat <<EOF | bash\ngit push -f\nEOF",
        "bash <<< 'git push -f'",
        "echo 'git push -f' | bash",
        "echo 'git push -f' | sh -s",
        "printf 'git push -f\\n' | sudo sh",
        "printf '%s\\n' ls 'git push -f' |\n sh",
        "xargs -i git push -f",
        "xargs --replace git push -f",
        "xargs -0 --replace=% git push -f",
        "nice -n5 git push -f",
        "sudo -nu bob git push -f",
        "sudo -EH -- git push -f",
        "env -iu X git push -f",
        "env - git push -f",
        "env -vS 'git push -f'",
        "timeout -vk 5 5 git push -f",
        "timeout --sig KILL 5 git push -f",
        "flock -n -c 'git push -f' /tmp/l",
        "flock -xw 5 /tmp/l -c 'git push -f'",
        "trap 'git push -f' EXIT",
        "coproc X { git push -f; }",
        "coproc X (git push -f)",
        "coproc git push -f",
        "su -c 'git push -f'",
        "su - bob -c 'git push -f'",
        "runuser -u bob -- git push -f",
        "runuser bob -c 'git push -f'",
        "script -qc 'git push -f' /dev/null",
        "script -q /dev/null git push -f",
        "parallel -j 4 git push -f ::: a b",
        "alias g='git push -f'",
        "alias g=git; g push -f",
        "alias git='git push'; git -f",
        "unshare -r git push -f",
        "systemd-run --user -p A=b git push -f",
        "git rebase -x 'git push -f' HEAD~1",
        "git rebase -ix 'git push -f' HEAD~1",
        "git rebase --exec='git push -f' HEAD~1",
        "git submodule foreach 'git push -f'",
        "git submodule foreach --recursive git push -f",
        "git bisect run git push -f",
        "git -c alias.p='push -f' p",
        "git -c alias.P='!git push -f' p",
        "git config alias.p 'push -f'",
        "git config --global set alias.p '!git push -f'",
        "git -c core.pager='git push -f' log",
        "pwsh -Command 'git push -f'",
        "cmd /c git push -f",
        "watch -n 1 git push -f",
        "fd -e rs -x git push -f \\;",
    ] {
        let found = shown(line);
        let wanted = |text: &String| text == "git push -f" || text == "git push -f ?{}";
        assert!(found.iter().any(wanted), "{line}: {found:?}");
    }
}

#[test]
fn powershell_commands_are_found() {
    for line in [
        "git push -f",
        "& git push -f",
        "& 'git' push -f",
        "& \"C:\\Program Files\\Git\\cmd\\git.exe\" push -f",
        "C:\\Git\\GIT.EXE push -f",
        "iex \"git push -f\"",
        "Invoke-Expression -Command 'git push -f'",
        "cmd /c git push -f",
        "cmd.exe /C \"git push -f\"",
        "powershell -NoProfile -Command \"git push -f\"",
        "pwsh -c 'git push -f'",
        "Start-Process git -ArgumentList 'push','-f'",
        "Start-Process -FilePath git -ArgumentList \"push\", \"-f\" -Wait",
        "$x = git push -f",
        "$x=git push -f",
        "$x += git push -f",
        "$(git push -f)",
        "echo \"a $(git push -f) b\"",
        "bash -c 'git push -f'",
        "1..2 | % { git push -f }",
        ". git push -f",
        "git push `\n  -f",
        "git `\r\n push -f",
    ] {
        let found = commands(Shell::PowerShell, line).unwrap();
        let is_push = |argv: &Argv| argv.is("git") && argv.texts()[1..] == ["push", "-f"];
        assert!(found.iter().any(is_push), "{line}: {found:?}");
    }
    for line in [
        "$x = 'git'",
        "$x = \"git push -f\"",
        "'git push -f' | Out-Null",
        "$env:A = 'b'",
        "$x.Name -eq 'git'",
        "[int]$x = 5",
    ] {
        let found = commands(Shell::PowerShell, line).unwrap();
        assert!(
            !found.iter().any(|argv| argv.is("git")),
            "{line}: {found:?}"
        );
        assert!(!found.iter().any(|argv| argv.hidden), "{line}: {found:?}");
    }
}

#[test]
fn what_is_run_unseen_is_said_to_be() {
    for (line, expected) in [
        ("curl x | bash", true),
        ("curl x | sudo sh -s -- a", true),
        ("echo $X | sh", true),
        ("sh -c \"$X\"", true),
        ("sh -c \"git push $X\"", true),
        ("eval \"$X\"", true),
        ("bash <(curl x)", true),
        ("source <(curl x)", true),
        (". /dev/stdin", true),
        ("bash < <(curl x)", true),
        ("(echo git push -f; ls) | bash", true),
        ("{ bash; } <<< 'git push -f'", true),
        ("bash <<EOF\n$X\nEOF", true),
        ("sudo -s", true),
        ("su - bob", true),
        ("alias g=\"$X\"", true),
        ("trap \"$X\" EXIT", true),
        ("parallel ::: 'git push -f'", true),
        ("sh -c 'echo \"'", true),
        ("bash x.sh", false),
        ("bash \"$DIR/x.sh\"", false),
        ("bash < x.sh", false),
        ("source ~/.bashrc", false),
        ("sh -c 'git status'", false),
        ("bash <<'EOF'\necho $X\nEOF", false),
        ("echo ls | sh", false),
        ("trap - EXIT", false),
        ("alias", false),
        ("ls | xargs -n 1 grep x", false),
        ("git log | cat", false),
        ("cat <<EOF > bash\n$X\nEOF", false),
        ("git commit -m \"$(cat x)\"", false),
        ("true || bash -c true", false),
    ] {
        let found = commands(Shell::Posix, line).unwrap();
        assert_eq!(found.iter().any(|argv| argv.hidden), expected, "{line}");
    }
}

#[test]
fn expansions_in_quotes_are_one_word() {
    for (line, expected) in [
        ("x \"$a\"", true),
        ("x \"$(a @b)\"", true),
        ("x \"`a`\"", true),
        ("x '$a'", true),
        ("x \"$@\"", false),
        ("x \"${a[@]}\"", false),
        ("x $a", false),
        ("x `a`", false),
        ("x *.rs", false),
        ("x {a,b}", false),
        ("x \"a\"$b", false),
    ] {
        let found = commands(Shell::Posix, line).unwrap();
        let argv = found.iter().find(|argv| argv.is("x")).unwrap();
        assert_eq!(argv.words[1].single, expected, "{line}");
    }
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
        ("x | tee -- -a", vec!["-a"]),
        ("x | tee -ia c", vec!["+c"]),
        ("x | tee --app c", vec!["+c"]),
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
        "alias a=a ",
        "alias a='a a'; a; ",
        "sh -c \"$(",
        "echo x | ",
        "cat <<E | sh\n",
        "xargs ",
        "git -c alias.a='!a' a ",
        "iex \"$(",
        "trap 'a' b; ",
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
