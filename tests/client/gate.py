"""The gate in the client: a Stop is held back until the evidence is there, and long output is shortened."""
from client import Machine, say, shell
from install import BIN, PLUGIN, has


def test_a_stop_is_blocked_until_the_verdict_is_recorded():
    with Machine(BIN) as machine:
        machine.sh("git operator start && git add -A && git commit -qm started")
        turns = [shell("git operator task T-1"), say("done"), shell("git operator run T-1 'it holds' -- true"), say("really done")]
        session = machine.session([{"name": "main", "turns": turns}], plugin=PLUGIN)
        codes = [hook["exit_code"] for hook in session.of("Stop")]
        assert codes == [2, 0], (codes, session.of("Stop"))
        assert session.result["result"] == "really done", session.result
        has(session.told(), "T-1", "git operator")
        has(machine.sh("git operator log"), "PASS", "it holds")
        has(machine.sh("cat .operator/VERDICTS.md"), "| T-1 | it holds |")


def test_an_orphaned_task_is_named_with_the_line_that_adopts_it():
    with Machine(BIN) as machine:
        machine.sh("git operator start && git operator task T-9 --owner gone-session")
        session = machine.session([{"name": "main", "turns": [say("done")]}], plugin=PLUGIN)
        has(session.of("SessionStart")[0]["stdout"], "T-9", "adopt", session.session_id)
        assert [hook["exit_code"] for hook in session.of("Stop")] == [0], session.of("Stop")


def test_after_a_compaction_the_charter_and_what_is_open_are_told_again():
    with Machine(BIN) as machine:
        machine.sh("git operator start && git operator task T-9 --owner gone-session")
        turns = [shell("echo before the compaction"), say("done"), say("a summary"), say("a summary"), say("going on")]
        session = machine.session([{"name": "main", "turns": turns}], prompt=["go", "/compact", "next"], plugin=PLUGIN)
        started = session.of("SessionStart")
        assert len(started) == 2 and all(hook["exit_code"] == 0 for hook in started), started
        told = session.told()
        assert "This session is being continued" in told and "before the compaction" not in told, told
        assert told.count("# Operator charter") == 1, told
        has(told, "T-9 of session gone-session", f"adopt --owner {session.session_id} T-9")


def test_long_output_is_shortened_before_the_model_reads_it():
    with Machine(BIN) as machine:
        machine.sh("git operator start")
        command = "seq -f 'line %g of the run' 900; echo 'error: the cause'; seq -f 'after %g' 900"
        session = machine.session([{"name": "main", "turns": [shell(command), say("done")]}], plugin=PLUGIN)
        told = session.told()
        has(told, "line 1 of the run", "error: the cause", "after 900", " elided; whole output: ")
        assert "line 700 of the run" not in told, told[-3000:]
        spill = told.split("whole output: ")[1].split("]")[0]
        assert spill.startswith(machine.repo), spill


def test_a_secret_in_output_that_the_client_keeps_is_not_shown():
    with Machine(BIN) as machine:
        machine.sh("git operator start")
        key = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
        turns = [shell(f"echo token {key}; seq 1 60000"), say("done")]
        session = machine.session([{"name": "main", "turns": turns}], plugin=PLUGIN)
        has(session.told(), "persisted", "token [masked:github-token]")
        assert key not in session.told()
