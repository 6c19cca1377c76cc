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
