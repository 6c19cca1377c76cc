"""Each command file expands in the client, its lines run, and its output reaches the model."""
from client import Machine, say
from install import BIN, PLUGIN, has

LANES = [{"name": "main", "turns": [say("done")]}]


def run(command, setup="git operator start >/dev/null"):
    with Machine(BIN) as machine:
        machine.sh(setup)
        session = machine.session(LANES, prompt=command, plugin=PLUGIN)
        assert session.code == 0 and session.result["result"] == "done", (session.code, session.result)
        return session.told()


def test_start_sets_the_project_up():
    has(run("/cc-operator:start", setup=":"), "created OPERATOR.md", "work under it from now on")


def test_tiers_shows_the_table_with_an_override():
    has(run("/cc-operator:tiers --set RECON=sonnet"), "RECON       sonnet  --set", "agents render")


def test_log_takes_filters():
    has(run("/cc-operator:log --task T-1", setup="git operator start && git operator task T-1 --owner S && git operator task T-2 --owner S"),
        "T-1", "Report what the rows say")


def test_handoff_shows_six_sections():
    has(run("/cc-operator:handoff"), "## Verdict vs the BAR", "## Banked", "## Unverified/open", "## Conditional next steps",
        "## Stop conditions", "## Not-doing", "git operator handoff --mark")


def test_spec_and_verify_tell_what_to_run():
    has(run("/cc-operator:spec stop"), "git operator spec new", "The spec: stop")
    has(run("/cc-operator:verify main"), "git operator verify main")


def test_tutorial_plays_the_demo():
    has(run("/cc-operator:tutorial", setup=":"), "What the gate does", "A task is a promise")


def test_a_workflow_is_offered_under_its_name():
    has(run("/cc-operator:review the change"), 'Workflow({ name: "cc-operator:review"', "doneMeans")
