"""Evidence in the client: what closes a task is what a command came to, not what the agent says of it."""
from client import Machine, say, shell
from install import BIN, PLUGIN, has

TEST = "git operator run T-1 'the sum is right' -- sh -c 'test \"$(sh sum.sh 2 3)\" = 5'"


def test_an_agent_earns_its_pass_by_the_command_and_the_commit_carries_it():
    with Machine(BIN) as machine:
        machine.sh("git operator start && git add -A && git commit -qm started")
        turns = [
            shell("git operator task T-1"),
            shell("echo 'echo $(($1 - $2))' >sum.sh"),
            shell(TEST),
            say("done"),
            shell("echo 'echo $(($1 + $2))' >sum.sh"),
            shell(TEST),
            say("really done"),
        ]
        session = machine.session([{"name": "main", "turns": turns}], plugin=PLUGIN)
        codes = [hook["exit_code"] for hook in session.of("Stop")]
        assert codes == [2, 0], (codes, session.of("Stop"))
        assert session.result["result"] == "really done", session.result
        verdicts = machine.sh("git operator log --kind verdict --format '%w %t %c'").split("\n")
        assert [line for line in verdicts if line] == ["PASS T-1 the sum is right", "FAIL T-1 the sum is right"], verdicts
        # What was tested was not committed yet; the commit of it is what was tested.
        machine.sh("git add -A && git commit -qm sum")
        has(machine.sh("git operator verify"), "the sum is right: fresh tree", "satisfied")
        has(machine.sh("git operator show T-1"), "Binding:   tree: the source of ")
        has(machine.sh("git operator verify --rerun 2>&1"), "passed again", "satisfied")
        machine.sh("echo 'echo 5' >sum.sh && git commit -qam cheaper")
        has(machine.sh("git operator verify || true"), "the sum is right: stale: sum.sh")
