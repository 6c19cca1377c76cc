#!/usr/bin/env python3
"""Many sessions in many worktrees of one repository, at once and for long; then every record is counted.

    tests/endurance/soak.py [--binary PATH] [--minutes 10] [--sessions 50] [--worktrees 8] [--seed N]

Each session opens tasks, runs commands, records verdicts and decisions, sends the hooks a client sends,
commits and rebases; beside them a second clone does the same, both sync with one bare repository, and git
collects garbage. One command in twenty is killed with SIGKILL. What a command acknowledged is written
down; at the end ledger.py, which knows nothing of git-operator's code, looks for it.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import ledger

KILLED = 0.05
TIMEOUT = 600


class Site:
    """A working directory in which commands are run as a user would."""

    def __init__(self, binary, top, home, gate):
        self.binary, self.top = binary, Path(top)
        self.env = ledger.environment()
        self.env.update(HOME=str(home), PATH=f"{Path(binary).parent}:{self.env['PATH']}")
        self.env.pop("CLAUDE_CODE_SESSION_ID", None)
        self.gate = gate

    def git(self, *args):
        done = subprocess.run(["git", *args], cwd=self.top, env=self.env, capture_output=True, check=False)
        return done.returncode, done.stdout.decode(errors="replace")

    def operator(self, *args, data=b"", kill_after=None):
        child = subprocess.Popen(
            [self.binary, *args],
            cwd=self.top,
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        if kill_after is not None:
            threading.Timer(kill_after, child.send_signal, (signal.SIGKILL,)).start()
        out, err = child.communicate(data, timeout=TIMEOUT)
        return child.returncode, out.decode(errors="replace"), err.decode(errors="replace")


class Gate:
    """Keeps git's own commits of one repository out of a `git gc --prune=now` and a `git repack -a -d`, which
    take the objects that another git has written, or found in a pack, and not named yet (git-gc(1),
    git-repack(1)). The program under test gets no such help."""

    def __init__(self):
        self.changed = threading.Condition()
        self.writers, self.pruning = 0, False

    @contextmanager
    def writing(self):
        with self.changed:
            self.changed.wait_for(lambda: not self.pruning)
            self.writers += 1
        try:
            yield
        finally:
            with self.changed:
                self.writers -= 1
                self.changed.notify_all()

    @contextmanager
    def pruned(self):
        with self.changed:
            self.changed.wait_for(lambda: not self.pruning)
            self.pruning = True
            self.changed.wait_for(lambda: self.writers == 0)
        try:
            yield
        finally:
            with self.changed:
                self.pruning = False
                self.changed.notify_all()


class Tally:
    """What was acknowledged, what was refused and what went wrong."""

    def __init__(self):
        self.lock = threading.Lock()
        self.acknowledged, self.failures, self.reasons = set(), [], Counter()
        self.commands = self.killed = self.refused = 0

    def take(self, what, answer, fine=(0, 2)):
        code, out, err = answer
        with self.lock:
            self.commands += 1
            for line in out.splitlines():
                self.acknowledged.update(ids(line))
            if code == -signal.SIGKILL:
                self.killed += 1
            elif code == 1:
                self.refused += 1
                self.reasons[reason(err)] += 1
            elif code not in fine or "panic" in err:
                self.failures.append(f"{what}: exit {code}: {err.strip()[:300]}")
        return code


def reason(err):
    """Returns why a command was refused, names and numbers aside."""
    last = (err.strip().splitlines() or [""])[-1]
    try:
        last = json.loads(last)["message"]
    except (ValueError, KeyError, TypeError):
        pass
    return re.sub(r"'[^']*'|[0-9]+", "…", last)[:100]


def ids(line):
    try:
        value = json.loads(line)
    except ValueError:
        return []
    known = value.get("id") if isinstance(value, dict) else None
    return [known] if isinstance(known, str) and len(known) == 42 else []


class Session:
    """One session of a client, with tasks of its own."""

    def __init__(self, name, site, tally, seed):
        self.name, self.site, self.tally = name, site, tally
        self.random = random.Random(f"{seed}-{name}")
        self.count, self.open = 0, []

    def step(self):
        acts = [
            (6, self.task), (6, self.verdict), (3, self.run), (2, self.decide), (1, self.defer),
            (1, self.large), (3, self.tool), (2, self.stop), (2, self.commit), (1, self.rebase),
        ]
        act = self.random.choices([act for _, act in acts], [weight for weight, _ in acts])[0]
        act()

    def ask(self, *args, data=b"", fine=(0, 2)):
        kill = self.random.random() < KILLED
        after = self.random.uniform(0, 0.05) if kill else None
        answer = self.site.operator(*args, data=data, kill_after=after)
        return self.tally.take(" ".join(args), answer, fine)

    def task(self):
        self.count += 1
        name = f"{self.name}-{self.count}"
        if self.ask("task", "--json", name, "--owner", self.name) == 0:
            self.open.append(name)

    def pick(self):
        return self.open.pop(self.random.randrange(len(self.open))) if self.open else None

    def verdict(self, evidence=None):
        if task := self.pick():
            text = evidence or f"{self.count} passed | {self.random.random()}\nof {self.name}"
            outcome = self.random.choice(["PASS", "PASS", "FAIL", "MOOT"])
            self.ask(
                "verdict", "--json", task, "tests", outcome, "--owner", self.name, data=text.encode()
            )

    def large(self):
        self.verdict("".join(f"{self.random.random()}\n" for _ in range(600)))

    def run(self):
        if task := self.pick():
            command = self.random.choice(["true", "echo ok", "exit 3"])
            words = ["run", "--json", task, "tests", "--owner", self.name, "--", "sh", "-c", command]
            # 125: another session wrote in the tree meanwhile.
            self.ask(*words, fine=(0, 3, 125))

    def decide(self):
        kind = self.random.choice(["DECISION", "DEVIATION"])
        self.ask("decide", "--json", kind, f"what {self.random.random()}", "--why", "because", "--owner", self.name)

    def defer(self):
        if task := self.pick():
            self.ask("defer", "--json", task, "not now", "--owner", self.name)

    def payload(self, event, **more):
        return json.dumps(
            {"session_id": self.name, "cwd": str(self.site.top), "hook_event_name": event, **more}
        ).encode()

    def tool(self):
        self.count += 1
        call = {"tool_name": "Bash", "tool_use_id": f"{self.name}-call-{self.count}"}
        call["tool_input"] = {"command": "echo"}
        self.ask("hook", data=self.payload("PreToolUse", **call))
        path = self.site.top / f"{self.name}.txt"
        path.write_text(f"{self.count}\n", encoding="utf-8")
        self.ask("hook", data=self.payload("PostToolUse", tool_response={"stdout": ""}, **call))

    def stop(self):
        self.ask("hook", data=self.payload("Stop", stop_hook_active=False))
        if self.random.random() < 0.5:
            self.ask("handoff", "--mark", "--owner", self.name)

    def commit(self):
        with self.site.gate.writing():
            self.site.git("add", "-A")
            self.site.git("commit", "-q", "-m", f"{self.name} {self.count}")

    def rebase(self):
        with self.site.gate.writing():
            if self.site.git("rebase", "-q", "-X", "ours", "main")[0] != 0:
                self.site.git("rebase", "--abort")


def loop(deadline, failures, step):
    try:
        while time.monotonic() < deadline:
            step()
    except Exception as error:  # noqa: BLE001: a thread that dies must fail the soak
        failures.append(f"{type(error).__name__}: {error}")


def upkeep(site, tally, seed):
    """Returns a step of what goes on beside the sessions."""
    dice = random.Random(f"{seed}-{site.top}")

    def step():
        act = dice.choice(["sync", "sync", "gc", "git gc", "pack-refs", "repack"])
        if act == "sync":
            tally.take("sync", site.operator("sync", "origin", "--evidence"))
        elif act == "gc":
            tally.take("gc", site.operator("gc"))
        elif act == "pack-refs":
            site.git("pack-refs", "--all")
        else:
            with site.gate.pruned():
                site.git(*{"git gc": ["gc", "-q", "--prune=now"], "repack": ["repack", "-adq"]}[act])
        time.sleep(dice.uniform(0, 1))

    return step


def prepare(binary, base, worktrees):
    home = base / "home"
    home.mkdir()
    (base / "main").mkdir()
    gate = Gate()
    main = Site(binary, base / "main", home, gate)
    main.git("init", "-q", "-b", "main")
    for key, value in {"user.name": "A", "user.email": "a@example.org", "operator.work": "true", "gc.auto": "0"}.items():
        main.git("config", key, value)
    (main.top / "file").write_text("1\n", encoding="utf-8")
    code, _, err = main.operator("start")
    assert code == 0, err
    main.git("add", "-A")
    main.git("commit", "-q", "-m", "first")
    subprocess.run(["git", "clone", "-q", "--bare", main.top, base / "hub.git"], env=main.env, check=True)
    main.git("remote", "add", "origin", str(base / "hub.git"))
    sites = [main]
    for number in range(1, worktrees):
        main.git("worktree", "add", "-q", "-b", f"w{number}", str(base / f"w{number}"))
        sites.append(Site(binary, base / f"w{number}", home, gate))
    subprocess.run(["git", "clone", "-q", base / "hub.git", base / "second"], env=main.env, check=True)
    second = Site(binary, base / "second", home, Gate())
    for key, value in {"user.name": "B", "user.email": "b@example.org", "gc.auto": "0"}.items():
        second.git("config", key, value)
    assert second.operator("start")[0] == 0
    return sites, second


def settle(sites, second):
    """Brings every clone and view to the same state; what fails here fails the soak."""
    faults = []
    for site in (sites[0], second, sites[0]):
        code, _, err = site.operator("sync", "origin", "--evidence")
        if code != 0:
            faults.append(f"the last sync in {site.top}: exit {code}: {err.strip()}")
    for site in [*sites, second]:
        code, _, err = site.operator("reconcile")
        if code != 0:
            faults.append(f"the last reconcile in {site.top}: exit {code}: {err.strip()}")
    return faults


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=shutil.which("git-operator") or "target/release/git-operator")
    parser.add_argument("--other", help="another version, which every second session runs")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--worktrees", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="leave the repositories where they are")
    return parser.parse_args()


def main():
    args = arguments()
    binary = os.path.abspath(args.binary)
    base = Path(tempfile.mkdtemp(prefix="operator-soak-"))
    tally = Tally()
    sites, second = prepare(binary, base, args.worktrees)
    places = [*sites, second]
    deadline = time.monotonic() + args.minutes * 60
    steps = [upkeep(site, tally, args.seed) for site in (sites[0], second)]
    for number in range(args.sessions):
        site = places[number % len(places)]
        if args.other and number % 2:
            site = Site(os.path.abspath(args.other), site.top, base / "home", site.gate)
        steps.append(Session(f"S{number}", site, tally, args.seed).step)
    threads = [threading.Thread(target=loop, args=(deadline, tally.failures, step)) for step in steps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    faults = tally.failures + settle(sites, second)
    print(f"{args.sessions} sessions, {len(places)} working trees, {args.minutes} minutes, seed {args.seed}")
    print(f"commands {tally.commands}, killed {tally.killed}, refused {tally.refused}, failed {len(tally.failures)}")
    for why, count in tally.reasons.most_common(5):
        print(f"  refused {count} times: {why}")
    for fault in faults[:50]:
        print(f"  {fault}")
    tops = [str(site.top) for site in places]
    differences = ledger.check(sites[0].top, sorted(tally.acknowledged), tops[:-1])
    differences += ledger.check(second.top, sorted(tally.acknowledged), tops[-1:])
    if not args.keep:
        shutil.rmtree(base)
    sys.exit(1 if faults or differences else 0)


if __name__ == "__main__":
    main()
