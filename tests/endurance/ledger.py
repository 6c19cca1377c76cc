"""Reads a ledger with nothing but git and this page: no line of git-operator's own code is asked.

docs/data-model.md is what this follows: commits of refs/operator/ledger carry records as lines of JSON,
an id is checked over the bytes as they lie, long evidence lies in refs/operator/evidence under its digest.
"""

import json
import os
import subprocess

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
CONTEXT = b"git-operator/record/v1\0"


def environment():
    """Returns an environment in which git reads nobody's settings."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env.update(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null", LC_ALL="C")
    return env


def git(repo, *args, data=None, check=True):
    done = subprocess.run(
        ["git", "-C", str(repo), *args], input=data, capture_output=True, env=environment(), check=False
    )
    if check and done.returncode != 0:
        raise RuntimeError(f"git {' '.join(args)}: {done.stderr.decode(errors='replace')}")
    return done.stdout


# blake3, for want of one in the standard library: https://github.com/BLAKE3-team/BLAKE3-specs

IV = (
    0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19,
)
ORDER = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
LANES = (
    (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
    (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14),
)
START, END, PARENT, ROOT = 1, 2, 4, 8
MASK = 0xFFFFFFFF


def compress(chain, words, counter, size, flags):
    state = [*chain, *IV[:4], counter & MASK, counter >> 32, size, flags]
    for _ in range(7):
        for lane, (a, b, c, d) in enumerate(LANES):
            for word, turn, other in ((words[2 * lane], 16, 12), (words[2 * lane + 1], 8, 7)):
                state[a] = (state[a] + state[b] + word) & MASK
                mixed = state[d] ^ state[a]
                state[d] = (mixed >> turn | mixed << (32 - turn)) & MASK
                state[c] = (state[c] + state[d]) & MASK
                mixed = state[b] ^ state[c]
                state[b] = (mixed >> other | mixed << (32 - other)) & MASK
        words = [words[place] for place in ORDER]
    return [state[place] ^ state[place + 8] for place in range(8)]


def words_of(block):
    block = block.ljust(64, b"\0")
    return [int.from_bytes(block[at : at + 4], "little") for at in range(0, 64, 4)]


def chunk(data, counter, root):
    chain = list(IV)
    blocks = [data[at : at + 64] for at in range(0, len(data), 64)] or [b""]
    for number, block in enumerate(blocks):
        flags = (START if number == 0 else 0) | (END | root if number == len(blocks) - 1 else 0)
        chain = compress(chain, words_of(block), counter, len(block), flags)
    return chain


def tree(data, counter, root):
    if len(data) <= 1024:
        return chunk(data, counter, root)
    chunks = (len(data) - 1) // 1024
    left = 1024 << (chunks.bit_length() - 1)
    words = tree(data[:left], counter, 0) + tree(data[left:], counter + left // 1024, 0)
    return compress(list(IV), words, 0, 64, PARENT | root)


def blake3(data):
    """Returns the 32 bytes of blake3 over `data`."""
    return b"".join(word.to_bytes(4, "little") for word in tree(data, 0, ROOT))


assert blake3(b"").hex().startswith("af1349b9f5f9a1a6a0404dea36dcc949")


def record_id(line, time):
    """Returns the id a line must have."""
    start = line.index(b'"id":"')
    end = line.index(b'",', start) + 2
    number = int.from_bytes(blake3(CONTEXT + line[:start] + line[end:])[:20], "big")
    digits = [CROCKFORD[number >> (5 * place) & 31] for place in reversed(range(32))]
    moment = [CROCKFORD[time >> (5 * place) & 31] for place in reversed(range(10))]
    return "".join(moment + digits)


class Ledger:
    """The records reachable from a ref, and what is wrong with them."""

    def __init__(self, repo, ref="refs/operator/ledger"):
        self.repo = repo
        self.records = {}
        self.faults = []
        self.lines = 0
        commits = git(repo, "rev-list", ref).split()
        for body in self._messages(commits):
            for line in body.split(b"\n"):
                if line.startswith(b"{"):
                    self._take(line)

    def _messages(self, commits):
        out = git(self.repo, "cat-file", "--batch", data=b"\n".join(commits) + b"\n")
        at = 0
        for _ in commits:
            end = out.index(b"\n", at)
            size = int(out[at:end].split()[2])
            commit = out[end + 1 : end + 1 + size]
            at = end + 2 + size
            yield commit.partition(b"\n\n")[2]

    def _take(self, line):
        self.lines += 1
        record = json.loads(line)
        known = record["id"]
        if record_id(line, record["time"]) != known:
            self.faults.append(f"record {known}: its id is not that of its bytes")
        if self.records.get(known, record) != record:
            self.faults.append(f"record {known}: twice, with unequal bytes")
        self.records[known] = record

    def evidence(self):
        """Checks that long evidence lies under its digest, and returns how many pieces do."""
        listed = git(self.repo, "ls-tree", "-r", "refs/operator/evidence", check=False).decode()
        blobs = {path.replace("/", "")[-64:]: oid for oid, path in map(blob, listed.splitlines())}
        count = 0
        for record in self.records.values():
            evidence = record.get("evidence")
            if not isinstance(evidence, dict) or "blake3" not in evidence:
                continue
            digest = evidence["blake3"]
            if digest not in blobs:
                self.faults.append(f"record {record['id']}: its evidence {digest} is not there")
                continue
            data = git(self.repo, "cat-file", "blob", blobs[digest])
            if blake3(data).hex() != digest or len(data) != evidence["size"]:
                self.faults.append(f"record {record['id']}: its evidence is not what its digest says")
            count += 1
        return count

    def rows(self):
        """Returns the rows of VERDICTS.md that these records stand for, long evidence left out."""
        rows = set()
        for record in self.records.values():
            evidence = record.get("evidence")
            if record["kind"] != "verdict" or not isinstance(evidence, str):
                continue
            cells = [record["task"], record["criterion"], " ".join(filter(None, [evidence.strip(), short(record["stamp"])]))]
            rows.add("| " + " | ".join([*map(cell, cells), record["outcome"]]) + " |")
        return rows


def blob(entry):
    meta, path = entry.split("\t")
    return meta.split()[2], path


def short(stamp):
    commit, plus, rest = stamp.partition("+")
    return (commit[:13] if len(commit) > 20 else commit) + plus + rest


def cell(text):
    return text.replace("|", "&#124;").replace("\n", "<br>")


def check(repo, acknowledged, worktrees):
    """Prints what there is and what differs; returns the number of differences."""
    ledger = Ledger(repo)
    pieces = ledger.evidence()
    lost = [known for known in acknowledged if known not in ledger.records]
    ledger.faults += [f"record {known} was acknowledged and is not there" for known in lost]
    want = ledger.rows()
    for worktree in worktrees:
        with open(os.path.join(worktree, ".operator/VERDICTS.md"), encoding="utf-8") as file:
            lines = file.read().split("\n")
        for row in sorted(want):
            if lines.count(row) != 1:
                ledger.faults.append(f"{worktree}: {lines.count(row)} times in the view: {row}")
    unsound = git(repo, "fsck", "--connectivity-only", "--no-dangling", check=False)
    ledger.faults += unsound.decode(errors="replace").splitlines()
    print(f"acknowledged {len(acknowledged)}, lost {len(lost)}")
    print(f"records {len(ledger.records)}, lines {ledger.lines}, ids checked {ledger.lines}")
    print(f"evidence checked {pieces}; views checked {len(worktrees)} of {len(want)} rows")
    print(f"{len(ledger.faults)} differences")
    for fault in ledger.faults[:50]:
        print(f"  {fault}")
    return len(ledger.faults)
