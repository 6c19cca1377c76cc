"""The four policies of docs/policy.md in the client: refused up front, put back, held back, let through."""
import os

from client import ROOT, Machine, call, say, shell
from install import BIN, PLUGIN, has


def four():
    """The first four policies of the page, as they stand there."""
    page = open(os.path.join(ROOT, "docs", "policy.md")).read()
    return [part.split("```")[0] for part in page.split("```yaml\n")[1:5]]


def started(machine, *numbers, files=""):
    """A started project with some of the policies, everything committed."""
    machine.sh("git operator start")
    os.makedirs(os.path.join(machine.repo, ".operator/policies"), exist_ok=True)
    for number in numbers:
        with open(os.path.join(machine.repo, f".operator/policies/p{number}.yaml"), "w") as f:
            f.write(four()[number - 1])
    machine.sh(f"git config operator.autoArm false; {files} git add -A && git commit -qm started")


def read(machine, path):
    whole = os.path.join(machine.repo, path)
    return open(whole).read() if os.path.exists(whole) else None


def messages(session):
    """What the user was told by hooks."""
    return "\n".join(hook["stdout"] + hook["stderr"] for hook in session.hooks)


def test_an_oversized_write_is_refused_up_front():
    with Machine(BIN) as machine:
        started(machine, 1)
        big = os.path.join(machine.repo, "big.rs")
        session = machine.session([{"name": "main", "turns": [
            call("Write", file_path=big, content="x\n" * 401), say("done")]}], plugin=PLUGIN)
        has(session.told(), "[p1] 'big.rs' would have 401 lines; the limit is 400")
        assert read(machine, "big.rs") is None
        has(messages(session), "refused by policy p1")


OVERSIZED = {
    "a heredoc": "cat > a <<'END'\n" + "x\n" * 401 + "END",
    "sed -i": "sed -i 's/.*/&\\n&/' a.long",
    "cp": "cp .git/long a",
    "python -c": "python3 -c \"open('a', 'w').write('x\\n' * 500)\"",
}


def test_an_oversized_file_is_put_back_however_a_shell_wrote_it():
    for name, command in OVERSIZED.items():
        with Machine(BIN) as machine:
            started(machine, 1, files="seq 300 >a.long; seq 999 >.git/long;")
            session = machine.session([{"name": "main", "turns": [shell(command), say("done")]}], plugin=PLUGIN)
            path = "a.long" if name == "sed -i" else "a"
            has(session.told(), f"[p1] '{path}' has ", "These files were put back as they were before the call", f"- {path}")
            assert machine.sh("git status --porcelain") == "", (name, machine.sh("git status --porcelain"))
            has(messages(session), f"put back: {path}")


def test_a_write_into_a_tree_with_foreign_work_is_refused():
    with Machine(BIN) as machine:
        started(machine, 2)
        machine.sh("echo mine >notes")
        new = os.path.join(machine.repo, "new")
        session = machine.session([{"name": "main", "turns": [call("Write", file_path=new, content="x\n"), say("done")]}],
                                  plugin=PLUGIN)
        has(session.told(), "[p2] ", "work.foreign:", "- notes")
        assert read(machine, "new") is None and read(machine, "notes") == "mine\n"


def test_a_command_that_writes_beside_foreign_work_is_put_back_with_one_warning():
    with Machine(BIN) as machine:
        started(machine, 3)
        machine.sh("echo mine >notes")
        session = machine.session([{"name": "main", "turns": [
            shell("echo two >a; echo x >new; echo over >>notes"), say("done")]}], plugin=PLUGIN)
        told, users = session.told(), messages(session)
        for path in ("a", "new", "notes"):
            has(told, f"- {path}")
        assert told.count("These files were put back") == 1, told
        assert users.count("put back: a, new, notes") == 1, users
        assert (read(machine, "a"), read(machine, "new"), read(machine, "notes")) == ("one\n", None, "mine\n")


def test_a_command_that_only_cleans_the_tree_passes():
    for command, left in (("git add notes && git commit -qm x", "mine\n"), ("git stash -q", None), ("git checkout -- a", None)):
        with Machine(BIN) as machine:
            started(machine, 3)
            machine.sh("echo mine >notes; git add -N notes" if "commit" in command else "echo mine >a")
            session = machine.session([{"name": "main", "turns": [shell(command), say("done")]}], plugin=PLUGIN)
            assert "refused by policy" not in messages(session), messages(session)
            assert machine.sh("git status --porcelain") == "", command
            assert read(machine, "notes") == left


def test_a_command_that_fails_is_put_back_and_the_model_reads_why():
    with Machine(BIN) as machine:
        started(machine, 3)
        machine.sh("echo mine >notes")
        session = machine.session([{"name": "main", "turns": [shell("echo two >a; exit 3"), say("done")]}], plugin=PLUGIN)
        assert len(session.of("PostToolUseFailure")) == 1, session.hooks
        has(session.told(), "[p3] ", "- a")
        assert session.told().count("These files were put back") == 1, session.told()
        has(messages(session), "put back: a")
        assert read(machine, "a") == "one\n"


def test_a_turn_with_uncommitted_work_goes_on_until_the_commit():
    with Machine(BIN) as machine:
        started(machine, 4)
        turns = [shell("echo two >a"), say("done"), shell("git commit -qam two"), say("really done")]
        session = machine.session([{"name": "main", "turns": turns}], plugin=PLUGIN)
        assert [hook["exit_code"] for hook in session.of("Stop")] == [2, 0], session.of("Stop")
        has(session.told(), "[p4] ", "work.uncommitted:", "- a")
        assert session.result["result"] == "really done", session.result
