use std::fs;

use crate::support::Repo;

const SEATS: [&str; 7] = [
    "author",
    "mechanic",
    "reviewer",
    "scout",
    "verifier",
    "brainstorm",
    "crawler",
];

#[test]
fn the_seats_are_rendered_checked_and_reverted() {
    let repo = Repo::new();
    repo.write(".operator/tiers.env", "RECON=glm-5\nop-crawler=RECON\n");
    let note = "the client reads agents when a session starts\n";
    let model = |seat: &str| match seat {
        "scout" | "crawler" => "glm-5",
        "mechanic" => "sonnet",
        "brainstorm" => "haiku",
        _ => "opus",
    };
    let lines = |verb: &str| -> String {
        let line = |seat| format!("{verb} .claude/agents/op-{seat}.md: {}\n", model(seat));
        SEATS.into_iter().map(line).collect()
    };
    let table = |state: &str| {
        let output = repo.operator(["agents", "render", "--show"]).run();
        assert_eq!(output.code, 0);
        assert_eq!(output.stdout.matches(state).count(), 7, "{}", output.stdout);
        output.stdout
    };
    table("missing");
    assert_eq!(repo.operator(["agents", "render", "--check"]).run().code, 1);
    repo.operator(["agents", "render"])
        .stdout(lines("created"))
        .stderr(note)
        .check();
    repo.operator(["agents", "render"])
        .stdout(lines("kept"))
        .stderr(note)
        .check();
    assert!(table("current").contains("scout       RECON       glm-5   current\n"));
    assert_eq!(repo.operator(["agents", "render", "--check"]).run().code, 0);
    assert_eq!(
        repo.operator(["agents", "render", "--check", "--set", "scout=IMPLEMENT"])
            .run()
            .code,
        1
    );
    let text = repo.read(".claude/agents/op-scout.md");
    assert!(text.contains("\nmodel: glm-5\n"), "{text}");
    let removed: String = SEATS
        .map(|seat| format!("removed .claude/agents/op-{seat}.md\n"))
        .concat();
    repo.operator(["agents", "render", "--revert"])
        .stdout(removed)
        .check();
    assert!(!repo.path().join(".claude").exists());
}

#[test]
fn a_file_of_the_users_is_never_touched() {
    let repo = Repo::new();
    repo.write(".claude/agents/op-scout.md", "mine\n");
    repo.operator(["agents", "render"])
        .stderr(
            "error: cannot render agents: '.claude/agents/op-scout.md' is not ours\n\
             hint: mv -n .claude/agents/op-scout.md .claude/agents/op-scout.md.mine\n",
        )
        .exit(1)
        .check();
    repo.operator(["agents", "render", "--revert"]).check();
    assert_eq!(repo.read(".claude/agents/op-scout.md"), "mine\n");
    assert_eq!(
        fs::read_dir(repo.path().join(".claude/agents"))
            .unwrap()
            .count(),
        1
    );
}

#[test]
fn a_variable_that_overrides_every_agent_is_named() {
    let repo = Repo::new();
    let output = repo
        .operator(["agents", "render"])
        .env("CLAUDE_CODE_SUBAGENT_MODEL", "haiku")
        .run();
    assert!(
        output.stderr.starts_with(
            "warning: CLAUDE_CODE_SUBAGENT_MODEL is 'haiku' and overrides the model of every agent\n"
        ),
        "{}",
        output.stderr
    );
}

#[test]
fn a_refused_line_of_the_tiers_renders_nothing() {
    let repo = Repo::new();
    repo.write(".operator/tiers.env", "JUDGMENT=`id`\n");
    assert_eq!(repo.operator(["agents", "render"]).run().code, 1);
    assert!(!repo.path().join(".claude").exists());
}
