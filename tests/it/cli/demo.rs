use std::fs;

use crate::support::Repo;

#[test]
fn the_gate_is_played_from_a_blocked_stop_to_a_stale_claim() {
    let repo = Repo::outside();
    let temp = repo.dir().join("temp");
    fs::create_dir(&temp).unwrap();
    let output = repo
        .operator(["demo"])
        .env("TMPDIR", &temp)
        .env("CLAUDE_CODE_SESSION_ID", "somebody")
        .env("GIT_DIR", "/no/such")
        .run();
    assert_eq!(
        (output.code, output.stderr.as_str()),
        (0, ""),
        "{}",
        output.stdout
    );
    let mut rest = output.stdout.as_str();
    for part in [
        "opened 'T-1' for session 'demo' [",
        "$ git operator hook Stop\n  git-operator: this turn cannot end yet",
        "  (exit 2)\n",
        "1 passed\n",
        "$ git operator hook Stop\nann $ git operator log\n",
        " PASS     T-1: it greets: 1 passed @",
        "$ git operator verify\n",
        "1 of 1 criteria met",
        "PASS 'T-2': it reads well @",
        " T-2: it reads well: read it twice @",
        "*   union ",
        "$ git operator verify\n",
        "  (exit 1)\n",
    ] {
        let at = rest.find(part);
        let at = at.unwrap_or_else(|| panic!("{part:?} is not in\n{}", output.stdout));
        rest = &rest[at + part.len()..];
    }
    assert_eq!(fs::read_dir(&temp).unwrap().count(), 0);
}

#[test]
fn the_directory_is_kept_where_asked() {
    let repo = Repo::outside();
    let output = repo
        .operator(["demo", "--keep"])
        .env("TMPDIR", repo.dir())
        .run();
    assert_eq!(output.code, 0, "{}{}", output.stdout, output.stderr);
    let kept = output
        .stdout
        .lines()
        .last()
        .unwrap()
        .strip_prefix("kept in ")
        .unwrap();
    assert!(fs::metadata(kept).unwrap().is_dir());
}
