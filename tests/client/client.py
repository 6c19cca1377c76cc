"""The real Claude Code client, driven offline: its own HOME, an empty environment, a scripted model."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

VERSION = "2.1.332"
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BASE_PATH = "/usr/local/bin:/usr/bin:/bin"


class Skipped(Exception):
    """The client cannot be had here."""


def executable():
    """Returns the client, installed on first use."""
    home = os.environ.get("CLAUDE_CLIENT_DIR") or os.path.expanduser("~/.cache/claude-client")
    exe = os.path.join(home, "node_modules", ".bin", "claude")
    package = os.path.join(home, "node_modules", "@anthropic-ai", "claude-code", "package.json")
    if os.path.exists(exe) and json.load(open(package))["version"] == VERSION:
        return exe
    if not shutil.which("npm"):
        raise Skipped("npm is not installed")
    os.makedirs(home, exist_ok=True)
    done = subprocess.run(["npm", "install", "--no-fund", "--no-audit", "--prefix", home,
                           f"@anthropic-ai/claude-code@{VERSION}"], stdout=sys.stderr, stderr=subprocess.DEVNULL)
    if done.returncode or not os.path.exists(exe):
        raise Skipped("the client could not be installed")
    return exe


def alone(argv):
    """Runs this program again where it can reach loopback and nothing else, if that is allowed."""
    if os.environ.get("CLIENT_TESTS_ALONE") or os.geteuid() != 0 or not shutil.which("unshare"):
        return
    if subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode:
        return
    os.environ["CLIENT_TESTS_ALONE"] = "1"
    os.execvp("unshare", ["unshare", "-n", "sh", "-c", 'ip link set lo up; exec "$@"', "sh", sys.executable, *argv])


class Machine:
    """A HOME with a repository in it, as a user has it who installed git-operator."""

    def __init__(self, path):
        self.dir = tempfile.mkdtemp(prefix="client-")
        self.home = os.path.join(self.dir, "home")
        self.repo = os.path.join(self.home, "repo")
        self.path = path
        os.makedirs(self.repo)
        with open(os.path.join(self.home, ".gitconfig"), "w") as f:
            f.write("[user]\n\tname = A U Thor\n\temail = author@example.com\n[init]\n\tdefaultBranch = main\n")
        self.sh("git init -q . && echo one >a && git add a && git commit -qm one")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.dir, ignore_errors=True)

    def env(self, **more):
        env = {"PATH": ":".join([*self.path, BASE_PATH]), "HOME": self.home, "IS_SANDBOX": "1",
               "ANTHROPIC_API_KEY": "dummy", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
               "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1", "DISABLE_TELEMETRY": "1",
               "DISABLE_ERROR_REPORTING": "1", "DISABLE_AUTOUPDATER": "1", "LC_ALL": "C.UTF-8"}
        return {**env, **more}

    def sh(self, script, **env):
        """Runs a script in the repository; returns its output, whatever its status."""
        done = subprocess.run(["sh", "-c", script], cwd=self.repo, env=self.env(**env), capture_output=True, text=True)
        return done.stdout + done.stderr

    def say(self, process, prompts, answers, timeout):
        """Gives the client one prompt after the other, each when the one before has its result."""
        limit = time.monotonic() + timeout
        for number, text in enumerate(prompts):
            process.stdin.write(json.dumps({"type": "user", "message": {"role": "user", "content": text}}) + "\n")
            process.stdin.flush()
            while open(answers).read().count('"type":"result"') <= number and process.poll() is None:
                if time.monotonic() > limit:
                    break
                time.sleep(0.02)
        if prompts:
            process.stdin.close()

    def claude(self, *args, cwd=None):
        """Runs the client's own commands."""
        done = subprocess.run([executable(), *args], cwd=cwd or self.repo, env=self.env(ANTHROPIC_BASE_URL="http://127.0.0.1:9"),
                              capture_output=True, text=True, timeout=90)
        return done.returncode, done.stdout + done.stderr

    def session(self, lanes, prompt="go", plugin=None, args=(), env=None, timeout=120):
        """Runs one headless session against a scripted model; each of several prompts when the one before is answered."""
        out = tempfile.mkdtemp(dir=self.dir)
        script, port_file = os.path.join(out, "script.json"), os.path.join(out, "port")
        json.dump({"lanes": lanes}, open(script, "w"))
        api = subprocess.Popen([sys.executable, os.path.join(HERE, "fake_api.py"), script, os.path.join(out, "api"),
                                "--port-file", port_file])
        try:
            while not os.path.exists(port_file):
                if api.poll() is not None:
                    raise RuntimeError("the scripted model could not start")
                time.sleep(0.02)
            prompts = [] if isinstance(prompt, str) else prompt
            said = ["--input-format", "stream-json"] if prompts else [prompt]
            command = [executable(), "-p", *said, "--output-format", "stream-json", "--verbose", "--include-hook-events",
                       "--permission-mode", "bypassPermissions"]
            command += (["--plugin-dir", plugin] if plugin else []) + list(args)
            base = f"http://127.0.0.1:{open(port_file).read()}"
            with open(os.path.join(out, "stdout"), "w") as stdout, open(os.path.join(out, "stderr"), "w") as stderr:
                process = subprocess.Popen(command, cwd=self.repo, stdout=stdout, stderr=stderr, text=True,
                                           stdin=subprocess.PIPE if prompts else subprocess.DEVNULL,
                                           env=self.env(ANTHROPIC_BASE_URL=base, **(env or {})))
                try:
                    self.say(process, prompts, stdout.name, timeout)
                    code = process.wait(timeout)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGTERM)
                    process.wait(10)
                    code = 124
        finally:
            api.terminate()
            api.wait()
        return Session(out, code)


class Session:
    """What a session left: its hook calls, its result, and what the model was asked."""

    def __init__(self, out, code):
        self.code = code
        self.hooks, self.result, self.errors = [], None, []
        for line in open(os.path.join(out, "stdout"), errors="replace"):
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if event.get("subtype") == "hook_response":
                self.hooks.append(event)
            elif event.get("subtype") == "init":
                self.errors = event.get("plugin_errors") or []
                self.commands = event.get("slash_commands") or []
                self.session_id = event.get("session_id")
            elif event.get("type") == "result":
                self.result = event
        folder = os.path.join(out, "api")
        self.requests = [json.load(open(os.path.join(folder, name))) for name in sorted(os.listdir(folder))]

    def of(self, event):
        """The hook calls of an event."""
        return [hook for hook in self.hooks if hook.get("hook_event") == event]

    def told(self, lane="main"):
        """Everything the model of a lane was told, as text."""
        seen = []
        for request in self.requests:
            if request.get("lane") == lane:
                seen = [text for message in request["body"]["messages"] for text in texts(message["content"])]
        return "\n".join(seen)

    def models(self):
        """The model that each lane was asked for, in order."""
        return [(request["lane"], request["body"]["model"]) for request in self.requests if "lane" in request]


def texts(content):
    if isinstance(content, str):
        return [content]
    found = []
    for block in content:
        if block.get("type") == "text":
            found.append(block["text"])
        elif block.get("type") == "tool_result":
            found += texts(block.get("content") or "")
    return found


def say(text):
    return {"blocks": [{"text": text}]}


def call(tool, **given):
    return {"blocks": [{"tool": tool, "input": given}]}


def shell(command):
    return call("Bash", command=command, description="d")


def answer(**fields):
    """A seat's structured answer."""
    return call("StructuredOutput", **fields)


DEAD = {"status": 400, "blocks": []}
