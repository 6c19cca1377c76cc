#!/usr/bin/env python3
"""Every command meets a fault at every system call that writes; nothing acknowledged may be lost.

    tests/endurance/faults.py [--binary PATH] [--every N] [--command NAME ...] [--fault NAME ...]

strace makes the faults (`inject=`): SIGKILL on entry of the call, or an error in its place. For each fault
point a copy of a prepared repository is used once. After the fault: the records that were there are there,
what the command acknowledged is there, git finds the repository sound, and the next command works. Prints
the matrix; exits 1 when anything was lost, 77 when strace cannot trace here.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ledger
from soak import ids

WRITES = (
    "write,pwrite64,writev,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,"
    "ftruncate,fsync,fdatasync,symlink,symlinkat,chmod,fchmod,fchmodat"
)
OPENS = "open,openat"
READS = "read,pread64"
FAULTS = {
    "kill": (WRITES, "signal=KILL"),
    "ENOSPC": ("write,pwrite64,writev,fsync,fdatasync,mkdir,mkdirat,link,linkat,ftruncate", "error=ENOSPC"),
    "EIO": ("fsync,fdatasync,write,pwrite64,rename,renameat,renameat2", "error=EIO"),
    "EROFS": ("rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat", "error=EROFS"),
    "ENOLCK": ("flock", "error=ENOLCK"),
}
TIMEOUT = 60
EVIDENCE = "".join(f"line {number}\n" for number in range(3000))
ROWS = "# VERDICTS — append-only. One row per gated task; written only by git-operator.\n" \
    "| Gate | Criterion | Evidence | PASS/FAIL |\n|---|---|---|---|\n"


def hook(event, **more):
    return lambda top: json.dumps(
        {"session_id": "S1", "cwd": str(top), "hook_event_name": event, **more}
    ).encode()


CALL = {"tool_name": "Bash", "tool_use_id": "call-1", "tool_input": {"command": "echo 1 > new"}}
COMMANDS = {
    "task": (["task", "--json", "new", "--owner", "S1"], None),
    "verdict": (["verdict", "--json", "open", "tests", "12 passed", "PASS", "--owner", "S1"], None),
    "verdict, 30 kB": (["verdict", "--json", "open", "tests", "PASS", "--owner", "S1"], EVIDENCE.encode()),
    "verdict, 300 kB": (["verdict", "--json", "open", "tests", "PASS", "--owner", "S1"], EVIDENCE.encode() * 10),
    "run": (["run", "--json", "open", "tests", "--owner", "S1", "--", "true"], None),
    "decide": (["decide", "--json", "DEVIATION", "no cache", "--why", "slow", "--owner", "S1"], None),
    "defer": (["defer", "--json", "open", "later", "--owner", "S1"], None),
    "adopt": (["adopt", "--json", "theirs", "--owner", "S1"], None),
    "bar": (["bar", "new"], b"must hold\n"),
    "reconcile": (["reconcile"], None),
    "render": (["render"], None),
    "start": (["start"], None),
    "sync": (["sync", "origin", "--evidence"], None),
    "gc": (["gc"], None),
    "redact": (["redact", "DIGEST", "--why", "private"], None),
    "post-commit": (["git-hook", "post-commit"], None),
    "SessionStart": (["hook"], hook("SessionStart", source="startup")),
    "PreToolUse": (["hook"], hook("PreToolUse", **CALL)),
    "PostToolUse": (["hook"], hook("PostToolUse", tool_response={"stdout": ""}, **CALL)),
    "Stop": (["hook"], hook("Stop", stop_hook_active=False)),
    "SessionEnd": (["hook"], hook("SessionEnd", reason="exit")),
    "merge-driver": (["merge-driver", "O", "A", "B", "7", ".operator/VERDICTS.md"], None),
}


class Bench:
    """A prepared repository, from which every fault gets a copy."""

    def __init__(self, binary, base):
        self.binary, self.base = binary, base
        self.home = base / "home"
        self.home.mkdir()
        self.env = ledger.environment()
        self.env.update(HOME=str(self.home), PATH=f"{Path(binary).parent}:{self.env['PATH']}")
        self.env.pop("CLAUDE_CODE_SESSION_ID", None)
        self.made = base / "made"
        self.digest = self._prepare()

    def operator(self, top, *args, data=b""):
        done = subprocess.run(
            [self.binary, *args], cwd=top, env=self.env, input=data, capture_output=True, timeout=TIMEOUT, check=False
        )
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def git(self, top, *args):
        subprocess.run(["git", *args], cwd=top, env=self.env, check=True, capture_output=True)

    def _prepare(self):
        top = self.made / "repo"
        top.mkdir(parents=True)
        self.git(top, "init", "-q", "-b", "main")
        for key, value in {"user.name": "A", "user.email": "a@example.org", "operator.work": "true"}.items():
            self.git(top, "config", key, value)
        self.operator(top, "start")
        (top / "file").write_text("1\n", encoding="utf-8")
        self.git(top, "add", "-A")
        self.git(top, "commit", "-q", "-m", "first")
        self.git(top, "clone", "-q", "--bare", ".", "../hub.git")
        self.git(top, "remote", "add", "origin", "../hub.git")
        self.operator(top, "task", "old", "--owner", "S1")
        self.operator(top, "verdict", "old", "size", "PASS", "--owner", "S1", data=EVIDENCE.encode() + b"old\n")
        self.operator(top, "sync", "origin", "--evidence")
        for task, owner in (("open", "S1"), ("theirs", "S2")):
            self.operator(top, "task", task, "--owner", owner)
        for event in ("SessionStart", "PreToolUse"):
            self.operator(top, "hook", data=hook(event, **CALL)(top))
        (top / "new").write_text("1\n", encoding="utf-8")
        for name, row in {"O": "", "A": "| a | c | x @no-vcs | PASS |\n", "B": "| b | c | y @no-vcs | PASS |\n"}.items():
            (top / name).write_text(ROWS + row, encoding="utf-8")
        records = ledger.Ledger(top).records.values()
        kept = [record["evidence"]["blake3"] for record in records if isinstance(record.get("evidence"), dict)]
        return kept[0]

    def copy(self, name):
        place = self.base / name
        shutil.copytree(self.made, place, symlinks=True)
        return place / "repo"


class Point:
    """One command and one fault, met at its n-th system call."""

    def __init__(self, bench, command, fault):
        self.bench, self.command, self.fault = bench, command, fault
        self.args, self.data = COMMANDS[command]
        self.args = [bench.digest if word == "DIGEST" else word for word in self.args]

    def _run(self, top, options):
        data = self.data(top) if callable(self.data) else self.data or b""
        log = top.parent / "strace"
        words = ["strace", "-f", "-qq", "-o", str(log), *options, self.bench.binary, *self.args]
        done = subprocess.run(
            words, cwd=top, env=self.bench.env, input=data, capture_output=True, timeout=TIMEOUT, check=False
        )
        return done, log.read_text(errors="replace") if log.exists() else ""

    def count(self, top):
        """Returns how often the busiest process of the command makes a call the fault can meet."""
        calls, _ = FAULTS[self.fault]
        _, log = self._run(top, ["-e", f"trace={calls}"])
        processes = {}
        for line in log.splitlines():
            if re.match(r"\d+ +\w+\(", line):
                pid = line.split(maxsplit=1)[0]
                processes[pid] = processes.get(pid, 0) + 1
        return max(processes.values(), default=0)

    def meet(self, top, nth):
        """Meets the fault; returns what was lost by it, and whether it was met."""
        calls, what = FAULTS[self.fault]
        before = set(ledger.Ledger(top).records)
        options = ["-e", f"trace={calls}", "-e", f"inject={calls}:{what}:when={nth}"]
        done, log = self._run(top, options)
        met = "(INJECTED)" in log or "SIGKILL" in log
        out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        lost = [] if "panicked" not in err else [f"it panicked: {err[:200]}"]
        acknowledged = {known for line in out.splitlines() for known in ids(line)}
        # The next command finishes what was begun; before it, a reader sees all of it already.
        lost += self._next(top)
        after = ledger.Ledger(top)
        lost += [f"record {known} was there and is lost" for known in before - set(after.records)]
        lost += [f"record {known} was acknowledged and is lost" for known in acknowledged - set(after.records)]
        if self.command != "redact":
            after.evidence()
        lost += after.faults
        if self.command == "merge-driver":
            lost += self._merged(top, done.returncode)
        return lost, met

    def _merged(self, top, code):
        text = (top / "A").read_text(encoding="utf-8", errors="replace")
        ours, theirs = "| a | c |" in text, "| b | c |" in text
        if code == 0 and not (ours and theirs):
            return ["the driver said 0 and the file has not both sides"]
        return [] if ours else ["our side is gone from the file"]

    def _next(self, top):
        lost = []
        for words in (["log", "-n", "5"], ["task", "--json", "after", "--owner", "S9"], ["status"]):
            code, out, err = self.bench.operator(top, *words)
            if code != 0:
                lost.append(f"then `{' '.join(words)}` exits {code}: {err.strip()[:200]}")
        code, _, err = self.bench.operator(top, "hook", data=hook("Stop")(top).replace(b"S1", b"S9"))
        if code != 2 or "after" not in err:
            lost.append(f"then the Stop of session S9, whose task is open, exits {code}: {err.strip()[:200]}")
        sound = subprocess.run(
            ["git", "fsck", "--connectivity-only", "--no-dangling"],
            cwd=top, env=self.bench.env, capture_output=True, check=False,
        )
        if sound.returncode != 0:
            lost.append(f"git fsck: {sound.stderr.decode(errors='replace').strip()[:200]}")
        return lost


def row(bench, command, fault, every):
    """Plays one row of the matrix; returns how many points were met and what they lost."""
    point = Point(bench, command, fault)
    safe = re.sub(r"\W", "-", f"{command}-{fault}")
    top = bench.copy(f"{safe}-count")
    count = point.count(top)
    shutil.rmtree(top.parent)
    met, lost = 0, []
    for nth in range(1, count + 1, every):
        top = bench.copy(f"{safe}-{nth}")
        try:
            found, was_met = point.meet(top, nth)
        except Exception as error:  # noqa: BLE001: whatever a reader meets is a finding
            found, was_met = [f"{type(error).__name__}: {error}"], True
        met += was_met
        lost += [f"{command}, {fault} at call {nth}: {what}" for what in found]
        shutil.rmtree(top.parent, ignore_errors=True)
    return met, lost


def can_trace():
    if shutil.which("strace") is None:
        return False
    tried = subprocess.run(
        ["strace", "-qq", "-o", os.devnull, "-e", "inject=getuid:error=EPERM", "true"], capture_output=True, check=False
    )
    return tried.returncode == 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=shutil.which("git-operator") or "target/release/git-operator")
    parser.add_argument("--every", type=int, default=1, help="meet every N-th call only")
    parser.add_argument("--command", action="append", choices=sorted(COMMANDS))
    parser.add_argument("--fault", action="append", choices=sorted(FAULTS))
    return parser.parse_args()


def main():
    args = arguments()
    if not can_trace():
        print("strace is not there or cannot trace here")
        sys.exit(77)
    base = Path(tempfile.mkdtemp(prefix="operator-faults-"))
    bench = Bench(os.path.abspath(args.binary), base)
    faults = args.fault or list(FAULTS)
    print(f"{'command':<18}" + "".join(f"{fault:>14}" for fault in faults) + "   (points met, lost)")
    everything = []
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for command in args.command or COMMANDS:
            rows = [pool.submit(row, bench, command, fault, args.every) for fault in faults]
            cells = [future.result() for future in rows]
            print(f"{command:<18}" + "".join(f"{met:>8}, {len(lost):<4}" for met, lost in cells), flush=True)
            everything += [what for _, lost in cells for what in lost]
    shutil.rmtree(base)
    print(f"{len(everything)} lost")
    for what in everything[:100]:
        print(f"  {what}")
    sys.exit(1 if everything else 0)


if __name__ == "__main__":
    main()
