"""The work ledger in the client: whose each path is after each call, beside somebody who edits, too."""
import glob
import json
import os
import threading
import time

from client import Machine, call, say, shell
from install import BIN, PLUGIN, has

PAUSE = 3
"""How long the model thinks; what is looked at between two calls is looked at then."""


class Beside:
    """Somebody at the same repository: looks at it after each call, and edits."""

    def __init__(self, machine, acts):
        self.machine, self.acts = machine, acts
        self.seen, self.failed = {}, None
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def turns(self):
        """How many answers the model of the main lane was asked for."""
        asked = 0
        for path in glob.glob(os.path.join(self.machine.dir, "*", "api", "*.json")):
            try:
                asked += json.load(open(path)).get("lane") == "main"
            except ValueError:
                pass
        return asked

    def run(self):
        done = 0
        while not self.over.is_set():
            if self.turns() <= done:
                time.sleep(0.05)
                continue
            try:
                self.seen[done] = json.loads(self.machine.sh("git operator work --json"))
                self.acts.get(done, lambda *_: None)(self)
            except Exception as why:  # told by the test
                self.failed = self.failed or f"after call {done}: {why!r}"
            done += 1


def read(machine, name):
    return open(os.path.join(machine.repo, name)).read()


def write(machine, name, text, mode="w"):
    with open(os.path.join(machine.repo, name), mode) as f:
        f.write(text)


def slow(turn):
    return {**turn, "delay": PAUSE}


def lists(work, **wanted):
    for name, paths in wanted.items():
        assert work[name] == paths, (name, paths, work)


def test_each_call_is_told_apart_from_what_somebody_does_beside_it():
    with Machine(BIN) as machine:
        machine.sh("git operator start && echo b >b && git add -A && git commit -qm started && "
                   "git config operator.work true && git config operator.autoArm false && mkfifo ../go")
        write(machine, "u", "user 1\n")

        def edit_while_a_call_runs(_):
            # The command waits for this.
            with open(os.path.join(machine.home, "go"), "w") as go:
                write(machine, "u", "user 2\n", "a")
                go.write("\n")

        undone = []

        def undo(beside):
            undone.append(machine.sh(f"git operator restore --call {beside.seen[9]['call']['id']}"))
            undone.append((read(machine, "u"), read(machine, "w")))

        beside = "echo s >s; mkdir d; echo n >d/n; read go <../go"
        turns = [call("Write", file_path=os.path.join(machine.repo, "w"), content="agent\n"), shell(beside),
                 shell("echo f >f; exit 3"), shell("rm b"), shell("git stash -q -u"), shell("git stash pop -q"),
                 call("Read", file_path=os.path.join(machine.repo, "a")),
                 call("Edit", file_path=os.path.join(machine.repo, "a"), old_string="one", new_string="two"),
                 shell("echo junk >u; rm w; echo c >c; git add c; git commit -qm c"), say("done")]
        with Beside(machine, {1: edit_while_a_call_runs, 9: undo}) as other:
            session = machine.session([{"name": "main", "turns": [slow(turn) for turn in turns]}], plugin=PLUGIN)
        assert other.failed is None, other.failed
        seen = other.seen
        lists(seen[1], mine=["w"], foreign=["u"], uncommitted=["w"], unattributed=[])
        lists(seen[2], mine=["d/n", "s", "w"], foreign=["u"], unattributed=[])
        assert seen[2]["reasons"] == {"u": "mixed"}, seen[2]
        lists(seen[2]["call"], changed=["d/n", "s", "u"], foreign=["u"])
        lists(seen[3], mine=["d/n", "f", "s", "w"], foreign=["u"])
        lists(seen[3]["call"], changed=["f"], written=["f"])
        lists(seen[4], mine=["b", "d/n", "f", "s", "w"], foreign=["u"])
        lists(seen[5], mine=[], foreign=[], uncommitted=[], unattributed=[])
        lists(seen[6], mine=["b", "d/n", "f", "s", "w"], foreign=["u"])
        lists(seen[8], mine=["a", "b", "d/n", "f", "s", "w"], foreign=["u"])
        lists(seen[9], touched=["a", "b", "c", "d/n", "f", "s", "w"])
        lists(seen[9]["call"], changed=["c", "u", "w"], written=["u"], restored=[])
        has(session.told(), "This call changed uncommitted work that is not this session's: u")
        assert undone[0] == "restored u\nrestored w\n", undone
        assert undone[1] == ("user 1\nuser 2\n", "agent\n"), undone
        # The session has ended, and what the user wrote is as the user left it.
        assert session.result and session.code == 0, (session.code, session.result)
        assert read(machine, "u") == "user 1\nuser 2\n"
        assert read(machine, "a") == "two\n"
        work = json.loads(machine.sh(f"git operator work --owner {session.session_id} --json"))
        lists(work, mine=["a", "b", "d/n", "f", "s", "w"], foreign=["u"])
        assert machine.sh("git for-each-ref refs/operator-local/work") == ""
